//! Axes: range, ticks and labels, computed from values.

use std::ops::Range;

use crate::layout::PLOT_PIXELS;

/// An axis with its label, range and ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub(crate) label: String,
    is_logarithmic: bool,
    /// The first and last value of the axis; on a logarithmic axis, their logarithms to base 10.
    range: Range<f64>,
    /// Values with their labels, which may have several lines.
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Returns a linear axis from `low` to `high` or up to one step above it. Steps and ticks are
    /// round numbers.
    pub fn linear(label: impl Into<String>, low: f64, high: f64) -> Self {
        let step = round_step((high - low) / 6.0);
        let ceiling = low + ((high - low) / step - 1e-6).ceil().max(1.0) * step;
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let first = (low / step - 1e-6).ceil() as i64;
        let last = (ceiling / step + 1e-6).floor() as i64;
        let ticks = (first..=last).map(|tick| {
            let value = tick as f64 * step;
            (value, group_thousands(&format!("{value:.decimals$}")))
        });
        Axis {
            label: label.into(),
            is_logarithmic: false,
            range: low..ceiling,
            ticks: ticks.collect(),
        }
    }

    /// Returns a linear axis for ascending counts, with a tick at each and margins at both ends.
    /// Labels that would overlap are left out. The last label is always kept, the first label
    /// unless it overlaps the last.
    pub fn counts(label: impl Into<String>, counts: &[usize]) -> Self {
        let ends = counts.first().zip(counts.last());
        let (low, high) = ends.map_or((0.0, 1.0), |(&low, &high)| (low as f64, high as f64));
        // A single count is in the middle.
        let margin = if high > low { (high - low) / 35.0 } else { 1.0 };
        let range = low - margin..high + margin;
        let has_label = spaced_labels(counts, PLOT_PIXELS / (range.end - range.start));
        let ticks = counts.iter().zip(has_label).map(|(&count, has_label)| {
            (count as f64, if has_label { count.to_string() } else { String::new() })
        });
        Axis { label: label.into(), is_logarithmic: false, range, ticks: ticks.collect() }
    }

    /// Returns an axis with a tick for each name, at 0, 1, 2 and so on. Names that are too wide for
    /// a horizontal axis are divided into two lines at a space.
    pub fn categories(label: impl Into<String>, names: &[&str]) -> Self {
        let end = names.len().max(1) as f64 - 0.5;
        let width = PLOT_PIXELS / (end + 0.5);
        let labels = names.iter().map(|name| wrap_name(name, width));
        let ticks = (0u32..).map(f64::from).zip(labels).collect();
        Axis { label: label.into(), is_logarithmic: false, range: -0.5..end, ticks }
    }

    /// Returns a logarithmic axis of at least one decade, between the powers of ten around
    /// `values`. Values that are not positive and finite are ignored.
    pub fn logarithmic(label: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let powers = values.into_iter().filter(|&value| value > 0.0 && value.is_finite());
        let powers = powers.map(f64::log10);
        let (low, high) = powers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), power| {
            (power.min(low), power.max(high))
        });
        let low = if low.is_finite() { low.floor() } else { 0.0 };
        let high = high.ceil().max(low + 1.0);
        let ticks = (low as i32..=high as i32).map(|power| (10f64.powi(power), power_label(power)));
        Axis { label: label.into(), is_logarithmic: true, range: low..high, ticks: ticks.collect() }
    }

    /// Returns the largest number of lines of a tick's label, at least one.
    pub(crate) fn label_lines(&self) -> u32 {
        let lines = self.ticks.iter().map(|tick| tick.1.lines().count() as u32);
        lines.max().unwrap_or(1).max(1)
    }

    /// Returns the position of a value on the axis, from 0 to 1; values outside it are at the
    /// nearest end.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let Range { start, end } = self.range;
        let position = if self.is_logarithmic { value.log10() } else { value };
        // NaN is at the beginning, and so is 0 on a logarithmic axis.
        (position.max(start).min(end) - start) / (end - start)
    }
}

/// Returns `name`, in two lines if it is wider than `pixels` and has a space.
fn wrap_name(name: &str, pixels: f64) -> String {
    const LETTER: f64 = 8.0;
    let spaces = name.match_indices(' ').map(|(place, _)| place);
    // The space that makes the longer line as short as possible.
    match spaces.min_by_key(|&place| place.max(name.len() - place)) {
        Some(place) if LETTER * name.chars().count() as f64 > pixels => {
            format!("{}\n{}", &name[..place], &name[place + 1..])
        }
        _ => name.to_owned(),
    }
}

/// Returns for each of the ascending `counts` whether it has a label, so that labels do not
/// overlap. The last label takes precedence, then the first, then the others from the right.
fn spaced_labels(counts: &[usize], pixels_per_count: f64) -> Vec<bool> {
    const DIGIT: f64 = 9.0;
    const SPACE: f64 = 6.0;
    let mut has_label = vec![false; counts.len()];
    let (first, others) = (0..counts.len().min(1), (1..counts.len()).rev());
    let order = others.clone().take(1).chain(first).chain(others);
    for place in order {
        let width = |count: usize| DIGIT * count.to_string().len() as f64;
        let is_free = counts.iter().zip(&has_label).all(|(&other, &is_chosen)| {
            let distance = counts[place].abs_diff(other) as f64 * pixels_per_count;
            !is_chosen || distance >= (width(counts[place]) + width(other)) / 2.0 + SPACE
        });
        has_label[place] |= is_free;
    }
    has_label
}

