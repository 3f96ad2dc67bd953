//! Chart of tokens per second over batch size with the smallest beam: a curve for each model and
//! place.

use miriam_chart::{Chart, Colour, LineStyle};

use super::super::batching::variant::BatchingVariant;
use super::super::speed::{self, SpeedCurve, SpeedRow};
use super::report::Report;
use crate::statistics::distinct;

/// Returns the chart of `report`: solid lines are devices, dashed ones the CPU.
pub fn draw(report: &Report<'_>) -> Chart {
    let speeds = || report.rows.iter().map(|row| &row.speed);
    let beam = speeds().map(|row| row.beam).min().unwrap_or(1);
    let rows: Vec<&SpeedRow> = speeds()
        .filter(|row| row.beam == beam && row.variant == BatchingVariant::ALL[0].name)
        .collect();
    let models = distinct(rows.iter().map(|row| &row.model[..]));
    let lines = distinct(rows.iter().map(|row| (&row.model[..], &row.place[..])));
    let curves = lines.iter().map(|&(model, place)| {
        let index = models.iter().position(|name| *name == model).unwrap_or(0);
        let rows = rows.iter().filter(|row| (&row.model[..], &row.place[..]) == (model, place));
        SpeedCurve {
            label: format!("{model}, {place}"),
            style: LineStyle {
                colour: Colour::for_curve(index),
                is_dashed: place.starts_with("cpu"),
            },
            rows: rows.copied().collect(),
        }
    });
    let title = format!("tokens a second over the size of a batch, beam {beam}");
    let curves: Vec<SpeedCurve<'_>> = curves.collect();
    speed::draw(title, report.notes.clone(), ("tokens a second", SpeedRow::token_rate), &curves)
}
