//! Plan of a scaling study: the numbers of threads, and the order of measurements.

use super::topology::Topology;
use crate::error::{Error, Result};

/// A measurement to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// The index of the system.
    pub system: usize,
    /// The index of the number of threads among the counts.
    pub count_index: usize,
    /// The round, from 0.
    pub round: usize,
}

/// Returns the measurements in the order in which they are made. For each number of threads, the
/// systems follow each other, so that the machine is in the same state for all of them. Every
/// second round is in reverse, so that a slow change of the machine, as when it warms up, distorts
/// neither a curve nor a comparison.
pub fn plan_runs(num_systems: usize, num_counts: usize, num_rounds: usize) -> Vec<PlannedRun> {
    (0..num_rounds)
        .flat_map(|round| {
            let mut runs: Vec<PlannedRun> = (0..num_counts)
                .flat_map(|count_index| {
                    (0..num_systems).map(move |system| PlannedRun { system, count_index, round })
                })
                .collect();
            if round % 2 == 1 {
                runs.reverse();
            }
            runs
        })
        .collect()
}

/// Returns the numbers of threads to measure, ascending and without duplicates; 1 is always among
/// them. `requested` are numbers from 1. If there are none, the numbers are powers of two below the
/// number of cores, the number of cores, the number of CPUs, and the number halfway between these.
///
/// # Errors
/// If a requested number is larger than the number of CPUs that this process may use.
pub fn select_counts(requested: &[usize], topology: &Topology) -> Result<Vec<usize>> {
    let (cores, cpus) = (topology.num_physical_cores(), topology.cpu_order().len());
    let mut counts = requested.to_vec();
    if let Some(&count) = counts.iter().find(|&&count| count > cpus) {
        return Err(Error::unmeasurable(format!(
            "--counts: {count} threads need as many CPUs; this process may use {cpus}"
        )));
    }
    counts.push(1);
    if requested.is_empty() {
        counts.extend((1..).map(|exponent| 1 << exponent).take_while(|&count| count < cores));
        counts.extend([cores, cores.midpoint(cpus), cpus]);
    }
    counts.sort_unstable();
    counts.dedup();
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_counts_double_up_to_the_cores_and_end_with_all_cpus() {
        let uniform = |cores, threads| Topology::uniform(1, cores, threads);
        let default = |topology: Topology| select_counts(&[], &topology).unwrap();
        assert_eq!(default(uniform(1, 1)), [1]);
        assert_eq!(default(uniform(2, 1)), [1, 2]);
        assert_eq!(default(uniform(4, 2)), [1, 2, 4, 6, 8]);
        assert_eq!(default(uniform(6, 2)), [1, 2, 4, 6, 9, 12]);
        assert_eq!(default(uniform(16, 2)), [1, 2, 4, 8, 16, 24, 32]);
        assert_eq!(default(uniform(64, 2)), [1, 2, 4, 8, 16, 32, 64, 96, 128]);
        assert_eq!(default(Topology::uniform(2, 32, 2)), default(uniform(64, 2)));
    }

    #[test]
    fn requested_counts_are_sorted_and_limited_to_the_cpus() {
        let topology = Topology::uniform(1, 4, 1);
        assert_eq!(select_counts(&[4, 2, 4], &topology).unwrap(), [1, 2, 4]);
        let error = select_counts(&[5], &topology).unwrap_err().to_string();
        assert!(error.contains("5 threads") && error.contains("may use 4"), "{error}");
    }

    /// The first n CPUs of the order are on n different cores, socket by socket, until a CPU of
    /// every core is used.
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
            plan_runs(2, 2, 3).iter().map(|run| [run.round, run.count_index, run.system]).collect();
        let up = [[0, 0], [0, 1], [1, 0], [1, 1]];
        let expected: Vec<[usize; 3]> = (0..3)
            .flat_map(|round| {
                let mut order = up.map(|[count_index, system]| [round, count_index, system]);
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
