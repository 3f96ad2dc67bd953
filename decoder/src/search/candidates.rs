//! The hypotheses of a stack: recombination and histogram pruning (`docs/spec/phrase-decoding.md`
//! 3.8 to 3.10).
//!
//! A set holds one or more groups (the mini-stacks of cube pruning, or one for a stack), each with
//! its own limit. Two candidates of a group are recombined if they have the same coverage, last
//! span and joint state, as far as features depend on these. Forward reordering scores are ignored,
//! as in Moses2, unless recombination is exact and they are part of the joint state. Everything
//! lives in flat buffers that are reused.

use super::lattice::{Discard, RecombinedArcs};
use super::ordered_bits::ordered_bits;
use crate::features::RecombinationKey;
use crate::hypothesis::Hypothesis;

/// The bounds of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackLimits {
    /// The number of hypotheses kept per group.
    pub(crate) size: usize,
    /// The beam, a natural logarithm.
    pub(crate) beam: f32,
}

struct Group {
    size: usize,
    best: f32,
    worst: f32,
    /// Hypotheses that score less will be rejected from now on.
    floor: f32,
}

#[derive(Clone, Copy)]
struct Candidate {
    hypothesis: Hypothesis,
    group: u32,
    /// Whether it has not been pruned.
    is_alive: bool,
}

/// The hypotheses of one stack, and the store of recombined hypotheses.
#[derive(Default)]
pub(crate) struct Candidates<L = Discard> {
    entries: Vec<Candidate>,
    groups: Vec<Group>,
    /// A hash table with open addressing: numbers of entries, each with its generation. Slots of
    /// other generations are empty.
    slots: Vec<(u32, u32)>,
    generation: u32,
    /// Scratch: ranks of all groups.
    order: Vec<u64>,
    /// Scratch: for each group, the index of its first rank in `order`.
    group_offsets: Vec<usize>,
    pub(crate) recombined: L,
}

impl<L: RecombinedArcs> Candidates<L> {
    /// Removes everything but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.groups.clear();
        self.recombined.clear();
        if self.slots.is_empty() {
            self.slots.resize(1 << 10, (0, 0));
        }
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.slots.fill((0, 0));
            self.generation = 1;
        }
    }

    /// Adds `hypothesis` to `group`, unless its score is too low or it is recombined into a better
    /// hypothesis.
    #[inline]
    pub(crate) fn add(
        &mut self,
        group: u32,
        hypothesis: Hypothesis,
        key: RecombinationKey,
        limits: StackLimits,
    ) {
        while self.groups.len() <= group as usize {
            let (best, worst, floor) = (f32::NEG_INFINITY, f32::INFINITY, f32::NEG_INFINITY);
            self.groups.push(Group { size: 0, best, worst, floor });
        }
        if self.groups[group as usize].size > 2 * limits.size {
            self.prune(group, limits);
        }
        let state = &self.groups[group as usize];
        if state.size >= limits.size && hypothesis.future_score < state.worst {
            return;
        }
        let mask = self.slots.len() - 1;
        let mut slot = hash(group, &hypothesis, key) as usize & mask;
        let grown = loop {
            let (entry, stamp) = self.slots[slot];
            if stamp != self.generation {
                self.slots[slot] = (self.entries.len() as u32, self.generation);
                self.recombined.record_new(self.entries.len() as u32);
                self.entries.push(Candidate { hypothesis, group, is_alive: true });
                break true;
            }
            let stored = &mut self.entries[entry as usize];
            if stored.group == group && can_recombine(&stored.hypothesis, &hypothesis, key) {
                let grown = !stored.is_alive;
                if grown {
                    self.recombined.record_new(entry);
                } else if hypothesis.future_score <= stored.hypothesis.future_score {
                    self.recombined.record_rejected(entry, &hypothesis);
                    return;
                } else {
                    self.recombined.record_replaced(entry, &stored.hypothesis);
                }
                stored.hypothesis = hypothesis;
                stored.is_alive = true;
                break grown;
            }
            slot = (slot + 1) & mask;
        };
        let state = &mut self.groups[group as usize];
        state.size += usize::from(grown);
        let future = hypothesis.future_score;
        if future > state.best {
            state.best = future;
            state.worst = state.worst.max(state.best + limits.beam);
        } else if state.size <= limits.size && future < state.worst {
            state.worst = future;
        }
        if self.entries.len() * 2 > self.slots.len() {
            self.grow(key);
        }
    }

    /// Returns the floor of `group`: every later hypothesis that scores less will be rejected,
    /// whatever is added before it.
    #[inline]
    pub(crate) fn floor(&self, group: u32) -> f32 {
        self.groups.get(group as usize).map_or(f32::NEG_INFINITY, |group| group.floor)
    }

    /// Prunes a group that has more than twice its limit, as Moses2 does. Moses2's loop over the
    /// excess compares with the shrinking size, so it removes only half of the excess, and the
    /// group is pruned again sooner. That matters under a tight beam, because pruning lowers the
    /// score below which new hypotheses are rejected.
    fn prune(&mut self, group: u32, limits: StackLimits) {
        self.order.clear();
        for (i, entry) in self.entries.iter().enumerate() {
            if entry.is_alive && entry.group == group {
                self.order.push(rank(entry.hypothesis.future_score, i));
            }
        }
        self.order.sort_unstable();
        fn entry_of(rank: u64) -> usize {
            rank as u32 as usize
        }
        let last = entry_of(self.order[limits.size - 1]);
        let state = &mut self.groups[group as usize];
        state.worst = self.entries[last].hypothesis.future_score;
        // The group stays full, and only a better hypothesis pushes out its worst one. (`worst` may
        // fall: the beam raises it, and the next pruning lowers it again.)
        state.floor = state.worst;
        let surplus = self.order.len() - limits.size;
        let dropped = surplus.div_ceil(2);
        state.size = self.order.len() - dropped;
        for &rank in &self.order[limits.size..limits.size + dropped] {
            self.entries[entry_of(rank)].is_alive = false;
        }
    }

    fn grow(&mut self, key: RecombinationKey) {
        let size = self.slots.len() * 2;
        self.slots.clear();
        self.slots.resize(size, (0, 0));
        for (i, entry) in self.entries.iter().enumerate() {
            let mut slot = hash(entry.group, &entry.hypothesis, key) as usize & (size - 1);
            while self.slots[slot].1 == self.generation {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = (i as u32, self.generation);
        }
    }

    /// Visits the survivors of each group, group by group, at most `limits.size` in each. The best
    /// come first; of equal scores, the older.
    pub(crate) fn drain(&mut self, limits: StackLimits, mut visit: impl FnMut(u32, &Hypothesis)) {
        let Candidates { entries, groups, order, group_offsets: next_ranks, recombined, .. } = self;
        next_ranks.clear();
        let mut alive = 0;
        for group in &*groups {
            next_ranks.push(alive);
            alive += group.size;
        }
        order.clear();
        order.resize(alive, 0);
        for (i, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.is_alive) {
            let next = &mut next_ranks[entry.group as usize];
            order[*next] = rank(entry.hypothesis.future_score, i);
            *next += 1;
        }
        let mut rest = &mut order[..];
        for (group, Group { size, .. }) in groups.iter().enumerate() {
            let (ranks, others) = rest.split_at_mut(*size);
            rest = others;
            ranks.sort_unstable();
            for &rank in ranks.iter().take(limits.size) {
                recombined.record_survivor(rank as u32);
                visit(group as u32, &entries[rank as u32 as usize].hypothesis);
            }
        }
    }
}

