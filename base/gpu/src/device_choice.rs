//! Devices as they are named in options, such as `cuda:0`. Builds without CUDA have this module
//! too, to reject GPUs with a clear message.

use std::str::FromStr;

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

/// The devices on which a model computes, with a copy of the model on each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceSet {
    /// The first GPU if it can be used, else the CPU.
    Auto,
    /// The CPU.
    #[default]
    Cpu,
    /// The GPUs of these numbers, counted from 0; at least one, each once.
    Cuda(Vec<u32>),
}

/// The error of a build without the feature `cuda` that is asked for a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltWithoutCuda;

impl std::fmt::Display for BuiltWithoutCuda {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(
            "this build cannot use a GPU: build it with the cargo feature `cuda` (on by default), \
             or use the CPU (--device cpu)",
        )
    }
}

impl std::error::Error for BuiltWithoutCuda {}

/// Formats the set as the option `--device` expects it.
impl std::fmt::Display for DeviceSet {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DeviceSet::Auto => formatter.write_str("auto"),
            DeviceSet::Cpu => formatter.write_str("cpu"),
            DeviceSet::Cuda(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
                write!(formatter, "cuda:{}", numbers.join(","))
            }
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(DeviceSet::Auto) => Ok(DeviceChoice::Auto),
            Ok(DeviceSet::Cpu) => Ok(DeviceChoice::Cpu),
            Ok(DeviceSet::Cuda(numbers)) if let [number] = numbers[..] => {
                Ok(DeviceChoice::Cuda(number))
            }
            _ => Err("expected cpu, cuda, cuda:N or auto".into()),
        }
    }
}

impl FromStr for DeviceSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || "expected cpu, cuda, cuda:N, cuda:N,N or auto".to_owned();
        match text {
            "auto" => Ok(DeviceSet::Auto),
            "cpu" => Ok(DeviceSet::Cpu),
            "cuda" => Ok(DeviceSet::Cuda(vec![0])),
            _ => {
                let list = text.strip_prefix("cuda:").ok_or_else(unknown)?;
                let numbers = list.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>();
                DeviceSet::from_numbers(numbers.map_err(|_| unknown())?)
            }
        }
    }
}

impl DeviceChoice {
    /// Returns the choice for this build: without the feature `cuda`, [`DeviceChoice::Auto`]
    /// becomes [`DeviceChoice::Cpu`]. No GPU is opened, because only the model decides whether a
    /// GPU suits.
    ///
    /// # Errors
    /// If a GPU is chosen in a build without `cuda`.
    pub fn resolve_for_build(self) -> Result<Self, BuiltWithoutCuda> {
        check_build(matches!(self, DeviceChoice::Cuda(_)))?;
        Ok(if cfg!(feature = "cuda") { self } else { DeviceChoice::Cpu })
    }
}

impl DeviceSet {
    /// Returns the GPUs of these numbers.
    ///
    /// # Errors
    /// If `numbers` is empty, or a number occurs twice.
    pub fn from_numbers(numbers: Vec<u32>) -> Result<Self, String> {
        let repeated = (1..numbers.len()).find(|&at| numbers[..at].contains(&numbers[at]));
        match repeated {
            Some(at) => Err(format!("GPU {} is named twice", numbers[at])),
            None if numbers.is_empty() => Err("no GPU is named".into()),
            None => Ok(DeviceSet::Cuda(numbers)),
        }
    }

    /// Resolves the set ([`resolve`](DeviceSet::resolve)) and opens its GPUs, for callers that have
    /// to refuse a device before they load a model.
    ///
    /// # Errors
    /// If GPUs are chosen in a build without the feature `cuda`, or one of them cannot be opened.
    pub fn check(self) -> Result<Self, String> {
        let set = self.resolve().map_err(|error| error.to_string())?;
        #[cfg(feature = "cuda")]
        if let DeviceSet::Cuda(numbers) = &set {
            for &number in numbers {
                crate::Device::open(number).map_err(|error| error.to_string())?;
            }
        }
        Ok(set)
    }

    /// Whether this is a set of GPUs.
    pub fn is_cuda(&self) -> bool {
        matches!(self, DeviceSet::Cuda(_))
    }

    /// Replaces [`DeviceSet::Auto`] by the first GPU if it can be opened, else by the CPU.
    ///
    /// # Errors
    /// If GPUs are chosen in a build without the feature `cuda`.
    pub fn resolve(self) -> Result<Self, BuiltWithoutCuda> {
        match self {
            DeviceSet::Auto if first_gpu_opens() => Ok(DeviceSet::Cuda(vec![0])),
            DeviceSet::Auto => Ok(DeviceSet::Cpu),
            chosen => check_build(chosen.is_cuda()).map(|()| chosen),
        }
    }
}

/// Refuses a GPU that is asked for in a build without the feature `cuda`.
fn check_build(asks_for_gpu: bool) -> Result<(), BuiltWithoutCuda> {
    if asks_for_gpu && !cfg!(feature = "cuda") { Err(BuiltWithoutCuda) } else { Ok(()) }
}

/// Returns the number of GPUs that the driver sees; 0 without a driver, or without the feature
/// `cuda`.
pub fn gpu_count() -> u32 {
    #[cfg(feature = "cuda")]
    return crate::Device::count().unwrap_or(0);
    #[cfg(not(feature = "cuda"))]
    0
}

#[cfg(feature = "cuda")]
fn first_gpu_opens() -> bool {
    crate::Device::open(0).is_ok()
}

#[cfg(not(feature = "cuda"))]
fn first_gpu_opens() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_options_are_parsed_and_printed() {
        let set = |text: &str| text.parse::<DeviceSet>();
        assert_eq!(set("cpu"), Ok(DeviceSet::Cpu));
        assert_eq!(set("cuda"), Ok(DeviceSet::Cuda(vec![0])));
        assert_eq!(set("cuda:2,0"), Ok(DeviceSet::Cuda(vec![2, 0])));
        for text in ["auto", "cpu", "cuda:0", "cuda:2,0"] {
            assert_eq!(set(text).unwrap().to_string(), text);
        }
        for wrong in ["", "gpu", "cuda:", "cuda:x", "cuda:1,", "cuda:1,1", "cuda:-1", "CUDA"] {
            assert!(set(wrong).is_err(), "{wrong}");
        }
        assert_eq!("cuda:3".parse(), Ok(DeviceChoice::Cuda(3)));
        assert!("cuda:0,1".parse::<DeviceChoice>().is_err());
    }

    #[test]
    fn a_gpu_needs_the_feature_cuda() {
        let cuda = DeviceChoice::Cuda(1);
        match cuda.resolve_for_build() {
            Ok(choice) => assert_eq!((choice, cfg!(feature = "cuda")), (cuda, true)),
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("feature `cuda`"), "{message}");
                assert!(message.contains("--device cpu"), "{message}");
            }
        }
        let auto = DeviceChoice::Auto.resolve_for_build().unwrap();
        assert_eq!(auto == DeviceChoice::Cpu, cfg!(not(feature = "cuda")));
        let chosen = DeviceSet::Cuda(vec![0]).resolve();
        assert_eq!(chosen.is_ok(), cfg!(feature = "cuda"));
    }
}
