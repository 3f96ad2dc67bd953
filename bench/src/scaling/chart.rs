//! Chart of a scaling study: panels over the number of threads, with a curve for each system.
//!
//! The panels are words per second, speed-up (only if there are several systems), efficiency, and
//! the share of CPU time in the operating system's kernel. Cores and hyperthreads are bands of the
//! x axis.

use miriam_chart::{Axis, Band, Chart, Colour, Curve, LineStyle, Panel};
use miriam_textio::date;

use super::study::{Point, ScalingStudy, SystemRuns};
use super::topology::Topology;
use crate::machine;

const IDEAL: LineStyle = LineStyle::dashed(Colour(0x88, 0x88, 0x88));

/// The speed axis is logarithmic if the fastest run is more than this many times as fast as the
/// best median of the slowest system, whose curve would otherwise lie on the x axis.
const LOGARITHMIC_FROM: f64 = 8.0;

/// The minimum upper end of the axis of system time, in per cent: with a smaller one, noise would
/// fill the panel.
const MIN_SYSTEM_TIME_TOP: f64 = 5.0;

/// The minimum and maximum upper end of the efficiency axis. The minimum leaves room above the
/// ideal, 1. Points above the maximum, which come from disturbed single-thread runs, are cut off,
/// so that they do not flatten the other curves.
const EFFICIENCY_AXIS_TOP: [f64; 2] = [1.2, 1.6];

/// Draws `study`.
///
/// # Panics
/// If a point has no runs.
pub fn draw(study: &ScalingStudy) -> Chart {
    let counts = study.thread_counts();
    let max_threads = counts.iter().copied().max().unwrap_or(1);
    let cores = max_threads.min(study.topology.num_physical_cores()) as f64;
    let is_single = study.systems.len() == 1;
    let mut legend: Vec<(String, LineStyle)> = if is_single {
        let label = "measured (median; bars: slowest to fastest)";
        vec![(label.into(), LineStyle::for_curve(0))]
    } else {
        let systems = study.systems.iter().enumerate();
        systems.map(|(index, system)| (system.name.clone(), LineStyle::for_curve(index))).collect()
    };
    legend.push(("ideal".into(), IDEAL));
    let mut panels = vec![draw_speeds(study, cores)];
    if !is_single {
        let curves = draw_curves(study, |system, point| system.speed_up(point));
        let ideal = Curve::new(IDEAL, [(1.0, 1.0), (cores, cores)]);
        let top = highest(&curves).max(cores);
        panels.push(Panel {
            height: 230,
            y_axis: Axis::linear("speed-up", 0.0, top),
            curves: [vec![ideal], curves].concat(),
        });
    }
    let curves = draw_curves(study, |system, point| system.efficiency(point));
    let ideal = Curve::new(IDEAL, [(1.0, 1.0), (max_threads as f64, 1.0)]);
    let [min_top, max_top] = EFFICIENCY_AXIS_TOP;
    panels.push(Panel {
        height: 170,
        y_axis: Axis::linear("efficiency", 0.0, highest(&curves).clamp(min_top, max_top)),
        curves: [vec![ideal], curves].concat(),
    });
    let curves = draw_curves(study, |_, point| 100.0 * point.median().system_share());
    panels.push(Panel {
        height: 150,
        y_axis: Axis::linear("% system time", 0.0, highest(&curves).max(MIN_SYSTEM_TIME_TOP)),
        curves,
    });
    let mut notes = vec![format!("{}: {}; {}", machine::cpu_name(), study.topology, date::today())];
    if !is_single {
        notes.push("points: medians; bars: slowest to fastest".into());
    }
    Chart {
        title: "Speed with increasing numbers of threads".into(),
        notes,
        legend,
        x_axis: Axis::counts("threads", &counts),
        panels,
        bands: bands(&study.topology, max_threads),
    }
}

