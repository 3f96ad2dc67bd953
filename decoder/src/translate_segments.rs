//! Translation of running text and HTML: the text is cut into sentences, which are translated on
//! many threads, and written with translations in place of its sentences.

use std::collections::VecDeque;

use miriam_textio::{CancellationToken, Input, Lines, Progress, fields, ordered_map};
use miriam_textproc::{
    AlignedTranslation, DocumentCutter, DocumentFormat, Interrupted, LinkedText, Segment,
    SegmentWriter, SentenceSplitter, Split, TokenLinks,
};

use crate::cut_words::CutWordCounts;
use crate::line_errors::{LineError, LineErrorKind, Warnings};
use crate::output_streams::{LineOutput, OutputStream, OutputStreams};
use crate::sentence::MAX_SENTENCE_WORDS;
use crate::translate::WorkerPins;
use crate::unknown_words::UnknownWordCounts;
use crate::{Error, LineProcessor, Result, System, Translation, Translator};

/// The format of text that is not one sentence per line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentedFormat {
    /// A line is a paragraph of running text.
    RunningText,
    /// All lines are one page of HTML.
    Html,
}

/// A segment with its place in the input.
struct NumberedSegment {
    segment: Segment,
    /// The number of its line, from 1; always 1 in a page of HTML.
    line: u64,
    /// The number of input lines that are done with it: those of its document if it is the last
    /// segment of the document, otherwise 0.
    num_lines: u64,
    /// Its errors so far.
    errors: Vec<LineError>,
}

/// A segment with the translation of its sentence.
struct SegmentTranslation {
    segment: NumberedSegment,
    translation: LinkedText,
}

