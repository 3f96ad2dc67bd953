//! The curves of a study as SVG: words a second above, efficiency below, over the
//! number of threads.

use super::super::svg::{DASHED_STROKE, SvgCanvas};
use super::super::{date, machine};
use super::report::{Point, ScalingStudy};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 640.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 830.0;
/// Top and bottom of the two panels.
const SPEED_PANEL: (f64, f64) = (84.0, 370.0);
const EFFICIENCY_PANEL: (f64, f64) = (420.0, 580.0);

const CURVE: &str = "#1f5fa8";
const IDEAL: &str = "#888888";
const SHADE: &str = "#f1ece0";

/// The picture of `study`.
pub fn draw(study: &ScalingStudy) -> String {
    let most = study.points.iter().map(|point| point.threads).max().unwrap_or(1);
    let one = study.points[0].median().words_per_second();
    let fastest =
        study.points.iter().flat_map(|point| &point.runs).map(|run| run.words_per_second());
    let fastest = fastest.fold(one, f64::max);
    let cores = study.topology.num_physical_cores();
    // The ideal line may leave the panel: hyperthreads are never ideal.
    let highest = (fastest * 1.08).max(one * most.min(cores) as f64);
    let machine = format!("{}: {}; {}", machine::cpu_name(), study.topology, date::today());
    let title = "How translation speeds up with threads";
    let page = SvgCanvas::new((WIDTH, HEIGHT), LEFT, title, &machine);
    let mut page = Chart { canvas: page, max_threads: most as f64 };

    for panel in [SPEED_PANEL, EFFICIENCY_PANEL] {
        page.shade_hyperthreads(panel, cores);
    }
    let speed = Axis { panel: SPEED_PANEL, highest: nice_ceiling(highest) };
    page.draw_axes(&speed, "words a second", &study.points);
    page.draw_clipped_line(
        &[(1.0, one), (most as f64, one * most as f64)],
        &speed,
        IDEAL,
        DASHED_STROKE,
    );
    page.draw_curve(&speed, &study.points, |point| point.median().words_per_second());
    for point in &study.points {
        page.draw_error_bar(&speed, point);
    }
    let efficiency = Axis { panel: EFFICIENCY_PANEL, highest: 1.2 };
    page.draw_axes(&efficiency, "efficiency", &study.points);
    page.draw_clipped_line(&[(1.0, 1.0), (most as f64, 1.0)], &efficiency, IDEAL, DASHED_STROKE);
    page.draw_curve(&efficiency, &study.points, |point| study.efficiency(point));

    let mut page = page.canvas;
    page.draw_text((LEFT + RIGHT) / 2.0, 622.0, "middle", "13", "threads");
    page.draw_legend_entry((LEFT, 72.0), "measured (median; bars: slowest to fastest)", CURVE, "");
    page.draw_legend_entry((LEFT + 310.0, 72.0), "ideal", IDEAL, DASHED_STROKE);
    page.finish()
}

/// A vertical axis from 0.
struct Axis {
    panel: (f64, f64),
    highest: f64,
}

impl Axis {
    /// The vertical coordinate of a value; values above the panel are clipped to its top.
    fn y(&self, value: f64) -> f64 {
        let (top, bottom) = self.panel;
        (bottom - value / self.highest * (bottom - top)).max(top)
    }
}

/// A page with the number of threads as its horizontal axis.
struct Chart {
    canvas: SvgCanvas,
    max_threads: f64,
}

impl Chart {
    fn x(&self, threads: f64) -> f64 {
        // A single count is in the middle.
        let share =
            if self.max_threads > 1.0 { (threads - 1.0) / (self.max_threads - 1.0) } else { 0.5 };
        // A margin for the dots.
        LEFT + 20.0 + share * (RIGHT - LEFT - 40.0)
    }

    /// Shades the thread counts beyond the physical cores.
    fn shade_hyperthreads(&mut self, (top, bottom): (f64, f64), cores: usize) {
        if self.max_threads <= cores as f64 {
            return;
        }
        let x = self.x(cores as f64);
        self.canvas.draw_rectangle((x, top), (RIGHT - x, bottom - top), SHADE);
        self.canvas.draw_text((x + RIGHT) / 2.0, bottom - 8.0, "middle", "12", "hyperthreads");
    }

    /// Frame, ticks and labels of a panel.
    fn draw_axes(&mut self, axis: &Axis, label: &str, points: &[Point]) {
        let (top, bottom) = axis.panel;
        let step = nice_step(axis.highest / 6.0);
        let mut tick = 0.0;
        while tick <= axis.highest * 1.0001 {
            self.canvas.draw_grid_line((LEFT, RIGHT), axis.y(tick), &tick_label(tick, step));
            tick += step;
        }
        self.canvas.draw_axes((LEFT, RIGHT), (top, bottom));
        // Counts close together would write over each other.
        let mut last = f64::NEG_INFINITY;
        for point in points {
            let x = self.x(point.threads as f64);
            let label = point.threads.to_string();
            let has_room = x - last >= 24.0;
            self.canvas.draw_tick((x, bottom), has_room.then_some(&label));
            last = if has_room { x } else { last };
        }
        self.canvas.draw_vertical_text(24.0, (top + bottom) / 2.0, label);
    }

