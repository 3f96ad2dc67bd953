//! BLEU's tokenisers, by their names in signatures.
//!
//! Each returns a line with spaces between the tokens, as in sacreBLEU. The substitutions
//! of its regular expressions are written as scans, because each depends on only two characters.

mod chinese;
mod external;
mod international;
pub(crate) mod mteval13a;
pub(crate) mod spacing;

use std::borrow::Cow;

pub use external::{
    ExternalTokenizer, MISSING_TOKENIZERS, PIECE_TOKENIZERS, PieceTokenizer,
    explain_missing_tokenizer,
};

/// The tokenisation of lines before n-grams are counted.
#[derive(Clone, Debug, Default)]
pub enum Tokenizer {
    /// The tokeniser of mteval-v13a, which most published scores use.
    #[default]
    Mteval13a,
    /// No tokeniser: tokens are separated by white space.
    None,
    /// mteval-v14's international tokeniser: punctuation and symbols by Unicode.
    International,
    /// Every character is a token.
    Characters,
    /// Every Chinese character is a token, the rest is like in 13a.
    Chinese,
    /// A tokeniser from another crate.
    External(ExternalTokenizer),
}

impl Tokenizer {
    /// The names of all built-in tokenisers in signatures.
    pub const NAMES: [&str; 5] = ["13a", "none", "intl", "char", "zh"];

    /// Returns its name in signatures.
    pub fn name(&self) -> &str {
        match self {
            Tokenizer::Mteval13a => "13a",
            Tokenizer::None => "none",
            Tokenizer::International => "intl",
            Tokenizer::Characters => "char",
            Tokenizer::Chinese => "zh",
            Tokenizer::External(external) => external.signature(),
        }
    }

    /// Returns the tokeniser with this name in signatures; `None` if it is not built in.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "13a" => Tokenizer::Mteval13a,
            "none" => Tokenizer::None,
            "intl" => Tokenizer::International,
            "char" => Tokenizer::Characters,
            "zh" => Tokenizer::Chinese,
            _ => return None,
        })
    }

    /// Returns `line` with white space around its tokens.
    pub fn tokenize<'l>(&self, line: &'l str) -> Cow<'l, str> {
        match self {
            Tokenizer::None => Cow::Borrowed(line),
            Tokenizer::Mteval13a => Cow::Owned(mteval13a::tokenize(line)),
            Tokenizer::International => Cow::Owned(international::tokenize(line)),
            Tokenizer::Characters => Cow::Owned(split_characters(line)),
            Tokenizer::Chinese => Cow::Owned(chinese::tokenize(line)),
            Tokenizer::External(external) => Cow::Owned(external.tokenize(line)),
        }
    }
}

fn split_characters(line: &str) -> String {
    let mut out = String::with_capacity(2 * line.len());
    for c in line.chars() {
        out.push(c);
        out.push(' ');
    }
    out
}
