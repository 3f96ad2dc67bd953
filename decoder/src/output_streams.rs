//! The output streams: the translation and, where requested, n-best lists, alignments and records,
//! each a separate text.
//!
//! A worker fills the streams of its line in memory. The streams of all lines are written in the
//! order of the input.

use std::path::{Path, PathBuf};

use miriam_textio::{Output, is_same_file};

use crate::Result;
use crate::line_errors::LineError;

/// A kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputStream {
    /// The best translation, one line per input line.
    Best,
    /// The n-best list, several lines per input line.
    NBest,
    /// Word alignments of the best translation, one line per input line.
    Alignment,
    /// Words that no phrase translates, one line per input line.
    Unknowns,
    /// The search graph, one JSON object per input line.
    SearchGraph,
    /// The origin of each phrase of the best translation, one block per input line.
    Details,
    /// Line errors, one JSON object each.
    Errors,
}

impl OutputStream {
    /// The number of streams.
    const COUNT: usize = 7;
}

/// The output of one input line to each stream, line ends included.
#[derive(Default)]
pub(crate) struct LineOutput {
    texts: [Vec<u8>; OutputStream::COUNT],
    /// Errors of the line.
    pub(crate) line_errors: Vec<LineError>,
}

impl LineOutput {
    /// Returns the output to `stream`.
    pub(crate) fn stream_mut(&mut self, stream: OutputStream) -> &mut Vec<u8> {
        &mut self.texts[stream as usize]
    }
}

/// Whether two paths name the same file, or are the same absolute path (such as a device's path).
fn is_same_output(one: &Path, other: &Path) -> bool {
    fn absolute(path: &Path) -> Option<PathBuf> {
        std::path::absolute(path).ok()
    }
    one == other
        || is_same_file(one, other)
        || one.as_os_str() != "-" && other.as_os_str() != "-" && absolute(one) == absolute(other)
}

/// The files of all requested streams.
pub(crate) struct OutputStreams {
    /// Streams to one file share it: the outputs of a line stay together.
    outputs: Vec<(Vec<OutputStream>, Output)>,
}

impl OutputStreams {
    /// Creates the files of `outputs`, the streams with their paths.
    pub(crate) fn create(outputs: &[(OutputStream, PathBuf)]) -> Result<Self> {
        let mut files: Vec<(Vec<OutputStream>, &PathBuf)> = Vec::new();
        for (stream, path) in outputs {
            match files.iter_mut().find(|(_, known)| is_same_output(known, path)) {
                Some((streams, _)) => streams.push(*stream),
                None => files.push((vec![*stream], path)),
            }
        }
        fn create(
            (streams, path): (Vec<OutputStream>, &PathBuf),
        ) -> Result<(Vec<OutputStream>, Output), crate::Error> {
            Ok((streams, Output::create(path)?))
        }
        let outputs = files.into_iter().map(create).collect::<Result<_>>()?;
        Ok(OutputStreams { outputs })
    }

    /// Whether `stream` is requested.
    pub(crate) fn has(&self, stream: OutputStream) -> bool {
        self.outputs.iter().any(|(streams, _)| streams.contains(&stream))
    }

    /// Writes the output of a line.
    pub(crate) fn write(&mut self, line: &LineOutput) -> Result<()> {
        for (streams, output) in &mut self.outputs {
            for stream in streams {
                output.write(&line.texts[*stream as usize])?;
            }
        }
        Ok(())
    }

    /// Flushes all buffers.
    pub(crate) fn flush(&mut self) -> Result<()> {
        for (_, output) in &mut self.outputs {
            output.flush()?;
        }
        Ok(())
    }

    /// Ends all streams, even if one fails. If the text was not translated to its end, files keep
    /// the names of partial files.
    pub(crate) fn finish(self, is_complete: bool) -> Result<()> {
        let mut result = Ok(());
        for (_, output) in self.outputs {
            result = result.and(output.finish_if(is_complete));
        }
        Ok(result?)
    }
}
