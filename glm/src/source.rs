//! The n-grams of a `glm` file as lists, sorted by their word ids, newest word first,
//! without the blanks.

use std::path::Path;

use miriam_lmcpu::arpa::{Section, Unigram};
use miriam_lmcpu::{NgramSource, Result};
use miriam_storage::{Container, LoadMethod};
use miriam_textio::{Vocabulary, display_name};

use crate::model::GlmModel;
use crate::ngram_table::NgramTable;

/// Lists the n-grams of a `glm` file, order by order.
pub struct GlmSource {
    name: String,
    container: Container,
    model: GlmModel,
    vocabulary: Vocabulary,
    unigrams: Vec<Unigram>,
    /// The n-grams of the previous order.
    suffixes: NgramTable,
    /// Their words, newest first, end to end.
    words: Vec<u32>,
    next_order: usize,
}

impl GlmSource {
    /// Opens the file at `path`. Each order is fully checked before it is listed.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no sound model.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_container(Container::open_any(path, LoadMethod::Lazy)?, display_name(path))
    }

    pub(crate) fn from_container(container: Container, name: String) -> Result<Self> {
        let model = GlmModel::from_container(&container)?;
        let mut vocabulary = Vocabulary::new();
        for word in model.head.words.iter() {
            vocabulary.intern(word);
        }
        if vocabulary.len() != model.unigrams.len() {
            return Err(container.damaged("words.bytes", "words are missing or equal").into());
        }
        let unigram_table = NgramTable::from_unigrams(&model, &container)?;
        let unigram = |(&log10, &backoff): (&f32, &f32)| Unigram { log10, backoff };
        let unigrams =
            unigram_table.log10.iter().zip(&unigram_table.backoffs).map(unigram).collect();
        let words = unigram_table.words.clone();
        Ok(GlmSource {
            name,
            container,
            model,
            vocabulary,
            unigrams,
            suffixes: unigram_table,
            words,
            next_order: 2,
        })
    }
}

impl NgramSource for GlmSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn counts(&self) -> &[u64] {
        &self.model.metadata.counts
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn unigrams(&self) -> &[Unigram] {
        &self.unigrams
    }

    fn has_unknown(&self) -> bool {
        self.model.metadata.head.has_unknown
    }

    fn next_section(&mut self) -> Result<Option<Section>> {
        let order = self.next_order;
        if order > self.model.head.order() {
            return Ok(None);
        }
        self.next_order += 1;
        let table = self.suffixes.next_order(&self.model, &self.container, order)?;
        let blanks = self.model.blanks.of_order(order);
        let is_last = order == self.model.head.order();
        let mut section = Section::default();
        section.order = order;
        let mut words = Vec::with_capacity(table.len() * order);
        for at in 0..table.len() {
            let suffix = table.parents[at] as usize * (order - 1);
            words.extend_from_slice(&self.words[suffix..suffix + order - 1]);
            words.push(table.words[at]);
            if !table.is_blank(at, blanks) {
                section.words.extend(words[at * order..].iter().rev());
                section.log10.push(table.log10[at]);
                if !is_last {
                    section.backoffs.push(table.backoffs[at]);
                }
            }
        }
        (self.suffixes, self.words) = (table, words);
        Ok(Some(section))
    }

    fn ngram_error(&self, section: &Section, index: usize, reason: String) -> miriam_lmcpu::Error {
        let name = format!("order-{}", section.order);
        self.container.damaged(&name, format!("n-gram {index}: {reason}")).into()
    }
}
