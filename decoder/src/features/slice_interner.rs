//! Rows of numbers, each stored once a sentence and named by a `u32`: what states
//! are made of.

use hashbrown::HashTable;

/// The rows of a sentence.
#[derive(Default)]
pub(super) struct SliceInterner {
    numbers: Vec<u32>,
    /// Where each row ends.
    ends: Vec<u32>,
    ids: HashTable<u32>,
}

impl SliceInterner {
    /// Forgets everything but the memory.
    pub(super) fn clear(&mut self) {
        self.numbers.clear();
        self.ends.clear();
        self.ids.clear();
    }

    /// The name of `row`: from 0 on, by first appearance.
    pub(super) fn intern(&mut self, row: &[u32]) -> u32 {
        let hash = hash(row);
        if let Some(&id) = self.ids.find(hash, |&id| self.get(id) == row) {
            return id;
        }
        let id = self.ends.len() as u32;
        self.numbers.extend_from_slice(row);
        self.ends.push(self.numbers.len() as u32);
        let SliceInterner { numbers, ends, ids } = self;
        ids.insert_unique(hash, id, |&id| self::hash(slice(numbers, ends, id)));
        id
    }

    /// The row called `id`.
    pub(super) fn get(&self, id: u32) -> &[u32] {
        slice(&self.numbers, &self.ends, id)
    }
}

fn slice<'a>(numbers: &'a [u32], ends: &[u32], id: u32) -> &'a [u32] {
    let start = match id.checked_sub(1) {
        Some(before) => ends[before as usize],
        None => 0,
    };
    &numbers[start as usize..ends[id as usize] as usize]
}

fn hash(row: &[u32]) -> u64 {
    let hash = row.iter().fold(row.len() as u64, |hash, &number| {
        (hash ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)
    });
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_have_one_id() {
        let mut slices = SliceInterner::default();
        for round in 0..2 {
            slices.clear();
            let rows: Vec<Vec<u32>> =
                (0..200).map(|n| (0..n % 20).map(|i| i * n / 20).collect()).collect();
            let ids: Vec<u32> = rows.iter().map(|row| slices.intern(row)).collect();
            for (row, &id) in rows.iter().zip(&ids) {
                assert_eq!(slices.get(id), row, "round {round}");
                for (other, &other_id) in rows.iter().zip(&ids) {
                    assert_eq!(row == other, id == other_id);
                }
            }
        }
    }
}
