//! Chart of queries per second over batch size: explicit queries above, sentences below, both axes
//! logarithmic.
//!
//! Only the default layout of `glm` files is drawn, because the curves of all layouts would be too
//! many. Solid curves belong to the last text (the held-out-like text of a synthetic model), dashed
//! curves to the others.

use miriam_chart::{Axis, Chart, Colour, Curve, LineStyle, Panel};

use super::report::{Backend, Measurement, QueryMode, Report};
use crate::statistics::distinct;

const INK: Colour = Colour(0x22, 0x22, 0x22);

/// The curves: name, colour, and the rows that they show.
const CURVES: [(&str, Colour, RowFilter); 6] = [
    ("glm, kernel alone", Colour(0x1f, 0x5f, 0xa8), |row| row.backend == Backend::Kernel),
    ("glm, with copies", Colour(0x4f, 0xa3, 0xd1), |row| row.backend == Backend::WithCopies),
    ("glm, CPU, all threads", Colour(0x2b, 0x7a, 0x3d), |row| is_batched_on_cpu(row, "glm", true)),
    ("glm, CPU, one thread", Colour(0x8a, 0xbf, 0x6a), |row| is_batched_on_cpu(row, "glm", false)),
    ("probing, CPU, one thread", Colour(0xb0, 0x55, 0x2f), |row| {
        is_batched_on_cpu(row, "probing", false)
    }),
    ("trie, CPU, one thread", Colour(0xd9, 0xa4, 0x41), |row| {
        is_batched_on_cpu(row, "trie", false)
    }),
];

/// Whether a row is on a curve.
type RowFilter = fn(&Measurement) -> bool;

fn is_batched_on_cpu(row: &Measurement, kind: &str, many: bool) -> bool {
    matches!(row.backend, Backend::CpuBatch(threads) if (threads > 1) == many)
        && row.engine.kind == kind
}

/// Returns the chart of `report`.
pub fn draw(report: &Report<'_>) -> Chart {
    let texts = text_names(report);
    let style = |colour, text: usize| LineStyle { colour, is_dashed: text + 1 < texts.len() };
    let drawn = CURVES.iter().filter(|(_, _, belongs)| report.rows.iter().any(belongs));
    let engines = drawn.map(|(name, colour, _)| ((*name).to_owned(), LineStyle::solid(*colour)));
    let kinds = texts.iter().enumerate().map(|(i, name)| ((*name).to_owned(), style(INK, i)));
    Chart {
        title: "n-grams per second over batch size".into(),
        notes: report.notes.iter().take(2).cloned().collect(),
        legend: engines.chain(kinds).collect(),
        x_axis: Axis::logarithmic(
            "batch size (queries)",
            report.rows.iter().map(|row| row.batch as f64),
        ),
        bands: Vec::new(),
        panels: [
            (QueryMode::Explicit, "explicit queries per second"),
            (QueryMode::Sentences, "words of sentences per second"),
        ]
        .map(|(mode, label)| {
            let curves = CURVES.iter().flat_map(|(_, colour, belongs)| {
                texts.iter().enumerate().filter_map(move |(i, text)| {
                    let rows = report.rows.iter().filter(|row: &&Measurement| {
                        row.mode == mode
                            && row.text == *text
                            && (row.engine.is_default || row.engine.kind != "glm")
                            && belongs(row)
                    });
                    let mut points: Vec<(f64, f64)> =
                        rows.map(|row| (row.batch as f64, row.rate())).collect();
                    points.sort_by(|a, b| a.0.total_cmp(&b.0));
                    let curve = Curve { markers: true, ..Curve::new(style(*colour, i), points) };
                    (!curve.points.is_empty()).then_some(curve)
                })
            });
            Panel {
                height: 320,
                y_axis: Axis::logarithmic(label, report.rows.iter().map(Measurement::rate)),
                curves: curves.collect(),
            }
        })
        .into(),
    }
}

fn text_names<'r>(report: &'r Report<'_>) -> Vec<&'r str> {
    distinct(report.rows.iter().map(|row| row.text.as_str()))
}

#[cfg(test)]
mod tests {
    use miriam_glm::GlmOptions;

    use super::super::HardwarePrices;
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
            bytes_per_ngram: 20.0,
        }
    }

    /// Measurements of the default layout on two backends, of another layout, which is not drawn,
    /// and of a trie.
    #[test]
    fn default_layouts_and_other_models_are_drawn() {
        let default_engine = Engine::glm(GlmOptions::default(), 5);
        let other = Engine::glm(GlmOptions { max_hashed_order: 0, ..GlmOptions::default() }, 5);
        let trie = Engine::other("trie");
        let mut sink = std::io::sink();
        let mut report = Report::new(&mut sink, HardwarePrices::default(), 1);
        for mode in QueryMode::ALL {
            for power in 2..=7 {
                let (batch, rate) = (10usize.pow(power), 3.0 * 10f64.powi(power as i32 + 2));
                for (engine, backend, rate) in [
                    (&default_engine, Backend::Kernel, rate),
                    (&default_engine, Backend::WithCopies, rate / 5.0),
                    (&other, Backend::Kernel, 2.0 * rate),
                ] {
                    report.rows.push(measurement(engine, backend, mode, batch, rate));
                }
            }
            report.rows.push(measurement(&trie, Backend::CpuBatch(1), mode, 250_000, 7e3));
            report.rows.push(measurement(&trie, Backend::CpuSingle(1), mode, 250_000, 1e3));
        }
        let chart = draw(&report);
        let names: Vec<&str> = chart.legend.iter().map(|(name, _)| &name[..]).collect();
        let expected = ["glm, kernel alone", "glm, with copies", "trie, CPU, one thread", "a & b"];
        assert_eq!(names, expected, "probing was not measured");
        for panel in &chart.panels {
            let points: Vec<usize> = panel.curves.iter().map(|curve| curve.points.len()).collect();
            assert_eq!(points, [6, 6, 1]);
            assert_eq!(panel.curves[0].points[1], (1e3, 3e5));
        }
        assert!(
            draw(&Report::new(&mut std::io::sink(), HardwarePrices::default(), 1))
                .legend
                .is_empty()
        );
    }
}
