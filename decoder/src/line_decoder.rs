//! Decoding of a line of input within its time limit: as one sentence or, if it is long, in parts.
//! The errors of the line are collected.

use std::time::Duration;

use miriam_textio::{CancellationToken, fields};

use crate::decoded_sentence::DecodedSentence;
use crate::factors::surface;
use crate::input_line::{InputLine, LineAnnotations};
use crate::line_errors::{LineError, LineErrorKind};
use crate::search::{SearchEffort, SearchWidth, TimeLimit};
use crate::sentence::MAX_SENTENCE_WORDS;
use crate::sentence_decoder::{SentenceDecoder, Statistics};
use crate::system::System;
use crate::{Error, Result};

/// The place of a decoded sentence in its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinePart {
    /// The position of its first word in the line.
    pub(crate) offset: u32,
    /// Whether the line is decoded in several parts.
    pub(crate) is_split: bool,
}

/// The limits of a line: the width of its search, its time limit, and a token that cancels it.
#[derive(Clone, Default)]
pub struct LineLimits {
    /// The width of the search.
    pub width: SearchWidth,
    /// The time after which a line is translated by a narrower search. The shorter of this time and
    /// the time limit of the settings applies.
    pub time_limit: Option<Duration>,
    /// Ends the line with [`Error::Cancelled`], between two steps of its search.
    pub cancellation: Option<CancellationToken>,
}

/// Decodes lines one at a time, in buffers that it reuses.
pub(crate) struct LineDecoder<'s> {
    system: &'s System,
    sentences: SentenceDecoder<'s>,
    input: InputLine,
    /// Whether the last line was decoded in parts.
    is_split: bool,
    /// The least effort spent on a part of the last line.
    effort: SearchEffort,
    /// The limits of the next lines.
    pub(crate) limits: LineLimits,
    /// The errors of the last line.
    pub(crate) line_errors: Vec<LineError>,
}

impl<'s> LineDecoder<'s> {
    /// Creates a decoder of `system`.
    pub(crate) fn new(system: &'s System) -> Self {
        LineDecoder {
            system,
            sentences: SentenceDecoder::new(system),
            input: InputLine::default(),
            is_split: false,
            effort: SearchEffort::Full,
            limits: LineLimits::default(),
            line_errors: Vec::new(),
        }
    }

    /// Returns statistics of everything decoded so far.
    pub(crate) fn statistics(&self) -> Statistics {
        self.sentences.statistics()
    }

    /// Keeps the lattice of every sentence from now on.
    pub(crate) fn enable_lattice(&mut self) {
        self.sentences.enable_lattice();
    }

    /// Whether the last line was decoded in parts.
    pub(crate) fn is_split(&self) -> bool {
        self.is_split
    }

