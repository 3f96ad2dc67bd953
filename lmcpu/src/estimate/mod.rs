//! Estimation of a model from text by modified Kneser-Ney smoothing; the output equals lmplz's to
//! the byte (`ngram-lm.md` 3).
//!
//! 1. `corpus` turns text into word ids; `token_chunk` sorts the longest n-grams
//!    that end in each range of words. A text that does not fit into memory is sorted
//!    in `runs`, which are merged.
//! 2. `rows` builds all shorter n-grams and their adjusted counts in one scan;
//!    `discounts` follow from counts of counts.
//! 3. `smooth` computes probabilities and backoffs, `arpa_printer` writes them. For another
//!    order of words, for collapsed values or for `intermediate` files, n-grams are sorted as
//!    `records`.
//!
//! The tables of the model are in memory within a budget and in a temporary file beyond
//! it (`spill_store`). The output depends neither on memory nor on threads.

mod arpa_printer;
mod corpus;
mod discounts;
mod intermediate;
mod memory;
mod ngram_key;
mod outputs;
mod parallel;
mod records;
mod renumbering;
mod rows;
mod runs;
mod smooth;
mod spill_store;
mod tables;
#[cfg(test)]
mod tests;
mod token_chunk;
mod word_ranges;

use std::path::{Path, PathBuf};

use miriam_storage::spill_file::{OTHER_TEMP, SpillFile, TEMP_OR_MEMORY, check_folder};
use miriam_textio::{Input, Output, Progress, display_name};

use self::corpus::{BOS, Corpus, EOS, ReadOptions, UNK};
use self::discounts::{CountsOfCounts, Discounts};
use self::intermediate::IntermediateFiles;
pub use self::intermediate::intermediate_paths;
pub use self::memory::default_memory;
use self::memory::{
    MemoryPlan, SMOOTH_BYTES_PER_TOKEN, SORT_BYTES_PER_TOKEN, partition_bytes_per_token,
    record_bytes,
};
use self::ngram_key::{KeyPacking, NgramKey};
use self::outputs::ModelOutputs;
use self::parallel::{Resources, parallel_map};
use self::rows::{Pruning, RowBuilder, TrieRow};
use self::runs::{RunMerger, SortedRun};
use self::smooth::Smoothing;
use self::spill_store::{ColumnCoding, MemoryBudget, SpillStore, Workspace};
use self::tables::{ModelTables, Unigram};
use self::token_chunk::{PartitionedNgrams, TokenChunk, count_equal_keys};
use self::word_ranges::WordRanges;
use crate::error::check_cancelled;
use crate::{Error, MAX_ORDER, Result};

/// Options of the model to estimate, and the resources to use.
#[derive(Clone, Debug)]
pub struct EstimateOptions {
    /// The number of words in the longest n-grams, 1 to [`MAX_ORDER`].
    pub order: usize,
    /// N-grams of i + 1 words that occur at most `prune[i]` times are dropped; the last threshold
    /// applies to longer n-grams too. Thresholds must not decrease.
    pub prune: Vec<u64>,
    /// A file with the words that n-grams may have, separated by spaces or line ends;
    /// `None` for all.
    pub limit_vocab: Option<PathBuf>,
    /// Smooth as if the vocabulary had at least this many words.
    pub vocab_pad: u64,
    /// Discounts for adjusted counts of 1, 2, and 3 or more, for orders for which the
    /// text gives none.
    pub discount_fallback: Option<[f32; 3]>,
    /// Whether unigrams are interpolated with the uniform distribution; if not, `<unk>`
    /// gets all remaining probability, as in SRILM.
    pub interpolate_unigrams: bool,
    /// Whether `<s>`, `</s>` and `<unk>` in the text are read as spaces; otherwise they are errors.
    pub skip_symbols: bool,
    /// Whether smoothing uses fused multiply-add, as lmplz does if it was compiled with it.
    pub fused_multiply_add: bool,
    /// The name of the text for lmplz's `--verbose_header`. This option writes three lines before
    /// the model: this name, the number of words, and the kind of smoothing.
    pub verbose_header: Option<String>,
    /// Whether words are numbered by their hashes, as in tries, instead of by first appearance.
    pub renumber: bool,
    /// Whether probability and backoff are collapsed into one value, which gives sentences,
    /// but not words, the same probabilities (Heafield et al. 2012).
    pub collapse_values: bool,
    /// The memory to use, in bytes.
    pub memory: u64,
    /// The folder for temporary files. Unless it is the system's, it must be usable even if no
    /// temporary file is needed.
    pub temp_dir: PathBuf,
    /// The number of worker threads.
    pub threads: usize,
}

