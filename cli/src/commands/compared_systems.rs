//! Scores of several systems side by side, with or without a paired test: as text, as sacreBLEU's
//! JSON, and as a table for LaTeX.

use std::fmt::Write as _;

use miriam_metrics::{
    Metric, PairedTest, ScoreFormat, SegmentStatistics, SystemComparison, compare_systems,
    corpus_score, corpus_statistics,
};
use serde_json::Value;

/// Systems and their scores.
pub struct ComparedSystems {
    names: Vec<String>,
    metrics: Vec<ComparedMetric>,
    /// Whether a paired test compared the systems with the first one.
    is_tested: bool,
}

/// The scores of all systems by one metric.
struct ComparedMetric {
    name: String,
    /// The long and the short signature.
    signatures: [String; 2],
    systems: Vec<SystemComparison>,
}

impl ComparedSystems {
    /// Scores the lines of named systems, and compares each with the first one by `test`.
    ///
    /// # Errors
    /// If texts have different numbers of lines, or none.
    pub fn new(
        metrics: &[Box<dyn Metric>],
        systems: &[(String, Vec<String>)],
        references: &[Vec<String>],
        test: Option<PairedTest>,
    ) -> anyhow::Result<Self> {
        let compare = |metric: &dyn Metric| -> anyhow::Result<ComparedMetric> {
            let rows: Vec<SegmentStatistics> = systems
                .iter()
                .map(|(_, lines)| corpus_statistics(metric, lines, references))
                .collect::<Result<_, _>>()?;
            let scores = rows.iter().map(|rows| corpus_score(metric, rows, references.len()));
            let scores: Vec<_> = scores.collect();
            let mut signature = scores[0].signature.clone();
            if let Some(test) = test {
                signature = signature.with_test(test);
            }
            let compared = match test {
                Some(test) => compare_systems(metric, &rows, test),
                None => {
                    let scores = scores.iter().map(|score| score.value);
                    let alone = |score| SystemComparison { score, p_value: None, confidence: None };
                    scores.map(alone).collect()
                }
            };
            Ok(ComparedMetric {
                name: metric.name(),
                signatures: [false, true].map(|is_short| signature.to_text(is_short)),
                systems: compared,
            })
        };
        Ok(ComparedSystems {
            names: systems.iter().map(|(name, _)| name.clone()).collect(),
            metrics: metrics.iter().map(|metric| compare(&**metric)).collect::<Result<_, _>>()?,
            is_tested: test.is_some(),
        })
    }

    /// Returns the name of a system. In a paired test, the first one is marked as the baseline.
    fn label(&self, index: usize) -> String {
        let role = if self.is_tested && index == 0 { "Baseline: " } else { "" };
        format!("{role}{}", self.names[index])
    }

    /// Returns for each metric a line with its signature, and a line with each system's score; or
    /// only the numbers, metric by metric.
    pub fn to_text(&self, format: ScoreFormat) -> String {
        let mut text = String::new();
        if format.score_only {
            for system in self.metrics.iter().flat_map(|metric| &metric.systems) {
                let _ = writeln!(text, "{:.*}", format.decimals, system.score);
            }
            return text;
        }
        for metric in &self.metrics {
            let signature = &metric.signatures[usize::from(format.short_signature)];
            let _ = writeln!(text, "{}|{signature}", metric.name);
            for (name, system) in self.names.iter().zip(&metric.systems) {
                let _ = writeln!(text, "  {name} = {}", describe(system, "μ = ", format.decimals));
            }
        }
        text
    }

    /// Returns a JSON list with an object for each system, as sacreBLEU writes it: without a test
    /// scores are rounded and written as text.
    pub fn to_json(&self, format: ScoreFormat) -> String {
        let objects: Vec<String> = (0..self.names.len())
            .map(|index| {
                let name = Value::from(self.label(index));
                let mut object = format!("    {{\n        \"system\": {name}");
                for metric in &self.metrics {
                    let SystemComparison { score, p_value, confidence } = metric.systems[index];
                    let _ = write!(object, ",\n        \"{}\": ", metric.name);
                    if !self.is_tested {
                        let _ = write!(object, "\"{score:.*}\"", format.decimals);
                        continue;
                    }
                    let _ = write!(
                        object,
                        "{{\n            \"score\": {},\n            \"p_value\": {},\n            \
                         \"mean\": {},\n            \"ci\": {}\n        }}",
                        to_json_number(Some(score)),
                        to_json_number(p_value),
                        to_json_number(confidence.map(|found| found.mean)),
                        to_json_number(confidence.map(|found| found.half_width)),
                    );
                }
                object + "\n    }"
            })
            .collect();
        format!("[\n{}\n]\n", objects.join(",\n"))
    }

