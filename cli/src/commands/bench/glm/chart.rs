//! Queries a second over the size of a batch, as SVG: explicit queries above, whole
//! sentences below, both axes logarithmic.
//!
//! Of `glm` files the default layout is drawn. Solid lines are the last text (held-out
//! text of a synthetic model), dashed ones the others.

use super::super::svg::{DASHED_STROKE, FOREGROUND, SvgCanvas};
use super::report::{Backend, Measurement, QueryMode, Report};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 900.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 830.0;
/// Top and bottom of the two panels.
const PANELS: [(f64, f64); 2] = [(150.0, 460.0), (520.0, 830.0)];

/// The curves: name, colour, and the rows that each shows.
const CURVES: [(&str, &str, RowFilter); 6] = [
    ("glm, kernel alone", "#1f5fa8", |row| row.backend == Backend::Kernel),
    ("glm, with copies", "#4fa3d1", |row| row.backend == Backend::WithCopies),
    ("glm, CPU, all threads", "#2b7a3d", |row| is_batched_on_cpu(row, "glm", true)),
    ("glm, CPU, one thread", "#8abf6a", |row| is_batched_on_cpu(row, "glm", false)),
    ("probing, CPU, one thread", "#b0552f", |row| is_batched_on_cpu(row, "probing", false)),
    ("trie, CPU, one thread", "#d9a441", |row| is_batched_on_cpu(row, "trie", false)),
];

/// Whether a row is on a curve.
type RowFilter = fn(&Measurement) -> bool;

fn is_batched_on_cpu(row: &Measurement, kind: &str, many: bool) -> bool {
    matches!(row.backend, Backend::CpuBatch(threads) if (threads > 1) == many)
        && row.engine.kind == kind
}

/// The picture of `report`.
pub fn draw(report: &Report) -> String {
    let about = report.notes.first().map_or("", String::as_str);
    let title = "n-grams a second over the size of a batch";
    let mut page = SvgCanvas::new((WIDTH, HEIGHT), LEFT, title, about);
    let model = report.notes.get(1).map_or("", String::as_str);
    page.draw_text(LEFT, 70.0, "start", "12", model);
    let drawn = CURVES.iter().filter(|(_, _, belongs)| report.rows.iter().any(belongs));
    for (i, (name, colour, _)) in drawn.enumerate() {
        let (column, line) = ((i % 3) as f64, (i / 3) as f64);
        page.draw_legend_entry((LEFT + 245.0 * column, 92.0 + 18.0 * line), name, colour, "");
    }
    let texts = text_names(report);
    for (i, name) in texts.iter().enumerate() {
        let x = LEFT + 245.0 * i as f64;
        page.draw_legend_entry(
            (x, 128.0),
            name,
            FOREGROUND,
            if i + 1 < texts.len() { DASHED_STROKE } else { "" },
        );
    }
    for (mode, panel) in QueryMode::ALL.into_iter().zip(PANELS) {
        Panel::new(report, panel).draw(&mut page, report, mode, &texts);
    }
    page.draw_text((LEFT + RIGHT) / 2.0, HEIGHT - 20.0, "middle", "13", "queries of a batch");
    page.finish()
}

fn text_names(report: &Report) -> Vec<&str> {
    let mut texts: Vec<&str> = Vec::new();
    for row in &report.rows {
        if !texts.contains(&&row.text[..]) {
            texts.push(&row.text);
        }
    }
    texts
}

/// One panel: powers of ten from and to, of both axes.
struct Panel {
    vertical_range: (f64, f64),
    batch_powers: (f64, f64),
    rate_powers: (f64, f64),
}

impl Panel {
    fn new(report: &Report, vertical_range: (f64, f64)) -> Self {
        let span = |values: &dyn Fn(&Measurement) -> f64| {
            let powers = report.rows.iter().map(|row| values(row).max(1.0).log10());
            let (low, high) = powers
                .fold((f64::MAX, f64::MIN), |(low, high), power| (low.min(power), high.max(power)));
            let low = low.floor().min(9.0);
            // At least a decade, so that there is something to divide.
            (low, high.ceil().max(low + 1.0))
        };
        Panel {
            vertical_range,
            batch_powers: span(&|row| row.batch as f64),
            rate_powers: span(&Measurement::rate),
        }
    }

    fn to_page(&self, batch: f64, rate: f64) -> (f64, f64) {
        let share = |value: f64, (low, high): (f64, f64)| {
            ((value.max(1.0).log10() - low) / (high - low)).clamp(0.0, 1.0)
        };
        let (top, bottom) = self.vertical_range;
        let x = LEFT + 20.0 + share(batch, self.batch_powers) * (RIGHT - LEFT - 40.0);
        (x, bottom - share(rate, self.rate_powers) * (bottom - top))
    }