impl EstimateOptions {
    /// Returns lmplz's default options for n-grams of up to `order` words, with all processors and
    /// [`default_memory`].
    pub fn new(order: usize) -> Self {
        EstimateOptions {
            order,
            prune: Vec::new(),
            limit_vocab: None,
            vocab_pad: 0,
            discount_fallback: None,
            interpolate_unigrams: true,
            skip_symbols: false,
            fused_multiply_add: false,
            verbose_header: None,
            renumber: false,
            collapse_values: false,
            memory: default_memory(),
            temp_dir: std::env::temp_dir(),
            threads: miriam_textio::available_threads(),
        }
    }

    /// Returns an estimate of the bytes of temporary files for a text of `bytes` bytes.
    ///
    /// A word takes about four bytes of text or more. Each word may begin a new n-gram, which takes
    /// about six bytes in a run. Two of three words begin a new n-gram of each length, which takes
    /// up to twelve bytes with its values.
    pub fn expected_disk_bytes(&self, bytes: u64) -> u64 {
        let words = bytes / 4;
        let mut model = words * 8 * self.order as u64;
        if self.needs_records() {
            model += words * 2 / 3 * (1..=self.order).map(record_bytes).sum::<u64>();
        }
        if 2 * model <= self.memory { 0 } else { words * 6 + model }
    }

    /// Whether n-grams have to be sorted anew for the output.
    fn needs_records(&self) -> bool {
        self.renumber || self.collapse_values
    }

    /// Checks the options.
    ///
    /// # Errors
    ///
    /// If an option is out of range or two contradict each other.
    pub fn validate(&self) -> Result<()> {
        fn invalid(reason: String) -> Result<(), Error> {
            Err(Error::InvalidOptions { reason })
        }
        if !(1..=MAX_ORDER).contains(&self.order) {
            return invalid(format!(
                "the order is {}; it must be from 1 to {MAX_ORDER}",
                self.order
            ));
        }
        if self.prune.len() > self.order {
            return invalid(format!(
                "{} pruning thresholds for a model of order {}; give at most one per order",
                self.prune.len(),
                self.order
            ));
        }
        if !self.prune.is_sorted() {
            return invalid(
                "pruning thresholds must not decrease: a kept n-gram needs its shorter ones".into(),
            );
        }
        if self.vocab_pad > 0 && !self.interpolate_unigrams {
            return invalid("padding the vocabulary needs interpolated unigrams".into());
        }
        for (i, discount) in self.discount_fallback.iter().flatten().enumerate() {
            let most = (i + 1) as f32;
            if !(0.0..=most).contains(discount) {
                return invalid(format!(
                    "the fallback discount {discount} for the count {most} is not between 0 and \
                     {most}"
                ));
            }
        }
        Ok(())
    }
}

/// The size of the text and of the estimated model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EstimateSummary {
    /// The number of words of the text.
    pub tokens: u64,
    /// The number of different words, `<unk>`, `<s>` and `</s>` included.
    pub types: u64,
    /// The number of n-grams of each order, from 1.
    pub counts: Vec<u64>,
    /// The number of bytes written to temporary files.
    pub spilled_bytes: u64,
}

/// Estimates a model from `input`, one sentence per line, and writes it to `output` as ARPA text.
/// The caller finishes the output ([`Output::finish`]).
///
/// The output equals lmplz's to the byte, except that a last line without a line end is
/// a line like any other. It depends neither on memory nor on threads.
///
/// ```
/// use miriam_lmcpu::estimate::{EstimateOptions, estimate};
/// use miriam_textio::{Input, NoProgress, Output};
///
/// let file = tempfile::NamedTempFile::new()?;
/// // So small a text needs discounts to be given.
/// let options =
///     EstimateOptions { discount_fallback: Some([0.5, 1.0, 1.5]), ..EstimateOptions::new(1) };
/// let text = Input::from_reader(&b"a b\nb\n"[..], "text", None)?;
/// let mut output = Output::create(file.path())?;
/// estimate(&options, text, &mut output, &NoProgress)?;
/// output.finish()?;
/// let arpa = std::fs::read_to_string(file.path())?;
/// assert!(arpa.starts_with("\\data\\\nngram 1=5\n\n\\1-grams:\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the options are invalid, the text cannot be read, is empty, has a marker as a
/// word or gives no discounts, words are renumbered and two have the same hash,
/// output or temporary files cannot be written, or `progress` cancels the work.
pub fn estimate(
    options: &EstimateOptions,
    input: Input,
    output: &mut Output,
    progress: &dyn Progress,
) -> Result<EstimateSummary> {
    options.validate()?;
    let outputs = ModelOutputs { arpa: Some(output), intermediate: None };
    estimate_within(options, MemoryPlan::new(options.memory), input, outputs, progress)
}

