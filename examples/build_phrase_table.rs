//! A binary phrase table made from Moses text, and a lookup in it.
//!
//!     cargo run --release --example build_phrase_table examples/toy/phrase-table toy.pt the red house

use std::error::Error;
use std::io::Write;
use std::path::Path;

use miriam_probingpt::{BuildOptions, PhraseTable, SpanLookup, Targets, build_file};
use miriam_storage::LoadMethod;
use miriam_textio::NoProgress;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [text, table, words @ ..] = &arguments[..] else {
        return Err("usage: build_phrase_table TEXT TABLE WORD...".into());
    };
    build_and_look_up(Path::new(text), Path::new(table), words, std::io::stdout().lock())
}

/// The column of a Moses table with the probability of the target phrase given the source phrase.
const DIRECT_PROBABILITY: usize = 2;

/// Builds the file `table` from Moses' `text`, then writes the most probable target phrase of every
/// span of `words` that the table has.
pub fn build_and_look_up(
    text: &Path,
    table: &Path,
    words: &[String],
    mut output: impl Write,
) -> Result<(), Box<dyn Error>> {
    let options = BuildOptions { phrase_table: text.to_owned(), ..BuildOptions::default() };
    let report = build_file(&options, table, &NoProgress)?;
    writeln!(output, "{} entries for {} source phrases", report.entries, report.sources)?;

    // Opening maps the file: it takes microseconds, whatever the size of the table.
    let table = PhraseTable::open(table, LoadMethod::Lazy)?;
    let find = |word: &String| table.source_words().find(word.as_bytes()).unwrap_or(u32::MAX);
    let sentence: Vec<u32> = words.iter().map(find).collect();
    // One prefetched batch looks up all spans of the sentence.
    let mut lookup = SpanLookup::new();
    table.lookup_spans(&sentence, sentence.len(), &mut lookup);
    let mut targets = Targets::new();
    for hit in lookup.hits() {
        table.read_targets(hit.record, &mut targets)?;
        // Scores are natural logarithms.
        let score = |target: usize| targets.scores(target)[DIRECT_PROBABILITY];
        let best = (0..targets.len())
            .max_by(|&a, &b| score(a).total_cmp(&score(b)))
            .expect("a source phrase has at least one target");
        let source = words[hit.start as usize..hit.end as usize].join(" ");
        write!(output, "{source} ->")?;
        for &word in targets.words(best) {
            write!(output, " {}", String::from_utf8_lossy(table.target_word(word)?))?;
        }
        writeln!(output, " ({:.3})", score(best).exp())?;
    }
    Ok(())
}
