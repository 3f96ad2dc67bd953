//! Word alignment of two text files, and symmetrisation of two files of links.

use std::path::{Path, PathBuf};

use miriam_storage::spill_file::{OTHER_TEMP, check_folder};
use miriam_textio::{Output, ParallelLines, Progress, Vocabulary, ordered_map};

use crate::bitext::Bitext;
use crate::cooccurrence::{CellStore, CooccurrenceRows};
use crate::corpus_pass::{AlignmentLines, BestPositions, CorpusPass, decode_with_saved_model};
use crate::diagonal::{DiagonalPrior, LengthPairCounts};
use crate::hmm::HmmTransitions;
use crate::ibm2_options::{Ibm2Iteration, Ibm2Options};
use crate::lexical_table::write_lexical_table;
use crate::links::{Link, parse_links, print_links};
use crate::model_file::{SavedModel, save_model};
use crate::position_model::PositionModel;
use crate::symmetrization::{Symmetrization, Symmetrizer};
use crate::translation_table::{FORWARD, REVERSE, TranslationTable};
use crate::{Error, Result};

/// The default number of iterations of IBM model 2, as in fast_align; the last one only aligns.
const IBM2_ITERATIONS: usize = 5;
/// The default number of iterations of the HMM model, which follow the iterations of IBM model 2.
/// In a test on a small text, more iterations gave fewer links and no better translations.
const HMM_ITERATIONS: usize = 2;
/// The default memory limit in bytes.
const DEFAULT_MEMORY: u64 = 4 << 30;
/// The memory for cells (the index of word pairs) that is allowed even if the limit leaves less, in
/// bytes. So the cells of a small text are never written to a temporary file.
const MIN_CELL_MEMORY: u64 = 16 << 20;

/// The options of an alignment run: model, symmetrisation and resources.
#[derive(Clone, Debug, Default)]
pub struct AlignOptions {
    /// The alignment model.
    pub model: AlignModel,
    /// The heuristic that symmetrises the links of both directions.
    pub symmetrization: Symmetrization,
    /// The number of worker threads.
    pub threads: usize,
    /// Iterations of IBM model 2, the last of which only aligns; 5 by default.
    pub iterations: Option<usize>,
    /// Further options of IBM model 2. A model can be saved only if they have their defaults.
    pub ibm2: Ibm2Options,
    /// Iterations of the HMM model, which starts from IBM model 2; 2 by default.
    pub hmm_iterations: Option<usize>,
    /// The memory limit in bytes, 4 GiB by default. The part of the index of word pairs that does
    /// not fit is written to a temporary file; the translation table itself must fit.
    pub memory: Option<u64>,
    /// The folder of temporary files; the system's by default.
    pub temp_dir: Option<PathBuf>,
    /// The file to save the trained model to.
    pub save_model: Option<PathBuf>,
    /// A saved model to align with, without training. The options of training, `save_model` and
    /// `lexical_table` then have no effect.
    pub load_model: Option<PathBuf>,
    /// The file to write the lexical translation table of both directions to.
    pub lexical_table: Option<PathBuf>,
}

/// The alignment model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlignModel {
    /// IBM model 2 with a diagonal prior.
    #[default]
    Ibm2,
    /// The HMM alignment model.
    Hmm,
}

/// The counts of an alignment run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AlignSummary {
    /// The number of sentence pairs read.
    pub pairs: u64,
    /// The number of links written.
    pub links: u64,
    /// The number of sentence pairs that got no links because a side has no words.
    pub empty_pairs: u64,
    /// The number of sentence pairs that got no links because a side has more than
    /// [`crate::MAX_SENTENCE_WORDS`] words.
    pub too_long_pairs: u64,
    /// The number of distinct pairs of words that cooccur in a sentence pair.
    pub word_pairs: u64,
    /// The number of bytes written to a temporary file.
    pub spilled_bytes: u64,
    /// The results of each training iteration of IBM model 2, forward and reverse. All counts are 0
    /// in a direction that is not trained.
    pub ibm2_iterations: Vec<[Ibm2Iteration; 2]>,
    /// The perplexity of the last training iteration, forward and reverse; `None` for a direction
    /// that is not trained.
    pub perplexity: [Option<f64>; 2],
}

