//! Elements to which the words of a translation belong.
//!
//! A word belongs to the innermost element around most of its aligned words. Alignments may leave
//! elements without words, but readers cannot follow an empty hyperlink. So every innermost element
//! with text claims one word: the best aligned word without a stronger claim, or else the nearest
//! free word. If there are fewer words than elements, hyperlinks share words, which are cut; other
//! elements stay empty.

use std::cmp::Reverse;

use hashbrown::HashMap;
use unicode_segmentation::UnicodeSegmentation;

use super::inline_tree::InlineTree;
use super::word_links::WordLinks;
use crate::characters::decode;
use crate::steps;

/// The minimum weight of a word that the matching gives to a claim. Claims without such a word get
/// a free word afterwards, if there is one.
const MIN_ATTENTION: f32 = 0.1;

/// The claim of an element with text and without inner elements.
struct Claim {
    node: usize,
    /// Its words in the sentence.
    words: Vec<usize>,
    /// Whether one of its words begins with a letter or digit.
    is_letter: bool,
    /// Whether the element is a hyperlink or inside one.
    is_link: bool,
    /// Words of the translation with their weights, best first.
    candidates: Vec<(usize, f32)>,
}

/// A matching of claims and words: each has at most one partner.
struct Matching<'a> {
    claims: &'a [Claim],
    is_target_letter: &'a [bool],
    /// The claim of each word.
    claim_of: Vec<Option<usize>>,
    /// The round in which each word was last tried.
    tried: Vec<usize>,
}

impl Matching<'_> {
    /// Gives `claim` a word if possible, and returns whether it got one. Other claims may have to
    /// exchange their word for another one.
    fn augment(&mut self, claim: usize, round: usize) -> bool {
        let Claim { candidates, is_letter, .. } = &self.claims[claim];
        let own: Vec<usize> = candidates
            .iter()
            .filter(|&&(word, weight): &&(usize, f32)| {
                weight >= MIN_ATTENTION && self.is_target_letter[word] == *is_letter
            })
            .map(|&(word, _)| word)
            .collect();
        steps::count(own.len());
        if let Some(&free) = own.iter().find(|&&word| self.claim_of[word].is_none()) {
            self.claim_of[free] = Some(claim);
            return true;
        }
        for word in own {
            if std::mem::replace(&mut self.tried[word], round) == round {
                continue;
            }
            let other = self.claim_of[word];
            if other.is_none_or(|other| self.augment(other, round)) {
                self.claim_of[word] = Some(claim);
                return true;
            }
        }
        false
    }

    /// Returns the claims without a word, in order.
    fn unmatched(&self) -> Vec<usize> {
        let mut is_matched = vec![false; self.claims.len()];
        self.claim_of.iter().flatten().for_each(|&claim| is_matched[claim] = true);
        (0..self.claims.len()).filter(|&claim| !is_matched[claim]).collect()
    }
}

impl InlineTree {
    /// Returns the element to which each word of the translation `text` belongs, and sets the
    /// demand of each element. Words that several hyperlinks share are cut. `elements` are the
    /// elements of the sentence's words.
    pub(super) fn assign_words(
        &mut self,
        elements: &[usize],
        links: &mut WordLinks,
        text: &[u8],
    ) -> Vec<usize> {
        let claims = self.claims(elements, links);
        let mut matching = Matching {
            claims: &claims,
            is_target_letter: &links.is_target_letter,
            claim_of: vec![None; links.target.len()],
            tried: vec![0; links.target.len()],
        };
        let mut order: Vec<usize> = (0..claims.len()).collect();
        let best = |claim: &usize| claims[*claim].candidates.first().map_or(0.0, |best| best.1);
        order.sort_by(|one, other| best(other).total_cmp(&best(one)));
        for (round, claim) in order.into_iter().enumerate() {
            matching.augment(claim, round + 1);
        }
        let owners = self.base_owners(elements, links);
        let expected = expected_places(links);
        let mut rest = matching.unmatched();
        // Hyperlinks come last, because only they may share words.
        rest.sort_by_key(|&claim| (claims[claim].is_link, !claims[claim].is_letter));
        for claim in rest {
            let claim_of = &matching.claim_of;
            if let Some(word) = free_word(&claims[claim], claim_of, &owners, links, &expected) {
                matching.claim_of[word] = Some(claim);
            }
        }
        let mut holders: Vec<Vec<usize>> =
            matching.claim_of.iter().map(|claim| claim.iter().copied().collect()).collect();
        let rest = matching.unmatched();
        let num_parts: Vec<usize> = links
            .target
            .iter()
            .map(|word| if rest.is_empty() { 1 } else { graphemes(&text[word.clone()]).len() })
            .collect();
        for claim in rest.into_iter().filter(|&claim| claims[claim].is_link) {
            let word = shared_word(
                &claims[claim],
                holders.len(),
                |word| holders[word].len() < num_parts[word],
                &expected,
            );
            if let Some(word) = word {
                holders[word].push(claim);
            }
        }
        holders.iter_mut().for_each(|holders| holders.sort_unstable());
        let ends: Vec<Vec<usize>> = holders
            .iter()
            .zip(&links.target)
            .map(|(holders, word)| part_lengths(&text[word.clone()], holders.len()))
            .collect();
        let firsts = links.cut_target(&ends);
        let mut found = vec![None; links.target.len()];
        for (word, holders) in holders.iter().enumerate() {
            let parts = firsts[word]..firsts[word] + holders.len().max(1);
            found[parts].fill(owners[word]);
            for (part, &claim) in holders.iter().enumerate() {
                found[firsts[word] + part] = Some(claims[claim].node);
                self.nodes[claims[claim].node].demand = 1;
            }
        }
        for node in (1..self.nodes.len()).rev() {
            let (parent, demand) = (self.nodes[node].parent, self.nodes[node].demand);
            self.nodes[parent].demand += demand;
        }
        self.fill_owners(&found, links.is_empty())
    }

