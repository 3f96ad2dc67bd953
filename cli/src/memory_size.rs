//! Sizes of memory, also in the notation of KenLM's programs and GNU sort.

use std::fs;

use miriam_textio::parse_size;

/// Returns the size `text` in bytes. It is a number with a unit: `%` of physical memory, `b` for
/// bytes, or K, M, G, T, P, E, each 1,024 times the previous one. Without a unit, it is in K.
pub fn parse_sort_size(text: &str) -> Result<u64, String> {
    let invalid = || format!("{text:?} is not a size; write 80%, 512M or 4G (without a unit, K)");
    let (number, unit) = match text.char_indices().last() {
        Some((at, unit)) if !unit.is_ascii_digit() => (&text[..at], unit),
        _ => (text, 'K'),
    };
    let number = number.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    let number = number.ok_or_else(invalid)?;
    if unit == '%' {
        let memory = physical_memory()
            .ok_or_else(|| format!("{text}: the size of the memory is unknown; give a number"))?;
        return Ok((number / 100.0 * memory as f64) as u64);
    }
    let power = "bKMGTPE".chars().position(|known| known.eq_ignore_ascii_case(&unit));
    let bytes = number * 1024f64.powi(power.ok_or_else(invalid)? as i32);
    if bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(invalid()) }
}

/// Returns the bytes of memory that `text` gives: a size, or a share of the machine's memory,
/// `80%`.
pub fn parse_memory(text: &str) -> Result<u64, String> {
    if text.ends_with('%') { parse_sort_size(text) } else { parse_size(text) }
}

fn physical_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_units_of_sort() {
        for (text, bytes) in
            [("7", 7 << 10), ("7b", 7), ("7K", 7 << 10), ("1.5m", 3 << 19), ("2G", 2 << 30)]
        {
            assert_eq!(parse_sort_size(text), Ok(bytes), "{text}");
        }
        let half = parse_sort_size("50%").unwrap();
        assert_eq!(half, physical_memory().unwrap() / 2);
        for text in ["", "G", "x", "-1K", "1X", "99E99", "1GB"] {
            assert!(parse_sort_size(text).is_err(), "{text}");
        }
    }
}
