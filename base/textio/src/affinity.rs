//! CPU affinity of threads. It is supported only on Linux; elsewhere every call returns an error of
//! the kind [`io::ErrorKind::Unsupported`].

use std::io;

/// Returns the CPUs that the calling thread may run on, ascending.
///
/// # Errors
/// If the system call fails, and on systems other than Linux.
#[cfg(target_os = "linux")]
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    let set = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0))?;
    Ok((0..nix::sched::CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect())
}

/// Restricts the calling thread, and threads that it starts later, to `cpus`.
///
/// # Errors
/// If none of `cpus` is allowed or a number is too large, and on systems other than Linux.
#[cfg(target_os = "linux")]
pub fn pin_to_cpus(cpus: &[usize]) -> io::Result<()> {
    let mut set = nix::sched::CpuSet::new();
    for &cpu in cpus {
        set.set(cpu)?;
    }
    Ok(nix::sched::sched_setaffinity(nix::unistd::Pid::from_raw(0), &set)?)
}

/// Returns the CPUs that the calling thread may run on.
///
/// # Errors
/// Always, because this system does not support it.
#[cfg(not(target_os = "linux"))]
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    Err(unsupported())
}

/// Restricts the calling thread to `_cpus`.
///
/// # Errors
/// Always, because it is not supported on this system.
#[cfg(not(target_os = "linux"))]
pub fn pin_to_cpus(_cpus: &[usize]) -> io::Result<()> {
    Err(unsupported())
}

#[cfg(not(target_os = "linux"))]
fn unsupported() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "CPU affinity is supported only on Linux")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_stays_on_its_cpu() {
        let all = allowed_cpus().unwrap();
        assert!(!all.is_empty() && all.is_sorted());
        for &cpu in &all {
            let seen = std::thread::spawn(move || {
                pin_to_cpus(&[cpu]).unwrap();
                // Threads that it starts inherit the affinity.
                std::thread::spawn(|| allowed_cpus().unwrap()).join().unwrap()
            });
            assert_eq!(seen.join().unwrap(), [cpu]);
        }
        assert_eq!(allowed_cpus().unwrap(), all, "other threads are not affected");
        assert!(pin_to_cpus(&[]).is_err() && pin_to_cpus(&[usize::MAX]).is_err());
    }
}
