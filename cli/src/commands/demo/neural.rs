//! The neural model of the demonstration, which is part of the binary: `examples/toy-neural`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use miriam_nmt::ModelBundle;
use miriam_nmt::batch::{BatchingOptions, Job, JobList, translate_batches};
use miriam_nmt::engine::{Autotuner, Cpu};
use miriam_nmt::search::{Request, SearchOptions};
use miriam_nmt::translate::{LoadedModels, TokenizerScratch, TranslationOptions};
use miriam_textio::Output;

use super::TranslatedSentence;

/// The files of the model's folder.
const FILES: [(&str, &[u8]); 3] = [
    ("decoder.yml", include_bytes!("../../../../examples/toy-neural/decoder.yml")),
    ("model.npz", include_bytes!("../../../../examples/toy-neural/model.npz")),
    ("vocab.spm", include_bytes!("../../../../examples/toy-neural/vocab.spm")),
];

/// The model, ready to translate.
pub struct NeuralModel {
    bundle: ModelBundle,
    models: LoadedModels,
    options: TranslationOptions,
}

impl NeuralModel {
    /// Creates `folder`, writes the model's files to it and opens the model.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        fs::create_dir(folder).with_context(|| folder.display().to_string())?;
        for (name, content) in FILES {
            Output::write_file(&folder.join(name), content)?;
        }
        let bundle = ModelBundle::open(folder, None)?;
        let options = TranslationOptions::for_bundle(&bundle, None);
        let tuner = Arc::new(Autotuner::new(Cpu::detect()));
        let models = LoadedModels::new(&bundle, &options.weights, options.placement(&tuner))?;
        Ok(NeuralModel { bundle, models, options })
    }

    /// Returns the number of the model's parameters.
    pub fn num_parameters(&self) -> usize {
        let models = self.bundle.models.iter();
        models.flat_map(|model| model.parameters()).map(|(_, tensor)| tensor.numel()).sum()
    }

    /// Translates sentences, with the settings of the model's configuration.
    pub fn translate(&self, sources: &[&str]) -> anyhow::Result<Vec<TranslatedSentence>> {
        let [source, target] = self.models.tokenizers();
        let search = SearchOptions {
            eos_id: target.vocabulary.eos_id(),
            suppress_tokens: vec![target.vocabulary.unk_id()],
            ..self.options.search.clone()
        };
        let mut scratch = TokenizerScratch::default();
        let jobs = (0..).zip(sources).map(|(id, line)| {
            let pieces = source.encode(line.as_bytes(), &mut scratch);
            let source = source.ids_with_special_tokens(&pieces);
            Job { id, request: Request { source, ..Request::default() } }
        });
        let mut jobs = JobList::new(jobs);
        let batching = BatchingOptions {
            max_sentences: self.options.mini_batch,
            maxi_batch: self.options.maxi_batch,
            sort_by_length: true,
            ..BatchingOptions::default()
        };
        let mut session = self.models.session()?;
        translate_batches(session.as_mut(), &search, &batching, &mut jobs)?;
        jobs.results
            .into_values()
            .map(|found| {
                let best = found?.into_iter().next().unwrap_or_default();
                let mut text = Vec::new();
                target.decode(&best.tokens, |_| None, &mut text);
                let text = String::from_utf8_lossy(&text).into_owned();
                Ok(TranslatedSentence { text, score: best.log_probability, alignment: Vec::new() })
            })
            .collect()
    }
}
