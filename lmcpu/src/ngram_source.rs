//! A model of any file format as lists of n-grams: what builders and `dump` read.

use miriam_textio::Vocabulary;

use crate::Result;
use crate::arpa::{ArpaReader, Section, Unigram};

/// A part of the n-grams of an order.
pub struct NgramPart {
    /// The n-grams.
    pub ngrams: Section,
    /// The number of n-grams of the order in all its parts.
    pub total: usize,
}

/// All n-grams of a model, order by order. One thread may read an order while another
/// works on the one before.
pub trait NgramSource: Send {
    /// Returns the name of the model for messages.
    fn name(&self) -> &str;

    /// Returns the number of n-grams of each order, from order 1. `<unk>` counts only if
    /// [`NgramSource::has_unknown`] is true.
    fn counts(&self) -> &[u64];

    /// Returns the order of the model.
    fn order(&self) -> usize {
        self.counts().len()
    }

    /// Returns the words: `<unk>` is 0, the others follow in the order of the model.
    fn vocabulary(&self) -> &Vocabulary;

    /// Returns the log10 probability and backoff of each word, by id. A backoff of -0.0 says that
    /// there is none, as in [`Section::backoffs`].
    fn unigrams(&self) -> &[Unigram];

    /// Whether the model itself lists `<unk>`.
    fn has_unknown(&self) -> bool;

    /// Returns the n-grams of the next order, from 2; `None` after the longest.
    ///
    /// A backoff of 0 may be -0.0 or 0.0: builders find out themselves which n-grams
    /// are extended.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is damaged.
    fn next_section(&mut self) -> Result<Option<Section>>;

    /// Returns some more n-grams, in the order of [`NgramSource::next_section`], for readers that
    /// need each n-gram once. They are a part of one order, and every order has at least one part;
    /// `None` after the longest order.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is damaged.
    fn next_part(&mut self) -> Result<Option<NgramPart>> {
        Ok(self.next_section()?.map(|ngrams| NgramPart { total: ngrams.len(), ngrams }))
    }

    /// Returns the error that the n-gram `index` of `section` is invalid for `reason`. The error
    /// names the line, or it names the words and says that the file is damaged.
    fn ngram_error(&self, section: &Section, index: usize, reason: String) -> crate::Error;
}

impl NgramSource for ArpaReader<'_> {
    fn name(&self) -> &str {
        self.name()
    }

    fn counts(&self) -> &[u64] {
        self.counts()
    }

    fn vocabulary(&self) -> &Vocabulary {
        self.vocabulary()
    }

    fn unigrams(&self) -> &[Unigram] {
        self.unigrams()
    }

    fn has_unknown(&self) -> bool {
        self.has_unknown()
    }

    fn next_section(&mut self) -> Result<Option<Section>> {
        self.next_section()
    }

    fn next_part(&mut self) -> Result<Option<NgramPart>> {
        let part = self.next_part()?;
        Ok(part.map(|ngrams| NgramPart { total: self.counts()[ngrams.order - 1] as usize, ngrams }))
    }

    fn ngram_error(&self, section: &Section, index: usize, reason: String) -> crate::Error {
        self.error(section.line(index), reason)
    }
}
