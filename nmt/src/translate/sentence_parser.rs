//! Parser of a sentence and the constraints of its translation into a request, which is tokenised
//! and checked against the limits of input.

use super::models::{LoadedModels, NO_PREFIX};
use super::options::InputOptions;
use super::pivot_line::PivotLine;
use super::text_segment::TextSegment;
use super::tokenizer::{Pieces, Tokenizer, TokenizerScratch};
use crate::search::Request;

/// The option that limits the length of sentences.
pub(crate) const MAX_LENGTH_OPTION: &str = "--max-length";

/// Describes a text that is too long; `limit` names the limit. Lengths include special tokens.
pub(crate) fn describe_excess(length: usize, max_length: usize, limit: &str) -> String {
    format!("{length} pieces, at most {max_length} are allowed ({limit})")
}

/// A sentence as a request.
pub(super) struct InputSentence {
    /// The index of the sentence, from 0.
    pub id: u64,
    /// The number of its line, from 1.
    pub line: u64,
    /// The number of lines of input that end with this sentence.
    pub num_lines: u64,
    /// The text around it, if a line may have several sentences.
    pub segment: Option<TextSegment>,
    pub pieces: Pieces,
    /// The number of words of its text, separated by spaces.
    pub num_words: u64,
    /// The request, which is `None` for an empty line; an error has the reason why the line cannot
    /// be translated.
    pub request: Result<Option<Request>, String>,
    /// The shortlist, kept if the scores of single models are needed.
    pub candidates: Option<Vec<u32>>,
    /// A warning about the line.
    pub warning: Option<String>,
    /// The line that the first of two models has translated, if this sentence is for the second.
    pub pivot: Option<Box<PivotLine>>,
}

impl InputSentence {
    /// Creates sentence `id`, of line `line`, without words.
    pub fn empty(id: u64, line: u64) -> Self {
        InputSentence {
            id,
            line,
            num_lines: 0,
            segment: None,
            pieces: Pieces::default(),
            num_words: 0,
            request: Ok(None),
            candidates: None,
            warning: None,
            pivot: None,
        }
    }

    /// Returns the number of source tokens with `</s>`, by which sentences are sorted.
    pub fn length(&self) -> usize {
        self.pieces.len() + 1
    }
}

/// Parser of sentences into requests, with reused memory.
pub(super) struct SentenceParser<'a> {
    pub tokenizers: &'a [Tokenizer; 2],
    /// The tokens that every translation begins with.
    target_prefix: &'a [u32],
    right_to_left: bool,
    pub options: InputOptions,
    /// The maximum number of tokens of a sentence, without special tokens.
    pub max_length: usize,
    pub scratch: TokenizerScratch,
}

impl<'a> SentenceParser<'a> {
    pub fn new(tokenizers: &'a [Tokenizer; 2], right_to_left: bool, options: InputOptions) -> Self {
        SentenceParser {
            tokenizers,
            target_prefix: &[],
            right_to_left,
            options,
            max_length: options.max_length,
            scratch: TokenizerScratch::default(),
        }
    }

    /// Creates a parser of sentences for `models`, of at most `max_length` tokens without special
    /// tokens.
    pub fn for_models(models: &'a LoadedModels, options: InputOptions, max_length: usize) -> Self {
        let parser = Self::new(models.tokenizers(), models.is_right_to_left(), options);
        SentenceParser { target_prefix: models.target_prefix(), max_length, ..parser }
    }

    /// Parses the request of sentence `id`, of line `line`. The translation must begin with
    /// `prefix` and contain all `constraints`.
    pub fn parse(
        &mut self,
        (id, line): (u64, u64),
        text: &[u8],
        prefix: &[u8],
        constraints: &[Vec<u8>],
    ) -> InputSentence {
        let sentence = InputSentence::empty(id, line);
        let [source, target] = self.tokenizers;
        let mut pieces = source.encode(text, &mut self.scratch);
        let max_length = self.max_length;
        let mut warning = None;
        if pieces.len() > max_length {
            let reason = self.describe_excess(pieces.len());
            if !self.options.crop {
                return InputSentence { request: Err(reason), ..sentence };
            }
            warning = Some(format!("{reason}; the rest is left out"));
            pieces.truncate(max_length);
        }
        // One warning is enough, since other lines are like the first.
        if id == 0 && source.lacks_tag(text) {
            warning.get_or_insert_with(|| {
                "no language to translate to: give --to, or begin lines with its tag, such as <2de> \
                 or >>de<<"
                    .into()
            });
        }
        let num_words = miriam_textio::fields::split_words(text).count() as u64;
        // Marian's search treats a source that begins with `</s>` as empty. Here a line of `</s>`
        // alone is a blank line.
        let ends_at_once = source.vocabulary.own_eos_id().is_some_and(|eos| pieces.ids == [eos]);
        if pieces.is_empty() || ends_at_once {
            return InputSentence { pieces, num_words, warning, ..sentence };
        }
        let scratch = &mut self.scratch;
        let prefix = target.encode(prefix, scratch).ids;
        let constraints = constraints.iter().map(|text| target.encode(text, scratch).ids);
        let constraints = constraints.filter(|ids| !ids.is_empty()).collect();
        let request = match self.prepare_constraints(&prefix, constraints) {
            Ok(constraints) => {
                let source = source.ids_with_special_tokens(&pieces);
                let prefix = [self.target_prefix, &prefix].concat();
                Ok(Some(Request { number: id, source, constraints, prefix, candidates: None }))
            }
            Err(reason) => Err(reason),
        };
        InputSentence { pieces, num_words, request, warning, ..sentence }
    }

    /// Describes a sentence of more than [`max_length`](Self::max_length) tokens.
    pub fn describe_excess(&self, length: usize) -> String {
        let num_special = self.tokenizers[0].ids_with_special_tokens(&Pieces::default()).len();
        let max_length = self.max_length + num_special;
        let limit = if max_length < self.options.max_length {
            "the model's table of positions"
        } else {
            MAX_LENGTH_OPTION
        };
        describe_excess(length + num_special, max_length, limit)
    }

    /// Returns the constraints in the direction of the models, or the reason why prefix or
    /// constraints are rejected.
    fn prepare_constraints(
        &self,
        prefix: &[u32],
        mut constraints: Vec<Vec<u32>>,
    ) -> Result<Vec<Vec<u32>>, String> {
        let most = self.options.max_length;
        fn check(what: &str, length: usize, most: usize) -> Result<(), String> {
            if length > most {
                return Err(format!(
                    "{what} of {}",
                    describe_excess(length, most, MAX_LENGTH_OPTION)
                ));
            }
            Ok(())
        }
        check("a prefix", prefix.len(), most)?;
        check("constraints", constraints.iter().map(Vec::len).sum(), most)?;
        if self.right_to_left {
            // A right-to-left model generates the beginning of a translation last.
            if !prefix.is_empty() {
                return Err(NO_PREFIX.into());
            }
            constraints.iter_mut().for_each(|words| words.reverse());
        }
        Ok(constraints)
    }
}
