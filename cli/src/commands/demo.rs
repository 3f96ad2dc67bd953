//! `miriam demo`: the whole stack in one command, from toy text to translations of two
//! systems.
//!
//! The text is part of the binary, so the demonstration runs anywhere. It does what a user does:
//! `miriam train` in a temporary folder, then translation with the resulting ini. It also
//! translates with a neural model, which is part of the binary too, because training one takes
//! minutes.

mod neural;

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use clap::Args;
use miriam_decoder::{Configuration, System, Translation, Translator};
use miriam_metrics::{Bleu, Tokenizer, corpus_score, corpus_statistics};
use miriam_pipeline::{TrainOptions, TrainSummary, train};
use miriam_textio::Output;
use tempfile::TempDir;

use self::neural::NeuralModel;
use crate::common::{CommonOptions, temporary_folder};
use crate::console::standard_output;

/// The training and development text: names of files in the temporary folder, and contents.
const CORPUS_FILES: [(&str, &[u8]); 4] = [
    ("train.en", include_bytes!("../../../examples/toy/train.en")),
    ("train.es", include_bytes!("../../../examples/toy/train.es")),
    ("dev.en", include_bytes!("../../../examples/toy/dev.en")),
    ("dev.es", include_bytes!("../../../examples/toy/dev.es")),
];
const TEST_SOURCE: &str = include_str!("../../../examples/toy/test.en");
const TEST_REFERENCE: &str = include_str!("../../../examples/toy/test.es");
/// The number of test sentences whose translations are shown.
const NUM_SHOWN: usize = 12;

/// Train a toy English-Spanish system in a temporary folder, and translate with it and with a
/// neural model.
///
/// Example: miriam demo
#[derive(Args)]
pub struct Arguments {}

/// A system's translation of a sentence; its text is empty if the system finds none.
#[derive(Default)]
struct TranslatedSentence {
    text: String,
    /// The score in natural logarithms: the log-probability by the neural model, or the weighted
    /// score of the phrase-based system.
    score: f32,
    /// The aligned positions (source, target), from 0; empty if the system has no word alignment.
    alignment: Vec<(usize, usize)>,
}

pub fn run(_: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let folder = temporary_folder()?;
    let (summary, model) =
        train_systems(folder.path(), common).map_err(|error| explain_full_disk(error, &folder))?;
    let out = &mut standard_output();
    writeln!(out, "{summary}")?;
    writeln!(
        out,
        "neural model    {} parameters, trained beforehand on the same text\n",
        model.num_parameters()
    )?;
    let sources: Vec<&str> = TEST_SOURCE.lines().collect();
    let system = System::load(&Configuration::from_ini(&summary.ini)?, &common.progress())?;
    let systems = [
        ("phrase-based", translate_with_phrases(&system, &sources)?),
        ("neural", model.translate(&sources)?),
    ];
    print_translations(out, &sources, &systems)?;
    print_scores(out, systems)
}

/// Trains a phrase-based system in `folder`, and writes the neural model there.
fn train_systems(
    folder: &Path,
    common: &CommonOptions,
) -> anyhow::Result<(TrainSummary, NeuralModel)> {
    for (name, content) in CORPUS_FILES {
        Output::write_file(&folder.join(name), content)?;
    }
    let options = TrainOptions {
        dev: Some((folder.join("dev.en"), folder.join("dev.es"))),
        lm_order: 3,
        threads: common.threads.count(),
        ..TrainOptions::new(folder.join("train.en"), folder.join("train.es"), folder.join("model"))
    };
    let summary = train(&options, &common.progress())?;
    Ok((summary, NeuralModel::open(&folder.join("neural"))?))
}

fn is_full_disk(error: &io::Error) -> bool {
    let kind = error.kind();
    matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}

