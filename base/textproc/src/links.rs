//! Links between a sentence and its translation: from tokens to bytes, and through a third
//! language.
//!
//! Models align tokens; tags of a page and highlights of a user interface have byte positions.

use std::collections::HashSet;
use std::ops::Range;

use crate::{AlignedTranslation, locate_tokens};

/// A byte range of a sentence and the byte range of its translation.
pub type Link = (Range<usize>, Range<usize>);

/// A [`Link`] with a weight from 0 to 1.
pub type WeightedLink = (Range<usize>, Range<usize>, f32);

/// The attention between any two words of a phrase pair, in addition to its alignment.
const PHRASE_ATTENTION: f32 = 0.25;

/// Links between the tokens of a sentence and those of its translation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenLinks {
    /// Aligned tokens: positions in the sentence and in the translation.
    points: Vec<(usize, usize)>,
    /// Spans of tokens in the sentence and in the translation, with the attention of the second to
    /// the first.
    attention: Vec<WeightedLink>,
}

/// Links between the bytes of a sentence and those of its translation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Links {
    /// Aligned words.
    pub links: Vec<Link>,
    /// Attention between words, besides the alignment.
    pub attention: Vec<WeightedLink>,
}

/// The text of a translation with its links, which are used only for tags inside sentences.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkedText {
    /// The translation as plain text.
    pub text: Vec<u8>,
    /// Its links with the sentence.
    pub links: Links,
}

impl<'a> From<&'a LinkedText> for AlignedTranslation<'a> {
    fn from(translation: &'a LinkedText) -> Self {
        let LinkedText { text, links: Links { links, attention } } = translation;
        AlignedTranslation { text, links, attention }
    }
}

impl TokenLinks {
    /// Returns links from aligned tokens and from attention between tokens. Each token is a
    /// position in the sentence or in the translation.
    pub fn from_tokens(
        points: impl IntoIterator<Item = (u32, u32)>,
        attention: impl IntoIterator<Item = (u32, u32, f32)>,
    ) -> Self {
        TokenLinks {
            points: positions(points),
            attention: attention
                .into_iter()
                .map(|(s, t, weight)| {
                    let (s, t) = (s as usize, t as usize);
                    (s..s + 1, t..t + 1, weight)
                })
                .collect(),
        }
    }

    /// Returns links from aligned tokens and from phrases. A phrase is a span of the sentence and
    /// its span of the translation. The words of one span attend to those of the other. If no word
    /// of a phrase's translation is aligned, each is linked to all words of the phrase.
    pub fn from_phrases(
        points: impl IntoIterator<Item = (u32, u32)>,
        phrases: impl IntoIterator<Item = Link>,
    ) -> Self {
        let mut points = positions(points);
        let aligned: HashSet<usize> = points.iter().map(|(_, target)| *target).collect();
        let mut attention = Vec::new();
        for (source, target) in phrases {
            if !target.clone().any(|word| aligned.contains(&word)) {
                let all = source.clone().flat_map(|s| target.clone().map(move |t| (s, t)));
                points.extend(all);
            }
            if !source.is_empty() && !target.is_empty() {
                attention.push((source, target, PHRASE_ATTENTION));
            }
        }
        TokenLinks { points, attention }
    }

