//! Texts of given pairs as tokens, for all that scores them.

use super::sentence_parser::{MAX_LENGTH_OPTION, describe_excess};
use super::tokenizer::{Pieces, Tokenizer, TokenizerScratch};

impl Tokenizer {
    /// Returns the tokens of a text whose probability is wanted, and their ids with the marks of a
    /// sentence.
    ///
    /// # Errors
    /// The reason why it has none: more than `max_length` tokens, because memory grows with the
    /// square of the length, or no token at all.
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
        let ids = self.ids_with_marks(&pieces);
        if ids.is_empty() {
            return Err("an empty text, which this model cannot score: it adds no </s>".into());
        }
        Ok((pieces, ids))
    }
}
