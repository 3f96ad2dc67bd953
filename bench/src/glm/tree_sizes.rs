//! Shares of B-trees that are a single node, among all trees of a model and among the trees that
//! are searched to score a text (Bogoychev 2019, section 4.5.2, calls such trees B-stumps).
//!
//! The tree of an n-gram holds the words that precede it. Frequent words have large trees, which
//! are searched often, so the share among searches is lower than the share among trees.

use std::fmt::Write as _;
use std::path::Path;

use miriam_glm::format::NodeWidth;
use miriam_lmcpu::sorted::SortedModel;
use miriam_textio::Output;

use super::NODE_WIDTHS;
use crate::error::Result;
use crate::synthetic::Text;

/// The index of the largest width in [`NODE_WIDTHS`].
const WIDEST: usize = NODE_WIDTHS.len() - 1;

/// Numbers of trees by order. A tree of order n holds n-grams of n words; the lowest order is 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeSizes {
    /// What is counted: [`ALL_TREES`], or `searches of` and the name of a text.
    pub counted: String,
    /// The number of trees of each order, from 2 on.
    pub by_order: Vec<TreeCount>,
}

/// The value of [`TreeSizes::counted`] if all trees of a model are counted.
const ALL_TREES: &str = "trees";

/// Numbers of trees that hold n-grams of one order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeCount {
    /// The number of trees.
    pub all: u64,
    /// The number of trees that are a single node, for each node width of [`NODE_WIDTHS`].
    pub single_node: [u64; NODE_WIDTHS.len()],
}

impl TreeCount {
    /// Adds a tree of `ngrams` n-grams; an empty tree is not counted.
    fn add(&mut self, ngrams: usize) {
        if ngrams == 0 {
            return;
        }
        self.all += 1;
        for (count, width) in self.single_node.iter_mut().zip(NODE_WIDTHS) {
            *count += u64::from(ngrams <= width.keys());
        }
    }
}

impl TreeSizes {
    /// Counts all trees of a model.
    pub fn all_trees(model: &SortedModel) -> Self {
        let levels = &model.trie.levels;
        let by_order = levels[..levels.len() - 1].iter().map(|nodes| {
            let mut count = TreeCount::default();
            for at in 0..nodes.len() as u32 {
                count.add(nodes.children_of(at).len());
            }
            count
        });
        TreeSizes { counted: ALL_TREES.into(), by_order: by_order.collect() }
    }

    /// Counts the trees that are searched to score the words of `text`, which is called `name`. A
    /// tree counts as often as it is searched.
    pub fn searched_by(model: &SortedModel, name: &str, text: &Text) -> Self {
        let order = model.trie.levels.len();
        let mut by_order = vec![TreeCount::default(); order - 1];
        for sentence in text.sentences() {
            for at in 0..sentence.len() {
                let left = sentence[..=at].iter().rev().copied();
                let mut words = left.chain([model.bos_id]).take(order);
                let mut found = words.next();
                for ((length, word), count) in (1..).zip(words).zip(&mut by_order) {
                    let Some(node) = found else { break };
                    count.add(model.trie.levels[length - 1].children_of(node).len());
                    found = model.trie.child(length, node, word);
                }
            }
        }
        TreeSizes { counted: format!("searches of {name}"), by_order }
    }

    /// Returns the shares of trees that are a single node of the largest width, by order.
    fn widest_shares(&self) -> impl Iterator<Item = String> {
        self.by_order.iter().map(|count| match count.all {
            0 => "-".into(),
            all => format!("{:.3}", count.single_node[WIDEST] as f64 / all as f64),
        })
    }
}

/// Returns the lines of a table of the shares of trees that are a single node of the largest width:
/// first the shares of the thesis, then those of `all`.
pub fn table(all: &[TreeSizes]) -> Vec<String> {
    let max_order = 1 + all.iter().map(|sizes| sizes.by_order.len()).max().unwrap_or(0);
    let heading = format!("trees of one node of {} keys, by order", NODE_WIDTHS[WIDEST].keys());
    let orders = (2..=max_order).map(|order| order.to_string());
    let published = (2..=max_order).map(|order| {
        let bound = if order > 3 { ">" } else { "" };
        format!("{bound}{:.2}", published_share(order))
    });
    let mut lines =
        vec![table_line(&heading, orders), table_line("the thesis, 31 keys", published)];
    lines.extend(all.iter().map(|sizes| table_line(&sizes.counted, sizes.widest_shares())));
    lines
}

