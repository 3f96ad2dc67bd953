//! The driver for a text: lines in, translators on many threads, lines out in
//! order.

use std::sync::atomic::{AtomicUsize, Ordering};

use miriam_textio::{CancellationToken, Input, Lines, NoProgress, Progress, affinity, ordered_map};

use crate::cut_words::CutWordCounts;
use crate::line_errors::Warnings;
use crate::output_streams::{LineOutput, OutputStream, OutputStreams};
use crate::unknown_words::UnknownWordCounts;
use crate::{Result, System, Translator};

/// Turns raw text into a system's tokens, and translations back into text: for example, a tokeniser
/// with a detokeniser.
pub trait LineProcessor: Sync {
    /// Appends the tokens of `line` to `out`, without a line end.
    fn preprocess(&self, line: &[u8], out: &mut Vec<u8>);

    /// Appends the text of the best translation of a line to `out`, without a line end.
    fn postprocess(&self, translation: &[u8], out: &mut Vec<u8>);
}

/// Translates every line of the input, and writes the translations to the outputs, in order. The
/// settings of `system` name the input and the outputs, and give the number of threads.
///
/// # Errors
///
/// If the input cannot be read, an output cannot be written, a model file is damaged, or a model of
/// `[rescore]` fails. An invalid line gives a line error and an empty line.
///
/// # Examples
///
/// ```
/// # use miriam_decoder::{Configuration, System, translate};
/// # use miriam_textio::NoProgress;
/// # let folder = tempfile::tempdir()?;
/// # let ini = folder.path().join("moses.ini");
/// # std::fs::write(
/// #     folder.path().join("phrase-table"),
/// #     "das ||| the ||| 0.5\ndas haus ||| the house ||| 0.25\nhaus ||| building ||| 0.25\n",
/// # )?;
/// # std::fs::write(
/// #     &ini,
/// #     "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\nDistortion\n\
/// #      PhraseDictionaryMemory name=Table num-features=1 path=phrase-table\n\
/// #      [weight]\nUnknownWordPenalty0= 1\nDistortion0= 0.5\nTable= 1\n",
/// # )?;
/// let [input, output] = ["input", "output"].map(|name| folder.path().join(name));
/// std::fs::write(&input, "das haus\nhaus\n")?;
/// let mut configuration = Configuration::from_command_line(
///     &["-f", ini.to_str().unwrap(), "-o", output.to_str().unwrap()].map(str::to_owned),
/// )?;
/// configuration.settings.input = input;
/// translate(&System::load(&configuration, &NoProgress)?)?;
/// let translations = std::fs::read_to_string(&output)?;
/// let lines: Vec<&str> = translations.lines().map(str::trim_end).collect();
/// assert_eq!(lines, ["the house", "building"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn translate(system: &System) -> Result<()> {
    let input = Input::open(&system.settings.input)?;
    translate_text(system, input, &CancellationToken::new(), &NoProgress)
}

/// Works like [`translate`], with the lines of `input`, until `stop` is cancelled: then the
/// lines read so far are translated and written. An error cancels `stop` too, so that reading
/// stops. `progress` gets the number of lines written.
///
/// If the settings name CPUs, workers are pinned to them; on one thread the only worker is the
/// caller, which stays pinned.
///
/// # Errors
///
/// Those of [`translate`].
pub fn translate_text(
    system: &System,
    input: Input,
    stop: &CancellationToken,
    progress: &dyn Progress,
) -> Result<()> {
    translate_lines(system, input, None, stop, progress)
}

/// Works like [`translate_text`], with raw text: `processor` prepares lines before they are
/// translated, and restores their best translations. N-best lists, alignments and other
/// streams hold tokens.
///
/// # Errors
///
/// Those of [`translate`].
pub fn translate_raw_text(
    system: &System,
    input: Input,
    processor: &dyn LineProcessor,
    stop: &CancellationToken,
    progress: &dyn Progress,
) -> Result<()> {
    translate_lines(system, input, Some(processor), stop, progress)
}