    /// Returns the innermost elements with text.
    fn claims(&self, elements: &[usize], links: &WordLinks) -> Vec<Claim> {
        let mut is_innermost: Vec<bool> =
            self.nodes.iter().map(|node| node.num_words > 0).collect();
        is_innermost[Self::ROOT] = false;
        let mut is_link = vec![false; self.nodes.len()];
        for (number, node) in self.nodes.iter().enumerate().skip(1) {
            if node.num_words > 0 {
                is_innermost[node.parent] = false;
            }
            is_link[number] = node.is_link || is_link[node.parent];
        }
        let mut claims: Vec<Claim> = Vec::new();
        let mut numbers = vec![None; self.nodes.len()];
        for node in (1..self.nodes.len()).filter(|&node| is_innermost[node]) {
            numbers[node] = Some(claims.len());
            let (words, candidates, is_letter) = Default::default();
            claims.push(Claim { node, words, is_letter, is_link: is_link[node], candidates });
        }
        for (word, &node) in elements.iter().enumerate() {
            if let Some(number) = numbers[node] {
                claims[number].words.push(word);
                claims[number].is_letter |= links.is_source_letter[word];
            }
        }
        for claim in &mut claims {
            let mut weights: HashMap<usize, f32> = HashMap::new();
            for &(word, weight) in claim.words.iter().flat_map(|&word| &links.candidates[word]) {
                *weights.entry(word).or_default() += weight;
            }
            steps::count(weights.len());
            claim.candidates.extend(weights);
            claim.candidates.sort_by(|(one, first), (other, second)| {
                second.total_cmp(first).then(one.cmp(other))
            });
        }
        claims
    }

    /// Returns the element of each word of the translation by its alignment.
    fn base_owners(&self, elements: &[usize], links: &WordLinks) -> Vec<Option<usize>> {
        links.sources.iter().map(|sources| most_frequent(sources, elements)).collect()
    }

    /// Returns the owners of all words: words without links belong to the innermost element around
    /// both neighbours. Without any alignment, the largest element gets the unclaimed words.
    fn fill_owners(&self, found: &[Option<usize>], is_unaligned: bool) -> Vec<usize> {
        if is_unaligned {
            let largest = self.largest_descendant();
            return found.iter().map(|owner| owner.unwrap_or(largest)).collect();
        }
        let mut next = vec![None; found.len()];
        let mut following = None;
        for (place, owner) in found.iter().enumerate().rev() {
            next[place] = following;
            following = owner.or(following);
        }
        let mut before = None;
        let owners = found.iter().zip(next).map(|(&owner, after)| {
            before = owner.or(before);
            match (owner, before, after) {
                (Some(owner), ..) => owner,
                (None, Some(before), Some(after)) => self.common_ancestor(before, after),
                _ => Self::ROOT,
            }
        });
        owners.collect()
    }

    /// Returns the innermost element reached by descending to the child with the most words.
    fn largest_descendant(&self) -> usize {
        let mut node = Self::ROOT;
        loop {
            let children = self.nodes[node].contents.iter().filter_map(|content| content.child);
            match children
                .max_by_key(|child| (self.nodes[*child].num_words, Reverse(*child)))
                .filter(|&child| self.nodes[child].num_words > 0)
            {
                Some(child) => node = child,
                None => return node,
            }
        }
    }

