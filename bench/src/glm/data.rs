//! The model and the texts of a measurement, generated or read from files.

use std::path::{Path, PathBuf};

use miriam_lmcpu::ArpaOptions;
use miriam_lmcpu::sorted::SortedModel;
use miriam_textio::{Input, Progress, display_name};

use crate::error::{Error, Result};
use crate::input;
use crate::synthetic::{SyntheticOptions, Text, TextKind};

/// A model, and the texts from which queries are made.
pub struct BenchData {
    pub model: SortedModel,
    /// The texts that were read from files, with their names; if empty, texts are generated.
    files: Vec<(String, Text)>,
}

/// Texts that are generated from a model, and their names.
const SYNTHETIC_TEXTS: [(&str, TextKind); 2] =
    [("training-like", TextKind::Training), ("held-out-like", TextKind::HeldOut)];

impl BenchData {
    /// Generates a model.
    pub fn generate(recipe: &SyntheticOptions) -> Self {
        let started = std::time::Instant::now();
        let model = recipe.generate_model();
        let (counts, seconds) = (&model.counts, started.elapsed().as_secs_f64());
        tracing::info!("generated n-grams of each order in {seconds:.1} s: {counts:?}");
        BenchData { model, files: Vec::new() }
    }

    /// Reads a model, and texts as ids of its words.
    pub fn read(path: &Path, texts: &[PathBuf], progress: &dyn Progress) -> Result<Self> {
        for text in texts {
            Input::check_access(text, None)?;
        }
        let mut source = miriam_glm::open_source(path, ArpaOptions::default(), progress)?;
        let model = SortedModel::from_source(&mut *source)?;
        if model.counts.len() < 2 {
            let reason = format!(
                "{}: the model has unigrams only; expected order 2 or higher",
                path.display()
            );
            return Err(Error::unmeasurable(reason));
        }
        let files = texts.iter().map(|path| Ok((display_name(path), read_text(path, &model)?)));
        let files = files.collect::<Result<_>>()?;
        Ok(BenchData { model, files })
    }

    /// Returns the length of the longest n-grams.
    pub fn order(&self) -> usize {
        self.model.counts.len()
    }

    /// Returns the texts, each of about `words` words: texts of files are cut or repeated.
    pub fn texts(&self, words: usize, seed: u64) -> Vec<(String, Text)> {
        if self.files.is_empty() {
            return SYNTHETIC_TEXTS
                .map(|(name, likeness)| {
                    (name.to_owned(), Text::sample(&self.model, likeness, words, seed))
                })
                .into();
        }
        self.files.iter().map(|(name, text)| (name.clone(), text.resized(words))).collect()
    }

    /// Returns a text of `words` words with equal parts of all texts.
    pub fn mixed_text(&self, words: usize, seed: u64) -> Text {
        let mut mixed = Text::default();
        let texts = if self.files.is_empty() { SYNTHETIC_TEXTS.len() } else { self.files.len() };
        let texts = self.texts(words.div_ceil(texts), seed);
        for (_, text) in &texts {
            mixed.append(text, words);
        }
        mixed
    }
}

/// Reads a text with one sentence per line as word ids of `model`.
fn read_text(path: &Path, model: &SortedModel) -> Result<Text> {
    let text = input::read_words(path)?;
    let mut ids = vec![0; model.source_ids.len()];
    for (id, source) in (0..).zip(&model.source_ids) {
        ids[source.index()] = id;
    }
    Ok(Text::from_lines(&text, model.eos_id, |word| {
        model.vocabulary.find(word).map_or(0, |id| ids[id.index()])
    }))
}
