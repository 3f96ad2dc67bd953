//! Tokenisation of texts to score, with a limit of their length.

use super::sentence_parser::{MAX_LENGTH_OPTION, describe_excess};
use super::tokenizer::{Pieces, Tokenizer, TokenizerScratch};

/// The limit of the length of a sentence, and the handling of longer ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthLimit {
    /// The maximum number of tokens, including special ones.
    pub tokens: usize,
    /// Whether longer sentences are cropped. Otherwise they are an error in scoring, and are left
    /// out of training.
    pub crops: bool,
}

impl LengthLimit {
    /// Returns a limit beyond which texts are an error.
    pub fn error_above(tokens: usize) -> Self {
        LengthLimit { tokens, crops: false }
    }
}

impl Tokenizer {
    /// Returns the tokens of a text to score, and their ids with special tokens.
    ///
    /// # Errors
    /// If the text has no tokens and the model adds no special ones, or if the text is too long and
    /// `limit` does not crop: memory grows with the square of the length.
    pub(crate) fn encode_to_score(
        &self,
        text: &[u8],
        limit: LengthLimit,
        scratch: &mut TokenizerScratch,
    ) -> Result<(Pieces, Vec<u32>), String> {
        let mut pieces = self.encode(text.strip_suffix(b"\r").unwrap_or(text), scratch);
        let mut ids = self.ids_with_special_tokens(&pieces);
        if ids.len() > limit.tokens {
            if !limit.crops {
                return Err(describe_excess(ids.len(), limit.tokens, MAX_LENGTH_OPTION));
            }
            let num_special = self.ids_with_special_tokens(&Pieces::default()).len();
            pieces.truncate(limit.tokens.saturating_sub(num_special));
            ids = self.ids_with_special_tokens(&pieces);
        }
        if ids.is_empty() {
            return Err(
                "the text is empty, which this model cannot score, because it adds no </s>".into(),
            );
        }
        Ok((pieces, ids))
    }
}
