//! One input line as words (`docs/spec/phrase-decoding.md` 3.1).
//!
//! Every word gets an id. Words in the vocabulary of the models have their ids there. Other words
//! get higher ids, which are valid for this sentence only.

use miriam_lmcpu::LmWord;
use miriam_textio::{Vocabulary, WordId, fields};

use crate::factors::surface;
use crate::models::{Models, PhraseTable, UNKNOWN_ID};
use crate::span::Span;
use crate::{Error, Result};

/// The longest line that is translated as one sentence, in words.
pub const MAX_SENTENCE_WORDS: usize = 2000;

/// The words of a line, in buffers that are reused.
#[derive(Default)]
pub(crate) struct Sentence {
    ids: Vec<WordId>,
    /// Words that are not in the models' vocabulary.
    local_vocabulary: Vocabulary,
    /// The ids of these words in the language models, `[words, language models]`.
    local_lm_words: Vec<LmWord>,
    /// The id of the first word that is not in the models' vocabulary.
    first_local_id: u32,
    /// The number of words that were cut at a `|`, because models without factors use the surface
    /// form alone, or that have more factors than the input.
    num_cut_words: u64,
    /// The positions of placeholders, ascending, with the texts that are printed for them.
    placeholders: Vec<(u32, Vec<u8>)>,
}

impl Sentence {
    /// Reads the words of `line`.
    ///
    /// # Errors
    ///
    /// If a word lacks a factor that a model uses, or has a factor that could be a placeholder's
    /// but is not listed.
    pub(crate) fn read(&mut self, line: &[u8], models: &Models) -> Result<()> {
        self.ids.clear();
        self.local_vocabulary.clear();
        self.local_lm_words.clear();
        self.placeholders.clear();
        self.num_cut_words = 0;
        self.first_local_id = models.vocabulary.len() as u32;
        if models.factor_scheme.is_some() {
            return self.read_factored(line, models);
        }
        for token in fields::split_words(line) {
            let word = surface(token);
            self.num_cut_words += u64::from(word.len() < token.len());
            let id = self.intern(word, models);
            self.ids.push(id);
        }
        Ok(())
    }

    fn read_factored(&mut self, line: &[u8], models: &Models) -> Result<()> {
        let Some(scheme) = &models.factor_scheme else { return Ok(()) };
        let mut word = Vec::new();
        for (i, token) in fields::split_words(line).enumerate() {
            let is_cut = scheme.parse_input_word(token, &mut word);
            if is_cut && let Some((factor, listed)) = scheme.unlisted_placeholder_factor() {
                let token = String::from_utf8_lossy(token);
                let listed = listed.iter().map(|factor| format!("{factor} "));
                return Err(Error::line(format!(
                    "word {}, {token:?}, has more factors than input-factors lists, and the factor \
                     of placeholders ({factor}) is not listed; give -input-factors {}{factor}, or \
                     write placeholders as <ne entity=\"...\">",
                    i + 1,
                    listed.collect::<String>()
                )));
            }
            self.num_cut_words += u64::from(is_cut);
            if let Some(factor) = scheme.placeholder_factor()
                && let Some(entity) = scheme.remove_factor(&mut word, factor)
            {
                self.placeholders.push((i as u32, entity));
            }
            if let Some(missing) = scheme.missing_in_source(&word) {
                let token = String::from_utf8_lossy(token);
                return Err(Error::line(format!("word {}, {token:?}, {missing}", i + 1)));
            }
            let id = self.intern(&word, models);
            self.ids.push(id);
        }
        Ok(())
    }

    /// Makes the word at `position` a placeholder, for which `entity` is printed.
    pub(crate) fn set_placeholder(&mut self, position: u32, entity: &[u8]) {
        match self.placeholders.binary_search_by_key(&position, |p| p.0) {
            Ok(at) => self.placeholders[at].1 = entity.to_vec(),
            Err(at) => self.placeholders.insert(at, (position, entity.to_vec())),
        }
    }

    /// Returns the placeholders in `span`: positions relative to its start, and the texts that are
    /// printed for them.
    pub(crate) fn placeholders(&self, span: Span) -> impl Iterator<Item = (u32, &[u8])> {
        let inside =
            self.placeholders.iter().filter(move |p| (span.start..span.end).contains(&p.0));
        inside.map(move |(position, entity)| (position - span.start, &entity[..]))
    }