/// Puts commas into a whole number of at least five digits.
fn group_thousands(number: &str) -> String {
    if number.len() < 5 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return number.to_owned();
    }
    let mut grouped = String::new();
    for (place, digit) in number.chars().enumerate() {
        if place > 0 && (number.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns the smallest number, at least `least`, that is 1, 2 or 5 times a power of ten.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= least * 0.9999).unwrap_or(10.0)
        * power
}

/// Returns a short label for a power of ten.
fn power_label(power: i32) -> String {
    let (unit, rest) = match power {
        ..-3 | 12.. => return format!("1e{power}"),
        -3..0 => return format!("{:.*}", -power as usize, 10f64.powi(power)),
        0..3 => ("", power),
        3..6 => ("k", power - 3),
        6..9 => ("M", power - 6),
        _ => ("G", power - 9),
    };
    format!("{}{unit}", 10i64.pow(rest as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| &tick.1[..]).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!([0.24, 3.0, 1000.0, 7.0].map(round_step), [0.5, 5.0, 1000.0, 10.0]);
        let axis = Axis::linear("words a second", 0.0, 1234.0);
        assert_eq!(
            (axis.range.clone(), labels(&axis)),
            (0.0..1500.0, vec!["0", "500", "1000", "1500"])
        );
        let axis = Axis::linear("words a second", 0.0, 2.4e6);
        assert_eq!(labels(&axis)[..3], ["0", "500,000", "1,000,000"]);
        assert_eq!(labels(&Axis::linear("s", 0.0, 2e4))[4], "20,000");
        let axis = Axis::linear("efficiency", 0.0, 1.2);
        assert_eq!(labels(&axis), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2"]);
        let axis = Axis::linear("BLEU", 20.0, 30.0);
        assert_eq!(labels(&axis), ["20", "22", "24", "26", "28", "30"]);
        assert_eq!([-1.0, 25.0, 99.0].map(|value| axis.share(value)), [0.0, 0.5, 1.0]);
    }

    #[test]
    fn labels_that_would_overlap_are_left_out() {
        // 5.5 pixels a count, where a label of one digit needs 15.
        let axis = Axis::counts("threads", &[1, 2, 4, 8, 64, 128]);
        assert_eq!(labels(&axis), ["1", "", "4", "8", "64", "128"]);
        let axis = Axis::counts("threads", &[1, 2, 63, 64, 124, 126, 128]);
        assert_eq!(labels(&axis), ["1", "", "", "64", "", "", "128"]);
        assert_eq!(labels(&Axis::counts("threads", &[])), [""; 0]);
        assert_eq!(labels(&Axis::counts("threads", &[1, 2])), ["1", "2"]);
        assert_eq!(Axis::counts("threads", &[3]).share(3.0), 0.5);
    }

    #[test]
    fn wide_names_have_two_lines() {
        let axis = Axis::categories("setting", &["baseline", "+ cached context"]);
        assert_eq!(labels(&axis), ["baseline", "+ cached context"]);
        assert_eq!((axis.label_lines(), axis.share(0.0), axis.share(1.0)), (1, 0.25, 0.75));
        let axis = Axis::categories("setting", &["8 bits, not 16", "unbreakable_name", "", "e2"]);
        assert_eq!(labels(&axis), ["8 bits, not 16", "unbreakable_name", "", "e2"]);
        let names = ["baseline", "+ cached context", "8 bits, not 16", "unbreakable_name"];
        let axis = Axis::categories("setting", &[&names[..], &["a"; 4]].concat());
        let wrapped = ["baseline", "+ cached\ncontext", "8 bits,\nnot 16", "unbreakable_name"];
        assert_eq!(labels(&axis)[..4], wrapped);
        assert_eq!(axis.label_lines(), 2);
        assert_eq!(Axis::categories("", &[]).share(0.0), 0.5);
    }

    #[test]
    fn powers_of_ten_are_short() {
        assert_eq!(
            [-5, -2, 0, 2, 3, 5, 6, 9, 10, 308].map(power_label),
            ["1e-5", "0.01", "1", "100", "1k", "100k", "1M", "1G", "10G", "1e308"]
        );
        let axis = Axis::logarithmic("n-grams a second", [30.0, 5e4]);
        assert_eq!(labels(&axis), ["10", "100", "1k", "10k", "100k"]);
        assert_eq!([0.0, 1000.0, 1e9].map(|value| axis.share(value)), [0.0, 0.5, 1.0]);
        // With a single value or none, the axis has one decade.
        assert_eq!(labels(&Axis::logarithmic("", [100.0])), ["100", "1k"]);
        assert_eq!(labels(&Axis::logarithmic("", [])), ["1", "10"]);
        assert_eq!(labels(&Axis::logarithmic("", [f64::INFINITY, f64::NAN])), ["1", "10"]);
    }
}
