//! Ranking of the texts of all workers by frequency, which gives them their final ids.
//!
//! Of equally frequent texts, the one with the smaller bytes comes first, so that the order of
//! appearance has no influence.

use super::interner::Interner;

/// The final ids of one dictionary.
pub(crate) struct Ranking {
    /// For each final id, a worker that has the text, and the text's id in that worker.
    pub order: Vec<(usize, u32)>,
    /// For each worker and each of its ids, the final id; `u32::MAX` if the worker's count is 0.
    pub maps: Vec<Vec<u32>>,
}

impl Ranking {
    /// Ranks the texts whose count is not 0, by tag and then by descending count. `interners` has
    /// one interner for each worker.
    pub fn new(interners: &[&Interner]) -> Self {
        let mut merged = Interner::new();
        let mut first_holder = Vec::new();
        let mut maps = Vec::with_capacity(interners.len());
        for (worker, interner) in interners.iter().enumerate() {
            let mut map = vec![u32::MAX; interner.len()];
            for id in (0..interner.len() as u32).filter(|&id| interner.count(id) > 0) {
                let (text, tag) = (interner.text(id), interner.tag(id));
                let (merged_id, is_new) = merged.intern(text, tag, interner.count(id));
                map[id as usize] = merged_id;
                if is_new {
                    first_holder.push((worker, id));
                }
            }
            maps.push(map);
        }
        let mut ids: Vec<u32> = (0..merged.len() as u32).collect();
        ids.sort_unstable_by(|&a, &b| {
            fn key(id: u32, merged: &Interner) -> (u32, std::cmp::Reverse<u64>) {
                (merged.tag(id), std::cmp::Reverse(merged.count(id)))
            }
            key(a, &merged).cmp(&key(b, &merged)).then_with(|| merged.text(a).cmp(merged.text(b)))
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
    fn ids_are_ranked_by_count_then_by_text() {
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
