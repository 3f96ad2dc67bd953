//! The options of the neural models of a combined system.

use std::path::{Path, PathBuf};

use miriam_decoder::MAX_CANDIDATES;
use miriam_trainer::ParameterLayout;
use miriam_trainer::options::{DumpScope, NO_PRESET, RawOptions, count_lines};
use miriam_trainer::train_from_text::DEFAULT_VOCAB_SIZE;

use crate::{Error, Result};

/// Options of the trainer that the training of a combined system sets itself, in addition to files.
const OWN_OPTIONS: [&str; 2] = ["dim-vocabs", "tsv"];

/// Numbers of pairs, each with the size of the vocabulary for texts of fewer pairs: small corpora
/// are learned better in small pieces (Sennrich and Zhang 2019).
const VOCABULARY_SIZES: [(u64, usize); 2] = [(5_000, 2_000), (20_000, 4_000)];

/// The count of numbers that the optimiser keeps for a parameter: the parameter, two moments, and
/// an average.
const OPTIMIZER_NUMBERS: u64 = 4;

/// The options of the neural models of a combined system.
#[derive(Clone, Debug, Default)]
pub struct NeuralOptions {
    /// The preset of the trainer. `None` stands for the preset that the configurations name or,
    /// without configurations, for the preset for the size of the text.
    pub task: Option<String>,
    /// Configurations of the trainer in Marian's form; later ones override earlier ones.
    pub configs: Vec<PathBuf>,
    /// The number of pieces of the vocabulary; `None` chooses it by the size of the text.
    pub vocab_size: Option<usize>,
    /// Texts of the target language whose translations by the reverse model are additional
    /// training text.
    pub back_translate: Vec<PathBuf>,
    /// The number of translations of the neural model that are added to the list of each sentence.
    pub candidates: usize,
}

impl NeuralOptions {
    /// Checks that the options can be used, and do not set what training sets itself.
    pub(crate) fn check(&self) -> Result<()> {
        let given = self.options_of_configs()?;
        let own = OWN_OPTIONS.into_iter().find(|name| given.is_given(name));
        if let Some(name) = given.find_input_file().or(own) {
            return Err(Error::invalid_options(format!(
                "--neural-config: this training run sets its texts, files and sizes itself; remove \
                 {name}"
            )));
        }
        let kind = given.get_string("type");
        if kind.starts_with("lm") {
            return Err(Error::invalid_options(format!(
                "--neural-config: type: {kind} is a language model, which does not translate"
            )));
        }
        if self.candidates > MAX_CANDIDATES {
            return Err(Error::invalid_options(format!(
                "--neural-candidates: expected a number from 0 to {MAX_CANDIDATES}"
            )));
        }
        // Errors are found now, and not after the training of the phrase-based system.
        let task = self.task.as_deref().unwrap_or(NO_PRESET);
        given.or_else_from_files(&[], Some(task))?.training_config([2, 2])?;
        Ok(())
    }

    /// Returns the number of pieces of the vocabulary for a text with this number of pairs.
    pub(crate) fn vocabulary_size(&self, pairs: u64) -> usize {
        let by_size = VOCABULARY_SIZES.iter().find(|(limit, _)| pairs < *limit);
        let by_size = by_size.map_or(DEFAULT_VOCAB_SIZE, |(_, size)| *size);
        self.vocab_size.unwrap_or(by_size)
    }

    /// Returns the maximum size in bytes of the files of one model, and the size of its largest
    /// file, which exists twice while it is replaced. The files are the model, the best model by
    /// each metric, and the state of the optimiser. Copies that training keeps without `overwrite`
    /// are not counted, because their number is not known.
    ///
    /// # Errors
    /// If a text or configuration cannot be read, or an option is invalid.
    pub(crate) fn model_bytes(&self, texts: [&Path; 2]) -> Result<[u64; 2]> {
        let mut options = RawOptions::default();
        options.set("train-sets", texts.map(|text| text.display().to_string()).into())?;
        let options = options.or_else_from_files(&self.configs, self.task.as_deref())?;
        let pairs = count_lines(texts[0])?.unwrap_or(u64::MAX);
        let config = options.training_config([self.vocabulary_size(pairs); 2])?;
        let model = 4 * ParameterLayout::new(&config.architecture).len() as u64;
        let optimizer = OPTIMIZER_NUMBERS * model;
        let models = 1 + config.validation.metrics.len() as u64;
        Ok([models * model + optimizer, optimizer])
    }

