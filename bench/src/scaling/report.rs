//! Tables of a scaling study: CSV files, and a table for the terminal.

use std::fmt::Write;

use super::study::ScalingStudy;

const MIB: f64 = (1 << 20) as f64;

impl ScalingStudy {
    /// Returns a CSV table with the median run of each system and number of threads.
    pub fn medians_csv(&self) -> String {
        let mut text = String::from(
            "system,threads,cores,cpus,words_per_second,speed_up,efficiency,user_seconds,\
             system_seconds,system_share,voluntary_switches,involuntary_switches,peak_bytes,words,\
             wall_seconds\n",
        );
        let order = self.topology.cpu_order();
        for system in &self.systems {
            for point in &system.points {
                let run = point.median();
                let cpus: Vec<String> =
                    order[..point.threads].iter().map(usize::to_string).collect();
                let _ = writeln!(
                    text,
                    "{},{},{},{},{:.1},{:.4},{:.4},{:.3},{:.3},{:.5},{},{},{},{},{:.3}",
                    system.name,
                    point.threads,
                    point.threads.min(self.topology.num_physical_cores()),
                    cpus.join(" "),
                    run.words_per_second(),
                    system.speed_up(point),
                    system.efficiency(point),
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
        }
        text
    }

    /// Returns the medians as a table for the terminal. With several systems, each line begins with
    /// the name of its system and ends with its speed relative to the first system.
    pub fn table(&self) -> String {
        let (first, others) = (&self.systems[0], &self.systems[1..]);
        let names = self.systems.iter().map(|system| system.name.chars().count());
        let width = if others.is_empty() { 0 } else { names.max().unwrap_or(0).max(6) + 2 };
        let mut text = String::new();
        let mut heading = if others.is_empty() { "" } else { "system" };
        let _ = write!(
            text,
            "{heading:width$}threads   words/s  speed-up  efficiency   user s  system s  system %  \
             waits  preempted  peak MiB"
        );
        if !others.is_empty() {
            let _ = write!(text, "  times {}", first.name);
        }
        text.push('\n');
        for system in &self.systems {
            heading = if others.is_empty() { "" } else { &system.name };
            for (point, reference) in system.points.iter().zip(&first.points) {
                let run = point.median();
                let _ = write!(
                    text,
                    "{heading:width$}{:>7} {:>9.0} {:>9.2} {:>11.2} {:>8.2} {:>9.2} {:>9.2} {:>6} \
                     {:>10} {:>9.0}",
                    point.threads,
                    run.words_per_second(),
                    system.speed_up(point),
                    system.efficiency(point),
                    run.user_seconds,
                    run.system_seconds,
                    100.0 * run.system_share(),
                    run.voluntary_switches,
                    run.involuntary_switches,
                    run.peak_bytes as f64 / MIB
                );
                if !others.is_empty() {
                    let times = run.words_per_second() / reference.median().words_per_second();
                    let width = "times ".len() + first.name.chars().count() + 2;
                    let _ = write!(text, "{times:>width$.2}");
                }
                text.push('\n');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::study::simulated;
    use super::super::topology::Topology;

    #[test]
    fn figures_are_those_of_the_median_run() {
        let topology = Topology::uniform(1, 2, 1);
        let study = simulated::study(topology, &[("a", &[(1, 100.0, 0.01), (2, 195.0, 0.02)])]);
        let rows: Vec<String> = study.medians_csv().lines().map(str::to_owned).collect();
        assert_eq!(
            rows[2],
            "a,2,2,0 1,195.0,1.9500,0.9750,1.980,0.020,0.01000,3,4,5242880,390,2.000"
        );
        assert_eq!(rows[0].split(',').count(), rows[1].split(',').count());
        assert_eq!(study.runs_csv().lines().count(), 1 + 6);
        let table = study.table();
        assert_eq!(table.lines().count(), 3);
        assert!(table.starts_with("threads   words/s"), "{table}");
        let second = table.lines().nth(2).unwrap();
        assert!(second.starts_with("      2       195      1.95        0.97"), "{second}");
        assert!(!table.contains("times"), "{table}");
    }

    #[test]
    fn several_systems_are_told_apart_and_compared_with_the_first() {
        let slow: &[_] = &[(1, 50.0, 0.01), (2, 60.0, 1.0)];
        let systems = [("quick", &[(1, 100.0, 0.01), (2, 200.0, 0.02)][..]), ("slow one", slow)];
        let study = simulated::study(Topology::uniform(1, 2, 1), &systems);
        let table = study.table();
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 1 + 4);
        assert!(lines[0].starts_with("system    threads") && lines[0].ends_with("  times quick"));
        assert!(lines[2].starts_with("quick           2") && lines[2].ends_with(" 1.00"));
        assert!(lines[4].starts_with("slow one        2") && lines[4].ends_with(" 0.30"));
        let ends: Vec<usize> = lines.iter().map(|line| line.len()).collect();
        assert!(ends.iter().all(|&end| end == ends[0]), "{table}");
        let csv = study.medians_csv();
        let slow_rows: Vec<&str> =
            csv.lines().filter(|line| line.starts_with("slow one,")).collect();
        assert_eq!(slow_rows.len(), 2);
        assert!(slow_rows[1].starts_with("slow one,2,2,0 1,60.0,1.2000,0.6000,"), "{csv}");
        assert_eq!(study.runs_csv().lines().filter(|line| line.starts_with("quick,")).count(), 6);
    }
}