/// Returns a sort key: the best score comes first; of equal scores, the older entry.
fn rank(future: f32, entry: usize) -> u64 {
    u64::from(!ordered_bits(future)) << 32 | entry as u64
}

#[inline]
fn can_recombine(a: &Hypothesis, b: &Hypothesis, key: RecombinationKey) -> bool {
    a.joint_state == b.joint_state
        && a.coverage == b.coverage
        && (!key.uses_start || a.span.start == b.span.start)
        && (!key.uses_end || a.span.end == b.span.end)
}

#[inline]
fn hash(group: u32, hypothesis: &Hypothesis, key: RecombinationKey) -> u64 {
    let start = if key.uses_start { hypothesis.span.start } else { 0 };
    let end = if key.uses_end { hypothesis.span.end } else { 0 };
    let key = u64::from(hypothesis.coverage.0) << 32 | u64::from(start) << 16 ^ u64::from(end);
    let mixed = (key ^ u64::from(group) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29 ^ u64::from(hypothesis.joint_state))
        .wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::CoverageId;
    use proptest::prelude::*;

    const KEY: RecombinationKey = RecombinationKey { uses_start: true, uses_end: true };

    /// A plain list with the rules of `docs/spec/phrase-decoding.md` 3.10 and Moses2's loop for
    /// pruning.
    struct Reference {
        stored: Vec<(u32, f32, u32)>,
        best: f32,
        worst: f32,
    }

    impl Reference {
        fn add(&mut self, state: u32, future: f32, age: u32, limit: usize, beam: f32) {
            if self.stored.len() > 2 * limit {
                self.stored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.2.cmp(&b.2)));
                self.worst = self.stored[limit - 1].1;
                let mut i = limit;
                while i < self.stored.len() {
                    // As in Moses2, the end of the list moves while entries are removed.
                    self.stored.remove(limit);
                    i += 1;
                }
            }
            if self.stored.len() >= limit && future < self.worst {
                return;
            }
            match self.stored.iter_mut().find(|s| s.0 == state) {
                Some(old) if future > old.1 => old.1 = future,
                Some(_) => return,
                None => self.stored.push((state, future, age)),
            }
            if future > self.best {
                self.best = future;
                if self.best + beam > self.worst {
                    self.worst = self.best + beam;
                }
            } else if self.stored.len() <= limit && future < self.worst {
                self.worst = future;
            }
        }
    }

    proptest! {
        #[test]
        fn keeps_the_hypotheses_of_the_reference(
            arrivals in proptest::collection::vec((0u32..40, -50i32..0), 0..200),
            limit in 1usize..12, beam in prop_oneof![Just(-11.5f32), Just(-0.1)],
        ) {
            let limits = StackLimits { size: limit, beam };
            let mut reference = Reference { stored: vec![], best: f32::NEG_INFINITY, worst: f32::INFINITY };
            let mut candidates = Candidates::<Discard>::default();
            candidates.clear();
            for (age, &(state, future)) in arrivals.iter().enumerate() {
                // Distinct scores, so that ages of replaced entries do not matter.
                let future = future as f32 - age as f32 / 1000.0;
                reference.add(state, future, age as u32, limit, beam);
                let hypothesis = Hypothesis { joint_state: state, future_score: future, coverage: CoverageId(1), ..Hypothesis::initial(0) };
                candidates.add(0, hypothesis, KEY, limits);
            }
            reference.stored.sort_by(|a, b| b.1.total_cmp(&a.1));
            reference.stored.truncate(limit);
            let mut kept = Vec::new();
            candidates.drain(limits, |_, h| kept.push((h.joint_state, h.future_score)));
            let expected: Vec<_> = reference.stored.iter().map(|s| (s.0, s.1)).collect();
            prop_assert_eq!(kept, expected);
        }
    }
}
