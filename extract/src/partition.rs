//! One partition of the phrase pairs, counted in memory. The hash of the target phrase decides
//! to which partition a pair belongs. So all counts of a target phrase are in one partition, and
//! the merge adds only the counts of source phrases.
//!
//! Each partition reads the whole corpus and shares no mutable state. So partitions need no
//! locks, and any number of them gives the same result.

use miriam_textio::SliceInterner;

use crate::Result;
use crate::consistent_spans::for_each_consistent_span;
use crate::corpus::Corpus;
use crate::lexical_table::LexicalTable;
use crate::links::Link;
use crate::phrases::{
    PackedAlignment, decode_links, hash_alignment, hash_phrase, invert_alignment, sorted_phrases,
};
use crate::reordering::{MAX_CLASSES, OrientationFinder, ReorderingType};
use crate::sentence_pair::SentencePair;
use crate::significance::{SignificanceThreshold, find_insignificant};

/// A phrase pair of the table; words are ranks.
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
    /// Whether the pair is left out of tables. Its counts still count.
    pub is_pruned: bool,
}

/// The corpus and the options from which partitions are extracted.
pub(crate) struct PhraseExtractor<'a> {
    pub corpus: &'a Corpus,
    pub lexical_table: &'a LexicalTable,
    pub max_length: usize,
    pub reordering: Option<ReorderingType>,
    pub significance: Option<SignificanceThreshold>,
    /// The first partition that is counted here; other shards count the earlier ones.
    pub first_partition: u64,
    pub num_partitions: u64,
}

/// The largest count of which the number of phrase pairs is kept.
pub(crate) const MAX_COUNTED: usize = 10;

/// The counts of counts, from which discounts are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountsOfCounts {
    /// The number of phrase pairs that occur once, twice and so on.
    pub counts: [u64; MAX_COUNTED],
    /// All phrase pairs.
    pub pairs: u64,
}

impl CountsOfCounts {
    fn add(&mut self, count: u32) {
        if let Some(counter) = self.counts.get_mut(count as usize - 1) {
            *counter += 1;
        }
        self.pairs += 1;
    }

    pub fn merge(&mut self, other: &CountsOfCounts) {
        self.counts.iter_mut().zip(other.counts).for_each(|(a, b)| *a += b);
        self.pairs += other.pairs;
    }
}

