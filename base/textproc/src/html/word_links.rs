//! Words of a sentence and of its translation, and the links between them.
//!
//! A translation comes with links between byte ranges of tokens, but tags are placed around words.
//! Therefore links of tokens become links of the words that share bytes with them.
//!
//! A word with tags inside it, such as `H<sub>2</sub>O`, may be copied to the translation. It is
//! then cut at the tags in both texts, so that the tags keep their places.

use std::ops::Range;

use hashbrown::{HashMap, HashSet};
use unicode_segmentation::UnicodeSegmentation;

use super::inline_item::InlineItem;
use crate::AlignedTranslation;
use crate::characters::{CharClass, decode, first_class};
use crate::steps;

/// The weight that a link adds to the attention of two words, larger than any attention.
const LINK_WEIGHT: f32 = 2.0;

/// The maximum number of words on either side of a link or of an attention weight. Longer ranges
/// say nothing about single words, and are ignored.
const MAX_LINKED_WORDS: usize = 64;

/// The words of a sentence and of its translation.
pub(super) struct WordLinks {
    /// The bytes of each word of the sentence.
    pub(super) source: Vec<Range<usize>>,
    /// The bytes of each word of the translation.
    pub(super) target: Vec<Range<usize>>,
    /// The words of the sentence aligned with each word of the translation.
    pub(super) sources: Vec<Vec<usize>>,
    /// The words of the translation that may come from each word of the sentence, with weights.
    pub(super) candidates: Vec<Vec<(usize, f32)>>,
    /// Whether each word of the sentence begins with a letter or digit.
    pub(super) is_source_letter: Vec<bool>,
    /// Whether each word of the translation begins with a letter or digit.
    pub(super) is_target_letter: Vec<bool>,
}

