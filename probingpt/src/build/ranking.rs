//! First-seen ids of every worker to final ids: frequent first.
//!
//! Ties go by the text's bytes, so that nothing depends on who saw what first.

use super::interner::Interner;

/// The final order of one dictionary.
pub(crate) struct Ranking {
    /// For each final id: a worker that has it and its id there.
    pub order: Vec<(usize, u32)>,
    /// For each worker: its ids to final ids.
    pub maps: Vec<Vec<u32>>,
}

impl Ranking {
    /// The ranking of what `interners` (one a worker) hold and still count,
    /// grouped by tag, frequent first within a tag.
    pub fn new(interners: &[&Interner]) -> Self {
        let mut together = Interner::new();
        let mut first_holder = Vec::new();
        let mut maps = Vec::with_capacity(interners.len());
        for (worker, interner) in interners.iter().enumerate() {
            let mut map = vec![u32::MAX; interner.len()];
            for id in (0..interner.len() as u32).filter(|&id| interner.count(id) > 0) {
                let (text, tag) = (interner.text(id), interner.tag(id));
                let (common, new) = together.intern(text, tag, interner.count(id));
                map[id as usize] = common;
                if new {
                    first_holder.push((worker, id));
                }
            }
            maps.push(map);
        }
        let mut ids: Vec<u32> = (0..together.len() as u32).collect();
        ids.sort_unstable_by(|&a, &b| {
            let key = |id| (together.tag(id), std::cmp::Reverse(together.count(id)));
            key(a).cmp(&key(b)).then_with(|| together.text(a).cmp(together.text(b)))
        });
        let mut ranks = vec![u32::MAX; ids.len()];
        for (rank, &id) in ids.iter().enumerate() {
            ranks[id as usize] = rank as u32;
        }
        for id in maps.iter_mut().flatten().filter(|id| **id != u32::MAX) {
            *id = ranks[*id as usize];
        }
        Ranking { order: ids.iter().map(|&id| first_holder[id as usize]).collect(), maps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_first_then_by_text_whoever_saw_it() {
        let mut one = Interner::new();
        let mut two = Interner::new();
        for text in ["b", "c", "d", "d"] {
            one.intern(text.as_bytes(), 0, 1);
        }
        for text in ["a", "d", "c"] {
            two.intern(text.as_bytes(), 0, 1);
        }
        two.intern(b"gone", 0, 1);
        two.decrement_count(3);
        let ranking = Ranking::new(&[&one, &two]);
        let texts: Vec<_> =
            ranking.order.iter().map(|&(worker, id)| [&one, &two][worker].text(id)).collect();
        assert_eq!(texts, [b"d", b"c", b"a", b"b"]);
        assert_eq!(ranking.maps, [vec![3, 1, 0], vec![2, 0, 1, u32::MAX]]);
    }
}
