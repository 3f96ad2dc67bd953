//! Opening of models on a GPU or the CPU.

use std::path::Path;
use std::sync::Arc;

use miriam_gpu::DeviceChoice;
use miriam_lmcpu::{LanguageModel, OpenOptions};
#[cfg(feature = "cuda")]
use miriam_storage::Container;
#[cfg(feature = "cuda")]
use miriam_storage::LoadMethod;
use miriam_textio::Progress;

#[cfg(feature = "cuda")]
use super::{DeviceModel, DeviceOptions};
#[cfg(feature = "cuda")]
use crate::error::Error;
use crate::error::Result;
#[cfg(feature = "cuda")]
use crate::{GlmModel, KIND};

/// Opens the model at `path`, any that [`crate::open()`] opens, on the device of `choice`. Only
/// `glm` files can be used on a GPU.
///
/// # Errors
///
/// If the file cannot be opened or is damaged, if a GPU is chosen for a file that is not a `glm`
/// file, or if the chosen GPU cannot be used or does not support the model.
///
/// # Examples
///
/// A model on a GPU if there is one, else on the CPU; the scores are the same:
///
/// ```
/// use miriam_glm::device::{DeviceChoice, open_on_device};
/// use miriam_glm::{GlmOptions, build_glm};
/// # use miriam_lmcpu::{ArpaOptions, State};
/// # use miriam_storage::LoadMethod;
/// # use miriam_textio::NoProgress;
/// # let folder = tempfile::tempdir()?;
/// # let [arpa, file] = ["lm.arpa", "lm.glm"].map(|name| folder.path().join(name));
/// # let text = "\\data\\\nngram 1=4\nngram 2=2\n\n\
/// #     \\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.5\n-1.25\t</s>\n-1.5\ta\t-0.25\n\n\
/// #     \\2-grams:\n-0.5\t<s> a\n-0.75\ta </s>\n\n\\end\\\n";
/// # std::fs::write(&arpa, text)?;
/// let options = GlmOptions::default();
/// build_glm(&arpa, &file, &options, ArpaOptions::default(), &NoProgress)?;
/// let choice: DeviceChoice = "auto".parse()?;
/// let model = open_on_device(&file, LoadMethod::Lazy, choice, &NoProgress)?;
/// let (a, mut next) = (model.word_id(b"a"), State::EMPTY);
/// assert_eq!(model.score(&model.begin_state(), a, &mut next).0.0, -0.5);
///
/// // ARPA text never goes to a GPU.
/// let rejected = open_on_device(&arpa, LoadMethod::Lazy, DeviceChoice::Cuda(0), &NoProgress);
/// assert!(rejected.is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open_on_device(
    path: &Path,
    options: impl Into<OpenOptions>,
    choice: DeviceChoice,
    progress: &dyn Progress,
) -> Result<Arc<dyn LanguageModel>> {
    let options = options.into();
    #[cfg(feature = "cuda")]
    if let Some(model) = open_on_gpu(path, options.load, choice)? {
        return Ok(model);
    }
    choice.resolve_for_build()?;
    Ok(crate::open(path, options, progress)?)
}

/// Returns the model on the GPU of `choice`; `None` if it is to be opened on the CPU.
#[cfg(feature = "cuda")]
fn open_on_gpu(
    path: &Path,
    load: LoadMethod,
    choice: DeviceChoice,
) -> Result<Option<Arc<dyn LanguageModel>>> {
    let number = match choice {
        DeviceChoice::Cpu => return Ok(None),
        DeviceChoice::Auto => 0,
        DeviceChoice::Cuda(number) => number,
    };
    let container = if Container::is_container(path) {
        Some(Container::open_any(path, load)?).filter(|c| c.kind() == KIND)
    } else {
        None
    };
    let Some(container) = container else {
        if choice == DeviceChoice::Auto {
            return Ok(None);
        }
        let reason = format!(
            "{}: only glm files can be used on a GPU; build one (miriam lm build --type glm), or use \
             the CPU (--device cpu)",
            path.display()
        );
        return Err(Error::Unsupported { reason });
    };
    let cpu_model = Arc::new(GlmModel::from_container(&container)?);
    let options = DeviceOptions::default();
    match DeviceModel::new(&container, Arc::clone(&cpu_model) as _, number, options) {
        Ok(model) => Ok(Some(Arc::new(model))),
        Err(error) if choice == DeviceChoice::Auto && is_device_limit(&error) => {
            tracing::debug!("{error}");
            Ok(Some(cpu_model))
        }
        Err(error) => Err(error),
    }
}

/// Whether an error is a limit of the device and not a fault of the file: there is no GPU, it
/// failed, or the kernels do not support the model.
#[cfg(feature = "cuda")]
fn is_device_limit(error: &Error) -> bool {
    matches!(error, Error::Gpu(_) | Error::Unsupported { .. })
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use super::*;

    /// Checks which errors are limits of a GPU, at which `auto` takes the CPU. A damaged file is an
    /// error on any device.
    #[test]
    fn limits_of_a_device_are_told_from_faults_of_a_file() {
        assert!(is_device_limit(&miriam_gpu::Error::NoDevice.into()));
        assert!(is_device_limit(&Error::Unsupported { reason: "too many words".into() }));
        let damaged = miriam_storage::Error::damaged(Path::new("lm.glm"), "order-2", "it is cut");
        assert!(!is_device_limit(&damaged.into()));
        assert!(!is_device_limit(&Error::Lm(miriam_lmcpu::Error::InvalidOptions {
            reason: "no order".into()
        })));
    }
}
