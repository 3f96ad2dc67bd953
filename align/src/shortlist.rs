//! Lexical shortlists for neural translation: for each source word the target words that it is
//! aligned to, in Marian's text format.
//!
//! Marian's users make this file with a tool that counts links. A line is
//! `target source p(target|source)`: the number of links between both words, divided by the number
//! of links of the source word. Only this direction is written. Marian looks words up in its
//! vocabularies, so the text must be segmented in the same way as the model's input.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use miriam_textio::fields::split_words;
use miriam_textio::{Error as TextError, Output, ParallelLines, Vocabulary, WordId};

use crate::Result;
use crate::links::{Link, parse_links};

/// The options of [`write_shortlist`].
#[derive(Clone, Copy, Debug)]
pub struct ShortlistOptions {
    /// The largest number of translations of a source word.
    pub max_translations: usize,
    /// The lowest probability that is kept.
    pub threshold: f64,
}

/// Writes the shortlist of a parallel text, computed from its links `i-j`, to `output`, finishes
/// `output` and returns the number of lines. Source words are in the order of the text, their
/// translations by falling frequency, ties in the order of the text.
///
/// # Errors
/// If a file cannot be read or written, the files differ in their numbers of lines, or a link is
/// malformed or outside of its sentences.
pub fn write_shortlist(
    source: &Path,
    target: &Path,
    alignment: &Path,
    mut output: Output,
    options: ShortlistOptions,
) -> Result<u64> {
    let mut files = ParallelLines::open(&[source, target, alignment])?;
    let mut vocabularies = [Vocabulary::new(), Vocabulary::new()];
    let mut counts: HashMap<(WordId, WordId), u64> = HashMap::new();
    let mut words = [Vec::new(), Vec::new()];
    let mut links: Vec<Link> = Vec::new();
    loop {
        let more = files.next(|index, name, line| -> miriam_textio::Result<()> {
            if index < 2 {
                words[index].clear();
                let ids = split_words(line.bytes).map(|word| vocabularies[index].intern(word));
                words[index].extend(ids);
                return Ok(());
            }
            parse_links(name, line, &mut links)?;
            let [sources, targets] = &words;
            for &(i, j) in &links {
                let pair = sources.get(usize::from(i)).zip(targets.get(usize::from(j)));
                let (&source, &target) = pair.ok_or_else(|| {
                    let lengths = format!("{} and {} words", sources.len(), targets.len());
                    let reason = format!("{i}-{j} is outside the lines, which have {lengths}");
                    TextError::format(name, line.number, None, reason)
                })?;
                *counts.entry((source, target)).or_default() += 1;
            }
            Ok(())
        })?;
        if !more {
            break;
        }
    }
    let mut entries: Vec<((WordId, WordId), u64)> = counts.into_iter().collect();
    entries.sort_unstable_by_key(|&((source, target), count)| {
        (source, std::cmp::Reverse(count), target)
    });
    let [sources, targets] = &vocabularies;
    let mut line = Vec::new();
    let mut written = 0;
    for group in entries.chunk_by(|a, b| a.0.0 == b.0.0) {
        let total: u64 = group.iter().map(|entry| entry.1).sum();
        for &((source, target), count) in group.iter().take(options.max_translations) {
            let probability = count as f64 / total as f64;
            if probability >= options.threshold {
                line.clear();
                line.extend_from_slice(targets.word(target));
                line.push(b' ');
                line.extend_from_slice(sources.word(source));
                writeln!(line, " {probability:.6}").expect("writing to memory cannot fail");
                output.write(&line)?;
                written += 1;
            }
        }
    }
    output.finish()?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortlist_equals_manual_counts() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("writable");
            path
        };
        let source = path("s", "das haus\ndas\ndas tor\n");
        let target = path("t", "the house\nthat\nthe gate\n");
        let links = path("a", "0-0 1-1\n0-0\n0-0 1-1\n");
        let list = folder.path().join("list");
        let made = |best, threshold| {
            let options = ShortlistOptions { max_translations: best, threshold };
            let output = Output::create_atomic(&list).expect("writable");
            write_shortlist(&source, &target, &links, output, options).expect("well-formed");
            std::fs::read_to_string(&list).expect("written")
        };
        let all = "the das 0.666667\nthat das 0.333333\nhouse haus 1.000000\ngate tor 1.000000\n";
        assert_eq!(made(100, 0.0), all);
        assert_eq!(made(1, 0.0), all.replace("that das 0.333333\n", ""));
        assert_eq!(made(100, 0.5), all.replace("that das 0.333333\n", ""));
        let bad = path("b", "0-0\n0-0\n0-2\n");
        let options = ShortlistOptions { max_translations: 1, threshold: 0.0 };
        let output = Output::create_atomic(&list).expect("writable");
        let error = write_shortlist(&source, &target, &bad, output, options).unwrap_err();
        assert!(
            error.to_string().contains("line 3") && error.to_string().contains("0-2"),
            "{error}"
        );
    }
}
