//! The speed of a model in one place and with one size of batches: a row of CSV files, and a chart
//! over the sizes.

use miriam_chart::{Axis, Chart, Curve, LineStyle, Panel};

/// A measurement of a model in a place.
#[derive(Clone, Debug)]
pub struct SpeedRow {
    pub model: String,
    /// The device and its precision.
    pub place: String,
    pub beam: u32,
    /// The batch size in sentences.
    pub batch: u32,
    /// The name of the variant of batching.
    pub variant: &'static str,
    /// The number of translated sentences.
    pub sentences: usize,
    /// The number of tokens of their translations, including EOS.
    pub tokens: usize,
    /// The median time of a run.
    pub seconds: f64,
    pub steps: usize,
    /// The number of rows of all steps.
    pub rows: usize,
}

impl SpeedRow {
    /// The names of the columns of [`to_csv`](Self::to_csv).
    pub const HEADING: &str = "model,place,beam,batch,batching,sentences,tokens,seconds,steps,rows,\
                               tokens_per_second,sentences_per_second,step_ms,rows_per_step";

    /// Returns the target tokens per second.
    pub fn token_rate(&self) -> f64 {
        self.tokens as f64 / self.seconds
    }

    /// Returns the sentences per second.
    pub fn sentence_rate(&self) -> f64 {
        self.sentences as f64 / self.seconds
    }

    /// Returns the mean number of rows of a step.
    pub fn rows_per_step(&self) -> f64 {
        self.rows as f64 / self.steps.max(1) as f64
    }

    /// Returns the milliseconds per step, including a share of the encoder's time.
    pub fn step_milliseconds(&self) -> f64 {
        1e3 * self.seconds / self.steps.max(1) as f64
    }

    /// Returns the row of a CSV file, without a line feed.
    pub fn to_csv(&self) -> String {
        format!(
            "{},{},{},{},{},{},{},{:.9},{},{},{:.1},{:.2},{:.6},{:.2}",
            csv_name(&self.model),
            self.place,
            self.beam,
            self.batch,
            csv_name(self.variant),
            self.sentences,
            self.tokens,
            self.seconds,
            self.steps,
            self.rows,
            self.token_rate(),
            self.sentence_rate(),
            self.step_milliseconds(),
            self.rows_per_step(),
        )
    }
}

/// Replaces separators of CSV, which file names may contain.
pub fn csv_name(name: &str) -> String {
    name.replace(", ", " ").replace([',', '"', '\n'], "_")
}

/// A curve of a chart: its name in the legend, its style, and its rows.
pub struct SpeedCurve<'a> {
    pub label: String,
    pub style: LineStyle,
    pub rows: Vec<&'a SpeedRow>,
}

/// Returns a chart of a rate over the size of batches, both axes logarithmic.
pub fn draw(
    title: String,
    notes: Vec<String>,
    (label, rate): (&str, fn(&SpeedRow) -> f64),
    curves: &[SpeedCurve<'_>],
) -> Chart {
    let rows = || curves.iter().flat_map(|curve| curve.rows.iter());
    let lines = curves.iter().map(|curve| {
        let rows = curve.rows.iter();
        let mut points: Vec<(f64, f64)> =
            rows.map(|row| (f64::from(row.batch), rate(row))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Curve { markers: true, ..Curve::new(curve.style, points) }
    });
    Chart {
        title,
        notes,
        legend: curves.iter().map(|curve| (curve.label.clone(), curve.style)).collect(),
        x_axis: Axis::logarithmic("sentences of a batch", rows().map(|row| f64::from(row.batch))),
        bands: Vec::new(),
        panels: vec![Panel {
            height: 380,
            y_axis: Axis::logarithmic(label, rows().map(|row| rate(row))),
            curves: lines.collect(),
        }],
    }
}