/// Returns the bands of an axis of up to `max_threads` threads: one band for the cores (or one per
/// socket) and one for the hyperthreads. A band starts halfway between two thread counts.
fn bands(topology: &Topology, max_threads: usize) -> Vec<Band> {
    let sockets = topology.cores_per_socket();
    let mut bands = Vec::new();
    let mut first_core = 0;
    for (socket, cores) in sockets.iter().enumerate() {
        let label = match sockets.len() {
            1 => "cores".into(),
            _ => format!("cores of socket {}", socket + 1),
        };
        bands.push(Band { from: first_core as f64 + 0.5, label, is_shaded: false });
        first_core += cores;
    }
    let hyperthreads = first_core as f64 + 0.5;
    bands.push(Band { from: hyperthreads, label: "hyperthreads".into(), is_shaded: true });
    bands.retain(|band| band.from < max_threads as f64);
    // A single band is the whole axis.
    if bands.len() == 1 { Vec::new() } else { bands }
}

/// Returns the panel of words per second. With a single system, also draws its ideal speed, up to
/// `cores` threads.
fn draw_speeds(study: &ScalingStudy, cores: f64) -> Panel {
    const LABEL: &str = "words per second";
    let mut curves = draw_curves(study, |_, point| point.median().words_per_second());
    for (curve, system) in curves.iter_mut().zip(&study.systems) {
        let error_bars = system.points.iter().map(|point| {
            let (low, high) = point.spread();
            (point.threads as f64, low, high)
        });
        curve.error_bars = error_bars.collect();
    }
    let bars: Vec<_> = curves.iter().flat_map(|curve| curve.error_bars.clone()).collect();
    let fastest = bars.iter().map(|bar| bar.2).fold(0.0, f64::max);
    let best = study.systems.iter().map(|system| system.fastest().median().words_per_second());
    let slowest = best.fold(f64::INFINITY, f64::min);
    let y_axis = if fastest > LOGARITHMIC_FROM * slowest {
        Axis::logarithmic(LABEL, bars.iter().flat_map(|bar| [bar.1, bar.2]))
    } else if let [system] = &study.systems[..] {
        // The axis covers the ideal line, which ends at the number of cores, because hyperthreads
        // never scale ideally.
        let single_thread_rate = system.points[0].median().words_per_second();
        let ideal_end = (cores, cores * single_thread_rate);
        curves.insert(0, Curve::new(IDEAL, [(1.0, single_thread_rate), ideal_end]));
        Axis::linear(LABEL, 0.0, (1.04 * fastest).max(ideal_end.1))
    } else {
        Axis::linear(LABEL, 0.0, 1.04 * fastest)
    };
    Panel { height: 300, y_axis, curves }
}

/// Returns a curve for each system: `value` over the number of threads.
fn draw_curves(study: &ScalingStudy, value: impl Fn(&SystemRuns, &Point) -> f64) -> Vec<Curve> {
    let systems = study.systems.iter().enumerate();
    systems
        .map(|(index, system)| {
            let points = system.points.iter();
            let points = points.map(|point| (point.threads as f64, value(system, point)));
            Curve {
                markers: true,
                ..Curve::new(LineStyle::for_curve(index), points.collect::<Vec<_>>())
            }
        })
        .collect()
}

