//! How languages differ in what belongs to a word.

/// What an apostrophe between letters does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Apostrophe {
    /// It begins a word, as in English: `do n't`, `she 's`.
    BeginsWord,
    /// It ends a word, as in French: `l' eau`.
    EndsWord,
    /// It is a letter, as in Somali.
    IsLetter,
    /// It is a word of its own.
    StandsAlone,
}

/// What a tokeniser must know of a language beside its abbreviations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Language {
    pub apostrophe: Apostrophe,
    /// A sign that may be inside of words although it is no letter.
    pub inside_words: Option<InsideWords>,
}

/// A sign inside of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InsideWords {
    pub sign: char,
    /// It is a sign of its own unless a small letter follows, as the colon in
    /// Finnish: `USA:n`.
    pub before_small_letters: bool,
}

impl Language {
    pub fn of(name: &str) -> Self {
        let apostrophe = match name {
            "en" => Apostrophe::BeginsWord,
            "fr" | "it" | "ga" | "ca" => Apostrophe::EndsWord,
            "so" | "tdt" => Apostrophe::IsLetter,
            _ => Apostrophe::StandsAlone,
        };
        let inside_words = match name {
            "fi" | "sv" => Some(InsideWords { sign: ':', before_small_letters: true }),
            "tdt" => Some(InsideWords { sign: '\'', before_small_letters: true }),
            "ca" => Some(InsideWords { sign: '·', before_small_letters: false }),
            _ => None,
        };
        Language { apostrophe, inside_words }
    }
}
