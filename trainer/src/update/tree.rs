//! Sum of the gradients of micro-batches.
//!
//! Sums of floats depend on their order. Micro-batches are added as the leaves of a binary tree
//! over their numbers, so the sum does not depend on which worker computed which of them. A worker
//! sums complete subtrees of its own micro-batches; the remaining nodes of the same tree are summed
//! afterwards (`docs/spec/training.md` A.3).

use std::ops::Range;

use miriam_storage::ZeroedVec;

use crate::Real;

/// A subtree that is complete, or that lacks leaves because it ends the tree: its level, its index
/// in the level, its sum.
struct Subtree<R: Real> {
    level: u32,
    index: usize,
    sum: ZeroedVec<R>,
}

/// Sums of consecutive micro-batches, at most two per level of the tree.
pub struct MicroBatchTree<R: Real> {
    subtrees: Vec<Subtree<R>>,
    /// Vectors for reuse.
    spare: Vec<ZeroedVec<R>>,
    len: usize,
}

/// Returns the numbers of the micro-batches that a worker computes. They are consecutive, and
/// the shares of workers differ by at most one.
pub fn worker_share(worker: usize, workers: usize, micro_batches: usize) -> Range<usize> {
    (worker * micro_batches).div_ceil(workers)..((worker + 1) * micro_batches).div_ceil(workers)
}

impl<R: Real> MicroBatchTree<R> {
    /// Creates a tree for vectors of `len` numbers.
    pub fn new(len: usize) -> Self {
        MicroBatchTree { subtrees: Vec::new(), spare: Vec::new(), len }
    }

    /// Returns a vector of the tree's length for a gradient, with arbitrary content.
    pub fn buffer(&mut self) -> ZeroedVec<R> {
        self.spare.pop().unwrap_or_else(|| ZeroedVec::new(self.len))
    }

    /// Adds the gradient of micro-batch `number`. Numbers must ascend.
    pub fn push(&mut self, number: usize, gradient: ZeroedVec<R>) {
        self.subtrees.push(Subtree { level: 0, index: number, sum: gradient });
        self.join_siblings();
    }

    /// Adds up the last two subtrees while they are children of one parent.
    fn join_siblings(&mut self) {
        while let [.., left, right] = &self.subtrees[..]
            && left.level == right.level
            && left.index % 2 == 0
            && left.index + 1 == right.index
        {
            let right = self.subtrees.pop().expect("there are two");
            let left = self.subtrees.last_mut().expect("there are two");
            add(&mut left.sum, &right.sum);
            (left.level, left.index) = (left.level + 1, left.index / 2);
            self.spare.push(right.sum);
        }
    }

    /// Returns the sum of the subtrees of all workers, in the order of micro-batches, or `None`
    /// without micro-batches. The trees are empty afterwards and keep their buffers.
    pub fn join(trees: &mut [&mut MicroBatchTree<R>]) -> Option<ZeroedVec<R>> {
        let (first, others) = trees.split_first_mut()?;
        for tree in &mut *others {
            for subtree in tree.subtrees.drain(..) {
                first.subtrees.push(subtree);
                first.join_siblings();
            }
        }
        // The right sibling of each remaining subtree is incomplete or missing. The last subtree
        // moves up to the level of the subtree before it, and its sum is added to that sum.
        while let [.., _, _] = first.subtrees[..] {
            let mut right = first.subtrees.pop().expect("there are two");
            let left = first.subtrees.last_mut().expect("there are two");
            while right.level < left.level {
                (right.level, right.index) = (right.level + 1, right.index / 2);
            }
            debug_assert_eq!(left.index + 1, right.index);
            add(&mut left.sum, &right.sum);
            (left.level, left.index) = (left.level + 1, left.index / 2);
            first.spare.push(right.sum);
        }
        // Vectors of the other trees have moved to the first tree. It gives each of these trees
        // half of its surplus.
        for tree in others {
            let missing = first.spare.len().saturating_sub(tree.spare.len()) / 2;
            tree.spare.extend(first.spare.drain(..missing));
        }
        first.subtrees.pop().map(|subtree| subtree.sum)
    }

    /// Returns the number of vectors that the tree has for reuse.
    pub(crate) fn num_spare(&self) -> usize {
        self.spare.len()
    }

    /// Takes a vector back for reuse.
    pub fn recycle(&mut self, buffer: ZeroedVec<R>) {
        self.spare.push(buffer);
    }
}

fn add<R: Real>(into: &mut [R], other: &[R]) {
    into.iter_mut().zip(other).for_each(|(into, &x)| *into += x);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the sum by a plain recursive tree.
    fn reference(micro_batches: &[f32]) -> f32 {
        match micro_batches.len() {
            1 => micro_batches[0],
            n => {
                let half = n.next_power_of_two() / 2;
                reference(&micro_batches[..half]) + reference(&micro_batches[half..])
            }
        }
    }

    #[test]
    fn sums_do_not_depend_on_workers() {
        for count in 1..40 {
            let micro_batches: Vec<f32> = (0..count).map(|i| 1.0 / (i as f32 + 0.37)).collect();
            for workers in 1..=8usize {
                let mut trees: Vec<MicroBatchTree<f32>> =
                    (0..workers).map(|_| MicroBatchTree::new(1)).collect();
                for (number, &x) in micro_batches.iter().enumerate() {
                    let tree = &mut trees[number * workers / count];
                    let mut gradient = tree.buffer();
                    gradient[0] = x;
                    tree.push(number, gradient);
                }
                let mut all: Vec<&mut MicroBatchTree<f32>> = trees.iter_mut().collect();
                let sum = MicroBatchTree::join(&mut all).unwrap();
                assert_eq!(
                    sum[0].to_bits(),
                    reference(&micro_batches).to_bits(),
                    "{count} {workers}"
                );
            }
        }
    }

    #[test]
    fn there_is_no_sum_without_micro_batches() {
        assert!(MicroBatchTree::<f32>::join(&mut [&mut MicroBatchTree::new(3)]).is_none());
    }
}
