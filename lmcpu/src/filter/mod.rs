//! Reduction of models to the n-grams that given sentences can need, with the output of KenLM's
//! `filter`.
//!
//! Lines of n-grams are copied, not parsed: lines that pass keep every byte, except for a carriage
//! return before the line end. A criterion (`criterion`) decides which lines pass, and workers
//! apply it to chunks of lines. A sink (`sink`) writes the counts of the remaining n-grams before
//! these n-grams.

mod criterion;
mod passes;
mod phrases;
mod sink;

use std::path::PathBuf;

use miriam_storage::paths::with_suffix;
use miriam_textio::{BlockReader, Input, Progress, ordered_map};

use crate::arpa::{ArpaLines, LineChunk};
use crate::{Error, Result};
use criterion::Criterion;
use passes::Passes;
use sink::Sink;

/// Bytes of raw text in a chunk.
const RAW_CHUNK_BYTES: usize = 1 << 18;

/// The n-grams that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterMode {
    /// All.
    Copy,
    /// Those whose words are in the vocabulary.
    Single,
    /// For each line of the vocabulary, a file with the n-grams of its words.
    Multiple,
    /// Those that [`FilterMode::Multiple`] writes to at least one file.
    Union,
}

/// The format of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterFormat {
    /// ARPA text.
    Arpa,
    /// One n-gram per line, with or without a tab and any text after it.
    Raw,
}

/// Options for filtering a model.
#[derive(Clone, Copy, Debug)]
pub struct FilterOptions {
    /// The n-grams that are kept.
    pub mode: FilterMode,
    /// The format of the model.
    pub format: FilterFormat,
    /// Whether only the context of an n-gram, all words but the last, has to pass.
    pub context: bool,
    /// Whether the vocabulary has phrases, separated by tabs. N-grams then pass if phrases of a
    /// line can make them up.
    pub phrases: bool,
    /// The number of worker threads, from 1.
    pub threads: usize,
}

impl FilterOptions {
    /// Checks that the options do not contradict each other.
    ///
    /// # Errors
    ///
    /// If they contradict each other.
    pub fn validate(&self) -> Result<()> {
        if self.phrases && matches!(self.mode, FilterMode::Copy | FilterMode::Single) {
            let reason = "phrases need the mode multiple or union; for one sentence write all \
                          phrases on one line and use union";
            return Err(Error::InvalidOptions { reason: reason.into() });
        }
        Ok(())
    }
}

/// Reads n-grams from `model`, and writes those that pass to `output`. In the mode
/// [`FilterMode::Multiple`], there is a file for each line of `vocabulary`, blank lines left out.
/// The name of a file is `output` followed by the number of its line, from 0, again without blank
/// lines. Returns how many n-grams were read and how many pass.
///
/// ```
/// use miriam_lmcpu::filter::{FilterFormat, FilterMode, FilterOptions, filter};
/// use miriam_textio::{Input, NoProgress};
///
/// let folder = tempfile::tempdir()?;
/// let output = folder.path().join("counts");
/// let model = Input::from_reader(&b"a b\t3\na c\t1\n<s> a\t2\n"[..], "counts", None)?;
/// let words = Input::from_reader(&b"a b\n"[..], "words", None)?;
/// let options = FilterOptions {
///     mode: FilterMode::Single,
///     format: FilterFormat::Raw,
///     context: false,
///     phrases: false,
///     threads: 1,
/// };
/// assert_eq!(filter(model, words, &output, &options, &NoProgress)?, (3, 2));
/// assert_eq!(std::fs::read(&output)?, b"a b\t3\n<s> a\t2\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the options contradict each other, an input cannot be read or is not of its format, or a file
/// cannot be written.
pub fn filter(
    model: Input,
    vocabulary: Input,
    output: &std::path::Path,
    options: &FilterOptions,
    progress: &dyn Progress,
) -> Result<(u64, u64)> {
    options.validate()?;
    let criterion = Criterion::read(vocabulary, options)?;
    let outputs: Vec<PathBuf> = match options.mode {
        FilterMode::Multiple => (0..criterion.num_sentences())
            .map(|number| with_suffix(output, &number.to_string()))
            .collect(),
        _ => vec![output.to_owned()],
    };
    let _task = progress.task("filtering", model.size());
    match options.format {
        FilterFormat::Arpa => {
            let mut lines = ArpaLines::open(model, progress)?;
            let name = lines.name().to_owned();
            let sinks = outputs.iter().map(|path| Sink::arpa(path, lines.counts())).collect();
            run(&name, &criterion, options, sinks, || lines.next_chunk())
        }
        FilterFormat::Raw => {
            let name = model.name().to_owned();
            let is_single = options.mode != FilterMode::Multiple;
            let sinks = outputs.iter().map(|path| Sink::raw(path, is_single));
            let sinks = sinks.collect::<Result<_>>()?;
            let consumed = model.consumed();
            let mut blocks = BlockReader::new(model, RAW_CHUNK_BYTES, false);
            let mut next_line = 1;
            run(&name, &criterion, options, sinks, || {
                progress.set_position(consumed.load(std::sync::atomic::Ordering::Relaxed));
                let mut text = Vec::new();
                if !blocks.read_block(&mut text)? {
                    return Ok(None);
                }
                let first_line = next_line;
                next_line += memchr::memchr_iter(b'\n', &text).count() as u64;
                // Order 0: all words of a line before its first tab are its n-gram.
                Ok(Some(LineChunk { order: 0, first_line, text }))
            })
        }
    }
}

