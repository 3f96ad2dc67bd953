//! Tree of a sentence's HTML elements, and the words of the translation that each encloses.
//!
//! Every element gets one range of words, inside the range of its parent and disjoint from those of
//! its siblings. So every tag of the page is written exactly once, and tags stay nested. The range
//! is chosen to contain many words that are aligned with the element, and few others, so that a
//! single wrong alignment link does not stretch a tag over half a sentence. Copying tags to every
//! aligned word, as other programs do, would duplicate hyperlinks and ids.
//!
//! Ranges are found one by one, so too few words may be left for an element with inner elements.
//! In this case the order of the elements is fixed, and the best ranges of sufficient size are
//! found for all siblings together, by dynamic programming.

use std::ops::Range;

use super::inline_item::{InlineItem, InlineItemKind, MarkKind};
use super::word_links::{WordLinks, overlapping};
use crate::steps;

/// An element of the sentence. The root is the whole sentence and has no tags.
#[derive(Default)]
pub(super) struct Node {
    pub(super) parent: usize,
    /// The items of the start tag and the end tag; `None` for a tag outside the sentence.
    tags: [Option<usize>; 2],
    /// The bytes of the sentence that the element encloses.
    bytes: Range<usize>,
    /// Whether the element is a hyperlink, which must not be empty.
    pub(super) is_link: bool,
    /// Children and marks; in the order of the sentence until the element is placed, then in that
    /// of the translation.
    pub(super) contents: Vec<Content>,
    /// The index of the last descendant plus one; descendants follow their ancestors.
    pub(super) end: usize,
    /// The number of words of the sentence that the element encloses.
    pub(super) num_words: usize,
    /// The least number of words of the translation for which no inner element is empty.
    pub(super) demand: usize,
    /// The words of the translation that the element encloses.
    span: Range<usize>,
}

/// A child or a mark (an image, a comment, a tag without a partner) of an element.
#[derive(Clone)]
pub(super) struct Content {
    /// The node of a child; `None` for a mark.
    pub(super) child: Option<usize>,
    /// The item of a mark; 0 for a child.
    pub(super) item: usize,
    /// The words of the translation that the child encloses; for a mark, the empty range before the
    /// word that follows it.
    pub(super) span: Range<usize>,
}

/// The elements of a sentence, each before its descendants.
pub(super) struct InlineTree {
    pub(super) nodes: Vec<Node>,
}

impl InlineTree {
    /// The node of the whole sentence.
    pub(super) const ROOT: usize = 0;

    /// Returns the words of the translation that an element encloses.
    pub(super) fn span(&self, node: usize) -> Range<usize> {
        self.nodes[node].span.clone()
    }

    /// Returns the items of an element's start tag and end tag; `None` for a tag outside the
    /// sentence.
    pub(super) fn tags(&self, node: usize) -> [Option<usize>; 2] {
        self.nodes[node].tags
    }

    /// Returns an element's children and marks, in the order of the translation.
    pub(super) fn contents(&self, node: usize) -> &[Content] {
        &self.nodes[node].contents
    }

    /// Places the elements of a sentence of `length` bytes in its translation `text`. Words of the
    /// translation that belong to several elements are split in `links`.
    pub(super) fn place(
        items: &[InlineItem],
        links: &mut WordLinks,
        (text, length): (&[u8], usize),
    ) -> Self {
        let mut tree = Self::new(items, length);
        let elements = tree.elements_around(&links.source);
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
        let owners = tree.assign_words(&elements, links, text);
        let all = 0..links.target.len();
        let placer = Placer { items, links, owners, length };
        placer.place(&mut tree.nodes, Self::ROOT, all);
        tree
    }

