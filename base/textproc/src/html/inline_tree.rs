//! The elements of a sentence as a tree, and which words of the translation each gets.
//!
//! Every element gets one range of words, inside that of its parent and apart from those of its
//! siblings, so that the tags of the page are written exactly once and stay nested. A word
//! belongs to the innermost element around most of the words it is aligned with. The
//! range of an element is the one with the most of its own words less those of others, so that
//! a single wrong link does not stretch a tag over half a sentence. Copying tags to every word
//! they are aligned with, as other programs do, would double links and ids.

use std::ops::Range;

use hashbrown::HashMap;

use super::inline_markup::{InlineItem, InlineItemKind};

/// For each word of the translation the words of the sentence that it is aligned with.
pub(super) struct WordLinks {
    sources: Vec<Vec<usize>>,
    is_empty: bool,
}

impl WordLinks {
    /// Links of words from links of byte ranges.
    pub(super) fn new(
        source: &[Range<usize>],
        target: &[Range<usize>],
        links: &[(Range<usize>, Range<usize>)],
    ) -> Self {
        let mut sources = vec![Vec::new(); target.len()];
        for (from, to) in links {
            for word in overlapping(target, to) {
                sources[word].extend(overlapping(source, from));
            }
        }
        let is_empty = sources.iter().all(Vec::is_empty);
        WordLinks { sources, is_empty }
    }
}

/// The numbers of the words that share bytes with a range.
fn overlapping(words: &[Range<usize>], range: &Range<usize>) -> Range<usize> {
    let first = words.partition_point(|word| word.end <= range.start);
    let end = words.partition_point(|word| word.start < range.end);
    first..end.max(first)
}

/// An element of the sentence; the root has no tags.
#[derive(Default)]
struct Node {
    parent: usize,
    /// Its start tag, unless the element begins before the sentence, and its end tag, unless it
    /// ends after.
    tags: [Option<usize>; 2],
    /// The bytes of the sentence in it.
    bytes: Range<usize>,
    /// Children and marks, in the order of the sentence.
    contents: Vec<Content>,
    /// One more than the number of its last descendant; descendants follow their ancestors.
    end: usize,
    /// How many words of the sentence are in it.
    num_words: usize,
    /// The words of the translation.
    span: Range<usize>,
}

/// A child or a mark of an element.
#[derive(Clone)]
pub(super) struct Content {
    pub(super) child: Option<usize>,
    /// The item of a mark.
    pub(super) item: usize,
    /// The words of the translation; for a mark the one before which it is.
    pub(super) span: Range<usize>,
}

/// The elements of a sentence with their words of the translation.
pub(super) struct InlineTree {
    nodes: Vec<Node>,
}

impl InlineTree {
    /// The node of the whole sentence.
    pub(super) const ROOT: usize = 0;

    /// The words of the translation in an element.
    pub(super) fn span(&self, node: usize) -> Range<usize> {
        self.nodes[node].span.clone()
    }

    /// The items of its start tag and end tag.
    pub(super) fn tags(&self, node: usize) -> [Option<usize>; 2] {
        self.nodes[node].tags
    }

    /// Its children and marks, in the order of the translation.
    pub(super) fn contents(&self, node: usize) -> &[Content] {
        &self.nodes[node].contents
    }

    /// Places the elements of a sentence of `length` bytes, whose words are `source`.
    pub(super) fn place(
        items: &[InlineItem],
        source: &[Range<usize>],
        links: &WordLinks,
        length: usize,
    ) -> Self {
        let mut tree = Self::new(items, length);
        let elements = tree.elements_of(source);
        for &node in &elements {
            let mut node = node;
            loop {
                tree.nodes[node].num_words += 1;
                if node == Self::ROOT {
                    break;
                }
                node = tree.nodes[node].parent;
            }
        }
        let owners = tree.owners(&elements, links);
        let placer = Placer { items, source, links, owners, length };
        let all = 0..links.sources.len();
        placer.place(&mut tree.nodes, Self::ROOT, all);
        tree
    }

