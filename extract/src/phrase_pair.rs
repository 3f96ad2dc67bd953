//! A phrase pair with its counts, as it passes from partitions to sorted runs, and from sorted runs
//! to the merge. It lacks the counts of the source phrase, which only the merge knows.

use crate::links::Link;
use crate::reordering::MAX_CLASSES;

/// A phrase pair of the table; words are their ranks in byte order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PhrasePair<'a> {
    pub source: &'a [u32],
    pub target: &'a [u32],
    /// The most frequent alignment, ordered by target words, then source words.
    pub links: &'a [Link],
    /// The number of occurrences of the pair.
    pub count: u32,
    /// The number of occurrences of the target phrase in phrase pairs.
    pub target_count: u64,
    /// The number of distinct source phrases that the target phrase occurs with.
    pub distinct_sources: u32,
    /// lex(f|e) and lex(e|f).
    pub lexical_weights: [f32; 2],
    /// The counts of orientations to the previous and to the next phrase.
    pub orientations: [[u32; MAX_CLASSES]; 2],
    /// Whether the pair is left out of tables. It is still part of the counts of its phrases.
    pub is_pruned: bool,
}
