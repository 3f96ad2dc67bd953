//! Lexical translation table: the relative frequencies of links between two words, in both
//! directions (Koehn et al. 2003). Unaligned words are linked to `NULL`.
//!
//! Moses computes lexical weights from files with seven decimals, so the table stores
//! fixed-point numbers, in ten-millionths.

use std::io::Write;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use hashbrown::HashTable;
use miriam_textio::{Output, Progress};

use crate::corpus::Corpus;
use crate::sentence_pair::SentencePair;
use crate::{Error, Result};

/// The scale of the fixed-point numbers: seven decimals.
const FIXED_POINT_SCALE: f64 = 1e7;

/// Word translation probabilities in both directions.
pub(crate) struct LexicalTable {
    entries: HashTable<WordPair>,
}

#[derive(Clone, Copy)]
struct WordPair {
    source: u32,
    target: u32,
    /// p(source | target) and p(target | source), in ten-millionths.
    inverse: u32,
    direct: u32,
}

#[inline]
fn hash_pair(source: u32, target: u32) -> u64 {
    let key = (u64::from(source) << 32 | u64::from(target)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    key ^ key >> 32
}

impl LexicalTable {
    /// Counts the links of `corpus`.
    pub fn from_corpus(corpus: &Corpus, threads: usize, progress: &dyn Progress) -> Result<Self> {
        let _task = progress.task("word translations", None);
        let shares = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|share| scope.spawn(move || count_links(corpus, share, threads)))
                .collect();
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
                .collect::<Result<Vec<_>>>()
        })?;
        let mut totals = corpus.vocabularies.each_ref().map(|words| vec![0u64; words.len()]);
        for (source, target, count) in link_counts(&shares) {
            totals[0][source] += u64::from(count);
            totals[1][target] += u64::from(count);
        }
        let mut entries = HashTable::with_capacity(shares.iter().map(Vec::len).sum());
        for (source, target, count) in link_counts(&shares) {
            let pair = WordPair {
                source: source as u32,
                target: target as u32,
                inverse: to_fixed_point(count, totals[1][target]),
                direct: to_fixed_point(count, totals[0][source]),
            };
            entries.insert_unique(hash_pair(pair.source, pair.target), pair, |p| {
                hash_pair(p.source, p.target)
            });
        }
        Ok(LexicalTable { entries })
    }

    /// Returns the approximate memory of the table in bytes.
    pub fn memory_bytes(&self) -> u64 {
        (self.entries.capacity() * (size_of::<WordPair>() + 1)) as u64
    }

    /// Returns p(source | target) and p(target | source) of two linked words.
    #[inline]
    pub fn probabilities(&self, source: u32, target: u32) -> [f64; 2] {
        let pair = self
            .entries
            .find(hash_pair(source, target), |pair| pair.source == source && pair.target == target);
        match pair {
            Some(pair) => {
                [pair.inverse, pair.direct].map(|units| f64::from(units) / FIXED_POINT_SCALE)
            }
            // Moses' value for pairs that are not in the table.
            None => [1.0; 2],
        }
    }

    /// Writes `lex.e2f` and `lex.f2e` into `folder`, both ordered by source words, then
    /// target words.
    pub fn write(&self, corpus: &Corpus, folder: &Path) -> Result<()> {
        let mut pairs: Vec<&WordPair> = self.entries.iter().collect();
        pairs.sort_unstable_by_key(|pair| (pair.source, pair.target));
        let mut inverse = Output::create_atomic(&folder.join("lex.e2f"))?;
        let mut direct = Output::create_atomic(&folder.join("lex.f2e"))?;
        let mut line = Vec::new();
        for pair in pairs {
            let source = corpus.vocabularies[0].word(pair.source);
            let target = corpus.vocabularies[1].word(pair.target);
            format_line([source, target], pair.inverse, &mut line);
            inverse.write(&line)?;
            format_line([target, source], pair.direct, &mut line);
            direct.write(&line)?;
        }
        inverse.finish()?;
        direct.finish().map_err(Error::from)
    }
}

/// Formats two words and their probability in ten-millionths as a line of a lexical table.
fn format_line(words: [&[u8]; 2], units: u32, line: &mut Vec<u8>) {
    line.clear();
    for word in words {
        line.extend_from_slice(word);
        line.push(b' ');
    }
    let integer = units / FIXED_POINT_SCALE as u32;
    let fraction = units % FIXED_POINT_SCALE as u32;
    writeln!(line, "{integer}.{fraction:07}").expect("writing to memory cannot fail");
}

/// Returns the counted links of all shares, as source word, target word and count.
fn link_counts(shares: &[Vec<(u64, u32)>]) -> impl Iterator<Item = (usize, usize, u32)> {
    shares.iter().flatten().map(|&(key, n)| ((key >> 32) as usize, key as u32 as usize, n))
}

#[inline]
fn hash_key(key: u64) -> u64 {
    hash_pair((key >> 32) as u32, key as u32)
}

/// Counts the links of the source words of this share, as packed word pairs with counts.
fn count_links(corpus: &Corpus, share: usize, shares: usize) -> Result<Vec<(u64, u32)>> {
    let [sources, targets] = &corpus.vocabularies;
    let mut counts: HashTable<(u64, u32)> = HashTable::new();
    let mut add = |source: u32, target: u32| {
        if source as usize % shares != share {
            return;
        }
        let key = u64::from(source) << 32 | u64::from(target);
        let entry =
            counts.entry(hash_key(key), |&(other, _)| other == key, |&(key, _)| hash_key(key));
        entry.or_insert((key, 0)).get_mut().1 += 1;
    };
    let mut sentence = SentencePair::default();
    for block in 0..corpus.num_blocks() {
        corpus.for_each_sentence_pair(block, &mut sentence, |sentence| {
            for link in &sentence.links {
                add(sentence.source[link.source as usize], sentence.target[link.target as usize]);
            }
            for (position, &word) in sentence.target.iter().enumerate() {
                if sentence.is_target_unaligned(position) {
                    add(sources.null_rank, word);
                }
            }
            for (position, &word) in sentence.source.iter().enumerate() {
                if sentence.is_source_unaligned(position) {
                    add(word, targets.null_rank);
                }
            }
        })?;
    }
    Ok(counts.into_iter().collect())
}

/// Returns `count / total` in ten-millionths, rounded as `%.7f` rounds the quotient's f64.
fn to_fixed_point(count: u32, total: u64) -> u32 {
    let quotient = f64::from(count) / total as f64;
    let scaled = quotient * FIXED_POINT_SCALE;
    // The product is wrong by less than a millionth. Where that could change the result, the
    // exact decimals decide.
    if (scaled.fract() - 0.5).abs() < 1e-6 {
        let text = format!("{quotient:.7}").replace('.', "");
        return text.parse().expect("digits");
    }
    scaled.round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_round_as_printed() {
        for (count, total) in
            [(1, 3), (2, 3), (1, 1), (1, 128), (3, 256), (7, 20_000_000), (1, 1 << 20)]
        {
            let printed = format!("{:.7}", f64::from(count) / f64::from(total));
            let units = to_fixed_point(count as u32, total as u64);
            assert_eq!(format!("{}.{:07}", units / 10_000_000, units % 10_000_000), printed);
        }
        // 1/2^7 = 0.0078125 needs no rounding; 1/2^8 is halfway between two numbers and
        // rounds to even.
        assert_eq!(to_fixed_point(1, 256), 39062);
        assert_eq!(to_fixed_point(3, 256), 117188);
    }
}
