//! Memory of a process, on Linux.

use std::fs;
use std::io;

/// Returns the resident memory of this process in bytes; `None` if unknown, as on other systems.
pub fn resident_bytes() -> Option<u64> {
    read_field(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// Returns the peak resident memory of this process in bytes; `None` like for [`resident_bytes`].
/// (getrusage would include the process that started this one.)
pub fn peak_resident_bytes() -> Option<u64> {
    read_field(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// Returns the resident memory of the process `id` in bytes; 0 if it has ended and is not yet
/// waited for.
///
/// # Errors
/// If there is no such process.
pub fn resident_bytes_of(id: u32) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    Ok(read_field(&status, "VmRSS:").unwrap_or(0))
}

/// Returns a field of `/proc/PID/status`, which is always in kB.
fn read_field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let status = "VmHWM:\t 9 kB\nVmRSS:\t  5 kB\n";
        assert_eq!(read_field(status, "VmRSS:"), Some(5120));
        assert_eq!(read_field(status, "VmHWM:"), Some(9216));
        assert_eq!(read_field(status, "VmSwap:"), None);
        assert_eq!(read_field("VmRSS:\t 5 pages\n", "VmRSS:"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_that_is_written_is_resident() {
        let before = resident_bytes().unwrap();
        let bytes = std::hint::black_box(vec![1_u8; 64 << 20]);
        // Other tests may have freed some by now.
        let least = before + bytes.len() as u64 / 2;
        assert!(resident_bytes().unwrap() > least);
        assert!(resident_bytes_of(std::process::id()).unwrap() > least);
        assert!(peak_resident_bytes().unwrap() > least);
        assert!(resident_bytes_of(u32::MAX).is_err());
    }
}
