//! One part of the phrase pairs, counted in memory: those whose target phrases fall
//! into the part by their hashes. So whatever belongs to a target phrase is in one
//! part, and all that is left for the merge is what belongs to a source phrase.
//!
//! A part sweeps over the whole corpus by itself and shares nothing that is written,
//! so parts need no locks, and any number of them gives the same.

use crate::Result;
use crate::corpus::Corpus;
use crate::lexicon::Lexicon;
use crate::links::Link;
use crate::phrases::{Alignment, Pool, hash, hash_alignment, inverted, links_of};
use crate::reordering::{MAX_CLASSES, Orienter, ReorderingModel};
use crate::sentence::Sentence;
use crate::significance::{Significance, insignificant};
use crate::spans::blocks;

/// A phrase pair of the table; words by numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Entry<'a> {
    pub source: &'a [u32],
    pub target: &'a [u32],
    /// The most frequent alignment, by target words, then source words.
    pub links: &'a [Link],
    /// How often the pair occurs.
    pub count: u32,
    /// How often the target phrase occurs in pairs, and in how many different ones.
    pub target_count: u64,
    pub target_distinct: u32,
    /// lex(f|e) and lex(e|f).
    pub lexical: [f32; 2],
    /// How often each orientation occurs, to the previous and to the next phrase.
    pub orientations: [[u32; MAX_CLASSES]; 2],
    /// Whether the pair is left out of tables; its counts are not.
    pub pruned: bool,
}

/// What is extracted, from what.
pub(crate) struct Extraction<'a> {
    pub corpus: &'a Corpus,
    pub lexicon: &'a Lexicon,
    pub longest: usize,
    pub reordering: Option<ReorderingModel>,
    pub significance: Option<Significance>,
    pub partitions: u64,
}

/// Counts of counts up to this are kept.
pub(crate) const COUNTED: usize = 10;

/// What discounts follow from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountsOfCounts {
    /// Phrase pairs that occur so often, from once.
    pub counts: [u64; COUNTED],
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

