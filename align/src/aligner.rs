//! From two files of text to a file of links.

use std::path::{Path, PathBuf};

use miriam_text::{Input, Lines, Output, Progress, Vocabulary, ordered_map};

use crate::bitext::Bitext;
use crate::cooccurrence::{Cells, Rows};
use crate::diagonal::{Diagonal, Sizes};
use crate::expectation::{Best, Work};
use crate::jumps::Jumps;
use crate::lexicon::{FORWARD, Lexicon, REVERSE};
use crate::links::{Link, parse_links, print_links};
use crate::one_way::Sums;
use crate::positions::Positions;
use crate::symmetrization::{Joiner, Symmetrization};
use crate::{Error, Result};

/// Iterations of IBM model 2, the last of which only aligns: fast_align's number.
const ITERATIONS: usize = 5;
/// Iterations of the HMM model behind them.
const HMM_ITERATIONS: usize = 4;
/// Bytes of memory to use where nobody says.
const MEMORY: u64 = 4 << 30;
/// The least that is left for cells: less would only write more small pieces.
const LEAST_FOR_CELLS: u64 = 16 << 20;

/// Which model, how its two directions are joined, and within which means.
#[derive(Clone, Debug, Default)]
pub struct AlignOptions {
    /// The alignment model.
    pub model: Model,
    /// How the links of both directions become one set.
    pub symmetrization: Symmetrization,
    /// Worker threads.
    pub threads: usize,
    /// Iterations of IBM model 2, the last of which only aligns; 5 without a number.
    pub iterations: Option<usize>,
    /// Iterations of the HMM model, which begins where IBM model 2 ends; 4 without a
    /// number.
    pub hmm_iterations: Option<usize>,
    /// Bytes of memory to use: what does not fit lies in a temporary file; 4 GiB
    /// without a number. The word pairs themselves must fit.
    pub memory: Option<u64>,
    /// The folder for temporary files; without it, the system's.
    pub temp: Option<PathBuf>,
}

/// The alignment model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// IBM model 2 with a diagonal prior.
    #[default]
    Ibm2,
    /// A hidden Markov model of jumps.
    Hmm,
}

/// What an alignment run did.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AlignSummary {
    /// Sentence pairs read.
    pub pairs: u64,
    /// Links written.
    pub links: u64,
    /// Pairs that got no links because a side has no words.
    pub empty: u64,
    /// Lines that got no links because they have more than [`crate::MAX_WORDS`] words.
    pub too_long: u64,
    /// Different pairs of words that share a line.
    pub word_pairs: u64,
    /// Bytes written to a temporary file.
    pub spilled: u64,
    /// The perplexity of the last training iteration, forward and reverse.
    pub perplexity: [f64; 2],
}

/// Aligns the files line by line and writes the links, `i-j`.
pub fn align_files(
    source: &Path,
    target: &Path,
    output: &Path,
    options: &AlignOptions,
    progress: &dyn Progress,
) -> Result<AlignSummary> {
    in_pool(options.threads, || {
        let text = Bitext::read(source, target, [Vocabulary::new(), Vocabulary::new()], progress)?;
        let mut output = Output::create_whole(output)?;
        let summary = align(&text, options, &mut |line| Ok(output.write(line)?), progress)?;
        output.finish()?;
        Ok(summary)
    })
}

/// Runs `work` with this many threads.
fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build();
    let pool = pool.map_err(|e| Error::Options { reason: format!("cannot start threads: {e}") })?;
    pool.install(work)
}

fn align(
    text: &Bitext,
    options: &AlignOptions,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
    progress: &dyn Progress,
) -> Result<AlignSummary> {
    let mut summary = AlignSummary {
        pairs: text.len() as u64,
        too_long: text.source.too_long + text.target.too_long,
        ..AlignSummary::default()
    };
    let used = (0..text.len()).filter(|&line| text.pair(line).is_some()).count() as u64;
    summary.empty = summary.pairs - used;
    if used == 0 {
        (0..text.len()).try_for_each(|_| write(b"\n"))?;
        return Ok(summary);
    }
    progress.begin("counting word pairs", None);
    let rows = Rows::of(text);
    progress.end();
    summary.word_pairs = rows.len() as u64;
    // Two numbers a direction, and the target word.
    let needed = rows.len() as u64 * 36 + text.source.memory() + text.target.memory();
    let left = options.memory.unwrap_or(MEMORY).saturating_sub(needed).max(LEAST_FOR_CELLS);
    let temp = options.temp.clone().unwrap_or_else(std::env::temp_dir);
    let cells = Cells::of(text, &rows, left, &temp, progress)?;
    summary.spilled = cells.spilled();
    let work =
        Work { text, rows: &rows, cells: &cells, directions: options.symmetrization.directions() };
    let trained = train(&work, options, &mut summary, progress)?;
    progress.begin("aligning", Some(summary.pairs));
    let mut count = 0;
    work.decode(
        &trained.lexicon,
        &trained.positions,
        |_, best: &Best, result: &mut (Drawer, Vec<u8>, u64)| {
            let (drawer, lines, count) = result;
            *count += drawer.draw(best, options.symmetrization, lines);
        },
        |(_, lines, links)| {
            count += links;
            write(&lines)
        },
        progress,
    )?;
    progress.end();
    summary.links = count;
    Ok(summary)
}

/// Everything that training finds.
struct Trained {
    lexicon: Lexicon,
    positions: [Positions; 2],
}

