//! The driver for a text: lines in, translators on many threads, lines out in
//! order.

use std::sync::atomic::{AtomicUsize, Ordering};

use miriam_text::{Input, Lines, affinity, ordered_map};

use crate::streams::{LineOutput, Stream, Streams};
use crate::{Result, System, Translator};

/// Translates every line of the input that the settings name to their output, in
/// order, on as many threads as they say.
pub fn translate(system: &System) -> Result<()> {
    translate_text(system, Input::open(&system.settings.input)?)
}

/// As [`translate`], with the lines of `input` instead.
///
/// Where the settings name CPUs, workers are tied to them; on one thread the only
/// worker is the caller, who stays there.
pub fn translate_text(system: &System, input: Input) -> Result<()> {
    let settings = &system.settings;
    let mut lines =
        if settings.threads > 1 { Lines::in_background(input) } else { Lines::new(input) };
    let mut streams = Streams::create(settings)?;
    let mut warned = false;
    let read = || -> Result<Option<Vec<u8>>> {
        let Some(line) = lines.next()? else { return Ok(None) };
        let mut bytes = line.bytes;
        if let (false, Some(rest)) = (settings.keep_cr, bytes.strip_suffix(b"\r")) {
            bytes = rest;
            if !warned {
                tracing::warn!(
                    "{}, line {}: a carriage return at a line's end is dropped, here and from \
                     now on; -keep-cr keeps it",
                    miriam_text::name_of(&settings.input),
                    line.number
                );
                warned = true;
            }
        }
        Ok(Some(bytes.to_vec()))
    };
    let workers = AtomicUsize::new(0);
    let worker = || {
        if !settings.cpus.is_empty() {
            let number = workers.fetch_add(1, Ordering::Relaxed);
            let cpu = settings.cpus[number % settings.cpus.len()];
            if let Err(reason) = affinity::run_on(&[cpu]) {
                tracing::warn!("a worker cannot be tied to CPU {cpu}: {reason}");
            }
        }
        let mut translator = Translator::new(system);
        move |line: Vec<u8>| {
            let mut out = LineOutput::default();
            let best = out.stream(Stream::Best);
            best.reserve(2 * line.len() + 16);
            translator.translate_line(&line, best)?;
            best.push(b'\n');
            Ok(out)
        }
    };
    let write = |line: Result<LineOutput>, more: bool| -> Result<()> {
        streams.write(&line?)?;
        if !more {
            streams.flush()?;
        }
        Ok(())
    };
    ordered_map(settings.threads, read, worker, write)?;
    streams.finish()
}
