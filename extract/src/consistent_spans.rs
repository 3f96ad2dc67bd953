//! Phrase pairs of a sentence pair that are consistent with its alignment: both sides have
//! links, and no link leaves the pair (Koehn et al. 2003). Unaligned words at the edges of the
//! source phrase are optional.

use std::ops::Range;

use crate::sentence_pair::SentencePair;

/// The source phrases of one target phrase: all spans that contain `minimal_source` and lie in
/// `maximal_source`. They differ by unaligned words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConsistentSpan {
    /// The target phrase.
    pub target: Range<usize>,
    /// The shortest source phrase: from the first linked word to the last.
    pub minimal_source: Range<usize>,
    /// The span that all source phrases lie in. It may be longer than the maximum phrase length.
    pub maximal_source: Range<usize>,
}

impl ConsistentSpan {
    /// Returns the source phrases of at most `longest` words, ordered by how far they extend to the
    /// left, then to the right.
    pub fn source_spans(&self, longest: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let Range { start: first, end: last } = self.minimal_source;
        let lowest = self.maximal_source.start.max(last.saturating_sub(longest));
        let end = self.maximal_source.end;
        (lowest..=first).rev().flat_map(move |start| {
            (last..=end.min(start.saturating_add(longest))).map(move |end| start..end)
        })
    }

    /// Returns the number of source phrases of at most `longest` words.
    pub fn count_source_spans(&self, longest: usize) -> u64 {
        let lowest = self.maximal_source.start.max(self.minimal_source.end.saturating_sub(longest));
        (lowest..=self.minimal_source.start)
            .map(|start| {
                let highest = self.maximal_source.end.min(start.saturating_add(longest));
                (highest + 1 - self.minimal_source.end) as u64
            })
            .sum()
    }
}

/// Calls `take` with every target phrase of at most `longest` words that has source phrases
/// of at most `longest` words, ordered by first word, then by length.
pub(crate) fn for_each_consistent_span(
    sentence: &SentencePair,
    longest: usize,
    mut take: impl FnMut(ConsistentSpan),
) {
    let targets = sentence.target.len();
    for start in 0..targets {
        // The span of linked source words, and the span of target words that these are linked to.
        let (mut first, mut last) = (usize::MAX, 0);
        let (mut reach_first, mut reach_last) = (usize::MAX, 0);
        for end in start + 1..=targets.min(start.saturating_add(longest)) {
            for link in sentence.links_in(end - 1, end) {
                let source = link.source as usize;
                let fresh = if first == usize::MAX {
                    (first, last) = (source, source);
                    source..source + 1
                } else if source < first {
                    source..std::mem::replace(&mut first, source)
                } else if source > last {
                    std::mem::replace(&mut last, source) + 1..source + 1
                } else {
                    continue;
                };
                for word in fresh {
                    if !sentence.is_source_unaligned(word) {
                        let (from, to) = sentence.target_span(word);
                        (reach_first, reach_last) = (reach_first.min(from), reach_last.max(to));
                    }
                }
            }
            if first == usize::MAX {
                continue;
            }
            // A longer target phrase cannot be consistent either.
            if reach_first < start || last - first >= longest {
                break;
            }
            if reach_last >= end {
                continue;
            }
            let minimal = first..last + 1;
            let unlimited = sentence.with_unaligned_neighbours(&minimal);
            let lowest = minimal.end.saturating_sub(longest);
            let highest = minimal.start.saturating_add(longest);
            take(ConsistentSpan {
                target: start..end,
                maximal_source: unlimited.start.max(lowest)..unlimited.end.min(highest),
                minimal_source: minimal,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::Link;
    use proptest::prelude::*;

    proptest! {
        /// The spans equal those found by testing the definition on every pair of phrases.
        #[test]
        fn spans_are_those_that_no_link_leaves(
            sources in 1usize..9, targets in 1usize..9, longest in 1usize..6,
            links in proptest::collection::vec((0u32..9, 0u32..9), 0..12),
        ) {
            let links: Vec<Link> = links
                .iter()
                .map(|&(s, t)| Link { target: t % targets as u32, source: s % sources as u32 })
                .collect();
            let mut sentence = SentencePair::default();
            sentence.set(&vec![0; sources], &vec![0; targets], &links);
            let mut expected = Vec::new();
            for t in 0..targets {
                for u in t + 1..=targets.min(t + longest) {
                    for s in 0..sources {
                        for v in s + 1..=sources.min(s + longest) {
                            let inside = links.iter().map(|link| {
                                let source = (s..v).contains(&(link.source as usize));
                                let target = (t..u).contains(&(link.target as usize));
                                (source, target)
                            });
                            let inside: Vec<(bool, bool)> = inside.collect();
                            if inside.contains(&(true, true)) && inside.iter().all(|(s, t)| s == t) {
                                expected.push((t..u, s..v));
                            }
                        }
                    }
                }
            }
            let (mut found, mut counted) = (Vec::new(), 0);
            for_each_consistent_span(&sentence, longest, |block| {
                counted += block.count_source_spans(longest);
                found.extend(block.source_spans(longest).map(|s| (block.target.clone(), s)));
            });
            prop_assert_eq!(counted, found.len() as u64);
            for spans in [&mut found, &mut expected] {
                spans.sort_by_key(|(t, s)| (t.start, t.end, s.start, s.end));
            }
            prop_assert_eq!(found, expected);
        }
    }
}