    /// Converts links to bytes of `sentence` and `text`, whose tokens are `source` and `target`.
    /// The first `num_tags` tokens of `source`, which tell a model the language, are not in
    /// `sentence`.
    pub fn locate<'t>(
        &self,
        (sentence, source): (&[u8], impl Iterator<Item = &'t [u8]>),
        num_tags: usize,
        (text, target): (&[u8], impl Iterator<Item = &'t [u8]>),
    ) -> Links {
        let source = TokenPlaces::new(sentence, source, num_tags);
        let target = TokenPlaces::new(text, target, 0);
        let link = |s: Range<usize>, t: Range<usize>| Some((source.find(s)?, target.find(t)?));
        let links = self.points.iter().filter_map(|&(s, t)| link(s..s + 1, t..t + 1));
        let attention = self.attention.iter().filter_map(|(s, t, weight)| {
            let (s, t) = link(s.clone(), t.clone())?;
            Some((s, t, *weight))
        });
        Links { links: links.collect(), attention: attention.collect() }
    }

    /// Returns the links between the tokens of a sentence and those of a translation of its
    /// translation. `self` leads to `target`, the tokens of the text `between`; `second` begins at
    /// `source`, the tokens of the same text for another model, of which the first `num_tags` are
    /// not in the text. Tokens are linked if theirs overlap in the text.
    pub fn then<'t>(
        &self,
        second: &TokenLinks,
        between: &[u8],
        target: impl Iterator<Item = &'t [u8]>,
        (source, num_tags): (impl Iterator<Item = &'t [u8]>, usize),
    ) -> TokenLinks {
        let target = TokenPlaces::new(between, target, 0);
        let source = TokenPlaces::new(between, source, num_tags);
        let points = self.points.iter();
        let attention = self.attention.iter().cloned();
        let first = Links {
            links: points.filter_map(|&(s, t)| Some((s..s + 1, target.find(t..t + 1)?))).collect(),
            attention: attention
                .filter_map(|(s, t, weight)| Some((s, target.find(t)?, weight)))
                .collect(),
        };
        let points = second.points.iter();
        let attention = second.attention.iter().cloned();
        let second = Links {
            links: points.filter_map(|&(s, t)| Some((source.find(s..s + 1)?, t..t + 1))).collect(),
            attention: attention
                .filter_map(|(s, t, weight)| Some((source.find(s)?, t, weight)))
                .collect(),
        };
        let Links { links, attention } = first.then(&second);
        TokenLinks { points: links.iter().map(|(s, t)| (s.start, t.start)).collect(), attention }
    }

    /// Returns the aligned tokens: positions in the sentence and in the translation.
    pub fn points(&self) -> &[(usize, usize)] {
        &self.points
    }
}

/// The byte ranges of the tokens of a text.
struct TokenPlaces {
    /// The number of tokens at the beginning that are not in the text.
    num_tags: usize,
    /// The ranges of the other tokens.
    places: Vec<Range<usize>>,
}

impl TokenPlaces {
    fn new<'t>(text: &[u8], tokens: impl Iterator<Item = &'t [u8]>, num_tags: usize) -> Self {
        TokenPlaces { num_tags, places: locate_tokens(text, tokens.skip(num_tags)) }
    }

    /// Returns the range of a span of tokens, if all are in the text.
    fn find(&self, tokens: Range<usize>) -> Option<Range<usize>> {
        let start = tokens.start.checked_sub(self.num_tags)?;
        let places = self.places.get(start..tokens.end.checked_sub(self.num_tags)?)?;
        Some(places.first()?.start..places.last()?.end)
    }
}

fn positions(points: impl IntoIterator<Item = (u32, u32)>) -> Vec<(usize, usize)> {
    points.into_iter().map(|(s, t)| (s as usize, t as usize)).collect()
}

impl Links {
    /// Returns the links between the sentence and a translation of its translation; `second` are
    /// the links between the two translations. Ranges are linked if they overlap in the first
    /// translation.
    fn then(&self, second: &Links) -> Links {
        fn weighted(links: &[Link]) -> Vec<(Range<usize>, Range<usize>, f32)> {
            links.iter().map(|(source, target)| (source.clone(), target.clone(), 1.0)).collect()
        }
        let [own, following] =
            [self, second].map(|links| [weighted(&links.links), links.attention.clone()].concat());
        let links = compose(&weighted(&self.links), &weighted(&second.links));
        Links {
            links: links.into_iter().map(|(source, target, _)| (source, target)).collect(),
            attention: compose(&own, &following),
        }
    }
}

