//! Scores of translations by additional models, written into n-best lists as features.
//!
//! Models implement [`FeatureModel`](crate::lists::FeatureModel), so this crate depends on none of
//! them.

use miriam_textio::n_best::{NBestEntry, NBestReader, split_features};
use miriam_textio::number::push_general;
use miriam_textio::{
    CancellationToken, Error as TextError, Lines, Progress, ResumableOutput, ordered_map,
};

use crate::lists::{CandidateList, Feature, FeatureScorer, ListError, score_lists};
use crate::{Error, Result};

/// The number of entries at which a window of sentences is full. A thread scores a whole window,
/// and output is written window by window.
const WINDOW_ENTRIES: usize = 1024;

/// The sentences of a text that a list must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListCoverage {
    /// All, from the first to the last.
    EverySentence,
    /// Some of them, in the order of the text.
    SomeSentences,
}

/// An n-best list that gets features, and its source text.
pub struct RescoreInput {
    /// The list, which may have gaps with [`ListCoverage::SomeSentences`].
    pub list: NBestReader,
    /// The text that the list translates, if a model reads it.
    pub source: Option<Lines>,
    /// The sentences of the text that must be in the list.
    pub coverage: ListCoverage,
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RescoreSummary {
    /// The number of entries that were scored.
    pub entries: u64,
    /// The number of sentences whose entries were scored before, by a run that was stopped.
    pub resumed: u64,
}

/// Writes lists with additional features after the present ones. Totals are unchanged, because
/// the new features have no weights yet. Ends early when `stop` is cancelled; the output is then
/// unfinished, and the next run continues it.
///
/// # Errors
/// If the name of a feature is invalid or already in the list; if a file cannot be read or written,
/// a line is invalid, or the list does not fit the text; if a model fails or a score is not finite;
/// [`Error::Cancelled`] if `progress` is cancelled.
pub fn add_features(
    input: RescoreInput,
    features: &[Feature<'_>],
    threads: usize,
    mut output: ResumableOutput,
    stop: &CancellationToken,
    progress: &dyn Progress,
) -> Result<RescoreSummary> {
    let task = progress.task("scoring", None);
    let mut summary = RescoreSummary { entries: 0, resumed: output.units() };
    let mut reader =
        SentenceReader { texts: input, lines_read: 0, last_line: Vec::new(), first: None };
    let outcome = (|| {
        reader.first = reader.texts.list.next()?;
        let Some(first) = &reader.first else { return reader.check_end() };
        let names = Feature::resolve_names(features, first)?;
        if reader.skip(output.units(), stop)?.is_none() {
            return Ok(());
        }
        ordered_map(
            threads,
            || if stop.is_cancelled() { Ok(None) } else { reader.next_window(stop) },
            || {
                let scorers: Result<Vec<_>, String> =
                    features.iter().map(|feature| feature.model.scorer()).collect();
                let mut worker = Worker { names: &names, scorers };
                move |window: Vec<Sentence>| worker.score_window(&window)
            },
            |written: Result<ScoredWindow>, more| {
                let ScoredWindow { text, sentences, entries } = written?;
                output.write_part(text, sentences)?;
                summary.entries += entries;
                task.set_position(summary.entries);
                if task.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                if more { Ok(()) } else { Ok(output.flush()?) }
            },
        )
    })();
    let finished = output.finish_if(outcome.is_ok() && !stop.is_cancelled());
    outcome?;
    finished?;
    Ok(summary)
}

/// A sentence and its entries.
struct Sentence {
    source: Vec<u8>,
    /// The name of the source text in messages.
    source_name: String,
    entries: Vec<NBestEntry>,
}

/// A reader of sentences with their entries.
struct SentenceReader {
    texts: RescoreInput,
    /// The number of source lines that were read.
    lines_read: u64,
    /// The last source line that was read.
    last_line: Vec<u8>,
    /// The entries of the first sentence, which are read early for the names of their features.
    first: Option<Vec<NBestEntry>>,
}

impl SentenceReader {
    fn next_entries(&mut self) -> Result<Option<Vec<NBestEntry>>> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => Ok(self.texts.list.next()?),
        }
    }

