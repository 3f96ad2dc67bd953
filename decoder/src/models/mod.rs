//! The models of a system, immutable and shared by all threads: phrase tables,
//! reordering tables, language models, and the vocabulary that joins them.
//!
//! The words of all tables (only the target words, if words have factors) share one vocabulary of
//! `u32` ids. When everything is loaded, each table and each language model is joined to it: an
//! array maps the ids. The search never hashes a string. Weights are not part of the models: they
//! belong to the feature functions.

mod factored_vocabulary;
mod language_model;
mod phrase_table;
mod reordering_table;

use std::collections::HashSet;

use miriam_textio::Vocabulary;

use crate::Result;
use crate::factors::{FactorScheme, surface};
pub(crate) use language_model::JoinedLanguageModel;
pub(crate) use phrase_table::{PhraseTable, TableFile};
pub(crate) use reordering_table::ReorderingTable;

/// The id of a word that a model does not know.
pub(crate) const UNKNOWN_ID: u32 = u32::MAX;

/// The models of a system and their vocabulary.
pub(crate) struct Models {
    pub(crate) vocabulary: Vocabulary,
    /// The scheme that splits words into factors; `None` if only surfaces count.
    pub(crate) factor_scheme: Option<FactorScheme>,
    /// The phrase tables that are files, in the order of the ini.
    pub(crate) phrase_tables: Vec<PhraseTable>,
    /// Tables of reordering scores in separate files.
    pub(crate) reordering_tables: Vec<ReorderingTable>,
    /// The language models in the order of the ini.
    pub(crate) language_models: Vec<JoinedLanguageModel>,
}

impl Models {
    /// Creates an empty set of models, over words split by `factor_scheme`.
    pub(crate) fn new(factor_scheme: Option<FactorScheme>) -> Self {
        Models {
            vocabulary: Vocabulary::new(),
            factor_scheme,
            phrase_tables: Vec::new(),
            reordering_tables: Vec::new(),
            language_models: Vec::new(),
        }
    }

    /// Returns factor 0 of a word, or the word itself if it has no factors.
    pub(crate) fn surface<'a>(&'a self, word: &'a [u8]) -> &'a [u8] {
        match &self.factor_scheme {
            None => word,
            Some(scheme) => scheme.factor(word, 0).unwrap_or(word),
        }
    }

    /// Returns factor `number` of a word; `None` if the word lacks it.
    pub(crate) fn word_factor<'a>(&'a self, word: &'a [u8], number: usize) -> Option<&'a [u8]> {
        match (&self.factor_scheme, number) {
            (_, 0) => Some(self.surface(word)),
            (scheme, _) => scheme.as_ref()?.factor(word, number),
        }
    }

    /// Fills the vocabulary with the words of all tables and joins every model to it. Must be
    /// called once, after the last model is loaded.
    pub(crate) fn join_vocabulary(&mut self) -> Result<()> {
        if self.factor_scheme.is_some() {
            return self.join_factored_vocabulary();
        }
        let vocabulary = &mut self.vocabulary;
        let reordering = self.reordering_tables.iter_mut().map(|own| &mut own.table);
        let mut tables: Vec<&mut PhraseTable> =
            self.phrase_tables.iter_mut().chain(reordering).collect();
        // For each table, the ids of its source words in the vocabulary.
        let mut source_words = Vec::with_capacity(tables.len());
        let mut with_bar = HashSet::new();
        for table in &mut tables {
            let (num_target, num_source) =
                (table.phrases.num_target_words(), table.phrases.num_source_words());
            if vocabulary.is_empty() {
                // Other tables have mostly the same words.
                vocabulary.reserve(num_target as usize + num_source as usize);
            }
            table.target_words.clear();
            for id in 0..num_target {
                let written = table.phrases.target_word(id)?;
                let word = surface(written);
                if word.len() < written.len() {
                    with_bar.insert(written.to_vec());
                }
                table.target_words.push(vocabulary.intern(word));
            }
            let mut words = Vec::with_capacity(num_source as usize);
            for id in 0..num_source {
                let word = table.phrases.source_word(id)?;
                if surface(word).len() < word.len() {
                    with_bar.insert(word.to_vec());
                }
                words.push(vocabulary.intern(word));
            }
            source_words.push(words);
        }
        if !with_bar.is_empty() {
            let words = if with_bar.len() == 1 { "word" } else { "words" };
            tracing::warn!(
                "the tables have {} {words} with a bar, which separates factors: target words are \
                 cut at it, source words are never found; -factor-delimiter none makes it a part \
                 of words",
                with_bar.len()
            );
        }
        for (table, words) in tables.into_iter().zip(source_words) {
            let mut ids = vec![UNKNOWN_ID; vocabulary.len()];
            for (id, word) in (0..).zip(words) {
                ids[word.index()] = id;
            }
            table.source_ids = ids;
        }
        for lm in &mut self.language_models {
            lm.join(vocabulary);
        }
        Ok(())
    }
}
