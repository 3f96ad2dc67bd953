//! A pass over the text: the E step of both directions, or decoding the best links.
//!
//! A sum of floating-point numbers depends on the order of the additions, but results must not
//! depend on the number of threads. And a copy of all counts per thread would not fit into memory.
//! So a batch of sentence pairs is processed in two steps. First each free thread takes a task of
//! several pairs and writes their posteriors into a common buffer. Then the posteriors are added to
//! the counts: each thread owns a range of source words and adds the posteriors of their rows in
//! the order of the text. Every count thus sees the same additions in the same order, whatever the
//! number of threads, and needs no lock.

use std::ops::Range;

use miriam_storage::parallel::{self, Workspaces};

use crate::bitext::{Bitext, SentencePair};
use crate::cooccurrence::{CellStore, CooccurrenceRows, for_each_cell};
use crate::directed_pair::{DirectedPair, EStepStatistics};
use crate::model_file::SavedModel;
use crate::position_model::{PositionModel, PositionScratch};
use crate::translation_table::{FORWARD, REVERSE, TranslationTable, UNKNOWN_PROBABILITY};
use crate::{Error, Result};
use miriam_textio::ProgressTask;

/// The number of cells in a task. A task is the sentence pairs that one thread processes at a time.
/// Its size must not depend on the number of threads: sums other than counts are added task by
/// task, so the size changes the order of additions.
const TASK_CELLS: usize = 8 << 10;
/// The number of tasks per thread in a batch. It is small, so that their posteriors stay in the
/// caches.
const TASKS_PER_BATCH: usize = 8;
/// The number of tasks per thread in a batch of decoding, which stores no posteriors.
const DECODE_TASKS_PER_BATCH: usize = 64;

/// Whether each direction is computed: forward, reverse.
pub(crate) type Directions = [bool; 2];

/// The text with its cooccurrence table and cells.
pub(crate) struct CorpusPass<'a> {
    pub text: &'a Bitext,
    pub rows: &'a CooccurrenceRows,
    pub cells: &'a CellStore,
    pub directions: Directions,
    /// Whether decoding computes likelihoods too.
    pub with_likelihoods: bool,
}

/// The current probabilities; `None` before the first iteration.
pub(crate) type CurrentTable<'a> = Option<&'a TranslationTable>;

/// The buffers of one thread for a sentence pair.
#[derive(Default)]
pub(crate) struct Workspace {
    /// The probabilities of pairs of distinct words, by source word.
    pub pair_probabilities: Vec<[f64; 2]>,
    pub directed_pairs: [DirectedPair; 2],
    pub scratch: PositionScratch,
}

/// Consecutive pairs that one thread processes, and the slices that their posteriors go to.
struct Task<'a, 'c> {
    lines: Range<usize>,
    cells: &'c [u16],
    posteriors: &'a mut [[f64; 2]],
    null: [&'a mut [f64]; 2],
}

impl CorpusPass<'_> {
    /// Performs the E step: adds the expected counts of the whole text to `counts` and returns the
    /// other statistics of each direction. `shares` are the ranges of source words whose counts are
    /// added in parallel.
    pub fn e_step(
        &self,
        known: CurrentTable<'_>,
        positions: &[PositionModel; 2],
        counts: &mut TranslationTable,
        shares: &[Range<u32>],
        task: &ProgressTask<'_>,
    ) -> Result<[EStepStatistics; 2]> {
        let mut sums = [EStepStatistics::default(), EStepStatistics::default()];
        let mut buffers = PosteriorBuffers::default();
        let workspaces = Workspaces::default();
        for index in 0..self.cells.num_chunks() {
            let (lines, cells) = self.cells.chunk(index)?;
            let mut rest = &cells[..];
            for batch in split_into_tasks(self.text, lines)
                .chunks(TASKS_PER_BATCH * rayon::current_num_threads())
            {
                if task.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                let (tasks, remaining) = buffers.split_tasks(self, batch, rest);
                let found = parallel::map_items(tasks, &|_, task| {
                    workspaces.with(|workspace| self.e_step_task(task, known, positions, workspace))
                });
                for [forward, reverse] in &found {
                    sums[FORWARD].add(forward);
                    sums[REVERSE].add(reverse);
                }
                let lines = batch[0].start..batch[batch.len() - 1].end;
                task.set_position(lines.end as u64);
                self.add_counts(&buffers, &lines, rest, counts, shares);
                rest = remaining;
            }
        }
        Ok(sums)
    }

