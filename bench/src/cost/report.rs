//! Table, CSV and chart of a study of quality against cost.

use std::fmt::Write;

use miriam_chart::{Axis, Chart, Curve, LineStyle, Panel};
use miriam_textio::date;

use super::{CostOptions, Quality};
use crate::machine;
use crate::scaling::study::ScalingStudy;
use crate::scaling::topology::{Topology, count_noun};
use crate::statistics::distinct;

/// The price axis is logarithmic if the highest price is more than this many times the lowest.
const LOGARITHMIC_FROM: f64 = 8.0;

/// The quality and the cost of a system with one setting.
#[derive(Clone, Debug)]
pub struct CostRow {
    name: String,
    /// The name of its curve.
    curve: String,
    bleu: f64,
    words_per_second: f64,
    /// The price of translating a million words: median, lowest and highest.
    price: [f64; 3],
    peak_bytes: u64,
    /// Whether no other system is both as good and cheaper, or as cheap and better.
    is_efficient: bool,
}

impl CostRow {
    /// Returns a row for each system that has a run, in the order of the study.
    pub fn from_study(study: &ScalingStudy, options: &CostOptions, quality: &Quality) -> Vec<Self> {
        let price_at = |rate: f64| options.price / 3600.0 * 1e6 / rate;
        let systems = study.systems.iter().zip(&options.curves).zip(&quality.bleu);
        let measured = systems.filter(|((system, _), _)| !system.points[0].runs.is_empty());
        let mut rows: Vec<CostRow> = measured
            .map(|((system, curve), &bleu)| {
                let point = &system.points[0];
                let (slowest, fastest) = point.spread();
                let median = point.median();
                CostRow {
                    name: system.name.clone(),
                    curve: curve.clone(),
                    bleu,
                    words_per_second: median.words_per_second(),
                    price: [median.words_per_second(), fastest, slowest].map(price_at),
                    peak_bytes: median.peak_bytes,
                    is_efficient: false,
                }
            })
            .collect();
        mark_efficient(&mut rows);
        rows
    }
}

/// Marks the rows on the Pareto frontier.
fn mark_efficient(rows: &mut [CostRow]) {
    for index in 0..rows.len() {
        let row = &rows[index];
        let is_beaten = rows.iter().any(|other| {
            let (cheaper, better) = (other.price[0] < row.price[0], other.bleu > row.bleu);
            let no_dearer = other.price[0] <= row.price[0];
            no_dearer && other.bleu >= row.bleu && (cheaper || better)
        });
        rows[index].is_efficient = !is_beaten;
    }
}

/// Returns a CSV table with a line for each row.
pub fn csv(rows: &[CostRow]) -> String {
    let mut text = String::from(
        "system,curve,bleu,words_per_second,price_of_million_words,lowest_price,highest_price,\
         peak_bytes,efficient\n",
    );
    for row in rows {
        let CostRow { name, curve, bleu, words_per_second, peak_bytes, is_efficient, .. } = row;
        let [price, low, high] = row.price;
        let _ = writeln!(
            text,
            "{name},{curve},{bleu:.3},{words_per_second:.1},{},{},{},{peak_bytes},{is_efficient}",
            significant(price, 6),
            significant(low, 6),
            significant(high, 6)
        );
    }
    text
}

/// Formats a positive number with `digits` significant digits.
fn significant(number: f64, digits: i32) -> String {
    let decimals = digits - 1 - number.log10().floor() as i32;
    format!("{number:.*}", decimals.max(0) as usize)
}