    /// The tree, nothing placed yet. A node comes before its descendants.
    fn new(items: &[InlineItem], length: usize) -> Self {
        let element_of = |item: &InlineItem| match item.kind {
            InlineItemKind::Start { element } => Some(element),
            _ => None,
        };
        let started: hashbrown::HashSet<usize> = items.iter().filter_map(element_of).collect();
        let is_open_before = |item: &&InlineItem| match item.kind {
            InlineItemKind::End { element } => !started.contains(&element),
            _ => false,
        };
        let mut nodes = vec![Node::default()];
        let mut open = vec![Self::ROOT];
        // The element that ends last is the outermost.
        for _ in items.iter().filter(is_open_before) {
            open.push(add_child(&mut nodes, open[open.len() - 1], 0));
        }
        for (number, item) in items.iter().enumerate() {
            let last = open[open.len() - 1];
            match item.kind {
                InlineItemKind::Start { .. } => {
                    let node = add_child(&mut nodes, last, item.offset);
                    nodes[node].tags[0] = Some(number);
                    open.push(node);
                }
                InlineItemKind::End { .. } if open.len() > 1 => {
                    let end = nodes.len();
                    nodes[last].tags[1] = Some(number);
                    nodes[last].bytes.end = item.offset;
                    nodes[last].end = end;
                    open.pop();
                }
                _ => nodes[last].contents.push(Content { child: None, item: number, span: 0..0 }),
            }
        }
        let end = nodes.len();
        for node in open {
            nodes[node].bytes.end = length;
            nodes[node].end = end;
        }
        InlineTree { nodes }
    }

    /// The innermost element around each word of the sentence.
    fn elements_of(&self, words: &[Range<usize>]) -> Vec<usize> {
        let mut elements = vec![Self::ROOT; words.len()];
        for (number, node) in self.nodes.iter().enumerate() {
            elements[overlapping(words, &node.bytes)].fill(number);
        }
        elements
    }

