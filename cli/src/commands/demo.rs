//! `miriam demo`: the whole stack in one command, from toy text to translations.
//!
//! The text is part of the binary, so the demonstration runs anywhere. The rest is what a
//! user does: `miriam train` in a temporary folder, then translation with the resulting
//! ini.

use std::fs;
use std::io::{self, Write};

use clap::Args;
use miriam_decoder::{Configuration, System, Translation, Translator};
use miriam_metrics::{Bleu, Tokenizer, corpus_score, corpus_statistics};
use miriam_pipeline::{TrainOptions, train};

use crate::common::CommonOptions;

/// Text files, with their names in the folder.
const CORPUS_FILES: [(&str, &[u8]); 4] = [
    ("train.en", include_bytes!("../../../examples/toy/train.en")),
    ("train.es", include_bytes!("../../../examples/toy/train.es")),
    ("dev.en", include_bytes!("../../../examples/toy/dev.en")),
    ("dev.es", include_bytes!("../../../examples/toy/dev.es")),
];
const TEST_SOURCE: &str = include_str!("../../../examples/toy/test.en");
const TEST_REFERENCE: &str = include_str!("../../../examples/toy/test.es");
/// Sentences whose translations are shown.
const NUM_SHOWN: usize = 12;

/// Train a toy English-Spanish system in a temporary folder and translate with it.
///
/// Example: miriam demo
#[derive(Args)]
pub struct Arguments {}

pub fn run(_: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    for (name, content) in CORPUS_FILES {
        fs::write(at(name), content)?;
    }
    let options = TrainOptions {
        dev: Some((at("dev.en"), at("dev.es"))),
        lm_order: 3,
        threads: common.threads.count(),
        ..TrainOptions::new(at("train.en"), at("train.es"), at("model"))
    };
    let progress = common.progress();
    let summary = train(&options, &progress)?;
    // Not `println!`, which panics on a closed pipe.
    let out = &mut io::stdout().lock();
    writeln!(out, "{summary}\n")?;
    let system = System::load(&Configuration::from_ini(&summary.ini)?, &progress)?;
    let mut translator = Translator::new(&system);
    let mut translations = Vec::new();
    for (i, (line, reference)) in TEST_SOURCE.lines().zip(TEST_REFERENCE.lines()).enumerate() {
        let translation = translator.translate(line.as_bytes())?;
        translations.push(translation.as_ref().map(join_words).unwrap_or_default());
        if i < NUM_SHOWN {
            writeln!(out, "source       {line}")?;
            match translation {
                Some(translation) => print_translation(out, &translation)?,
                None => writeln!(out, "translation  none within the limits of the search")?,
            }
            writeln!(out, "reference    {reference}\n")?;
        }
    }
    let metric = Bleu { tokenizer: Tokenizer::None, ..Bleu::default() };
    let references = [TEST_REFERENCE.lines().map(str::to_owned).collect::<Vec<_>>()];
    let rows = corpus_statistics(&metric, &translations, &references)?;
    let bleu = corpus_score(&metric, &rows, references.len());
    writeln!(
        out,
        "BLEU         {:.2} on {} sentences that training has not seen",
        bleu.value,
        translations.len()
    )?;
    Ok(())
}

/// The words of a translation.
fn join_words(translation: &Translation) -> String {
    let words = translation.phrases.iter().flat_map(|phrase| &phrase.words);
    words.map(|word| String::from_utf8_lossy(word)).collect::<Vec<_>>().join(" ")
}

fn print_translation(out: &mut impl Write, translation: &Translation) -> io::Result<()> {
    let mut position = 0;
    let mut links = Vec::new();
    for phrase in &translation.phrases {
        for &(source, target) in &phrase.alignment {
            links
                .push((phrase.source.start as usize + source as usize, position + target as usize));
        }
        position += phrase.words.len();
    }
    links.sort_unstable();
    let links: Vec<String> = links.iter().map(|(s, t)| format!("{s}-{t}")).collect();
    writeln!(out, "translation  {}", join_words(translation))?;
    writeln!(out, "score        {:.3}", translation.score)?;
    writeln!(out, "alignment    {}", links.join(" "))
}