/// Returns the rows as a table for the terminal, the cheapest first, and the signature of BLEU.
pub fn table(rows: &[CostRow], signature: &str) -> String {
    let mut rows: Vec<&CostRow> = rows.iter().collect();
    rows.sort_by(|a, b| a.price[0].total_cmp(&b.price[0]));
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max(6);
    let mut text =
        format!("{:width$}   BLEU   words/s  price of a million words  peak MiB\n", "system");
    for row in rows {
        let mark = if row.is_efficient { "  efficient" } else { "" };
        let _ = writeln!(
            text,
            "{:width$} {:>6.2} {:>9.0} {:>25} {:>9.0}{mark}",
            row.name,
            row.bleu,
            row.words_per_second,
            significant(row.price[0], 4),
            row.peak_bytes as f64 / f64::from(1 << 20)
        );
    }
    text.push_str("efficient: no other system is as good and cheaper, or as cheap and better\n");
    let _ = writeln!(text, "BLEU|{signature}");
    text
}

/// Returns the chart: BLEU over the price, with a curve through the settings of each system.
pub fn chart(
    rows: &[CostRow],
    options: &CostOptions,
    topology: &Topology,
    signature: &str,
) -> Chart {
    let names = distinct(rows.iter().map(|row| row.curve.as_str()));
    let curves = names.iter().enumerate().map(|(index, name)| {
        let members = rows.iter().filter(|row| row.curve == *name);
        let mut points: Vec<(f64, f64)> = members.map(|row| (row.price[0], row.bleu)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Curve { markers: true, ..Curve::new(LineStyle::for_curve(index), points) }
    });
    let curves: Vec<Curve> = curves.collect();
    let prices: Vec<f64> = rows.iter().map(|row| row.price[0]).collect();
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (cheapest, dearest) = range(&mut prices.iter().copied());
    let (worst, best) = range(&mut rows.iter().map(|row| row.bleu));
    const LABEL: &str = "price of a million words";
    let x_axis = if dearest > LOGARITHMIC_FROM * cheapest {
        Axis::logarithmic(LABEL, prices)
    } else {
        Axis::linear(LABEL, 0.0, 1.04 * dearest)
    };
    // The axis spans at least one point of BLEU, so that smaller noise is not enlarged.
    let margin = (0.1 * (best - worst)).max(0.5);
    Chart {
        title: "Quality against cost".into(),
        notes: vec![
            format!("{}: {topology}; {}", machine::cpu_name(), date::today()),
            format!(
                "{}, {} an hour; medians of {}",
                count_noun(options.threads, "thread"),
                options.price,
                count_noun(options.study.repeat, "run")
            ),
            format!("BLEU|{signature}"),
        ],
        legend: names
            .iter()
            .enumerate()
            .map(|(index, name)| ((*name).to_owned(), LineStyle::for_curve(index)))
            .collect(),
        x_axis,
        bands: Vec::new(),
        panels: vec![Panel {
            height: 420,
            y_axis: Axis::linear("BLEU", (worst - margin).max(0.0), best + margin),
            curves,
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, bleu: f64, price: f64) -> CostRow {
        CostRow {
            name: name.into(),
            curve: name.into(),
            bleu,
            words_per_second: 1e6 / 3600.0 / price,
            price: [price; 3],
            peak_bytes: 1 << 20,
            is_efficient: false,
        }
    }

    #[test]
    fn systems_that_another_one_beats_are_not_efficient() {
        let mut rows = [
            row("good", 30.0, 3.0),
            row("cheap", 20.0, 1.0),
            row("beaten", 25.0, 3.5),
            row("as good and dearer", 20.0, 1.5),
            row("twin", 30.0, 3.0),
        ];
        mark_efficient(&mut rows);
        let efficient = rows.iter().filter(|row| row.is_efficient);
        let names: Vec<&str> = efficient.map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["good", "cheap", "twin"]);
        let table = table(&rows, "nrefs:1");
        assert!(table.ends_with("BLEU|nrefs:1\n"), "{table}");
        assert_eq!(
            [0.00142, 3.0, 1234.5].map(|price| significant(price, 4)),
            ["0.001420", "3.000", "1234"]
        );
        let order: Vec<&str> = table.lines().skip(1).map(|line| &line[..5]).collect();
        assert_eq!(order[..2], ["cheap", "as go"], "{table}");
        assert!(table.contains("cheap               20.00"), "{table}");
    }
}
