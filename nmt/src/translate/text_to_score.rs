//! Texts of given pairs as tokens, for all that scores them.

use super::sentence_parser::{MAX_LENGTH_OPTION, describe_excess};
use super::tokenizer::{Pieces, Tokenizer, TokenizerScratch};

impl Tokenizer {
    /// Returns the tokens of a text whose probability is wanted, and their ids with special tokens.
    ///
    /// # Errors
    /// If the text has no token at all, or more than `max_length` tokens, because memory grows with
    /// the square of the length.
    pub(crate) fn encode_to_score(
        &self,
        text: &[u8],
        max_length: usize,
        scratch: &mut TokenizerScratch,
    ) -> Result<(Pieces, Vec<u32>), String> {
        let pieces = self.encode(text.strip_suffix(b"\r").unwrap_or(text), scratch);
        if pieces.len() > max_length {
            return Err(describe_excess(pieces.len(), max_length, MAX_LENGTH_OPTION));
        }
        let ids = self.ids_with_special_tokens(&pieces);
        if ids.is_empty() {
            return Err(
                "the text is empty, which this model cannot score, because it adds no </s>".into(),
            );
        }
        Ok((pieces, ids))
    }
}