    fn e_step_task(
        &self,
        task: Task<'_, '_>,
        known: CurrentTable<'_>,
        positions: &[PositionModel; 2],
        workspace: &mut Workspace,
    ) -> [EStepStatistics; 2] {
        let mut sums = [EStepStatistics::default(), EStepStatistics::default()];
        let Task { lines, mut cells, mut posteriors, null: [mut null_targets, mut null_sources] } =
            task;
        for pair in lines.filter_map(|line| self.text.pair(line)) {
            let units =
                self.fetch_probabilities(pair, cells, known, &mut workspace.pair_probabilities);
            cells = &cells[units..];
            workspace.fill_directed_pairs(pair, self.directions, known);
            for direction in [FORWARD, REVERSE] {
                if self.directions[direction] {
                    let (view, scratch) =
                        (&mut workspace.directed_pairs[direction], &mut workspace.scratch);
                    positions[direction].e_step(view, scratch, &mut sums[direction]);
                }
            }
            let (head, tail) = posteriors.split_at_mut(pair.num_cells());
            workspace.sum_posteriors(pair, self.directions, head);
            posteriors = tail;
            for (direction, null) in [&mut null_targets, &mut null_sources].into_iter().enumerate()
            {
                let words = [pair.target, pair.source][direction].distinct_words.len();
                let (head, tail) = std::mem::take(null).split_at_mut(words);
                if self.directions[direction] {
                    head.copy_from_slice(&workspace.directed_pairs[direction].null_posterior);
                }
                *null = tail;
            }
        }
        sums
    }

    /// Fills `local` with the probabilities of the pair's words. `cells` begins with the cells of
    /// the pair; returns how many units they take.
    fn fetch_probabilities(
        &self,
        pair: SentencePair<'_>,
        cells: &[u16],
        known: CurrentTable<'_>,
        local: &mut Vec<[f64; 2]>,
    ) -> usize {
        local.clear();
        let (targets, mut at) = (pair.target.distinct_words.len(), 0);
        for &word in pair.source.distinct_words {
            let width = self.rows.cell_width(word);
            let units = width * targets;
            if let Some(translation_table) = known {
                let row = &translation_table.entries[self.rows.row(word)];
                for_each_cell(&cells[at..at + units], width, |_, index| local.push(row[index]));
            }
            at += units;
        }
        if known.is_none() {
            local.resize(pair.num_cells(), [UNKNOWN_PROBABILITY; 2]);
        }
        at
    }

    /// Adds the posteriors of a batch to the counts.
    fn add_counts(
        &self,
        buffers: &PosteriorBuffers,
        batch: &Range<usize>,
        cells: &[u16],
        counts: &mut TranslationTable,
        shares: &[Range<u32>],
    ) {
        let [null_forward, null_reverse] = &mut counts.null;
        let parts = self.rows.split_entries(shares, &mut counts.entries);
        rayon::scope(|scope| {
            for (part, share) in parts.into_iter().zip(shares) {
                scope.spawn(move |_| self.add_partition_counts(buffers, batch, cells, part, share));
            }
            scope.spawn(|_| {
                let [targets, sources] = &buffers.null;
                let (mut targets, mut sources) = (targets.iter(), sources.iter());
                for pair in batch.clone().filter_map(|line| self.text.pair(line)) {
                    for &word in pair.target.distinct_words {
                        null_forward[word as usize] += targets.next().expect("one for each word");
                    }
                    for &word in pair.source.distinct_words {
                        null_reverse[word as usize] += sources.next().expect("one for each word");
                    }
                }
            });
        });
    }

