//! The driver for running text and HTML: sentences in, translators on many threads, the text
//! with translations in place of its sentences out.

use std::collections::VecDeque;
use std::ops::Range;

use miriam_textio::{CancellationToken, Input, Lines, Progress, fields, ordered_map};
use miriam_textproc::{
    AlignedTranslation, HtmlText, RunningText, Segment, SegmentWriter, SentenceSplitter,
    locate_tokens,
};

use crate::cut_words::CutWordCounts;
use crate::line_errors::{LineError, LineErrorKind, Warnings};
use crate::output_streams::{LineOutput, OutputStream, OutputStreams};
use crate::sentence::MAX_SENTENCE_WORDS;
use crate::translate::WorkerPins;
use crate::{Error, LineProcessor, Result, System, Translation, Translator};

/// The format of text that is not a sentence a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentedFormat {
    /// A line is a paragraph of running text.
    RunningText,
    /// All lines are one page of HTML.
    Html,
}

/// How much the words of a phrase come from each other, besides its alignment.
const PHRASE_ATTENTION: f32 = 0.25;

/// A sentence with what surrounds it.
struct NumberedSegment {
    segment: Segment,
    /// The number of its line, from 1; that of a page is 1.
    line: u64,
    /// The number of lines that end with it.
    num_lines: u64,
    /// What went wrong with it so far.
    errors: Vec<LineError>,
}

/// The translation of a segment's sentence.
struct SegmentTranslation {
    segment: NumberedSegment,
    text: Vec<u8>,
    links: Vec<(Range<usize>, Range<usize>)>,
    attention: Vec<(Range<usize>, Range<usize>, f32)>,
}

/// Translates the sentences that `splitter` finds in the input, as
/// [`translate_text`](crate::translate_text) does lines, and writes the text with translations
/// in their place; there are no other outputs than it and line errors. `form` prepares
/// sentences and restores their translations.
///
/// # Errors
///
/// As [`translate`](crate::translate()); and [`Error::Usage`] if the settings ask for more than text.
pub fn translate_segments(
    system: &System,
    input: Input,
    format: SegmentedFormat,
    splitter: &SentenceSplitter,
    form: Option<&dyn LineProcessor>,
    (stop, progress): (&CancellationToken, &dyn Progress),
) -> Result<()> {
    let settings = &system.settings;
    check_outputs(system)?;
    let mut reader = SegmentReader {
        lines: Lines::in_background(input).until_cancelled(stop),
        format,
        splitter,
        waiting: VecDeque::new(),
    };
    let mut streams = OutputStreams::create(&settings.outputs)?;
    let mut warnings = (!streams.has(OutputStream::Errors))
        .then(|| Warnings::new(miriam_textio::display_name(&settings.input)));
    let read = || if stop.is_cancelled() { Ok(None) } else { reader.next() };
    let workers = WorkerPins::new(system);
    let cut_words = CutWordCounts::default();
    let worker = || {
        workers.pin_next();
        let mut translator = Translator::new(system);
        let cut_words = &cut_words;
        move |segment: NumberedSegment| {
            let (line, before) = (segment.line, translator.statistics());
            let translation = translate_segment(&mut translator, form, segment);
            cut_words.add(line, before, translator.statistics());
            translation
        }
    };
    let task = progress.task("translating", None);
    let (mut written, mut writer) = (0, SegmentWriter::new());
    let write = |translated: Result<SegmentTranslation>, more: bool| -> Result<()> {
        let write = || {
            let SegmentTranslation { segment, text, links, attention } = translated?;
            let mut out = LineOutput::default();
            let translation =
                AlignedTranslation { text: &text, links: &links, attention: &attention };
            writer.write(&segment.segment, translation, out.stream_mut(OutputStream::Best));
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
    let outcome = ordered_map(settings.threads, read, worker, write);
    drop(task);
    if let Some(warnings) = warnings {
        warnings.finish();
    }
    cut_words.warn(&miriam_textio::display_name(&settings.input));
    let finished = streams.finish(outcome.is_ok() && !stop.is_cancelled());
    outcome.and(finished)
}

/// Refuses what cannot be put together from the outputs of sentences.
fn check_outputs(system: &System) -> Result<()> {
    let settings = &system.settings;
    let output = &settings.output;
    let known = [OutputStream::Best, OutputStream::Errors];
    let refused = [
        (settings.print_score, "-output-hypo-score"),
        (output.print_id, "-print-id"),
        (output.print_alignment, "-print-alignment-info"),
        (settings.print_segmentation, "-report-segmentation"),
        (output.print_score_breakdown, "-report-segmentation-enriched"),
        (settings.input_format.markup != crate::XmlInputMode::PassThrough, "-xml-input"),
        (settings.input_format.has_sentence_table, "-inputtype"),
    ];
    let refused = refused.into_iter().find(|(is_set, _)| *is_set).map(|(_, option)| option);
    let more = settings.outputs.iter().any(|(stream, _)| !known.contains(stream));
    let Some(option) = refused.or(more.then_some("an output besides translations")) else {
        return Ok(());
    };
    let reason = format!(
        "{option} is about lines, -split and -html join the sentences of a text again; leave one of \
         them out (miriam split gives a sentence a line)"
    );
    Err(Error::Usage { reason })
}

/// Reads a text sentence by sentence.
struct SegmentReader<'a> {
    lines: Lines,
    format: SegmentedFormat,
    splitter: &'a SentenceSplitter,
    waiting: VecDeque<NumberedSegment>,
}

impl SegmentReader<'_> {
    fn next(&mut self) -> Result<Option<NumberedSegment>> {
        if self.waiting.is_empty() {
            match self.format {
                SegmentedFormat::RunningText => self.read_paragraph()?,
                SegmentedFormat::Html => self.read_page()?,
            }
        }
        Ok(self.waiting.pop_front())
    }

    fn read_paragraph(&mut self) -> Result<()> {
        let Some(line) = self.lines.next()? else { return Ok(()) };
        let number = line.number;
        let mut text = line.bytes.to_vec();
        text.extend_from_slice(if line.terminated { b"\n" } else { b"" });
        let mut longest = 0;
        let count = |sentence: &[u8]| count_words(sentence, &mut longest);
        let text = RunningText::within(text, self.splitter, MAX_SENTENCE_WORDS, count);
        let text = text.copying_numbers();
        self.push(text.segments(), number, 1, longest);
        Ok(())
    }

    fn read_page(&mut self) -> Result<()> {
        let (mut page, mut num_lines) = (Vec::new(), 0);
        while let Some(line) = self.lines.next()? {
            page.extend_from_slice(line.bytes);
            page.extend_from_slice(if line.terminated { b"\n" } else { b"" });
            num_lines = line.number;
        }
        if num_lines > 0 {
            let mut longest = 0;
            let count = |sentence: &[u8]| count_words(sentence, &mut longest);
            let text = HtmlText::within(&page, self.splitter, MAX_SENTENCE_WORDS, count);
            self.push(text.into_segments().into_iter(), 1, num_lines, longest);
        }
        Ok(())
    }

    /// Adds the segments of a text of which the longest sentence had `longest` words.
    fn push(
        &mut self,
        segments: impl Iterator<Item = Segment>,
        line: u64,
        num_lines: u64,
        longest: usize,
    ) {
        let numbered = segments.map(|segment| NumberedSegment {
            segment,
            line,
            num_lines: 0,
            errors: Vec::new(),
        });
        self.waiting.extend(numbered);
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
    }
}

