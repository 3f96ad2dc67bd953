//! The choice between GPU and CPU.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use miriam_lmcpu::{LanguageModel, OpenOptions};
#[cfg(feature = "cuda")]
use miriam_storage::Container;
#[cfg(feature = "cuda")]
use miriam_storage::LoadMethod;
use miriam_textio::Progress;

#[cfg(feature = "cuda")]
use super::{DeviceModel, DeviceOptions};
use crate::error::{Error, Result};
#[cfg(feature = "cuda")]
use crate::{GlmModel, KIND};

/// The device on which a model computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first GPU if it can be used and can hold the model, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU of this number, counted from 0.
    Cuda(u32),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            "cuda" => Ok(DeviceChoice::Cuda(0)),
            _ => match text.strip_prefix("cuda:").map(str::parse) {
                Some(Ok(number)) => Ok(DeviceChoice::Cuda(number)),
                _ => Err("expected cpu, cuda, cuda:N or auto".into()),
            },
        }
    }
}

impl DeviceChoice {
    /// Returns this choice in the present build: without the cargo feature `cuda`,
    /// [`DeviceChoice::Auto`] is [`DeviceChoice::Cpu`].
    ///
    /// # Errors
    ///
    /// [`Error::BuiltWithoutCuda`] when a GPU is chosen in a build without `cuda`.
    pub fn resolve_for_build(self) -> Result<Self> {
        match self {
            _ if cfg!(feature = "cuda") => Ok(self),
            DeviceChoice::Auto | DeviceChoice::Cpu => Ok(DeviceChoice::Cpu),
            DeviceChoice::Cuda(_) => Err(Error::BuiltWithoutCuda),
        }
    }
}

/// Opens the model at `path`, any that [`crate::open()`] opens, on the device of `choice`. Only
/// `glm` files can be used on a GPU.
///
/// # Errors
///
/// The file cannot be opened or trusted, is not a `glm` file though a GPU is chosen, or the
/// chosen GPU cannot be used.
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
/// let refused = open_on_device(&arpa, LoadMethod::Lazy, DeviceChoice::Cuda(0), &NoProgress);
/// assert!(refused.is_err());
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `auto` takes the CPU for what only a GPU cannot do; a damaged file is an error anywhere.
    #[cfg(feature = "cuda")]
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

    #[test]
    fn a_gpu_needs_the_feature_cuda() {
        let cuda: DeviceChoice = "cuda:1".parse().unwrap();
        let message = cuda.resolve_for_build().map_err(|error| error.to_string());
        match message {
            Ok(choice) => assert_eq!((choice, cfg!(feature = "cuda")), (cuda, true)),
            Err(message) => {
                assert!(message.contains("feature `cuda`"), "{message}");
                assert!(message.contains("--device cpu"), "{message}");
            }
        }
        let auto = DeviceChoice::Auto.resolve_for_build().unwrap();
        assert_eq!(auto == DeviceChoice::Cpu, cfg!(not(feature = "cuda")));
    }
}
