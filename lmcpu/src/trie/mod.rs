//! The trie model: n-grams as paths of words, newest first, children side by
//! side.
//!
//! The idea is KenLM's reverse trie (`ngram-lm.md` 2.10): a walk from the newest
//! word to the left follows the words of the context, and the children of a node
//! are a range of the next order's records, sorted by word. What differs:
//! records are whole bytes ([`level`]), so that a field is one load; backoffs,
//! which repeat, are indices into a book of values; large nodes are searched
//! through an index of their keys ([`miriam_layout::sampled`]), so that a lookup
//! waits for memory once or twice whatever the size of the node; and the ids
//! of frequent words are small, so that what is asked for often lies together.
//! `docs/formats.md` gives every byte.
//!
//! Nothing is lost, unless probs and backoffs are quantised, which gives KenLM's
//! quantised values to the bit.

mod build;
mod level;
mod quantise;
mod score;
mod source;
mod verify;

use std::path::Path;

use miriam_layout::dictionary::Dictionary;
use miriam_layout::sampled::MAX_KEYS;
use miriam_layout::zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};
use miriam_layout::{Container, Kind, Load, View};
use serde::{Deserialize, Serialize};

pub use build::{ModelSize, build_trie};
pub use quantise::Bits;
pub use source::TrieSource;
pub use verify::verify;

use crate::{LmWord, MAX_ORDER, Result, State};
use level::{Level, RAW_BACKOFF, RAW_PROB, Widths};

/// The kind of the file.
pub const KIND: Kind = Kind::new("ngram-trie");
/// The version of its layout.
pub const VERSION: u32 = 1;

const SIGN: u32 = 1 << 31;

/// The metadata block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Metadata {
    /// The length of the longest n-grams, 1 to 16.
    order: u32,
    /// n-grams of each order as the source counts them.
    counts: Vec<u64>,
    /// Orders from 2.
    levels: Vec<LevelMetadata>,
    /// The id of `<s>`.
    begin: u32,
    /// The id of `</s>`.
    end: u32,
    /// Whether the source had `<unk>`.
    has_unknown: bool,
    /// See `LanguageModel::minimisation_is_closed`.
    minimisation_is_closed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct LevelMetadata {
    /// Records; blanks that stand for missing suffixes are counted.
    entries: u64,
    /// How many of them are blanks.
    blanks: u64,
    widths: Widths,
    /// Values in the book of probs; 0: there is none.
    prob_book: u32,
    /// Values in the book of backoffs; 0: there is none.
    backoff_book: u32,
}

/// A word alone.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[zerocopy(crate = "miriam_layout::zerocopy")]
#[repr(C, align(16))]
struct Unigram {
    log10: f32,
    backoff: f32,
    /// Where its children begin; they end where those of the next word begin.
    children: u32,
    zero: u32,
}

/// A model in a trie file.
pub struct TrieModel {
    metadata: Metadata,
    words: Dictionary,
    /// By word id, and one more for where the last children end.
    unigrams: View<Unigram>,
    /// Orders from 2.
    levels: Vec<Level>,
    /// Ordinals of the blanks of each order, end to end.
    blanks: View<u32>,
    begin: State,
}

impl TrieModel {
    /// Opens the file at `path`.
    pub fn open(path: &Path, load: Load) -> Result<Self> {
        Self::from_container(&Container::open_any(path, load)?)
    }

    /// Opens a container, which must be of this kind and version. Everything
    /// that scoring relies on is checked here, in time that does not grow with
    /// the n-grams; [`verify`] checks the rest.
    pub fn from_container(container: &Container) -> Result<Self> {
        let container = container.clone().expect(KIND, VERSION)?;
        let metadata: Metadata = container.metadata()?;
        let damaged = |reason: &str| container.damaged("metadata", reason);
        let order = metadata.order as usize;
        if !(1..=MAX_ORDER).contains(&order) {
            return Err(damaged(&format!("order {order} is not between 1 and {MAX_ORDER}")).into());
        }
        if metadata.counts.len() != order || metadata.levels.len() != order - 1 {
            return Err(damaged("the counts do not fit the order").into());
        }
        let words = Dictionary::open(&container, "words")?;
        let unigrams = container.section::<Unigram>("order-1")?;
        if unigrams.len() != words.len() + 1 || words.is_empty() || words.len() > MAX_KEYS {
            let reason = "there is not one unigram for each word";
            return Err(container.damaged("order-1", reason).into());
        }
        let known = |id: u32| id > 0 && (id as usize) < words.len();
        if !known(metadata.begin) || !known(metadata.end) {
            return Err(damaged("<s> or </s> is no word of the model").into());
        }
        let levels = open_levels(&container, &metadata)?;
        let blanks = container.section::<u32>("blanks")?;
        let mut marked = 0u64;
        for level in &metadata.levels {
            marked = marked.saturating_add(level.blanks);
            if level.blanks > level.entries {
                return Err(damaged("an order has more blanks than n-grams").into());
            }
        }
        if marked != blanks.len() as u64 {
            return Err(container.damaged("blanks", "there are not as many as promised").into());
        }
        let mut begin = State::EMPTY;
        let backoff = unigrams[metadata.begin as usize].backoff;
        begin.entries_mut()[0] = (LmWord(metadata.begin), backoff);
        begin.set_len(1);
        Ok(TrieModel { metadata, words, unigrams, levels, blanks, begin })
    }

    /// The ordinals of the blanks among the n-grams of `order`.
    fn blanks_of(&self, order: usize) -> &[u32] {
        let before: u64 = self.metadata.levels[..order - 2].iter().map(|level| level.blanks).sum();
        let blanks = self.metadata.levels[order - 2].blanks;
        &self.blanks[before as usize..(before + blanks) as usize]
    }
}

fn open_levels(container: &Container, metadata: &Metadata) -> Result<Vec<Level>> {
    let damaged = |reason: &str| container.damaged("metadata", reason);
    let lens: Vec<u32> = metadata
        .levels
        .iter()
        .map(|level| u32::try_from(level.entries).ok().filter(|&n| n as usize <= MAX_KEYS))
        .collect::<Option<_>>()
        .ok_or_else(|| damaged("more n-grams of one order than can be"))?;
    let books = container.section::<f32>("books")?;
    let mut rest = &books[..];
    let mut take = |values: u32, raw: bool, width: u32| {
        // Every index that fits the field may stand there, so a book as large
        // as that, or one that holds what the writer needed.
        let sound = if raw { values == 0 } else { values > 0 && width <= 25 };
        let book = sound.then(|| rest.split_at_checked(values as usize)).flatten();
        let (book, behind) = book.ok_or_else(|| {
            crate::Error::from(container.damaged("books", "it does not hold what records name"))
        })?;
        rest = behind;
        Ok::<_, crate::Error>(book)
    };
    let mut levels = Vec::new();
    for (i, (&len, level)) in lens.iter().zip(&metadata.levels).enumerate() {
        let (order, widths) = (i + 2, level.widths);
        let prob_book = take(level.prob_book, widths.prob == RAW_PROB, widths.prob)?;
        let no_book = matches!(widths.backoff, 0 | RAW_BACKOFF);
        let backoff_book = take(level.backoff_book, no_book, widths.backoff)?;
        let children = lens.get(i + 1).copied();
        let books = [prob_book, backoff_book];
        levels.push(Level::open(container, order, len, widths, children, books)?);
    }
    if !rest.is_empty() {
        return Err(container.damaged("books", "it holds more than records name").into());
    }
    Ok(levels)
}

#[cfg(test)]
mod tests;