impl PhraseExtractor<'_> {
    /// Calls `take` with the phrase pairs of `partition` in the order of tables, and
    /// `block_done` after every block of the corpus.
    pub fn count_partition(
        &self,
        partition: u64,
        block_done: impl Fn(),
        mut take: impl FnMut(&PhrasePair<'_>) -> Result<()>,
    ) -> Result<CountsOfCounts> {
        let mut found = PartitionInstances::new();
        let mut orienter =
            self.reordering.map(|model| OrientationFinder::new(model, self.max_length));
        let mut sentence = SentencePair::default();
        for block in 0..self.corpus.num_blocks() {
            self.corpus.for_each_sentence_pair(block, &mut sentence, |sentence| {
                self.collect_instances(partition, sentence, orienter.as_mut(), &mut found);
            })?;
            block_done();
        }
        self.aggregate(partition, found, &mut take)
    }

    /// Whether a target phrase with this hash belongs to `partition`.
    #[inline]
    pub fn is_in_partition(&self, hash: u64, partition: u64) -> bool {
        // The hash tables of a partition use other bits.
        ((hash >> 16 & 0xffff_ffff) * self.num_partitions) >> 32 == partition
    }

    fn collect_instances(
        &self,
        partition: u64,
        sentence: &SentencePair,
        mut orienter: Option<&mut OrientationFinder>,
        found: &mut PartitionInstances,
    ) {
        if let Some(orienter) = &mut orienter {
            orienter.set_sentence_pair(sentence);
        }
        for_each_consistent_span(sentence, self.max_length, |block| {
            let words = &sentence.target[block.target.clone()];
            let target_hash = hash_phrase(words);
            if !self.is_in_partition(target_hash, partition) {
                return;
            }
            let target = found.targets.intern_hashed(words, target_hash, hash_phrase);
            if target as usize == found.target_counts.len() {
                found.target_counts.push(0);
            }
            let links = sentence.links_in(block.target.start, block.target.end);
            for span in block.source_spans(self.max_length) {
                let words = &sentence.source[span.clone()];
                let source = found.sources.intern(words, hash_phrase);
                found.alignment.set(links, span.start, block.target.start, block.target.len());
                let bytes = found.alignment.as_bytes();
                let alignment = found.alignments.intern(bytes, hash_alignment);
                let [previous, next] = match &orienter {
                    Some(orienter) => orienter.class_indices(sentence, &span, &block.target),
                    None => [0; 2],
                };
                found.target_counts[target as usize] += 1;
                found.instances.push(PhrasePairInstance::new(
                    source,
                    target,
                    alignment,
                    previous | next << 4,
                ));
            }
        });
    }

    /// Counts the occurrences and calls `take` with the phrase pairs.
    fn aggregate(
        &self,
        partition: u64,
        found: PartitionInstances,
        take: &mut impl FnMut(&PhrasePair<'_>) -> Result<()>,
    ) -> Result<CountsOfCounts> {
        let PartitionInstances {
            sources, targets, alignments, target_counts, mut instances, ..
        } = found;
        let [source_end, target_end] = self.corpus.end_ranks();
        let source_order = sorted_phrases(&sources, source_end);
        let target_order = sorted_phrases(&targets, target_end);
        let source_places = invert_permutation(&source_order);
        let target_places = invert_permutation(&target_order);
        for instance in &mut instances {
            let (source, target) = instance.phrase_ids();
            instance.set_phrase_ids(source_places[source as usize], target_places[target as usize]);
        }
        instances.sort_unstable();
        let mut distinct = vec![0u32; targets.len()];
        for pair in group_by_phrases(&instances) {
            distinct[target_order[pair[0].phrase_ids().1 as usize] as usize] += 1;
        }

        let interned_ids = |pair: &[PhrasePairInstance]| {
            let (source, target) = pair[0].phrase_ids();
            (source_order[source as usize], target_order[target as usize])
        };
        let pruned = match self.significance {
            Some(significance) => find_insignificant(
                self.corpus,
                significance,
                self.max_length,
                |hash| self.is_in_partition(hash, partition),
                [&sources, &targets],
                &group_by_phrases(&instances).map(interned_ids).collect::<Vec<_>>(),
            )?,
            None => Vec::new(),
        };

        let mut counts = CountsOfCounts::default();
        let mut weights = LexicalWeighting::default();
        for (index, pair) in group_by_phrases(&instances).enumerate() {
            let (source, target) = interned_ids(pair);
            let mut orientations = [[0; MAX_CLASSES]; 2];
            for instance in pair {
                orientations[0][usize::from(instance.orientation() & 15)] += 1;
                orientations[1][usize::from(instance.orientation() >> 4)] += 1;
            }
            let target_id = target as usize;
            let source = sources.get(source);
            let target = targets.get(target);
            weights.choose_alignments(pair, &alignments, source.len());
            let lexical = weights.lexical_weights(self.lexical_table, self.corpus, source, target);
            let count = pair.len() as u32;
            counts.add(count);
            take(&PhrasePair {
                source,
                target,
                links: &weights.direct,
                count,
                target_count: target_counts[target_id],
                distinct_sources: distinct[target_id],
                lexical_weights: lexical,
                orientations,
                is_pruned: pruned.get(index).is_some_and(|&pruned| pruned),
            })?;
        }
        Ok(counts)
    }
}

/// Returns the inverse permutation: for each id its index in `order`.
fn invert_permutation(order: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; order.len()];
    for (index, &id) in (0..).zip(order) {
        inverse[id as usize] = index;
    }
    inverse
}

/// The occurrences of the phrase pairs of a partition.
pub(crate) struct PartitionInstances {
    pub sources: SliceInterner<u32>,
    pub targets: SliceInterner<u32>,
    alignments: SliceInterner<u8>,
    target_counts: Vec<u64>,
    pub instances: Vec<PhrasePairInstance>,
    alignment: PackedAlignment,
}

impl PartitionInstances {
    fn new() -> Self {
        PartitionInstances {
            sources: SliceInterner::new(),
            targets: SliceInterner::new(),
            alignments: SliceInterner::new(),
            target_counts: Vec::new(),
            instances: Vec::new(),
            alignment: PackedAlignment::default(),
        }
    }
}

/// One occurrence of a phrase pair. Source, target, alignment and orientation are packed into
/// one number, which sorts fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PhrasePairInstance(u128);

impl PhrasePairInstance {
    fn new(source: u32, target: u32, alignment: u32, orientation: u8) -> Self {
        let words = u128::from(source) << 96 | u128::from(target) << 64;
        PhrasePairInstance(words | u128::from(alignment) << 32 | u128::from(orientation))
    }

    #[inline]
    pub fn phrase_ids(self) -> (u32, u32) {
        ((self.0 >> 96) as u32, (self.0 >> 64) as u32)
    }