    fn add_partition_counts(
        &self,
        buffers: &PosteriorBuffers,
        batch: &Range<usize>,
        cells: &[u16],
        part: &mut [[f64; 2]],
        share: &Range<u32>,
    ) {
        if share.is_empty() {
            return;
        }
        let base = self.rows.row(share.start).start;
        let (mut unit, mut cell) = (0, 0);
        for pair in batch.clone().filter_map(|line| self.text.pair(line)) {
            let targets = pair.target.distinct_words.len();
            for &word in pair.source.distinct_words {
                let width = self.rows.cell_width(word);
                let units = width * targets;
                if share.contains(&word) {
                    let row = self.rows.row(word);
                    let counts = &mut part[row.start - base..row.end - base];
                    let posteriors = &buffers.posteriors[cell..cell + targets];
                    for_each_cell(&cells[unit..unit + units], width, |k, index| {
                        let count = &mut counts[index];
                        count[0] += posteriors[k][0];
                        count[1] += posteriors[k][1];
                    });
                }
                unit += units;
                cell += targets;
            }
        }
    }

    /// Decodes every line: `format` formats a line's best positions, on many threads, and
    /// `write` gets the output in the order of the text.
    pub fn decode<D: Default + Send>(
        &self,
        translation_table: &TranslationTable,
        positions: &[PositionModel; 2],
        format: impl Fn(&mut D, &BestPositions, &mut AlignmentLines) + Sync,
        mut write: impl FnMut(AlignmentLines) -> Result<()>,
        task: &ProgressTask<'_>,
    ) -> Result<()> {
        let workspaces = Workspaces::default();
        for index in 0..self.cells.num_chunks() {
            let (lines, cells) = self.cells.chunk(index)?;
            let mut rest = &cells[..];
            for batch in split_into_tasks(self.text, lines)
                .chunks(DECODE_TASKS_PER_BATCH * rayon::current_num_threads())
            {
                if task.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                let mut tasks = Vec::new();
                for lines in batch {
                    let units = count_units(self.text, self.rows, lines.clone());
                    let (head, tail) = rest.split_at(units);
                    tasks.push((lines.clone(), head));
                    rest = tail;
                }
                let aligner = Aligner {
                    text: self.text,
                    directions: self.directions,
                    translation_table,
                    position_models: positions,
                    with_likelihoods: self.with_likelihoods,
                };
                let found =
                    parallel::map_items(tasks, &|_, (lines, mut cells): (Range<usize>, &[u16])| {
                        workspaces.with(|(workspace, writer)| {
                            aligner.align_lines(
                                lines,
                                workspace,
                                |pair, local| {
                                    let units = self.fetch_probabilities(
                                        pair,
                                        cells,
                                        Some(translation_table),
                                        local,
                                    );
                                    cells = &cells[units..];
                                },
                                |best, output| format(writer, best, output),
                            )
                        })
                    });
                found.into_iter().try_for_each(&mut write)?;
                task.set_position(batch[batch.len() - 1].end as u64);
            }
        }
        Ok(())
    }
}

/// Lines of links.
#[derive(Default)]
pub(crate) struct AlignmentLines {
    pub text: Vec<u8>,
    pub num_links: u64,
}

/// A text, and the known probabilities with which it is aligned.
struct Aligner<'a> {
    text: &'a Bitext,
    directions: Directions,
    translation_table: &'a TranslationTable,
    position_models: &'a [PositionModel; 2],
    with_likelihoods: bool,
}

impl Aligner<'_> {
    /// Decodes `lines` and formats them with `format`; `fetch` looks up a pair's probabilities.
    fn align_lines(
        &self,
        lines: Range<usize>,
        workspace: &mut Workspace,
        mut fetch: impl FnMut(SentencePair<'_>, &mut Vec<[f64; 2]>),
        mut format: impl FnMut(&BestPositions, &mut AlignmentLines),
    ) -> AlignmentLines {
        let (mut output, mut best) = (AlignmentLines::default(), BestPositions::default());
        for line in lines {
            best.clear();
            if let Some(pair) = self.text.pair(line) {
                fetch(pair, &mut workspace.pair_probabilities);
                workspace.fill_directed_pairs(pair, self.directions, Some(self.translation_table));
                for direction in [FORWARD, REVERSE] {
                    if self.directions[direction] {
                        let (view, scratch) =
                            (&workspace.directed_pairs[direction], &mut workspace.scratch);
                        let model = &self.position_models[direction];
                        model.decode(view, scratch, &mut best.positions[direction]);
                        if self.with_likelihoods {
                            best.ln_likelihood[direction] = model.ln_likelihood(view);
                        }
                    }
                }
                best.lengths = [pair.source.word_indices.len(), pair.target.word_indices.len()];
            }
            format(&best, &mut output);
        }
        output
    }
}

