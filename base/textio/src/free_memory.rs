//! Free memory of the machine and of the control groups of this process. Containers and batch
//! systems limit the memory of control groups.
//!
//! Cached pages of files count as free: the kernel drops them when a program needs memory.

use std::fs;
use std::path::Path;

/// Returns the bytes that this process can still use: what the machine has available, or what one
/// of its control groups still allows if that is less. `None` if neither is known.
pub fn free_memory() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let machine = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let machine = find_number(&machine, "MemAvailable:").map(|kibibytes| kibibytes << 10);
    machine.into_iter().chain(free_in_groups(Path::new("/sys/fs/cgroup"), &groups)).min()
}

/// The files with a control group's limit and use of memory, and the lines of `memory.stat` that
/// count cached pages of files.
struct Layout {
    limit: &'static str,
    used: &'static str,
    file_pages: [&'static str; 2],
}

const VERSION_1: Layout = Layout {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    file_pages: ["total_inactive_file", "total_active_file"],
};

const VERSION_2: Layout = Layout {
    limit: "memory.max",
    used: "memory.current",
    file_pages: ["inactive_file", "active_file"],
};

/// Returns the bytes that the control groups listed in `groups`, and the groups that contain them,
/// still allow. Their folders are below `root`. In a container, the listed names are often those
/// of the host, and the container's own group is `root` itself.
fn free_in_groups(root: &Path, groups: &str) -> Option<u64> {
    let memory_groups = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        match (fields.next()?, fields.next()?) {
            ("", path) => Some((root.to_owned(), VERSION_2, path)),
            (controllers, path) if controllers.split(',').any(|name| name == "memory") => {
                Some((root.join("memory"), VERSION_1, path))
            }
            _ => None,
        }
    });
    let free = |(root, layout, path): (std::path::PathBuf, Layout, &str)| {
        let path = Path::new(path.trim_start_matches('/'));
        path.ancestors().filter_map(|group| layout.free(&root.join(group))).min()
    };
    memory_groups.filter_map(free).min()
}

impl Layout {
    fn free(&self, group: &Path) -> Option<u64> {
        let read = |name: &str| fs::read_to_string(group.join(name)).ok();
        let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
        let (limit, used) = (number(self.limit)?, number(self.used)?);
        let statistics = read("memory.stat").unwrap_or_default();
        let file_pages = self.file_pages.iter().filter_map(|name| find_number(&statistics, name));
        Some(limit.saturating_sub(used.saturating_sub(file_pages.sum())))
    }
}

/// Returns the number after `name` at the start of a line.
fn find_number(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| (words.next()? == name).then(|| words.next()?.parse().ok())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the files of a group: its limit, its use, and pages of files.
    fn write_group(folder: &Path, layout: &Layout, limit: &str, used: u64, file_pages: [u64; 2]) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(layout.limit), format!("{limit}\n")).unwrap();
        fs::write(folder.join(layout.used), format!("{used}\n")).unwrap();
        let [inactive, active] = layout.file_pages;
        let [inactive_bytes, active_bytes] = file_pages;
        let statistics = format!("anon 5\n{inactive} {inactive_bytes}\n{active} {active_bytes}\n");
        fs::write(folder.join("memory.stat"), statistics).unwrap();
    }

    #[test]
    fn the_smallest_group_decides_and_pages_of_files_are_free() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        assert_eq!(free_in_groups(root, "0::/jobs/one\n"), None);
        write_group(&root.join("jobs"), &VERSION_2, "1000", 900, [300, 100]);
        write_group(&root.join("jobs/one"), &VERSION_2, "max", 100, [0, 0]);
        assert_eq!(free_in_groups(root, "0::/jobs/one\n"), Some(500));
        write_group(&root.join("jobs/one"), &VERSION_2, "400", 100, [10, 0]);
        assert_eq!(free_in_groups(root, "1:cpu:/\n0::/jobs/one\n"), Some(310));
        // A container sees its own group as the root.
        write_group(root, &VERSION_2, "200", 250, [0, 0]);
        assert_eq!(free_in_groups(root, "0::/../other\n"), Some(0));
    }

    #[test]
    fn groups_of_the_first_version_are_read() {
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("memory/jobs");
        write_group(&group, &VERSION_1, "1000", 600, [100, 100]);
        let groups = "5:cpu,cpuacct:/jobs\n4:memory,hugetlb:/jobs\n0::/\n";
        assert_eq!(free_in_groups(root.path(), groups), Some(600));
        assert_eq!(free_in_groups(root.path(), "4:cpu:/jobs\n"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_machine_has_free_memory() {
        assert!(free_memory().is_some());
    }
}
