//! Hypotheses that were recombined into better ones (`docs/spec/phrase-decoding.md` 3.14). They are
//! discarded if only the best translation is wanted. For n-best lists and search graphs, they are
//! kept as arcs of the lattice.
//!
//! The choice is a type, so a search that discards arcs does no work for them. Arcs are stored
//! separately until the stack is read. Then the arcs of the surviving hypotheses are appended to
//! the hypotheses, and a [`Lattice`] maps each survivor to its arcs. The arcs of pruned hypotheses
//! are dropped.

use std::ops::Range;

use super::ordered_bits::ordered_bits;
use crate::hypothesis::{Hypothesis, HypothesisId};

/// The recombined hypotheses of one stack, by entry of the stack.
pub(crate) trait RecombinedArcs: Default {
    /// Whether anything is kept.
    const KEEPS_ARCS: bool;

    /// Begins a stack.
    fn clear(&mut self);

    /// Records a new hypothesis, stored as `entry`.
    fn record_new(&mut self, entry: u32);

    /// Records that the hypothesis of `entry`, `arc`, is replaced by a better one.
    fn record_replaced(&mut self, entry: u32, arc: &Hypothesis);

    /// Records that `arc` is not better than the hypothesis of `entry`.
    fn record_rejected(&mut self, entry: u32, arc: &Hypothesis);

    /// Records that the hypothesis of `entry` survives and becomes the next hypothesis of the
    /// search.
    fn record_survivor(&mut self, entry: u32);

    /// Sorts the arcs of the survivors by total; of equal totals, the older comes first. All
    /// survivors must have been recorded.
    fn sort_arcs(&mut self) -> ArcOrder;

    /// Appends the sorted arcs to `hypotheses`, with the joint states of their survivors, and
    /// records them in `lattice`. `first` is the number of the first survivor in `hypotheses`.
    fn append_to_lattice(
        &mut self,
        first: u32,
        hypotheses: &mut Vec<Hypothesis>,
        lattice: &mut Lattice,
    );
}

/// The criterion that decided the order of arcs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ArcOrder {
    /// No survivor has two arcs of the same total.
    ByTotal,
    /// The time of arrival decided the order of some arcs.
    ByAge,
}

/// A store that drops all arcs.
#[derive(Default)]
pub(crate) struct Discard;

const _: () = assert!(size_of::<Discard>() == 0);

impl RecombinedArcs for Discard {
    const KEEPS_ARCS: bool = false;

    #[inline(always)]
    fn clear(&mut self) {}

    #[inline(always)]
    fn record_new(&mut self, _: u32) {}

    #[inline(always)]
    fn record_replaced(&mut self, _: u32, _: &Hypothesis) {}

    #[inline(always)]
    fn record_rejected(&mut self, _: u32, _: &Hypothesis) {}

    #[inline(always)]
    fn record_survivor(&mut self, _: u32) {}

    #[inline(always)]
    fn sort_arcs(&mut self) -> ArcOrder {
        ArcOrder::ByTotal
    }

    #[inline(always)]
    fn append_to_lattice(&mut self, _: u32, _: &mut Vec<Hypothesis>, _: &mut Lattice) {}
}

/// A store that keeps arcs, in buffers that are reused.
#[derive(Default)]
pub(crate) struct Keep {
    arcs: Vec<RecombinedArc>,
    entries: Vec<StackEntry>,
    /// Entries whose hypotheses survive, in the order of the hypotheses.
    survivors: Vec<u32>,
    /// The number of arrivals so far, which is the age of the next.
    next_age: u32,
    /// The arcs of survivors in order: the survivor's rank, the arc's total and age, and
    /// its index, which takes the lowest 32 bits.
    order: Vec<u128>,
}

struct RecombinedArc {
    entry: u32,
    age: u32,
    hypothesis: Hypothesis,
}

/// An entry of the stack, without its hypothesis.
#[derive(Clone, Copy, Default)]
struct StackEntry {
    /// The age of its hypothesis.
    age: u32,
    /// The first arc of its hypothesis. Earlier arcs of the entry belong to a hypothesis that was
    /// pruned.
    first_arc: u32,
    /// One more than its rank among the survivors; 0 if it does not survive.
    survivor_rank: u32,
}

impl Keep {
    fn take_age(&mut self) -> u32 {
        self.next_age += 1;
        self.next_age - 1
    }
}

impl RecombinedArcs for Keep {
    const KEEPS_ARCS: bool = true;

    fn clear(&mut self) {
        self.arcs.clear();
        self.entries.clear();
        self.survivors.clear();
        self.next_age = 0;
    }

    fn record_new(&mut self, entry: u32) {
        if self.entries.len() <= entry as usize {
            self.entries.resize(entry as usize + 1, StackEntry::default());
        }
        let first_arc = self.arcs.len() as u32;
        self.entries[entry as usize] =
            StackEntry { age: self.take_age(), first_arc, survivor_rank: 0 };
    }

