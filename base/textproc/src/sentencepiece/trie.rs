//! Double-array trie (Aoe 1989) for common prefix search: all keys that are prefixes of a text,
//! shortest first.
//!
//! A step to a child is one load: the child's index is the node's base XOR the byte, and the child
//! names its parent. With a trie of sorted children and binary search, segmentation took 1.5 times
//! as long.

/// The number of free slots tried for a node's children before a new block is added.
const MAX_BASE_ATTEMPTS: usize = 32;
/// XOR with a byte stays within a block of this size.
const BLOCK_NODES: usize = 256;
/// The parent of a free slot.
const FREE: u32 = u32::MAX;
/// The parent of the root.
const ROOT_PARENT: u32 = u32::MAX - 1;

#[derive(Clone, Copy)]
struct Node {
    base: u32,
    parent: u32,
    /// The key's value plus one; 0 if no key ends here.
    value: u32,
}

/// A map from byte strings to numbers.
pub struct DoubleArrayTrie {
    /// The nodes; the first is the root.
    nodes: Vec<Node>,
}

impl DoubleArrayTrie {
    /// Returns a trie of distinct keys; values are below 2^32 - 1.
    pub fn new<'a>(keys: impl Iterator<Item = (u32, &'a [u8])>) -> Self {
        let mut keys: Vec<(&[u8], u32)> = keys.map(|(value, key)| (key, value)).collect();
        keys.sort_unstable();
        let mut trie = DoubleArrayTrie { nodes: Vec::new() };
        trie.add_block();
        trie.nodes[0].parent = ROOT_PARENT;
        // The first slot that may be free: earlier ones are taken or were hard to use.
        let mut first_free = 1;
        // The keys below each node, as ranges, level by level.
        let mut level = vec![(0, 0..keys.len())];
        let mut depth = 0;
        while !level.is_empty() {
            let mut next = Vec::new();
            for (node, range) in level {
                let mut at = range.start;
                if keys[at..range.end].first().is_some_and(|(key, _)| key.len() == depth) {
                    trie.nodes[node].value = keys[at].1 + 1;
                    at += 1;
                }
                let mut children = Vec::new();
                while at < range.end {
                    let byte = keys[at].0[depth];
                    let same = keys[at..range.end].partition_point(|(key, _)| key[depth] == byte);
                    children.push((byte, at..at + same));
                    at += same;
                }
                if children.is_empty() {
                    continue;
                }
                let base = trie.find_base(&children, &mut first_free);
                trie.nodes[node].base = base as u32;
                for (byte, keys) in children {
                    let slot = base ^ usize::from(byte);
                    trie.nodes[slot].parent = node as u32;
                    next.push((slot, keys));
                }
            }
            level = next;
            depth += 1;
        }
        trie
    }

    fn add_block(&mut self) {
        let free = Node { base: 0, parent: FREE, value: 0 };
        self.nodes.resize(self.nodes.len() + BLOCK_NODES, free);
    }

    /// Finds a base for which the slots of all children are free.
    fn find_base<T>(&mut self, children: &[(u8, T)], first_free: &mut usize) -> usize {
        let lowest = usize::from(children[0].0);
        fn is_free(nodes: &[Node], slot: usize) -> bool {
            nodes[slot].parent == FREE
        }
        while *first_free < self.nodes.len() && !is_free(&self.nodes, *first_free) {
            *first_free += 1;
        }
        let slots = (*first_free..self.nodes.len()).filter(|&at| is_free(&self.nodes, at));
        let mut tried = 0;
        for slot in slots.take(MAX_BASE_ATTEMPTS) {
            let base = slot ^ lowest;
            if children.iter().all(|(byte, _)| is_free(&self.nodes, base ^ usize::from(*byte))) {
                return base;
            }
            tried += 1;
        }
        if tried == MAX_BASE_ATTEMPTS {
            // Few nodes fit here; the next search begins a little further on.
            *first_free += 1;
        }
        let base = self.nodes.len();
        self.add_block();
        base
    }

    /// Calls `found` with the length and the value of every key that `text` begins with.
    #[inline]
    pub fn common_prefix_search(&self, text: &[u8], mut found: impl FnMut(usize, u32)) {
        let mut node = 0;
        let mut base = self.nodes[0].base;
        for (length, &byte) in (1..).zip(text) {
            let slot = base ^ u32::from(byte);
            let Some(child) = self.nodes.get(slot as usize).filter(|child| child.parent == node)
            else {
                return;
            };
            if child.value > 0 {
                found(length, child.value - 1);
            }
            (node, base) = (slot, child.base);
        }
    }

    /// Returns the length in bytes of the longest key that `text` begins with.
    pub fn longest_prefix(&self, text: &[u8]) -> Option<usize> {
        let mut longest = None;
        self.common_prefix_search(text, |length, _| longest = Some(length));
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn many_keys_of_all_bytes_are_found() {
        let keys: Vec<[u8; 3]> = (0..30_000u32)
            .map(|k| {
                let mixed = k.wrapping_mul(0x9e37_79b1);
                [(mixed >> 24) as u8, (mixed >> 16) as u8, (k >> 7) as u8]
            })
            .collect();
        let mut distinct = keys.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let trie = DoubleArrayTrie::new((0..).zip(distinct.iter().map(|key| &key[..])));
        for (value, key) in (0..).zip(&distinct) {
            let mut found = Vec::new();
            trie.common_prefix_search(key, |length, value| found.push((length, value)));
            assert_eq!(found, [(3, value)]);
        }
        for byte in 0..=255u8 {
            trie.common_prefix_search(&[byte, byte], |_, _| panic!("no key is so short"));
        }
    }

    proptest! {
        #[test]
        fn finds_the_prefixes_that_a_list_has(
            keys in proptest::collection::btree_set("[abc]{1,4}", 0..30), text in "[abc]{0,8}",
        ) {
            let keys: Vec<String> = keys.into_iter().collect();
            let trie = DoubleArrayTrie::new((0..).zip(keys.iter().map(|key| key.as_bytes())));
            let mut found = Vec::new();
            trie.common_prefix_search(text.as_bytes(), |length, value| found.push((length, value)));
            let mut expected: Vec<(usize, u32)> = (0..).zip(&keys)
                .filter(|(_, key)| text.starts_with(key.as_str()))
                .map(|(value, key)| (key.len(), value)).collect();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
