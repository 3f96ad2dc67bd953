//! CTranslate2's compute types, and the precision that each selects on CPUs and on GPUs.
//!
//! A type that CTranslate2 rejects on a device is rejected there here, too. GPUs do not multiply
//! integers here; in their place, the type's floats are used, with a warning.

use super::Precision;

/// The precision that a compute type selects on one kind of device.
#[derive(Clone, Copy)]
enum Selection {
    /// The device's default: the precision of the stored weights on CPUs, f32 on GPUs.
    Default,
    /// This precision.
    Exactly(Precision),
    /// The floats of a type with integers, because GPUs do not multiply integers.
    FloatsOnly(Precision),
    /// The device does not have the type.
    Unsupported,
}

/// A compute type of CTranslate2.
struct ComputeType {
    name: &'static str,
    /// The precision of weights that are stored in this type.
    weights: Option<Precision>,
    on_cpu: Selection,
    on_gpu: Selection,
}

const fn compute_type(
    name: &'static str,
    weights: Option<Precision>,
    [on_cpu, on_gpu]: [Selection; 2],
) -> ComputeType {
    ComputeType { name, weights, on_cpu, on_gpu }
}

const COMPUTE_TYPES: [ComputeType; 10] = {
    use Precision::{Bf16, F16, F32, I8, I16};
    use Selection::{Default, Exactly, FloatsOnly, Unsupported};
    [
        compute_type("default", None, [Default, Default]),
        compute_type("auto", None, [Exactly(I8), Default]),
        compute_type("float32", Some(F32), [Exactly(F32), Exactly(F32)]),
        compute_type("float16", Some(F16), [Unsupported, Exactly(F16)]),
        compute_type("bfloat16", Some(Bf16), [Unsupported, Exactly(Bf16)]),
        compute_type("int16", Some(I16), [Exactly(I16), Unsupported]),
        compute_type("int8", Some(I8), [Exactly(I8), FloatsOnly(F32)]),
        compute_type("int8_float32", Some(I8), [Exactly(I8), FloatsOnly(F32)]),
        compute_type("int8_float16", Some(I8), [Unsupported, FloatsOnly(F16)]),
        compute_type("int8_bfloat16", Some(I8), [Unsupported, FloatsOnly(Bf16)]),
    ]
};

impl ComputeType {
    fn on(&self, is_cuda: bool) -> Selection {
        if is_cuda { self.on_gpu } else { self.on_cpu }
    }
}

/// The precision that a name selects on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedPrecision {
    /// The precision; `None` for the device's default.
    pub precision: Option<Precision>,
    /// A warning that the device computes in another type than the name says.
    pub warning: Option<String>,
}

impl Precision {
    /// Returns the names of CTranslate2's compute types.
    pub fn compute_types() -> impl Iterator<Item = &'static str> {
        COMPUTE_TYPES.iter().map(|kind| kind.name)
    }

    /// Returns the names of the compute types that CPUs, or GPUs if `is_cuda`, compute in.
    pub fn supported_compute_types(is_cuda: bool) -> impl Iterator<Item = &'static str> {
        let kinds = COMPUTE_TYPES.iter().filter(|kind| kind.weights.is_some());
        let is_exact = move |kind: &&ComputeType| matches!(kind.on(is_cuda), Selection::Exactly(_));
        kinds.filter(is_exact).map(|kind| kind.name)
    }

    /// Returns CTranslate2's names of types whose weights are stored in this precision.
    pub fn ctranslate2_names(self) -> impl Iterator<Item = &'static str> {
        let stored = COMPUTE_TYPES.iter().filter(move |kind| kind.weights == Some(self));
        stored.map(|kind| kind.name)
    }

    /// Returns the precision of CTranslate2's compute type `name` on CPUs, or on GPUs if `is_cuda`.
    ///
    /// # Errors
    /// If there is no such type, or the device does not have it; the text lists those it has.
    pub fn from_compute_type(name: &str, is_cuda: bool) -> Result<SelectedPrecision, String> {
        let found = COMPUTE_TYPES.iter().find(|kind| kind.name == name);
        let Some(found) = found else {
            return Err(format!("invalid compute type {name:?}; {}", expected(is_cuda)));
        };
        let (precision, warning) = match found.on(is_cuda) {
            Selection::Default => (None, None),
            Selection::Exactly(precision) => (Some(precision), None),
            Selection::FloatsOnly(floats) => {
                let warning = format!(
                    "compute type {name:?}: GPUs do not multiply integers here; they compute in {}",
                    floats.name()
                );
                (Some(floats), Some(warning))
            }
            Selection::Unsupported => {
                let device = if is_cuda { "GPUs" } else { "CPUs" };
                return Err(format!(
                    "compute type {name:?} is not supported on {device}; {}",
                    expected(is_cuda)
                ));
            }
        };
        Ok(SelectedPrecision { precision, warning })
    }

    /// Returns the precision that `name` names here, or that CTranslate2's compute type `name`
    /// selects on CPUs, or on GPUs if `is_cuda`.
    ///
    /// # Errors
    /// If neither has the name, or the device does not have the compute type.
    pub fn select(name: &str, is_cuda: bool) -> Result<SelectedPrecision, String> {
        if let Some(own) = Self::ALL.into_iter().find(|precision| precision.name() == name) {
            return Ok(SelectedPrecision { precision: Some(own), warning: None });
        }
        if Self::compute_types().any(|known| known == name) {
            return Self::from_compute_type(name, is_cuda);
        }
        let names = Self::ALL.map(Precision::name).join(", ");
        Err(format!("unknown precision {name:?}; give {names}, or a compute type of CTranslate2"))
    }
}

