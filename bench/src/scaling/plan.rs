//! Plan of a scaling study: the numbers of threads, and the order of measurements.

use super::topology::Topology;
use crate::error::{Error, Result};

/// A measurement to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// The index of the system.
    pub system: usize,
    /// The index of the number of threads.
    pub place: usize,
    /// The round, from 0.
    pub round: usize,
}

/// Returns the measurements in their order. The systems follow each other at each number of
/// threads, so that they meet the machine in the same state. Every second round is in reverse, so
/// that a slow change of the machine, as when it warms up, distorts neither a curve nor a
/// comparison.
pub fn plan_runs(systems: usize, counts: usize, rounds: usize) -> Vec<PlannedRun> {
    (0..rounds)
        .flat_map(|round| {
            let mut runs: Vec<PlannedRun> = (0..counts)
                .flat_map(|place| {
                    (0..systems).map(move |system| PlannedRun { system, place, round })
                })
                .collect();
            if round % 2 == 1 {
                runs.reverse();
            }
            runs
        })
        .collect()
}

/// Returns the numbers of threads to measure in ascending order, without duplicates. 1 is always
/// among them; if none are requested, they are powers of two up to the cores, half of the
/// hyperthreads, and all.
pub fn select_counts(requested: &[usize], topology: &Topology) -> Result<Vec<usize>> {
    let (cores, all) = (topology.num_physical_cores(), topology.cpu_order().len());
    let mut counts = requested.to_vec();
    if let Some(&count) = counts.iter().find(|&&count| count > all) {
        return Err(Error::unmeasurable(format!(
            "--counts: {count} threads need as many CPUs; this process may use {all}"
        )));
    }
    counts.push(1);
    if requested.is_empty() {
        counts.extend((1..).map(|power| 1 << power).take_while(|&count| count < cores));
        counts.extend([cores, cores.midpoint(all), all]);
    }
    counts.sort_unstable();
    counts.dedup();
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_double_up_to_the_cores_and_go_on_to_all_threads() {
        let uniform = |cores, threads| Topology::uniform(1, cores, threads);
        let default = |topology: Topology| select_counts(&[], &topology).unwrap();
        assert_eq!(default(uniform(1, 1)), [1]);
        assert_eq!(default(uniform(2, 1)), [1, 2]);
        assert_eq!(default(uniform(4, 2)), [1, 2, 4, 6, 8]);
        assert_eq!(default(uniform(6, 2)), [1, 2, 4, 6, 9, 12]);
        assert_eq!(default(uniform(16, 2)), [1, 2, 4, 8, 16, 24, 32]);
        assert_eq!(default(uniform(64, 2)), [1, 2, 4, 8, 16, 32, 64, 96, 128]);
        assert_eq!(default(Topology::uniform(2, 32, 2)), default(uniform(64, 2)));
        assert_eq!(select_counts(&[4, 2, 4], &uniform(4, 1)).unwrap(), [1, 2, 4]);
        let error = select_counts(&[5], &uniform(4, 1)).unwrap_err().to_string();
        assert!(error.contains("5 threads") && error.contains("may use 4"), "{error}");
    }

    /// The CPUs of each number of threads: one of each core first, socket by socket, and never
    /// two of a core before all cores have one.
    #[test]
    fn cores_come_before_hyperthreads_on_machines_of_all_sizes() {
        for (sockets, cores) in [(1, 4), (1, 8), (2, 8), (1, 24), (2, 32), (4, 16), (1, 64)] {
            let topology = Topology::uniform(sockets, cores, 2);
            let (all_cores, order) = (topology.num_physical_cores(), topology.cpu_order());
            assert_eq!((all_cores, order.len()), (sockets as usize * cores, 2 * all_cores));
            for count in select_counts(&[], &topology).unwrap() {
                let cpus = &order[..count];
                let mut used: Vec<usize> = cpus.iter().map(|cpu| cpu % all_cores).collect();
                used.sort_unstable();
                used.dedup();
                assert_eq!(used.len(), count.min(all_cores), "{topology}: {cpus:?}");
                let socket = |cpu: &usize| cpu % all_cores / cores;
                let sockets_used = cpus.iter().map(socket).max().unwrap() + 1;
                assert_eq!(sockets_used, count.min(all_cores).div_ceil(cores), "{cpus:?}");
            }
        }
    }

    #[test]
    fn rounds_alternate_over_systems_and_counts() {
        let runs: Vec<[usize; 3]> =
            plan_runs(2, 2, 3).iter().map(|run| [run.round, run.place, run.system]).collect();
        let up = [[0, 0], [0, 1], [1, 0], [1, 1]];
        let expected: Vec<[usize; 3]> = (0..3)
            .flat_map(|round| {
                let mut order = up.map(|[place, system]| [round, place, system]);
                if round == 1 {
                    order.reverse();
                }
                order
            })
            .collect();
        assert_eq!(runs, expected);
        assert!(plan_runs(0, 2, 1).is_empty());
    }
}
