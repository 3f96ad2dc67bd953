//! Tokenisation rules in which languages differ.

/// The treatment of an apostrophe between letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApostropheRule {
    /// It begins a word, as in English: `do n't`, `she 's`.
    BeginsWord,
    /// It ends a word, as in French: `l' eau`.
    EndsWord,
    /// It is a letter, as in Somali.
    IsLetter,
    /// It is a separate token.
    SeparateToken,
}

/// The rules of a language, apart from its nonbreaking prefixes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenizerRules {
    pub apostrophe: ApostropheRule,
    /// A character that may be inside of words although it is not a letter.
    pub word_internal_sign: Option<WordInternalSign>,
}

/// A character that is not a letter but may be inside of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordInternalSign {
    pub sign: char,
    /// Whether the sign is part of a word only before a lowercase letter, such as the colon in
    /// Finnish: `USA:n`.
    pub only_before_lowercase: bool,
}

impl TokenizerRules {
    pub fn for_language(name: &str) -> Self {
        let apostrophe = match name {
            "en" => ApostropheRule::BeginsWord,
            "fr" | "it" | "ga" | "ca" => ApostropheRule::EndsWord,
            "so" | "tdt" => ApostropheRule::IsLetter,
            _ => ApostropheRule::SeparateToken,
        };
        let word_internal_sign = match name {
            "fi" | "sv" => Some(WordInternalSign { sign: ':', only_before_lowercase: true }),
            "tdt" => Some(WordInternalSign { sign: '\'', only_before_lowercase: true }),
            "ca" => Some(WordInternalSign { sign: '·', only_before_lowercase: false }),
            _ => None,
        };
        TokenizerRules { apostrophe, word_internal_sign }
    }
}