    /// Returns the options that the configurations set, directly or, unless `task` names a preset,
    /// through the preset that they name.
    fn options_of_configs(&self) -> Result<RawOptions> {
        let has_preset_of_configs = self.task.is_none() && !self.configs.is_empty();
        let task = if has_preset_of_configs { None } else { Some(NO_PRESET) };
        Ok(RawOptions::default().or_else_from_files(&self.configs, task)?)
    }

    /// Returns the options that a model depends on, as text. `only_unchangeable` restricts the text
    /// to the options that must stay the same when a stopped training run resumes.
    pub(crate) fn key(&self, only_unchangeable: bool) -> Result<String> {
        let options = self.options_of_configs()?;
        let options = if only_unchangeable { options.unchangeable() } else { options };
        let task = self.task.as_deref().unwrap_or("by size");
        Ok(format!("{task}\n{}", options.dump(DumpScope::Minimal)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use miriam_textio::{CancellationToken, NoProgress};
    use miriam_trainer::train_from_text::TrainingRequest;

    use super::*;

    /// The key has the options of a preset that a configuration names, unless the options name
    /// another preset.
    #[test]
    fn the_preset_of_a_configuration_is_part_of_the_key() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config.yml");
        fs::write(&config, "task: m30k\nlearn-rate: 0.5\n").unwrap();
        let mut neural = NeuralOptions { configs: vec![config], ..Default::default() };
        neural.check().unwrap();
        let key = neural.key(false).unwrap();
        assert!(key.contains("dim-emb: 128\n") && key.contains("learn-rate: 0.5\n"), "{key}");
        neural.task = Some("toy".into());
        let key = neural.key(false).unwrap();
        assert!(key.starts_with("toy\n") && !key.contains("dim-emb"), "{key}");
    }

    /// The estimates are within 10 % of the sizes of the files that training leaves.
    #[test]
    fn the_size_of_a_model_is_estimated_before_training() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let word = |number: u32| -> String {
            let letters = (0..4).map(|place| b'a' + (number * (place * 2 + 3) % 23) as u8);
            letters.map(char::from).collect()
        };
        let text: String = (0..200).map(|n| format!("{} {}\n", word(n), word(n * 7))).collect();
        let texts = ["source", "target"].map(|name| {
            fs::write(at(name), &text).unwrap();
            at(name)
        });
        let config = at("config.yml");
        fs::write(
            &config,
            "type: transformer\ndim-emb: 64\nenc-depth: 1\ndec-depth: 1\ntransformer-heads: 2\n\
             transformer-dim-ffn: 256\ntied-embeddings-all: true\nafter: 2u\nvalid-freq: 1u\n\
             save-freq: 1u\nkeep-best: true\noverwrite: true\nvalid-metrics: [ce-mean-words, \
             perplexity]\nexponential-smoothing: 0.001\n",
        )
        .unwrap();
        let neural =
            NeuralOptions { configs: vec![config], vocab_size: Some(40), ..Default::default() };
        let [files, largest] = neural.model_bytes([&texts[0], &texts[1]]).unwrap();
        let mut options = RawOptions::default();
        let names: Vec<String> = texts.iter().map(|text| text.display().to_string()).collect();
        options.set("train-sets", names.clone()).unwrap();
        options.set("valid-sets", names).unwrap();
        let request = TrainingRequest {
            options: options.or_else_from_files(&neural.configs, None).unwrap(),
            folder: Some(at("model")),
            vocab_size: Some(40),
            plot: None,
            dry_run: false,
        };
        request.run(&CancellationToken::new(), &NoProgress, &mut |_| {}, &mut |_| {}).unwrap();
        let sizes = fs::read_dir(at("model")).unwrap();
        let sizes: Vec<u64> = sizes.map(|entry| entry.unwrap().metadata().unwrap().len()).collect();
        let (sum, most) = (sizes.iter().sum::<u64>(), *sizes.iter().max().unwrap());
        assert!(files.abs_diff(sum) * 10 < sum, "{files} {sum}");
        assert!(largest.abs_diff(most) * 10 < most, "{largest} {most}");
    }
}