/// Works like [`estimate`], but writes KenLM's intermediate files, whose names begin with `base`,
/// with words in the order of their hashes. Also writes an ARPA file if `arpa` is an output.
///
/// # Errors
///
/// Those of [`estimate`], and if two words have the same hash.
pub fn estimate_intermediate(
    options: &EstimateOptions,
    input: Input,
    base: &Path,
    arpa: Option<&mut Output>,
    progress: &dyn Progress,
) -> Result<EstimateSummary> {
    options.validate()?;
    let options = EstimateOptions { renumber: true, ..options.clone() };
    let mut files = IntermediateFiles::create(base, options.order)?;
    let outputs = ModelOutputs { arpa, intermediate: Some(&mut files) };
    let plan = MemoryPlan::new(options.memory);
    let summary = estimate_within(&options, plan, input, outputs, progress)?;
    files.finish()?;
    Ok(summary)
}

/// Calls `$work` with the smallest key type that n-grams fit into.
macro_rules! dispatch_key_width {
    ($packing:expr, $work:ident($($argument:expr),*)) => {
        match $packing.key_bits() {
            ..=64 => $work::<u64>($($argument),*),
            65..=128 => $work::<u128>($($argument),*),
            _ if $packing.order <= 8 => $work::<[u32; 8]>($($argument),*),
            _ if $packing.order <= 16 => $work::<[u32; 16]>($($argument),*),
            _ => $work::<[u32; MAX_ORDER]>($($argument),*),
        }
    };
}

