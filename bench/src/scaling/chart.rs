//! Chart of a scaling study: words per second above and efficiency below, over the number of
//! threads.

use miriam_chart::{Axis, Chart, Colour, Curve, LineStyle, Panel, Shading};

use super::process::RunStats;
use super::report::{Point, ScalingStudy};
use crate::{date, machine};

const MEASURED: LineStyle = LineStyle::solid(Colour(0x1f, 0x5f, 0xa8));
const IDEAL: LineStyle = LineStyle::dashed(Colour(0x88, 0x88, 0x88));

/// Returns the chart of `study`.
pub fn draw(study: &ScalingStudy) -> Chart {
    let counts: Vec<usize> = study.points.iter().map(|point| point.threads).collect();
    let most = counts.iter().copied().max().unwrap_or(1);
    let one = study.points[0].median().words_per_second();
    fn rates(point: &Point) -> Vec<f64> {
        point.runs.iter().map(RunStats::words_per_second).collect()
    }
    let cores = study.topology.num_physical_cores();
    let fastest = study.points.iter().flat_map(rates).fold(one, f64::max);
    // The ideal line may leave the panel, because hyperthreads never reach it.
    let highest = (fastest * 1.08).max(one * most.min(cores) as f64);
    let ideal_end = (most as f64).min(highest / one);
    let measured = |value: &dyn Fn(&Point) -> f64| Curve {
        markers: true,
        ..Curve::new(
            MEASURED,
            study.points.iter().map(|p| (p.threads as f64, value(p))).collect::<Vec<_>>(),
        )
    };
    let speed = Curve {
        error_bars: study
            .points
            .iter()
            .map(|point| {
                let rates = rates(point);
                let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
                (point.threads as f64, least, rates.iter().copied().fold(0.0, f64::max))
            })
            .collect(),
        ..measured(&|point| point.median().words_per_second())
    };
    let panel = |height, y_axis, ideal: [(f64, f64); 2], curve| Panel {
        height,
        y_axis,
        curves: vec![Curve::new(IDEAL, ideal), curve],
        shading: (most > cores)
            .then(|| Shading { from: cores as f64, label: "hyperthreads".into() }),
    };
    let efficiency = measured(&|point| study.efficiency(point));
    Chart {
        title: "Speed-up of translation with threads".into(),
        notes: vec![format!("{}: {}; {}", machine::cpu_name(), study.topology, date::today())],
        legend: vec![
            ("measured (median; bars: slowest to fastest)".into(), MEASURED),
            ("ideal".into(), IDEAL),
        ],
        x_axis: Axis::counts("threads", &counts),
        panels: vec![
            panel(
                300,
                Axis::linear("words per second", 0.0, highest),
                [(1.0, one), (ideal_end, one * ideal_end)],
                speed,
            ),
            panel(
                170,
                Axis::linear("efficiency", 0.0, 1.2),
                [(1.0, 1.0), (most as f64, 1.0)],
                efficiency,
            ),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::super::topology::Topology;
    use super::*;

    /// Draws a study of eight cores with two threads each, whose last point is slower than the one
    /// before, and a study of one thread count, whose x axis has no range.
    #[test]
    fn hyperthreads_are_shaded_and_ideal_lines_end_in_the_panel() {
        let draw_rates = |topology: Topology, rates: &[(usize, u64)]| {
            let counts: Vec<usize> = rates.iter().map(|rate| rate.0).collect();
            let mut study = ScalingStudy::new(topology, &counts);
            for (place, &(_, words)) in rates.iter().enumerate() {
                for words in [words, words * 9 / 10, words * 11 / 10] {
                    let run = RunStats {
                        words,
                        wall_seconds: 1.0,
                        user_seconds: 1.0,
                        system_seconds: 0.0,
                        voluntary_switches: 0,
                        involuntary_switches: 0,
                        peak_bytes: 0,
                    };
                    study.add_run(place, run);
                }
            }
            draw(&study)
        };
        let rates = [(1, 900), (2, 1790), (4, 3500), (8, 6900), (12, 8000), (16, 7900)];
        let shaded = draw_rates(Topology::uniform(1, 8, 2), &rates);
        let [speed, efficiency] = &shaded.panels[..] else { panic!("two panels") };
        assert_eq!([speed, efficiency].map(|p| p.shading.as_ref().unwrap().from), [8.0, 8.0]);
        assert_eq!(speed.curves[1].points[3], (8.0, 6900.0));
        assert_eq!(speed.curves[1].error_bars[3], (8.0, 6210.0, 7590.0));
        assert_eq!(efficiency.curves[1].points[1], (2.0, 1790.0 / 900.0 / 2.0));
        // The ideal line ends at 1.08 times the fastest run.
        let end = 1.08 * 8800.0;
        let (threads, words) = speed.curves[0].points[1];
        assert!((threads - end / 900.0).abs() < 1e-9 && (words - end).abs() < 1e-6);

        let alone = draw_rates(Topology::uniform(2, 8, 1), &rates[..1]);
        assert!(alone.panels.iter().all(|panel| panel.shading.is_none()));
        assert!(alone.to_svg().contains("ideal"));
    }
}