/// Adds the remedy to an error about a disk without space.
fn explain_full_disk(error: anyhow::Error, folder: &TempDir) -> anyhow::Error {
    if !error.chain().filter_map(|cause| cause.downcast_ref()).any(is_full_disk) {
        return error;
    }
    error.context(format!(
        "{}: the demonstration needs about 30 MB in this temporary folder; free some space there, \
         or set TMPDIR to another folder",
        folder.path().display()
    ))
}

/// Prints the first sentences with the translations of each system.
fn print_translations(
    out: &mut impl Write,
    sources: &[&str],
    systems: &[(&str, Vec<TranslatedSentence>)],
) -> io::Result<()> {
    let (shown, all) = (NUM_SHOWN.min(sources.len()), sources.len());
    writeln!(
        out,
        "{shown} of {all} sentences that are not in the training text, with the score that each"
    )?;
    writeln!(out, "system gives its translation, and the phrase-based word alignment:\n")?;
    for (i, (source, reference)) in
        sources.iter().zip(TEST_REFERENCE.lines()).take(shown).enumerate()
    {
        print_line(out, "source", None, source)?;
        for (name, sentences) in systems {
            match &sentences[i] {
                found if found.text.is_empty() => print_line(out, name, None, "none")?,
                found => print_line(out, name, Some(found.score), &found.text)?,
            }
        }
        print_line(out, "reference", None, reference)?;
        let links = systems.iter().flat_map(|(_, sentences)| &sentences[i].alignment);
        let links: Vec<String> = links.map(|(s, t)| format!("{s}-{t}")).collect();
        print_line(out, "alignment", None, &links.join(" "))?;
        writeln!(out)?;
    }
    Ok(())
}

/// Prints the BLEU of each system, and its number of translations that equal the reference.
fn print_scores(
    out: &mut impl Write,
    systems: [(&str, Vec<TranslatedSentence>); 2],
) -> anyhow::Result<()> {
    let references = [TEST_REFERENCE.lines().map(str::to_owned).collect::<Vec<_>>()];
    let all = references[0].len();
    writeln!(out, "BLEU of all {all}:\n")?;
    for (name, sentences) in systems {
        let texts: Vec<String> = sentences.into_iter().map(|found| found.text).collect();
        let equal = texts.iter().zip(&references[0]).filter(|(one, other)| one == other).count();
        let metric = Bleu { tokenizer: Tokenizer::None, ..Bleu::default() };
        let rows = corpus_statistics(&metric, &texts, &references)?;
        let bleu = corpus_score(&metric, &rows, references.len()).value;
        writeln!(out, "{name:12}  {bleu:8.2}  {equal} of {all} equal the reference")?;
    }
    Ok(())
}

/// Prints a line in columns: its kind, the score of a translation, the text.
fn print_line(out: &mut impl Write, label: &str, score: Option<f32>, text: &str) -> io::Result<()> {
    let score = score.map(|score| format!("{score:.3}")).unwrap_or_default();
    writeln!(out, "{label:12}  {score:>8}  {text}")
}

fn translate_with_phrases(
    system: &System,
    sources: &[&str],
) -> anyhow::Result<Vec<TranslatedSentence>> {
    let mut translator = Translator::new(system);
    let translate = |line: &&str| {
        let found = translator.translate(line.as_bytes())?;
        Ok(found.as_ref().map(describe).unwrap_or_default())
    };
    sources.iter().map(translate).collect()
}

fn describe(translation: &Translation) -> TranslatedSentence {
    let (mut words, mut alignment) = (Vec::new(), Vec::new());
    for phrase in &translation.phrases {
        let links = phrase.alignment.iter().map(|&(source, target)| {
            (phrase.source.start as usize + source as usize, words.len() + target as usize)
        });
        alignment.extend(links);
        words.extend(phrase.words.iter().map(|word| String::from_utf8_lossy(word)));
    }
    alignment.sort_unstable();
    TranslatedSentence { text: words.join(" "), score: translation.score, alignment }
}