    /// Returns the words of `line`, which was decoded last, without its annotations.
    pub(crate) fn source_words<'a>(&'a self, line: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        fields::split_words(self.input.last_text(line))
    }

    /// Returns the sentence decoded last.
    pub(crate) fn decoded(&self) -> DecodedSentence<'_> {
        self.sentences.decoded()
    }

    /// Returns the time limit of a line: the shorter of the limits in the settings and in `limits`.
    fn time_limit(&self) -> Option<Duration> {
        let limits = [self.system.settings.time_limit, self.limits.time_limit];
        limits.into_iter().flatten().min()
    }

    /// Decodes `line` part by part and calls `each` with every part. Returns the sum of the scores,
    /// or `None` if a part has no translation.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::Line`] if the line is invalid, and with [`Error::Cancelled`]. Also fails
    /// if a model file is damaged or `each` fails.
    pub(crate) fn decode(
        &mut self,
        line: &[u8],
        each: impl FnMut(DecodedSentence<'_>, LinePart) -> Result<()>,
    ) -> Result<Option<f32>> {
        self.line_errors.clear();
        let time = (self.time_limit().is_some() || self.limits.cancellation.is_some())
            .then(|| TimeLimit::start(self.time_limit(), self.limits.cancellation.clone()));
        self.effort = SearchEffort::Full;
        self.is_split = false;
        self.sentences.width = self.limits.width;
        let mut input = std::mem::take(&mut self.input);
        let score = match input.read(line, &self.system.settings.input_format) {
            Ok((text, annotations)) => self.decode_words(text, annotations, time.as_ref(), each),
            Err(error) => Err(error),
        };
        self.input = input;
        score
    }

    /// Decodes the words of a line with its annotations.
    fn decode_words(
        &mut self,
        text: &[u8],
        annotations: &LineAnnotations,
        time: Option<&TimeLimit>,
        mut each: impl FnMut(DecodedSentence<'_>, LinePart) -> Result<()>,
    ) -> Result<Option<f32>> {
        let words = fields::split_words(text).count();
        if words <= MAX_SENTENCE_WORDS {
            self.effort = self.sentences.decode(text, annotations, time)?;
            let decoded = self.sentences.decoded();
            each(decoded, LinePart { offset: 0, is_split: false })?;
            let score = decoded.score;
            self.record_search_errors(score);
            return Ok(score);
        }
        self.is_split = true;
        let mut reason = format!(
            "{words} words are translated in parts of at most {MAX_SENTENCE_WORDS}, cut where sentences \
             end, or else clauses or words"
        );
        if self.system.settings.output.n_best.is_some() {
            reason.push_str("; the n-best list holds the best translation alone");
        }
        self.line_errors.push(LineError::new(LineErrorKind::LongLine, reason));
        let mut total = Some(0.0);
        let words: Vec<&[u8]> = fields::split_words(text).collect();
        let models = &self.system.models;
        let mut word = Vec::new();
        let surfaces = words.iter().map(|token| match &models.factor_scheme {
            Some(scheme) => {
                scheme.parse_input_word(token, &mut word);
                models.surface(&word).to_vec()
            }
            None => surface(token).to_vec(),
        });
        let surfaces: Vec<Vec<u8>> = surfaces.collect();
        let mut offset = 0;
        while offset < words.len() {
            let length = part_length(&surfaces[offset..]);
            let part = words[offset..offset + length].join(&b' ');
            let effort = self.sentences.decode(&part, annotations, time)?;
            self.effort = self.effort.max(effort);
            let decoded = self.sentences.decoded();
            each(decoded, LinePart { offset: offset as u32, is_split: true })?;
            total = total.zip(decoded.score).map(|(sum, score)| sum + score);
            offset += length;
        }
        self.record_search_errors(total);
        Ok(total)
    }

    /// Turns an error of the line itself into a line error: the line has no translation.
    ///
    /// # Errors
    ///
    /// Returns every other error.
    pub(crate) fn recover_line_error(&mut self, score: Result<Option<f32>>) -> Result<Option<f32>> {
        match score {
            Err(Error::Line { reason }) => {
                self.line_errors.push(LineError::new(LineErrorKind::Malformed, reason));
                Ok(None)
            }
            score => score,
        }
    }

    /// Records errors of the search.
    fn record_search_errors(&mut self, score: Option<f32>) {
        let narrower = match self.effort {
            SearchEffort::Full => None,
            SearchEffort::Narrow => Some("with an eighth of the stack size and pops"),
            SearchEffort::Greedy => Some("from left to right"),
        };
        if let (Some(how), Some(limit)) = (narrower, self.time_limit()) {
            let reason = format!("more than {} ms; translated {how}", limit.as_millis());
            self.line_errors.push(LineError::new(LineErrorKind::TimeLimit, reason));
        }
        if score.is_none() {
            let reason = "no translation within the limits of the search (-dl, -s, -cbp) and \
                          those of the line's markup";
            self.line_errors.push(LineError::new(LineErrorKind::NoTranslation, reason));
        }
    }
}

/// Returns the number of words of the next part of a line, at most [`MAX_SENTENCE_WORDS`]. `words`
/// are the surface forms of the rest of the line. If the rest is longer than that, the part ends
/// after its last mark of a sentence's end. Without such a mark, it ends after the last mark of a
/// clause's end in its second half.
fn part_length(words: &[impl AsRef<[u8]>]) -> usize {
    if words.len() <= MAX_SENTENCE_WORDS {
        return words.len();
    }
    let longest = &words[..MAX_SENTENCE_WORDS];
    let find = |marks: &[&str]| {
        let mut words = longest.iter().map(|word| word.as_ref());
        words.rposition(|word| marks.iter().any(|mark| mark.as_bytes() == word)).map(|at| at + 1)
    };
    let sentence = find(&[".", "!", "?", "...", "…", "。", "！", "？", "।", "؟"]);
    let clause = find(&[",", ";", ":", "，", "、", "；", "،"]);
    sentence.or(clause.filter(|&at| at > MAX_SENTENCE_WORDS / 2)).unwrap_or(longest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Configuration, SearchAlgorithm};
    use crate::{DetailOptions, Translator};
    use std::path::Path;

    fn toy() -> System {
        let ini = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/toy/moses.ini");
        let configuration = Configuration::from_ini(&ini).unwrap();
        System::load(&configuration, &miriam_textio::NoProgress).unwrap()
    }

    #[test]
    fn lines_can_be_cancelled_and_hurried() {
        let system = toy();
        let mut translator = Translator::new(&system);
        let line = b"the red house is big .";
        let before = translator.translate(line).unwrap();
        let cancellation = CancellationToken::new();
        let limits = |time_limit| LineLimits {
            time_limit,
            cancellation: Some(cancellation.clone()),
            ..LineLimits::default()
        };
        for time_limit in [None, Some(Duration::from_secs(60))] {
            translator.set_line_limits(limits(time_limit));
            assert_eq!(translator.translate(line).unwrap(), before);
            assert!(translator.take_line_errors().is_empty());
        }
        translator.set_line_limits(LineLimits { time_limit: Some(Duration::ZERO), ..limits(None) });
        assert!(translator.translate(line).unwrap().is_some());
        assert_eq!(translator.take_line_errors()[0].kind, LineErrorKind::TimeLimit);
        cancellation.cancel();
        for time_limit in [None, Some(Duration::ZERO), Some(Duration::from_secs(60))] {
            translator.set_line_limits(limits(time_limit));
            assert!(matches!(translator.translate(line), Err(Error::Cancelled)));
        }
        translator.set_line_limits(LineLimits::default());
        assert_eq!(translator.translate(line).unwrap(), before);
    }

    /// A line with its own search width is translated as by a system whose settings have this
    /// width.
    #[test]
    fn lines_have_searches_of_their_own_width() {
        let ini = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/toy/moses.ini");
        let line = b"the red house is big and the small dog reads the old green book .";
        for algorithm in [SearchAlgorithm::Stack, SearchAlgorithm::CubePruning] {
            let load = |stack: usize, pops: usize, beam: f32| {
                let mut configuration = Configuration::from_ini(&ini).unwrap();
                let settings = &mut configuration.settings;
                settings.algorithm = algorithm;
                (settings.stack_size, settings.pop_limit) = (stack, pops);
                settings.beam_threshold = miriam_textio::Ln::from_probability(beam).0;
                System::load(&configuration, &miriam_textio::NoProgress).unwrap()
            };
            let own = load(100, 200, 0.00001);
            let mut translator = Translator::new(&own);
            let plain = translator.translate(line).unwrap();
            let expansions = |translator: &Translator| translator.statistics().expansions;
            for (stack, pops, beam) in [(1, 1, 0.5), (3, 7, 0.00001), (20, 500, 0.0)] {
                let other = load(stack, pops, beam);
                let mut reference = Translator::new(&other);
                let expected = reference.translate(line).unwrap();
                let width = SearchWidth {
                    stack_size: Some(stack),
                    pop_limit: Some(pops),
                    beam_threshold: Some(beam),
                };
                translator.set_line_limits(LineLimits { width, ..LineLimits::default() });
                let before = expansions(&translator);
                assert_eq!(translator.translate(line).unwrap(), expected);
                assert_eq!(expansions(&translator) - before, expansions(&reference));
            }
            translator.set_line_limits(LineLimits::default());
            assert_eq!(translator.translate(line).unwrap(), plain);
        }
    }

    /// One call gives the same translation and n-best list as separate calls, and a search graph of
    /// all words.
    #[test]
    fn details_are_of_the_same_search() {
        let system = toy();
        let (mut once, mut apart) = (Translator::new(&system), Translator::new(&system));
        for line in ["the red house is big .", "small dog", ""] {
            let wanted =
                DetailOptions { n_best: 3, distinct: true, search_graph: true, options: false };
            let found = once.translate_in_detail(line.as_bytes(), wanted).unwrap();
            assert_eq!(found.best, apart.translate(line.as_bytes()).unwrap());
            assert_eq!(found.n_best, apart.n_best(line.as_bytes(), 3, true).unwrap());
            let graph: serde_json::Value =
                serde_json::from_slice(&found.search_graph.unwrap()).unwrap();
            let words: u64 = graph["pieces"]
                .as_array()
                .unwrap()
                .iter()
                .map(|piece| piece["words"].as_u64().unwrap())
                .sum();
            assert_eq!(words, line.split_whitespace().count() as u64);
        }
    }

    /// Every phrase of a translation is among the options. The values of these options add up to
    /// the values of the translation, for features that do not depend on neighbouring phrases.
    #[test]
    fn options_have_the_values_of_their_phrases() {
        let system = toy();
        let mut translator = Translator::new(&system);
        let line = b"the red house is big and the small dog reads .";
        let wanted = DetailOptions { n_best: 1, options: true, ..DetailOptions::default() };
        let found = translator.translate_in_detail(line, wanted).unwrap();
        let entry = &found.n_best[0];
        let mut sums = vec![0.0; entry.values.len()];
        for phrase in &entry.phrases {
            let span_options = found.options.iter().filter(|option| option.source == phrase.source);
            let scores: Vec<f32> = span_options.clone().map(|option| option.future_score).collect();
            assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
            let mut same = span_options.filter(|option| option.words == phrase.words);
            let option = same.next().expect("the phrase is an option");
            sums.iter_mut().zip(&option.values).for_each(|(sum, value)| *sum += value);
        }
        let mut compared = 0;
        for feature in system.features() {
            let depends = ["Distortion", "LexicalReordering", "LM", "KENLM"];
            if depends.iter().any(|name| feature.name.starts_with(name)) {
                continue;
            }
            for component in feature.range.clone() {
                assert!((sums[component] - entry.values[component]).abs() < 1e-4, "{feature:?}");
                compared += usize::from(sums[component] != 0.0);
            }
        }
        assert!(compared > 4, "{compared} values");
    }

    #[test]
    fn line_errors_are_recovered_and_model_errors_are_not() {
        let system = toy();
        let mut decoder = LineDecoder::new(&system);
        let line = Error::Line { reason: "word 3: an open tag".into() };
        assert_eq!(decoder.recover_line_error(Err(line)).unwrap(), None);
        let line_errors = std::mem::take(&mut decoder.line_errors);
        assert_eq!(line_errors, [LineError::new(LineErrorKind::Malformed, "word 3: an open tag")]);
        assert!(decoder.recover_line_error(Err(Error::usage("another"))).is_err());
        assert_eq!(decoder.recover_line_error(Ok(Some(1.0))).unwrap(), Some(1.0));
        assert!(decoder.line_errors.is_empty());
    }

    #[test]
    fn long_lines_are_cut_where_sentences_end() {
        let line = |marks: &[(usize, &'static str)]| {
            let mut words = vec![&b"w"[..]; MAX_SENTENCE_WORDS + 5];
            marks.iter().for_each(|&(at, mark)| words[at] = mark.as_bytes());
            part_length(&words)
        };
        assert_eq!(line(&[]), MAX_SENTENCE_WORDS);
        assert_eq!(line(&[(10, "."), (70, "?"), (90, ","), (2001, ".")]), 71);
        assert_eq!(line(&[(10, ","), (1500, ","), (1600, "a,")]), 1501);
        assert_eq!(line(&[(10, ","), (1000, "Mr.")]), MAX_SENTENCE_WORDS);
        assert_eq!(part_length(&[&b"."[..], b"w"]), 2);
    }
}
