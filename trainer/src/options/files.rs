//! The files of training and validation text that options name.

use std::path::PathBuf;

use super::raw::RawOptions;
use crate::data::WeightScope;
use crate::error::{Error, Result};
use crate::parallel_text::{Field, FieldFile, ParallelFiles};

/// Options that name alignments and weights: a file, or the index of a tab-separated field.
const ANNOTATIONS: [(&str, Field); 2] =
    [("guided-alignment", Field::Alignment), ("data-weighting", Field::Weights)];

impl RawOptions {
    /// Returns the files of the training text.
    ///
    /// # Errors
    /// If there are none, their number differs from the number that the options need, or an option
    /// of alignments, weights or tab-separated fields is invalid.
    pub fn training_files(&self) -> Result<ParallelFiles> {
        let needed = if self.is_language_model() {
            "--train-sets (or --target), the text of the language model, is needed"
        } else {
            "--train-sets (or --source and --target) is needed"
        };
        let files = match self.text_files("train-sets")? {
            // As in Marian, tab-separated text without a file is standard input.
            None if self.get_flag("tsv")? => Some(tab_separated("-")),
            files => files,
        };
        let mut files = files.ok_or_else(|| Error::usage(needed))?;
        let cost = self.get_string("guided-alignment-cost");
        // Configurations of older versions of Marian contain another default.
        let is_guided = !matches!(&self.get_string("guided-alignment")[..], "" | "none");
        if is_guided && cost != "ce" {
            return Err(Error::usage(format!(
                "--guided-alignment-cost: {cost:?} is not supported; use ce"
            )));
        }
        files.is_tokenized = self.get_flag("no-spm-encode")?;
        files.weight_scope = match &self.get_string("data-weighting-type")[..] {
            "sentence" => WeightScope::Sentence,
            "word" => WeightScope::Word,
            other => {
                return Err(Error::usage(format!(
                    "--data-weighting-type: expected sentence or word, found {other:?}"
                )));
            }
        };
        let is_tsv = self.get_flag("tsv")?;
        let mut columns = Vec::new();
        for (option, field) in ANNOTATIONS {
            match &self.get_string(option)[..] {
                "" | "none" => {}
                index if is_tsv && index.bytes().all(|byte| byte.is_ascii_digit()) => {
                    columns.push((self.get::<usize>(option)?, option, field));
                }
                path => files.files.push(FieldFile { path: path_of(path), fields: vec![field] }),
            }
        }
        columns.sort_unstable_by_key(|(index, ..)| *index);
        for &(index, option, field) in &columns {
            let fields = &mut files.files[0].fields;
            if index > fields.len() || columns.iter().filter(|column| column.0 == index).count() > 1
            {
                return Err(Error::usage(format!(
                    "--{option}: {index} is not an index, from 0, of one of the {} tab-separated \
                     fields, or another option names this field too",
                    2 + columns.len()
                )));
            }
            fields.insert(index, field);
        }
        let fields = files.files[0].fields.len();
        // In Marian, 0 means that the fields are counted.
        let given = if self.is_given("tsv-fields") { self.get("tsv-fields")? } else { 0 };
        if given != 0 && given != fields {
            return Err(Error::usage(format!(
                "--tsv-fields: {} fields are read: source, target, and those whose indices \
                 --guided-alignment and --data-weighting give",
                fields
            )));
        }
        if files.paths().filter(|path| path.as_os_str() == "-").count() > 1 {
            return Err(Error::usage("only one of the training files can be standard input"));
        }
        Ok(files)
    }

    /// Returns the files of the validation text, if given: two files, or with `tsv` one file with
    /// both sides. A language model has one file.
    ///
    /// # Errors
    /// If their number is wrong, or one is standard input.
    pub fn validation_files(&self) -> Result<Option<ParallelFiles>> {
        let mut files = self.text_files("valid-sets")?;
        if files.as_ref().is_some_and(ParallelFiles::reads_stdin) {
            return Err(Error::usage("--valid-sets: standard input is not supported"));
        }
        if let Some(files) = &mut files {
            files.is_tokenized = self.get_flag("no-spm-encode")?;
        }
        Ok(files)
    }