/// Combines links to a text in between with links from it. Weights are multiplied; of several
/// paths, the one with the largest weight is taken.
fn compose(first: &[WeightedLink], second: &[WeightedLink]) -> Vec<WeightedLink> {
    let mut second: Vec<&WeightedLink> = second.iter().collect();
    second.sort_by_key(|(between, ..)| between.start);
    // The largest end so far never decreases, so a binary search finds the first possible overlap.
    let ends = second.iter().scan(0, |largest, (between, ..)| {
        *largest = between.end.max(*largest);
        Some(*largest)
    });
    let ends: Vec<usize> = ends.collect();
    let mut links: Vec<WeightedLink> = Vec::new();
    for (source, between, weight) in first {
        let end = second.partition_point(|(other, ..)| other.start < between.end);
        let start = ends.partition_point(|&largest| largest <= between.start).min(end);
        let meeting = second[start..end].iter().filter(|(other, ..)| other.end > between.start);
        links.extend(
            meeting.map(|(_, target, other)| (source.clone(), target.clone(), weight * other)),
        );
    }
    fn place(link: &WeightedLink) -> (usize, usize, usize, usize) {
        (link.0.start, link.1.start, link.0.end, link.1.end)
    }
    links.sort_by(|one, other| place(one).cmp(&place(other)).then(other.2.total_cmp(&one.2)));
    links.dedup_by_key(|link| place(link));
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens<'t>(tokens: &'t [&str]) -> impl Iterator<Item = &'t [u8]> {
        tokens.iter().map(|token| token.as_bytes())
    }

    #[test]
    fn links_go_through_a_text_in_between() {
        let links = |links: &[Link]| Links { links: links.to_vec(), attention: Vec::new() };
        let first = links(&[(0..3, 4..7), (4..7, 0..3)]);
        let second = links(&[(0..3, 8..9), (4..7, 0..2), (2..5, 20..21)]);
        let all = [(0..3, 0..2), (0..3, 20..21), (4..7, 8..9), (4..7, 20..21)];
        assert_eq!(first.then(&second).links, all);
        // Attention is multiplied, and a link counts as attention of 1.
        let attention = vec![(0..3, 4..7, 0.5), (8..9, 0..3, 0.25)];
        let first = Links { attention, ..Links::default() };
        let second = Links { attention: vec![(4..7, 0..2, 0.5)], ..second };
        let found = first.then(&second);
        assert!(found.links.is_empty());
        assert_eq!(
            found.attention,
            [(0..3, 0..2, 0.5), (0..3, 20..21, 0.5), (8..9, 8..9, 0.25), (8..9, 20..21, 0.25)]
        );
    }

    /// The models between which the text is have tokens of their own, and the second one has a tag.
    #[test]
    fn tokens_are_linked_through_a_text_in_between() {
        let first = TokenLinks::from_tokens([(0, 0), (2, 1), (1, 2), (3, 3)], [(1, 0, 0.5)]);
        let second =
            TokenLinks::from_tokens([(1, 2), (2, 0), (3, 0), (4, 1), (0, 3)], [(4, 2, 0.5)]);
        let (target, source) = (["la", "casa", "roja"], [">>fr<<", "la", "ca@@", "sa", "roja"]);
        let source = (tokens(&source), 1);
        let found = first.then(&second, b"la casa roja", tokens(&target), source);
        assert_eq!(found.points(), [(0, 2), (1, 1), (2, 0)]);
        let attention = [(0..1, 2..3), (1..2, 1..2), (1..2, 2..3), (2..3, 0..1)];
        let spans = found.attention.iter().map(|(s, t, _)| (s.clone(), t.clone()));
        assert_eq!(spans.collect::<Vec<_>>(), attention);
    }

    #[test]
    fn words_of_a_phrase_without_links_are_all_linked() {
        // The last phrase has no words in the translation.
        let phrases = [(0..1, 0..1), (1..3, 1..2), (3..4, 2..2)];
        let found = TokenLinks::from_phrases([(0, 0)], phrases);
        assert_eq!(found.points, [(0, 0), (1, 1), (2, 1)]);
        assert_eq!(found.attention, [(0..1, 0..1, 0.25), (1..3, 1..2, 0.25)]);
        let source = (&b"a bc d"[..], tokens(&["a", "b", "c", "d"]));
        let links = found.locate(source, 0, (b"x yz", tokens(&["x", "yz"])));
        assert_eq!(links.links, [(0..1, 0..1), (2..3, 2..4), (3..4, 2..4)]);
        assert_eq!(links.attention, [(0..1, 0..1, 0.25), (2..4, 2..4, 0.25)]);
    }

    #[test]
    fn language_tokens_are_not_in_the_sentence() {
        let points = [(0, 0), (1, 1), (2, 0), (9, 0)];
        let found = TokenLinks::from_tokens(points, [(2, 1, 0.5), (0, 1, 0.5)]);
        let source = (&b"a bc"[..], tokens(&[">>fr<<", "a", "bc"]));
        let links = found.locate(source, 1, (b"x y", tokens(&["x", "y"])));
        assert_eq!(links.links, [(0..1, 2..3), (2..4, 0..1)]);
        assert_eq!(links.attention, [(2..4, 2..3, 0.5)]);
    }
}
