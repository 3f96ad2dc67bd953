//! Parsing of memory sizes on the command line.

/// Returns the size `text` in bytes: a number with an optional `K`, `M`, `G` or `T` (powers of
/// 1,024) and an optional `B` or `iB` after it.
///
/// # Errors
/// A message for the user if `text` is not a size.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let upper = text.trim().to_ascii_uppercase();
    let number = upper.trim_end_matches('B').trim_end_matches('I');
    let (digits, shift) = match number.as_bytes().last() {
        Some(b'K') => (&number[..number.len() - 1], 10),
        Some(b'M') => (&number[..number.len() - 1], 20),
        Some(b'G') => (&number[..number.len() - 1], 30),
        Some(b'T') => (&number[..number.len() - 1], 40),
        _ => (number, 0),
    };
    let bytes = digits.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    let bytes = bytes.map(|n| n * (1u64 << shift) as f64).filter(|n| *n < u64::MAX as f64);
    match bytes {
        Some(bytes) => Ok(bytes as u64),
        None => Err(format!("{text:?} is not a size; write 512M, 2G or a number of bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn sizes_with_and_without_units_are_parsed() {
        assert_eq!(parse_size("512"), Ok(512));
        assert_eq!(parse_size("2G"), Ok(2 << 30));
        assert_eq!(parse_size("1.5 kB"), Ok(1536));
        assert_eq!(parse_size("4GiB"), Ok(4 << 30));
        for bad in ["", "G", "-1", "x", "1X", "nan", "inf", "1e30"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
