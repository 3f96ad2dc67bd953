//! MurmurHash64A with seed 0, which gives the ids of source words in ProbingPT
//! (`docs/spec/phrase-decoding.md` 2.4). Miriam's own formats use XXH3.

const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
const SHIFT: u32 = 47;

/// Returns the hash of `bytes`.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut hash = (bytes.len() as u64).wrapping_mul(MULTIPLIER);
    let (words, tail) = bytes.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word).wrapping_mul(MULTIPLIER);
        let word = (word ^ (word >> SHIFT)).wrapping_mul(MULTIPLIER);
        hash = (hash ^ word).wrapping_mul(MULTIPLIER);
    }
    if !tail.is_empty() {
        let mut last = [0; 8];
        last[..tail.len()].copy_from_slice(tail);
        hash = (hash ^ u64::from_le_bytes(last)).wrapping_mul(MULTIPLIER);
    }
    hash = (hash ^ (hash >> SHIFT)).wrapping_mul(MULTIPLIER);
    hash ^ (hash >> SHIFT)
}

#[cfg(test)]
mod tests {
    use super::hash;

    /// Words with their ids in tables built by Moses' tools: words of fewer and of more than 8
    /// bytes, and one with bytes above 127. The hash of an empty text is 0.
    #[test]
    fn ids_are_those_in_moses_tables() {
        assert_eq!(hash(b"wollen"), 5_315_391_596_849_353_911);
        assert_eq!(hash(b"actuel"), 8_122_164_692_582_249_219);
        assert_eq!(hash(b"constitutionnel"), 3_312_557_853_194_893_236);
        assert_eq!(hash("überdachungen".as_bytes()), 5_689_839_363_023_501_293);
        assert_eq!(hash(b"."), 2_466_615_745_961_202_537);
        assert_eq!(hash(b""), 0);
    }
}
