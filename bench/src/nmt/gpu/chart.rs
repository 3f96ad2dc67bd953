//! Chart of tokens per second over batch size with the smallest beam: a curve for each model and
//! place, both axes logarithmic.

use miriam_chart::{Axis, Chart, Colour, Curve, LineStyle, Panel};

use super::super::batching::variant::BatchingVariant;
use super::report::{Report, SpeedRow};

/// Colours of models, in turn.
const COLOURS: [Colour; 6] = [
    Colour(0x1f, 0x5f, 0xa8),
    Colour(0x2b, 0x7a, 0x3d),
    Colour(0xb0, 0x55, 0x2f),
    Colour(0xd9, 0xa4, 0x41),
    Colour(0x4f, 0xa3, 0xd1),
    Colour(0x8a, 0x4f, 0xa3),
];

/// Returns the chart of `report`: solid lines are devices, dashed ones the CPU.
pub fn draw(report: &Report<'_>) -> Chart {
    let beam = report.rows.iter().map(|row| row.beam).min().unwrap_or(1);
    let rows = report.rows.iter();
    let rows: Vec<&SpeedRow> = rows
        .filter(|row| row.beam == beam && row.variant == BatchingVariant::ALL[0].name)
        .collect();
    let models = distinct(rows.iter().map(|row| &row.model[..]));
    let lines = distinct(rows.iter().map(|row| (&row.model[..], &row.place[..])));
    let style = |(model, place): (&str, &str)| {
        let number = models.iter().position(|name| *name == model).unwrap_or(0);
        let colour = COLOURS[number % COLOURS.len()];
        LineStyle { colour, is_dashed: place.starts_with("cpu") }
    };
    let curves = lines.iter().map(|&line| {
        let rows = rows.iter().filter(|row| (&row.model[..], &row.place[..]) == line);
        let mut points: Vec<(f64, f64)> =
            rows.map(|row| (f64::from(row.batch), row.rate())).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Curve { markers: true, ..Curve::new(style(line), points) }
    });
    let legend =
        lines.iter().map(|&(model, place)| (format!("{model}, {place}"), style((model, place))));
    Chart {
        title: format!("tokens a second over the size of a batch, beam {beam}"),
        notes: report.notes.clone(),
        legend: legend.collect(),
        x_axis: Axis::logarithmic(
            "sentences of a batch",
            rows.iter().map(|row| f64::from(row.batch)),
        ),
        bands: Vec::new(),
        panels: vec![Panel {
            height: 380,
            y_axis: Axis::logarithmic("tokens a second", rows.iter().map(|row| row.rate())),
            curves: curves.collect(),
        }],
    }
}

/// Returns items without repeats, in the order of their first occurrence.
fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for item in items {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    all
}
