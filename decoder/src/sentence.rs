//! One input line as words (`phrase-decoding.md` 3.1).
//!
//! Every word gets an id. Words the models know have ids of the system's
//! vocabulary; the others get ids above it, which last as long as the sentence.

use miriam_lmcpu::LmWord;
use miriam_textio::{Vocabulary, WordId, fields};

use crate::features::Span;
use crate::system::{PhraseTable, System, UNKNOWN_ID};
use crate::{Error, Result};

/// The words of a line, in buffers that are reused.
#[derive(Default)]
pub(crate) struct Sentence {
    ids: Vec<WordId>,
    /// Words that are not in the system's vocabulary.
    local_vocabulary: Vocabulary,
    /// Their ids in the language models, all models of a word together.
    local_lm_words: Vec<LmWord>,
    first_local_id: u32,
    /// Positions of placeholders, ascending, and what is printed for them.
    placeholders: Vec<(u32, Vec<u8>)>,
}

impl Sentence {
    /// Becomes the sentence of `line`. Fails where a word lacks a factor that the
    /// system looks at.
    pub(crate) fn read(&mut self, line: &[u8], system: &System) -> Result<()> {
        self.ids.clear();
        self.local_vocabulary.clear();
        self.local_lm_words.clear();
        self.placeholders.clear();
        self.first_local_id = system.vocabulary.len() as u32;
        if system.factor_scheme.is_some() {
            return self.read_factored(line, system);
        }
        for token in fields::split_words(line) {
            let id = self.intern(surface(token), system);
            self.ids.push(id);
        }
        Ok(())
    }

    fn read_factored(&mut self, line: &[u8], system: &System) -> Result<()> {
        let Some(scheme) = &system.factor_scheme else { return Ok(()) };
        let mut word = Vec::new();
        for (i, token) in fields::split_words(line).enumerate() {
            scheme.parse_input_word(token, &mut word);
            if let Some(factor) = system.settings.input_format.factors.placeholder_factor
                && let Some(entity) = scheme.remove_factor(&mut word, factor)
            {
                self.placeholders.push((i as u32, entity));
            }
            if let Some(missing) = scheme.missing_in_source(&word) {
                let token = String::from_utf8_lossy(token);
                return Err(Error::line(format!("word {}, {token:?}, {missing}", i + 1)));
            }
            let id = self.intern(&word, system);
            self.ids.push(id);
        }
        Ok(())
    }

    /// Prints `entity` for the word at `position`.
    pub(crate) fn set_placeholder(&mut self, position: u32, entity: &[u8]) {
        match self.placeholders.binary_search_by_key(&position, |p| p.0) {
            Ok(at) => self.placeholders[at].1 = entity.to_vec(),
            Err(at) => self.placeholders.insert(at, (position, entity.to_vec())),
        }
    }

    /// The placeholders in `span`: positions within it, and what is printed.
    pub(crate) fn placeholders(&self, span: Span) -> impl Iterator<Item = (u32, &[u8])> {
        let inside =
            self.placeholders.iter().filter(move |p| (span.start..span.end).contains(&p.0));
        inside.map(move |(position, entity)| (position - span.start, &entity[..]))
    }

    /// Whether there are placeholders anywhere.
    pub(crate) fn has_placeholders(&self) -> bool {
        !self.placeholders.is_empty()
    }

    /// The id of `word`, for as long as the sentence lasts.
    pub(crate) fn intern(&mut self, word: &[u8], system: &System) -> WordId {
        match system.vocabulary.find(word) {
            Some(id) => id,
            None => self.intern_local(word, system),
        }
    }

    /// The id of a word that lives only in this sentence.
    fn intern_local(&mut self, word: &[u8], system: &System) -> WordId {
        let id = self.local_vocabulary.intern(word);
        let models = &system.language_models;
        if self.local_lm_words.len() < self.local_vocabulary.len() * models.len() {
            let factors = system.factor_scheme.as_ref();
            self.local_lm_words.extend(models.iter().map(|lm| lm.word_id(word, factors)));
        }
        WordId(self.first_local_id + id.0)
    }

