//! The best paths through a lattice, one after another (`docs/spec/phrase-decoding.md`
//! 3.14).
//!
//! The first paths are complete hypotheses, each with all hypotheses that lead to it. Every other
//! path is an earlier path with one more deviation: one hypothesis of the path is replaced by a
//! hypothesis that was recombined into it. Counted from the last phrase, the new deviation comes
//! after all others. So a path is stored as its parent and one deviation, in 24 bytes. Its
//! hypotheses are listed when the path is found.
//!
//! The arcs of a hypothesis are ordered by score, and so are the deviations to them. So only the
//! best of these deviations waits in the queue; when it is taken, the next one follows. Moses2
//! queues all of them at once; the order is the same.

use std::collections::BinaryHeap;
use std::ops::Range;

use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::search::{Lattice, ordered_bits};

/// The result of a search.
#[derive(Clone, Copy)]
pub(crate) struct SearchGraph<'a> {
    pub(crate) hypotheses: &'a [Hypothesis],
    pub(crate) lattice: &'a Lattice,
}

/// A complete translation, as a deviation from an earlier one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// The path it deviates from; `None` for a complete hypothesis.
    pub(crate) parent: Option<PathId>,
    /// The index of the replaced hypothesis, counted from the last phrase.
    deviation_index: u32,
    /// The hypothesis at this index; for a path without parent, the complete hypothesis.
    pub(crate) hypothesis: HypothesisId,
    /// The hypothesis that `hypothesis` replaces; for a path without parent, both are the same.
    pub(crate) replaced: HypothesisId,
    /// The model score.
    pub(crate) total: f32,
}

/// The number of a path. Paths are numbered in the order in which they are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathId(pub(crate) u32);

/// The paths of a sentence, in buffers that are reused.
#[derive(Default)]
pub(crate) struct PathQueue {
    found: Vec<Path>,
    /// For each pending path, its score in the upper 32 bits and its inverted number in the lower
    /// ones. So the best path comes first, and of equal paths the oldest.
    queue: BinaryHeap<u64>,
    pending: Vec<PendingPath>,
    /// The hypotheses of the path found last, the last phrase first.
    nodes: Vec<HypothesisId>,
    deviations: Vec<(u32, HypothesisId)>,
}

/// A path in the queue, and the arcs that are to be tried after it for the same deviation.
struct PendingPath {
    path: Path,
    remaining_arcs: Range<u32>,
}

impl PathQueue {
    /// Begins with the complete hypotheses.
    pub(crate) fn start(&mut self, space: SearchGraph<'_>, complete: Range<u32>) {
        self.found.clear();
        self.queue.clear();
        self.pending.clear();
        for id in complete.map(HypothesisId) {
            let total = space.hypotheses[id.0 as usize].total;
            let path =
                Path { parent: None, deviation_index: 0, hypothesis: id, replaced: id, total };
            self.push_pending(PendingPath { path, remaining_arcs: 0..0 });
        }
    }

    /// Returns the path of this number.
    pub(crate) fn path(&self, id: PathId) -> Path {
        self.found[id.0 as usize]
    }

    /// Returns the hypotheses of the path found last, the last phrase first.
    pub(crate) fn nodes(&self) -> &[HypothesisId] {
        &self.nodes
    }

    /// Finds the best path that was not found before.
    pub(crate) fn pop_best(&mut self, space: SearchGraph<'_>) -> Option<PathId> {
        let number = !(self.queue.pop()? as u32);
        let PendingPath { path, remaining_arcs: ref others } = self.pending[number as usize];
        let others = others.clone();
        if let Some(parent) = path.parent {
            self.push_deviation(space, parent, path.deviation_index, path.replaced, others);
        }
        let id = PathId(self.found.len() as u32);
        self.found.push(path);
        self.list_nodes(space, path);
        let first = if path.parent.is_some() { path.deviation_index as usize + 1 } else { 0 };
        for index in first..self.nodes.len() {
            let node = self.nodes[index];
            self.push_deviation(space, id, index as u32, node, space.lattice.recombined(node));
        }
        Some(id)
    }

    /// Queues the deviation of `parent` from `node` to the first of `arcs`.
    fn push_deviation(
        &mut self,
        space: SearchGraph<'_>,
        parent: PathId,
        index: u32,
        node: HypothesisId,
        mut arcs: Range<u32>,
    ) {
        let Some(arc) = arcs.next() else { return };
        let [added, removed] = [arc, node.0].map(|id| space.hypotheses[id as usize].total);
        let total = self.found[parent.0 as usize].total + added - removed;
        let hypothesis = HypothesisId(arc);
        let path = Path {
            parent: Some(parent),
            deviation_index: index,
            hypothesis,
            replaced: node,
            total,
        };
        self.push_pending(PendingPath { path, remaining_arcs: arcs });
    }

    fn push_pending(&mut self, waiting: PendingPath) {
        let number = self.pending.len() as u32;
        self.queue.push(u64::from(ordered_bits(waiting.path.total)) << 32 | u64::from(!number));
        self.pending.push(waiting);
    }

    /// Lists the hypotheses of `path`.
    fn list_nodes(&mut self, space: SearchGraph<'_>, path: Path) {
        self.deviations.clear();
        let mut from = path;
        while let Some(parent) = from.parent {
            self.deviations.push((from.deviation_index, from.hypothesis));
            from = self.found[parent.0 as usize];
        }
        self.nodes.clear();
        let mut id = from.hypothesis;
        loop {
            if let Some(&(index, hypothesis)) = self.deviations.last()
                && index as usize == self.nodes.len()
            {
                id = hypothesis;
                self.deviations.pop();
            }
            let hypothesis = &space.hypotheses[id.0 as usize];
            if hypothesis.is_initial() {
                break;
            }
            self.nodes.push(id);
            id = hypothesis.previous;
        }
    }
}
