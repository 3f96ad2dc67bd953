//! Lexical translation probabilities by relative counts of links, in both directions, as
//! extract-lex writes them for Marian's shortlists.
//!
//! A word without links counts as linked with the word `NULL`. Entries are in the order of the
//! text; extract-lex writes them in no fixed order, because it sorts by addresses in memory.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use miriam_textio::{Output, ParallelLines, Vocabulary, WordId};

use crate::Result;
use crate::links::{Link, parse_links};

/// The word that words without links are linked with.
const NULL: &[u8] = b"NULL";

/// The result of [`write_lexical_counts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LexicalCountSummary {
    /// The number of links outside their sentences, which are left out.
    pub skipped_links: u64,
    /// The line of the first skipped link, from 1.
    pub first_skipped_line: Option<u64>,
}

/// Writes lines of `target source p(target | source)` to `source_to_target` and of
/// `source target p(source | target)` to `target_to_source`, with 7 decimals. In the
/// input, only spaces separate words.
///
/// # Errors
/// If a file cannot be read or written, the files differ in their numbers of lines, or a link is
/// malformed.
pub fn write_lexical_counts(
    target: &Path,
    source: &Path,
    alignment: &Path,
    source_to_target: &Path,
    target_to_source: &Path,
) -> Result<LexicalCountSummary> {
    let mut files = ParallelLines::open(&[source, target, alignment])?;
    let mut vocabularies = [Vocabulary::new(), Vocabulary::new()];
    let mut counts: HashMap<(WordId, WordId), u64> = HashMap::new();
    let mut words = [Vec::new(), Vec::new()];
    let mut links: Vec<Link> = Vec::new();
    let mut summary = LexicalCountSummary::default();
    loop {
        let mut number = 0;
        let more = files.next(|index, name, line| {
            number = line.number;
            match words.get_mut(index) {
                Some(words) => {
                    words.clear();
                    let found = line.bytes.split(|&b| b == b' ').filter(|word| !word.is_empty());
                    words.extend(found.map(|word| vocabularies[index].intern(word)));
                    Ok(())
                }
                None => parse_links(name, line, &mut links),
            }
        })?;
        if !more {
            break;
        }
        let [sources, targets] = &words;
        let mut linked = [vec![false; sources.len()], vec![false; targets.len()]];
        for &(i, j) in &links {
            let (i, j) = (usize::from(i), usize::from(j));
            let Some((&source, &target)) = sources.get(i).zip(targets.get(j)) else {
                summary.skipped_links += 1;
                summary.first_skipped_line.get_or_insert(number);
                continue;
            };
            linked[0][i] = true;
            linked[1][j] = true;
            *counts.entry((source, target)).or_default() += 1;
        }
        let nulls = [0, 1].map(|side| vocabularies[side].intern(NULL));
        for (&source, _) in sources.iter().zip(&linked[0]).filter(|(_, linked)| !**linked) {
            *counts.entry((source, nulls[1])).or_default() += 1;
        }
        for (&target, _) in targets.iter().zip(&linked[1]).filter(|(_, linked)| !**linked) {
            *counts.entry((nulls[0], target)).or_default() += 1;
        }
    }
    let [sources, targets] = &vocabularies;
    let mut entries: Vec<(WordId, WordId, u64)> =
        counts.into_iter().map(|((source, target), count)| (source, target, count)).collect();
    write_direction(&mut entries, sources, targets, source_to_target)?;
    entries.iter_mut().for_each(|entry| *entry = (entry.1, entry.0, entry.2));
    write_direction(&mut entries, targets, sources, target_to_source)?;
    Ok(summary)
}

/// Writes `output condition p(output | condition)` of entries `(condition, output, count)`.
fn write_direction(
    entries: &mut [(WordId, WordId, u64)],
    conditions: &Vocabulary,
    outputs: &Vocabulary,
    path: &Path,
) -> Result<()> {
    entries.sort_unstable();
    let (mut file, mut line) = (Output::create_atomic(path)?, Vec::new());
    for row in entries.chunk_by(|a, b| a.0 == b.0) {
        let total: u64 = row.iter().map(|entry| entry.2).sum();
        for &(word, output, count) in row {
            line.clear();
            line.extend_from_slice(outputs.word(output));
            line.push(b' ');
            line.extend_from_slice(conditions.word(word));
            // extract-lex divides f32.
            let probability = count as f32 / total as f32;
            writeln!(line, " {probability:.7}").expect("writing to memory cannot fail");
            file.write(&line)?;
        }
    }
    Ok(file.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_equal_manual_calculation() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("s"), "das haus\ndas ja\n").expect("writable");
        std::fs::write(path("t"), "the house\nthat\n").expect("writable");
        std::fs::write(path("a"), "0-0 1-1\n0-0 5-0\n").expect("writable");
        let [s2t, t2s] = ["s2t", "t2s"].map(path);
        let summary = write_lexical_counts(&path("t"), &path("s"), &path("a"), &s2t, &t2s);
        let expected = LexicalCountSummary { skipped_links: 1, first_skipped_line: Some(2) };
        assert_eq!(summary.expect("well-formed"), expected);
        let read = |path| std::fs::read_to_string(path).expect("written");
        let lines =
            "the das 0.5000000\nthat das 0.5000000\nhouse haus 1.0000000\nNULL ja 1.0000000\n";
        assert_eq!(read(&s2t), lines);
        let lines =
            "das the 1.0000000\nhaus house 1.0000000\nja NULL 1.0000000\ndas that 1.0000000\n";
        assert_eq!(read(&t2s), lines);
    }
}