    fn text_files(&self, option: &str) -> Result<Option<ParallelFiles>> {
        fn wrong(count: usize, needed: &str, option: &str) -> Result<Option<ParallelFiles>, Error> {
            Err(Error::usage(format!("--{option}: {count} files; {needed}")))
        }
        let files = self.get_strings(option);
        if self.is_language_model() {
            return match &files[..] {
                [] => Ok(None),
                [text] => Ok(Some(ParallelFiles::text(path_of(text)))),
                files => wrong(files.len(), "a language model has one text", option),
            };
        }
        match (&files[..], self.get_flag("tsv")?) {
            ([], _) => Ok(None),
            ([source, target], false) => {
                Ok(Some(ParallelFiles::pair([path_of(source), path_of(target)])))
            }
            ([text], true) => Ok(Some(tab_separated(text))),
            (files, false) => {
                wrong(files.len(), "one of the source and one of the target are needed", option)
            }
            (files, true) => wrong(files.len(), "with --tsv one is needed", option),
        }
    }
}

/// Returns a file with source and target as tab-separated fields.
fn tab_separated(text: &str) -> ParallelFiles {
    let fields = vec![Field::Source, Field::Target];
    ParallelFiles {
        files: vec![FieldFile { path: path_of(text), fields }],
        weight_scope: WeightScope::default(),
        is_tokenized: false,
    }
}

/// Returns a path; `stdin` is Marian's name for standard input.
pub(super) fn path_of(text: &str) -> PathBuf {
    PathBuf::from(if text == "stdin" { "-" } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(pairs: &[(&str, &[&str])]) -> RawOptions {
        let mut options = RawOptions::default();
        for (name, values) in pairs {
            options.set(name, values.iter().map(|value| (*value).to_owned()).collect()).unwrap();
        }
        options
    }

    #[test]
    fn annotations_are_files_of_their_own() {
        let files = options(&[
            ("train-sets", &["a", "b"]),
            ("guided-alignment", &["links"]),
            ("data-weighting", &["none"]),
        ]);
        let files = files.training_files().unwrap();
        let fields: Vec<_> = files
            .files
            .iter()
            .map(|file| (file.path.to_str().unwrap(), &file.fields[..]))
            .collect();
        assert_eq!(
            fields,
            [("a", &[Field::Source][..]), ("b", &[Field::Target]), ("links", &[Field::Alignment])]
        );
    }

    #[test]
    fn annotations_are_fields_of_tab_separated_text() {
        let tsv = |more: &[(&str, &[&str])]| {
            let mut all: Vec<(&str, &[&str])> = vec![("train-sets", &["stdin"]), ("tsv", &[])];
            all.extend_from_slice(more);
            options(&all).training_files()
        };
        let fields = |more: &[(&str, &[&str])]| tsv(more).unwrap().files[0].fields.clone();
        use Field::{Alignment, Source, Target, Weights};
        assert!(tsv(&[]).unwrap().reads_stdin());
        assert_eq!(fields(&[]), [Source, Target]);
        let both: [(&str, &[&str]); 2] = [("guided-alignment", &["3"]), ("data-weighting", &["2"])];
        assert_eq!(fields(&both), [Source, Target, Weights, Alignment]);
        assert_eq!(fields(&[("data-weighting", &["0"])]), [Weights, Source, Target]);
        assert_eq!(fields(&[("guided-alignment-cost", &["mse"])]), [Source, Target]);
        assert_eq!(fields(&[("tsv-fields", &["0"])]), [Source, Target]);
        for wrong in [
            &[("guided-alignment", &["3"][..])][..],
            &[("guided-alignment", &["2"]), ("data-weighting", &["2"])],
            &[("guided-alignment", &["0"]), ("data-weighting", &["0"])],
            &[("tsv-fields", &["3"])],
            &[("guided-alignment", &["-"])],
            &[("guided-alignment", &["2"]), ("guided-alignment-cost", &["mse"])],
            &[("data-weighting-type", &["token"])],
        ] {
            assert!(tsv(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn tab_separated_text_without_a_file_is_standard_input() {
        let given = options(&[("tsv", &[]), ("data-weighting", &["2"])]);
        let files = given.training_files().unwrap();
        assert!(files.reads_stdin());
        assert_eq!(files.files[0].fields, [Field::Source, Field::Target, Field::Weights]);
        assert!(given.validation_files().unwrap().is_none());
        assert!(options(&[("tsv", &["false"])]).training_files().is_err());
        let language_model = options(&[("tsv", &[]), ("type", &["lm"])]);
        assert!(language_model.training_config([10; 2]).is_err());
    }

    #[test]
    fn the_number_of_files_must_fit() {
        let none = options(&[]);
        assert!(none.training_files().is_err() && none.validation_files().unwrap().is_none());
        assert!(options(&[("train-sets", &["a"])]).training_files().is_err());
        assert!(options(&[("train-sets", &["a", "b"]), ("tsv", &[])]).training_files().is_err());
        assert!(options(&[("valid-sets", &["-", "b"])]).validation_files().is_err());
    }
}
