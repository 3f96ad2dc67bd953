//! Variants of batching: with and without sorting, shrinking batches, top-up (Hoang et al. 2018,
//! section 2.2), and fusion of output layer and top-k.
//!
//! The cost of a batch depends on the distribution of its sentence lengths. So lengths are usually
//! those of a parallel text: all hypotheses of a beam end at the length of the reference. They can
//! also be random, or left to the model.

use std::collections::HashMap;
use std::path::Path;

use miriam_nmt::batch::BatchingOptions;
use miriam_nmt::network::Session;
use miriam_nmt::search::{Request, SearchOptions};
use miriam_storage::random::SplitMix64;
use miriam_textio::display_name;
use serde::{Deserialize, Serialize};

use super::super::random_candidates::draw_candidates;
use super::super::{FIRST_TOKEN, translate_requests};
use super::ablated_session::{AblatedSession, Ablation, EOS_ID, StepRecord};
use crate::error::{Error, Result};
use crate::input::{lines, words};
use crate::machine::Clock;

/// The number of batches read ahead and sorted, as in `nmt translate`.
pub const READ_AHEAD_BATCHES: usize = 20;

/// A method of filling and computing batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchingVariant {
    /// The name in tables and charts.
    pub name: &'static str,
    /// Whether sentences that are read ahead are sorted by length.
    pub sort_by_length: bool,
    /// Whether finished sentences are replaced by new ones; excludes `keep_dead_rows`.
    pub top_up: bool,
    /// Whether finished sentences are computed until the last one of their batch ends.
    pub keep_dead_rows: bool,
    /// Whether GEMM, softmax and top-k of the output layer are separate passes.
    pub unfused_output: bool,
}

impl BatchingVariant {
    /// The default, then variants without one or more optimisations.
    pub const ALL: [BatchingVariant; 8] = {
        let baseline = BatchingVariant {
            name: "all optimisations",
            sort_by_length: true,
            top_up: true,
            keep_dead_rows: false,
            unfused_output: false,
        };
        let dead = BatchingVariant {
            name: "dead rows kept",
            top_up: false,
            keep_dead_rows: true,
            ..baseline
        };
        let unsorted = BatchingVariant { name: "unsorted", sort_by_length: false, ..baseline };
        [
            baseline,
            BatchingVariant { name: "not topped up", top_up: false, ..baseline },
            dead,
            BatchingVariant { name: "unfused output", unfused_output: true, ..baseline },
            unsorted,
            BatchingVariant { name: "unsorted, not topped up", top_up: false, ..unsorted },
            BatchingVariant { name: "unsorted, dead rows kept", sort_by_length: false, ..dead },
            BatchingVariant {
                name: "no optimisation",
                sort_by_length: false,
                unfused_output: true,
                ..dead
            },
        ]
    };

    /// The comparisons: the name of an optimisation, and the indices in [`ALL`](Self::ALL) of
    /// the variants without and with it.
    pub const COMPARISONS: [(&'static str, usize, usize); 7] = [
        ("sorting", 4, 0),
        ("shrinking, sorted", 2, 1),
        ("shrinking, unsorted", 6, 5),
        ("top-up, sorted", 1, 0),
        ("top-up, unsorted", 5, 4),
        ("fused output", 3, 0),
        ("all of them", 7, 0),
    ];
}

/// Source sentences with the lengths of their translations.
pub struct ParallelText {
    requests: Vec<Request>,
    /// The length of the translation of a source, including EOS; `None` if the model generates EOS.
    target_lengths: Option<HashMap<Vec<u32>, usize>>,
    /// The options of the search, except the beam size, which each run sets.
    search_options: SearchOptions,
}

impl ParallelText {
    /// Returns the first `sentences` pairs of lines whose source has words, for a vocabulary of
    /// `vocabulary_size` tokens. `paths` name the texts in messages. If a source is repeated, the
    /// length of its first reference is used.
    ///
    /// # Errors
    /// If the texts differ in the number of lines, or the source has no words.
    pub fn new(
        source: &[u8],
        target: &[u8],
        sentences: usize,
        vocabulary_size: usize,
        paths: [&Path; 2],
    ) -> Result<Self> {
        let names = paths.map(display_name);
        let lengths = [source, target].map(|text| lines(text).count() as u64);
        let lengths = names.iter().map(String::as_str).zip(lengths);
        miriam_textio::Error::check_line_counts(lengths)?;
        let mut numbers: HashMap<&[u8], u32> = HashMap::new();
        let mut text = ParallelText::empty();
        let pairs = lines(source).zip(lines(target));
        let pairs = pairs.filter(|(source, _)| words(source).next().is_some());
        for (source, target) in pairs.take(sentences) {
            let mut ids: Vec<u32> = Vec::new();
            for token in words(source) {
                let next = numbers.len() as u32;
                let number = *numbers.entry(token).or_insert(next);
                ids.push(FIRST_TOKEN + number % (vocabulary_size as u32 - FIRST_TOKEN));
            }
            ids.push(EOS_ID);
            text.push(ids, words(target).count() + 1);
        }
        if text.requests.is_empty() { Err(Error::no_words(paths[0])) } else { Ok(text) }
    }

