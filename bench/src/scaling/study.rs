//! Data of a scaling study: the runs of each system with each number of threads.

use std::collections::BTreeMap;

use super::plan::PlannedRun;
use super::run_stats::RunStats;
use super::topology::Topology;
use crate::statistics::median_by;

/// The runs of all systems on a machine.
pub struct ScalingStudy {
    pub topology: Topology,
    /// The runs of each system; at least one system.
    pub systems: Vec<SystemRuns>,
}

/// The runs of one system.
pub struct SystemRuns {
    pub name: String,
    /// A point for each number of threads, ascending.
    pub points: Vec<Point>,
}

/// The runs with one number of threads.
pub struct Point {
    pub threads: usize,
    /// The runs by their round, from 0; rounds may be missing.
    pub runs: BTreeMap<usize, RunStats>,
}

impl ScalingStudy {
    /// Creates a study of the systems `names`, without runs. `thread_counts` are the numbers of
    /// threads, ascending; speed-ups are relative to the first one.
    pub fn new(topology: Topology, names: &[String], thread_counts: &[usize]) -> Self {
        let systems = names.iter().map(|name| {
            let points =
                thread_counts.iter().map(|&threads| Point { threads, runs: BTreeMap::new() });
            SystemRuns { name: name.clone(), points: points.collect() }
        });
        ScalingStudy { topology, systems: systems.collect() }
    }

    /// Adds a run. It is ignored if its system or its number of threads is not in the study.
    pub fn insert(&mut self, system: &str, threads: usize, round: usize, run: RunStats) {
        let system = self.systems.iter_mut().find(|found| found.name == system);
        let points = system.into_iter().flat_map(|system| &mut system.points);
        for point in points.filter(|point| point.threads == threads) {
            point.runs.insert(round, run);
        }
    }

    /// Whether the study has a planned run.
    pub fn has_run(&self, run: PlannedRun) -> bool {
        self.systems[run.system].points[run.count_index].runs.contains_key(&run.round)
    }

    /// Returns the numbers of threads.
    pub fn thread_counts(&self) -> Vec<usize> {
        self.systems[0].points.iter().map(|point| point.threads).collect()
    }

    /// Whether each point has at least one run.
    pub fn has_all_points(&self) -> bool {
        self.systems.iter().flat_map(|system| &system.points).all(|point| !point.runs.is_empty())
    }
}

impl SystemRuns {
    /// Returns the median speed of a point divided by that of the first point, which has one
    /// thread.
    pub fn speed_up(&self, point: &Point) -> f64 {
        point.median().words_per_second() / self.points[0].median().words_per_second()
    }

    /// Returns the speed-up of a point divided by its number of threads.
    pub fn efficiency(&self, point: &Point) -> f64 {
        self.speed_up(point) / point.threads as f64
    }

    /// Returns the point with the highest median speed.
    pub fn fastest(&self) -> &Point {
        fn speed(point: &Point) -> f64 {
            point.median().words_per_second()
        }
        let points = self.points.iter();
        points.max_by(|a, b| speed(a).total_cmp(&speed(b))).expect("there is a point")
    }
}

impl Point {
    /// Returns the run with the median speed (of an even number, the slower of the middle two). Its
    /// times and its speed are consistent, because they are of a single run.
    ///
    /// # Panics
    /// If there are no runs.
    pub fn median(&self) -> RunStats {
        let runs: Vec<RunStats> = self.runs.values().copied().collect();
        median_by(&runs, RunStats::words_per_second)
    }

    /// Returns the lowest and the highest speed of the runs, in words per second.
    pub fn spread(&self) -> (f64, f64) {
        let rates = self.runs.values().map(RunStats::words_per_second);
        rates.fold((f64::INFINITY, 0.0), |(low, high), rate| (low.min(rate), high.max(rate)))
    }
}

/// Studies with made-up speeds.
#[cfg(test)]
pub mod simulated {
    use super::*;

    /// Returns a run of two seconds with `rate` words per second and `system` seconds in the
    /// kernel.
    pub fn run(rate: f64, system: f64) -> RunStats {
        RunStats {
            words: (rate * 2.0) as u64,
            wall_seconds: 2.0,
            user_seconds: 2.0 - system,
            system_seconds: system,
            voluntary_switches: 3,
            involuntary_switches: 4,
            peak_bytes: 5 << 20,
        }
    }

    /// The name of a system, and for each of its points the number of threads, the words per second
    /// and the seconds in the kernel.
    pub type SimulatedSystem<'a> = (&'a str, &'a [(usize, f64, f64)]);

    /// Returns a study of simulated systems. Each point has three runs, of which the second is the
    /// median.
    pub fn study(topology: Topology, systems: &[SimulatedSystem<'_>]) -> ScalingStudy {
        let names: Vec<String> = systems.iter().map(|system| system.0.to_owned()).collect();
        let thread_counts: Vec<usize> = systems[0].1.iter().map(|point| point.0).collect();
        let mut study = ScalingStudy::new(topology, &names, &thread_counts);
        for (system_runs, (_, points)) in study.systems.iter_mut().zip(systems) {
            for (point, &(threads, rate, system)) in system_runs.points.iter_mut().zip(*points) {
                assert_eq!(point.threads, threads);
                for (round, factor) in [0.9, 1.0, 1.1].into_iter().enumerate() {
                    point.runs.insert(round, run(rate * factor, system));
                }
            }
        }
        study
    }
}