/// Returns the highest value of any curve, or 0.
fn highest(curves: &[Curve]) -> f64 {
    curves.iter().flat_map(|curve| &curve.points).map(|point| point.1).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::plan::select_counts;
    use super::super::study::simulated;
    use super::*;

    /// `(threads, words per second, seconds in the kernel)`, as [`simulated::study`] takes them.
    type Rates = Vec<(usize, f64, f64)>;

    /// Returns rates with little time in the kernel from `(threads, words per second)`.
    fn rates(speeds: &[(usize, f64)]) -> Rates {
        speeds.iter().map(|&(count, rate)| (count, rate, 0.01)).collect()
    }

    /// Returns speeds by Amdahl's law on the default thread counts of a machine: the fraction
    /// `serial` of the work is serial, and a hyperthread adds a quarter of a core.
    fn simulate(topology: &Topology, single_thread_rate: f64, serial: f64) -> Rates {
        let cores = topology.num_physical_cores() as f64;
        let counts = select_counts(&[], topology).unwrap();
        counts
            .into_iter()
            .map(|count| {
                let hyperthreads = (count as f64 - cores).max(0.0);
                let effective_cores = (count as f64).min(cores) + 0.25 * hyperthreads;
                let rate = single_thread_rate / (serial + (1.0 - serial) / effective_cores);
                (count, rate, (0.4 * serial * count as f64).min(1.9))
            })
            .collect()
    }

    #[test]
    fn cores_and_hyperthreads_are_bands() {
        let places = |topology: &Topology, max_threads| {
            let bands = bands(topology, max_threads);
            bands.iter().map(|b| (b.from, b.label.clone(), b.is_shaded)).collect::<Vec<_>>()
        };
        let one = Topology::uniform(1, 8, 2);
        let cores = (0.5, "cores".to_owned(), false);
        let both = [cores, (8.5, "hyperthreads".to_owned(), true)];
        assert_eq!(places(&one, 16), both);
        assert_eq!(places(&one, 9), both);
        assert_eq!(places(&one, 8), [], "cores alone need no label");
        let sockets = Topology::uniform(2, 8, 2);
        let found = places(&sockets, 32);
        assert_eq!(found[0], (0.5, "cores of socket 1".to_owned(), false));
        assert_eq!(found[1], (8.5, "cores of socket 2".to_owned(), false));
        assert_eq!(found[2], (16.5, "hyperthreads".to_owned(), true));
        assert_eq!(places(&sockets, 16).len(), 2);
        assert_eq!(places(&sockets, 4), []);
    }

    /// A study of eight cores with two threads each, whose last point is slower than the one
    /// before.
    #[test]
    fn one_system_has_its_ideal_in_the_panel_of_speeds() {
        let measured =
            [(1, 900.0), (2, 1790.0), (4, 3500.0), (8, 6900.0), (12, 8000.0), (16, 7900.0)];
        let topology = Topology::uniform(1, 8, 2);
        let chart = draw(&simulated::study(topology, &[("a", &rates(&measured))]));
        let [speed, efficiency, kernel] = &chart.panels[..] else { panic!("three panels") };
        assert_eq!(speed.curves[0].points, [(1.0, 900.0), (8.0, 7200.0)]);
        assert_eq!(speed.curves[1].points[3], (8.0, 6900.0));
        assert_eq!(speed.curves[1].error_bars[3], (8.0, 6210.0, 7590.0));
        assert_eq!(efficiency.curves[1].points[1], (2.0, 1790.0 / 900.0 / 2.0));
        assert_eq!(kernel.curves[0].points[0], (1.0, 0.5));
    }

    /// The x axis of a single thread count has no range.
    #[test]
    fn a_single_thread_count_has_no_bands() {
        let study = simulated::study(Topology::uniform(2, 8, 1), &[("a", &rates(&[(1, 900.0)]))]);
        let chart = draw(&study);
        assert!(chart.bands.is_empty() && chart.to_svg().contains("ideal"));
    }

    #[test]
    fn each_system_has_a_curve_and_a_name() {
        let rates = rates(&[(1, 100.0), (2, 190.0)]);
        let names: Vec<String> = (0..9).map(|n| format!("system {n}")).collect();
        let systems: Vec<_> = names.iter().map(|name| (&name[..], &rates[..])).collect();
        let chart = draw(&simulated::study(Topology::uniform(1, 2, 1), &systems));
        let styles: Vec<LineStyle> = chart.legend[..9].iter().map(|entry| entry.1).collect();
        for (index, style) in styles.iter().enumerate() {
            assert!(!styles[..index].contains(style), "{style:?} is used twice");
        }
        let curves: Vec<usize> = chart.panels.iter().map(|panel| panel.curves.len()).collect();
        assert_eq!(curves, [9, 10, 10, 9], "speed-up and efficiency have an ideal");
    }

    #[test]
    fn speeds_far_apart_have_a_logarithmic_axis() {
        let axis = |slow: f64| {
            let [quick, slow] = [1000.0, slow].map(|rate| rates(&[(1, rate), (2, rate * 1.9)]));
            let systems = [("quick", &quick[..]), ("slow", &slow[..])];
            let study = simulated::study(Topology::uniform(1, 2, 1), &systems);
            draw_speeds(&study, 2.0).y_axis
        };
        let label = "words per second";
        assert_eq!(axis(500.0), Axis::linear(label, 0.0, 1.04 * 1900.0 * 1.1));
        assert_eq!(axis(50.0), Axis::logarithmic(label, [45.0, 2090.0]));
    }

    /// Charts of machines from 1 to 64 cores with two threads each: labels do not overlap, and
    /// everything lies on the page. Set `MIRIAM_CHARTS` to a folder to keep the charts.
    #[test]
    fn charts_of_all_machines_are_legible() {
        for (sockets, cores) in
            [(1, 1), (1, 2), (1, 4), (1, 6), (2, 4), (1, 16), (2, 8), (1, 24), (2, 32), (1, 64)]
        {
            let topology = Topology::uniform(sockets, cores, 2);
            let quick = simulate(&topology, 5_000.0, 0.01);
            let slow = simulate(&topology, 3_000.0, 0.2);
            let far = simulate(&topology, 90.0, 0.05);
            let all = [
                ("integrated", &quick[..]),
                ("separate reordering table", &slow[..]),
                ("another program", &far[..]),
            ];
            for systems in 1..=3 {
                let chart = draw(&simulated::study(topology.clone(), &all[..systems]));
                let svg = chart.to_svg();
                if let Some(folder) = std::env::var_os("MIRIAM_CHARTS") {
                    let name = format!("{sockets}x{cores}-{systems}.svg");
                    std::fs::write(std::path::Path::new(&folder).join(name), &svg).unwrap();
                }
                check_texts(&svg, &format!("{topology}, {systems} systems"));
            }
        }
    }

    /// Checks that the texts of an SVG lie on its page and apart from each other, in a wide font,
    /// whose letters are 0.58 times as wide as their size.
    fn check_texts(svg: &str, what: &str) {
        let document = roxmltree::Document::parse(svg).unwrap();
        let page = document.root_element();
        fn number(node: roxmltree::Node<'_, '_>, name: &str) -> f64 {
            node.attribute(name).unwrap_or("0").parse().unwrap()
        }
        let size = [number(page, "width"), number(page, "height")];
        let mut boxes: Vec<([f64; 4], String)> = Vec::new();
        for node in document.descendants().filter(|node| node.has_tag_name("text")) {
            let text = node.text().unwrap_or("").trim().to_owned();
            if text.is_empty() {
                continue;
            }
            let height = number(node, "font-size");
            let width = 0.58 * height * text.chars().count() as f64;
            let (x, y) = (number(node, "x"), number(node, "y"));
            let left = match node.attribute("text-anchor") {
                Some("middle") => x - width / 2.0,
                Some("end") => x - width,
                _ => x,
            };
            let place = match node.attribute("transform") {
                // Labels of vertical axes are turned by 90 degrees.
                Some(_) => [x, y - width / 2.0, x + height, y + width / 2.0],
                None => {
                    let (above, below) = match node.attribute("dy") {
                        Some("0.5ex") => (0.4, 0.4),
                        Some("0.76em") => (0.0, 0.8),
                        _ => (0.7, 0.1),
                    };
                    [left, y - above * height, left + width, y + below * height]
                }
            };
            assert!(place[0] >= 0.0 && place[1] >= 0.0, "{what}: {text} {place:?}");
            assert!(place[2] <= size[0] && place[3] <= size[1], "{what}: {text} {place:?}");
            boxes.push((place, text));
        }
        assert!(boxes.len() > 10, "{what}: only {} texts", boxes.len());
        for (i, (a, text)) in boxes.iter().enumerate() {
            for (b, other) in &boxes[..i] {
                let apart = a[0] >= b[2] || b[0] >= a[2] || a[1] >= b[3] || b[1] >= a[3];
                assert!(apart, "{what}: {text:?} {a:?} overlaps {other:?} {b:?}");
            }
        }
    }
}