    /// Returns random sentences for a vocabulary of `vocabulary_size` tokens. `lengths` are the
    /// numbers of tokens of each source and of its translation, without EOS.
    pub fn random(lengths: &[[usize; 2]], vocabulary_size: usize, seed: u64) -> Self {
        let mut numbers = SplitMix64::new(seed);
        let mut text = ParallelText::empty();
        let kinds = vocabulary_size as u32 - FIRST_TOKEN;
        for &[source, target] in lengths {
            let words = (0..source).map(|_| FIRST_TOKEN + numbers.below(u64::from(kinds)) as u32);
            text.push(words.chain([EOS_ID]).collect(), target + 1);
        }
        text
    }

    /// Returns a text of sentences of token ids, whose translations end where the model generates
    /// EOS.
    pub fn open_ended(sentences: Vec<Vec<u32>>, search_options: SearchOptions) -> Self {
        let requests = sentences.into_iter().map(|source| Request { source, ..Request::default() });
        ParallelText { requests: requests.collect(), target_lengths: None, search_options }
    }

    fn empty() -> Self {
        ParallelText {
            requests: Vec::new(),
            target_lengths: Some(HashMap::new()),
            search_options: SearchOptions::default(),
        }
    }

    /// Adds a sentence. Of equal sources, the first length is used.
    fn push(&mut self, source: Vec<u32>, target_length: usize) {
        if let Some(lengths) = &mut self.target_lengths {
            lengths.entry(source.clone()).or_insert(target_length);
        }
        self.requests.push(Request { source, ..Request::default() });
    }

    /// Returns the text with shortlists: the most frequent tokens, and `per_token` random tokens
    /// for each source token.
    pub fn with_candidates(&self, per_token: usize, vocabulary_size: usize) -> Self {
        let requests = self.requests.iter().map(|request| {
            let candidates = draw_candidates(&request.source, per_token, vocabulary_size);
            Request { candidates: Some(candidates), ..request.clone() }
        });
        ParallelText {
            requests: requests.collect(),
            target_lengths: self.target_lengths.clone(),
            search_options: self.search_options.clone(),
        }
    }

    /// Returns a text of this number of sentences: the first ones, or all of them repeatedly.
    pub fn resized(&self, sentences: usize) -> Self {
        ParallelText {
            requests: self.requests.iter().cycle().take(sentences).cloned().collect(),
            target_lengths: self.target_lengths.clone(),
            search_options: self.search_options.clone(),
        }
    }

    /// Returns the number of sentences.
    pub fn num_sentences(&self) -> usize {
        self.requests.len()
    }