impl WordLinks {
    /// Returns the words of a sentence and of its translation, with links. Words that were copied
    /// to the translation are cut at `items`.
    pub(super) fn new(
        (sentence, source): (&[u8], Vec<Range<usize>>),
        (translation, target): (AlignedTranslation<'_>, Vec<Range<usize>>),
        items: &[InlineItem],
    ) -> Self {
        let text = translation.text;
        let sources = link_words(&source, &target, translation.links);
        let cuts = find_cuts(&source, items);
        let copies = find_copies((sentence, &source), (text, &target), &sources, &cuts);
        let cut_of = |word: &usize| cuts.get(word).map_or(&[][..], Vec::as_slice);
        let copied: HashSet<usize> = copies.values().copied().collect();
        let (source, first_parts) =
            cut_words(&source, |word| if copied.contains(&word) { cut_of(&word) } else { &[] });
        let (target, first_copies) =
            cut_words(&target, |word| copies.get(&word).map_or(&[][..], cut_of));
        let mut sources = link_words(&source, &target, translation.links);
        for (&copy, &word) in &copies {
            for part in 0..=cut_of(&word).len() {
                sources[first_copies[copy] + part] = vec![first_parts[word] + part];
            }
        }
        let candidates = weigh_words(&source, &target, &sources, translation.attention);
        fn is_letter(text: &[u8], words: &[Range<usize>]) -> Vec<bool> {
            fn class(word: &Range<usize>, text: &[u8]) -> CharClass {
                first_class(&text[word.clone()])
            }
            words.iter().map(|word| class(word, text).intersects(CharClass::ALPHANUMERIC)).collect()
        }
        WordLinks {
            is_source_letter: is_letter(sentence, &source),
            is_target_letter: is_letter(text, &target),
            source,
            target,
            sources,
            candidates,
        }
    }

    /// Whether the translation has no links.
    pub(super) fn is_empty(&self) -> bool {
        self.sources.iter().all(Vec::is_empty)
    }

    /// Cuts words of the translation into parts: `ends[word]` lists the ends of all parts of a word
    /// but the last, in bytes from the start of the word. Candidates keep only the first part of
    /// each word. Returns the index of each word's first part.
    pub(super) fn cut_target(&mut self, ends: &[Vec<usize>]) -> Vec<usize> {
        let (target, firsts) = cut_words(&self.target, |word| &ends[word]);
        let mut sources = Vec::with_capacity(target.len());
        let mut is_letter = Vec::with_capacity(target.len());
        for (word, ends) in ends.iter().enumerate() {
            sources.resize(firsts[word] + ends.len() + 1, self.sources[word].clone());
            is_letter.resize(sources.len(), self.is_target_letter[word]);
        }
        for candidates in &mut self.candidates {
            candidates.iter_mut().for_each(|(word, _)| *word = firsts[*word]);
        }
        (self.target, self.sources, self.is_target_letter) = (target, sources, is_letter);
        firsts
    }
}

/// Returns the byte ranges of the words and punctuation marks of a text, by UAX #29. It cuts most
/// scripts without spaces into single characters.
pub(super) fn words(text: &[u8]) -> Vec<Range<usize>> {
    let decoded = decode(text);
    let bounds = decoded.split_word_bound_indices();
    let words = bounds.filter(|(_, word)| !word.chars().all(char::is_whitespace));
    words.map(|(start, word)| start..start + word.len()).collect()
}

/// Returns the indices of the words that share bytes with a range. An empty range inside a word
/// gives this word.
pub(super) fn overlapping(words: &[Range<usize>], range: &Range<usize>) -> Range<usize> {
    let first = words.partition_point(|word| word.end <= range.start);
    let end = words.partition_point(|word| word.start < range.end);
    first..end.max(first)
}

/// Returns, for each word of the translation, the words of the sentence to which `links` of byte
/// ranges connect it.
fn link_words(
    source: &[Range<usize>],
    target: &[Range<usize>],
    links: &[(Range<usize>, Range<usize>)],
) -> Vec<Vec<usize>> {
    let mut sources = vec![Vec::new(); target.len()];
    for (from, to) in links {
        let (linked, words) = (overlapping(source, from), overlapping(target, to));
        if linked.len().max(words.len()) <= MAX_LINKED_WORDS {
            steps::count(linked.len() * words.len());
            words.for_each(|word| sources[word].extend(linked.clone()));
        }
    }
    sources
}

/// Returns, for each word of the sentence, the words of the translation that links or attention
/// connect with it, and their weights.
fn weigh_words(
    source: &[Range<usize>],
    target: &[Range<usize>],
    sources: &[Vec<usize>],
    attention: &[(Range<usize>, Range<usize>, f32)],
) -> Vec<Vec<(usize, f32)>> {
    let mut weights: HashMap<(usize, usize), f32> = HashMap::new();
    for (from, to, weight) in attention {
        let (linked, words) = (overlapping(source, from), overlapping(target, to));
        if linked.len().max(words.len()) > MAX_LINKED_WORDS {
            continue;
        }
        for (s, t) in words.flat_map(|t| linked.clone().map(move |s| (s, t))) {
            let known = weights.entry((s, t)).or_default();
            *known = known.max(*weight);
        }
    }
    for (t, sources) in sources.iter().enumerate() {
        for &s in sources {
            let known = weights.entry((s, t)).or_default();
            if *known < LINK_WEIGHT {
                *known += LINK_WEIGHT;
            }
        }
    }
    steps::count(weights.len());
    let mut candidates = vec![Vec::new(); source.len()];
    for ((s, t), weight) in weights {
        candidates[s].push((t, weight));
    }
    candidates.iter_mut().for_each(|own| own.sort_unstable_by_key(|&(t, _)| t));
    candidates
}

/// Returns, for each word with tags or marks inside it, their offsets in bytes from the start of
/// the word.
fn find_cuts(words: &[Range<usize>], items: &[InlineItem]) -> HashMap<usize, Vec<usize>> {
    let mut cuts: HashMap<usize, Vec<usize>> = HashMap::new();
    for item in items {
        let number = words.partition_point(|word| word.end <= item.offset);
        if let Some(word) = words.get(number).filter(|word| word.start < item.offset) {
            let cuts = cuts.entry(number).or_default();
            let length = item.offset - word.start;
            if cuts.last() != Some(&length) {
                cuts.push(length);
            }
        }
    }
    cuts
}

/// Returns the words of the translation that copy a word with cuts, each with the index of that
/// word. A copy has the same bytes, and is linked with its word unless both occur only once.
fn find_copies(
    (sentence, source): (&[u8], &[Range<usize>]),
    (text, target): (&[u8], &[Range<usize>]),
    sources: &[Vec<usize>],
    cuts: &HashMap<usize, Vec<usize>>,
) -> HashMap<usize, usize> {
    let mut copies = HashMap::new();
    if cuts.is_empty() {
        return copies;
    }
    let mut by_text: HashMap<&[u8], (Vec<usize>, Vec<usize>)> = HashMap::new();
    for (number, word) in source.iter().enumerate() {
        by_text.entry(&sentence[word.clone()]).or_default().0.push(number);
    }
    for (number, word) in target.iter().enumerate() {
        if let Some((_, copies)) = by_text.get_mut(&text[word.clone()]) {
            copies.push(number);
        }
    }
    for (words, found) in by_text.into_values() {
        for &s in words.iter().filter(|s| cuts.contains_key(*s)) {
            if let Some(t) = found.iter().copied().find(|t: &usize| {
                let is_only = words.len() == 1 && found.len() == 1;
                !copies.contains_key(t) && (is_only || sources[*t].contains(&s))
            }) {
                copies.insert(t, s);
            }
        }
    }
    copies
}

/// Cuts words at the offsets in `cuts`, in bytes from the start of each word. Returns the parts and
/// the index of each word's first part.
fn cut_words<'c>(
    words: &[Range<usize>],
    cuts: impl Fn(usize) -> &'c [usize],
) -> (Vec<Range<usize>>, Vec<usize>) {
    let (mut parts, mut firsts) = (Vec::with_capacity(words.len()), Vec::new());
    for (number, word) in words.iter().enumerate() {
        firsts.push(parts.len());
        let mut start = word.start;
        for length in cuts(number) {
            parts.push(start..word.start + length);
            start = word.start + length;
        }
        parts.push(start..word.end);
    }
    (parts, firsts)
}
