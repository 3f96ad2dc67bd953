//! Where a model computes.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use miriam_lmcpu::LanguageModel;
use miriam_storage::{Container, Load};
use miriam_textio::Progress;

use super::{DeviceModel, DeviceOptions};
use crate::error::{Error, Result};
use crate::{GlmModel, KIND};

/// Where a model computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processor {
    /// On the first GPU where the model can go there and it can be used, else on the
    /// CPU.
    Auto,
    /// On the CPU.
    Cpu,
    /// On the GPU of this number, counted from 0.
    Cuda(u32),
}

impl FromStr for Processor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Processor::Auto),
            "cpu" => Ok(Processor::Cpu),
            "cuda" => Ok(Processor::Cuda(0)),
            _ => match text.strip_prefix("cuda:").map(str::parse) {
                Some(Ok(number)) => Ok(Processor::Cuda(number)),
                _ => Err("give cpu, cuda, cuda:N or auto".into()),
            },
        }
    }
}

/// Opens the model at `path`, any that [`crate::open`] opens, where `processor` says. To a
/// GPU go `glm` files only.
pub fn open_on(
    path: &Path,
    load: Load,
    processor: Processor,
    progress: &dyn Progress,
) -> Result<Arc<dyn LanguageModel>> {
    let number = match processor {
        Processor::Cpu => return Ok(crate::open(path, load, progress)?),
        Processor::Auto => 0,
        Processor::Cuda(number) => number,
    };
    let container = match Container::is_container(path) {
        true => Some(Container::open_any(path, load)?).filter(|c| c.kind() == KIND),
        false => None,
    };
    let Some(container) = container else {
        if processor == Processor::Auto {
            return Ok(crate::open(path, load, progress)?);
        }
        let reason = format!(
            "{}: only glm files go to a GPU; make one of it (miriam lm build --type glm), or use \
             the CPU (--device cpu)",
            path.display()
        );
        return Err(Error::Unsupported { reason });
    };
    let twin = Arc::new(GlmModel::from_container(&container)?);
    let options = DeviceOptions::default();
    match DeviceModel::new(&container, Arc::clone(&twin) as _, number, options) {
        Ok(model) => Ok(Arc::new(model)),
        Err(Error::Gpu(error)) if processor == Processor::Auto => {
            tracing::debug!("{error}");
            Ok(twin)
        }
        Err(error) => Err(error),
    }
}
