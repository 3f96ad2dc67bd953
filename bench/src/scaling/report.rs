//! Results of a scaling study: tables and a verdict.

use std::fmt::Write;

use super::process::RunStats;
use super::topology::Topology;
use crate::statistics::median_by;

/// The runs of all thread counts.
pub struct ScalingStudy {
    pub topology: Topology,
    pub points: Vec<Point>,
}

/// The runs with one thread count.
pub struct Point {
    pub threads: usize,
    pub runs: Vec<RunStats>,
}

impl Point {
    /// Returns the run with the median speed (of an even number, the slower of the middle two). It
    /// is a single run, so that its times and its speed are consistent.
    pub fn median(&self) -> RunStats {
        median_by(&self.runs, RunStats::words_per_second)
    }
}

/// The efficiency that 2 threads on 2 cores should reach.
const MIN_PAIR_EFFICIENCY: f64 = 0.95;
/// The efficiency that n threads on n cores should reach, for n above 2.
const MIN_EFFICIENCY: f64 = 0.9;
/// The shortest measurement with a verdict: in shorter ones, the start of threads and the ticks of
/// the scheduler have too much weight.
const MIN_JUDGED_SECONDS: f64 = 1.0;
/// The largest acceptable share of processor time in the kernel.
const MAX_SYSTEM_SHARE: f64 = 0.02;

const MIB: f64 = (1 << 20) as f64;

impl ScalingStudy {
    /// Returns a study of these thread counts, the first of which must be 1.
    pub fn new(topology: Topology, counts: &[usize]) -> Self {
        let points = counts.iter().map(|&threads| Point { threads, runs: Vec::new() });
        ScalingStudy { topology, points: points.collect() }
    }

    /// Adds a run of the thread count with index `place`.
    pub fn add_run(&mut self, place: usize, run: RunStats) {
        self.points[place].runs.push(run);
    }

    /// Returns the speed of a point divided by that of one thread.
    pub fn speed_up(&self, point: &Point) -> f64 {
        point.median().words_per_second() / self.points[0].median().words_per_second()
    }

    /// Returns the speed-up of a point divided by its number of threads.
    pub fn efficiency(&self, point: &Point) -> f64 {
        self.speed_up(point) / point.threads as f64
    }

    /// Returns a line for each thread count, with its median run.
    pub fn medians_csv(&self) -> String {
        let mut text = String::from(
            "threads,cores,cpus,words_per_second,speed_up,efficiency,user_seconds,system_seconds,\
             system_share,voluntary_switches,involuntary_switches,peak_bytes,words,wall_seconds\n",
        );
        for point in &self.points {
            let run = point.median();
            let cpus = &self.topology.cpu_order()[..point.threads];
            let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
            let _ = writeln!(
                text,
                "{},{},{},{:.1},{:.4},{:.4},{:.3},{:.3},{:.5},{},{},{},{},{:.3}",
                point.threads,
                point.threads.min(self.topology.num_physical_cores()),
                cpus.join(" "),
                run.words_per_second(),
                self.speed_up(point),
                self.efficiency(point),
                run.user_seconds,
                run.system_seconds,
                run.system_share(),
                run.voluntary_switches,
                run.involuntary_switches,
                run.peak_bytes,
                run.words,
                run.wall_seconds
            );
        }
        text
    }

    /// Returns a line for each run, in the order of the rounds.
    pub fn runs_csv(&self) -> String {
        let mut text = String::from(
            "threads,round,words_per_second,user_seconds,system_seconds,voluntary_switches,\
             involuntary_switches,peak_bytes,words,wall_seconds\n",
        );
        for point in &self.points {
            for (round, run) in point.runs.iter().enumerate() {
                let _ = writeln!(
                    text,
                    "{},{},{:.1},{:.3},{:.3},{},{},{},{},{:.3}",
                    point.threads,
                    round + 1,
                    run.words_per_second(),
                    run.user_seconds,
                    run.system_seconds,
                    run.voluntary_switches,
                    run.involuntary_switches,
                    run.peak_bytes,
                    run.words,
                    run.wall_seconds
                );
            }
        }
        text
    }

    /// Returns the medians as a table for the terminal.
    pub fn table(&self) -> String {
        let mut text = String::from(
            "threads   words/s  speed-up  efficiency   user s  system s  system %  waits  preempted  peak MiB\n",
        );
        for point in &self.points {
            let run = point.median();
            let _ = writeln!(
                text,
                "{:>7} {:>9.0} {:>9.2} {:>11.2} {:>8.2} {:>9.2} {:>9.2} {:>6} {:>10} {:>9.0}",
                point.threads,
                run.words_per_second(),
                self.speed_up(point),
                self.efficiency(point),
                run.user_seconds,
                run.system_seconds,
                100.0 * run.system_share(),
                run.voluntary_switches,
                run.involuntary_switches,
                run.peak_bytes as f64 / MIB
            );
        }
        text
    }

