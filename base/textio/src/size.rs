//! Parsing of memory sizes on the command line.

/// Returns the size `text` in bytes: a number, and after it optionally `B`, or one of `K`, `M`, `G`
/// and `T` (powers of 1,024), alone or with `B` or `iB`.
///
/// # Errors
/// A message for the user if `text` is not a size.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let upper = text.trim().to_ascii_uppercase();
    let end = upper.find(|c: char| c.is_ascii_alphabetic() && c != 'E').unwrap_or(upper.len());
    let (digits, unit) = upper.split_at(end);
    let shift = match unit {
        "" | "B" => Some(0),
        "K" | "KB" | "KIB" => Some(10),
        "M" | "MB" | "MIB" => Some(20),
        "G" | "GB" | "GIB" => Some(30),
        "T" | "TB" | "TIB" => Some(40),
        _ => None,
    };
    let bytes = digits.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    let bytes = bytes.zip(shift).map(|(number, shift)| number * (1u64 << shift) as f64);
    match bytes.filter(|bytes| *bytes < u64::MAX as f64) {
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
        assert_eq!(parse_size("7b"), Ok(7));
        for bad in
            ["", "G", "5I", "5IB", "5BB", "2GIIB", "2GI", "-1", "x", "1X", "nan", "inf", "1e30"]
        {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