/// Decodes new text with a saved model, as [`CorpusPass::decode`] does with the text of training.
pub(crate) fn decode_with_saved_model<D: Default + Send>(
    text: &Bitext,
    model: &SavedModel,
    directions: Directions,
    format: impl Fn(&mut D, &BestPositions, &mut AlignmentLines) + Sync,
    mut write: impl FnMut(AlignmentLines) -> Result<()>,
    task: &ProgressTask<'_>,
) -> Result<()> {
    let aligner = Aligner {
        text,
        directions,
        translation_table: &model.null_table,
        position_models: &model.positions,
        with_likelihoods: false,
    };
    let workspaces = Workspaces::default();
    for batch in split_into_tasks(text, 0..text.len())
        .chunks(DECODE_TASKS_PER_BATCH * rayon::current_num_threads())
    {
        if task.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let found = parallel::map_tasks(batch.len(), &|at| {
            workspaces.with(|(workspace, writer)| {
                aligner.align_lines(
                    batch[at].clone(),
                    workspace,
                    |pair, local| model.fetch_probabilities(pair, local),
                    |best, output| format(writer, best, output),
                )
            })
        });
        found.into_iter().try_for_each(&mut write)?;
        task.set_position(batch[batch.len() - 1].end as u64);
    }
    Ok(())
}

/// The alignment of a sentence pair in each direction; empty for a line that is not aligned.
#[derive(Default)]
pub(crate) struct BestPositions {
    /// For each output the most probable position, `None` for the null word. Empty for a
    /// direction that is not computed.
    pub positions: [Vec<Option<u16>>; 2],
    /// ln p(outputs | states), if it is computed.
    pub ln_likelihood: [Option<f64>; 2],
    /// The numbers of source words and of target words.
    pub lengths: [usize; 2],
}

impl BestPositions {
    /// Removes all positions.
    pub fn clear(&mut self) {
        self.positions.iter_mut().for_each(Vec::clear);
        self.ln_likelihood = [None; 2];
        self.lengths = [0; 2];
    }
}

impl Workspace {
    /// Expands the probabilities of pairs of distinct words to the positions of both directions.
    fn fill_directed_pairs(
        &mut self,
        pair: SentencePair<'_>,
        directions: Directions,
        known: CurrentTable<'_>,
    ) {
        let (sources, targets) = (pair.source, pair.target);
        let columns = targets.distinct_words.len();
        if directions[FORWARD] {
            let view = &mut self.directed_pairs[FORWARD];
            view.reset(targets.word_indices, columns, sources.word_indices.len());
            for (column, row) in view.translation.chunks_exact_mut(view.stride).enumerate() {
                for (cell, &index) in row.iter_mut().zip(sources.word_indices) {
                    *cell = self.pair_probabilities[usize::from(index) * columns + column][FORWARD];
                }
            }
        }
        if directions[REVERSE] {
            let view = &mut self.directed_pairs[REVERSE];
            view.reset(
                sources.word_indices,
                sources.distinct_words.len(),
                targets.word_indices.len(),
            );
            let rows = view.translation.chunks_exact_mut(view.stride);
            for (row, local) in rows.zip(self.pair_probabilities.chunks_exact(columns)) {
                for (cell, &index) in row.iter_mut().zip(targets.word_indices) {
                    *cell = local[usize::from(index)][REVERSE];
                }
            }
        }
        for (direction, words) in
            [targets.distinct_words, sources.distinct_words].into_iter().enumerate()
        {
            if directions[direction] {
                for (null, &word) in
                    self.directed_pairs[direction].null_translation.iter_mut().zip(words)
                {
                    let known = known.and_then(|translation_table| {
                        translation_table.null[direction].get(word as usize)
                    });
                    *null = known.copied().unwrap_or(UNKNOWN_PROBABILITY);
                }
            }
        }
    }

