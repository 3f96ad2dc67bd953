//! Shares of B-trees that are a single node, among all trees of a model and among those that the
//! queries of a text search (Bogoychev 2019, section 4.5.2, which calls them B-stumps).
//!
//! The tree of an n-gram holds the words that precede it. Frequent words have large trees and are
//! searched often, so the share among searches is lower than the share among trees.

use std::fmt::Write as _;
use std::path::Path;

use miriam_glm::format::NodeWidth;
use miriam_lmcpu::sorted::SortedModel;
use miriam_textio::Output;

use super::NODE_WIDTHS;
use crate::error::Result;
use crate::synthetic::Text;

/// Numbers of trees by the order of the n-grams that they hold, from bigrams on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeSizes {
    /// What is counted: `trees`, or the searches of a text with its name.
    pub counted: String,
    /// By order, from 2 on.
    pub by_order: Vec<TreeCount>,
}

/// Numbers of trees that hold n-grams of one order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeCount {
    pub all: u64,
    /// Those that are a single node, by node width as in [`NODE_WIDTHS`].
    pub single_node: [u64; NODE_WIDTHS.len()],
}

impl TreeCount {
    /// Adds a tree of this number of n-grams; an empty tree is none.
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
        TreeSizes { counted: "trees".into(), by_order: by_order.collect() }
    }

    /// Counts the trees that are searched to score each word of a text, a tree as often as it is
    /// searched.
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

    /// Returns the shares of trees that are a single node of the widest kind, as a line of text.
    pub fn summary(&self) -> String {
        let widest = NODE_WIDTHS.len() - 1;
        let shares = self.by_order.iter().map(|count| match count.all {
            0 => "-".into(),
            all => format!("{:.3}", count.single_node[widest] as f64 / all as f64),
        });
        format!(
            "{} of n-grams of 2, 3, .. words that are one node of {} keys: {}",
            self.counted,
            NODE_WIDTHS[widest].keys(),
            shares.collect::<Vec<String>>().join(" ")
        )
    }
}

/// Writes `trees.csv` to `folder`.
///
/// # Errors
/// If the file cannot be written.
pub fn write_csv(all: &[TreeSizes], folder: &Path) -> Result<()> {
    let mut csv = String::from("counted,order,node_width,trees,single_node,share\n");
    for TreeSizes { counted, by_order } in all {
        // File names may contain separators of CSV.
        let counted = counted.replace([',', '"', '\n'], "_");
        for (order, count) in (2..).zip(by_order) {
            for (single, width) in count.single_node.iter().zip(NODE_WIDTHS.map(NodeWidth::keys)) {
                let share = *single as f64 / count.all.max(1) as f64;
                let _ =
                    writeln!(csv, "{counted},{order},{width},{},{single},{share:.4}", count.all);
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
        assert!(trees.summary().ends_with(" 1.000"), "{}", trees.summary());
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
