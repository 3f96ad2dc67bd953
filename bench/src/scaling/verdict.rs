//! Verdict of a scaling study: a sentence for each system on whether its speed-up is sufficient.

use std::fmt::Write;

use super::run_stats::RunStats;
use super::study::{ScalingStudy, SystemRuns};
use super::topology::count_noun;

/// The efficiency that 2 threads on 2 cores should reach.
const MIN_PAIR_EFFICIENCY: f64 = 0.95;
/// The efficiency that n threads on n cores should reach, for n above 2.
const MIN_EFFICIENCY: f64 = 0.9;
/// The shortest measurement with a verdict: in shorter ones, the start of threads and the ticks of
/// the scheduler have too much weight.
const MIN_JUDGED_SECONDS: f64 = 1.0;
/// The largest acceptable share of processor time in the kernel.
const MAX_SYSTEM_SHARE: f64 = 0.02;

impl ScalingStudy {
    /// Returns a line for each system, and for several systems one that compares their highest
    /// speeds.
    pub fn verdict(&self) -> String {
        let cores = self.topology.num_physical_cores();
        if let [system] = &self.systems[..] {
            return format!("Verdict: {}\n", judge(system, cores));
        }
        let mut text = String::new();
        for system in &self.systems {
            let _ = writeln!(text, "Verdict on {}: {}", system.name, judge(system, cores));
        }
        let mut fastest: Vec<(&str, usize, f64)> = self
            .systems
            .iter()
            .map(|system| {
                let point = system.fastest();
                (&system.name[..], point.threads, point.median().words_per_second())
            })
            .collect();
        fastest.sort_by(|a, b| b.2.total_cmp(&a.2));
        let best = fastest[0].2;
        let speeds: Vec<String> = fastest
            .iter()
            .map(|(name, threads, rate)| {
                let times = best / rate;
                let slower =
                    if times > 1.0 { format!(", {times:.2} times slower") } else { String::new() };
                format!("{name} {rate:.0} words/s with {}{slower}", count_noun(*threads, "thread"))
            })
            .collect();
        let _ = writeln!(text, "Highest speeds: {}", speeds.join("; "));
        text
    }
}

/// Returns a sentence on whether the speed-up of `system` with threads is sufficient.
fn judge(system: &SystemRuns, cores: usize) -> String {
    let on_cores = system.points.iter().rfind(|point| point.threads <= cores);
    let Some(on_cores) = on_cores.filter(|point| point.threads > 1) else {
        return "none, because only one thread was measured on physical cores; there is nothing to \
                compare"
            .into();
    };
    let runs = system.points.iter().flat_map(|point| point.runs.values());
    let shortest = runs.map(|run: &RunStats| run.wall_seconds).fold(f64::INFINITY, f64::min);
    if shortest < MIN_JUDGED_SECONDS {
        return format!(
            "none, because a measurement of {shortest:.3} s is too short: {} threads on {} cores \
             were {:.2} times as fast as one; measure for more than {MIN_JUDGED_SECONDS} s \
             (--seconds 2, or a longer text)",
            on_cores.threads,
            on_cores.threads,
            system.speed_up(on_cores)
        );
    }
    let goal = if on_cores.threads == 2 { MIN_PAIR_EFFICIENCY } else { MIN_EFFICIENCY };
    let (efficiency, share) = (system.efficiency(on_cores), on_cores.median().system_share());
    let mut text = format!(
        "{} threads on {} cores are {:.2} times as fast as one, efficiency {:.2} ({} the goal of \
         {goal}), and the kernel takes {:.1} % of the time ({} the limit of {:.0} %)",
        on_cores.threads,
        on_cores.threads,
        system.speed_up(on_cores),
        efficiency,
        if efficiency >= goal { "reaches" } else { "below" },
        100.0 * share,
        if share <= MAX_SYSTEM_SHARE { "within" } else { "above" },
        100.0 * MAX_SYSTEM_SHARE
    );
    if let Some(all) = system.points.last().filter(|point| point.threads > cores) {
        let gain = system.speed_up(all) / system.speed_up(on_cores) - 1.0;
        let _ = write!(
            text,
            "; at {} threads, hyperthreads make it {:.0} % {}",
            all.threads,
            100.0 * gain.abs(),
            if gain > 0.0 { "faster, as they should" } else { "slower, which they should not" }
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::study::simulated;
    use super::super::topology::Topology;

    fn verdict(topology: Topology, rates: &[(usize, f64, f64)]) -> String {
        simulated::study(topology, &[("a", rates)]).verdict()
    }

    #[test]
    fn verdicts_tell_good_from_bad() {
        let two = Topology::uniform(1, 2, 1);
        let good = verdict(two.clone(), &[(1, 100.0, 0.01), (2, 195.0, 0.02)]);
        assert!(good.starts_with("Verdict: 2 threads") && good.contains("1.95 times"), "{good}");
        assert!(good.contains("reaches the goal of 0.95"), "{good}");
        assert!(good.contains("1.0 %") && good.contains("within"), "{good}");
        let slow = verdict(two.clone(), &[(1, 100.0, 0.01), (2, 180.0, 0.2)]);
        assert!(
            slow.contains("below the goal of 0.95") && slow.contains("above the limit of 2 %"),
            "{slow}"
        );
        let alone = verdict(two, &[(1, 100.0, 0.01)]);
        assert!(alone.contains("nothing to compare"), "{alone}");
        let sixteen = Topology::uniform(1, 16, 2);
        let rates = [(1, 100.0, 0.01), (16, 1450.0, 0.01), (32, 1740.0, 0.01)];
        let gain = verdict(sixteen.clone(), &rates);
        assert!(
            gain.contains("16 threads on 16 cores") && gain.contains("reaches the goal of 0.9"),
            "{gain}"
        );
        assert!(
            gain.contains("at 32 threads, hyperthreads make it 20 % faster, as they should"),
            "{gain}"
        );
        let rates = [(1, 100.0, 0.01), (16, 1450.0, 0.01), (32, 1300.0, 0.01)];
        let loss = verdict(sixteen, &rates);
        assert!(loss.contains("hyperthreads make it 10 % slower, which they should not"), "{loss}");
    }

    #[test]
    fn short_measurements_are_not_judged() {
        let rates = [(1, 100.0, 0.01), (2, 90.0, 0.2)];
        let mut short = simulated::study(Topology::uniform(1, 2, 1), &[("a", &rates)]);
        let run = super::RunStats { wall_seconds: 0.2, ..simulated::run(100.0, 0.01) };
        short.systems[0].points[0].runs.insert(3, run);
        let short = short.verdict();
        assert!(short.contains("none, because a measurement of 0.200 s is too short"), "{short}");
        assert!(!short.contains("below") && !short.contains("above"), "{short}");
    }

    #[test]
    fn several_systems_have_a_verdict_each_and_are_compared() {
        let quick = [(1, 100.0, 0.01), (2, 195.0, 0.01)];
        let slow = [(1, 65.0, 0.01), (2, 60.0, 0.01)];
        let topology = Topology::uniform(1, 2, 1);
        let text = simulated::study(topology, &[("slow", &slow), ("quick", &quick)]).verdict();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].starts_with("Verdict on slow: 2 threads") && lines[0].contains("below"));
        assert!(lines[1].starts_with("Verdict on quick: ") && lines[1].contains("reaches"));
        let highest = "Highest speeds: quick 195 words/s with 2 threads; slow 65 words/s with 1 \
                       thread, 3.00 times slower";
        assert_eq!(lines[2], highest);
    }
}