/// Aligns two files line by line and writes the links, `i-j`, to `output`.
///
/// # Errors
/// If a file cannot be read or written, the texts differ in their numbers of lines, a saved model
/// is damaged, or options are out of range or contradict each other; [`Error::Cancelled`] if
/// `progress` is cancelled.
pub fn align_files(
    source: &Path,
    target: &Path,
    output: &Path,
    options: &AlignOptions,
    progress: &dyn Progress,
) -> Result<AlignSummary> {
    options.ibm2.validate()?;
    let saves_model = options.save_model.is_some() && options.load_model.is_none();
    if saves_model && options.ibm2 != Ibm2Options::default() {
        let reason = "a model can be saved only with the default options of IBM model 2; leave out \
                      the other options, or do not save the model";
        return Err(Error::InvalidOptions { reason: reason.into() });
    }
    run_in_pool(options.threads, || {
        if let Some(path) = &options.load_model {
            return align_with_saved_model(source, target, output, path, options, progress);
        }
        if let Some(folder) = &options.temp_dir {
            check_folder(folder, OTHER_TEMP)?;
        }
        let text = Bitext::read(source, target, [Vocabulary::new(), Vocabulary::new()], progress)?;
        let mut output = Output::create_atomic(output)?;
        let summary =
            train_and_align(&text, options, &mut |line| Ok(output.write(line)?), progress)?;
        output.finish()?;
        Ok(summary)
    })
}

/// Runs `work` in a pool of `threads` threads.
pub(crate) fn run_in_pool<T: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build();
    let pool =
        pool.map_err(|e| Error::InvalidOptions { reason: format!("cannot start threads: {e}") })?;
    pool.install(work)
}

fn train_and_align(
    text: &Bitext,
    options: &AlignOptions,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
    progress: &dyn Progress,
) -> Result<AlignSummary> {
    let mut summary = AlignSummary::from_bitext(text);
    if summary.has_nothing_to_align() {
        (0..text.len()).try_for_each(|_| write(b"\n"))?;
        return Ok(summary);
    }
    let task = progress.task("counting word pairs", None);
    let rows = CooccurrenceRows::from_bitext(text);
    drop(task);
    summary.word_pairs = rows.len() as u64;
    // Each word pair takes 36 bytes: two f64 for each direction and the u32 of the target word.
    let needed = rows.len() as u64 * 36 + text.source.memory_bytes() + text.target.memory_bytes();
    let memory = options.memory.unwrap_or(DEFAULT_MEMORY);
    let cell_memory = memory.saturating_sub(needed).max(MIN_CELL_MEMORY);
    let temp = options.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
    let cells = CellStore::from_bitext(text, &rows, cell_memory, &temp, progress)?;
    summary.spilled_bytes = cells.spilled_bytes();
    let mut directions = options.symmetrization.directions();
    if options.save_model.is_some() || options.lexical_table.is_some() {
        directions = [true, true];
    }
    let pass = CorpusPass { text, rows: &rows, cells: &cells, directions, with_likelihoods: false };
    let TrainedModel { translation_table, positions } =
        train(&pass, options, &mut summary, progress)?;
    let task = progress.task("aligning", Some(summary.pairs));
    let heuristic = options.symmetrization;
    let mut count = 0;
    pass.decode(
        &translation_table,
        &positions,
        |writer: &mut AlignmentWriter, best: &BestPositions, lines: &mut AlignmentLines| {
            writer.write_alignment(best, heuristic, lines)
        },
        |lines| {
            count += lines.num_links;
            write(&lines.text)
        },
        &task,
    )?;
    drop(task);
    summary.links = count;
    let vocabularies = [&text.source.vocabulary, &text.target.vocabulary];
    if let Some(path) = &options.lexical_table {
        write_lexical_table(path, vocabularies, &rows, &translation_table)?;
    }
    if let Some(path) = &options.save_model {
        save_model(path, vocabularies, &rows, &translation_table, &positions)?;
    }
    Ok(summary)
}

