//! Topology of the machine: hardware threads, cores and sockets, from the files of Linux's sysfs.

use std::fmt;
use std::fs;
use std::path::Path;

/// The CPUs that a process may use, by core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Sockets in ascending order, and cores in the order of their first CPUs.
    cores: Vec<Core>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Core {
    socket: u32,
    identity: CoreIdentity,
    /// Its hardware threads, ascending.
    cpus: Vec<usize>,
}

/// The identity of a core. The list of siblings is preferred, because core numbers may repeat
/// within a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CoreIdentity {
    /// The first of the CPUs that share the core, whether the process may use it or not.
    FirstSibling(usize),
    /// The number within the socket.
    Number(u32),
    /// A CPU without topology files, which counts as a core.
    Alone(usize),
}

impl Topology {
    /// Reads the topology of the `allowed` CPUs, in ascending order, from `folder`
    /// (`/sys/devices/system/cpu`). CPUs that are offline are left out; a CPU whose files are
    /// missing counts as a core.
    pub fn read(folder: &Path, allowed: &[usize]) -> Self {
        let mut cores: Vec<Core> = Vec::new();
        for &cpu in allowed {
            let folder = folder.join(format!("cpu{cpu}"));
            if read_trimmed(&folder, "online").as_deref() == Some("0") {
                continue;
            }
            let socket = read_number(&folder, "topology/physical_package_id").unwrap_or(0);
            let siblings = read_trimmed(&folder, "topology/thread_siblings_list");
            let identity = match siblings.as_deref().and_then(parse_first_cpu) {
                Some(first) => CoreIdentity::FirstSibling(first),
                None => match read_number(&folder, "topology/core_id") {
                    Some(number) => CoreIdentity::Number(number),
                    None => CoreIdentity::Alone(cpu),
                },
            };
            match cores.iter_mut().find(|c| c.socket == socket && c.identity == identity) {
                Some(core) => core.cpus.push(cpu),
                None => cores.push(Core { socket, identity, cpus: vec![cpu] }),
            }
        }
        // The sort is stable, so cores of a socket stay in the order of their first CPUs.
        cores.sort_by_key(|core| core.socket);
        Topology { cores }
    }

    /// Returns a machine of equal sockets, each with `cores` cores of `threads` threads, for tests.
    #[cfg(test)]
    pub fn uniform(sockets: u32, cores: usize, threads: usize) -> Self {
        let all = sockets as usize * cores;
        Topology {
            cores: (0..all)
                .map(|i| Core {
                    socket: (i / cores) as u32,
                    identity: CoreIdentity::FirstSibling(i),
                    cpus: (0..threads).map(|thread| thread * all + i).collect(),
                })
                .collect(),
        }
    }

    /// Returns the CPUs in the order in which workers are pinned to them: the first of each core,
    /// socket by socket, then the second of each core, and so on.
    pub fn cpu_order(&self) -> Vec<usize> {
        let most = self.cores.iter().map(|core| core.cpus.len()).max().unwrap_or(0);
        (0..most)
            .flat_map(|n| self.cores.iter().filter_map(move |core| core.cpus.get(n)))
            .copied()
            .collect()
    }

    /// Returns the number of cores.
    pub fn num_physical_cores(&self) -> usize {
        self.cores.len()
    }

    /// Returns the number of cores of each socket, in ascending order of the sockets.
    pub fn cores_per_socket(&self) -> Vec<usize> {
        self.cores.chunk_by(|a, b| a.socket == b.socket).map(<[Core]>::len).collect()
    }
}

fn read_trimmed(folder: &Path, name: &str) -> Option<String> {
    fs::read_to_string(folder.join(name)).ok().map(|text| text.trim().to_owned())
}

fn read_number(folder: &Path, name: &str) -> Option<u32> {
    read_trimmed(folder, name)?.parse().ok()
}

/// Returns the first number of a list like `0-1,8`.
fn parse_first_cpu(list: &str) -> Option<usize> {
    list.split([',', '-']).next()?.parse().ok()
}