    fn set_phrase_ids(&mut self, source: u32, target: u32) {
        self.0 =
            self.0 & u128::from(u64::MAX) | u128::from(source) << 96 | u128::from(target) << 64;
    }

    #[inline]
    fn alignment_id(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    fn orientation(self) -> u8 {
        self.0 as u8
    }
}

/// Returns the occurrences of each phrase pair among sorted `instances`.
fn group_by_phrases(
    instances: &[PhrasePairInstance],
) -> impl Iterator<Item = &[PhrasePairInstance]> {
    instances.chunk_by(|a, b| a.phrase_ids() == b.phrase_ids())
}

/// Returns the occurrences of a phrase pair with the same alignment.
fn group_by_alignment(pair: &[PhrasePairInstance]) -> impl Iterator<Item = &[PhrasePairInstance]> {
    pair.chunk_by(|a, b| a.alignment_id() == b.alignment_id())
}

/// Computes lexical weights of a phrase pair; buffers are reused.
#[derive(Default)]
struct LexicalWeighting {
    /// The most frequent alignment for the weights of target words, then for those of source
    /// words. Of equally frequent alignments, each direction takes the last in its order.
    direct: Vec<Link>,
    inverse: Vec<Link>,
    /// Bytes of inverted alignments.
    best_inverse: Vec<u8>,
    other_inverse: Vec<u8>,
}

impl LexicalWeighting {
    /// Chooses the alignment of each direction among those of `pair`.
    fn choose_alignments(
        &mut self,
        pair: &[PhrasePairInstance],
        alignments: &SliceInterner<u8>,
        source_words: usize,
    ) {
        let most =
            group_by_alignment(pair).map(<[PhrasePairInstance]>::len).max().unwrap_or_default();
        let mut tied = group_by_alignment(pair)
            .filter(|group| group.len() == most)
            .map(|group| alignments.get(group[0].alignment_id()));
        let mut direct = tied.next().unwrap_or_default();
        let mut inverse = direct;
        if tied.size_hint().1 != Some(0) {
            let mut inverted_once = false;
            for alignment in tied {
                direct = direct.max(alignment);
                if !inverted_once {
                    invert_alignment(inverse, source_words, &mut self.best_inverse);
                    inverted_once = true;
                }
                invert_alignment(alignment, source_words, &mut self.other_inverse);
                if self.other_inverse > self.best_inverse {
                    std::mem::swap(&mut self.best_inverse, &mut self.other_inverse);
                    inverse = alignment;
                }
            }
        }
        self.direct.clear();
        self.direct.extend(decode_links(direct));
        self.inverse.clear();
        self.inverse.extend(decode_links(inverse));
        // A stable sort by source words keeps the order of target words.
        self.inverse.sort_by_key(|link| link.source);
    }

    /// Returns lex(f|e) and lex(e|f). Each is a product over the words of one side: the mean of
    /// the translation probabilities from the words that a word is linked to. Unaligned words are
    /// linked to `NULL`.
    fn lexical_weights(
        &self,
        lexicon: &LexicalTable,
        corpus: &Corpus,
        source: &[u32],
        target: &[u32],
    ) -> [f32; 2] {
        let inverse = lexical_weight(
            source.len(),
            &self.inverse,
            |link| link.source,
            |word, link| match link {
                Some(link) => lexicon.probabilities(source[word], target[link.target as usize])[0],
                None => lexicon.probabilities(source[word], corpus.vocabularies[1].null_rank)[0],
            },
        );
        let direct = lexical_weight(
            target.len(),
            &self.direct,
            |link| link.target,
            |word, link| match link {
                Some(link) => lexicon.probabilities(source[link.source as usize], target[word])[1],
                None => lexicon.probabilities(corpus.vocabularies[0].null_rank, target[word])[1],
            },
        );
        [inverse as f32, direct as f32]
    }
}

/// Returns the product over `words` of the mean `probability` of their links; `links` are in the
/// order of words.
fn lexical_weight(
    words: usize,
    mut links: &[Link],
    word_of: impl Fn(&Link) -> u32,
    probability: impl Fn(usize, Option<&Link>) -> f64,
) -> f64 {
    (0..words).fold(1.0, |product, word| {
        let count = links.iter().take_while(|link| word_of(link) == word as u32).count();
        let (word_links, rest) = links.split_at(count);
        links = rest;
        product
            * match word_links {
                [] => probability(word, None),
                _ => {
                    let sum = word_links
                        .iter()
                        .fold(0.0, |sum, link| sum + probability(word, Some(link)));
                    sum / word_links.len() as f64
                }
            }
    })
}
