//! What a line of input gives, apart from each other: the translation, and beside
//! it lists, alignments and records that users ask for, each a text of its own.
//!
//! A worker fills the streams of its line in memory; they are written in the order
//! of the input, so that line n of every stream is about line n.

use std::path::PathBuf;

use miriam_text::Output;

use crate::{Mishap, Result, Settings};

/// A text that translation writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The best translation, one line an input line.
    Best,
    /// What went wrong, a JSON object a mishap.
    Errors,
}

impl Stream {
    /// How many there are.
    const COUNT: usize = 2;
}

/// What one line of input gives to each stream, line ends included.
#[derive(Default)]
pub(crate) struct LineOutput {
    texts: [Vec<u8>; Stream::COUNT],
    /// What went wrong with it.
    pub(crate) mishaps: Vec<Mishap>,
}

impl LineOutput {
    /// What goes to `stream`.
    pub(crate) fn stream(&mut self, stream: Stream) -> &mut Vec<u8> {
        &mut self.texts[stream as usize]
    }
}

/// The files of all streams that somebody asked for.
pub(crate) struct Streams {
    outputs: Vec<(Stream, Output)>,
}

impl Streams {
    /// Creates the files that `settings` names.
    pub(crate) fn create(settings: &Settings) -> Result<Self> {
        let create = |(stream, path): &(Stream, PathBuf)| Ok((*stream, Output::create(path)?));
        let outputs = settings.outputs.iter().map(create).collect::<Result<_>>()?;
        Ok(Streams { outputs })
    }

    /// Whether somebody asked for `stream`.
    pub(crate) fn has(&self, stream: Stream) -> bool {
        self.outputs.iter().any(|(other, _)| *other == stream)
    }

    /// Writes what a line gave.
    pub(crate) fn write(&mut self, line: &LineOutput) -> Result<()> {
        for (stream, output) in &mut self.outputs {
            output.write(&line.texts[*stream as usize])?;
        }
        Ok(())
    }

    /// Hands on what is buffered.
    pub(crate) fn flush(&mut self) -> Result<()> {
        for (_, output) in &mut self.outputs {
            output.flush()?;
        }
        Ok(())
    }

    /// Ends all streams.
    pub(crate) fn finish(self) -> Result<()> {
        for (_, output) in self.outputs {
            output.finish()?;
        }
        Ok(())
    }
}
