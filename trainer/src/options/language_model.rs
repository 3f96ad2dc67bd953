//! Options of language models (`type` lm or lm-transformer), which have no source. Options about a
//! source or about translations are rejected by name if they are given, and are left out of
//! presets.

use miriam_nmt::formats::marian;

use super::raw::RawOptions;
use super::resolve::invalid_option;
use super::table::find;
use crate::error::Result;
use crate::training::Metric;

/// Options that a training run without a source cannot follow, with the reason.
const WITHOUT_MEANING: [(&str, &str); 15] = [
    ("tsv", NO_SOURCE),
    ("tsv-fields", NO_SOURCE),
    ("guided-alignment", NO_SOURCE),
    ("transformer-guided-alignment-layer", NO_SOURCE),
    ("english-title-case-every", NO_SOURCE),
    ("dropout-src", NO_SOURCE),
    ("enc-type", NO_ENCODER),
    ("enc-cell", NO_ENCODER),
    ("enc-cell-depth", NO_ENCODER),
    ("enc-depth", NO_ENCODER),
    ("beam-size", NO_TRANSLATIONS),
    ("normalize", NO_TRANSLATIONS),
    ("max-length-factor", NO_TRANSLATIONS),
    ("allow-unk", NO_TRANSLATIONS),
    ("valid-translation-output", NO_TRANSLATIONS),
];

const NO_SOURCE: &str = "a language model has no source";
const NO_ENCODER: &str = "a language model has no encoder; its layers are those of the decoder";
const NO_TRANSLATIONS: &str = "a language model does not translate";

impl RawOptions {
    /// Whether the model is a language model.
    pub fn is_language_model(&self) -> bool {
        marian::is_language_model(&self.get_string("type"))
    }

    /// Returns the options of a preset as far as they apply to a language model.
    pub(super) fn without_source(mut self) -> Self {
        let names = WITHOUT_MEANING.iter().map(|(name, _)| *name);
        names.for_each(|name| self.remove(name));
        let metrics = self.get_strings("valid-metrics");
        let metrics = metrics.into_iter().filter(|name| {
            Metric::from_name(name).is_none_or(|metric| !metric.needs_translations())
        });
        self.replace("valid-metrics", metrics.collect());
        self
    }

    /// Rejects options that have no meaning for the language model that these options describe.
    /// Options with their default values are accepted, because Marian writes them into every
    /// configuration.
    ///
    /// # Errors
    /// If there is such an option; the message names the first.
    pub(super) fn check_language_model(&self) -> Result<()> {
        if !self.is_language_model() {
            return Ok(());
        }
        for (name, reason) in WITHOUT_MEANING {
            let default = find(name).map_or("", |spec| spec.default);
            let value = self.get_strings(name).join(" ");
            let [given, usual] = [&value[..], default].map(|text| text.parse::<f64>().ok());
            let asks_for_nothing = ["", "false", "none", default].contains(&&value[..])
                || given.is_some() && given == usual;
            if !asks_for_nothing {
                return Err(invalid_option(name, reason));
            }
        }
        let metrics = self.get_strings("valid-metrics");
        let translating = metrics
            .iter()
            .find(|name| Metric::from_name(name).is_some_and(|metric| metric.needs_translations()));
        match translating {
            None => Ok(()),
            Some(name) => {
                let reason = format!("{name}: {NO_TRANSLATIONS}; use ce-mean-words or perplexity");
                Err(invalid_option("valid-metrics", reason))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::presets::{preset, preset_names};
    use super::*;

    fn error(yaml: &str) -> String {
        let yaml = format!("type: lm-transformer\n{yaml}");
        let options = RawOptions::from_yaml(yaml.as_bytes(), "train.yml").unwrap();
        options.training_config([10; 2]).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn options_about_sources_and_translations_are_rejected_by_name() {
        for (yaml, name) in [
            ("tsv: true", "--tsv"),
            ("guided-alignment: links", "--guided-alignment"),
            ("dropout-src: 0.1", "--dropout-src"),
            ("enc-depth: 6", "--enc-depth"),
            ("beam-size: 5", "--beam-size"),
            ("normalize: 1", "--normalize"),
            ("valid-metrics: [perplexity, bleu]", "--valid-metrics: bleu"),
            ("valid-metrics: [translation]", "--valid-metrics: translation"),
        ] {
            assert!(error(yaml).contains(name), "{yaml}: {}", error(yaml));
        }
        // Marian writes the defaults of all options.
        let defaults = "{enc-depth: 1, beam-size: 12, normalize: 0.0, dropout-src: 0, tsv: false, \
                        guided-alignment: none, enc-cell: gru, max-length-factor: 3.0}";
        let mut options = RawOptions::from_yaml(defaults.as_bytes(), "train.yml").unwrap();
        options.set("type", vec!["lm".into()]).unwrap();
        options.training_config([10; 2]).unwrap_or_else(|error| panic!("{error}"));
    }

    #[test]
    fn presets_apply_to_language_models_without_a_source() {
        for (name, _) in preset_names() {
            let mut options = RawOptions::default();
            let kind = match &preset(name).unwrap().get_string("type")[..] {
                "s2s" => "lm",
                _ => "lm-transformer",
            };
            options.set("type", vec![kind.into()]).unwrap();
            let options = options.or_else_from_files(&[], Some(name)).unwrap();
            let config = options.training_config([10; 2]).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(!config.architecture.has_source(), "{name}");
            assert!(config.validation.metrics.iter().all(|metric| !metric.needs_translations()));
        }
    }
}
