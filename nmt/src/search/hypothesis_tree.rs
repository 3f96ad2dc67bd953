//! All hypotheses of a sentence as a tree of tokens with back-pointers.
//!
//! Most hypotheses die soon, and the live ones share most tokens. Nodes that neither a live nor a
//! finished hypothesis reaches are pruned from time to time. So memory grows with the length of a
//! translation, and not with the number of expansions. This matters because nodes refer to rows of
//! attention, which are large for a source of thousands of tokens.

/// The parent of first tokens: the empty hypothesis.
pub(super) const ROOT: u32 = u32::MAX;

/// A token of a hypothesis.
#[derive(Clone, Copy, Debug)]
struct TreeNode {
    parent: u32,
    token: u32,
    score: f32,
    /// The attention row of the step that chose the token.
    attention: u32,
}

/// The tokens of all hypotheses with their scores and attention.
#[derive(Clone, Debug, Default)]
pub(super) struct HypothesisTree {
    nodes: Vec<TreeNode>,
    attention: Vec<f32>,
    /// The length of an attention row; 0 if attention is not kept.
    source_length: usize,
    /// The number of nodes at which pruning is due.
    prune_threshold: usize,
}

/// The smallest number of nodes worth pruning.
const MIN_NODES_TO_PRUNE: usize = 1 << 10;

impl HypothesisTree {
    /// Removes all nodes. Attention rows will have `width` weights.
    pub fn reset(&mut self, width: usize) {
        self.nodes.clear();
        self.attention.clear();
        self.source_length = width;
        self.prune_threshold = MIN_NODES_TO_PRUNE;
    }

    /// Adds a token that was chosen with attention row `attention`; returns its node.
    pub fn push(&mut self, parent: u32, word: u32, score: f32, attention: usize) -> u32 {
        self.nodes.push(TreeNode { parent, token: word, score, attention: attention as u32 });
        self.nodes.len() as u32 - 1
    }

    /// Returns the number of attention rows.
    pub fn attention_rows(&self) -> usize {
        self.attention.len().checked_div(self.source_length).unwrap_or(0)
    }

    /// Adds an attention row `[source]`.
    pub fn push_attention(&mut self, weights: &[f32]) {
        debug_assert_eq!(weights.len(), self.source_length);
        self.attention.extend_from_slice(weights);
    }

    /// Whether [`prune`](Self::prune) is due.
    pub fn needs_pruning(&self) -> bool {
        self.nodes.len() >= self.prune_threshold
    }

    /// Keeps only the hypotheses that end in `nodes`, which are renumbered.
    pub fn prune<'a>(&mut self, nodes: impl Iterator<Item = &'a mut u32>) {
        let mut nodes: Vec<&mut u32> = nodes.collect();
        // The new number of each node and of each attention row that is kept.
        let mut kept = vec![ROOT; self.nodes.len()];
        let mut rows = vec![ROOT; self.attention_rows()];
        for node in &nodes {
            let mut at = **node;
            while at != ROOT && kept[at as usize] == ROOT {
                kept[at as usize] = 0;
                let node = &self.nodes[at as usize];
                if let Some(row) = rows.get_mut(node.attention as usize) {
                    *row = 0;
                }
                at = node.parent;
            }
        }
        renumber(&mut kept);
        let rows_kept = renumber(&mut rows);
        for (row, to) in rows.iter().enumerate().filter(|(_, to)| **to != ROOT) {
            let from = row * self.source_length;
            self.attention
                .copy_within(from..from + self.source_length, *to as usize * self.source_length);
        }
        self.attention.truncate(rows_kept * self.source_length);
        let mut at = 0;
        self.nodes.retain_mut(|node| {
            // A parent comes before its children.
            node.parent = kept.get(node.parent as usize).copied().unwrap_or(ROOT);
            node.attention = rows.get(node.attention as usize).copied().unwrap_or(0);
            at += 1;
            kept[at - 1] != ROOT
        });
        nodes
            .iter_mut()
            .for_each(|node| **node = kept.get(**node as usize).copied().unwrap_or(ROOT));
        self.prune_threshold = MIN_NODES_TO_PRUNE.max(2 * self.nodes.len());
    }

    /// Returns the nodes of a hypothesis from the last to the first.
    fn ancestors(&self, node: u32) -> impl Iterator<Item = &TreeNode> {
        let first = self.nodes.get(node as usize);
        std::iter::successors(first, |node| self.nodes.get(node.parent as usize))
    }

    /// Collects the tokens of a hypothesis.
    pub fn collect_tokens(&self, node: u32, words: &mut Vec<u32>) {
        words.clear();
        words.extend(self.ancestors(node).map(|node| node.token));
        words.reverse();
    }

    /// Returns the scores of the tokens of a hypothesis.
    pub fn scores(&self, node: u32) -> Vec<f32> {
        let mut scores: Vec<f32> = self.ancestors(node).map(|node| node.score).collect();
        scores.reverse();
        scores
    }

    /// Returns the attention of the tokens of a hypothesis, `[target, source]`; empty if attention
    /// is not kept.
    pub fn alignment(&self, node: u32) -> Vec<Vec<f32>> {
        if self.source_length == 0 {
            return Vec::new();
        }
        let mut rows: Vec<Vec<f32>> = self
            .ancestors(node)
            .map(|node| {
                self.attention[node.attention as usize * self.source_length..][..self.source_length]
                    .to_vec()
            })
            .collect();
        rows.reverse();
        rows
    }
}

/// Renumbers the entries that are not [`ROOT`] from 0 on; returns their count.
fn renumber(list: &mut [u32]) -> usize {
    let kept = list.iter_mut().filter(|at| **at != ROOT);
    (0..).zip(kept).map(|(number, at)| *at = number).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pruning_keeps_reachable_nodes() {
        let mut tree = HypothesisTree::default();
        tree.reset(2);
        // Two rows and two tokens a step.
        let mut live = [ROOT, ROOT];
        let mut all = Vec::new();
        for step in 0..6u32 {
            let first = tree.attention_rows();
            (0..2).for_each(|row| tree.push_attention(&[step as f32, row as f32]));
            let a = tree.push(live[1], 10 * step, -0.5, first + 1);
            let b = tree.push(live[0], 10 * step + 1, -1.0, first);
            live = [a, b];
            all.push(a);
        }
        let contents = |tree: &HypothesisTree, node: u32| {
            let mut words = Vec::new();
            tree.collect_tokens(node, &mut words);
            (words, tree.scores(node), tree.alignment(node))
        };
        let mut kept = [live[0], all[2], ROOT];
        let before = kept.map(|node| contents(&tree, node));
        assert_eq!(before[0].0, [1, 10, 21, 30, 41, 50]);
        tree.prune(kept.iter_mut());
        assert_eq!(kept.map(|node| contents(&tree, node)), before);
        assert_eq!((tree.nodes.len(), tree.attention_rows()), (9, 9));
        // Pruning once more, after one more token.
        tree.push_attention(&[7.0, 7.0]);
        kept[0] = tree.push(kept[0], 60, -2.0, tree.attention_rows() - 1);
        kept[1] = ROOT;
        let before = contents(&tree, kept[0]);
        tree.prune(kept.iter_mut());
        assert_eq!(contents(&tree, kept[0]), before);
        assert_eq!((tree.nodes.len(), tree.attention_rows()), (7, 7));
    }
}
