//! The arrays of a trie packed into the sections of a file.

use hashbrown::HashMap;
use miriam_layout::dictionary::Dictionary;
use miriam_layout::sampled::{KeyLine, sample};
use miriam_layout::{Bytes, ContainerWriter};
use miriam_text::{Vocabulary, WordId};
use rayon::prelude::*;

use super::grow::{Growing, Nodes};
use super::keys::CHUNK;
use crate::trie::level::PADDING;
use crate::trie::quantise::{Bits, backoff_centres, encode_backoff, encode_prob, prob_centres};
use crate::trie::*;

/// A model read into plain arrays.
pub(super) struct Model {
    pub counts: Vec<u64>,
    pub vocabulary: Vocabulary,
    /// By our ids: where in the vocabulary each word is.
    pub source_ids: Vec<WordId>,
    pub has_unknown: bool,
    pub begin: u32,
    pub end: u32,
    pub levels: Growing,
}

impl Model {
    pub fn size(&self) -> ModelSize {
        let blanks = self.levels.levels.iter().map(|nodes| nodes.blanks.len() as u64).sum();
        ModelSize { counts: self.counts.clone(), blanks }
    }
}

/// How backoffs are written.
enum Backoffs {
    /// As they are.
    Raw,
    /// As indices into a book of all values; the index of each.
    Book(Vec<f32>, HashMap<u32, u32>),
    /// As indices of the nearest of these.
    Quantised(Vec<f32>),
}

impl Backoffs {
    fn book(&self) -> &[f32] {
        match self {
            Backoffs::Raw => &[],
            Backoffs::Book(book, _) | Backoffs::Quantised(book) => book,
        }
    }

    fn encode(&self, backoff: f32) -> u32 {
        match self {
            Backoffs::Raw => backoff.to_bits(),
            // Every value is in the book.
            Backoffs::Book(_, indices) => indices.get(&backoff.to_bits()).copied().unwrap_or(0),
            Backoffs::Quantised(book) => encode_backoff(book, backoff),
        }
    }
}

/// How the n-grams of one order are written.
struct Plan {
    widths: Widths,
    /// Empty: as they are.
    probs: Vec<f32>,
    backoffs: Backoffs,
}

/// A model and how it is written.
pub(super) struct Packed {
    model: Model,
    /// Orders from 2.
    plans: Vec<Plan>,
}

/// Bits that hold `value`.
fn bits_for(value: usize) -> u32 {
    (usize::BITS - value.leading_zeros()).max(1)
}

impl Packed {
    pub fn new(model: Model, bits: Option<Bits>) -> Self {
        let levels = &model.levels.levels;
        let word = bits_for(model.source_ids.len() - 1);
        let plan = |(i, nodes): (usize, &Nodes)| {
            let children = levels.get(i + 2).map(Nodes::len);
            let mut widths = Widths { word, prob: RAW_PROB, ..Widths::default() };
            let mut probs = Vec::new();
            if let Some(bits) = bits {
                probs = prob_centres(nodes.log10.clone(), bits.prob());
                widths.prob = bits.prob();
            }
            let mut backoffs = Backoffs::Raw;
            if let Some(children) = children {
                widths.child = bits_for(children);
                backoffs = match bits {
                    Some(bits) => {
                        let given = nodes.backoffs.iter().copied().filter(|&b| b != 0.0);
                        Backoffs::Quantised(backoff_centres(given.collect(), bits.backoff()))
                    }
                    None => choose_backoffs(&nodes.backoffs, widths),
                };
                widths.backoff = backoff_width(&backoffs);
            }
            Plan { widths, probs, backoffs }
        };
        let plans = levels[1..].iter().enumerate().map(plan).collect();
        Packed { model, plans }
    }

