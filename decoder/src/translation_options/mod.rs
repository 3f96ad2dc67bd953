//! Translation options: the target phrases of a source span in the layout that the search reads.
//!
//! Options are stored in columns. The data that an expansion reads from an option is also
//! collected in one cache line ([`HotOption`]). The options of a source phrase are the same in all
//! sentences until weights change. So lists are cached for the whole process ([`OptionCache`]) and
//! concatenated for each sentence ([`SentenceOptions`]). [`crate::option_building`] builds them.

mod input_phrase;
mod option_cache;
mod sentence_options;

pub(crate) use input_phrase::{InputPhrase, InputPhraseDetails, OptionSource};
pub(crate) use option_cache::{OptionCache, PhraseKey, PhraseValueCache, ValueRows};
pub(crate) use sentence_options::{
    HotOption, HotPhrase, MAX_HOT_COLUMNS, OptionId, OptionLayout, OptionRange, SentenceOptions,
};

use miriam_textio::WordId;

use crate::lm_scoring::LmPhrase;

/// The scores of an option, and the range of its words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionScores {
    /// The weighted sum of all scores that do not depend on neighbouring phrases.
    pub(crate) total: f32,
    /// `total` plus the estimates of language models and operation sequence models.
    pub(crate) future_score: f32,
    /// The index of the option's first word in the list's words.
    pub(crate) first_word: u32,
    /// The number of the option's words.
    pub(crate) num_words: u32,
}

/// The options of one source phrase, best first.
#[derive(Clone, Debug, Default)]
pub(crate) struct OptionList {
    pub(crate) scores: Vec<OptionScores>,
    pub(crate) words: Vec<WordId>,
    /// Weighted reordering scores, one row per option.
    pub(crate) reordering: Vec<f32>,
    /// The language-model part of each option, `[options, language models]`.
    pub(crate) lm_phrases: Vec<LmPhrase>,
    /// The data to which `lm_phrases` refer.
    pub(crate) lm_pool: Vec<u32>,
    /// The alignment of each option in its table; `u32::MAX` for none.
    pub(crate) alignments: Vec<u32>,
    /// The index of each option among the targets of its record; `u32::MAX` for none.
    pub(crate) target_indices: Vec<u32>,
}

impl OptionList {
    /// Removes all options.
    pub(crate) fn clear(&mut self) {
        let OptionList {
            scores,
            words,
            reordering,
            lm_phrases,
            lm_pool,
            alignments,
            target_indices,
        } = self;
        scores.clear();
        words.clear();
        reordering.clear();
        lm_phrases.clear();
        lm_pool.clear();
        alignments.clear();
        target_indices.clear();
    }

    /// Returns the words of option `i`.
    pub(crate) fn words_of(&self, i: usize) -> &[WordId] {
        let OptionScores { first_word: first, num_words: len, .. } = self.scores[i];
        &self.words[first as usize..(first + len) as usize]
    }

    /// Returns the options whose words satisfy `keep`, and their positions in this list.
    pub(crate) fn filter(&self, keep: impl Fn(&[WordId]) -> bool) -> (OptionList, Vec<u32>) {
        let width = |column: usize| column / self.scores.len().max(1);
        let (reordering, models) = (width(self.reordering.len()), width(self.lm_phrases.len()));
        // Words and pool are copied completely: the options kept refer to them.
        let mut kept = OptionList {
            words: self.words.clone(),
            lm_pool: self.lm_pool.clone(),
            ..OptionList::default()
        };
        let mut positions = Vec::new();
        for (i, scores) in self.scores.iter().enumerate() {
            if keep(self.words_of(i)) {
                positions.push(i as u32);
                kept.scores.push(*scores);
                kept.alignments.push(self.alignments[i]);
                kept.target_indices.push(self.target_indices[i]);
                let row = i * reordering..(i + 1) * reordering;
                kept.reordering.extend_from_slice(&self.reordering[row]);
                kept.lm_phrases.extend_from_slice(&self.lm_phrases[i * models..(i + 1) * models]);
            }
        }
        (kept, positions)
    }
}

impl option_cache::MemoryUsage for OptionList {
    fn memory_usage(&self) -> usize {
        size_of::<Self>()
            + self.scores.capacity() * size_of::<OptionScores>()
            + (self.words.capacity() + self.reordering.capacity() + self.lm_pool.capacity()) * 4
            + self.lm_phrases.capacity() * size_of::<LmPhrase>()
            + (self.alignments.capacity() + self.target_indices.capacity()) * 4
    }
}
