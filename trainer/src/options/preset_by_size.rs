//! Choice of a preset by the size of the corpus, if the options name neither a preset nor a model.
//!
//! Marian's default model is for millions of sentence pairs: trained on twenty thousand, its 163 MB
//! of parameters learn little. Command lines that were written for Marian name a model file, a
//! shape or a configuration, so they keep Marian's defaults.

use std::path::Path;

use miriam_textio::{Input, Lines, display_name};

use super::files::path_of;
use super::raw::RawOptions;
use super::table::all_options;
use crate::error::Result;

/// Presets, each with the number of sentence pairs below which it is chosen.
const SIZES: [(u64, &str); 3] = [(5_000, "tiny"), (200_000, "small"), (2_000_000, "medium")];
/// The preset of larger corpora.
const LARGEST: &str = "large";
/// The group of options that determine the model's type, shape and file.
const MODEL_GROUP: &str = "Model";

/// Returns the preset for a corpus with this number of pairs.
fn preset_name(pairs: u64) -> &'static str {
    SIZES.iter().find(|(limit, _)| pairs < *limit).map_or(LARGEST, |(_, name)| name)
}

/// Counts the lines of a text, up to the largest number that matters for the choice. Returns `None`
/// for a text that can be read only once, such as a pipe.
///
/// # Errors
/// If the text cannot be read.
pub fn count_lines(path: &Path) -> Result<Option<u64>> {
    if !path.is_file() {
        return Ok(None);
    }
    let mut lines = Lines::new(Input::open(path)?);
    let mut count = 0;
    while count < SIZES[SIZES.len() - 1].0 && lines.next()?.is_some() {
        count += 1;
    }
    Ok(Some(count))
}

impl RawOptions {
    /// Adds the options of the preset for the size of the training text, unless these options
    /// determine the model. Given options take precedence. The training log names the preset.
    ///
    /// # Errors
    /// If the text cannot be read.
    pub(super) fn or_else_from_size(self) -> Result<Self> {
        let mut model_options = all_options().filter(|spec| spec.group == MODEL_GROUP);
        // All presets that are chosen by size are transformers, and a language model is the decoder
        // of a transformer. So the type lm-transformer does not determine the shape.
        let leaves_shape_open = |name| name == "type" && self.get_string(name) == "lm-transformer";
        if model_options.any(|spec| self.is_given(spec.name) && !leaves_shape_open(spec.name)) {
            return Ok(self);
        }
        let text = match self.get_strings("train-sets").first() {
            Some(text) => path_of(text),
            // Tab-separated text without a file is standard input.
            None if self.get_flag("tsv")? => path_of("-"),
            None => return Ok(self),
        };
        let Some(pairs) = count_lines(&text)? else {
            // A missing file is reported when it is opened.
            if text.as_os_str() != "-" && !text.exists() {
                return Ok(self);
            }
            let note = format!(
                "[config] {}: it can be read only once, so no preset is chosen by its size and \
                 Marian's defaults apply; --task NAME chooses a preset",
                display_name(&text)
            );
            return Ok(self.with_note(note));
        };
        let name = preset_name(pairs);
        let unit = if self.is_language_model() { "lines" } else { "pairs" };
        let size = if name == LARGEST {
            format!("{pairs} {unit} or more")
        } else {
            format!("{pairs} {unit}")
        };
        let note = format!(
            "[config] {size}: the preset {name} is used; --task NAME chooses another, --task none \
             takes Marian's defaults"
        );
        Ok(self.or_else_from_preset(name)?.with_note(note))
    }
}

#[cfg(test)]
mod tests {
    use super::super::presets::preset;
    use super::*;

    fn options(folder: &Path, lines: usize, given: &[(&str, &str)]) -> RawOptions {
        let text = folder.join("text");
        std::fs::write(&text, "a b\n".repeat(lines)).unwrap();
        let mut options = RawOptions::default();
        let text = text.display().to_string();
        options.set("train-sets", vec![text.clone(), text]).unwrap();
        for (name, value) in given {
            options.set(name, vec![(*value).to_owned()]).unwrap();
        }
        options
    }

    #[test]
    fn the_size_chooses_a_preset_if_no_model_is_given() {
        let folder = tempfile::tempdir().unwrap();
        let choose = |lines, given: &[(&str, &str)], task| {
            options(folder.path(), lines, given).or_else_from_files(&[], task).unwrap()
        };
        for (lines, width) in
            [(10, "64"), (4_999, "64"), (5_000, "128"), (199_999, "128"), (200_000, "256")]
        {
            let chosen = choose(lines, &[], None);
            assert_eq!(chosen.get_string("dim-emb"), width, "{lines}");
            assert!(chosen.note().unwrap().contains(&format!("{lines} pairs: the preset ")));
        }
        assert_eq!(preset_name(2_000_000), LARGEST);
        // Given options take precedence; a model named as in Marian keeps Marian's defaults.
        let chosen = choose(10, &[("learn-rate", "0.1")], None);
        assert_eq!(
            (&*chosen.get_string("learn-rate"), &*chosen.get_string("dim-emb")),
            ("0.1", "64")
        );
        for given in [("type", "s2s"), ("model", "model.npz"), ("dim-rnn", "32")] {
            assert!(choose(10, &[given], None).note().is_none(), "{given:?}");
        }
        let language_model = choose(10, &[("type", "lm-transformer")], None);
        assert!(language_model.note().unwrap().contains("10 lines: the preset tiny"));
        assert!(!language_model.is_given("enc-depth"));
        let marians = choose(10, &[], Some("none"));
        assert!(marians.note().is_none() && !marians.is_given("dim-emb"));
        assert_eq!(choose(10, &[], Some("m30k")).get_string("dim-emb"), "128");
        // The size of standard input is unknown, and a missing file is an error later.
        let from = |text: &str| {
            let mut options = options(folder.path(), 1, &[]);
            options.set("train-sets", vec![text.to_owned()]).unwrap();
            options.or_else_from_files(&[], None).unwrap()
        };
        let streamed = from("-");
        assert!(streamed.note().unwrap().contains("standard input: it can be read only once"));
        assert!(!streamed.is_given("dim-emb"));
        let mut tab_separated = RawOptions::default();
        tab_separated.set("tsv", Vec::new()).unwrap();
        let tab_separated = tab_separated.or_else_from_files(&[], None).unwrap();
        assert!(tab_separated.note().unwrap().contains("standard input: it can be read only once"));
        assert!(from("/missing/text").note().is_none());
    }

    #[test]
    fn every_size_has_a_preset() {
        for (_, name) in SIZES.iter().chain([&(0, LARGEST)]) {
            let preset = preset(name).unwrap();
            assert!(preset.get_flag("overwrite").unwrap() && preset.get_flag("keep-best").unwrap());
        }
    }
}
