//! One input line as words (`phrase-decoding.md` 3.1).
//!
//! Every word gets an id. Words the models know have ids of the system's
//! vocabulary; the others get ids above it, which last as long as the sentence.

use miriam_lmcpu::LmWord;
use miriam_text::{WordId, fields};

use crate::system::System;

/// The words of a line, in buffers that are reused.
#[derive(Default)]
pub(crate) struct Sentence {
    ids: Vec<WordId>,
    /// Words that are not in the vocabulary, end to end.
    local_bytes: Vec<u8>,
    local_ends: Vec<usize>,
    /// Their ids in the language models, all models of a word together.
    local_lm: Vec<LmWord>,
    first_local: u32,
}

impl Sentence {
    /// Becomes the sentence of `line`.
    pub(crate) fn read(&mut self, line: &[u8], system: &System) {
        self.ids.clear();
        self.local_bytes.clear();
        self.local_ends.clear();
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
        let known = (0..self.local_ends.len()).find(|&i| self.local(i) == word);
        let at = known.unwrap_or_else(|| {
            self.local_bytes.extend_from_slice(word);
            self.local_ends.push(self.local_bytes.len());
            self.local_lm.extend(system.language_models.iter().map(|lm| lm.model.word_id(word)));
            self.local_ends.len() - 1
        });
        WordId(self.first_local + at as u32)
    }

    fn local(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.local_ends[at - 1] };
        &self.local_bytes[start..self.local_ends[at]]
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
            Some(at) => self.local(at as usize),
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