    /// The words' ids.
    pub(crate) fn ids(&self) -> &[WordId] {
        &self.ids
    }

    /// How many words there are.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// A part of the sentence.
    pub(crate) fn source_span(&self, span: Span) -> SourceSpan<'_> {
        SourceSpan { sentence: self, span }
    }

    /// The bytes of a word of the sentence or the system.
    pub(crate) fn word<'a>(&'a self, id: WordId, system: &'a System) -> &'a [u8] {
        match id.0.checked_sub(self.first_local_id) {
            Some(at) => self.local_vocabulary.word(WordId(at)),
            None => system.vocabulary.word(id),
        }
    }

    /// What language model `lm` calls the word.
    pub(crate) fn lm_word(&self, id: WordId, lm: usize, system: &System) -> LmWord {
        match id.0.checked_sub(self.first_local_id) {
            Some(at) => self.local_lm_words[at as usize * system.language_models.len() + lm],
            None => system.language_models[lm].word_ids[id.index()],
        }
    }
}

/// A part of a sentence.
#[derive(Clone, Copy)]
pub(crate) struct SourceSpan<'a> {
    pub(crate) sentence: &'a Sentence,
    span: Span,
}

impl<'a> SourceSpan<'a> {
    /// The ids of the words.
    pub(crate) fn ids(self) -> &'a [WordId] {
        &self.sentence.ids[self.span.start as usize..self.span.end as usize]
    }

    /// The surfaces of the words.
    pub(crate) fn surfaces(self, system: &'a System) -> Vec<&'a [u8]> {
        let surface = |&word: &WordId| system.surface(self.sentence.word(word, system));
        self.ids().iter().map(surface).collect()
    }

    /// Appends what `table` calls the words.
    pub(crate) fn push_table_ids(self, table: &PhraseTable, system: &System, ids: &mut Vec<u32>) {
        let words = self.ids();
        let (Some(scheme), Some(factors)) = (&system.factor_scheme, &table.factors) else {
            ids.extend(words.iter().map(|&word| table.source_id(word)));
            return;
        };
        let mut written = Vec::new();
        ids.extend(words.iter().map(|&word| {
            if !scheme.project(self.sentence.word(word, system), factors, &mut written) {
                return UNKNOWN_ID;
            }
            table.phrases.find_source_word(&written).unwrap_or(UNKNOWN_ID)
        }));
    }

    /// The words as a table writes them whose words are the factors `factors`,
    /// joined by blanks.
    pub(crate) fn write_factored(self, factors: &[usize], system: &System, text: &mut Vec<u8>) {
        text.clear();
        let mut written = Vec::new();
        for position in self.span.start..self.span.end {
            if position > self.span.start {
                text.push(b' ');
            }
            let word = self.sentence.word(self.sentence.ids[position as usize], system);
            match &system.factor_scheme {
                None => text.extend_from_slice(word),
                Some(scheme) => {
                    scheme.project(word, factors, &mut written);
                    text.extend_from_slice(&written);
                }
            }
        }
    }
}

/// Factor 0 of a token: what stands before its first bar. Empty factors vanish;
/// a token of bars alone stays as it is.
pub(crate) fn surface(token: &[u8]) -> &[u8] {
    token.split(|&b| b == b'|').find(|factor| !factor.is_empty()).unwrap_or(token)
}

#[cfg(test)]
mod tests {
    use super::surface;

    #[test]
    fn surface_of_a_token() {
        assert_eq!(surface(b"house"), b"house");
        assert_eq!(surface(b"house|NN"), b"house");
        assert_eq!(surface(b"|house"), b"house");
        assert_eq!(surface(b"||"), b"||");
    }
}
