//! Chart of a scaling study: words per second above and efficiency below, over the number of
//! threads, with a curve for each system.

use miriam_chart::{Axis, Chart, Colour, Curve, LineStyle, Panel, Shading};

use super::study::{Point, ScalingStudy, SystemRuns};
use crate::{date, machine};

/// The colours of systems, which people with colour blindness can tell apart too.
const COLOURS: [Colour; 7] = [
    Colour(0x1f, 0x5f, 0xa8),
    Colour(0xd5, 0x5e, 0x00),
    Colour(0x00, 0x9e, 0x73),
    Colour(0xcc, 0x79, 0xa7),
    Colour(0x56, 0xb4, 0xe9),
    Colour(0xe6, 0x9f, 0x00),
    Colour(0x22, 0x22, 0x22),
];
const IDEAL: LineStyle = LineStyle::dashed(Colour(0x88, 0x88, 0x88));

/// Returns the style of the system with this index.
fn style(place: usize) -> LineStyle {
    let colour = COLOURS[place % COLOURS.len()];
    if place < COLOURS.len() { LineStyle::solid(colour) } else { LineStyle::dashed(colour) }
}

/// Returns the chart of `study`, each of whose points has a run.
pub fn draw(study: &ScalingStudy) -> Chart {
    let counts = study.counts();
    let most = counts.iter().copied().max().unwrap_or(1);
    let cores = study.topology.num_physical_cores();
    let panel = |height, y_axis, curves| Panel {
        height,
        y_axis,
        curves,
        shading: (most > cores)
            .then(|| Shading { from: cores as f64, label: "hyperthreads".into() }),
    };
    let mut legend: Vec<(String, LineStyle)> = match &study.systems[..] {
        [_] => vec![("measured (median; bars: slowest to fastest)".into(), style(0))],
        systems => systems.iter().zip(0..).map(|(s, i)| (s.name.clone(), style(i))).collect(),
    };
    legend.push(("ideal".into(), IDEAL));
    let one = study.systems[0].points[0].median().words_per_second();
    let points = || study.systems.iter().flat_map(|system| &system.points);
    let fastest = points().map(|point| point.spread().1).fold(one, f64::max);
    let mut highest = fastest * 1.08;
    let mut speeds = Vec::new();
    if let [_] = &study.systems[..] {
        // The ideal line may leave the panel, because hyperthreads never reach it.
        highest = highest.max(one * most.min(cores) as f64);
        let end = (most as f64).min(highest / one);
        speeds.push(Curve::new(IDEAL, [(1.0, one), (end, one * end)]));
    }
    let mut efficiencies = vec![Curve::new(IDEAL, [(1.0, 1.0), (most as f64, 1.0)])];
    for (place, system) in study.systems.iter().enumerate() {
        let error_bars = system.points.iter().map(|point| {
            let (low, high) = point.spread();
            (point.threads as f64, low, high)
        });
        speeds.push(Curve {
            error_bars: error_bars.collect(),
            ..curve(place, system, |point| point.median().words_per_second())
        });
        efficiencies.push(curve(place, system, |point| system.efficiency(point)));
    }
    Chart {
        title: "Speed with increasing numbers of threads".into(),
        notes: vec![format!("{}: {}; {}", machine::cpu_name(), study.topology, date::today())],
        legend,
        x_axis: Axis::counts("threads", &counts),
        panels: vec![
            panel(300, Axis::linear("words per second", 0.0, highest), speeds),
            panel(170, Axis::linear("efficiency", 0.0, 1.2), efficiencies),
        ],
    }
}

/// Returns the curve of the system with index `place` over the number of threads.
fn curve(place: usize, system: &SystemRuns, value: impl Fn(&Point) -> f64) -> Curve {
    let points = system.points.iter().map(|point| (point.threads as f64, value(point)));
    Curve { markers: true, ..Curve::new(style(place), points.collect::<Vec<_>>()) }
}

#[cfg(test)]
mod tests {
    use super::super::study::simulated;
    use super::super::topology::Topology;
    use super::*;

    /// Draws a study of eight cores with two threads each, whose last point is slower than the one
    /// before, and a study of one thread count, whose x axis has no range.
    #[test]
    fn hyperthreads_are_shaded_and_ideal_lines_end_in_the_panel() {
        let draw_rates = |topology: Topology, rates: &[(usize, f64)]| {
            let rates: Vec<_> = rates.iter().map(|&(count, rate)| (count, rate, 0.01)).collect();
            draw(&simulated::study(topology, &[("a", &rates)]))
        };
        let rates = [(1, 900.0), (2, 1790.0), (4, 3500.0), (8, 6900.0), (12, 8000.0), (16, 7900.0)];
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

    #[test]
    fn each_system_has_a_curve_and_a_name() {
        let rates = [(1, 100.0, 0.01), (2, 190.0, 0.01)];
        let names: Vec<String> = (0..9).map(|n| format!("system {n}")).collect();
        let systems: Vec<_> = names.iter().map(|name| (&name[..], &rates[..])).collect();
        let chart = draw(&simulated::study(Topology::uniform(1, 2, 1), &systems));
        let styles: Vec<LineStyle> = chart.legend[..9].iter().map(|entry| entry.1).collect();
        for (place, style) in styles.iter().enumerate() {
            assert!(!styles[..place].contains(style), "{style:?} is used twice");
        }
        assert_eq!(chart.panels[0].curves.len(), 9, "words per second have no common ideal");
        assert_eq!(chart.panels[1].curves.len(), 10);
    }
}