    /// Sets each of `cells` to the sum of the posteriors of all positions of its two words. There
    /// is a cell for each pair of distinct words of `pair`, ordered by source word.
    fn sum_posteriors(
        &self,
        pair: SentencePair<'_>,
        directions: Directions,
        cells: &mut [[f64; 2]],
    ) {
        let (sources, targets) = (pair.source, pair.target);
        let columns = targets.distinct_words.len();
        cells.fill([0.0; 2]);
        if directions[FORWARD] {
            let view = &self.directed_pairs[FORWARD];
            for (column, row) in view.posterior.chunks_exact(view.stride).enumerate() {
                for (posterior, &index) in row.iter().zip(sources.word_indices) {
                    cells[usize::from(index) * columns + column][FORWARD] += posterior;
                }
            }
        }
        if directions[REVERSE] {
            let view = &self.directed_pairs[REVERSE];
            let rows = view.posterior.chunks_exact(view.stride);
            for (row, cells) in rows.zip(cells.chunks_exact_mut(columns)) {
                for (posterior, &index) in row.iter().zip(targets.word_indices) {
                    cells[usize::from(index)][REVERSE] += posterior;
                }
            }
        }
    }
}

/// Posteriors of a batch, pair by pair.
#[derive(Default)]
struct PosteriorBuffers {
    posteriors: Vec<[f64; 2]>,
    /// The posteriors of the null word, for target words and for source words.
    null: [Vec<f64>; 2],
}

impl PosteriorBuffers {
    /// Splits `batch` into tasks with slices for their posteriors; also returns the cells
    /// after the batch.
    fn split_tasks<'a, 'c>(
        &'a mut self,
        pass: &CorpusPass<'_>,
        batch: &[Range<usize>],
        mut cells: &'c [u16],
    ) -> (Vec<Task<'a, 'c>>, &'c [u16]) {
        let whole = batch[0].start..batch[batch.len() - 1].end;
        let (posteriors, targets, sources) = count_posteriors(pass.text, whole);
        self.posteriors.resize(posteriors, [0.0; 2]);
        self.null[FORWARD].resize(targets, 0.0);
        self.null[REVERSE].resize(sources, 0.0);
        let mut posteriors = &mut self.posteriors[..];
        let [null_targets, null_sources] = &mut self.null;
        let (mut null_targets, mut null_sources) = (&mut null_targets[..], &mut null_sources[..]);
        let mut tasks = Vec::new();
        for lines in batch {
            let (num_posteriors, targets, sources) = count_posteriors(pass.text, lines.clone());
            let (head, tail) = cells.split_at(count_units(pass.text, pass.rows, lines.clone()));
            cells = tail;
            let task = Task {
                lines: lines.clone(),
                cells: head,
                posteriors: posteriors
                    .split_off_mut(..num_posteriors)
                    .expect("buffers hold the whole batch"),
                null: [
                    null_targets.split_off_mut(..targets).expect("buffers hold the whole batch"),
                    null_sources.split_off_mut(..sources).expect("buffers hold the whole batch"),
                ],
            };
            tasks.push(task);
        }
        (tasks, cells)
    }
}

/// Counts the posteriors of `lines`: of word pairs, and of the null word with target and with
/// source words.
fn count_posteriors(text: &Bitext, lines: Range<usize>) -> (usize, usize, usize) {
    let pairs = lines.filter_map(|line| text.pair(line));
    pairs.fold((0, 0, 0), |(cells, targets, sources), pair| {
        let (source, target) = (pair.source.distinct_words.len(), pair.target.distinct_words.len());
        (cells + source * target, targets + target, sources + source)
    })
}

/// Returns the number of two-byte units that the cells of `lines` take.
fn count_units(text: &Bitext, rows: &CooccurrenceRows, lines: Range<usize>) -> usize {
    lines.map(|line| crate::cooccurrence::count_line_units(text, rows, line)).sum()
}

/// Splits `lines` into ranges with about [`TASK_CELLS`] cells and at most that many lines each.
fn split_into_tasks(text: &Bitext, lines: Range<usize>) -> Vec<Range<usize>> {
    let mut tasks = Vec::new();
    let (mut start, mut sum) = (lines.start, 0);
    for line in lines.clone() {
        sum += 1 + text.pair(line).map_or(0, |pair| pair.num_cells());
        if sum >= TASK_CELLS || line + 1 == lines.end {
            tasks.push(start..line + 1);
            (start, sum) = (line + 1, 0);
        }
    }
    tasks
}