    /// The element that each word of the translation belongs to.
    fn owners(&self, elements: &[usize], links: &WordLinks) -> Vec<usize> {
        if links.is_empty {
            return vec![self.largest_descendant(); links.sources.len()];
        }
        let found: Vec<Option<usize>> =
            links.sources.iter().map(|sources| most_frequent(sources, elements)).collect();
        // Words without links belong to the elements around both of their neighbours.
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

    /// Without an alignment the element with the most words gets the translation, and in it again.
    fn largest_descendant(&self) -> usize {
        let mut node = Self::ROOT;
        loop {
            let children = self.nodes[node].contents.iter().filter_map(|content| content.child);
            let size = |child: &usize| (self.nodes[*child].num_words, std::cmp::Reverse(*child));
            match children.max_by_key(size).filter(|&child| self.nodes[child].num_words > 0) {
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

fn add_child(nodes: &mut Vec<Node>, parent: usize, offset: usize) -> usize {
    let number = nodes.len();
    nodes.push(Node { parent, bytes: offset..offset, ..Node::default() });
    nodes[parent].contents.push(Content { child: Some(number), item: 0, span: 0..0 });
    number
}

/// The element of most of the words with these numbers; of equally frequent ones the first.
fn most_frequent(words: &[usize], elements: &[usize]) -> Option<usize> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for &word in words {
        *counts.entry(elements[word]).or_default() += 1;
    }
    counts
        .into_iter()
        .max_by_key(|&(element, count)| (count, std::cmp::Reverse(element)))
        .map(|(element, _)| element)
}

/// Words of an element that its children have.
struct TakenWords {
    start: usize,
    words: Vec<bool>,
    /// For each word whether the word before is in the same child.
    gaps: Vec<bool>,
    is_empty: bool,
}

impl TakenWords {
    fn new(span: Range<usize>) -> Self {
        let none = vec![false; span.len() + 1];
        TakenWords { start: span.start, words: none.clone(), gaps: none, is_empty: true }
    }

    fn take(&mut self, range: Range<usize>) {
        let range = range.start - self.start..range.end - self.start;
        self.words[range.clone()].fill(true);
        self.gaps[range.start + 1..range.end].fill(true);
        self.is_empty = false;
    }

    fn has_word(&self, word: usize) -> bool {
        self.words[word - self.start]
    }

    /// Whether what is before `word` is inside a child.
    fn has_gap(&self, word: usize) -> bool {
        self.gaps[word - self.start]
    }
}

/// Gives words of the translation to elements.
struct Placer<'a> {
    items: &'a [InlineItem],
    source: &'a [Range<usize>],
    links: &'a WordLinks,
    owners: Vec<usize>,
    length: usize,
}

impl Placer<'_> {
    /// Gives the words of `span` to a node, and those of its elements to them.
    fn place(&self, nodes: &mut [Node], node: usize, span: Range<usize>) {
        nodes[node].span = span.clone();
        let mut contents = std::mem::take(&mut nodes[node].contents);
        let children = contents.iter().filter_map(|content| content.child);
        let mut children: Vec<_> = children
            .map(|child| {
                let own = |owner: &&usize| (child..nodes[child].end).contains(*owner);
                (self.owners[span.clone()].iter().filter(own).count(), child)
            })
            .collect();
        // Elements that go on outside the sentence first, as their place is at its end; then
        // those with few words, for which larger ones leave none.
        let is_whole = |child: usize| nodes[child].tags.iter().all(Option::is_some);
        children.sort_by_key(|&(count, child)| (is_whole(child), count, child));
        let mut taken = TakenWords::new(span.clone());
        // Elements and marks without words are outside those that go on outside the sentence.
        let mut gaps = span.clone();
        for &(count, child) in &children {
            let range = self.best_range(nodes, node, child, count, &span, &taken);
            if let Some(range) = range {
                match nodes[child].tags {
                    [None, _] => gaps.start = range.end,
                    [_, None] => gaps.end = range.start,
                    _ => {}
                }
                taken.take(range.clone());
                nodes[child].span = range;
            } else {
                let place = self.best_gap(nodes[child].bytes.start, &span, &gaps, &taken);
                nodes[child].span = match nodes[child].tags {
                    [None, _] => span.start..span.start,
                    [_, None] => span.end..span.end,
                    _ => place..place,
                };
            }
        }
        for content in &mut contents {
            content.span = match content.child {
                Some(child) => nodes[child].span.clone(),
                None => {
                    let place =
                        self.best_gap(self.items[content.item].offset, &span, &gaps, &taken);
                    place..place
                }
            };
        }
        // What has no words is before what begins there; the order is otherwise that of the page.
        contents.sort_by_key(|content| (content.span.start, !content.span.is_empty()));
        nodes[node].contents = contents;
        for (_, child) in children {
            let span = nodes[child].span.clone();
            self.place(nodes, child, span);
        }
    }

    /// The words of `span`, none of them `taken`, that a child of `node` with `count` words of its
    /// own gets; none if it gets no words.
    fn best_range(
        &self,
        nodes: &[Node],
        node: usize,
        child: usize,
        count: usize,
        span: &Range<usize>,
        taken: &TakenWords,
    ) -> Option<Range<usize>> {
        let is_all = nodes[child].num_words > 0 && nodes[child].num_words == nodes[node].num_words;
        if is_all && taken.is_empty && !span.is_empty() {
            return Some(span.clone());
        }
        if count == 0 {
            return None;
        }
        let [start, end] = nodes[child].tags;
        // Words that are in no other element may be between an element's own.
        let own = child..nodes[child].end;
        let value = |word: usize| match self.owners[word] {
            owner if own.contains(&owner) => 2,
            owner if owner > node && owner < nodes[node].end => -3,
            _ => -1,
        };
        let mut best = (0i64, 0..0);
        let mut from = span.start;
        let mut sum = 0i64;
        for word in span.clone() {
            if taken.has_word(word) {
                if start.is_none() {
                    break;
                }
                (from, sum) = (word + 1, 0);
                continue;
            }
            if sum <= 0 && start.is_some() {
                (from, sum) = (word, 0);
            }
            sum += value(word);
            // An element that ends outside the sentence ends with its last word.
            if sum > best.0 && end.is_some() {
                best = (sum, from..word + 1);
            }
        }
        if end.is_none() {
            // The best suffix instead.
            let mut sum = 0i64;
            for word in span.clone().rev() {
                if taken.has_word(word) {
                    break;
                }
                sum += value(word);
                if sum > best.0 {
                    best = (sum, word..span.end);
                }
            }
        }
        Some(best.1).filter(|range| !range.is_empty())
    }

    /// The word of `span`, or its end, before which something from byte `offset` of the sentence
    /// is: in `gaps` and outside the ranges `taken`, where the fewest links cross it, and of
    /// several such places the one after the translation of the word before, or else the one
    /// with the most similar share of the sentence before it.
    fn best_gap(
        &self,
        offset: usize,
        span: &Range<usize>,
        gaps: &Range<usize>,
        taken: &TakenWords,
    ) -> usize {
        let is_before = |word: usize| self.source[word].start < offset;
        // Links from words before the offset to words after the gap cross, and the reverse.
        let mut crossing: usize = span
            .clone()
            .map(|word| self.links.sources[word].iter().filter(|&&s| is_before(s)).count())
            .sum();
        let total = self.links.sources.len().max(1);
        let neighbour = self.source.partition_point(|word| word.start < offset).checked_sub(1);
        let follows = |gap: usize| {
            let before = gap.checked_sub(1).filter(|_| gap > span.start);
            neighbour.zip(before).is_some_and(|(s, t)| self.links.sources[t].contains(&s))
        };
        let distance = |gap: usize| (gap * self.length).abs_diff(offset * total);
        let mut best = None;
        for gap in span.start..=span.end {
            if gap > span.start {
                let sources = &self.links.sources[gap - 1];
                let before = sources.iter().filter(|&&s| is_before(s)).count();
                crossing = crossing + (sources.len() - before) - before;
            }
            let is_free = (gaps.start..=gaps.end).contains(&gap) && !taken.has_gap(gap);
            let key = (crossing, !follows(gap), distance(gap));
            if is_free && best.is_none_or(|(other, _)| key < other) {
                best = Some((key, gap));
            }
        }
        best.map_or(gaps.start, |(_, gap)| gap)
    }
}
