//! Unsigned integers in LEB128, for temporary files: seven bits per byte, the lowest first.

/// Appends `value`, in one to ten bytes.
#[inline]
pub fn push_leb128(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Removes a number from the front of `bytes`; returns `None` if they end inside it or it has more
/// than 64 bits.
#[inline]
pub fn take_leb128(bytes: &mut &[u8]) -> Option<u64> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if shift >= 63 && (shift > 63 || bits > 1) {
            return None;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Some(value);
        }
        shift += 7;
    }
}

/// Reads the number at `*at` and moves `*at` past it.
///
/// # Panics
/// If `bytes` ends inside the number, or it has more than 64 bits.
#[inline]
pub fn read_leb128(bytes: &[u8], at: &mut usize) -> u64 {
    let first = bytes[*at];
    if first < 0x80 {
        *at += 1;
        return first.into();
    }
    let mut rest = &bytes[*at..];
    let value = take_leb128(&mut rest).expect("a complete number");
    *at = bytes.len() - rest.len();
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_are_those_of_the_format() {
        for (value, bytes) in
            [(0, &[0u8][..]), (127, &[127]), (128, &[0x80, 1]), (624_485, &[0xe5, 0x8e, 0x26])]
        {
            let mut out = Vec::new();
            push_leb128(&mut out, value);
            assert_eq!(out, bytes);
        }
    }

    #[test]
    fn numbers_of_more_than_64_bits_are_rejected() {
        let mut largest = [0xff; 10];
        largest[9] = 1;
        assert_eq!(take_leb128(&mut &largest[..]), Some(u64::MAX));
        largest[9] = 2;
        assert_eq!(take_leb128(&mut &largest[..]), None);
        assert_eq!(take_leb128(&mut &[0x80; 11][..]), None);
        assert_eq!(take_leb128(&mut &[0x80; 3][..]), None);
    }

    proptest! {
        #[test]
        fn numbers_are_read_back(value in prop_oneof![0u64..300, any::<u64>()]) {
            let mut bytes = vec![0xff];
            push_leb128(&mut bytes, value);
            let mut at = 1;
            prop_assert_eq!(read_leb128(&bytes, &mut at), value);
            prop_assert_eq!(at, bytes.len());
            prop_assert_eq!(take_leb128(&mut &bytes[1..bytes.len() - 1]), None);
        }
    }
}