/// Aligns two files with the saved model in the file `model`, without training.
fn align_with_saved_model(
    source: &Path,
    target: &Path,
    output: &Path,
    model: &Path,
    options: &AlignOptions,
    progress: &dyn Progress,
) -> Result<AlignSummary> {
    let saved = SavedModel::open(model)?;
    let text = Bitext::read(source, target, saved.vocabularies(model)?, progress)?;
    let mut summary = AlignSummary::from_bitext(&text);
    let mut output = Output::create_atomic(output)?;
    let task = progress.task("aligning", Some(summary.pairs));
    let heuristic = options.symmetrization;
    let mut count = 0;
    decode_with_saved_model(
        &text,
        &saved,
        heuristic.directions(),
        |writer: &mut AlignmentWriter, best: &BestPositions, lines: &mut AlignmentLines| {
            writer.write_alignment(best, heuristic, lines)
        },
        |lines| {
            count += lines.num_links;
            Ok(output.write(&lines.text)?)
        },
        &task,
    )?;
    drop(task);
    summary.links = count;
    output.finish()?;
    Ok(summary)
}

impl AlignSummary {
    /// Whether every pair is empty on a side or too long, so that there is nothing to align.
    pub fn has_nothing_to_align(&self) -> bool {
        self.empty_pairs + self.too_long_pairs == self.pairs
    }

    pub(crate) fn from_bitext(text: &Bitext) -> Self {
        let pairs = text.len() as u64;
        let used = (0..text.len()).filter(|&line| text.pair(line).is_some()).count() as u64;
        let too_long_pairs = text.num_too_long_pairs();
        AlignSummary {
            pairs,
            empty_pairs: pairs - used - too_long_pairs,
            too_long_pairs,
            ..AlignSummary::default()
        }
    }
}

/// The result of training.
pub(crate) struct TrainedModel {
    pub translation_table: TranslationTable,
    pub positions: [PositionModel; 2],
}

pub(crate) fn train(
    pass: &CorpusPass<'_>,
    options: &AlignOptions,
    summary: &mut AlignSummary,
    progress: &dyn Progress,
) -> Result<TrainedModel> {
    let (rows, text) = (pass.rows, pass.text);
    let length_pairs = count_length_pairs(text);
    let shares = rows.balanced_ranges(rayon::current_num_threads());
    fn zeros(rows: &CooccurrenceRows, text: &Bitext) -> TranslationTable {
        TranslationTable::zeros(
            rows.len(),
            text.source.vocabulary.len(),
            text.target.vocabulary.len(),
        )
    }
    let mut translation_table = zeros(rows, text);
    let mut counts = zeros(rows, text);
    // One iteration of EM; in the first one, all translation probabilities are equal.
    let mut iterate = |stage: &str,
                       is_first: bool,
                       positions: &[PositionModel; 2],
                       translation_table: &mut TranslationTable| {
        let task = progress.task(stage, Some(text.len() as u64));
        let previous = if is_first { None } else { Some(&*translation_table) };
        let sums = pass.e_step(previous, positions, &mut counts, &shares, &task)?;
        counts.normalize(rows, &shares, options.ibm2.dirichlet);
        std::mem::swap(translation_table, &mut counts);
        counts.clear();
        for ((perplexity, sums), is_trained) in
            summary.perplexity.iter_mut().zip(&sums).zip(pass.directions)
        {
            *perplexity = is_trained.then(|| sums.perplexity());
        }
        Ok::<_, Error>(sums)
    };
    let mut priors = [DiagonalPrior::new(&options.ibm2); 2];
    let iterations = options.iterations.unwrap_or(IBM2_ITERATIONS);
    let optimize_tension = options.ibm2.diagonal && options.ibm2.optimize_tension;
    let mut history = Vec::new();
    for iteration in 1..iterations {
        let (stage, positions) =
            (format!("IBM 2, iteration {iteration}"), priors.map(PositionModel::Diagonal));
        let sums = iterate(&stage, iteration == 1, &positions, &mut translation_table)?;
        for direction in [FORWARD, REVERSE] {
            if iteration > 1 && pass.directions[direction] && optimize_tension {
                priors[direction].m_step(&sums[direction], &length_pairs[direction]);
            }
        }
        history.push([FORWARD, REVERSE].map(|direction| Ibm2Iteration {
            ln_likelihood: sums[direction].ln_likelihood,
            outputs: sums[direction].output_count,
            null_outputs: sums[direction].null_count,
            tension: priors[direction].tension,
        }));
    }
    if history.is_empty() {
        let words = [&text.source, &text.target].map(|side| side.vocabulary.len());
        translation_table = TranslationTable::unknown(rows.len(), words[0], words[1]);
    }
    let mut positions = priors.map(PositionModel::Diagonal);
    if options.model == AlignModel::Hmm {
        positions = [
            PositionModel::Hmm(HmmTransitions::default()),
            PositionModel::Hmm(HmmTransitions::default()),
        ];
        for iteration in 1..=options.hmm_iterations.unwrap_or(HMM_ITERATIONS) {
            let stage = format!("HMM, iteration {iteration}");
            let sums = iterate(&stage, false, &positions, &mut translation_table)?;
            for direction in [FORWARD, REVERSE] {
                if pass.directions[direction] {
                    positions[direction] =
                        PositionModel::Hmm(HmmTransitions::m_step(&sums[direction]));
                }
            }
        }
    }
    summary.ibm2_iterations = history;
    Ok(TrainedModel { translation_table, positions })
}