/// Translates the sentences that `splitter` finds in the input, as
/// [`translate_text`](crate::translate_text) translates lines, and writes the text with
/// translations in place of sentences. The only other output is line errors. `processor` prepares
/// sentences and restores their translations.
///
/// # Errors
///
/// Those of [`translate`](crate::translate()), and [`Error::Usage`] if the settings request output
/// other than text.
pub fn translate_segments(
    system: &System,
    input: Input,
    format: SegmentedFormat,
    splitter: &SentenceSplitter,
    processor: Option<&dyn LineProcessor>,
    (stop, progress): (&CancellationToken, &dyn Progress),
) -> Result<()> {
    let settings = &system.settings;
    check_outputs(system)?;
    let mut reader = SegmentReader {
        lines: Lines::in_background(input).until_cancelled(stop),
        format,
        splitter,
        stop,
        waiting: VecDeque::new(),
    };
    let mut streams = OutputStreams::create(&settings.outputs)?;
    let mut warnings = (!streams.has(OutputStream::Errors))
        .then(|| Warnings::new(miriam_textio::display_name(&settings.input)));
    let workers = WorkerPins::new(system);
    let (unknown_words, cut_words) = (UnknownWordCounts::default(), CutWordCounts::default());
    let task = progress.task("translating", None);
    let (mut written, mut writer) = (0, SegmentWriter::new());
    let write = |translated: Result<SegmentTranslation>, more: bool| -> Result<()> {
        let write = || {
            let SegmentTranslation { segment, translation } = translated?;
            let mut out = LineOutput::default();
            let best = out.stream_mut(OutputStream::Best);
            writer.write(&segment.segment, AlignedTranslation::from(&translation), best);
            for error in &segment.errors {
                error.write_record(segment.line, out.stream_mut(OutputStream::Errors));
            }
            streams.write(&out)?;
            if let Some(warnings) = &mut warnings {
                warnings.warn(segment.line, &segment.errors);
            }
            written += segment.num_lines;
            task.set_position(written);
            if more { Ok(()) } else { streams.flush() }
        };
        write().inspect_err(|_| stop.cancel())
    };
    let outcome = ordered_map(
        settings.threads,
        || if stop.is_cancelled() { Ok(None) } else { reader.next() },
        || {
            workers.pin_next();
            let mut translator = Translator::new(system);
            let (unknown_words, cut_words) = (&unknown_words, &cut_words);
            move |segment| {
                let (line, before) = (segment.line, translator.statistics());
                let translation = translate_segment(&mut translator, processor, segment);
                unknown_words.add(before, translator.statistics());
                cut_words.add(line, before, translator.statistics());
                translation
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
    let finished = streams.finish(outcome.is_ok() && !stop.is_cancelled());
    outcome.and(finished)
}

/// Rejects options that work on lines: their outputs cannot be joined to a text, or they read
/// markup or tables from the input.
fn check_outputs(system: &System) -> Result<()> {
    let settings = &system.settings;
    let output = &settings.output;
    let supported = [OutputStream::Best, OutputStream::Errors];
    let rejected = [
        (settings.print_score, "-output-hypo-score"),
        (output.print_id, "-print-id"),
        (output.print_alignment, "-print-alignment-info"),
        (settings.print_segmentation, "-report-segmentation"),
        (output.print_score_breakdown, "-report-segmentation-enriched"),
        (settings.input_format.markup != crate::XmlInputMode::PassThrough, "-xml-input"),
        (settings.input_format.has_sentence_table, "-inputtype"),
    ];
    let rejected = rejected.into_iter().find(|(is_set, _)| *is_set).map(|(_, option)| option);
    let has_others = settings.outputs.iter().any(|(stream, _)| !supported.contains(stream));
    let Some(option) = rejected.or(has_others.then_some("an output besides translations")) else {
        return Ok(());
    };
    let reason = format!(
        "{option} works on lines, but -split and -html join the sentences of a text again; leave \
         one of them out (miriam split gives one sentence per line)"
    );
    Err(Error::Usage { reason })
}

/// Reads a text segment by segment.
struct SegmentReader<'a> {
    lines: Lines,
    format: SegmentedFormat,
    splitter: &'a SentenceSplitter,
    stop: &'a CancellationToken,
    /// The rest of the current document.
    waiting: VecDeque<NumberedSegment>,
}

impl SegmentReader<'_> {
    fn next(&mut self) -> Result<Option<NumberedSegment>> {
        if self.waiting.is_empty() {
            self.read_document()?;
        }
        Ok(self.waiting.pop_front())
    }

    /// Reads the segments of the next document, if there is one: a line of running text, or the
    /// whole page. A document has at least one segment, perhaps with an empty sentence.
    fn read_document(&mut self) -> Result<()> {
        let (mut text, mut first_line, mut num_lines) = (Vec::new(), 0, 0);
        while let Some(line) = self.lines.next()? {
            text.extend_from_slice(line.bytes);
            text.extend_from_slice(if line.terminated { b"\n" } else { b"" });
            if num_lines == 0 {
                first_line = line.number;
            }
            num_lines += 1;
            if self.format != SegmentedFormat::Html {
                break;
            }
        }
        if num_lines == 0 {
            return Ok(());
        }
        let format = match self.format {
            SegmentedFormat::RunningText => DocumentFormat::Text(Split::Sentences),
            SegmentedFormat::Html => DocumentFormat::Html(Split::Sentences),
        };
        let is_cancelled = || self.stop.is_cancelled();
        let cutter = DocumentCutter::new(format, self.splitter).copying_numbers();
        let cutter = cutter.within(MAX_SENTENCE_WORDS).until(&is_cancelled);
        let document =
            match cutter.cut(&text, |sentence: &[u8]| fields::split_words(sentence).count()) {
                Ok(document) => document,
                // The run was cancelled, so the rest is not needed.
                Err(Interrupted) => return Ok(()),
            };
        let longest = document.longest();
        let segments = document.into_segments().into_iter();
        self.waiting.extend(segments.map(|segment| NumberedSegment {
            segment,
            line: first_line,
            num_lines: 0,
            errors: Vec::new(),
        }));
        if let Some(last) = self.waiting.back_mut() {
            last.num_lines = num_lines;
        }
        if let Some(first) = self.waiting.front_mut().filter(|_| longest > MAX_SENTENCE_WORDS) {
            let reason = format!(
                "a sentence of {longest} words is translated in parts of at most \
                 {MAX_SENTENCE_WORDS}, cut where clauses or words end"
            );
            first.errors.push(LineError::new(LineErrorKind::LongLine, reason));
        }
        Ok(())
    }
}

fn translate_segment(
    translator: &mut Translator<'_>,
    processor: Option<&dyn LineProcessor>,
    mut segment: NumberedSegment,
) -> Result<SegmentTranslation> {
    let sentence = &segment.segment.sentence;
    let mut translated = LinkedText::default();
    if sentence.is_empty() {
        return Ok(SegmentTranslation { segment, translation: translated });
    }
    let mut tokens = Vec::new();
    match processor {
        Some(processor) => processor.preprocess(sentence, &mut tokens),
        None => tokens.extend_from_slice(sentence),
    }
    let translation = match translator.translate(&tokens) {
        Err(Error::Line { reason }) => {
            segment.errors.push(LineError::new(LineErrorKind::Malformed, reason));
            None
        }
        translation => translation?,
    };
    segment.errors.extend(translator.take_line_errors());
    if let Some(translation) = translation {
        let phrases = translation.phrases.iter();
        let words: Vec<&[u8]> =
            phrases.flat_map(|phrase| &phrase.words).map(Vec::as_slice).collect();
        let line = words.join(&b' ');
        match processor {
            Some(processor) => processor.postprocess(&line, &mut translated.text),
            None => translated.text = line.clone(),
        }
        if segment.segment.has_inline_tags() {
            let source = (&sentence[..], fields::split_words(&tokens));
            let target = (&translated.text[..], words.into_iter());
            translated.links = token_links(&translation).locate(source, 0, target);
        }
    }
    Ok(SegmentTranslation { segment, translation: translated })
}

/// Returns the links between the words of a sentence and the words of its translation.
fn token_links(translation: &Translation) -> TokenLinks {
    let (mut points, mut phrases, mut offset) = (Vec::new(), Vec::new(), 0);
    for phrase in &translation.phrases {
        points.extend(
            phrase
                .alignment
                .iter()
                .map(|&(s, t)| (phrase.source.start + u32::from(s), offset + u32::from(t))),
        );
        let target = offset as usize..offset as usize + phrase.words.len();
        phrases.push((phrase.source.start as usize..phrase.source.end as usize, target));
        offset += phrase.words.len() as u32;
    }
    TokenLinks::from_phrases(points, phrases)
}
