//! Reranking of the entries of an n-best list by given weights of their features.

use std::sync::OnceLock;

use miriam_textio::n_best::{FeatureScheme, NBestEntry};
use miriam_textio::number::push_general;
use miriam_textio::{Output, Progress, ordered_map};

use crate::weights::FeatureWeights;
use crate::{Error, ListInput, Result};

/// The kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RerankOutput {
    /// The best translation of each sentence, one per line.
    Best,
    /// The list in its new order, with new totals.
    Lists,
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RerankSummary {
    /// The number of sentences.
    pub sentences: u64,
    /// The number of sentences whose best entry is not the first one.
    pub not_first: u64,
}

/// The features of the list, with their weights in the order of the values.
struct Scoring {
    scheme: FeatureScheme,
    weights: Vec<f64>,
}

/// Ranks the entries of each sentence of `list` by the sum of their weighted features, and writes
/// the best one or all of them. Entries with equal sums keep their order.
///
/// # Errors
/// If a file cannot be read or written, a line is invalid, features differ from those of the first
/// entry, an entry of an output list has no total, or [`FeatureWeights::for_scheme`] fails;
/// [`Error::Cancelled`] if `progress` is cancelled.
pub fn rerank(
    list: ListInput,
    weights: &FeatureWeights,
    kind: RerankOutput,
    threads: usize,
    mut output: Output,
    progress: &dyn Progress,
) -> Result<RerankSummary> {
    let mut reader = list.open()?;
    let scoring: OnceLock<Scoring> = OnceLock::new();
    let task = progress.task("ranking", None);
    let mut summary = RerankSummary::default();
    ordered_map(
        threads,
        || -> Result<_> {
            let Some(entries) = reader.next()? else { return Ok(None) };
            if scoring.get().is_none() {
                let scheme = FeatureScheme::new(entries[0].features());
                let weights = weights.for_scheme(&scheme)?;
                // This is the only place that sets `scoring`.
                let _ = scoring.set(Scoring { scheme, weights });
            }
            Ok(Some(entries))
        },
        || {
            |entries: Vec<NBestEntry>| {
                let scoring = scoring.get().expect("set by the reader");
                scoring.rank(&entries, kind)
            }
        },
        |ranked: Result<(Vec<u8>, bool)>, more| {
            let (text, is_first) = ranked?;
            summary.sentences += 1;
            summary.not_first += u64::from(!is_first);
            output.write(&text)?;
            task.advance(1);
            if task.is_cancelled() {
                return Err(Error::Cancelled);
            }
            if more { Ok(()) } else { Ok(output.flush()?) }
        },
    )?;
    output.finish()?;
    Ok(summary)
}

impl Scoring {
    /// Returns the output lines of a sentence, and whether its first entry is the best.
    fn rank(&self, entries: &[NBestEntry], kind: RerankOutput) -> Result<(Vec<u8>, bool)> {
        let mut ranked = Vec::with_capacity(entries.len());
        let mut values = Vec::with_capacity(self.weights.len());
        for (place, entry) in entries.iter().enumerate() {
            values.clear();
            self.scheme
                .parse_values(entry.features(), &mut values)
                .map_err(|reason| entry.error(entry.fields.features_field, reason))?;
            let products = self.weights.iter().zip(&values);
            let total = products.fold(0.0, |sum, (weight, value)| sum + weight * f64::from(*value));
            ranked.push((place, total));
        }
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        let best = ranked[0].0;
        let mut text = Vec::new();
        match kind {
            RerankOutput::Best => {
                text.extend_from_slice(entries[best].text());
                text.push(b'\n');
            }
            RerankOutput::Lists => {
                for (place, total) in ranked {
                    let entry = &entries[place];
                    let mut printed = Vec::new();
                    push_general(&mut printed, total);
                    // Fails if there is no total to replace.
                    entry.total()?;
                    entry.fields.push_changed(&entry.line, b"", Some(&printed), &mut text);
                    text.push(b'\n');
                }
            }
        }
        Ok((text, best == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miriam_textio::NoProgress;

    const LIST: &str = "0 ||| a ||| LM0= -1 TM0= -4 0 ||| -5 ||| 0-0\n\
                        0 ||| b ||| LM0= -3 TM0= -1 0 ||| -6 ||| 1-1\n\
                        1 ||| c ||| LM0= -1 TM0= -1 -1 ||| -3\n";

    fn run(
        list: &str,
        weights: &str,
        kind: RerankOutput,
    ) -> Result<(String, RerankSummary), String> {
        let folder = tempfile::tempdir().unwrap();
        let [list_path, weights_path, out] =
            ["list", "weights", "out"].map(|name| folder.path().join(name));
        std::fs::write(&list_path, list).unwrap();
        std::fs::write(&weights_path, weights).unwrap();
        let run = || {
            let weights = FeatureWeights::read(&weights_path)?;
            rerank(
                ListInput::File(list_path.clone()),
                &weights,
                kind,
                2,
                Output::create(&out)?,
                &NoProgress,
            )
        };
        let summary = run().map_err(|error| error.to_string())?;
        Ok((std::fs::read_to_string(&out).unwrap(), summary))
    }

    #[test]
    fn weights_decide() {
        // With the weight w, the total of `a` is -1 - 4 w, and the total of `b` is -3 - w.
        let best =
            |w: &str| run(LIST, &format!("LM0= 1\nTM0= {w} 0\n"), RerankOutput::Best).unwrap();
        assert_eq!(best("0.5"), ("a\nc\n".into(), RerankSummary { sentences: 2, not_first: 0 }));
        assert_eq!(best("1"), ("b\nc\n".into(), RerankSummary { sentences: 2, not_first: 1 }));
        let (lists, _) = run(LIST, "TM0= 1 0.5\nLM0= 1\n", RerankOutput::Lists).unwrap();
        assert_eq!(
            lists,
            "0 ||| b ||| LM0= -3 TM0= -1 0 ||| -4 ||| 1-1\n\
             0 ||| a ||| LM0= -1 TM0= -4 0 ||| -5 ||| 0-0\n\
             1 ||| c ||| LM0= -1 TM0= -1 -1 ||| -2.5\n"
        );
    }

    #[test]
    fn features_that_differ_are_rejected_by_line_and_field() {
        let weights = "LM0= 1\nTM0= 1 1\n";
        for (line, message) in [
            (
                "1 ||| d ||| LM0= -1 TM0= -1 ||| -3\n",
                "line 4, field 3: a value of feature \"TM0\" is",
            ),
            (
                "1 ||| d ||| LM0= -1 F0= -1 2 ||| -3\n",
                "line 4, field 3: expected a value of feature",
            ),
            (
                "1 ||| d ||| LM0= - TM0= -1 2 ||| -3\n",
                "line 4, field 3: a value of feature \"LM0\": \"-\" is not",
            ),
        ] {
            let error = run(&format!("{LIST}{line}"), weights, RerankOutput::Best).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
        let error = run(LIST, "LM0= 1\n", RerankOutput::Best).unwrap_err();
        assert!(error.contains("no weights for feature TM0"), "{error}");
        let error = run("0 ||| a ||| x= 1\n", "x= 1\n", RerankOutput::Lists).unwrap_err();
        assert!(error.contains("line 1, field 4: expected the total"), "{error}");
    }
}
