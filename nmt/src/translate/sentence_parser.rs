//! From the text of a sentence, with what its translation must have, to a request: tokenised
//! and checked against the limits of input.

use super::models::LoadedModels;
use super::options::InputOptions;
use super::tokenizer::{Pieces, Tokenizer, TokenizerScratch};
use crate::search::Request;

/// An input line as a request.
pub(super) struct InputSentence {
    /// The index of the line, from 0.
    pub id: u64,
    pub pieces: Pieces,
    /// The request; none for an empty line, or why the line cannot be translated.
    pub request: Result<Option<Request>, String>,
    /// The shortlist, kept if the scores of single models are needed.
    pub candidates: Option<Vec<u32>>,
    /// A warning about the line.
    pub warning: Option<String>,
}

impl InputSentence {
    /// The number of source tokens with `</s>`, by which sentences are sorted.
    pub fn length(&self) -> usize {
        self.pieces.len() + 1
    }
}

/// Makes requests of sentences, in memory that it reuses.
pub(super) struct SentenceParser<'a> {
    tokenizers: &'a [Tokenizer; 2],
    right_to_left: bool,
    options: InputOptions,
    scratch: TokenizerScratch,
}

impl<'a> SentenceParser<'a> {
    pub fn new(tokenizers: &'a [Tokenizer; 2], right_to_left: bool, options: InputOptions) -> Self {
        SentenceParser { tokenizers, right_to_left, options, scratch: TokenizerScratch::default() }
    }

    /// A parser of sentences for `models`.
    pub fn for_models(models: &'a LoadedModels, options: InputOptions) -> Self {
        Self::new(models.tokenizers(), models.is_right_to_left(), options)
    }

    /// The request of sentence `id`, whose translation begins with `prefix` and has all
    /// `constraints`.
    pub fn parse(
        &mut self,
        id: u64,
        text: &[u8],
        prefix: &[u8],
        constraints: &[Vec<u8>],
    ) -> InputSentence {
        let [source, target] = self.tokenizers;
        let scratch = &mut self.scratch;
        let mut pieces = source.encode(text, scratch);
        let InputOptions { max_length, crop, .. } = self.options;
        let mut warning = None;
        if pieces.len() > max_length {
            let reason =
                format!("{} pieces, {max_length} are allowed (--max-length)", pieces.len());
            if !crop {
                return InputSentence {
                    id,
                    pieces: Pieces::default(),
                    request: Err(reason),
                    candidates: None,
                    warning,
                };
            }
            warning = Some(format!("{reason}; the others are left out"));
            pieces.truncate(max_length);
        }
        if pieces.is_empty() || pieces.ids == [source.vocabulary.eos_id()] {
            return InputSentence { id, pieces, request: Ok(None), candidates: None, warning };
        }
        let prefix = target.encode(prefix, scratch).ids;
        let constraints = constraints.iter().map(|text| target.encode(text, scratch).ids);
        let constraints = constraints.filter(|ids| !ids.is_empty()).collect();
        let request = match self.prepare_constraints(&prefix, constraints) {
            Ok(constraints) => {
                let source = source.ids_with_marks(&pieces);
                Ok(Some(Request { source, constraints, prefix, candidates: None }))
            }
            Err(reason) => Err(reason),
        };
        InputSentence { id, pieces, request, candidates: None, warning }
    }

    /// The constraints in the direction of the models, or why prefix or constraints are refused.
    fn prepare_constraints(
        &self,
        prefix: &[u32],
        mut constraints: Vec<Vec<u32>>,
    ) -> Result<Vec<Vec<u32>>, String> {
        let most = self.options.max_length;
        let check = |what: &str, length: usize| {
            let reason = || format!("{what} of {length} pieces, {most} are allowed (--max-length)");
            if length > most { Err(reason()) } else { Ok(()) }
        };
        check("a prefix", prefix.len())?;
        check("constraints", constraints.iter().map(Vec::len).sum())?;
        if self.right_to_left {
            // A right-to-left model generates the beginning of a translation last.
            if !prefix.is_empty() {
                return Err("a model that writes from right to left takes no prefix".into());
            }
            constraints.iter_mut().for_each(|words| words.reverse());
        }
        Ok(constraints)
    }
}
