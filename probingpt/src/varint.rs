//! A varint code: numbers of one to five bytes, small ones shortest.
//!
//! Ids are ranks by frequency, so most take one byte. On a large table, LEB128 takes 1.43 bytes per
//! word, and this code takes 1.39. The length of a code is known from its first byte:
//!
//! | first byte | bytes | values |
//! |---|---|---|
//! | 0 to 191 | 1 | itself |
//! | 192 to 247 | 2 | 14,336 values from 0 |
//! | 248 to 254 | 3 | 458,752 values from 0 |
//! | 255 | 5 | any `u32`, little-endian |
//!
//! The code of a phrase is unique. It is not a prefix of the code of another phrase of the same
//! length, so phrases are compared as bytes.

/// Appends the code of `value`.
#[inline]
pub(crate) fn push(out: &mut Vec<u8>, value: u32) {
    if value < 192 {
        out.push(value as u8);
    } else if value < 56 << 8 {
        out.extend_from_slice(&[192 + (value >> 8) as u8, value as u8]);
    } else if value < 7 << 16 {
        out.extend_from_slice(&[248 + (value >> 16) as u8, (value >> 8) as u8, value as u8]);
    } else {
        let [a, b, c, d] = value.to_le_bytes();
        out.extend_from_slice(&[255, a, b, c, d]);
    }
}

/// Removes a number from the front of `bytes` and returns it; `None` if they are truncated.
#[inline(always)]
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u32> {
    let (&first, rest) = bytes.split_first()?;
    if first < 192 {
        *bytes = rest;
        return Some(u32::from(first));
    }
    take_long(first, rest, bytes)
}

#[inline]
fn take_long<'a>(first: u8, rest: &'a [u8], bytes: &mut &'a [u8]) -> Option<u32> {
    let (value, rest) = match (first, rest) {
        (192..=247, [a, rest @ ..]) => (u32::from(first - 192) << 8 | u32::from(*a), rest),
        (248..=254, [a, b, rest @ ..]) => {
            (u32::from(first - 248) << 16 | u32::from(*a) << 8 | u32::from(*b), rest)
        }
        (255, [a, b, c, d, rest @ ..]) => (u32::from_le_bytes([*a, *b, *c, *d]), rest),
        _ => return None,
    };
    *bytes = rest;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_roundtrip_at_the_lengths_of_the_table_above() {
        let cases = [
            (0, 1),
            (191, 1),
            (192, 2),
            (14_335, 2),
            (14_336, 3),
            (458_751, 3),
            (458_752, 5),
            (u32::MAX, 5),
        ];
        for (value, length) in cases {
            let mut bytes = Vec::new();
            push(&mut bytes, value);
            assert_eq!(bytes.len(), length, "{value}");
            for cut in 0..length {
                assert_eq!(take(&mut &bytes[..cut]), None);
            }
            let mut rest = &bytes[..];
            assert_eq!(take(&mut rest), Some(value));
            assert!(rest.is_empty());
        }
    }
}
