//! The type of a model if the options do not give one: a transformer, or Marian's default if the
//! program is called `marian`.

use super::raw::RawOptions;

/// The default type of Marian, a recurrent model.
const MARIAN_TYPE: &str = "amun";

/// Options that only recurrent models have.
const RECURRENT_OPTIONS: [&str; 8] = [
    "dim-rnn",
    "enc-type",
    "enc-cell",
    "enc-cell-depth",
    "dec-cell-base-depth",
    "dec-cell-high-depth",
    "skip",
    "layer-normalization",
];

impl RawOptions {
    /// Sets Marian's default type if no type is given.
    pub fn or_marian_type(self) -> Self {
        let mut marian = Self::default();
        marian.set("type", vec![MARIAN_TYPE.into()]).expect("the option exists");
        self.or_else_from(marian)
    }

    /// Returns a warning if options of recurrent models are given, but no type, so that a
    /// transformer is trained.
    pub(super) fn warn_of_default_type(&self) -> Option<String> {
        if self.is_given("type") {
            return None;
        }
        let name = RECURRENT_OPTIONS.into_iter().find(|name| {
            self.is_given(name) && !matches!(&self.get_string(name)[..], "" | "false")
        })?;
        Some(format!(
            "--{name} has no effect: without --type a transformer is trained, in Marian a \
             recurrent model; give --type s2s or --type {MARIAN_TYPE}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(yaml: &str) -> RawOptions {
        RawOptions::from_yaml(yaml.as_bytes(), "train.yml").unwrap()
    }

    #[test]
    fn marians_type_is_below_all_that_is_given() {
        assert_eq!(options("dim-emb: 16").or_marian_type().get_string("type"), "amun");
        assert_eq!(options("type: s2s").or_marian_type().get_string("type"), "s2s");
    }

    #[test]
    fn options_of_recurrent_models_need_a_type() {
        for yaml in ["dim-rnn: 16", "enc-cell: lstm", "{skip: true, dim-emb: 16}"] {
            let warnings = options(yaml).check_status().unwrap();
            assert_eq!(warnings.len(), 1, "{yaml}: {warnings:?}");
            assert!(warnings[0].contains("--type s2s"), "{warnings:?}");
        }
        for yaml in ["{dim-rnn: 16, type: s2s}", "{skip: true, type: transformer}", "skip: no"] {
            assert!(options(yaml).check_status().unwrap().is_empty(), "{yaml}");
        }
    }
}