    fn record_replaced(&mut self, entry: u32, arc: &Hypothesis) {
        let age = self.entries[entry as usize].age;
        self.arcs.push(RecombinedArc { entry, age, hypothesis: *arc });
        self.entries[entry as usize].age = self.take_age();
    }

    fn record_rejected(&mut self, entry: u32, arc: &Hypothesis) {
        let age = self.take_age();
        self.arcs.push(RecombinedArc { entry, age, hypothesis: *arc });
    }

    fn record_survivor(&mut self, entry: u32) {
        self.survivors.push(entry);
        self.entries[entry as usize].survivor_rank = self.survivors.len() as u32;
    }

    fn sort_arcs(&mut self) -> ArcOrder {
        self.order.clear();
        for (i, arc) in self.arcs.iter().enumerate() {
            let entry = self.entries[arc.entry as usize];
            if entry.survivor_rank > 0 && i >= entry.first_arc as usize {
                let rank =
                    u64::from(!ordered_bits(arc.hypothesis.total)) << 32 | u64::from(arc.age);
                let key =
                    u128::from(entry.survivor_rank - 1) << 96 | u128::from(rank) << 32 | i as u128;
                self.order.push(key);
            }
        }
        self.order.sort_unstable();
        if self.order.windows(2).any(|two| two[0] >> 64 == two[1] >> 64) {
            ArcOrder::ByAge
        } else {
            ArcOrder::ByTotal
        }
    }

    fn append_to_lattice(
        &mut self,
        first: u32,
        hypotheses: &mut Vec<Hypothesis>,
        lattice: &mut Lattice,
    ) {
        lattice.arcs.resize(hypotheses.len(), (0, 0));
        for &key in &self.order {
            let winner = first as usize + (key >> 96) as usize;
            let arc = hypotheses.len() as u32;
            let joint_state = hypotheses[winner].joint_state;
            let hypothesis = self.arcs[key as u32 as usize].hypothesis;
            hypotheses.push(Hypothesis { joint_state, ..hypothesis });
            let arcs = &mut lattice.arcs[winner];
            if arcs.1 == 0 {
                arcs.0 = arc;
            }
            arcs.1 += 1;
        }
        lattice.arcs.resize(hypotheses.len(), (0, 0));
    }
}

/// The hypotheses that were recombined into each hypothesis.
#[derive(Default)]
pub(crate) struct Lattice {
    /// The first arc and the number of arcs, by hypothesis.
    arcs: Vec<(u32, u32)>,
}

impl Lattice {
    /// Begins a sentence. Its initial hypothesis has no arcs.
    pub(crate) fn start(&mut self) {
        self.arcs.clear();
        self.arcs.push((0, 0));
    }

    /// Returns the hypotheses recombined into `winner`, by total and then by age.
    pub(crate) fn recombined(&self, winner: HypothesisId) -> Range<u32> {
        let (first, count) = self.arcs[winner.0 as usize];
        first..first + count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translation_options::OptionId;

    /// Returns a hypothesis without its joint state, as waves record arcs.
    fn hypothesis(total: f32, option: u32) -> Hypothesis {
        Hypothesis { total, option: OptionId(option), ..Hypothesis::initial(0) }
    }

    #[test]
    fn recombined_arcs_follow_their_winner_by_total_and_age() {
        let mut kept = Keep::default();
        kept.clear();
        kept.record_new(0);
        kept.record_new(1);
        kept.record_rejected(0, &hypothesis(-3.0, 10));
        kept.record_replaced(0, &hypothesis(-3.0, 0));
        kept.record_rejected(1, &hypothesis(-9.0, 20));
        kept.record_rejected(0, &hypothesis(-2.5, 11));
        // Pruned and stored again: its earlier arcs are gone.
        kept.record_new(2);
        kept.record_rejected(2, &hypothesis(-4.0, 30));
        kept.record_new(2);
        kept.record_rejected(2, &hypothesis(-5.0, 31));
        kept.record_survivor(2);
        kept.record_survivor(0);
        let mut hypotheses = vec![hypothesis(0.0, 0), hypothesis(-1.0, 2), hypothesis(-2.0, 1)];
        hypotheses[2].joint_state = 7;
        let mut lattice = Lattice::default();
        lattice.start();
        assert_eq!(kept.sort_arcs(), ArcOrder::ByAge);
        kept.append_to_lattice(1, &mut hypotheses, &mut lattice);
        let options = |winner| -> Vec<u32> {
            let arcs = lattice.recombined(HypothesisId(winner));
            arcs.map(|id| hypotheses[id as usize].option.0).collect()
        };
        assert!(options(0).is_empty());
        assert_eq!(options(1), [31]);
        assert_eq!(options(2), [11, 0, 10], "of equals the older");
        assert_eq!(hypotheses.len(), 7, "entry 1 was not kept");
        assert!(options(6).is_empty());
        let mut arcs = lattice.recombined(HypothesisId(2));
        assert!(arcs.all(|id| hypotheses[id as usize].joint_state == 7), "as their survivor");
    }
}
