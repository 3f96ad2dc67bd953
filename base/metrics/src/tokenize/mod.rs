//! BLEU's tokenisers, by their names in signatures.
//!
//! Each takes a line and returns it with spaces between the tokens, as sacreBLEU's do.
//! Their substitutions are written as scans, because each looks at two characters only.

mod chinese;
mod international;
mod mteval13a;
pub(crate) mod spacing;
pub(crate) mod tercom;

use std::borrow::Cow;

/// How a line is tokenised before n-grams are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tokenizer {
    /// mteval-v13a's, which most published scores use.
    #[default]
    Mteval13a,
    /// None: tokens are separated by white space.
    None,
    /// mteval-v14's international tokeniser: punctuation and symbols by Unicode.
    International,
    /// Every character is a token.
    Characters,
    /// Chinese characters one by one, the rest as in 13a.
    Chinese,
}

impl Tokenizer {
    /// All tokenisers.
    pub const ALL: [Tokenizer; 5] = [
        Tokenizer::Mteval13a,
        Tokenizer::None,
        Tokenizer::International,
        Tokenizer::Characters,
        Tokenizer::Chinese,
    ];

    /// Its name in signatures.
    pub fn name(self) -> &'static str {
        match self {
            Tokenizer::Mteval13a => "13a",
            Tokenizer::None => "none",
            Tokenizer::International => "intl",
            Tokenizer::Characters => "char",
            Tokenizer::Chinese => "zh",
        }
    }

    /// The tokeniser with this name in signatures; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tokenizer| tokenizer.name() == name)
    }

    /// `line` with white space around its tokens.
    pub fn tokenize(self, line: &str) -> Cow<'_, str> {
        match self {
            Tokenizer::None => Cow::Borrowed(line),
            Tokenizer::Mteval13a => Cow::Owned(mteval13a::tokenize(line)),
            Tokenizer::International => Cow::Owned(international::tokenize(line)),
            Tokenizer::Characters => Cow::Owned(split_characters(line)),
            Tokenizer::Chinese => Cow::Owned(chinese::tokenize(line)),
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