/// Counts the sentence pairs with each pair of lengths, (output words, state words), in both
/// directions. The forward direction explains target words (outputs) by source words (states).
fn count_length_pairs(text: &Bitext) -> [LengthPairCounts; 2] {
    let mut counts = [LengthPairCounts::new(), LengthPairCounts::new()];
    for pair in (0..text.len()).filter_map(|line| text.pair(line)) {
        let (source, target) =
            (pair.source.word_indices.len() as u32, pair.target.word_indices.len() as u32);
        *counts[FORWARD].entry((target, source)).or_default() += 1;
        *counts[REVERSE].entry((source, target)).or_default() += 1;
    }
    counts
}

/// A writer of symmetrised links as lines of text, with buffers that are kept from line to line.
#[derive(Default)]
pub(crate) struct AlignmentWriter {
    links: [Vec<Link>; 2],
    symmetrized: Vec<Link>,
    symmetrizer: Symmetrizer,
}

impl AlignmentWriter {
    /// Symmetrises the best positions of both directions and appends their links to `lines`.
    pub fn write_alignment(
        &mut self,
        best: &BestPositions,
        heuristic: Symmetrization,
        lines: &mut AlignmentLines,
    ) {
        let [forward, reverse] = &mut self.links;
        forward.clear();
        fn output_and_state((at, best): (usize, &Option<u16>)) -> Option<(u16, u16)> {
            Some((at as u16, (*best)?))
        }
        let pairs = best.positions[FORWARD].iter().enumerate().filter_map(output_and_state);
        forward.extend(pairs.map(|(target, source)| (source, target)));
        reverse.clear();
        reverse.extend(best.positions[REVERSE].iter().enumerate().filter_map(output_and_state));
        self.symmetrizer.symmetrize(heuristic, forward, reverse, &mut self.symmetrized);
        print_links(&self.symmetrized, &mut lines.text);
        lines.num_links += self.symmetrized.len() as u64;
    }
}

