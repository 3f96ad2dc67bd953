//! Order in which tables are consulted, and the spans that are looked up in each table
//! (`docs/spec/phrase-decoding.md` 1.10).

use std::path::Path;

use super::{FeatureKind, FeatureSpec, Parameters};
use crate::Result;

/// A decoding step: a table, and the spans that are looked up in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodingStep {
    /// The table, as an index into the features.
    pub table: usize,
    /// The spans that are looked up.
    pub backoff: DecodingGraphBackoff,
}

/// The spans that are looked up in a table, from `[decoding-graph-backoff]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodingGraphBackoff {
    /// 0: all spans.
    Always,
    /// -1: spans without options from earlier steps.
    Unknown,
    /// k: spans of at most k words without options from earlier steps.
    UnknownUpTo(u32),
}

impl DecodingGraphBackoff {
    /// Whether to look up a span of `words` words; `known` says whether it has an option
    /// already.
    #[inline]
    pub(crate) fn should_query(self, words: u32, known: impl FnOnce() -> bool) -> bool {
        match self {
            DecodingGraphBackoff::Always => true,
            DecodingGraphBackoff::Unknown => !known(),
            DecodingGraphBackoff::UnknownUpTo(most) => words <= most && !known(),
        }
    }
}

/// Parses the steps of the lines `T n`, `g T n` or `g NAME`; n counts the tables in the order of
/// the ini, without the unknown-word penalty. A table that is listed twice is consulted once.
/// Graphs (g) have no effect, as in Moses2: each table gives options of its own.
pub(super) fn parse_steps(
    ini: &Path,
    parameters: &Parameters,
    features: &[FeatureSpec],
) -> Result<Vec<DecodingStep>> {
    let fail = |reason: String| Err(parameters.invalid_value(ini, "mapping", reason));
    let tables: Vec<usize> = (0..features.len())
        .filter(|&i| matches!(features[i].kind, FeatureKind::PhraseTable(_)))
        .collect();
    let lines = parameters.get("mapping").unwrap_or_default();
    let backoffs = parse_backoffs(ini, parameters, lines.len())?;
    let named = |name: &str| tables.iter().position(|&table| features[table].name == name);
    let mut steps: Vec<DecodingStep> = Vec::new();
    let mut graphs: Vec<u32> = Vec::new();
    for (line, backoff) in lines.iter().zip(backoffs) {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (graph, step, number) = match fields[..] {
            [step @ ("T" | "G"), number] => (Some(0), step, number.parse().ok()),
            [graph, name] => (graph.parse().ok(), "T", named(name)),
            [graph, step, number] => (graph.parse().ok(), step, number.parse::<usize>().ok()),
            _ => (None, "T", None),
        };
        let Some(graph) = graph else {
            return fail(format!("{line:?} is not of the form `0 T 0`"));
        };
        match step {
            "T" => {}
            "G" => return fail("generation steps (G) are not available".into()),
            _ => return fail(format!("step {step:?} in {line:?}; only T is available")),
        }
        let Some(&table) = number.and_then(|n| tables.get(n)) else {
            return fail(format!(
                "{line:?} names a table that does not exist; there are {}",
                tables.len()
            ));
        };
        if steps.iter().any(|step| step.table == table) {
            continue;
        }
        if graphs.contains(&graph) {
            tracing::warn!(
                "{}, [mapping]: {line:?} gives options of its own, as in Moses2; in Moses 1 a phrase \
                 pair must be in every table of graph {graph}. For alternatives give each table its \
                 own graph: `0 T 0`, `1 T 1`",
                ini.display(),
            );
        }
        graphs.push(graph);
        steps.push(DecodingStep { table, backoff });
    }
    if steps.is_empty() {
        return fail("no decoding step; write `0 T 0` for the first table".into());
    }
    Ok(steps)
}

/// Parses one value per mapping line; steps without a value look up all spans.
fn parse_backoffs(
    ini: &Path,
    parameters: &Parameters,
    steps: usize,
) -> Result<Vec<DecodingGraphBackoff>> {
    const NAME: &str = "decoding-graph-backoff";
    let lines = parameters.get(NAME).unwrap_or_default().iter();
    let values: Vec<&str> = lines.flat_map(|line| line.split_ascii_whitespace()).collect();
    if values.len() > steps {
        let reason = format!("{} values for {steps} lines of [mapping]", values.len());
        return Err(parameters.invalid_value(ini, NAME, reason));
    }
    let mut backoffs = vec![DecodingGraphBackoff::Always; steps];
    for (backoff, text) in backoffs.iter_mut().zip(values) {
        *backoff = match text.parse::<i64>() {
            Ok(0) => DecodingGraphBackoff::Always,
            Ok(-1) => DecodingGraphBackoff::Unknown,
            Ok(most) if most > 0 => {
                DecodingGraphBackoff::UnknownUpTo(most.min(u32::MAX.into()) as u32)
            }
            _ => {
                let reason = format!(
                    "{text:?}: give 0 to look up every span in the table, -1 to look up only \
                     spans without options, or N to look up only those of up to N words"
                );
                return Err(parameters.invalid_value(ini, NAME, reason));
            }
        };
    }
    Ok(backoffs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_to_look_up() {
        for (backoff, words, known, expected) in [
            (DecodingGraphBackoff::Always, 9, true, true),
            (DecodingGraphBackoff::Unknown, 9, true, false),
            (DecodingGraphBackoff::Unknown, 9, false, true),
            (DecodingGraphBackoff::UnknownUpTo(2), 2, false, true),
            (DecodingGraphBackoff::UnknownUpTo(2), 2, true, false),
            (DecodingGraphBackoff::UnknownUpTo(2), 3, false, false),
        ] {
            assert_eq!(
                backoff.should_query(words, || known),
                expected,
                "{backoff:?} {words} {known}"
            );
        }
    }

    #[test]
    fn one_value_a_line() {
        let values = |given: &[&str], steps| {
            let mut parameters = Parameters::default();
            let given = given.iter().map(|v| (*v).to_owned());
            parameters.values_mut("decoding-graph-backoff").extend(given);
            parse_backoffs(Path::new("ini"), &parameters, steps)
        };
        let expected = [
            DecodingGraphBackoff::Always,
            DecodingGraphBackoff::UnknownUpTo(3),
            DecodingGraphBackoff::Unknown,
        ];
        assert_eq!(values(&["0", "3", "-1"], 3).unwrap(), expected);
        assert_eq!(
            values(&["-1"], 2).unwrap(),
            [DecodingGraphBackoff::Unknown, DecodingGraphBackoff::Always]
        );
        for bad in [&["-2"][..], &["x"], &["0", "0", "0"]] {
            let message = values(bad, 2).unwrap_err().to_string();
            assert!(message.contains("decoding-graph-backoff"), "{message}");
        }
    }
}