fn estimate_within(
    options: &EstimateOptions,
    plan: MemoryPlan,
    input: Input,
    outputs: ModelOutputs<'_>,
    progress: &dyn Progress,
) -> Result<EstimateSummary> {
    if options.temp_dir != std::env::temp_dir() {
        check_folder(&options.temp_dir, OTHER_TEMP)?;
    }
    let (name, threads) = (input.name().to_owned(), options.threads.max(1));
    let resources = Resources { threads, memory: plan.working_memory() };
    let spill = SpillFile::new(&options.temp_dir, TEMP_OR_MEMORY);
    let (mut chunk, mut runs) = (TokenChunk::new(options.order), Vec::new());
    let reading =
        ReadOptions { threads, block_bytes: plan.block_bytes, skip_markers: options.skip_symbols };
    let corpus = corpus::read(input, reading, progress, |mut tokens: &[u32]| -> Result<()> {
        check_cancelled(progress)?;
        // Unigrams are counted while they are read.
        while options.order > 1 && !tokens.is_empty() {
            if chunk.len() == plan.chunk_tokens {
                runs.push(sort_run(&chunk, resources, plan.segment_bytes(), &spill)?);
                chunk.start_next();
            }
            let fitting;
            (fitting, tokens) = tokens.split_at(tokens.len().min(plan.chunk_tokens - chunk.len()));
            chunk.extend(fitting);
        }
        Ok(())
    })?;
    let sentences = corpus.counts[EOS as usize];
    if sentences == 0 {
        let reason = "the text is empty; give a file with one sentence per line".to_owned();
        return Err(Error::Unsupported { file: name, reason });
    }
    let (tokens, types) = (corpus.tokens(), corpus.vocabulary.len() as u64);
    tracing::info!("{name}: {tokens} words, {types} different, {sentences} lines");
    let pruning = build_pruning(options, &corpus)?;
    if !runs.is_empty() {
        runs.push(sort_run(&chunk, resources, plan.segment_bytes(), &spill)?);
        chunk = TokenChunk::new(options.order);
    }
    let token_bytes = if options.needs_records() {
        partition_bytes_per_token(options.order)
    } else {
        SMOOTH_BYTES_PER_TOKEN
    };
    let num_ranges = plan.range_count(tokens + sentences, token_bytes, threads);
    let ranges = WordRanges::balanced(&corpus.counts, num_ranges);
    let words = corpus.vocabulary.iter().map(|word| word.len() as u64 + 64).sum();
    let budget = MemoryBudget::new(plan.model_memory(words, chunk.len()));
    let counting = CountingContext { resources, ranges: &ranges, pruning: &pruning, spill: &spill };
    let num_blocks = ranges.len() * ranges.len();
    let blocks = SpillStore::new(num_blocks, ColumnCoding::Varint, &budget, &spill);

    let mut statistics = vec![CountsOfCounts::default(); options.order];
    // The adjusted counts of words; in a model of order 1, their raw counts.
    let mut unigrams = corpus.counts.clone();
    let mut last_counts = Vec::new();
    if options.order > 1 {
        let packing = KeyPacking::new(options.order, corpus.vocabulary.len());
        let sorted = SortedInput { chunk: &chunk, runs: &runs, counts: &corpus.counts };
        let rows = dispatch_key_width!(
            packing,
            build_rows(&counting, packing, sorted, &blocks, progress)
        )?;
        budget.release(8 * chunk.len() as u64);
        for row in &rows {
            let all = statistics[1..].iter_mut().zip(&row.statistics);
            all.for_each(|(all, some)| all.merge(some));
            if !row.last_ngram_counts.is_empty() {
                last_counts.clone_from(&row.last_ngram_counts);
            }
        }
        let counts = rows.iter().flat_map(|row| &row.unigrams);
        unigrams = counts.map(|&count| count.into()).collect();
    }
    drop((chunk, runs));
    let pruned: Vec<bool> =
        (0..).zip(&corpus.counts).map(|(word, &count)| pruning.prunes_word(word, count)).collect();
    unigrams.iter().zip(&pruned).for_each(|(&count, &pruned)| statistics[0].add(count, pruned));
    // A quirk of lmplz: the suffixes of the very last n-gram enter the statistics with
    // their raw counts (`ngram-lm.md` 3.3).
    for (statistics, (adjusted, occurs)) in statistics.iter_mut().zip(last_counts) {
        statistics.recount(adjusted, occurs);
    }

    let mut smoothing = Smoothing {
        order: options.order,
        discounts: Vec::new(),
        fused_multiply_add: options.fused_multiply_add,
        interpolate_unigrams: options.interpolate_unigrams,
        uniform_words: options.vocab_pad.max(statistics[0].kept - 1),
        keep_context_backoffs: options.collapse_values,
    };
    for (order, statistics) in (1..).zip(&statistics) {
        let found = discounts::estimate_discounts(order, statistics, options.discount_fallback)?;
        let Discounts([_, one, two, more]) = found;
        let (all, kept) = (statistics.total, statistics.kept);
        let of = if kept < all { format!(" of {all}") } else { String::new() };
        tracing::info!("{order}-grams: {kept}{of}, D1={one} D2={two} D3+={more}");
        smoothing.discounts.push(found);
    }
    let counts: Vec<u64> = statistics.iter().map(|statistics| statistics.kept).collect();

    let counts_and_marks = unigrams.iter().copied().zip(pruned.iter().copied());
    let unigrams = smoothing.unigram_probabilities(counts_and_marks);
    let probabilities = SpillStore::new(num_blocks, ColumnCoding::Fixed32, &budget, &spill);
    let backoffs = SpillStore::new(ranges.len(), ColumnCoding::Fixed32, &budget, &spill);
    if options.order > 1 {
        let task = progress.task("smoothing", Some(ranges.len() as u64));
        parallel_map(resources, &ranges.costs(SMOOTH_BYTES_PER_TOKEN), |range| {
            check_cancelled(progress)?;
            let words = ranges.words(range);
            let (row, column) =
                smoothing.smooth_range(words, range, ranges.len(), &blocks, &unigrams)?;
            backoffs.put(range, row)?;
            for (p, table) in column.into_iter().enumerate() {
                probabilities.put(p * ranges.len() + range, table)?;
            }
            task.advance(1);
            Ok(())
        })?;
    }

    let rows = (0..ranges.len())
        .map(|row| Ok(if options.order > 1 { backoffs.get(row)?[0].clone() } else { Vec::new() }));
    let word_backoffs = rows.collect::<Result<Vec<_>>>()?.concat();
    let model = ModelTables {
        order: options.order,
        text: &name,
        tokens,
        vocabulary: &corpus.vocabulary,
        word_counts: &corpus.counts,
        unigrams: unigrams
            .into_iter()
            .zip(pruned)
            .enumerate()
            .map(|(word, (probability, pruned))| {
                let backoff = word_backoffs.get(word).map_or(1.0, |&bits| f32::from_bits(bits));
                Unigram { pruned, probability, backoff }
            })
            .collect(),
        counts: &counts,
        ranges: &ranges,
        blocks: &blocks,
        probabilities: &probabilities,
        backoffs: &backoffs,
    };
    let work = Workspace { resources, budget: &budget, spill: &spill };
    outputs.write(&model, options, plan, work, progress)?;
    Ok(EstimateSummary { tokens, types, counts, spilled_bytes: spill.num_bytes() })
}