fn table_line(label: &str, cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.map(|cell| format!(" {cell:>6}")).collect();
    format!("{label:<40}{}", cells.concat())
}

/// Returns the thesis' share of trees that are a single node, among trees of n-grams of this order.
/// Above order 3 it is a lower bound.
fn published_share(order: usize) -> f64 {
    match order {
        2 => 0.88,
        3 => 0.97,
        _ => 0.99,
    }
}

/// Writes `trees.csv` to `folder`. Rows for all trees and the largest node width also have the
/// thesis' shares.
///
/// # Errors
/// If the file cannot be written.
pub fn write_csv(all: &[TreeSizes], folder: &Path) -> Result<()> {
    let mut csv = String::from("counted,order,node_width,trees,single_node,share,paper_share\n");
    for TreeSizes { counted, by_order } in all {
        let is_published = counted == ALL_TREES;
        // File names may contain separators of CSV.
        let counted = counted.replace([',', '"', '\n'], "_");
        for (order, count) in (2..).zip(by_order) {
            for (single, width) in count.single_node.iter().zip(NODE_WIDTHS.map(NodeWidth::keys)) {
                let all = count.all;
                let share = *single as f64 / all.max(1) as f64;
                let _ = write!(csv, "{counted},{order},{width},{all},{single},{share:.4},");
                if is_published && width == NODE_WIDTHS[WIDEST].keys() {
                    let _ = write!(csv, "{:.2}", published_share(order));
                }
                csv.push('\n');
            }
        }
    }
    Ok(Output::write_file(&folder.join("trees.csv"), csv.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{SyntheticOptions, TextKind};

    #[test]
    fn counts_are_those_of_the_ngrams_that_extend_each_ngram() {
        let model = SyntheticOptions { ngrams: 60_000, order: 4, seed: 5 }.generate_model();
        let trees = TreeSizes::all_trees(&model);
        assert_eq!(trees.by_order.len(), 3);
        for (nodes, count) in model.trie.levels.iter().zip(&trees.by_order) {
            let sizes = nodes.children.windows(2).map(|ends| ends[1] - ends[0]);
            let sizes: Vec<u32> = sizes.filter(|&size| size > 0).collect();
            assert_eq!(count.all, sizes.len() as u64);
            for (single, keys) in count.single_node.iter().zip([8, 16, 32]) {
                let expected = sizes.iter().filter(|&&size| size <= keys).count();
                assert_eq!(*single, expected as u64, "{keys} keys");
            }
        }
        assert!(trees.by_order[0].single_node[0] < trees.by_order[0].single_node[2]);
        let lines = table(&[trees]);
        assert!(lines[0].ends_with("by order        2      3      4"), "{lines:?}");
        assert!(lines[1].ends_with("   0.88   0.97  >0.99"), "{lines:?}");
        assert!(lines[2].starts_with("trees ") && lines[2].ends_with(" 1.000"), "{lines:?}");
    }

    #[test]
    fn a_search_ends_where_an_ngram_is_unknown() {
        let model = SyntheticOptions { ngrams: 60_000, order: 4, seed: 5 }.generate_model();
        let text = Text::sample(&model, TextKind::HeldOut, 6_000, 1);
        let searched = TreeSizes::searched_by(&model, "text", &text);
        let matches = text.match_length_counts(&model);
        for (length, count) in (2..).zip(&searched.by_order) {
            // A word is found in a tree that is searched, or the search ends there.
            let found: u64 = matches[length - 1..].iter().sum();
            let reached: u64 = matches[length - 2..].iter().sum();
            assert!(found <= count.all && count.all <= reached, "{length}: {count:?}");
        }
        // Frequent words have the largest trees.
        let share = |sizes: &TreeSizes| {
            sizes.by_order[0].single_node[2] as f64 / sizes.by_order[0].all as f64
        };
        assert!(share(&searched) < share(&TreeSizes::all_trees(&model)));
    }
}
