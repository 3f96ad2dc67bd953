//! Charts of the speedups and of the systems, beside the paper's figures.

use miriam_chart::{Axis, Chart, Colour, LineStyle};

use super::super::settings_chart::{self, Series};

/// The speedups of table 1, for the first settings that
/// [`AblationSetting::cumulative`](super::workload::AblationSetting::cumulative) returns.
const PUBLISHED_FACTORS: [f64; 6] = [1.0, 2.59, 3.25, 3.57, 4.06, 4.37];

/// The series of [`draw_systems`].
const SYSTEM_SERIES: [&str; 3] = ["16 bits", "8 bits", "Devlin (2017), 16 bits"];

/// Draws the speed of each setting relative to the first one. If `alone`, the settings do not build
/// on each other, and the paper has no figures for them.
pub fn draw_speedups(notes: Vec<String>, names: &[&str], factors: &[f64], alone: bool) -> Chart {
    let connected = if alone { 0 } else { PUBLISHED_FACTORS.len() };
    let here = Series {
        label: "here".into(),
        style: LineStyle::for_curve(0),
        values: factors.to_vec(),
        connected,
    };
    let paper = Series {
        label: "Devlin (2017), table 1".into(),
        style: LineStyle::dashed(Colour::for_curve(1)),
        values: if alone { Vec::new() } else { PUBLISHED_FACTORS.to_vec() },
        connected,
    };
    let series: Vec<Series> =
        [here, paper].into_iter().filter(|series| !series.values.is_empty()).collect();
    let highest = series.iter().flat_map(|series| &series.values).copied().fold(1.0, f64::max);
    let title = "Speedups of a recurrent model".into();
    let y_axis = Axis::linear("times the baseline", 0.0, highest);
    settings_chart::draw(title, notes, ("setting", names), y_axis, &series)
}

/// Draws the words per second of each system in 16 bits, in 8 bits and in the paper.
pub fn draw_systems(notes: Vec<String>, names: &[&str], rates: &[[f64; 3]]) -> Chart {
    let series = SYSTEM_SERIES.iter().enumerate().map(|(index, label)| Series {
        label: (*label).into(),
        style: LineStyle::for_curve(index),
        values: rates.iter().map(|rates| rates[index]).collect(),
        connected: 0,
    });
    let title = "Recurrent models with all speedups".into();
    let y_axis = Axis::logarithmic("words a second", rates.iter().flatten().copied());
    settings_chart::draw(title, notes, ("system", names), y_axis, &series.collect::<Vec<_>>())
}