/// The lines of a chunk that pass.
struct FilteredChunk {
    order: usize,
    /// Whole lines.
    text: Vec<u8>,
    /// The number of n-grams that were read.
    read: u64,
    /// The end in `text` of each line that passes, and where it passes.
    kept: Vec<(usize, Passes)>,
    /// The first line that is not an n-gram, and why.
    error: Option<(u64, String)>,
}

/// Filters the chunks that `read` returns, and writes them to `sinks`.
fn run(
    name: &str,
    criterion: &Criterion,
    options: &FilterOptions,
    mut sinks: Vec<Sink>,
    read: impl FnMut() -> Result<Option<LineChunk>> + Send,
) -> Result<(u64, u64)> {
    let (mut num_read, mut num_kept) = (0, 0);
    let write = |chunk: FilteredChunk, _| -> Result<()> {
        if let Some((line, reason)) = chunk.error {
            return Err(miriam_textio::Error::format(name, line, None, reason).into());
        }
        num_read += chunk.read;
        num_kept += chunk.kept.len() as u64;
        sinks.iter_mut().try_for_each(|sink| sink.begin(chunk.order))?;
        if let [sink] = &mut sinks[..]
            && options.mode != FilterMode::Multiple
        {
            return sink.write(&chunk.text, chunk.kept.len() as u64);
        }
        let mut start = 0;
        for (end, passes) in chunk.kept {
            let line = &chunk.text[start..end];
            start = end;
            match passes {
                Passes::Nowhere => {}
                Passes::Everywhere => {
                    sinks.iter_mut().try_for_each(|sink| sink.write(line, 1))?;
                }
                Passes::In(sentences) => {
                    let mut numbers = sentences.into_iter();
                    numbers.try_for_each(|number| sinks[number as usize].write(line, 1))?;
                }
            }
        }
        Ok(())
    };
    ordered_map(
        options.threads,
        read,
        || {
            let mut checker = criterion.checker(options);
            move |chunk| filter_chunk(chunk, |words| checker.check(words), options)
        },
        write,
    )?;
    sinks.into_iter().try_for_each(Sink::finish)?;
    Ok((num_read, num_kept))
}

/// Applies `check` to the n-grams of `chunk`.
fn filter_chunk(
    chunk: LineChunk,
    mut check: impl FnMut(&[&[u8]]) -> Passes,
    options: &FilterOptions,
) -> FilteredChunk {
    let LineChunk { order, first_line, text } = chunk;
    let mut filtered = FilteredChunk {
        order,
        text: Vec::with_capacity(text.len()),
        read: 0,
        kept: Vec::new(),
        error: None,
    };
    let body = text.strip_suffix(b"\n").unwrap_or(&text);
    if text.is_empty() {
        return filtered;
    }
    let mut words: Vec<&[u8]> = Vec::new();
    for (at, line) in body.split(|&byte| byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        words.clear();
        if order == 0 {
            let mut ngram = line.split(|&byte| byte == b'\t').next().unwrap_or_default();
            if options.context {
                ngram = &ngram[..ngram.iter().rposition(|&byte| byte == b' ').unwrap_or(0)];
            }
            words.extend(ngram.split(|&byte| byte == b' ').filter(|word| !word.is_empty()));
        } else {
            let fields = line.split(|&byte| matches!(byte, b'\t' | b' '));
            words.extend(fields.filter(|field| !field.is_empty()).skip(1).take(order));
            if words.len() < order {
                let reason = format!(
                    "expected a log probability and {order} words, found {}",
                    crate::arpa::quote(line)
                );
                filtered.error = Some((first_line + at as u64, reason));
                return filtered;
            }
            words.truncate(order - usize::from(options.context));
        }
        filtered.read += 1;
        let passes = check(&words);
        if passes == Passes::Nowhere {
            continue;
        }
        filtered.text.extend_from_slice(line);
        filtered.text.push(b'\n');
        filtered.kept.push((filtered.text.len(), passes));
    }
    filtered
}

#[cfg(test)]
mod tests;