    /// Writes all sections; the arrays are given back one by one.
    pub fn write(self, mut writer: ContainerWriter) -> Result<Option<Bytes>> {
        let Packed { model, plans } = self;
        let mut levels = model.levels;
        writer.metadata(&Metadata {
            order: model.counts.len() as u32,
            counts: model.counts,
            levels: levels.levels[1..].iter().zip(&plans).map(describe).collect(),
            begin: model.begin,
            end: model.end,
            has_unknown: model.has_unknown,
            minimisation_is_closed: levels.is_closed(),
        })?;
        let words = model.source_ids.iter().map(|&id| model.vocabulary.word(id));
        Dictionary::write(&mut writer, "words", words)?;
        writer.section("order-1", &unigrams(&levels.levels[0]))?;
        let books: Vec<&[f32]> =
            plans.iter().flat_map(|plan| [&plan.probs[..], plan.backoffs.book()]).collect();
        writer.section("books", &books.concat())?;
        let blanks: Vec<&[u32]> = levels.levels.iter().map(|nodes| &nodes.blanks[..]).collect();
        writer.section("blanks", &blanks.concat())?;
        for (i, plan) in plans.iter().enumerate() {
            let nodes = std::mem::take(&mut levels.levels[i + 1]);
            let order = i + 2;
            writer.section(&format!("order-{order}"), &pack(&nodes, plan))?;
            let keys: Vec<KeyLine> = sample(nodes.len(), |at| nodes.words[at]);
            writer.section(&format!("order-{order}.keys"), &keys)?;
        }
        Ok(writer.finish()?)
    }
}

fn describe((nodes, plan): (&Nodes, &Plan)) -> LevelMetadata {
    LevelMetadata {
        entries: nodes.len() as u64,
        blanks: nodes.blanks.len() as u64,
        widths: plan.widths,
        prob_book: plan.probs.len() as u32,
        backoff_book: plan.backoffs.book().len() as u32,
    }
}

fn backoff_width(backoffs: &Backoffs) -> u32 {
    match backoffs {
        Backoffs::Raw => RAW_BACKOFF,
        Backoffs::Book(book, _) | Backoffs::Quantised(book) => bits_for(book.len() - 1),
    }
}

/// A book of all backoffs, most frequent first, if that makes the model smaller.
fn choose_backoffs(backoffs: &[f32], widths: Widths) -> Backoffs {
    let mut sorted: Vec<u32> = backoffs.iter().map(|backoff| backoff.to_bits()).collect();
    sorted.par_sort_unstable();
    let mut values: Vec<(usize, u32)> =
        sorted.chunk_by(|a, b| a == b).map(|equal| (equal.len(), equal[0])).collect();
    values.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let bytes = |backoff| Widths { backoff, ..widths }.record() * backoffs.len();
    let width = bits_for(values.len().saturating_sub(1));
    if values.is_empty()
        || width > Bits::MOST
        || bytes(width) + values.len() * size_of::<f32>() >= bytes(RAW_BACKOFF)
    {
        return Backoffs::Raw;
    }
    let book = values.iter().map(|&(_, value)| f32::from_bits(value)).collect();
    Backoffs::Book(book, values.iter().map(|value| value.1).zip(0..).collect())
}

fn unigrams(nodes: &Nodes) -> Vec<Unigram> {
    let last = nodes.children.last().copied().unwrap_or(0);
    let begin = |at: usize| nodes.children.get(at).copied().unwrap_or(last);
    let unigram = |at: usize| Unigram {
        log10: nodes.log10[at],
        backoff: nodes.backoffs[at],
        children: begin(at),
        zero: 0,
    };
    let behind = Unigram { log10: 0.0, backoff: 0.0, children: last, zero: 0 };
    (0..nodes.len()).map(unigram).chain([behind]).collect()
}

/// The records of one order.
fn pack(nodes: &Nodes, plan: &Plan) -> Vec<u8> {
    let size = plan.widths.record();
    let longest = plan.widths.child == 0;
    let last = nodes.children.last().copied().unwrap_or(0);
    let mut bytes = vec![0; (nodes.len() + usize::from(!longest)) * size + PADDING];
    let records = &mut bytes[..nodes.len() * size];
    records.par_chunks_mut(size * CHUNK).enumerate().for_each(|(chunk, records)| {
        for (i, record) in records.chunks_exact_mut(size).enumerate() {
            let at = chunk * CHUNK + i;
            let prob = match plan.probs.is_empty() {
                true => nodes.log10[at].to_bits() & !SIGN,
                false => encode_prob(&plan.probs, nodes.log10[at]),
            };
            let (backoff, child) = match longest {
                true => (0, 0),
                false => (plan.backoffs.encode(nodes.backoffs[at]), nodes.children[at]),
            };
            plan.widths.write(record, nodes.words[at], prob, backoff, child);
        }
    });
    if !longest {
        let behind = &mut bytes[nodes.len() * size..][..size];
        plan.widths.write(behind, 0, 0, 0, last);
    }
    bytes
}