/// Returns a request for one of the compute types that a device accepts.
fn expected(is_cuda: bool) -> String {
    let kinds = COMPUTE_TYPES.iter();
    let accepted = kinds.filter(|kind| !matches!(kind.on(is_cuda), Selection::Unsupported));
    let names: Vec<&str> = accepted.map(|kind| kind.name).collect();
    format!("give {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, is_cuda: bool) -> Result<Option<Precision>, String> {
        Precision::from_compute_type(name, is_cuda).map(|found| found.precision)
    }

    /// CPUs reject what CTranslate2 4.8.5 rejects there. `int16` needs MKL in CTranslate2.
    #[test]
    fn types_of_cpus_are_those_of_ctranslate2() {
        for (name, expected) in [
            ("default", None),
            ("auto", Some(Precision::I8)),
            ("float32", Some(Precision::F32)),
            ("int16", Some(Precision::I16)),
            ("int8", Some(Precision::I8)),
            ("int8_float32", Some(Precision::I8)),
        ] {
            assert_eq!(found(name, false), Ok(expected), "{name}");
        }
        for name in ["float16", "bfloat16", "int8_float16", "int8_bfloat16"] {
            let error = found(name, false).unwrap_err();
            let expected = "is not supported on CPUs; give default, auto, float32, int16, int8, \
                            int8_float32";
            assert_eq!(error, format!("compute type {name:?} {expected}"));
        }
        let supported: Vec<&str> = Precision::supported_compute_types(false).collect();
        assert_eq!(supported, ["float32", "int16", "int8", "int8_float32"]);
    }

    #[test]
    fn gpus_compute_in_the_floats_of_a_type() {
        for (name, expected, warns) in [
            ("default", None, false),
            ("auto", None, false),
            ("float32", Some(Precision::F32), false),
            ("float16", Some(Precision::F16), false),
            ("bfloat16", Some(Precision::Bf16), false),
            ("int8", Some(Precision::F32), true),
            ("int8_float32", Some(Precision::F32), true),
            ("int8_float16", Some(Precision::F16), true),
            ("int8_bfloat16", Some(Precision::Bf16), true),
        ] {
            let found = Precision::from_compute_type(name, true).unwrap();
            assert_eq!((found.precision, found.warning.is_some()), (expected, warns), "{name}");
        }
        assert!(found("int16", true).unwrap_err().contains("is not supported on GPUs"));
        let supported: Vec<&str> = Precision::supported_compute_types(true).collect();
        assert_eq!(supported, ["float32", "float16", "bfloat16"]);
    }

    #[test]
    fn names_of_both_programs_select_a_precision() {
        let select = |name| Precision::select(name, true).map(|found| found.precision);
        assert_eq!(select("i8"), Ok(Some(Precision::I8)));
        assert_eq!(select("int8"), Ok(Some(Precision::F32)));
        assert_eq!(select("mixed"), Ok(Some(Precision::Mixed)));
        let error = select("float8").unwrap_err();
        assert!(error.starts_with("unknown precision \"float8\"; give f32, i16"), "{error}");
        assert!(found("i8", false).unwrap_err().starts_with("invalid compute type \"i8\""));
        assert_eq!(Precision::from_name("int8_float16"), Some(Precision::I8));
        assert_eq!(Precision::from_name("auto"), None);
    }
}