    /// Whether the sentence has placeholders.
    pub(crate) fn has_placeholders(&self) -> bool {
        !self.placeholders.is_empty()
    }

    /// Returns the id of `word`, valid for this sentence.
    pub(crate) fn intern(&mut self, word: &[u8], models: &Models) -> WordId {
        match models.vocabulary.find(word) {
            Some(id) => id,
            None => self.intern_local(word, models),
        }
    }

    /// Returns the id of a word that is not in the models' vocabulary.
    fn intern_local(&mut self, word: &[u8], models: &Models) -> WordId {
        let id = self.local_vocabulary.intern(word);
        let language_models = &models.language_models;
        if self.local_lm_words.len() < self.local_vocabulary.len() * language_models.len() {
            let factors = models.factor_scheme.as_ref();
            self.local_lm_words.extend(language_models.iter().map(|lm| lm.word_id(word, factors)));
        }
        WordId(self.first_local_id + id.0)
    }

    /// Returns the words' ids.
    pub(crate) fn ids(&self) -> &[WordId] {
        &self.ids
    }

    /// Returns the number of words.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns the number of words that were cut at a `|`, or that have more factors than the
    /// input.
    pub(crate) fn num_cut_words(&self) -> u64 {
        self.num_cut_words
    }

    /// Returns the words of `span`.
    pub(crate) fn source_span(&self, span: Span) -> SourceSpan<'_> {
        SourceSpan { sentence: self, span }
    }

    /// Returns the bytes of a word of this sentence or of the models' vocabulary.
    pub(crate) fn word<'a>(&'a self, id: WordId, models: &'a Models) -> &'a [u8] {
        match id.0.checked_sub(self.first_local_id) {
            Some(at) => self.local_vocabulary.word(WordId(at)),
            None => models.vocabulary.word(id),
        }
    }

    /// Returns the id of the word `id` in language model `lm`.
    pub(crate) fn lm_word(&self, id: WordId, lm: usize, models: &Models) -> LmWord {
        match id.0.checked_sub(self.first_local_id) {
            Some(at) => self.local_lm_words[at as usize * models.language_models.len() + lm],
            None => models.language_models[lm].word_ids[id.index()],
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
    /// Returns the ids of the words.
    pub(crate) fn ids(self) -> &'a [WordId] {
        &self.sentence.ids[self.span.start as usize..self.span.end as usize]
    }

    /// Returns the surface forms of the words.
    pub(crate) fn surfaces(self, models: &'a Models) -> Vec<&'a [u8]> {
        self.ids().iter().map(|&word| models.surface(self.sentence.word(word, models))).collect()
    }

    /// Returns factor `number` of the words; a word without it is empty.
    pub(crate) fn factors(self, models: &'a Models, number: usize) -> Vec<&'a [u8]> {
        let words = self.ids().iter().map(|&id| self.sentence.word(id, models));
        words.map(|word| models.word_factor(word, number).unwrap_or_default()).collect()
    }

    /// Appends the words' ids in `table` to `ids`.
    pub(crate) fn push_table_ids(self, table: &PhraseTable, models: &Models, ids: &mut Vec<u32>) {
        let words = self.ids();
        let Some(scheme) = &models.factor_scheme else {
            ids.extend(words.iter().map(|&word| table.source_id(word)));
            return;
        };
        let mut written = Vec::new();
        ids.extend(words.iter().map(|&word| {
            if !scheme.project(
                self.sentence.word(word, models),
                &table.file.input_factors,
                &mut written,
            ) {
                return UNKNOWN_ID;
            }
            table.phrases.find_source_word(&written).unwrap_or(UNKNOWN_ID)
        }));
    }

    /// Sets `text` to the words with the factors `factors`, separated by spaces, as a table with
    /// these factors has them.
    pub(crate) fn write_factored(self, factors: &[usize], models: &Models, text: &mut Vec<u8>) {
        text.clear();
        let mut written = Vec::new();
        for position in self.span.start..self.span.end {
            if position > self.span.start {
                text.push(b' ');
            }
            let word = self.sentence.word(self.sentence.ids[position as usize], models);
            match &models.factor_scheme {
                None => text.extend_from_slice(word),
                Some(scheme) => {
                    scheme.project(word, factors, &mut written);
                    text.extend_from_slice(&written);
                }
            }
        }
    }
}