fn train(
    work: &Work<'_>,
    options: &AlignOptions,
    summary: &mut AlignSummary,
    progress: &dyn Progress,
) -> Result<Trained> {
    let (rows, text) = (work.rows, work.text);
    let sizes = sizes(text);
    let shares = rows.shares(rayon::current_num_threads());
    let zeros =
        || Lexicon::zeros(rows.len(), text.source.vocabulary.len(), text.target.vocabulary.len());
    let mut lexicon = zeros();
    let mut counts = zeros();
    let mut iterate =
        |stage: &str, known: bool, positions: &[Positions; 2], lexicon: &mut Lexicon| {
            progress.begin(stage, Some(text.len() as u64));
            let known = known.then_some(&*lexicon);
            let sums = work.expect(known, positions, &mut counts, &shares, progress)?;
            counts.normalise(rows, &shares);
            std::mem::swap(lexicon, &mut counts);
            counts.clear();
            summary.perplexity = sums.each_ref().map(Sums::perplexity);
            progress.end();
            Ok::<_, Error>(sums)
        };
    let mut priors = [Diagonal::default(); 2];
    for iteration in 1..options.iterations.unwrap_or(ITERATIONS).max(2) {
        let (stage, positions) =
            (format!("IBM 2, iteration {iteration}"), priors.map(Positions::Diagonal));
        let sums = iterate(&stage, iteration > 1, &positions, &mut lexicon)?;
        for direction in [FORWARD, REVERSE] {
            if iteration > 1 && work.directions[direction] {
                priors[direction].fit(&sums[direction], &sizes[direction]);
            }
        }
    }
    let mut positions = priors.map(Positions::Diagonal);
    if options.model == Model::Hmm {
        positions = [Positions::Jumps(Jumps::default()), Positions::Jumps(Jumps::default())];
        for iteration in 1..=options.hmm_iterations.unwrap_or(HMM_ITERATIONS) {
            let stage = format!("HMM, iteration {iteration}");
            let sums = iterate(&stage, true, &positions, &mut lexicon)?;
            for direction in [FORWARD, REVERSE] {
                if work.directions[direction] {
                    positions[direction] = Positions::Jumps(Jumps::fit(&sums[direction]));
                }
            }
        }
    }
    Ok(Trained { lexicon, positions })
}

/// How many pairs there are of each (outputs, states) lengths, in both directions.
fn sizes(text: &Bitext) -> [Sizes; 2] {
    let mut sizes = [Sizes::new(), Sizes::new()];
    for pair in (0..text.len()).filter_map(|line| text.pair(line)) {
        let (source, target) = (pair.source.places.len() as u32, pair.target.places.len() as u32);
        *sizes[FORWARD].entry((target, source)).or_default() += 1;
        *sizes[REVERSE].entry((source, target)).or_default() += 1;
    }
    sizes
}

/// Makes lines of links of the best explanations.
#[derive(Default)]
struct Drawer {
    links: [Vec<Link>; 2],
    joined: Vec<Link>,
    joiner: Joiner,
}

impl Drawer {
    /// Appends a line to `lines` and says how many links it has.
    fn draw(&mut self, best: &Best, how: Symmetrization, lines: &mut Vec<u8>) -> u64 {
        let [forward, reverse] = &mut self.links;
        forward.clear();
        let explained = |(at, best): (usize, &Option<u16>)| Some((at as u16, (*best)?));
        forward
            .extend(best.0[FORWARD].iter().enumerate().filter_map(explained).map(|(j, i)| (i, j)));
        reverse.clear();
        reverse.extend(best.0[REVERSE].iter().enumerate().filter_map(explained));
        self.joiner.join(how, forward, reverse, &mut self.joined);
        print_links(&self.joined, lines);
        self.joined.len() as u64
    }
}

/// Joins links that were made elsewhere, line by line.
pub fn symmetrize_files(
    forward: &Path,
    reverse: &Path,
    output: &Path,
    how: Symmetrization,
    threads: usize,
) -> Result<AlignSummary> {
    let mut inputs =
        [Lines::in_background(Input::open(forward)?), Lines::in_background(Input::open(reverse)?)];
    let mut output = Output::create_whole(output)?;
    let mut summary = AlignSummary::default();
    let names = inputs.each_ref().map(|lines| lines.name().to_owned());
    let read = || -> Result<Option<[Vec<Vec<Link>>; 2]>> {
        let mut block = [Vec::new(), Vec::new()];
        let mut lines = [0, 0];
        for ((input, block), last) in inputs.iter_mut().zip(&mut block).zip(&mut lines) {
            let name = input.name().to_owned();
            while block.len() < 500
                && let Some(line) = input.next()?
            {
                let mut links = Vec::new();
                parse_links(&name, &line, &mut links)?;
                block.push(links);
                *last = line.number;
            }
        }
        let [first, second] = &block;
        if first.len() != second.len() {
            for (input, last) in inputs.iter_mut().zip(&mut lines) {
                while let Some(line) = input.next()? {
                    *last = line.number;
                }
            }
            let [first, second] = names.clone();
            return Err(Error::Lines {
                first,
                first_lines: lines[0],
                second,
                second_lines: lines[1],
            });
        }
        Ok((!first.is_empty()).then_some(block))
    };
    let worker = || {
        let (mut joiner, mut joined) = (Joiner::default(), Vec::new());
        move |[forward, reverse]: [Vec<Vec<Link>>; 2]| {
            let (mut text, mut links) = (Vec::new(), 0);
            for (forward, reverse) in forward.iter().zip(&reverse) {
                joiner.join(how, forward, reverse, &mut joined);
                print_links(&joined, &mut text);
                links += joined.len() as u64;
            }
            (text, forward.len() as u64, links)
        }
    };
    ordered_map(threads.max(1), read, worker, |(text, pairs, links), _| {
        summary.pairs += pairs;
        summary.links += links;
        Ok::<(), Error>(output.write(&text)?)
    })?;
    output.finish()?;
    Ok(summary)
}
