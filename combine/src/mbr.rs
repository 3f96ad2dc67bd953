//! Minimum Bayes risk over n-best lists: the translation that is most like all others of the
//! sentence, weighted by their probabilities.
//!
//! Equal translations of a sentence are one candidate with the sum of their weights. So lists of
//! samples, in which likely translations are repeated, need no more work than their distinct
//! entries.

use hashbrown::HashMap;
use miriam_metrics::mbr::{CandidateList, Estimate, Utility};
use miriam_textio::n_best::NBestEntry;
use miriam_textio::number::push_general;
use miriam_textio::{Output, Progress, ordered_map};

use crate::pooled_lists::PooledLists;
use crate::{Error, ListInput, Result};

/// The weights of entries in their role as references for the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReferenceWeights {
    /// The probability of the entry in its list: the softmax of the totals times `scale`.
    Posterior {
        /// The factor, at least 0.
        scale: f64,
    },
    /// The same weight for all entries of a list, which fits lists of samples.
    Uniform,
}

/// The kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbrOutput {
    /// The best translation of each sentence, one per line.
    Best,
    /// n-best lists sorted by expected utility, which is written as the feature `MBR` and as the
    /// total.
    Lists,
}

/// Options of minimum Bayes risk decoding.
#[derive(Clone, Debug)]
pub struct MbrOptions {
    /// The metric that is maximised.
    pub utility: Utility,
    /// The computation of expected utilities: exact, or a cheaper estimate.
    pub estimate: Estimate,
    /// The weights of references.
    pub weights: ReferenceWeights,
    /// The shares of the lists in the weights, each 0 or more; empty for equal shares.
    pub list_weights: Vec<f64>,
    /// Whether the loss of utility by an inexact estimate is measured. The exact utilities are then
    /// computed too.
    pub measures_loss: bool,
    /// The kind of output.
    pub output: MbrOutput,
    /// The number of worker threads.
    pub threads: usize,
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MbrSummary {
    /// The number of sentences.
    pub sentences: u64,
    /// The number of entries of all lists.
    pub entries: u64,
    /// The number of distinct translations.
    pub candidates: u64,
    /// The number of sentences whose winner is not the first entry of the first list.
    pub not_first: u64,
    /// The number of sentences for which the exact estimate has a better winner, if measured.
    pub worse: u64,
    /// The sum over sentences of the loss in expected utility (exact winner minus winner), in
    /// points of the metric.
    pub loss: f64,
}

/// The candidates of a sentence.
struct Candidates {
    sentence: u64,
    texts: Vec<Vec<u8>>,
    weights: Vec<f64>,
    entries: u64,
}

/// The result for a sentence.
struct Ranked {
    /// The lines of the output.
    text: Vec<u8>,
    entries: u64,
    candidates: u64,
    is_first: bool,
    loss: Option<f64>,
}

/// Writes the translations with the largest expected utility.
///
/// # Errors
/// If a list cannot be read, a line is invalid, lists have different sentences, an entry lacks the
/// total that posterior weights need, options do not fit, or `output` cannot be written;
/// [`Error::Cancelled`] if `progress` is cancelled.
pub fn minimize_risk(
    lists: Vec<ListInput>,
    options: &MbrOptions,
    mut output: Output,
    progress: &dyn Progress,
) -> Result<MbrSummary> {
    check(lists.len(), options)?;
    let mut lists = PooledLists::open(lists)?;
    let task = progress.task("minimising risk", None);
    let mut summary = MbrSummary::default();
    ordered_map(
        options.threads,
        || {
            let entries = lists.next()?;
            entries.map(|entries| Candidates::new(&entries, options)).transpose()
        },
        || |candidates: Candidates| candidates.rank(options),
        |ranked: Ranked, more| {
            summary.sentences += 1;
            summary.entries += ranked.entries;
            summary.candidates += ranked.candidates;
            summary.not_first += u64::from(!ranked.is_first);
            summary.worse += u64::from(ranked.loss.is_some_and(|loss| loss > 0.0));
            summary.loss += ranked.loss.unwrap_or(0.0);
            output.write(&ranked.text)?;
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

fn check(num_lists: usize, options: &MbrOptions) -> Result<()> {
    if let ReferenceWeights::Posterior { scale } = options.weights
        && !(scale >= 0.0 && scale.is_finite())
    {
        return Err(Error::usage(format!("the scale of totals is {scale}; give 0 or more")));
    }
    if options.estimate == Estimate::CoarseToFine(0) {
        return Err(Error::usage("no candidate would be kept; keep at least 1"));
    }
    let weights = &options.list_weights;
    if !weights.is_empty() && weights.len() != num_lists {
        return Err(Error::usage(format!(
            "{} weights of lists for {num_lists} list(s): expected one for each",
            weights.len()
        )));
    }
    let is_valid = |weight: &f64| *weight >= 0.0 && weight.is_finite();
    if !weights.iter().all(is_valid) || (!weights.is_empty() && weights.iter().sum::<f64>() == 0.0)
    {
        return Err(Error::usage("weights of lists must be 0 or more, and at least one above 0"));
    }
    Ok(())
}

impl Candidates {
    fn new(lists: &[Vec<NBestEntry>], options: &MbrOptions) -> Result<Self> {
        let mut candidates = Candidates {
            sentence: lists[0][0].fields.sentence,
            texts: Vec::new(),
            weights: Vec::new(),
            entries: 0,
        };
        let mut places: HashMap<&[u8], usize> = HashMap::new();
        let sum: f64 = options.list_weights.iter().sum();
        for (number, entries) in lists.iter().enumerate() {
            let share = match options.list_weights.get(number) {
                Some(weight) => weight / sum,
                None => 1.0 / lists.len() as f64,
            };
            for (entry, weight) in entries.iter().zip(reference_weights(entries, options.weights)?)
            {
                let place = *places.entry(entry.text()).or_insert_with(|| {
                    candidates.texts.push(entry.text().to_vec());
                    candidates.weights.push(0.0);
                    candidates.texts.len() - 1
                });
                candidates.weights[place] += share * weight;
                candidates.entries += 1;
            }
        }
        Ok(candidates)
    }

    fn rank(&self, options: &MbrOptions) -> Ranked {
        let lines: Vec<_> = self.texts.iter().map(|text| String::from_utf8_lossy(text)).collect();
        let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
        let list = CandidateList::new(&options.utility, &lines);
        let ranked = list.rank(&self.weights, options.estimate);
        let winner = ranked[0].0;
        let loss = options.measures_loss.then(|| {
            let exact = list.expected(&self.weights);
            exact.iter().copied().fold(f64::NEG_INFINITY, f64::max) - exact[winner]
        });
        let mut text = Vec::new();
        match options.output {
            MbrOutput::Best => {
                text.extend_from_slice(&self.texts[winner]);
                text.push(b'\n');
            }
            MbrOutput::Lists => {
                for &(candidate, utility) in &ranked {
                    text.extend_from_slice(format!("{} ||| ", self.sentence).as_bytes());
                    text.extend_from_slice(&self.texts[candidate]);
                    text.extend_from_slice(b" ||| MBR= ");
                    push_general(&mut text, utility);
                    text.extend_from_slice(b" ||| ");
                    push_general(&mut text, utility);
                    text.push(b'\n');
                }
            }
        }
        Ranked {
            text,
            entries: self.entries,
            candidates: self.texts.len() as u64,
            is_first: winner == 0,
            loss,
        }
    }
}

/// Returns the weights of the entries of a list, which sum to 1.
fn reference_weights(entries: &[NBestEntry], weights: ReferenceWeights) -> Result<Vec<f64>> {
    let ReferenceWeights::Posterior { scale } = weights else {
        return Ok(vec![1.0 / entries.len() as f64; entries.len()]);
    };
    let totals: Vec<f64> =
        entries.iter().map(NBestEntry::total).collect::<miriam_textio::Result<_>>()?;
    let best = totals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut weights: Vec<f64> = totals.iter().map(|total| (scale * (total - best)).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use miriam_metrics::Chrf;
    use miriam_textio::NoProgress;

    fn options() -> MbrOptions {
        MbrOptions {
            utility: Utility::Chrf(Chrf::default()),
            estimate: Estimate::Exact,
            weights: ReferenceWeights::Posterior { scale: 1.0 },
            list_weights: Vec::new(),
            measures_loss: false,
            output: MbrOutput::Best,
            threads: 1,
        }
    }

    fn run(lists: &[&str], options: &MbrOptions) -> Result<(String, MbrSummary), String> {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> =
            (0..lists.len()).map(|n| folder.path().join(format!("{n}.list"))).collect();
        for (path, text) in paths.iter().zip(lists) {
            std::fs::write(path, text).unwrap();
        }
        let path = folder.path().join("out");
        let output = Output::create(&path).unwrap();
        let paths = paths.into_iter().map(ListInput::File).collect();
        let summary = minimize_risk(paths, options, output, &NoProgress)
            .map_err(|error| error.to_string())?;
        Ok((std::fs::read_to_string(path).unwrap(), summary))
    }

    const LIST: &str = "0 ||| x y z ||| F0= 0 ||| 0\n0 ||| a b c ||| F0= -1 ||| -1\n\
                        0 ||| a b d ||| F0= -1 ||| -1\n1 ||| é\u{ff} ||| F0= 0 ||| 0\n";

    #[test]
    fn probable_translations_count_more() {
        // The first has weight 1, the others together 2/e = 0.74, and they are only half alike.
        assert_eq!(run(&[LIST], &options()).unwrap().0, "x y z\né\u{ff}\n");
        let uniform = MbrOptions { weights: ReferenceWeights::Uniform, ..options() };
        let (text, summary) = run(&[LIST], &uniform).unwrap();
        assert_eq!(text, "a b c\né\u{ff}\n");
        let expected =
            MbrSummary { sentences: 2, entries: 4, candidates: 4, not_first: 1, ..summary };
        assert_eq!(summary, expected);
        let flat = ReferenceWeights::Posterior { scale: 0.0 };
        assert_eq!(run(&[LIST], &MbrOptions { weights: flat, ..options() }).unwrap().0, text);
    }

    /// Repeated samples are one candidate with more weight, and pooled lists have equal shares.
    #[test]
    fn equal_translations_are_one_candidate() {
        let samples = "0 ||| p q ||| F0= 0 ||| 0\n0 ||| a b ||| F0= 0 ||| 0\n\
                       0 ||| a b ||| F0= 0 ||| 0\n";
        let uniform = MbrOptions { weights: ReferenceWeights::Uniform, ..options() };
        let (text, summary) = run(&[samples], &uniform).unwrap();
        assert_eq!((&text[..], summary.entries, summary.candidates), ("a b\n", 3, 2));
        let other = "0 ||| p q ||| F0= 0 ||| 0\n";
        assert_eq!(run(&[samples, other], &uniform).unwrap().0, "p q\n");
        let shares = MbrOptions { list_weights: vec![3.0, 0.5], ..uniform };
        assert_eq!(run(&[samples, other], &shares).unwrap().0, "a b\n");
    }

    #[test]
    fn lists_in_memory_are_read_as_files_are() {
        let text = |name: &str, text: &str| ListInput::Text {
            name: name.into(),
            text: text.as_bytes().to_vec(),
        };
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let run_on = |lists: Vec<ListInput>| {
            minimize_risk(lists, &options(), Output::create(&out).unwrap(), &NoProgress)
                .map_err(|error| error.to_string())
        };
        run_on(vec![text("one", LIST), text("two", LIST)]).unwrap();
        assert_eq!(
            std::fs::read_to_string(&out).unwrap(),
            run(&[LIST, LIST], &options()).unwrap().0
        );
        let error = run_on(vec![text("one", LIST), text("two", "0 ||| a\n")]).unwrap_err();
        assert!(error.contains("two, line 1, field 4"), "{error}");
        let twice = vec![ListInput::File("-".into()), ListInput::File("-".into())];
        assert!(run_on(twice).unwrap_err().contains("give - once"));
    }

    #[test]
    fn lists_are_sorted_by_expected_utility() {
        let lists = MbrOptions {
            output: MbrOutput::Lists,
            weights: ReferenceWeights::Uniform,
            utility: Utility::Chrf(Chrf::new(1, 0).unwrap()),
            ..options()
        };
        let (text, _) =
            run(&["0 ||| c ||| 0 ||| 0\n0 ||| a ||| 0 ||| 0\n0 ||| a ||| 0 ||| 0\n"], &lists)
                .unwrap();
        assert_eq!(
            text,
            "0 ||| a ||| MBR= 66.6667 ||| 66.6667\n0 ||| c ||| MBR= 33.3333 ||| 33.3333\n"
        );
    }

    #[test]
    fn threads_do_not_change_results_and_losses_are_measured() {
        let list: String = (0..40)
            .flat_map(|s| (0..9).map(move |i| (s, i)))
            .map(|(s, i)| format!("{s} ||| w{} w{} w{} ||| F0= 0 ||| -{i}\n", s % 7, i % 3, i % 4))
            .collect();
        let (exact, _) = run(&[&list], &options()).unwrap();
        let threads = MbrOptions { threads: 3, ..options() };
        assert_eq!(run(&[&list], &threads).unwrap().0, exact);
        let all = MbrOptions { estimate: Estimate::CoarseToFine(100), ..options() };
        assert_eq!(run(&[&list], &all).unwrap().0, exact);
        let coarse = MbrOptions { measures_loss: true, estimate: Estimate::Aggregate, ..options() };
        let (text, summary) = run(&[&list], &coarse).unwrap();
        let different = text.lines().zip(exact.lines()).filter(|(a, b)| a != b).count() as u64;
        assert!(summary.worse <= different && summary.loss >= 0.0);
        assert_eq!(summary.worse > 0, summary.loss > 0.0);
    }

    #[test]
    fn lists_and_options_that_do_not_fit_are_rejected() {
        let short = "0 ||| a ||| F0= 0 ||| 0\n";
        let error = run(&[LIST, short], &options()).unwrap_err();
        assert!(error.contains("0.list, line 4, field 1: sentence 1 is not in"), "{error}");
        let error = run(&[short, LIST], &options()).unwrap_err();
        assert!(error.contains("1.list, line 4, field 1: sentence 1 is not in"), "{error}");
        let error = run(&["0 ||| a ||| F0= 0 ||| nan\n"], &options()).unwrap_err();
        assert!(error.contains("line 1, field 4: expected the total"), "{error}");
        let error = run(&["1 ||| a ||| F0= 0 ||| 0\n"], &options()).unwrap_err();
        assert!(error.contains("line 1, field 1: expected sentence 0, found 1"), "{error}");
        let shares = MbrOptions { list_weights: vec![1.0, 1.0], ..options() };
        assert!(run(&[LIST], &shares).unwrap_err().contains("2 weights of lists for 1 list"));
        let none = MbrOptions { estimate: Estimate::CoarseToFine(0), ..options() };
        assert!(run(&[LIST], &none).unwrap_err().contains("keep at least 1"));
        assert!(run(&[], &options()).unwrap_err().contains("at least one n-best list"));
    }
}
