//! One input line as words (`phrase-decoding.md` 3.1).
//!
//! Every word gets an id. Words the models know have ids of the system's
//! vocabulary; the others get ids above it, which last as long as the sentence.

use miriam_lmcpu::LmWord;
use miriam_text::{Vocabulary, WordId, fields};

use crate::system::System;

/// The words of a line, in buffers that are reused.
#[derive(Default)]
pub(crate) struct Sentence {
    ids: Vec<WordId>,
    /// Words that are not in the system's vocabulary.
    local: Vocabulary,
    /// Their ids in the language models, all models of a word together.
    local_lm: Vec<LmWord>,
    first_local: u32,
}

impl Sentence {
    /// Becomes the sentence of `line`.
    pub(crate) fn read(&mut self, line: &[u8], system: &System) {
        self.ids.clear();
        self.local.clear();
        self.local_lm.clear();
        self.first_local = system.vocabulary.len() as u32;
        for token in fields::words(line) {
            let word = surface(token);
            let id = match system.vocabulary.find(word) {
                Some(id) => id,
                None => self.local_word(word, system),
            };
            self.ids.push(id);
        }
    }

    /// The id of a word that lives only in this sentence.
    pub(crate) fn local_word(&mut self, word: &[u8], system: &System) -> WordId {
        let id = self.local.intern(word);
        let models = &system.language_models;
        if self.local_lm.len() < self.local.len() * models.len() {
            self.local_lm.extend(models.iter().map(|lm| lm.model.word_id(word)));
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

/// Factor 0 of a token: what stands before its first bar. Empty factors vanish;
/// a token of bars alone stays as it is.
fn surface(token: &[u8]) -> &[u8] {
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