impl Extraction<'_> {
    /// Hands the phrase pairs of `partition` to `take` in the order of tables;
    /// `block_done` hears of every block of the corpus that is through.
    pub fn count(
        &self,
        partition: u64,
        block_done: impl Fn(),
        mut take: impl FnMut(&Entry<'_>) -> Result<()>,
    ) -> Result<CountsOfCounts> {
        let mut found = Found::new();
        let mut orienter = self.reordering.map(|model| Orienter::new(model, self.longest));
        let mut sentence = Sentence::default();
        for block in 0..self.corpus.num_blocks() {
            self.corpus.sentences(block, &mut sentence, |sentence| {
                self.gather(partition, sentence, orienter.as_mut(), &mut found);
            })?;
            block_done();
        }
        self.sum_up(partition, found, &mut take)
    }

    /// Whether a target phrase falls into `partition`.
    #[inline]
    pub fn is_of(&self, hash: u64, partition: u64) -> bool {
        // Bits that the tables of the part do not look at.
        ((hash >> 16 & 0xffff_ffff) * self.partitions) >> 32 == partition
    }

    fn gather(
        &self,
        partition: u64,
        sentence: &Sentence,
        mut orienter: Option<&mut Orienter>,
        found: &mut Found,
    ) {
        if let Some(orienter) = &mut orienter {
            orienter.turn_to(sentence);
        }
        blocks(sentence, self.longest, |block| {
            let words = &sentence.target[block.target.clone()];
            let target_hash = hash(words);
            if !self.is_of(target_hash, partition) {
                return;
            }
            let target = found.targets.intern(words, target_hash, hash);
            if target as usize == found.target_counts.len() {
                found.target_counts.push(0);
            }
            let links = sentence.links_of(block.target.start, block.target.end);
            for span in block.sources(self.longest) {
                let words = &sentence.source[span.clone()];
                let source = found.sources.intern(words, hash(words), hash);
                found.alignment.set(links, span.start, block.target.start, block.target.len());
                let bytes = found.alignment.bytes();
                let alignment =
                    found.alignments.intern(bytes, hash_alignment(bytes), hash_alignment);
                let [previous, next] = match &orienter {
                    Some(orienter) => orienter.orient(sentence, &span, &block.target),
                    None => [0; 2],
                };
                found.target_counts[target as usize] += 1;
                found.instances.push(Instance::new(
                    source,
                    target,
                    alignment,
                    previous | next << 4,
                ));
            }
        });
    }

    /// Turns what was found into entries.
    fn sum_up(
        &self,
        partition: u64,
        found: Found,
        take: &mut impl FnMut(&Entry<'_>) -> Result<()>,
    ) -> Result<CountsOfCounts> {
        let Found { sources, targets, alignments, target_counts, mut instances, .. } = found;
        let (source_order, target_order) =
            (sources.sorted(self.corpus.words[0].end), targets.sorted(self.corpus.words[1].end));
        let (source_places, target_places) = (places(&source_order), places(&target_order));
        for instance in &mut instances {
            let (source, target) = instance.phrases();
            instance.set_phrases(source_places[source as usize], target_places[target as usize]);
        }
        instances.sort_unstable();
        let mut distinct = vec![0u32; targets.len()];
        let pairs = || instances.chunk_by(|a, b| a.phrases() == b.phrases());
        pairs().for_each(|pair| distinct[target_order[pair[0].phrases().1 as usize] as usize] += 1);

        let ids = |pair: &[Instance]| {
            let (source, target) = pair[0].phrases();
            (source_order[source as usize], target_order[target as usize])
        };
        let pruned = match self.significance {
            Some(significance) => {
                let pairs: Vec<(u32, u32)> = pairs().map(ids).collect();
                insignificant(self, significance, partition, [&sources, &targets], &pairs)?
            }
            None => Vec::new(),
        };

        let mut counts = CountsOfCounts::default();
        let mut weights = Weights::default();
        for (place, pair) in pairs().enumerate() {
            let (source, target) = ids(pair);
            let mut orientations = [[0; MAX_CLASSES]; 2];
            for instance in pair {
                orientations[0][usize::from(instance.orientation() & 15)] += 1;
                orientations[1][usize::from(instance.orientation() >> 4)] += 1;
            }
            let (source, id) = (sources.get(source), target as usize);
            let target = targets.get(target);
            weights.choose(pair, &alignments, source.len());
            let lexical = weights.lexical(self.lexicon, self.corpus, source, target);
            let count = pair.len() as u32;
            counts.add(count);
            take(&Entry {
                source,
                target,
                links: &weights.direct,
                count,
                target_count: target_counts[id],
                target_distinct: distinct[id],
                lexical,
                orientations,
                pruned: pruned.get(place).is_some_and(|&pruned| pruned),
            })?;
        }
        Ok(counts)
    }
}

/// For each number the place where it stands in `order`.
fn places(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (place, &id) in (0..).zip(order) {
        places[id as usize] = place;
    }
    places
}

/// What a sweep found.
pub(crate) struct Found {
    pub sources: Pool<u32>,
    pub targets: Pool<u32>,
    alignments: Pool<u8>,
    target_counts: Vec<u64>,
    pub instances: Vec<Instance>,
    alignment: Alignment,
}

impl Found {
    fn new() -> Self {
        Found {
            sources: Pool::new(),
            targets: Pool::new(),
            alignments: Pool::new(),
            target_counts: Vec::new(),
            instances: Vec::new(),
            alignment: Alignment::default(),
        }
    }
}

/// One occurrence of a phrase pair: source, target, alignment and orientation in one
/// number, which sorts as fast as numbers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instance(u128);

impl Instance {
    fn new(source: u32, target: u32, alignment: u32, orientation: u8) -> Self {
        let words = u128::from(source) << 96 | u128::from(target) << 64;
        Instance(words | u128::from(alignment) << 32 | u128::from(orientation))
    }

    #[inline]
    pub fn phrases(self) -> (u32, u32) {
        ((self.0 >> 96) as u32, (self.0 >> 64) as u32)
    }

    fn set_phrases(&mut self, source: u32, target: u32) {
        self.0 =
            self.0 & u128::from(u64::MAX) | u128::from(source) << 96 | u128::from(target) << 64;
    }

    #[inline]
    fn alignment(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    fn orientation(self) -> u8 {
        self.0 as u8
    }
}

/// The alignments by which a pair is weighted; buffers are used again.
#[derive(Default)]
struct Weights {
    /// The most frequent alignment, and the one that is taken where source words are
    /// weighted: of equally frequent ones, each direction takes the last in its order.
    direct: Vec<Link>,
    inverse: Vec<Link>,
    /// Bytes of inverted alignments.
    best: Vec<u8>,
    other: Vec<u8>,
}

impl Weights {
    /// Chooses among the alignments of `pair`.
    fn choose(&mut self, pair: &[Instance], alignments: &Pool<u8>, source_words: usize) {
        let groups = || pair.chunk_by(|a, b| a.alignment() == b.alignment());
        let most = groups().map(<[Instance]>::len).max().unwrap_or_default();
        let mut tied =
            groups().filter(|g| g.len() == most).map(|g| alignments.get(g[0].alignment()));
        let mut direct = tied.next().unwrap_or_default();
        let mut inverse = direct;
        if tied.size_hint().1 != Some(0) {
            let mut inverted_once = false;
            for alignment in tied {
                direct = direct.max(alignment);
                if !inverted_once {
                    inverted(inverse, source_words, &mut self.best);
                    inverted_once = true;
                }
                inverted(alignment, source_words, &mut self.other);
                if self.other > self.best {
                    std::mem::swap(&mut self.best, &mut self.other);
                    inverse = alignment;
                }
            }
        }
        self.direct.clear();
        self.direct.extend(links_of(direct));
        self.inverse.clear();
        self.inverse.extend(links_of(inverse));
        // A stable order by source words keeps target words in theirs.
        self.inverse.sort_by_key(|link| link.source);
    }

    /// lex(f|e) and lex(e|f): over the words of one side, the product of mean
    /// translation probabilities from the words that each is linked to, `NULL` where
    /// there are none.
    fn lexical(
        &self,
        lexicon: &Lexicon,
        corpus: &Corpus,
        source: &[u32],
        target: &[u32],
    ) -> [f32; 2] {
        let inverse = product(
            source.len(),
            &self.inverse,
            |link| link.source,
            |word, link| match link {
                Some(link) => lexicon.probabilities(source[word], target[link.target as usize])[0],
                None => lexicon.probabilities(source[word], corpus.words[1].null)[0],
            },
        );
        let direct = product(
            target.len(),
            &self.direct,
            |link| link.target,
            |word, link| match link {
                Some(link) => lexicon.probabilities(source[link.source as usize], target[word])[1],
                None => lexicon.probabilities(corpus.words[0].null, target[word])[1],
            },
        );
        [inverse as f32, direct as f32]
    }
}

/// The product over `words` of the mean of what `probability` says of their links,
/// which are in the order of words.
fn product(
    words: usize,
    mut links: &[Link],
    word_of: impl Fn(&Link) -> u32,
    probability: impl Fn(usize, Option<&Link>) -> f64,
) -> f64 {
    (0..words).fold(1.0, |product, word| {
        let own = links.iter().take_while(|link| word_of(link) == word as u32).count();
        let (own, rest) = links.split_at(own);
        links = rest;
        product
            * match own {
                [] => probability(word, None),
                _ => {
                    let sum = own.iter().fold(0.0, |sum, link| sum + probability(word, Some(link)));
                    sum / own.len() as f64
                }
            }
    })
}
