//! One input line as words (`phrase-decoding.md` 3.1).
//!
//! Every word gets an id. Words the models know have ids of the system's
//! vocabulary; the others get ids above it, which last as long as the sentence.

use miriam_lmcpu::LmWord;
use miriam_textio::{Vocabulary, WordId, fields};

use crate::features::Span;
use crate::system::{NOT_THERE, System, Table};
use crate::{Error, Result};

/// The words of a line, in buffers that are reused.
#[derive(Default)]
pub(crate) struct Sentence {
    ids: Vec<WordId>,
    /// Words that are not in the system's vocabulary.
    local: Vocabulary,
    /// Their ids in the language models, all models of a word together.
    local_lm: Vec<LmWord>,
    first_local: u32,
    /// Positions of placeholders, ascending, and what is printed for them.
    placeholders: Vec<(u32, Vec<u8>)>,
}

impl Sentence {
    /// Becomes the sentence of `line`. Fails where a word lacks a factor that the
    /// system looks at.
    pub(crate) fn read(&mut self, line: &[u8], system: &System) -> Result<()> {
        self.ids.clear();
        self.local.clear();
        self.local_lm.clear();
        self.placeholders.clear();
        self.first_local = system.vocabulary.len() as u32;
        if system.factors.is_some() {
            return self.read_factored(line, system);
        }
        for token in fields::words(line) {
            let id = self.intern(surface(token), system);
            self.ids.push(id);
        }
        Ok(())
    }

    fn read_factored(&mut self, line: &[u8], system: &System) -> Result<()> {
        let Some(scheme) = &system.factors else { return Ok(()) };
        let mut word = Vec::new();
        for (i, token) in fields::words(line).enumerate() {
            scheme.read(token, &mut word);
            if let Some(factor) = system.settings.text.factors.placeholder
                && let Some(entity) = scheme.take(&mut word, factor)
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
    pub(crate) fn replace(&mut self, position: u32, entity: &[u8]) {
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
            None => self.local_word(word, system),
        }
    }

    /// The id of a word that lives only in this sentence.
    fn local_word(&mut self, word: &[u8], system: &System) -> WordId {
        let id = self.local.intern(word);
        let models = &system.language_models;
        if self.local_lm.len() < self.local.len() * models.len() {
            let factors = system.factors.as_ref();
            self.local_lm.extend(models.iter().map(|lm| lm.word_id(word, factors)));
        }
        WordId(self.first_local + id.0)
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
    pub(crate) fn stretch(&self, span: Span) -> Stretch<'_> {
        Stretch { sentence: self, span }
    }

    /// The bytes of a word of the sentence or the system.
    pub(crate) fn word<'a>(&'a self, id: WordId, system: &'a System) -> &'a [u8] {
        match id.0.checked_sub(self.first_local) {
            Some(at) => self.local.word(WordId(at)),
            None => system.vocabulary.word(id),
        }
    }

    /// What language model `lm` calls the word.
    pub(crate) fn lm_word(&self, id: WordId, lm: usize, system: &System) -> LmWord {
        match id.0.checked_sub(self.first_local) {
            Some(at) => self.local_lm[at as usize * system.language_models.len() + lm],
            None => system.language_models[lm].words[id.index()],
        }
    }
}

/// A part of a sentence.
#[derive(Clone, Copy)]
pub(crate) struct Stretch<'a> {
    pub(crate) sentence: &'a Sentence,
    span: Span,
}

impl<'a> Stretch<'a> {
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
    pub(crate) fn table_ids(self, table: &Table, system: &System, ids: &mut Vec<u32>) {
        let words = self.ids();
        let (Some(scheme), Some(factors)) = (&system.factors, &table.factors) else {
            ids.extend(words.iter().map(|&word| table.source_id(word)));
            return;
        };
        let mut written = Vec::new();
        ids.extend(words.iter().map(|&word| {
            if !scheme.project(self.sentence.word(word, system), factors, &mut written) {
                return NOT_THERE;
            }
            table.phrases.find_source_word(&written).unwrap_or(NOT_THERE)
        }));
    }

    /// The words as a table writes them whose words are the factors `factors`,
    /// joined by blanks.
    pub(crate) fn written(self, factors: &[usize], system: &System, text: &mut Vec<u8>) {
        text.clear();
        let mut written = Vec::new();
        for position in self.span.start..self.span.end {
            if position > self.span.start {
                text.push(b' ');
            }
            let word = self.sentence.word(self.sentence.ids[position as usize], system);
            match &system.factors {
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
    fn surfaces() {
        assert_eq!(surface(b"house"), b"house");
        assert_eq!(surface(b"house|NN"), b"house");
        assert_eq!(surface(b"|house"), b"house");
        assert_eq!(surface(b"||"), b"||");
    }
}