fn translate_lines(
    system: &System,
    input: Input,
    processor: Option<&dyn LineProcessor>,
    stop: &CancellationToken,
    progress: &dyn Progress,
) -> Result<()> {
    let settings = &system.settings;
    // Reads in the background even for one thread, so that a wait for input can be interrupted.
    let mut lines = Lines::in_background(input).until_cancelled(stop);
    let mut streams = OutputStreams::create(&settings.outputs)?;
    let mut warnings = (!streams.has(OutputStream::Errors))
        .then(|| Warnings::new(miriam_textio::display_name(&settings.input)));
    let mut warned = false;
    let mut id = settings.output.first_id;
    let (unknown_words, cut_words) = (UnknownWordCounts::default(), CutWordCounts::default());
    let workers = WorkerPins::new(system);
    let task = progress.task("translating", None);
    let mut written = 0;
    let write = |line: Result<LineOutput>, more: bool| -> Result<()> {
        let write = || {
            let line = line?;
            streams.write(&line)?;
            written += 1;
            if let Some(warnings) = &mut warnings {
                warnings.warn(written, &line.line_errors);
            }
            task.set_position(written);
            if more { Ok(()) } else { streams.flush() }
        };
        write().inspect_err(|_| stop.cancel())
    };
    let outcome = ordered_map(
        settings.threads,
        || -> Result<Option<(u64, i64, Vec<u8>)>> {
            if stop.is_cancelled() {
                return Ok(None);
            }
            let Some(line) = lines.next()? else { return Ok(None) };
            let mut bytes = line.bytes;
            if let (false, Some(rest)) = (settings.keep_cr, bytes.strip_suffix(b"\r")) {
                bytes = rest;
                if !warned {
                    tracing::warn!(
                        "{}, line {}: a carriage return at a line's end is dropped, here and from \
                     now on; -keep-cr keeps it",
                        miriam_textio::display_name(&settings.input),
                        line.number
                    );
                    warned = true;
                }
            }
            id = id.wrapping_add(1);
            Ok(Some((line.number, id.wrapping_sub(1), bytes.to_vec())))
        },
        || {
            workers.pin_next();
            let mut translator = Translator::new(system);
            let (unknown_words, cut_words) = (&unknown_words, &cut_words);
            move |(number, id, mut line)| {
                if let Some(processor) = processor {
                    let raw = std::mem::take(&mut line);
                    processor.preprocess(&raw, &mut line);
                }
                let mut out = LineOutput::default();
                out.stream_mut(OutputStream::Best).reserve(2 * line.len() + 16);
                let before = translator.statistics();
                translator.translate_to_streams(id, &line, &mut out)?;
                unknown_words.add(before, translator.statistics());
                cut_words.add(number, before, translator.statistics());
                if let Some(processor) = processor {
                    let best = std::mem::take(out.stream_mut(OutputStream::Best));
                    let best = best.strip_suffix(b"\n").unwrap_or(&best);
                    processor.postprocess(best, out.stream_mut(OutputStream::Best));
                    out.stream_mut(OutputStream::Best).push(b'\n');
                }
                let line_errors = translator.take_line_errors();
                for error in &line_errors {
                    error.write_record(number, out.stream_mut(OutputStream::Errors));
                }
                out.line_errors = line_errors;
                Ok(out)
            }
        },
        write,
    );
    drop(task);
    if let Some(warnings) = warnings {
        warnings.finish();
    }
    unknown_words.warn_if_most(&miriam_textio::display_name(&settings.input));
    cut_words.warn(&miriam_textio::display_name(&settings.input));
    // Output is flushed even after an error.
    let finished = streams.finish(outcome.is_ok() && !stop.is_cancelled());
    outcome.and(finished)
}

/// The assignment of workers to the CPUs that the settings name, if any.
pub(crate) struct WorkerPins<'s> {
    system: &'s System,
    num_workers: AtomicUsize,
}

impl<'s> WorkerPins<'s> {
    /// Creates the assignment; no thread is pinned yet.
    pub(crate) fn new(system: &'s System) -> Self {
        WorkerPins { system, num_workers: AtomicUsize::new(0) }
    }

    /// Pins the calling thread to the next CPU, if the settings name CPUs.
    pub(crate) fn pin_next(&self) {
        let cpus = &self.system.settings.cpus;
        if !cpus.is_empty() {
            let number = self.num_workers.fetch_add(1, Ordering::Relaxed);
            let cpu = cpus[number % cpus.len()];
            if let Err(reason) = affinity::pin_to_cpus(&[cpu]) {
                tracing::warn!("a worker cannot be pinned to CPU {cpu}: {reason}");
            }
        }
    }
}
