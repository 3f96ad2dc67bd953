//! Texts of given pairs as tokens, for all that scores them.

use super::sentence_parser::{MAX_LENGTH_OPTION, describe_excess};
use super::tokenizer::{Pieces, Tokenizer, TokenizerScratch};

/// The limit of the length of a text to score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthLimit {
    /// The maximum number of tokens, with special ones.
    pub tokens: usize,
    /// Whether longer texts are cropped; otherwise they are an error.
    pub crop: bool,
}

impl LengthLimit {
    /// Returns a limit beyond which texts are an error.
    pub fn error_above(tokens: usize) -> Self {
        LengthLimit { tokens, crop: false }
    }
}

impl Tokenizer {
    /// Returns the tokens of a text whose probability is wanted, and their ids with special tokens.
    ///
    /// # Errors
    /// If the text has no token at all, or is too long, because memory grows with the square of the
    /// length.
    pub(crate) fn encode_to_score(
        &self,
        text: &[u8],
        limit: LengthLimit,
        scratch: &mut TokenizerScratch,
    ) -> Result<(Pieces, Vec<u32>), String> {
        let mut pieces = self.encode(text.strip_suffix(b"\r").unwrap_or(text), scratch);
        let mut ids = self.ids_with_special_tokens(&pieces);
        if ids.len() > limit.tokens {
            if !limit.crop {
                return Err(describe_excess(ids.len(), limit.tokens, MAX_LENGTH_OPTION));
            }
            pieces.truncate(limit.tokens.saturating_sub(ids.len() - pieces.len()));
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