/// Returns a number of things with their name, as `1 thread` or `2 threads`.
pub fn count_noun(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [sockets, cores, threads] =
            [self.cores_per_socket().len(), self.num_physical_cores(), self.cpu_order().len()];
        write!(
            f,
            "{}, {}, {}",
            count_noun(sockets, "socket"),
            count_noun(cores, "core"),
            count_noun(threads, "hardware thread")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a folder with these files and contents for each CPU, as in Linux's sysfs.
    fn folder(cpus: &[(usize, &[(&str, &str)])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (cpu, files) in cpus {
            for (name, text) in *files {
                let path = folder.path().join(format!("cpu{cpu}")).join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, format!("{text}\n")).unwrap();
            }
        }
        folder
    }

    const PACKAGE: &str = "topology/physical_package_id";
    const CORE: &str = "topology/core_id";
    const SIBLINGS: &str = "topology/thread_siblings_list";

    #[test]
    fn two_cores_without_hyperthreads() {
        let folder = folder(&[
            (0, &[(PACKAGE, "0"), (CORE, "0"), (SIBLINGS, "0")]),
            (1, &[(PACKAGE, "0"), (CORE, "1"), (SIBLINGS, "1")]),
        ]);
        let topology = Topology::read(folder.path(), &[0, 1]);
        assert_eq!((topology.num_physical_cores(), topology.cpu_order()), (2, vec![0, 1]));
        assert_eq!(topology.to_string(), "1 socket, 2 cores, 2 hardware threads");
    }

    /// Siblings have adjacent numbers on one machine and distant ones on another.
    #[test]
    fn sixteen_cores_with_two_threads_each() {
        for far in [true, false] {
            let sibling = |cpu: usize| if far { (cpu + 16) % 32 } else { cpu ^ 1 };
            let texts: Vec<[String; 2]> = (0..32)
                .map(|cpu| {
                    let (a, b) = (cpu.min(sibling(cpu)), cpu.max(sibling(cpu)));
                    let core = if far { cpu % 16 } else { cpu / 2 };
                    [core.to_string(), if far { format!("{a},{b}") } else { format!("{a}-{b}") }]
                })
                .collect();
            let files: Vec<[(&str, &str); 3]> = texts
                .iter()
                .map(|[core, list]| [(PACKAGE, "0"), (CORE, &core[..]), (SIBLINGS, &list[..])])
                .collect();
            let cpus: Vec<(usize, &[(&str, &str)])> =
                files.iter().enumerate().map(|(cpu, files)| (cpu, &files[..])).collect();
            let folder = folder(&cpus);
            let all: Vec<usize> = (0..32).collect();
            let topology = Topology::read(folder.path(), &all);
            assert_eq!(topology.num_physical_cores(), 16);
            let order = topology.cpu_order();
            if far {
                assert_eq!(order, all);
            } else {
                assert_eq!((order[..3].to_vec(), order[15], order[16]), (vec![0, 2, 4], 30, 1));
            }
            // The process may use both threads of one core and one thread of another.
            let mut allowed = [3, sibling(3), 5];
            allowed.sort_unstable();
            let confined = Topology::read(folder.path(), &allowed);
            assert_eq!(confined.num_physical_cores(), 2);
            let mut first_two = confined.cpu_order()[..2].to_vec();
            first_two.sort_unstable();
            assert_eq!(first_two, [3.min(sibling(3)), 5]);
        }
    }

    /// Even CPUs on one socket, odd ones on the other, and core numbers that
    /// repeat from socket to socket. One socket is filled before the next.
    #[test]
    fn two_sockets() {
        let folder = folder(&[
            (0, &[(PACKAGE, "0"), (CORE, "0"), (SIBLINGS, "0,4")]),
            (1, &[(PACKAGE, "1"), (CORE, "0"), (SIBLINGS, "1,5")]),
            (2, &[(PACKAGE, "0"), (CORE, "1"), (SIBLINGS, "2,6")]),
            (3, &[(PACKAGE, "1"), (CORE, "1"), (SIBLINGS, "3,7")]),
            (4, &[(PACKAGE, "0"), (CORE, "0"), (SIBLINGS, "0,4")]),
            (5, &[(PACKAGE, "1"), (CORE, "0"), (SIBLINGS, "1,5")]),
            (6, &[(PACKAGE, "0"), (CORE, "1"), (SIBLINGS, "2,6")]),
            (7, &[("online", "0")]),
        ]);
        let topology = Topology::read(folder.path(), &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(topology.cpu_order(), [0, 2, 1, 3, 4, 6, 5], "without CPU 7, which is offline");
        assert_eq!(topology.to_string(), "2 sockets, 4 cores, 7 hardware threads");
    }

    #[test]
    fn missing_files() {
        let no_lists = folder(&[
            (0, &[(PACKAGE, "0"), (CORE, "3")]),
            (1, &[(PACKAGE, "0"), (CORE, "3")]),
            (2, &[(PACKAGE, "1"), (CORE, "3")]),
        ]);
        assert_eq!(Topology::read(no_lists.path(), &[0, 1, 2]).cpu_order(), [0, 2, 1]);
        let nothing = folder(&[]);
        let topology = Topology::read(nothing.path(), &[4, 6]);
        assert_eq!((topology.num_physical_cores(), topology.cpu_order()), (2, vec![4, 6]));
        let odd = folder(&[(0, &[(SIBLINGS, "x"), (CORE, "-1")]), (1, &[(SIBLINGS, "")])]);
        assert_eq!(Topology::read(odd.path(), &[0, 1]).num_physical_cores(), 2);
    }
}
