//! Lexical weights of the phrases of one sentence pair (Koehn et al. 2003). A weight is the product
//! of a factor for each word of one side. The factor is the mean of the word's translation
//! probabilities from the words that it is linked to.
//!
//! No link of a word leaves a phrase pair, so the factor of a word is the same in all phrase pairs
//! of its sentence pair. It is computed once for the sentence pair, not for every phrase pair.

use std::ops::Range;

use crate::corpus::Corpus;
use crate::lexical_table::LexicalTable;
use crate::sentence_pair::SentencePair;

/// The factors of the words of a sentence pair; buffers are reused from one pair to the next.
#[derive(Default)]
pub(crate) struct SentenceWeights {
    /// The factors of source words in lex(f|e).
    source: Vec<f64>,
    /// The factors of target words in lex(e|f).
    target: Vec<f64>,
    /// The number of links of each source word.
    source_links: Vec<u32>,
}

impl SentenceWeights {
    /// Computes the factors of the words. Unaligned words are linked to `NULL`; a repeated link
    /// counts once.
    pub fn set(&mut self, sentence: &SentencePair, lexicon: &LexicalTable, corpus: &Corpus) {
        let [source_null, target_null] =
            [0, 1].map(|side: usize| corpus.vocabularies[side].null_rank);
        self.source.clear();
        self.source.resize(sentence.source.len(), 0.0);
        self.source_links.clear();
        self.source_links.resize(sentence.source.len(), 0);
        self.target.clear();
        for (position, &word) in sentence.target.iter().enumerate() {
            let (mut sum, mut count, mut last) = (0.0, 0u32, None);
            for link in sentence.links_in(position, position + 1) {
                if last.replace(link.source) == Some(link.source) {
                    continue;
                }
                let source = link.source as usize;
                let [inverse, direct] = lexicon.probabilities(sentence.source[source], word);
                sum += direct;
                count += 1;
                // Target words come in order, so the links of a source word are summed in that
                // order too.
                self.source[source] += inverse;
                self.source_links[source] += 1;
            }
            self.target.push(match count {
                0 => lexicon.probabilities(source_null, word)[1],
                _ => sum / f64::from(count),
            });
        }
        for ((factor, &count), &word) in
            self.source.iter_mut().zip(&self.source_links).zip(&sentence.source)
        {
            *factor = match count {
                0 => lexicon.probabilities(word, target_null)[0],
                _ => *factor / f64::from(count),
            };
        }
    }

    /// Returns lex(f|e) of a source phrase in a phrase pair.
    #[inline]
    pub fn inverse(&self, source: Range<usize>) -> f32 {
        product(&self.source[source])
    }

    /// Returns lex(e|f) of a target phrase in a phrase pair.
    #[inline]
    pub fn direct(&self, target: Range<usize>) -> f32 {
        product(&self.target[target])
    }
}

#[inline]
fn product(factors: &[f64]) -> f32 {
    factors.iter().fold(1.0, |product, factor| product * factor) as f32
}