    /// Returns the number of tokens of the sources and of the translations, including EOS. The
    /// second number is 0 if the model generates EOS.
    pub fn token_counts(&self) -> [usize; 2] {
        let sources = self.requests.iter().map(|request| &request.source);
        let lengths = self.target_lengths.as_ref();
        [
            sources.clone().map(Vec::len).sum(),
            sources.map(|source| lengths.map_or(0, |lengths| lengths[source])).sum(),
        ]
    }
}

/// The result of translating a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BatchingRun {
    /// The best translation of each sentence.
    pub translations: Vec<Vec<u32>>,
    /// The log-probability of each translation, which studies do not save.
    #[serde(skip)]
    pub scores: Vec<f32>,
    /// The number of steps of all batches.
    pub steps: usize,
    /// The number of rows of all steps.
    pub rows: usize,
    /// The steps, if they were recorded.
    pub records: Vec<StepRecord>,
}

/// Translates a text on this thread, `batch` sentences at a time, with beam size `beam`. Steps are
/// recorded if there is a clock.
///
/// # Errors
/// Those of [`translate_requests`].
pub fn run_variant(
    session: &mut dyn Session,
    text: &ParallelText,
    batch: usize,
    beam: usize,
    variant: BatchingVariant,
    clock: Option<Clock>,
) -> Result<BatchingRun> {
    let batching = BatchingOptions {
        max_sentences: batch,
        max_source_tokens: 0,
        maxi_batch: READ_AHEAD_BATCHES,
        sort_by_length: variant.sort_by_length,
        top_up: variant.top_up,
    };
    run_batches(session, text, &batching, beam, variant, clock)
}

/// Works as [`run_variant`], but with the limits, the sorting and the top-up of `batching`.
///
/// # Errors
/// Those of [`translate_requests`].
pub fn run_batches(
    session: &mut dyn Session,
    text: &ParallelText,
    batching: &BatchingOptions,
    beam: usize,
    variant: BatchingVariant,
    clock: Option<Clock>,
) -> Result<BatchingRun> {
    assert!(
        !(variant.keep_dead_rows && variant.top_up),
        "rows of finished sentences cannot be both kept and replaced"
    );
    let ablation =
        Ablation { keep_dead_rows: variant.keep_dead_rows, unfused_output: variant.unfused_output };
    let mut session = AblatedSession::new(session, text.target_lengths.as_ref(), ablation, clock);
    let options = SearchOptions { beam_size: beam, ..text.search_options.clone() };
    let found = translate_requests(&mut session, &text.requests, &options, batching);
    session.drop_dead_sentences();
    let AblatedSession { steps, rows, records, .. } = session;
    let found = found?;
    let scores = found.iter().map(|translation| translation.log_probability).collect();
    let translations = found.into_iter().map(|translation| translation.tokens).collect();
    Ok(BatchingRun { translations, scores, steps, rows, records })
}

#[cfg(test)]
mod tests {
    use miriam_nmt::architecture::Architecture;
    use miriam_nmt::engine::Precision;
    use miriam_nmt::network::Network;

    use super::super::super::random_models::{random_model_without_eos, transformer_of_width};
    use super::*;

    /// Returns a text with pairs of these lengths.
    fn text(lengths: &[(usize, usize)]) -> ParallelText {
        let mut sides = [String::new(), String::new()];
        for (line, &(source, target)) in lengths.iter().enumerate() {
            for (side, count) in sides.iter_mut().zip([source, target]) {
                (0..count).for_each(|word| *side += &format!("{} ", 7 * line + word));
                side.push('\n');
            }
        }
        let [source, target] = sides.map(String::into_bytes);
        ParallelText::new(&source, &target, 100, 120, [Path::new("text"); 2]).unwrap()
    }

    const LENGTHS: [(usize, usize); 7] = [(3, 4), (9, 1), (2, 6), (5, 5), (12, 11), (4, 2), (1, 0)];

    fn session(precision: Precision) -> Box<dyn Session> {
        let shape = Architecture::Transformer(transformer_of_width(32, 48, [1, 2], 120));
        let model = random_model_without_eos(shape, 1).unwrap();
        Network::load(&model, Path::new("a random model"), precision).unwrap().session().unwrap()
    }