    /// Returns the tree of `items`, not yet placed in the translation.
    fn new(items: &[InlineItem], length: usize) -> Self {
        let started: hashbrown::HashSet<usize> = items
            .iter()
            .filter_map(|item| match item.kind {
                InlineItemKind::Start { element, .. } => Some(element),
                _ => None,
            })
            .collect();
        let mut nodes = vec![Node::default()];
        let mut open = vec![Self::ROOT];
        // First, elements that began before the sentence are added, because only their end tags are
        // here. The element that ends last is the outermost.
        for _ in items.iter().filter(|item| match item.kind {
            InlineItemKind::End { element } => !started.contains(&element),
            _ => false,
        }) {
            open.push(add_child(&mut nodes, open[open.len() - 1], 0));
        }
        for (number, item) in items.iter().enumerate() {
            let last = open[open.len() - 1];
            match item.kind {
                InlineItemKind::Start { is_link, .. } => {
                    let node = add_child(&mut nodes, last, item.offset);
                    nodes[node].is_link = is_link;
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

    /// Returns the innermost element around each of `words`, byte ranges of the sentence. An
    /// element around only a part of a word counts too; of several that do not contain each other,
    /// it is the one with most of the word's bytes.
    fn elements_around(&self, words: &[Range<usize>]) -> Vec<usize> {
        let mut elements = vec![(Self::ROOT, 0); words.len()];
        for (number, node) in self.nodes.iter().enumerate() {
            let inside = overlapping(words, &node.bytes);
            steps::count(inside.len());
            for word in inside {
                let shared =
                    words[word].end.min(node.bytes.end) - words[word].start.max(node.bytes.start);
                let (other, most) = elements[word];
                let is_deeper = number < self.nodes[other].end;
                if shared > 0 && (is_deeper || shared > most) {
                    elements[word] = (number, shared);
                }
            }
        }
        elements.into_iter().map(|(element, _)| element).collect()
    }
}

fn add_child(nodes: &mut Vec<Node>, parent: usize, offset: usize) -> usize {
    let number = nodes.len();
    nodes.push(Node { parent, bytes: offset..offset, ..Node::default() });
    nodes[parent].contents.push(Content { child: Some(number), item: 0, span: 0..0 });
    number
}

/// The words of an element that its children enclose so far.
struct TakenWords {
    /// The first word of the element.
    start: usize,
    /// Whether a child encloses each word.
    words: Vec<bool>,
    /// Whether each word is in the same child as the previous word, so that nothing can be placed
    /// between them.
    is_joined: Vec<bool>,
    is_empty: bool,
}

impl TakenWords {
    fn new(span: Range<usize>) -> Self {
        let none = vec![false; span.len() + 1];
        TakenWords { start: span.start, words: none.clone(), is_joined: none, is_empty: true }
    }

    fn take(&mut self, range: Range<usize>) {
        let range = range.start - self.start..range.end - self.start;
        self.words[range.clone()].fill(true);
        self.is_joined[range.start + 1..range.end].fill(true);
        self.is_empty = false;
    }

    fn has_word(&self, word: usize) -> bool {
        self.words[word - self.start]
    }

    /// Whether the gap before `word` is inside a child.
    fn has_joined(&self, word: usize) -> bool {
        self.is_joined[word - self.start]
    }
}

/// The assignment of words of the translation to elements.
struct Placer<'a> {
    items: &'a [InlineItem],
    /// The word alignment.
    links: &'a WordLinks,
    /// The element of each word of the translation.
    owners: Vec<usize>,
    /// The number of bytes of the sentence.
    length: usize,
}

impl Placer<'_> {
    /// Gives the words of `span` to a node, and parts of them to its children.
    fn place(&self, nodes: &mut [Node], node: usize, span: Range<usize>) {
        nodes[node].span = span.clone();
        let mut contents = std::mem::take(&mut nodes[node].contents);
        let children = contents.iter().filter_map(|content| content.child);
        let mut children: Vec<_> = children
            .map(|child| {
                (
                    self.owners[span.clone()]
                        .iter()
                        .filter(|owner| (child..nodes[child].end).contains(*owner))
                        .count(),
                    child,
                )
            })
            .collect();
        // Elements that continue outside the sentence come first, because they must be at its
        // beginning or end. Then come elements with few words, because those with many words might
        // leave none for them.
        fn is_whole(child: usize, nodes: &[Node]) -> bool {
            nodes[child].tags.iter().all(Option::is_some)
        }
        children.sort_by_key(|&(count, child)| (is_whole(child, nodes), count, child));
        let mut taken = TakenWords::new(span.clone());
        let mut ranges: Vec<Option<Range<usize>>> = Vec::with_capacity(children.len());
        for &(count, child) in &children {
            let range = self.best_range(nodes, node, child, count, &span, &taken);
            if let Some(range) = &range {
                taken.take(range.clone());
            }
            ranges.push(range);
        }
        if children.iter().zip(&ranges).any(
            |(&(_, child), range): (&(usize, usize), &Option<Range<usize>>)| {
                range.as_ref().map_or(0, Range::len) < nodes[child].demand
            },
        ) {
            ranges = self.joint_ranges(nodes, node, &children, &ranges, &span);
            taken = TakenWords::new(span.clone());
            ranges.iter().flatten().for_each(|range| taken.take(range.clone()));
        }
        // Elements and marks without words are placed between the elements that continue outside
        // the sentence.
        let mut gaps = span.clone();
        for (&(_, child), range) in children.iter().zip(&ranges) {
            match (nodes[child].tags, range) {
                ([None, _], Some(range)) => gaps.start = range.end,
                ([_, None], Some(range)) => gaps.end = range.start,
                _ => {}
            }
        }
        for (&(_, child), range) in children.iter().zip(ranges) {
            nodes[child].span = match (range, nodes[child].tags) {
                (Some(range), _) => range,
                (None, [None, _]) => span.start..span.start,
                (None, [_, None]) => span.end..span.end,
                (None, _) => {
                    let is_attached = self.begins_with_mark(&nodes[child]);
                    let start = nodes[child].bytes.start;
                    let place = self.best_gap(start, is_attached, &span, &gaps, &taken);
                    place..place
                }
            };
        }
        for content in &mut contents {
            content.span = match content.child {
                Some(child) => nodes[child].span.clone(),
                None => {
                    let item = &self.items[content.item];
                    let is_attached = is_attached(item);
                    let place = self.best_gap(item.offset, is_attached, &span, &gaps, &taken);
                    place..place
                }
            };
        }
        // Contents without words come before others at the same place; otherwise the order of the
        // page is kept.
        contents.sort_by_key(|content| (content.span.start, !content.span.is_empty()));
        nodes[node].contents = contents;
        for (_, child) in children {
            let span = nodes[child].span.clone();
            self.place(nodes, child, span);
        }
    }

    /// Returns the contribution of a word to the score of a range for a child of `node`: positive
    /// for a word of the child, strongly negative for a word of another child. Other words cost
    /// less, so that they may lie between the child's own words.
    fn value(&self, nodes: &[Node], node: usize, child: usize, word: usize) -> i64 {
        match self.owners[word] {
            owner if (child..nodes[child].end).contains(&owner) => 2,
            owner if owner > node && owner < nodes[node].end => -3,
            _ => -1,
        }
    }

    /// Whether the first content of an element is a mark that belongs to the word before it.
    fn begins_with_mark(&self, node: &Node) -> bool {
        let first = node.contents.first().filter(|content| content.child.is_none());
        first.is_some_and(|content| is_attached(&self.items[content.item]))
    }

    /// Returns ranges of `span` for all `children` (number of own words, node) of `node`. They have
    /// the largest sum of scores among all choices that give each child the words that it needs.
    /// `ranges`, which were found one by one, decide the order of the children.
    fn joint_ranges(
        &self,
        nodes: &[Node],
        node: usize,
        children: &[(usize, usize)],
        ranges: &[Option<Range<usize>>],
        span: &Range<usize>,
    ) -> Vec<Option<Range<usize>>> {
        // A child without own words in the span follows its predecessor in the sentence.
        let mut by_source: Vec<usize> = (0..children.len()).collect();
        by_source.sort_unstable_by_key(|&index| children[index].1);
        let mut centers = vec![0; children.len()];
        let mut last = span.start;
        for index in by_source {
            let (_, child) = children[index];
            let found = ranges[index].as_ref().map(|range| range.start);
            last = found
                .or_else(|| {
                    span.clone()
                        .find(|word| (child..nodes[child].end).contains(&self.owners[*word]))
                })
                .unwrap_or(last);
            centers[index] = last;
        }
        // The group of a child in the order: 0 if it continues before the sentence, 2 if it
        // continues after it, else 1.
        fn side(index: usize, nodes: &[Node], children: &[(usize, usize)]) -> i32 {
            match nodes[children[index].1].tags {
                [None, _] => 0,
                [_, None] => 2,
                _ => 1,
            }
        }
        let mut order: Vec<usize> =
            (0..children.len()).filter(|&index| nodes[children[index].1].demand > 0).collect();
        order.sort_by_key(|&index| {
            (side(index, nodes, children), centers[index], children[index].1)
        });
        steps::count(order.len() * span.len());
        // Dynamic programming over the children in this order. `best[n]` is the best sum of scores
        // of the children so far within the first n words. The `begin[n]` of a child is the start
        // of its range if the range ends at n, otherwise `None`.
        let length = span.len();
        let mut best = vec![Some(0i64); length + 1];
        let mut begins = Vec::with_capacity(order.len());
        for &index in &order {
            let child = children[index].1;
            let mut sums = vec![0i64; length + 1];
            for word in 0..length {
                sums[word + 1] = sums[word] + self.value(nodes, node, child, span.start + word);
            }
            let mut next = vec![None; length + 1];
            let mut begin = vec![None; length + 1];
            // The best start so far, and its value.
            let mut from: Option<(i64, usize)> = None;
            for end in nodes[child].demand..=length {
                let start = end - nodes[child].demand;
                if let Some(value) = best[start].map(|value| value - sums[start])
                    && (side(index, nodes, children) != 0 || start == 0)
                    && from.is_none_or(|(most, _)| value > most)
                {
                    from = Some((value, start));
                }
                let own = from.map(|(value, start)| (value + sums[end], start));
                let may_end = side(index, nodes, children) != 2 || end == length;
                let before = if end > 0 { next[end - 1] } else { None };
                match own.filter(|(value, _)| may_end && before.is_none_or(|other| *value > other))
                {
                    Some((value, start)) => (next[end], begin[end]) = (Some(value), Some(start)),
                    None => next[end] = before,
                }
            }
            best = next;
            begins.push(begin);
        }
        let mut found = vec![None; children.len()];
        let mut end = length;
        for (&index, begin) in order.iter().zip(&begins).rev() {
            while end > 0 && begin[end].is_none() {
                end -= 1;
            }
            if let Some(start) = begin[end] {
                found[index] = Some(span.start + start..span.start + end);
                end = start;
            }
        }
        found
    }

    /// Returns the range with the best score among the free words of `span`, for a child of `node`
    /// with `count` own words; `None` if it gets no words.
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
        steps::count(span.len());
        let [start, end] = nodes[child].tags;
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
            sum += self.value(nodes, node, child, word);
            // For an element that ends after the sentence, see below.
            if sum > best.0 && end.is_some() {
                best = (sum, from..word + 1);
            }
        }
        if end.is_none() {
            // An element that ends after the sentence gets the best range that reaches the end.
            let mut sum = 0i64;
            for word in span.clone().rev() {
                if taken.has_word(word) {
                    break;
                }
                sum += self.value(nodes, node, child, word);
                if sum > best.0 {
                    best = (sum, word..span.end);
                }
            }
        }
        Some(best.1).filter(|range| !range.is_empty())
    }

