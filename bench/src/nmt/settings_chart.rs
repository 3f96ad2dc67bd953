//! Chart of values over named settings or systems, which compares measured values with a paper's.

use miriam_chart::{Axis, Chart, Curve, LineStyle, Panel};

/// Values of the settings, from the first one on; the last settings may have none.
pub struct Series {
    pub label: String,
    pub style: LineStyle,
    pub values: Vec<f64>,
    /// The number of values that a line connects, from the first one on. Others are dots.
    pub connected: usize,
}

impl Series {
    /// Returns the line, and a curve of one point for each dot.
    fn curves(&self) -> Vec<Curve> {
        let points: Vec<(f64, f64)> =
            (0u32..).map(f64::from).zip(self.values.iter().copied()).collect();
        let (line, dots) = points.split_at(self.connected.min(points.len()));
        let parts = std::iter::once(line).chain(dots.chunks(1)).filter(|part| !part.is_empty());
        parts.map(|part| Curve { markers: true, ..Curve::new(self.style, part) }).collect()
    }
}

/// Returns a chart over `settings`, the label of the horizontal axis and the names on it.
pub fn draw(
    title: String,
    notes: Vec<String>,
    settings: (&str, &[&str]),
    y_axis: Axis,
    series: &[Series],
) -> Chart {
    let (label, names) = settings;
    Chart {
        title,
        notes,
        legend: series.iter().map(|series| (series.label.clone(), series.style)).collect(),
        x_axis: Axis::categories(label, names),
        bands: Vec::new(),
        panels: vec![Panel {
            height: 320,
            y_axis,
            curves: series.iter().flat_map(Series::curves).collect(),
        }],
    }
}

#[cfg(test)]
mod tests {
    use miriam_chart::Colour;

    use super::*;

    #[test]
    fn variants_are_dots_beside_the_line() {
        let here = Series {
            label: "here".into(),
            style: LineStyle::for_curve(0),
            values: vec![1.0, 2.0, 3.0, 4.0],
            connected: 2,
        };
        let paper = Series {
            label: "the paper".into(),
            style: LineStyle::dashed(Colour::for_curve(1)),
            values: vec![1.0],
            connected: 2,
        };
        let names = ["a", "b", "c", "d"];
        let y_axis = Axis::linear("times the first", 0.0, 4.0);
        let chart = draw("Gains".into(), Vec::new(), ("setting", &names), y_axis, &[here, paper]);
        let points: Vec<&[(f64, f64)]> =
            chart.panels[0].curves.iter().map(|curve| &curve.points[..]).collect();
        let [line, dots] = [[(0.0, 1.0), (1.0, 2.0)], [(2.0, 3.0), (3.0, 4.0)]];
        assert_eq!(points, [&line[..], &dots[..1], &dots[1..], &line[..1]]);
        assert_eq!(chart.legend.len(), 2);
    }
}