fn count_words(sentence: &[u8], longest: &mut usize) -> usize {
    let count = fields::split_words(sentence).count();
    *longest = count.max(*longest);
    count
}

fn translate_segment(
    translator: &mut Translator<'_>,
    form: Option<&dyn LineProcessor>,
    mut segment: NumberedSegment,
) -> Result<SegmentTranslation> {
    let sentence = &segment.segment.sentence;
    let (mut text, mut links, mut attention) = (Vec::new(), Vec::new(), Vec::new());
    if sentence.is_empty() {
        return Ok(SegmentTranslation { segment, text, links, attention });
    }
    let mut tokens = Vec::new();
    match form {
        Some(form) => form.preprocess(sentence, &mut tokens),
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
        let words: Vec<&[u8]> = translation
            .phrases
            .iter()
            .flat_map(|phrase| &phrase.words)
            .map(Vec::as_slice)
            .collect();
        let line = words.join(&b' ');
        match form {
            Some(form) => form.postprocess(&line, &mut text),
            None => text = line.clone(),
        }
        if segment.segment.has_inline_tags() {
            let source = locate_tokens(sentence, fields::split_words(&tokens));
            let target = locate_tokens(&text, words);
            links = alignment_points(&translation)
                .filter_map(|(s, t)| Some((source.get(s)?.clone(), target.get(t)?.clone())))
                .collect();
            attention = phrase_spans(&translation)
                .filter_map(|(s, t)| {
                    let (source, target) = (source.get(s)?, target.get(t)?);
                    let whole =
                        |words: &[Range<usize>]| Some(words.first()?.start..words.last()?.end);
                    Some((whole(source)?, whole(target)?, PHRASE_ATTENTION))
                })
                .collect();
        }
    }
    Ok(SegmentTranslation { segment, text, links, attention })
}

/// The positions of the words of each phrase in the sentence and its translation.
fn phrase_spans(translation: &Translation) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let mut offset = 0;
    translation.phrases.iter().map(move |phrase| {
        let target = offset..offset + phrase.words.len();
        offset = target.end;
        (phrase.source.start as usize..phrase.source.end as usize, target)
    })
}

/// The positions of aligned words in the sentence and its translation; in a phrase without an
/// alignment all words are aligned.
fn alignment_points(translation: &Translation) -> impl Iterator<Item = (usize, usize)> {
    let mut offset = 0;
    translation.phrases.iter().flat_map(move |phrase| {
        let (start, length) = (phrase.source.start as usize, phrase.words.len());
        let first = offset;
        offset += length;
        let mut points: Vec<(usize, usize)> = phrase
            .alignment
            .iter()
            .map(|&(s, t)| (start + usize::from(s), first + usize::from(t)))
            .collect();
        if points.is_empty() {
            let targets = first..first + length;
            let all = (start..phrase.source.end as usize)
                .flat_map(|s| targets.clone().map(move |t| (s, t)));
            points.extend(all);
        }
        points
    })
}