    /// Returns a sentence on whether the speed-up with threads is sufficient.
    pub fn verdict(&self) -> String {
        let cores = self.topology.num_physical_cores();
        let on_cores = self.points.iter().rfind(|point| point.threads <= cores);
        let Some(on_cores) = on_cores.filter(|point| point.threads > 1) else {
            return "Verdict: none, because only one thread was measured on physical cores; \
                    there is nothing to compare"
                .into();
        };
        let runs = self.points.iter().flat_map(|point| &point.runs);
        let shortest = runs.map(|run| run.wall_seconds).fold(f64::INFINITY, f64::min);
        if shortest < MIN_JUDGED_SECONDS {
            return format!(
                "Verdict: none, because a measurement of {shortest:.2} s is too short: {} threads \
                 on {} cores were {:.2} times as fast as one; measure for {MIN_JUDGED_SECONDS} s \
                 or more (--seconds, or a longer text)",
                on_cores.threads,
                on_cores.threads,
                self.speed_up(on_cores)
            );
        }
        let goal = if on_cores.threads == 2 { MIN_PAIR_EFFICIENCY } else { MIN_EFFICIENCY };
        let (efficiency, share) = (self.efficiency(on_cores), on_cores.median().system_share());
        let mut text = format!(
            "Verdict: {} threads on {} cores are {:.2} times as fast as one, efficiency {:.2} ({} \
             the goal of {goal}), and the kernel takes {:.1} % of the time ({} the limit of \
             {:.0} %)",
            on_cores.threads,
            on_cores.threads,
            self.speed_up(on_cores),
            efficiency,
            if efficiency >= goal { "reaches" } else { "below" },
            100.0 * share,
            if share <= MAX_SYSTEM_SHARE { "within" } else { "above" },
            100.0 * MAX_SYSTEM_SHARE
        );
        if let Some(all) = self.points.last().filter(|point| point.threads > cores) {
            let gain = self.speed_up(all) / self.speed_up(on_cores) - 1.0;
            let _ = write!(
                text,
                "; hyperthreads add {:.0} % at {} threads, {}",
                100.0 * gain,
                all.threads,
                if gain > 0.0 { "as it should" } else { "which it should not" }
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(rate: f64, system: f64) -> RunStats {
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

    fn study(topology: Topology, rates: &[(usize, f64, f64)]) -> ScalingStudy {
        let counts: Vec<usize> = rates.iter().map(|rate| rate.0).collect();
        let mut study = ScalingStudy::new(topology, &counts);
        for (place, &(_, rate, system)) in rates.iter().enumerate() {
            // The median of an outlier on either side.
            for factor in [0.5, 1.0, 1.1] {
                study.add_run(place, run(rate * factor, system));
            }
        }
        study
    }

    #[test]
    fn figures_are_those_of_the_median_run() {
        let study = study(Topology::uniform(1, 2, 1), &[(1, 100.0, 0.01), (2, 195.0, 0.02)]);
        let rows: Vec<String> = study.medians_csv().lines().map(str::to_owned).collect();
        assert_eq!(
            rows[2],
            "2,2,0 1,195.0,1.9500,0.9750,1.980,0.020,0.01000,3,4,5242880,390,2.000"
        );
        assert_eq!(rows[0].split(',').count(), rows[1].split(',').count());
        assert_eq!(study.runs_csv().lines().count(), 1 + 6);
        assert_eq!(study.table().lines().count(), 3);
        let verdict = study.verdict();
        assert!(
            verdict.contains("1.95 times") && verdict.contains("reaches the goal of 0.95"),
            "{verdict}"
        );
        assert!(verdict.contains("1.0 %") && verdict.contains("within"), "{verdict}");
    }

    #[test]
    fn verdicts_tell_good_from_bad() {
        let two = Topology::uniform(1, 2, 1);
        let slow = study(two.clone(), &[(1, 100.0, 0.01), (2, 180.0, 0.2)]).verdict();
        assert!(
            slow.contains("below the goal of 0.95") && slow.contains("above the limit of 2 %"),
            "{slow}"
        );
        let alone = study(two, &[(1, 100.0, 0.01)]).verdict();
        assert!(alone.contains("nothing to compare"), "{alone}");
        let sixteen = Topology::uniform(1, 16, 2);
        let rates = [(1, 100.0, 0.01), (16, 1450.0, 0.01), (32, 1740.0, 0.01)];
        let gain = study(sixteen.clone(), &rates).verdict();
        assert!(
            gain.contains("16 threads on 16 cores") && gain.contains("reaches the goal of 0.9"),
            "{gain}"
        );
        assert!(gain.contains("add 20 % at 32 threads, as it should"), "{gain}");
        let mut short = study(Topology::uniform(1, 2, 1), &[(1, 100.0, 0.01), (2, 90.0, 0.2)]);
        short.add_run(0, RunStats { wall_seconds: 0.2, ..run(100.0, 0.01) });
        let short = short.verdict();
        assert!(short.contains("none, because a measurement of 0.20 s is too short"), "{short}");
        assert!(!short.contains("below") && !short.contains("above"), "{short}");
        let rates = [(1, 100.0, 0.01), (16, 1450.0, 0.01), (32, 1300.0, 0.01)];
        let loss = study(sixteen, &rates).verdict();
        assert!(loss.contains("add -10 % at 32 threads, which it should not"), "{loss}");
    }
}
