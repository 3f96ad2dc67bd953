//! The driver for a text: lines in, translators on many threads, lines out in
//! order.

use miriam_text::{Input, Lines, ordered_map};

use crate::streams::{LineOutput, Stream, Streams};
use crate::{Result, System, Translator};

/// Translates every line of the input that the settings name to their output, in
/// order, on as many threads as they say.
pub fn translate(system: &System) -> Result<()> {
    let settings = &system.settings;
    let input = Input::open(&settings.input)?;
    let mut lines =
        if settings.threads > 1 { Lines::in_background(input) } else { Lines::new(input) };
    let mut streams = Streams::create(settings)?;
    let mut warned = false;
    let mut id = settings.output.first_id;
    let read = || -> Result<Option<(i64, Vec<u8>)>> {
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
        id = id.wrapping_add(1);
        Ok(Some((id.wrapping_sub(1), bytes.to_vec())))
    };
    let worker = || {
        let mut translator = Translator::new(system);
        move |(id, line): (i64, Vec<u8>)| {
            let mut out = LineOutput::default();
            out.stream(Stream::Best).reserve(2 * line.len() + 16);
            translator.report(id, &line, &mut out)?;
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
