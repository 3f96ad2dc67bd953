//! `miriam demo`: the whole stack in one command, on a toy model.
//!
//! The model's text files are part of the binary, so the demonstration runs
//! anywhere; binary files are built from them as a user would build them.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use miriam_decoder::{Configuration, System, Translation, Translator};
use miriam_lmcpu::Duplicates;
use miriam_probingpt::BuildOptions;

use crate::common::Common;

const PHRASE_TABLE: &[u8] = include_bytes!("../../../examples/toy/phrase-table");
const REORDERING_TABLE: &[u8] = include_bytes!("../../../examples/toy/reordering-table");
const LANGUAGE_MODEL: &[u8] = include_bytes!("../../../examples/toy/lm.arpa");
const INI: &str = include_str!("../../../examples/toy/binary.ini");
const INPUT: &str = include_str!("../../../examples/toy/input.txt");

/// Build a toy English-Spanish system in a temporary folder and translate with it.
///
/// Example: miriam demo
#[derive(Args)]
pub struct Arguments {}

pub fn run(_: Arguments, common: &Common) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    // Paths in an ini are tried from the working directory first, where files of
    // these names may lie; the folder's own name makes them unique.
    let unique = folder.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let at = |name: &str| folder.path().join(format!("{unique}-{name}"));
    let ini = INI.replace("path=", &format!("path={unique}-"));
    for (name, content) in [
        ("phrase-table", PHRASE_TABLE),
        ("reordering-table", REORDERING_TABLE),
        ("lm.arpa", LANGUAGE_MODEL),
        ("moses.ini", ini.as_bytes()),
    ] {
        fs::write(at(name), content)?;
    }
    let progress = common.progress();
    let (report, system) = common.pool()?.install(|| -> anyhow::Result<_> {
        let options = BuildOptions {
            phrase_table: at("phrase-table"),
            reordering: Some(at("reordering-table")),
            threads: common.threads.count(),
            ..BuildOptions::default()
        };
        let report = miriam_probingpt::build_file(&options, &at("phrase-table.miriam"), &progress)?;
        miriam_lmcpu::probing::build_probing(
            &at("lm.arpa"),
            &at("lm.miriam"),
            Duplicates::Refuse,
            &progress,
        )?;
        let configuration = Configuration::from_ini(&at("moses.ini"))?;
        Ok((report, System::load(&configuration, &progress)?))
    })?;
    // Not `println!`, which panics when the reader has gone.
    let out = &mut io::stdout().lock();
    writeln!(
        out,
        "phrase table: {} phrase pairs with reordering scores in {} bytes\n\
         language model: {} bytes\n",
        report.entries,
        size(&at("phrase-table.miriam"))?,
        size(&at("lm.miriam"))?
    )?;
    let mut translator = Translator::new(&system);
    for line in INPUT.lines() {
        writeln!(out, "source       {line}")?;
        match translator.translate(line.as_bytes())? {
            Some(translation) => print_translation(out, &translation)?,
            None => writeln!(out, "translation  none within the limits of the search")?,
        }
        writeln!(out)?;
    }
    Ok(())
}

fn size(path: &Path) -> io::Result<u64> {
    fs::metadata(path).map(|m| m.len())
}

fn print_translation(out: &mut impl Write, translation: &Translation) -> io::Result<()> {
    let mut words = Vec::new();
    let mut links = Vec::new();
    for phrase in &translation.phrases {
        for &(source, target) in &phrase.alignment {
            links.push((
                phrase.source.start as usize + source as usize,
                words.len() + target as usize,
            ));
        }
        words.extend(phrase.words.iter().map(|word| String::from_utf8_lossy(word)));
    }
    links.sort_unstable();
    let links: Vec<String> = links.iter().map(|(s, t)| format!("{s}-{t}")).collect();
    writeln!(out, "translation  {}", words.join(" "))?;
    writeln!(out, "score        {:.3}", translation.score)?;
    writeln!(out, "alignment    {}", links.join(" "))
}