    /// A line through these counts and values, cut at the panel's top.
    fn draw_clipped_line(&mut self, values: &[(f64, f64)], axis: &Axis, colour: &str, style: &str) {
        let mut places = Vec::new();
        for (i, &(threads, value)) in values.iter().enumerate() {
            if value > axis.highest && i > 0 && values[i - 1].1 < axis.highest {
                let (from, low) = values[i - 1];
                let share = (axis.highest - low) / (value - low);
                places.push((from + share * (threads - from), axis.highest));
                break;
            }
            places.push((threads, value));
        }
        let place = |&(threads, value): &(f64, f64)| (self.x(threads), axis.y(value));
        let places: Vec<(f64, f64)> = places.iter().map(place).collect();
        self.canvas.draw_polyline(&places, colour, style);
    }

    /// The measured values of every count, with a dot each.
    fn draw_curve(&mut self, axis: &Axis, points: &[Point], value: impl Fn(&Point) -> f64) {
        let values: Vec<(f64, f64)> =
            points.iter().map(|point| (point.threads as f64, value(point))).collect();
        self.draw_clipped_line(&values, axis, CURVE, "");
        for (threads, value) in values {
            self.canvas.draw_dot((self.x(threads), axis.y(value)), CURVE);
        }
    }

    /// From the slowest to the fastest run of a count.
    fn draw_error_bar(&mut self, axis: &Axis, point: &Point) {
        let rates = point.runs.iter().map(|run| run.words_per_second());
        let (low, high) = (rates.clone().fold(f64::INFINITY, f64::min), rates.fold(0.0, f64::max));
        let x = self.x(point.threads as f64);
        let style = format!("stroke=\"{CURVE}\" stroke-width=\"1\"");
        self.canvas.draw_line((x, axis.y(low)), (x, axis.y(high)), &style);
        for end in [low, high] {
            self.canvas.draw_line((x - 4.0, axis.y(end)), (x + 4.0, axis.y(end)), &style);
        }
    }
}

/// 1, 2 or 5 times a power of ten, the least that is not below `least`.
fn nice_step(least: f64) -> f64 {
    let power = 10f64.powf(least.max(1e-9).log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let fits = |factor: &&f64| **factor * power >= least * 0.9999;
    factors.iter().find(fits).unwrap_or(&10.0) * power
}

/// A whole number of steps, not below `value`.
fn nice_ceiling(value: f64) -> f64 {
    let step = nice_step(value / 5.0);
    (value / step).ceil() * step
}

fn tick_label(value: f64, step: f64) -> String {
    if step >= 1.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

#[cfg(test)]
mod tests {
    use super::super::process::RunStats;
    use super::super::topology::Topology;
    use super::*;

    /// Eight cores with two threads each, the last point slower than the one
    /// before; and a study of one count, which has no range to draw over.
    #[test]
    fn hyperthreads_are_shaded_and_everything_lies_on_the_page() {
        let draw_rates = |topology: Topology, rates: &[(usize, u64)]| {
            let counts: Vec<usize> = rates.iter().map(|rate| rate.0).collect();
            let mut study = ScalingStudy::new(topology, &counts);
            for (place, &(_, words)) in rates.iter().enumerate() {
                for words in [words, words * 9 / 10, words * 11 / 10] {
                    let (wall, user, system) = (1.0, 1.0, 0.0);
                    let (voluntary, involuntary, peak) = (0, 0, 0);
                    study.add_run(
                        place,
                        RunStats {
                            words,
                            wall_seconds: wall,
                            user_seconds: user,
                            system_seconds: system,
                            voluntary_switches: voluntary,
                            involuntary_switches: involuntary,
                            peak_bytes: peak,
                        },
                    );
                }
            }
            draw(&study)
        };
        let rates = [(1, 900), (2, 1790), (4, 3500), (8, 6900), (12, 8000), (16, 7900)];
        let shaded = draw_rates(Topology::uniform(1, 8, 2), &rates);
        let alone = draw_rates(Topology::uniform(2, 8, 1), &rates[..1]);
        let count = |svg: &str, tag: &str| {
            let document = roxmltree::Document::parse(svg).unwrap();
            document.descendants().filter(|node| node.tag_name().name() == tag).count()
        };
        assert_eq!((count(&shaded, "circle"), count(&alone, "circle")), (12, 2));
        assert_eq!((count(&shaded, "rect"), count(&alone, "rect")), (3, 1));
        assert_eq!(shaded.matches(">hyperthreads<").count(), 2);
        for svg in [&shaded, &alone] {
            let document = roxmltree::Document::parse(svg).unwrap();
            let attributes = document.descendants().flat_map(|node| node.attributes());
            for attribute in attributes.filter(|a| ["x", "x1", "x2", "cx"].contains(&a.name())) {
                let x: f64 = attribute.value().parse().unwrap();
                assert!((0.0..=WIDTH).contains(&x), "{x}");
            }
            for attribute in document.descendants().flat_map(|node| node.attributes()) {
                if ["y", "y1", "y2", "cy"].contains(&attribute.name()) {
                    let y: f64 = attribute.value().parse().unwrap();
                    assert!((0.0..=HEIGHT).contains(&y), "{y}");
                }
            }
        }
        // To be looked at: MIRIAM_DRAW=FOLDER cargo test ...
        if let Some(folder) = std::env::var_os("MIRIAM_DRAW") {
            std::fs::write(std::path::Path::new(&folder).join("hyperthreads.svg"), shaded).unwrap();
        }
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!([nice_step(0.24), nice_step(3.0), nice_step(1000.0)], [0.5, 5.0, 1000.0]);
        assert_eq!(nice_ceiling(1234.0), 1500.0);
        assert_eq!(
            (tick_label(0.6, 0.2), tick_label(2000.0, 500.0)),
            ("0.6".into(), "2000".into())
        );
    }
}
