//! The text that each token adds to a translation, with spaces where words end.

use std::borrow::Cow;

/// The texts of the tokens of a vocabulary. Words are separated by spaces: the text of a token that
/// begins a word starts with a space (SentencePiece), or the text of a token that completes a word
/// ends with a space (BPE with `@@`).
///
/// ```
/// use miriam_nmt::search::TokenTexts;
///
/// let texts: TokenTexts = ["</s>", " Haus", "es"].map(|text| text.as_bytes().into()).into_iter().collect();
/// assert_eq!(texts.get(1), b" Haus");
/// assert_eq!(texts.get(9), b"");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenTexts {
    texts: Vec<u8>,
    ends: Vec<usize>,
}

impl TokenTexts {
    /// Returns the text of a token; empty if there is no such token.
    pub fn get(&self, token: u32) -> &[u8] {
        let token = token as usize;
        let Some(&end) = self.ends.get(token) else { return b"" };
        let start = token.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[start..end]
    }
}

impl<'a> FromIterator<Cow<'a, [u8]>> for TokenTexts {
    fn from_iter<I: IntoIterator<Item = Cow<'a, [u8]>>>(texts: I) -> Self {
        let mut all = TokenTexts::default();
        for text in texts {
            all.texts.extend_from_slice(&text);
            all.ends.push(all.texts.len());
        }
        all
    }
}