/// Symmetrises two files of links, line by line, and writes the result to `output`.
///
/// # Errors
/// If a file cannot be read or written, the files differ in their numbers of lines, or a link is
/// malformed; [`Error::Cancelled`] if `progress` is cancelled.
pub fn symmetrize_files(
    forward: &Path,
    reverse: &Path,
    output: &Path,
    heuristic: Symmetrization,
    threads: usize,
    progress: &dyn Progress,
) -> Result<AlignSummary> {
    let task = progress.task("symmetrizing", None);
    let mut files = ParallelLines::open(&[forward, reverse])?;
    let mut output = Output::create_atomic(output)?;
    let mut summary = AlignSummary::default();
    ordered_map(
        threads.max(1),
        || -> Result<Option<Vec<[Vec<Link>; 2]>>> {
            if task.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let mut block = Vec::new();
            while block.len() < 500 {
                let mut both = [Vec::new(), Vec::new()];
                if !files.next(|index, name, line| parse_links(name, line, &mut both[index]))? {
                    break;
                }
                block.push(both);
            }
            Ok((!block.is_empty()).then_some(block))
        },
        || {
            let (mut symmetrizer, mut symmetrized) = (Symmetrizer::default(), Vec::new());
            move |block| {
                let (mut text, mut links) = (Vec::new(), 0);
                for [forward, reverse] in &block {
                    symmetrizer.symmetrize(heuristic, forward, reverse, &mut symmetrized);
                    print_links(&symmetrized, &mut text);
                    links += symmetrized.len() as u64;
                }
                (text, block.len() as u64, links)
            }
        },
        |(text, pairs, links), _| {
            summary.pairs += pairs;
            summary.links += links;
            task.advance(pairs);
            Ok::<(), Error>(output.write(&text)?)
        },
    )?;
    output.finish()?;
    Ok(summary)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::bitext::from_lines;
    use miriam_textio::NoProgress;
    use proptest::prelude::*;
    use std::collections::HashMap;

    pub(crate) fn test_options() -> AlignOptions {
        AlignOptions { threads: 1, ..AlignOptions::default() }
    }

    /// Returns a text's cooccurrence rows and the trained model.
    pub(crate) fn trained(
        text: &Bitext,
        options: &AlignOptions,
    ) -> (CooccurrenceRows, TrainedModel) {
        run_in_pool(options.threads, || {
            let rows = CooccurrenceRows::from_bitext(text);
            let memory = options.memory.unwrap_or(DEFAULT_MEMORY);
            let cells =
                CellStore::from_bitext(text, &rows, memory, &std::env::temp_dir(), &NoProgress)?;
            let pass = CorpusPass {
                text,
                rows: &rows,
                cells: &cells,
                directions: [true, true],
                with_likelihoods: false,
            };
            let trained = train(&pass, options, &mut AlignSummary::default(), &NoProgress)?;
            Ok((rows, trained))
        })
        .expect("training in memory cannot fail")
    }

    /// Computes digamma by the formulas 6.3.5 and 6.3.18 of Abramowitz and Stegun.
    fn digamma(mut x: f64) -> f64 {
        let mut result = 0.0;
        while x < 40.0 {
            result -= 1.0 / x;
            x += 1.0;
        }
        let x2 = x * x;
        result + x.ln() - 0.5 / x - 1.0 / (12.0 * x2) + 1.0 / (120.0 * x2 * x2)
            - 1.0 / (252.0 * x2 * x2 * x2)
    }

    type Table = HashMap<(String, String), f64>;

    /// Trains IBM model 2 by the formulas of the paper, with hash tables. Returns t(output | state)
    /// after `updates` iterations with a tension of 4; the empty state is the null word.
    fn naive_ibm2(pairs: &[(Vec<String>, Vec<String>)], updates: usize) -> Table {
        let mut table: Option<Table> = None;
        for _ in 0..updates {
            let mut counts = Table::new();
            for (states, outputs) in pairs {
                let (m, n) = (outputs.len() as f64, states.len() as f64);
                for (j, output) in outputs.iter().enumerate() {
                    let weights: Vec<f64> = (0..states.len())
                        .map(|i| (-4.0 * ((i + 1) as f64 / n - (j + 1) as f64 / m).abs()).exp())
                        .collect();
                    let sum: f64 = weights.iter().sum();
                    let mut terms = vec![(String::new(), 0.08)];
                    let real = states.iter().enumerate();
                    terms.extend(real.map(|(i, state)| (state.clone(), 0.92 * weights[i] / sum)));
                    for (state, probability) in &mut terms {
                        let key = (state.clone(), output.clone());
                        *probability *= table.as_ref().map_or(1.0, |table| table[&key]);
                    }
                    let sum: f64 = terms.iter().map(|term| term.1).sum();
                    for (state, probability) in terms {
                        *counts.entry((state, output.clone())).or_default() += probability / sum;
                    }
                }
            }
            let mut sums: HashMap<String, f64> = HashMap::new();
            for ((state, _), count) in &counts {
                *sums.entry(state.clone()).or_default() += count + 0.01;
            }
            for ((state, _), count) in &mut counts {
                *count = (digamma(*count + 0.01) - digamma(sums[state])).exp();
            }
            table = Some(counts);
        }
        table.expect("there is an update")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn training_equals_naive_ibm2(
            lines in proptest::collection::vec(("[abc]( [abc]){0,5}", "[uvw]( [uvwx]){0,5}"), 1..12),
        ) {
            let lines: Vec<(&str, &str)> = lines.iter().map(|(s, t)| (s.as_str(), t.as_str())).collect();
            let text = from_lines(&lines);
            let options = AlignOptions { iterations: Some(3), ..test_options() };
            let (rows, trained) = trained(&text, &options);
            fn words(line: &str) -> Vec<String> {
                line.split(' ').map(str::to_owned).collect()
            }
            fn close(found: f64, expected: f64) -> bool {
                (found - expected).abs() <= 1e-9 * expected
            }
            fn name(vocabulary: &Vocabulary, id: u32) -> String {
                String::from_utf8_lossy(vocabulary.word(miriam_textio::WordId(id))).into_owned()
            }
            let forward: Vec<_> = lines.iter().map(|(s, t)| (words(s), words(t))).collect();
            let reverse: Vec<_> = lines.iter().map(|(s, t)| (words(t), words(s))).collect();
            let tables = [naive_ibm2(&forward, 2), naive_ibm2(&reverse, 2)];
            for source in 0..text.source.vocabulary.len() as u32 {
                for entry in rows.row(source) {
                    let source = name(&text.source.vocabulary, source);
                    let target = name(&text.target.vocabulary, rows.targets[entry]);
                    let [forward, reverse] = trained.translation_table.entries[entry];
                    prop_assert!(close(forward, tables[0][&(source.clone(), target.clone())]));
                    prop_assert!(close(reverse, tables[1][&(target, source)]));
                }
            }
            let sides = [&text.target.vocabulary, &text.source.vocabulary];
            for ((vocabulary, table), null) in sides.into_iter().zip(&tables).zip(&trained.translation_table.null) {
                for (id, &found) in null.iter().enumerate() {
                    let word = name(vocabulary, id as u32);
                    prop_assert!(close(found, table[&(String::new(), word)]));
                }
            }
        }

        #[test]
        fn threads_and_memory_change_no_bit(
            lines in proptest::collection::vec(("([abcdef] ?){0,9}", "([uvwxyz] ?){0,9}"), 1..30),
            hmm in any::<bool>(), threads in 2usize..5,
        ) {
            let lines: Vec<(&str, &str)> = lines.iter().map(|(s, t)| (s.as_str(), t.as_str())).collect();
            let text = from_lines(&lines);
            if (0..text.len()).all(|line| text.pair(line).is_none()) { return Ok(()); }
            let model = if hmm { AlignModel::Hmm } else { AlignModel::Ibm2 };
            let sequential = AlignOptions { model, ..test_options() };
            let parallel = AlignOptions { threads, memory: Some(0), ..sequential.clone() };
            let ((_, sequential), (_, parallel)) = (trained(&text, &sequential), trained(&text, &parallel));
            prop_assert_eq!(sequential.translation_table.entries, parallel.translation_table.entries);
            prop_assert_eq!(sequential.translation_table.null, parallel.translation_table.null);
        }
    }
}