    /// Skips sentences that an earlier run has written, and their source lines; `None` after
    /// cancellation.
    fn skip(&mut self, sentences: u64, stop: &CancellationToken) -> Result<Option<()>> {
        for _ in 0..sentences {
            if let Some(entries) = self.next_entries()?
                && self.source_line(&entries[0], stop)?.is_none()
            {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// Reads sentences until they have enough entries. Returns `None` at the end and after
    /// cancellation. After cancellation, readers may report the end before they reach the end of
    /// the file.
    fn next_window(&mut self, stop: &CancellationToken) -> Result<Option<Vec<Sentence>>> {
        let (mut window, mut count) = (Vec::new(), 0);
        while count < WINDOW_ENTRIES {
            let Some(entries) = self.next_entries()? else {
                if !stop.is_cancelled() {
                    self.check_end()?;
                }
                break;
            };
            if stop.is_cancelled() {
                return Ok(None);
            }
            count += entries.len();
            let Some(source) = self.source_line(&entries[0], stop)? else { return Ok(None) };
            let source_name = self.texts.source.as_ref().map_or("", Lines::name).to_owned();
            window.push(Sentence { source, source_name, entries });
        }
        Ok(Some(window).filter(|window| !window.is_empty()))
    }

    /// Returns the line of the source that an entry translates, which is empty without a source;
    /// `None` after cancellation.
    fn source_line(
        &mut self,
        entry: &NBestEntry,
        stop: &CancellationToken,
    ) -> Result<Option<Vec<u8>>> {
        let Some(source) = &mut self.texts.source else { return Ok(Some(Vec::new())) };
        let number = entry.fields.sentence;
        while self.lines_read <= number {
            let Some(line) = source.next()? else {
                if stop.is_cancelled() {
                    return Ok(None);
                }
                let reason = format!(
                    "sentence {number} has no line in {}, which has {} lines; give the text that \
                     this list translates",
                    source.name(),
                    self.lines_read
                );
                return Err(entry.error(1, reason).into());
            };
            self.last_line.clear();
            self.last_line.extend_from_slice(line.bytes);
            self.lines_read += 1;
        }
        Ok(Some(self.last_line.clone()))
    }

    /// Checks, at the end of the list, that no line of the source is left if every sentence must
    /// have entries.
    fn check_end(&mut self) -> Result<()> {
        let RescoreInput { source: Some(source), coverage: ListCoverage::EverySentence, .. } =
            &mut self.texts
        else {
            return Ok(());
        };
        if source.next()?.is_none() {
            return Ok(());
        }
        let reason = format!(
            "the list has no sentence {}: it ends before this text does; give the text that the list \
             translates",
            self.lines_read
        );
        Err(TextError::format(source.name(), self.lines_read + 1, None, reason).into())
    }
}

/// The lines of a window.
struct ScoredWindow {
    text: Vec<u8>,
    sentences: u64,
    entries: u64,
}

/// The scorers of a thread, with the names of their scores.
struct Worker<'a> {
    names: &'a [String],
    scorers: Result<Vec<Box<dyn FeatureScorer + 'a>>, String>,
}

impl Worker<'_> {
    /// Returns the lines of the window's entries with the new features.
    fn score_window(&mut self, window: &[Sentence]) -> Result<ScoredWindow> {
        for entry in window.iter().flat_map(|sentence| &sentence.entries) {
            self.check_features(entry)?;
        }
        let scorers = self.scorers.as_mut().map_err(|reason| Error::usage(reason.clone()))?;
        let texts: Vec<Vec<&[u8]>> = window
            .iter()
            .map(|sentence| sentence.entries.iter().map(NBestEntry::text).collect())
            .collect();
        let lists: Vec<CandidateList<'_>> = window
            .iter()
            .zip(&texts)
            .map(|(sentence, texts)| CandidateList {
                source: &sentence.source,
                translations: texts,
            })
            .collect();
        let values = score_lists(scorers, &lists).map_err(|(feature, error)| match error {
            ListError::Model { reason } => Error::usage(reason),
            ListError::Text { list, translation, reason } => {
                let Sentence { source_name, entries, .. } = &window[list];
                let reason =
                    format!("feature {} cannot score this text: {reason}", self.names[feature]);
                match translation {
                    Some(at) => entries[at].error(2, reason).into(),
                    None => {
                        let line = entries[0].fields.sentence + 1;
                        TextError::format(source_name, line, None, reason).into()
                    }
                }
            }
        })?;
        let (mut text, mut entries) = (Vec::new(), 0);
        for (sentence, values) in window.iter().zip(&values) {
            for (entry, values) in sentence.entries.iter().zip(values) {
                let mut added = Vec::new();
                push_features(self.names, values, &mut added);
                entry.fields.push_changed(&entry.line, &added, None, &mut text);
                text.push(b'\n');
                entries += 1;
            }
        }
        Ok(ScoredWindow { text, sentences: window.len() as u64, entries })
    }

    /// Checks that an entry has none of the new features yet.
    fn check_features(&self, entry: &NBestEntry) -> Result<()> {
        let known = split_features(entry.features())
            .find_map(|(name, _)| self.names.iter().find(|new| new.as_bytes() == name));
        match known {
            None => Ok(()),
            Some(known) => {
                let reason = format!(
                    "the entry already has a feature {known}; give other names with --features"
                );
                Err(entry.error(entry.fields.features_field, reason).into())
            }
        }
    }
}

/// Appends features, each of one value, in the form of n-best lists: `Name= value`.
pub fn push_features(names: &[String], values: &[f64], out: &mut Vec<u8>) {
    for (name, &value) in names.iter().zip(values) {
        if !out.is_empty() {
            out.push(b' ');
        }
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"= ");
        push_general(out, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lists::{FeatureModel, FeatureName};
    use miriam_textio::n_best::NBestForm;
    use miriam_textio::{Input, NoProgress};
    use std::io::Cursor;
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A model whose scores follow from the lengths of both sides. It counts the translations that
    /// it scores.
    #[derive(Default)]
    struct Lengths(AtomicUsize);

    impl FeatureModel for Lengths {
        fn scorer(&self) -> Result<Box<dyn FeatureScorer + '_>, String> {
            Ok(Box::new(self))
        }
    }

    impl FeatureScorer for &Lengths {
        fn score(&mut self, lists: &[CandidateList<'_>]) -> Result<Vec<Vec<f64>>, ListError> {
            let mut scores = Vec::new();
            for (number, list) in lists.iter().enumerate() {
                self.0.fetch_add(list.translations.len(), Ordering::Relaxed);
                if let Some(at) = list.translations.iter().position(|text| *text == b"bad") {
                    let reason = "it is bad".to_owned();
                    return Err(ListError::Text { list: number, translation: Some(at), reason });
                }
                let length = list.source.len() as f64;
                scores.push(
                    list.translations.iter().map(|text| text.len() as f64 + length / 8.0).collect(),
                );
            }
            Ok(scores)
        }
    }

    fn lines(name: &str, text: &str) -> Lines {
        let text = Cursor::new(text.to_owned());
        Lines::new(Input::from_reader(text, name, None).unwrap())
    }

    /// Adds features to `list` and writes the result to `out`; fails at a translation `bad`.
    fn run(
        list: &str,
        source: Option<&str>,
        names: &[&str],
        model: &dyn FeatureModel,
        out: &Path,
    ) -> Result<RescoreSummary, String> {
        let features: Vec<Feature<'_>> = names
            .iter()
            .map(|&name| Feature {
                name: match name.strip_suffix('*') {
                    Some(stem) => FeatureName::Numbered(stem.to_owned()),
                    None => FeatureName::Given(name.to_owned()),
                },
                model,
            })
            .collect();
        let texts = RescoreInput {
            list: NBestReader::from_lines(lines("list", list), NBestForm::Any),
            source: source.map(|text| lines("text", text)),
            coverage: ListCoverage::EverySentence,
        };
        let output = ResumableOutput::open(out, Some("job")).unwrap();
        let stop = CancellationToken::new();
        add_features(texts, &features, 2, output, &stop, &NoProgress).map_err(|e| e.to_string())
    }

    fn scored(list: &str, source: Option<&str>, names: &[&str]) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        run(list, source, names, &Lengths::default(), &out)?;
        Ok(std::fs::read_to_string(&out).unwrap())
    }

    #[test]
    fn features_follow_those_of_the_list() {
        let list =
            "0 ||| ab ||| LM0= -1 ||| -2 ||| 0-0\n0 ||| a |||  ||| -3\n1 |||  ||| -1 ||| 0\n";
        assert_eq!(
            scored(list, Some("x\nxyz\n"), &["L", "M"]).unwrap(),
            "0 ||| ab ||| LM0= -1 L= 2.125 M= 2.125 ||| -2 ||| 0-0\n\
             0 ||| a ||| L= 1.125 M= 1.125 ||| -3\n1 |||  ||| -1 L= 0.375 M= 0.375 ||| 0\n"
        );
        assert_eq!(
            scored("0 ||| a ||| N1= 1 ||| 0\n", None, &["N*", "N*"]).unwrap(),
            "0 ||| a ||| N1= 1 N0= 1 N2= 1 ||| 0\n",
            "numbers that the list has are left out"
        );
        let list = "0 ||| a ||| N1= 1 ||| 0\n0 ||| b ||| N0= 1 ||| 0\n";
        assert_eq!(
            scored(list, None, &["N*", "N*"]).unwrap(),
            "0 ||| a ||| N1= 1 N2= 1 N3= 1 ||| 0\n0 ||| b ||| N0= 1 N2= 1 N3= 1 ||| 0\n",
            "in all entries of the first sentence"
        );
    }

    #[test]
    fn names_and_scores_that_do_not_fit_are_rejected() {
        let list = "0 ||| ab ||| LM0= -1 ||| -2\n0 ||| bad ||| LM0= -1 ||| -2\n";
        for (names, reason) in [
            (["LM0", "M"], "list, line 1, field 3: the entry already has a feature LM0"),
            (["L", "M"], "list, line 2, field 2: feature L cannot score this text: it is bad"),
            (["L", "L"], "two features have the name L"),
            (["L M", "N"], "\"L M\" is not a name"),
            (["L=", "N"], "\"L=\" is not a name"),
            (["", "N"], "\"\" is not a name"),
        ] {
            let error = scored(list, None, &names).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn lists_and_texts_that_do_not_fit_are_rejected() {
        let line = |number: u64| format!("{number} ||| a ||| F= 1 ||| 0\n");
        for (list, source, reason) in [
            (line(0) + &line(1), "x\n", "list, line 2, field 1: sentence 1 has no line in text"),
            (line(0), "x\ny\n", "text, line 2: the list has no sentence 1"),
            (String::new(), "x\n", "text, line 1: the list has no sentence 0"),
            (line(0) + &line(2), "x\ny\nz\n", "list, line 2, field 1: expected sentence 1"),
            ("0 ||| a\nb\n".into(), "x\n", "list, line 2, field 2: expected an entry"),
        ] {
            let error = scored(&list, Some(source), &["L"]).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    /// A run that failed is resumed after the last window that it wrote.
    #[test]
    fn a_failed_run_is_resumed() {
        let entry = |number: usize, text: &str| format!("{number} ||| {text} ||| F= 1 ||| 0\n");
        let list: String = (0..3000).map(|number| entry(number, &"b".repeat(number % 7))).collect();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let broken = list.replacen("2500 ||| b ", "2500 ||| bad ", 1);
        assert_ne!(broken, list);
        run(&broken, None, &["L"], &Lengths::default(), &out).unwrap_err();
        assert!(!out.exists());
        let model = Lengths::default();
        let summary = run(&list, None, &["L"], &model, &out).unwrap();
        assert_eq!(summary, RescoreSummary { entries: 952, resumed: 2048 });
        assert_eq!(model.0.into_inner(), 952);
        let whole = scored(&list, None, &["L"]).unwrap();
        assert_eq!(std::fs::read_to_string(&out).unwrap(), whole);
        assert_eq!(whole.lines().count(), 3000);
    }

    /// The last sentences were written, but the file was not finished.
    #[test]
    fn a_run_that_has_scored_everything_is_finished() {
        let list = "0 ||| a ||| F= 1 ||| 0\n1 ||| bb ||| F= 1 ||| 0\n";
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let mut output = ResumableOutput::open(&out, Some("job")).unwrap();
        let whole = scored(list, Some("x\ny\n"), &["L"]).unwrap();
        output.write_part(whole.clone().into_bytes(), 2).unwrap();
        output.finish_if(false).unwrap();
        let summary = run(list, Some("x\ny\n"), &["L"], &Lengths::default(), &out).unwrap();
        assert_eq!(summary, RescoreSummary { entries: 0, resumed: 2 });
        assert_eq!(std::fs::read_to_string(&out).unwrap(), whole);
    }
}