/// Returns the n-grams that `options` drop.
fn build_pruning(options: &EstimateOptions, corpus: &Corpus) -> Result<Pruning> {
    let mut thresholds = options.prune.clone();
    thresholds.resize(options.order, options.prune.last().copied().unwrap_or(0));
    let mut excluded = Vec::new();
    if let Some(path) = &options.limit_vocab {
        excluded.resize(corpus.vocabulary.len(), true);
        [UNK, BOS, EOS].into_iter().for_each(|marker| excluded[marker as usize] = false);
        let mut any = false;
        corpus::read_words(Input::open(path)?, |word| {
            if let Some(word) = corpus.vocabulary.find(word) {
                excluded[word.index()] = false;
                any = true;
            }
        })?;
        if !any {
            tracing::warn!("{}: none of its words occurs in the text", display_name(path));
        }
    }
    Ok(Pruning { thresholds, excluded })
}

/// Sorts the n-grams of `chunk` into a run of segments of about `segment_bytes` bytes.
fn sort_run(
    chunk: &TokenChunk,
    resources: Resources,
    segment_bytes: usize,
    spill: &SpillFile,
) -> Result<SortedRun> {
    let num_words = chunk.num_words();
    let counts = chunk.count_words(num_words);
    let ranges =
        WordRanges::balanced(&counts, (chunk.len() >> 16).clamp(resources.threads.min(256), 256));
    let partitioned = PartitionedNgrams::new(chunk, &counts, &ranges);
    let packing = KeyPacking::new(chunk.order(), num_words);
    fn sort<K: NgramKey>(
        partitioned: &PartitionedNgrams<'_>,
        range: usize,
        packing: KeyPacking,
        segment_bytes: usize,
        spill: &SpillFile,
    ) -> Result<SortedRun> {
        let mut run = SortedRun::default();
        run.write_ngrams(
            count_equal_keys(&partitioned.sort_range::<K>(range, packing)),
            packing,
            segment_bytes,
            spill,
        )?;
        Ok(run)
    }
    let parts = parallel_map(resources, &ranges.costs(SORT_BYTES_PER_TOKEN), |range| {
        dispatch_key_width!(packing, sort(&partitioned, range, packing, segment_bytes, spill))
    })?;
    let mut run = SortedRun::default();
    parts.into_iter().for_each(|part| run.append(part));
    Ok(run)
}

/// The resources and settings of counting, the same for all rows.
struct CountingContext<'a> {
    resources: Resources,
    ranges: &'a WordRanges,
    pruning: &'a Pruning,
    spill: &'a SpillFile,
}

/// The longest n-grams: one chunk, or runs.
struct SortedInput<'a> {
    chunk: &'a TokenChunk,
    runs: &'a [SortedRun],
    /// The count of each word.
    counts: &'a [u64],
}

/// Builds all rows and puts their blocks into `blocks`.
fn build_rows<K: NgramKey>(
    counting: &CountingContext<'_>,
    packing: KeyPacking,
    sorted: SortedInput<'_>,
    blocks: &SpillStore<'_>,
    progress: &dyn Progress,
) -> Result<Vec<TrieRow>> {
    let CountingContext { ranges, pruning, spill, .. } = *counting;
    let partitioned =
        sorted.runs.is_empty().then(|| PartitionedNgrams::new(sorted.chunk, sorted.counts, ranges));
    let task = progress.task("counting n-grams", Some(ranges.len() as u64));
    parallel_map(counting.resources, &ranges.costs(2 * SORT_BYTES_PER_TOKEN), |range| {
        check_cancelled(progress)?;
        let builder = RowBuilder::new(packing, ranges, pruning, range);
        let mut row = match &partitioned {
            Some(partitioned) => {
                let keys = partitioned.sort_range::<K>(range, packing);
                let mut ngrams = count_equal_keys(&keys);
                builder.build(|| Ok(ngrams.next()))?
            }
            None => {
                let mut merge =
                    RunMerger::<K>::new(sorted.runs, ranges.words(range), packing, spill)?;
                builder.build(|| merge.next())?
            }
        };
        for (q, block) in std::mem::take(&mut row.blocks).into_iter().enumerate() {
            blocks.put(range * ranges.len() + q, block)?;
        }
        task.advance(1);
        Ok(row)
    })
}
