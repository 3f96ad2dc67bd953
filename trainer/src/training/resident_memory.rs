//! The memory of this process, as the system counts it.

/// Bytes of resident memory; 0 where the system does not say, as elsewhere than on Linux.
pub fn resident_bytes() -> usize {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return 0 };
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    // In kB, whatever the size of pages.
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    kilobytes.unwrap_or(0) << 10
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_written_is_resident() {
        let before = resident_bytes();
        assert!(before > 0);
        let bytes = std::hint::black_box(vec![1_u8; 64 << 20]);
        // Other tests may have freed some by now.
        assert!(resident_bytes() > before + bytes.len() / 2);
    }
}
