//! All keys that are prefixes of a text, shortest first.
//!
//! Nodes lie level by level, the children of one side by side in the order of their
//! bytes. So building is one pass over the sorted keys.

#[derive(Clone, Copy)]
struct Node {
    byte: u8,
    children: u32,
    first_child: u32,
    /// The key's value plus one; 0: no key ends here.
    value: u32,
}

/// Keys of bytes with a number each.
pub struct Trie {
    /// The root first.
    nodes: Vec<Node>,
}

impl Trie {
    /// A trie of distinct keys; values are below 2^32 - 1.
    pub fn new<'a>(keys: impl Iterator<Item = (u32, &'a [u8])>) -> Self {
        let mut keys: Vec<(&[u8], u32)> = keys.map(|(value, key)| (key, value)).collect();
        keys.sort_unstable();
        let mut nodes = vec![Node { byte: 0, children: 0, first_child: 0, value: 0 }];
        // The keys below each node of the level, as ranges.
        let mut level = vec![(0, 0..keys.len())];
        let mut depth = 0;
        while !level.is_empty() {
            let mut next = Vec::new();
            for (node, range) in level {
                let mut at = range.start;
                if keys[at..range.end].first().is_some_and(|(key, _)| key.len() == depth) {
                    nodes[node].value = keys[at].1 + 1;
                    at += 1;
                }
                nodes[node].first_child = nodes.len() as u32;
                while at < range.end {
                    let byte = keys[at].0[depth];
                    let same = keys[at..range.end].partition_point(|(key, _)| key[depth] == byte);
                    next.push((nodes.len(), at..at + same));
                    nodes.push(Node { byte, children: 0, first_child: 0, value: 0 });
                    nodes[node].children += 1;
                    at += same;
                }
            }
            level = next;
            depth += 1;
        }
        Trie { nodes }
    }

    /// Calls `found` with the length and the value of every key that `text` begins with.
    #[inline]
    pub fn prefixes(&self, text: &[u8], mut found: impl FnMut(usize, u32)) {
        let mut node = self.nodes[0];
        for (length, &byte) in (1..).zip(text) {
            let first = node.first_child as usize;
            let children = &self.nodes[first..first + node.children as usize];
            let Ok(child) = children.binary_search_by_key(&byte, |child| child.byte) else {
                return;
            };
            node = children[child];
            if node.value > 0 {
                found(length, node.value - 1);
            }
        }
    }

    /// The length of the longest key that `text` begins with.
    pub fn longest(&self, text: &[u8]) -> Option<usize> {
        let mut longest = None;
        self.prefixes(text, |length, _| longest = Some(length));
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_the_prefixes_that_a_list_has(
            keys in proptest::collection::btree_set("[abc]{1,4}", 0..30), text in "[abc]{0,8}",
        ) {
            let keys: Vec<String> = keys.into_iter().collect();
            let trie = Trie::new((0..).zip(keys.iter().map(|key| key.as_bytes())));
            let mut found = Vec::new();
            trie.prefixes(text.as_bytes(), |length, value| found.push((length, value)));
            let mut expected: Vec<(usize, u32)> = (0..).zip(&keys)
                .filter(|(_, key)| text.starts_with(key.as_str()))
                .map(|(value, key)| (key.len(), value)).collect();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