    fn common_ancestor(&self, mut one: usize, other: usize) -> usize {
        while !(one..self.nodes[one].end).contains(&other) {
            one = self.nodes[one].parent;
        }
        one
    }
}

/// Returns the most frequent element of `words`; among equally frequent ones, the first.
fn most_frequent(words: &[usize], elements: &[usize]) -> Option<usize> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for &word in words {
        *counts.entry(elements[word]).or_default() += 1;
    }
    counts
        .into_iter()
        .max_by_key(|&(element, count)| (count, Reverse(element)))
        .map(|(element, _)| element)
}

/// Returns the expected position of the translation of each word of the sentence: after the
/// translation of the last aligned word before it or, if nothing is aligned, in proportion. A
/// position is the index of the word of the translation that follows it.
fn expected_places(links: &WordLinks) -> Vec<usize> {
    let (num_sources, num_targets) = (links.source.len(), links.target.len());
    if links.is_empty() {
        return (0..num_sources).map(|word| word * num_targets / num_sources).collect();
    }
    let mut ends = vec![None; num_sources];
    for (target, sources) in links.sources.iter().enumerate() {
        sources.iter().for_each(|&source| ends[source] = Some(target + 1));
    }
    let mut place = 0;
    let places = ends.into_iter().map(|end| {
        let expected = place;
        place = end.unwrap_or(place);
        expected
    });
    places.collect()
}

/// Returns the distance of a word from the gap before word `place`; ties prefer the word after it.
fn distance(word: usize, place: usize) -> (usize, bool) {
    if word >= place { (word - place, false) } else { (place - word - 1, true) }
}

/// Returns the best free word for `claim`: the one with most attention, or else the nearest one.
/// Words with letters come first if the claim has letters, otherwise words without letters. A word
/// inside a run of another element counts as two words farther away.
fn free_word(
    claim: &Claim,
    claim_of: &[Option<usize>],
    owners: &[Option<usize>],
    links: &WordLinks,
    expected: &[usize],
) -> Option<usize> {
    let is_free = |word: &usize| claim_of[*word].is_none();
    let is_alike = |word: usize| links.is_target_letter[word] == claim.is_letter;
    let attended = claim.candidates.iter().map(|&(word, _)| word);
    if let Some(word) = attended.filter(is_free).find(|&word| is_alike(word)) {
        return Some(word);
    }
    let place = claim.words.first().map_or(0, |&word| expected[word]);
    steps::count(claim_of.len());
    (0..claim_of.len()).filter(is_free).min_by_key(|&word| {
        let (distance, is_before) = distance(word, place);
        let detour = 2 * usize::from(is_inside_run(word, owners));
        (!is_alike(word), distance + detour, is_before, word)
    })
}

/// Whether `word` and the words before and after it have the same owner, which is not the root.
fn is_inside_run(word: usize, owners: &[Option<usize>]) -> bool {
    let around = [word.checked_sub(1), Some(word + 1)];
    owners[word].is_some_and(|owner| owner != InlineTree::ROOT)
        && around.into_iter().all(|other| {
            other.and_then(|other| owners.get(other)).is_some_and(|owner| *owner == owners[word])
        })
}

/// Returns the word that `claim` shares with other hyperlinks: of the words with room, the one with
/// most attention, or else the nearest one.
fn shared_word(
    claim: &Claim,
    num_words: usize,
    has_room: impl Fn(usize) -> bool + Copy,
    expected: &[usize],
) -> Option<usize> {
    let attended = claim.candidates.iter().map(|&(word, _)| word).find(|&word| has_room(word));
    attended.or_else(|| {
        let place = claim.words.first().map_or(0, |&word| expected[word]);
        steps::count(num_words);
        (0..num_words).filter(|&word| has_room(word)).min_by_key(|&word| distance(word, place))
    })
}

/// Returns the ends of a word's graphemes.
fn graphemes(word: &[u8]) -> Vec<usize> {
    let decoded = decode(word);
    decoded.grapheme_indices(true).map(|(at, symbol)| at + symbol.len()).collect()
}

/// Returns the byte offsets at which a word is cut into `count` parts of about the same number of
/// graphemes.
fn part_lengths(word: &[u8], count: usize) -> Vec<usize> {
    if count < 2 {
        return Vec::new();
    }
    let ends = graphemes(word);
    (1..count).map(|part| ends[part * ends.len() / count - 1]).collect()
}
