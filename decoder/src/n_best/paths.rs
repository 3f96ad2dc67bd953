//! The best paths through a lattice, one after another (`phrase-decoding.md`
//! 3.14).
//!
//! A path begins as a complete hypothesis and all that leads to it; every other
//! path is an earlier one with one more deviation: at one of its hypotheses
//! (counted from the last phrase, behind the deviations there are) it takes a
//! hypothesis that lost to it. So a path is its parent and one deviation, 24
//! bytes, and its hypotheses are listed when it is reached.
//!
//! The losers of a hypothesis are ordered by score, and so are the deviations to
//! them: only the best not yet taken waits in the queue, the next one follows
//! when it is taken. Moses2 queues all at once; the order is the same.

use std::collections::BinaryHeap;
use std::ops::Range;

use crate::search::{Hypothesis, HypothesisId, Lattice, ascending};

/// What a search left.
#[derive(Clone, Copy)]
pub(crate) struct Space<'a> {
    pub(crate) hypotheses: &'a [Hypothesis],
    pub(crate) lattice: &'a Lattice,
}

/// A complete translation, as a deviation from an earlier one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// The path it deviates from; nothing for a complete hypothesis.
    pub(crate) parent: Option<PathId>,
    /// At which hypothesis, counted from the last phrase.
    edge: u32,
    /// What stands there now: for a path without parent the complete hypothesis.
    pub(crate) hypothesis: HypothesisId,
    /// What stood there; the same for a path without parent.
    pub(crate) replaced: HypothesisId,
    /// The model score.
    pub(crate) total: f32,
}

/// The number of a path, in the order in which they are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathId(pub(crate) u32);

/// The paths of a sentence, in buffers that are reused.
#[derive(Default)]
pub(crate) struct Paths {
    found: Vec<Path>,
    /// Score (ascending) above age (descending) of those that wait.
    queue: BinaryHeap<u64>,
    waiting: Vec<Waiting>,
    /// The hypotheses of the path found last, the last phrase first.
    nodes: Vec<HypothesisId>,
    deviations: Vec<(u32, HypothesisId)>,
}

/// A path that waits for its turn, and the losers that may take its place.
struct Waiting {
    path: Path,
    others: Range<u32>,
}

impl Paths {
    /// Begins with the complete hypotheses.
    pub(crate) fn start(&mut self, space: Space<'_>, complete: Range<u32>) {
        self.found.clear();
        self.queue.clear();
        self.waiting.clear();
        for id in complete.map(HypothesisId) {
            let total = space.hypotheses[id.0 as usize].total;
            let path = Path { parent: None, edge: 0, hypothesis: id, replaced: id, total };
            self.wait(Waiting { path, others: 0..0 });
        }
    }

    /// The path of this number.
    pub(crate) fn path(&self, id: PathId) -> Path {
        self.found[id.0 as usize]
    }

    /// The hypotheses of the path found last, the last phrase first.
    pub(crate) fn nodes(&self) -> &[HypothesisId] {
        &self.nodes
    }

    /// Finds the best path that was not found before.
    pub(crate) fn next(&mut self, space: Space<'_>) -> Option<PathId> {
        let number = !(self.queue.pop()? as u32);
        let Waiting { path, ref others } = self.waiting[number as usize];
        let others = others.clone();
        if let Some(parent) = path.parent {
            self.deviate(space, parent, path.edge, path.replaced, others);
        }
        let id = PathId(self.found.len() as u32);
        self.found.push(path);
        self.list_nodes(space, path);
        let first = if path.parent.is_some() { path.edge as usize + 1 } else { 0 };
        for edge in first..self.nodes.len() {
            let node = self.nodes[edge];
            self.deviate(space, id, edge as u32, node, space.lattice.losers(node));
        }
        Some(id)
    }

    /// Queues the deviation of `parent` from `node` to the first of `losers`.
    fn deviate(
        &mut self,
        space: Space<'_>,
        parent: PathId,
        edge: u32,
        node: HypothesisId,
        mut losers: Range<u32>,
    ) {
        let Some(loser) = losers.next() else { return };
        let total_of = |id: u32| space.hypotheses[id as usize].total;
        let total = self.found[parent.0 as usize].total + total_of(loser) - total_of(node.0);
        let hypothesis = HypothesisId(loser);
        let path = Path { parent: Some(parent), edge, hypothesis, replaced: node, total };
        self.wait(Waiting { path, others: losers });
    }

    fn wait(&mut self, waiting: Waiting) {
        let number = self.waiting.len() as u32;
        self.queue.push(u64::from(ascending(waiting.path.total)) << 32 | u64::from(!number));
        self.waiting.push(waiting);
    }

    /// Lists the hypotheses of `path`.
    fn list_nodes(&mut self, space: Space<'_>, path: Path) {
        self.deviations.clear();
        let mut from = path;
        while let Some(parent) = from.parent {
            self.deviations.push((from.edge, from.hypothesis));
            from = self.found[parent.0 as usize];
        }
        self.nodes.clear();
        let mut id = from.hypothesis;
        loop {
            if let Some(&(edge, hypothesis)) = self.deviations.last()
                && edge as usize == self.nodes.len()
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