    fn draw(&self, page: &mut SvgCanvas, report: &Report, mode: QueryMode, texts: &[&str]) {
        let (top, bottom) = self.vertical_range;
        for power in self.rate_powers.0 as i32..=self.rate_powers.1 as i32 {
            let (_, y) = self.to_page(1.0, 10f64.powi(power));
            page.draw_grid_line((LEFT, RIGHT), y, &power_label(power));
        }
        page.draw_axes((LEFT, RIGHT), self.vertical_range);
        for power in self.batch_powers.0 as i32..=self.batch_powers.1 as i32 {
            let (x, _) = self.to_page(10f64.powi(power), 1.0);
            page.draw_tick((x, bottom), Some(&power_label(power)));
        }
        let name = match mode {
            QueryMode::Explicit => "explicit queries a second",
            QueryMode::Sentences => "words of sentences a second",
        };
        page.draw_vertical_text(24.0, (top + bottom) / 2.0, name);
        for (_, colour, belongs) in CURVES {
            for (i, text) in texts.iter().enumerate() {
                let drawn = |row: &&Measurement| {
                    row.mode == mode
                        && row.text == *text
                        && (row.engine.is_default || row.engine.kind != "glm")
                        && belongs(row)
                };
                let rows = report.rows.iter().filter(drawn);
                let mut places: Vec<(f64, f64)> =
                    rows.map(|row| self.to_page(row.batch as f64, row.rate())).collect();
                places.sort_by(|a, b| a.0.total_cmp(&b.0));
                if places.is_empty() {
                    continue;
                }
                let style = if i + 1 < texts.len() { DASHED_STROKE } else { "" };
                page.draw_polyline(&places, colour, style);
                for place in places {
                    page.draw_dot(place, colour);
                }
            }
        }
    }
}

/// A power of ten, in few letters.
fn power_label(power: i32) -> String {
    let (unit, rest) = match power {
        ..3 => ("", power),
        3..6 => ("k", power - 3),
        6..9 => ("M", power - 6),
        _ => ("G", power - 9),
    };
    format!("{}{unit}", 10i64.pow(rest.max(0) as u32))
}

#[cfg(test)]
mod tests {
    use miriam_glm::GlmOptions;

    use super::super::report::Engine;
    use super::*;

    fn measurement(
        engine: &Engine,
        place: Backend,
        mode: QueryMode,
        batch: usize,
        rate: f64,
    ) -> Measurement {
        Measurement {
            engine: engine.clone(),
            backend: place,
            mode,
            text: "a & b".into(),
            batch,
            queries: batch,
            wall_seconds: batch as f64 / rate,
            cpu_seconds: None,
            sectors_per_query: None,
            ceiling: None,
        }
    }

    /// From a thousand queries a second to thousands of millions, and a report of
    /// nothing.
    #[test]
    fn everything_lies_on_the_page() {
        let default_engine = Engine::glm(GlmOptions::default(), 5);
        let other = Engine::glm(GlmOptions { max_hashed_order: 0, ..GlmOptions::default() }, 5);
        let trie = Engine::other("trie");
        let mut report = Report::default();
        for mode in QueryMode::ALL {
            for power in 2..=7 {
                let (batch, rate) = (10usize.pow(power), 3.0 * 10f64.powi(power as i32 + 2));
                report.rows.push(measurement(&default_engine, Backend::Kernel, mode, batch, rate));
                report.rows.push(measurement(
                    &default_engine,
                    Backend::WithCopies,
                    mode,
                    batch,
                    rate / 5.0,
                ));
                report.rows.push(measurement(&other, Backend::Kernel, mode, batch, 2.0 * rate));
            }
            report.rows.push(measurement(&trie, Backend::CpuBatch(1), mode, 250_000, 7e3));
            report.rows.push(measurement(&trie, Backend::CpuSingle(1), mode, 250_000, 1e3));
        }
        let drawn = draw(&report);
        let document = roxmltree::Document::parse(&drawn).unwrap();
        let of = |tag: &str| document.descendants().filter(|n| n.tag_name().name() == tag).count();
        assert_eq!((of("polyline"), of("circle")), (2 * 3, 2 * (6 + 6 + 1)));
        assert_eq!(drawn.matches(">glm, kernel alone<").count(), 1);
        assert_eq!(drawn.matches(">probing, CPU, one thread<").count(), 0, "it was not measured");
        for svg in [drawn, draw(&Report::default())] {
            let document = roxmltree::Document::parse(&svg).unwrap();
            for attribute in document.descendants().flat_map(|node| node.attributes()) {
                let most = match attribute.name() {
                    "x" | "x1" | "x2" | "cx" => WIDTH,
                    "y" | "y1" | "y2" | "cy" => HEIGHT,
                    _ => continue,
                };
                let value: f64 = attribute.value().parse().unwrap();
                assert!((0.0..=most).contains(&value), "{attribute:?}");
            }
        }
    }

    #[test]
    fn powers_of_ten_are_short() {
        assert_eq!(
            [0, 2, 3, 5, 6, 9, 10].map(power_label),
            ["1", "100", "1k", "100k", "1M", "1G", "10G"]
        );
    }
}
