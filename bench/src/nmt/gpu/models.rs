//! Models of the GPU benchmark, and the sentences that they translate.

use std::path::{Path, PathBuf};

use miriam_nmt::ModelBundle;
use miriam_nmt::architecture::{Architecture, CellKind, Model};
use miriam_nmt::search::SearchOptions;
use miriam_nmt::translate::{Tokenizer, TokenizerScratch};
use miriam_storage::random::SplitMix64;

use super::super::batching::variant::ParallelText;
use super::super::random_models::{
    DECODING_SHAPES, decoding_architecture, random_model_without_eos, recurrent_shape,
    transformer_of_width,
};
use super::NmtGpuStudy;
use super::roofline::StepSizes;
use crate::error::{Error, Result};
use crate::input::{lines, read_text, words};

/// A model with the sentences that it translates.
pub struct Subject {
    /// The name in tables.
    pub name: String,
    /// The model, random or read from a file.
    pub model: Model,
    /// The path of the model, or a description of a random model, for messages.
    pub path: PathBuf,
    pub text: ParallelText,
}

/// The vocabulary size of random models; the Amun models of Hoang et al. (2018) have the same.
const VOCABULARY_SIZE: usize = 30_000;
/// The vocabulary size of random models in a quick run.
const QUICK_VOCABULARY_SIZE: usize = 60;

/// The width of random models in a quick run.
const QUICK_WIDTH: usize = 16;

/// The number of sentences of a generated text.
const SENTENCES: usize = 2_560;

/// Returns the number of models of the benchmark. Each is loaded when the previous one is done.
pub fn subject_count(study: &NmtGpuStudy) -> usize {
    if study.models.is_empty() { DECODING_SHAPES.len() } else { study.models.len() }
}

/// Generates or reads the model with the index `number`, and its text.
///
/// # Errors
/// If the model or the text cannot be read, the text has no words, or a model is given without a
/// text.
pub fn subject(study: &NmtGpuStudy, number: usize) -> Result<Subject> {
    match study.models.get(number) {
        Some(path) => read_subject(study, path),
        None => random_subject(study, DECODING_SHAPES[number]),
    }
}

fn random_subject(study: &NmtGpuStudy, name: &str) -> Result<Subject> {
    let words = if study.quick { QUICK_VOCABULARY_SIZE } else { VOCABULARY_SIZE };
    let architecture = if study.quick {
        quick_architecture(name, words)
    } else {
        decoding_architecture(name, words).expect("the name of a shape")
    };
    let model = random_model_without_eos(architecture, study.seed)?;
    let text = match &study.input {
        Some(path) => {
            let text = read_text(path)?;
            // A random model does not end sentences, so the source also gives the length of the
            // translation.
            ParallelText::new(&text, &text, SENTENCES, words, [path, path])?
        }
        None => ParallelText::random(&random_lengths(study), words, study.seed),
    };
    let path = PathBuf::from(format!("a random model ({name})"));
    Ok(Subject { name: name.to_owned(), model, path, text })
}

/// Returns the architecture called `name`, but small.
fn quick_architecture(name: &str, words: usize) -> Architecture {
    let recurrent = |cell| Architecture::Recurrent(recurrent_shape(cell, QUICK_WIDTH, words));
    let transformer =
        |layers| Architecture::Transformer(transformer_of_width(QUICK_WIDTH, 24, layers, words));
    match name {
        "gru" => recurrent(CellKind::Gru),
        "mlstm" => recurrent(CellKind::Mlstm),
        "tiny" => transformer([1, 1]),
        _ => transformer([1, 2]),
    }
}

/// Draws lengths of sentences and of their translations, in tokens. The lengths of real sentences
/// have about a log-normal distribution: half of the sentences have up to 19 tokens, a sixth more
/// than 33.
fn random_lengths(study: &NmtGpuStudy) -> Vec<[usize; 2]> {
    let mut numbers = SplitMix64::new(study.seed);
    if study.quick {
        return (0..8).map(|_| [0; 2].map(|_| 2 + numbers.below(4) as usize)).collect();
    }
    let lengths = (0..SENTENCES).map(|_| {
        // The sum of 12 uniform numbers is about normal, with mean 6 and variance 1.
        let normal = (0..12).map(|_| f64::from(numbers.next_f32())).sum::<f64>() - 6.0;
        let source = (19.0 * (0.55 * normal).exp()).round().clamp(1.0, 100.0);
        let target = (source * (0.8 + 0.4 * f64::from(numbers.next_f32()))).round().max(1.0);
        [source as usize, target as usize]
    });
    lengths.collect()
}

fn read_subject(study: &NmtGpuStudy, path: &Path) -> Result<Subject> {
    let Some(input) = &study.input else {
        return Err(Error::unmeasurable("--model needs a text (--input)"));
    };
    let bundle = ModelBundle::open(path, None)?;
    let (Some(pair), 1) = (&bundle.tokenizers, bundle.models.len()) else {
        let reason = format!("{}: expected one model with vocabularies", path.display());
        return Err(Error::unmeasurable(reason));
    };
    let tokenizer = Tokenizer::new(pair, 0);
    let mut scratch = TokenizerScratch::default();
    let text = read_text(input)?;
    let mut sentences: Vec<Vec<u32>> = Vec::new();
    for line in lines(&text).filter(|line| words(line).next().is_some()).take(SENTENCES) {
        sentences.push(tokenizer.ids_with_special_tokens(&tokenizer.encode(line, &mut scratch)));
    }
    if sentences.is_empty() {
        return Err(Error::no_words(input));
    }
    let options = SearchOptions {
        max_length_factor: 3.0,
        eos_id: pair.vocabularies[1].eos_id(),
        ..SearchOptions::default()
    };
    let name =
        path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
    let name = name.into_owned();
    let text = ParallelText::open_ended(sentences, options);
    let model = bundle.models.into_iter().next().expect("there is one");
    Ok(Subject { name, model, path: path.to_owned(), text })
}

impl Subject {
    /// Returns the sizes of a decoding step with `rows` rows, in the middle of sentences of mean
    /// length. `target_tokens`, the number of tokens of all translations, is used if the text does
    /// not fix the lengths of its translations.
    pub fn step_sizes(&self, rows: f64, beam: usize, target_tokens: usize) -> StepSizes {
        let sentences = self.text.num_sentences().max(1);
        let [source_tokens, target] = self.text.token_counts();
        let target_tokens = if target > 0 { target } else { target_tokens };
        StepSizes {
            sentences: ((rows / beam as f64).round() as usize).max(1),
            beam,
            source_length: source_tokens.div_ceil(sentences),
            history: target_tokens / sentences / 2,
        }
    }
}