    #[test]
    fn no_variant_changes_a_translation() {
        let text = text(&LENGTHS);
        for precision in [Precision::F32, Precision::I8] {
            let mut session = session(precision);
            for beam in [1, 3] {
                let mut pass = |variant| {
                    run_variant(&mut *session, &text, 3, beam, variant, None).unwrap().translations
                };
                let baseline = pass(BatchingVariant::ALL[0]);
                let lengths: Vec<usize> = baseline.iter().map(Vec::len).collect();
                assert_eq!(lengths, LENGTHS.map(|(_, target)| target));
                assert!(
                    baseline.concat().iter().any(|word| *word != baseline[0][0]),
                    "all translations consist of one token"
                );
                for variant in BatchingVariant::ALL {
                    assert_eq!(pass(variant), baseline, "{}", variant.name);
                }
            }
        }
    }

    /// The numbers of steps and rows follow from the lengths, including EOS, in batches of three.
    #[test]
    fn row_counts_match_live_or_padded_batches() {
        let (text, mut session) = (text(&LENGTHS), session(Precision::F32));
        let mut counts = |name: &str, beam| {
            let variant = *BatchingVariant::ALL.iter().find(|v| v.name == name).unwrap();
            let pass = run_variant(&mut *session, &text, 3, beam, variant, None).unwrap();
            assert_eq!(pass.records, [], "nothing is recorded");
            (pass.steps, pass.rows)
        };
        // Lengths with EOS, by batch: 5, 2, 7 | 6, 12, 3 | 1
        assert_eq!(counts("unsorted, not topped up", 1), (7 + 12 + 1, 36));
        assert_eq!(counts("unsorted, dead rows kept", 1), (7 + 12 + 1, 3 * 7 + 3 * 12 + 1));
        // The same, sorted by the length of the source, longest first: 12, 2, 6 | 3, 5, 7 | 1
        assert_eq!(counts("not topped up", 1), (12 + 7 + 1, 36));
        assert_eq!(counts("dead rows kept", 1), (12 + 7 + 1, 3 * 12 + 3 * 7 + 1));
        assert_eq!(counts("all optimisations", 1).1, 36);
        // A beam starts with one row for each sentence.
        assert_eq!(counts("not topped up", 3), (12 + 7 + 1, 7 + 3 * (36 - 7)));
    }

    /// The sentences of each step follow from the lengths, including EOS, and so do the rows.
    #[test]
    fn recorded_steps_have_the_sentences_that_are_left() {
        let (text, mut session) = (text(&LENGTHS), session(Precision::F32));
        let mut steps = |name: &str| {
            let variant = *BatchingVariant::ALL.iter().find(|v| v.name == name).unwrap();
            let clock = Some(Clock::Cpu);
            let pass = run_variant(&mut *session, &text, 3, 2, variant, clock).unwrap();
            assert_eq!(pass.records.len(), pass.steps);
            assert_eq!(pass.records.iter().map(|step| step.rows).sum::<usize>(), pass.rows);
            assert!(pass.records.iter().all(|step| (0.0..60.0).contains(&step.seconds)));
            pass.records
        };
        // Lengths with EOS, by batch: 5, 2, 7 | 6, 12, 3 | 1. Each sentence starts with one row.
        let living = steps("unsorted, not topped up");
        let left = |batch: usize| {
            let steps = living.iter().filter(|step| step.fills == batch);
            steps.map(|step| (step.sentences, step.rows)).collect::<Vec<_>>()
        };
        assert_eq!(left(1), [(3, 3), (3, 6), (2, 4), (2, 4), (2, 4), (1, 2), (1, 2)]);
        assert_eq!(left(3), [(1, 1)]);
        let dead = steps("unsorted, dead rows kept");
        let counts = |steps: &[StepRecord]| steps.iter().map(|s| s.sentences).collect::<Vec<_>>();
        assert_eq!(counts(&dead), counts(&living), "dead rows are not sentences");
        assert_eq!(dead[6].rows, 6);
    }

    #[test]
    fn texts_that_differ_or_have_no_words_are_rejected() {
        for (source, target, reason) in [
            ("a\nb\n", "c\n", "text has 2 lines, reference has 1"),
            ("\n", "\n", "no line with words"),
        ] {
            let paths = ["text", "reference"].map(Path::new);
            let text = ParallelText::new(source.as_bytes(), target.as_bytes(), 5, 120, paths);
            let Err(error) = text else { panic!() };
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}