    /// Returns the gap between words of `span` in which to place an item at byte `offset` of the
    /// sentence, as the number of the next word. Among the gaps within `gaps` and outside the
    /// ranges in `taken`, it is the gap that the fewest links cross. Ties prefer the gap after the
    /// translation of the previous word, then the most similar relative position. An item that is
    /// attached to the previous word follows the translation of this word in any case.
    fn best_gap(
        &self,
        offset: usize,
        is_attached: bool,
        span: &Range<usize>,
        gaps: &Range<usize>,
        taken: &TakenWords,
    ) -> usize {
        let is_before = |word: usize| self.links.source[word].start < offset;
        // A link crosses if it connects a source word before the offset with a target word after
        // the gap, or a source word after the offset with a target word before the gap.
        let mut crossing: usize = span
            .clone()
            .map(|word| self.links.sources[word].iter().filter(|&&s| is_before(s)).count())
            .sum();
        let total = self.links.sources.len().max(1);
        let neighbour =
            self.links.source.partition_point(|word| word.start < offset).checked_sub(1);
        let follows = |gap: usize| {
            let before = gap.checked_sub(1).filter(|_| gap > span.start);
            neighbour.zip(before).is_some_and(|(s, t)| self.links.sources[t].contains(&s))
        };
        let mut best = None;
        steps::count(span.len());
        for gap in span.start..=span.end {
            if gap > span.start {
                let sources = &self.links.sources[gap - 1];
                let before = sources.iter().filter(|&&s| is_before(s)).count();
                crossing = crossing + (sources.len() - before) - before;
            }
            let is_free = (gaps.start..=gaps.end).contains(&gap) && !taken.has_joined(gap);
            let distance = (gap * self.length).abs_diff(offset * total);
            let key = (is_attached && !follows(gap), crossing, !follows(gap), distance);
            if is_free && best.is_none_or(|(other, _)| key < other) {
                best = Some((key, gap));
            }
        }
        best.map_or(gaps.start, |(_, gap)| gap)
    }
}

/// Whether a mark belongs to the word before it.
fn is_attached(item: &InlineItem) -> bool {
    item.kind == InlineItemKind::Mark(MarkKind::Attached) && !item.is_after_space
}
