//! Where a model computes.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use miriam_lmcpu::LanguageModel;
use miriam_storage::{Container, LoadMethod};
use miriam_textio::Progress;

use super::{DeviceModel, DeviceOptions};
use crate::error::{Error, Result};
use crate::{GlmModel, KIND};

/// Where a model computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// On the first GPU where the model can go there and it can be used, else on the
    /// CPU.
    Auto,
    /// On the CPU.
    Cpu,
    /// On the GPU of this number, counted from 0.
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
                _ => Err("give cpu, cuda, cuda:N or auto".into()),
            },
        }
    }
}

/// Opens the model at `path`, any that [`crate::open`] opens, where `processor` says. To a
/// GPU go `glm` files only.
pub fn open_on_device(
    path: &Path,
    load: LoadMethod,
    processor: DeviceChoice,
    progress: &dyn Progress,
) -> Result<Arc<dyn LanguageModel>> {
    let number = match processor {
        DeviceChoice::Cpu => return Ok(crate::open(path, load, progress)?),
        DeviceChoice::Auto => 0,
        DeviceChoice::Cuda(number) => number,
    };
    let container = match Container::is_container(path) {
        true => Some(Container::open_any(path, load)?).filter(|c| c.kind() == KIND),
        false => None,
    };
    let Some(container) = container else {
        if processor == DeviceChoice::Auto {
            return Ok(crate::open(path, load, progress)?);
        }
        let reason = format!(
            "{}: only glm files go to a GPU; make one of it (miriam lm build --type glm), or use \
             the CPU (--device cpu)",
            path.display()
        );
        return Err(Error::Unsupported { reason });
    };
    let cpu_model = Arc::new(GlmModel::from_container(&container)?);
    let options = DeviceOptions::default();
    match DeviceModel::new(&container, Arc::clone(&cpu_model) as _, number, options) {
        Ok(model) => Ok(Arc::new(model)),
        Err(Error::Gpu(error)) if processor == DeviceChoice::Auto => {
            tracing::debug!("{error}");
            Ok(cpu_model)
        }
        Err(error) => Err(error),
    }
}