    /// Returns a table for LaTeX with the package `booktabs`, padded as sacreBLEU does, and the
    /// signatures below it.
    pub fn to_latex(&self, format: ScoreFormat) -> String {
        let mut rows = vec![vec!["System".to_owned()]];
        for metric in &self.metrics {
            let interval = match metric.systems[0].confidence {
                Some(_) => " (μ ± 95% CI)",
                None => "",
            };
            rows[0].push(format!("{}{interval}", metric.name));
        }
        for index in 0..self.names.len() {
            let scores = self.metrics.iter().map(|metric| &metric.systems[index]);
            let scores = scores.map(|system| describe(system, "", format.decimals));
            rows.push(std::iter::once(self.label(index)).chain(scores).collect());
        }
        let mut text =
            format!("\\begin{{tabular}}{{r{}}}\n\\toprule\n", "c".repeat(self.metrics.len()));
        let columns = 0..=self.metrics.len();
        let widths = columns.map(|column| {
            let lengths = rows.iter().map(|row| row[column].chars().count());
            lengths.max().unwrap_or_default().max(rows[0][column].chars().count() + 2)
        });
        let widths: Vec<usize> = widths.collect();
        for (number, row) in rows.iter().enumerate() {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, &width))| match column {
                0 => escape_latex(&format!("{cell:>width$}")),
                _ => escape_latex(&format!("{cell:^width$}")),
            });
            let _ = writeln!(text, " {} \\\\", cells.collect::<Vec<_>>().join(" & "));
            if number == 0 {
                text.push_str("\\midrule\n");
            }
        }
        text.push_str("\\bottomrule\n\\end{tabular}\n\n");
        for metric in &self.metrics {
            let signature = &metric.signatures[usize::from(format.short_signature)];
            let _ = writeln!(text, "{}|{signature}", metric.name);
        }
        text
    }
}

/// Returns a score as text. If the system has a confidence interval, the mean of resampled scores
/// (after `mean_label`) and the half width follow. A p-value of at most 0.05 has a star.
fn describe(system: &SystemComparison, mean_label: &str, decimals: usize) -> String {
    let mut text = format!("{:.decimals$}", system.score);
    if let Some(confidence) = system.confidence {
        let (mean, half_width) = (confidence.mean, confidence.half_width);
        let _ = write!(text, " ({mean_label}{mean:.decimals$} ± {half_width:.decimals$})");
    }
    if let Some(p) = system.p_value {
        let _ = write!(text, " (p = {p:.4}){}", if p <= 0.05 { "*" } else { "" });
    }
    text
}

/// Escapes the characters that have a meaning in LaTeX.
fn escape_latex(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', c]),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '\\' => escaped.push_str("\\textbackslash{}"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns a number, or null, as Python's JSON has it: exponents have two digits at least.
fn to_json_number(value: Option<f64>) -> String {
    let Some(value) = value else { return "null".into() };
    let text = format!("{value:?}");
    match text.split_once("e-") {
        Some((digits, exponent)) => format!("{digits}e-{exponent:0>2}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_by_python() {
        for (value, text) in [
            (9.999000099990002e-5, "9.999000099990002e-05"),
            (0.0001, "0.0001"),
            (100.0, "100.0"),
            (1.5e-10, "1.5e-10"),
        ] {
            assert_eq!(to_json_number(Some(value)), text);
        }
        assert_eq!(to_json_number(None), "null");
    }

    #[test]
    fn p_values_of_at_most_five_per_cent_have_a_star() {
        for (exceeding, trials, text) in [
            (0, 19, "9.5 (p = 0.0500)*"),
            (4, 99, "9.5 (p = 0.0500)*"),
            (499, 9999, "9.5 (p = 0.0500)*"),
            (500, 9999, "9.5 (p = 0.0501)"),
        ] {
            let p_value = Some(f64::from(exceeding + 1) / f64::from(trials + 1));
            let system = SystemComparison { score: 9.5, p_value, confidence: None };
            assert_eq!(describe(&system, "", 1), text);
        }
    }

    #[test]
    fn names_are_escaped_for_latex() {
        assert_eq!(escape_latex("a_b/50%~"), "a\\_b/50\\%\\textasciitilde{}");
    }
}
