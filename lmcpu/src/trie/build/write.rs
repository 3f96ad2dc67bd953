//! The arrays of a trie packed into the sections of a file.

use hashbrown::HashMap;
use miriam_storage::compact::{self, Built, CompactLine};
use miriam_storage::dictionary::Dictionary;
use miriam_storage::{Bytes, ContainerWriter};
use rayon::prelude::*;

use crate::Error;
use crate::sorted::{Nodes, SortedModel};
use crate::trie::level::bits_for;
use crate::trie::quantise::{Bits, backoff_centres, encode_backoff, encode_prob, prob_centres};
use crate::trie::*;

/// How much of the tables is in use: more makes files smaller and lets more n-grams
/// stand away from home.
const LOAD: f64 = 0.88;

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
    model: SortedModel,
    /// Orders from 2.
    plans: Vec<Plan>,
}

/// The table of one order.
struct Table {
    metadata: LevelMetadata,
    lines: Vec<CompactLine>,
    /// Numbers of the blanks, ascending.
    blanks: Vec<u32>,
}

impl Packed {
    pub fn new(model: SortedModel, bits: Option<Bits>) -> Self {
        let levels = &model.levels.levels;
        let plan = |(i, nodes): (usize, &Nodes)| {
            let mut widths = Widths { prob: RAW_PROB, backoff: 0 };
            let mut probs = Vec::new();
            if let Some(bits) = bits {
                probs = prob_centres(nodes.log10.clone(), bits.prob());
                widths.prob = bits.prob();
            }
            let mut backoffs = Backoffs::Raw;
            if i + 2 < levels.len() {
                backoffs = match bits {
                    Some(bits) => {
                        let given = nodes.backoffs.iter().copied().filter(|&b| b != 0.0);
                        Backoffs::Quantised(backoff_centres(given.collect(), bits.backoff()))
                    }
                    None => choose_backoffs(&nodes.backoffs),
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
        let Packed { mut model, plans } = self;
        let minimisation_is_closed = model.levels.is_closed();
        let unigrams = unigrams(&model.levels.levels[0]);
        let tables = tables(&mut model, &plans)?;
        writer.metadata(&Metadata {
            order: model.counts.len() as u32,
            counts: model.counts,
            levels: tables.iter().map(|table| table.metadata).collect(),
            begin: model.begin,
            end: model.end,
            has_unknown: model.has_unknown,
            minimisation_is_closed,
        })?;
        let words = model.source_ids.iter().map(|&id| model.vocabulary.word(id));
        Dictionary::write(&mut writer, "words", words)?;
        writer.section("order-1", &unigrams)?;
        let books: Vec<&[f32]> =
            plans.iter().flat_map(|plan| [&plan.probs[..], plan.backoffs.book()]).collect();
        writer.section("books", &books.concat())?;
        let blanks: Vec<&[u32]> = tables.iter().map(|table| &table.blanks[..]).collect();
        writer.section("blanks", &blanks.concat())?;
        for (order, table) in (2..).zip(tables) {
            writer.section(&format!("order-{order}"), &table.lines)?;
        }
        Ok(writer.finish()?)
    }
}

/// The tables of all orders from 2. An order's n-grams have their numbers from its
/// table, and the next order's keys are made of those.
fn tables(model: &mut SortedModel, plans: &[Plan]) -> Result<Vec<Table>> {
    let words = model.source_ids.len();
    // The parent of each n-gram among those of the order below, and the numbers
    // of these.
    let mut numbers: Vec<u32> = (0..words as u32).collect();
    let mut capacity = words;
    let mut below = std::mem::take(&mut model.levels.levels[0]);
    let mut tables = Vec::new();
    for (plan, nodes) in plans.iter().zip(&mut model.levels.levels[1..]) {
        let nodes = std::mem::take(nodes);
        let key = KeyForm::new(capacity, words);
        let keys: Vec<u64> = below
            .parents()
            .par_iter()
            .zip(&nodes.words)
            .map(|(&parent, &word)| key.join(numbers[parent as usize], word))
            .collect();
        let value = |at| plan.value(&nodes, at);
        let Built { shape, lines, numbers: own } =
            compact::build(&keys, key.bits, plan.widths.value(), LOAD, value).ok_or_else(|| {
                let reason = "more n-grams of one order than a trie can hold; build the probing \
                              model (--type probing)";
                Error::Unsupported { file: model.name.clone(), reason: reason.into() }
            })?;
        let mut blanks: Vec<u32> = nodes.blanks.iter().map(|&at| own[at as usize]).collect();
        blanks.sort_unstable();
        let metadata = LevelMetadata {
            entries: nodes.len() as u64,
            blanks: blanks.len() as u64,
            widths: plan.widths,
            tag: shape.tag_bits,
            homes: shape.homes,
            prob_book: plan.probs.len() as u32,
            backoff_book: plan.backoffs.book().len() as u32,
        };
        capacity = lines.len() * shape.slots() as usize;
        tables.push(Table { metadata, lines, blanks });
        (numbers, below) = (own, nodes);
    }
    Ok(tables)
}

impl Plan {
    /// The value of the entry of the node `at`.
    fn value(&self, nodes: &Nodes, at: usize) -> u64 {
        let prob = match self.probs.is_empty() {
            true => nodes.log10[at].to_bits() & !SIGN,
            false => encode_prob(&self.probs, nodes.log10[at]),
        };
        if self.widths.backoff == 0 {
            return u64::from(prob);
        }
        let backoff = self.backoffs.encode(nodes.backoffs[at]);
        self.widths.pack(prob, backoff, !nodes.children_of(at as u32).is_empty())
    }
}

fn backoff_width(backoffs: &Backoffs) -> u32 {
    match backoffs {
        Backoffs::Raw => RAW_BACKOFF,
        Backoffs::Book(book, _) | Backoffs::Quantised(book) => bits_for(book.len() - 1),
    }
}

/// A book of all backoffs, most frequent first, if that makes the model smaller.
fn choose_backoffs(backoffs: &[f32]) -> Backoffs {
    let mut sorted: Vec<u32> = backoffs.iter().map(|backoff| backoff.to_bits()).collect();
    sorted.par_sort_unstable();
    let mut values: Vec<(usize, u32)> =
        sorted.chunk_by(|a, b| a == b).map(|equal| (equal.len(), equal[0])).collect();
    values.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let width = bits_for(values.len().saturating_sub(1));
    let spared = u64::from(RAW_BACKOFF.saturating_sub(width)) * backoffs.len() as u64;
    if width > Bits::MOST || spared <= values.len() as u64 * u64::from(RAW_BACKOFF) {
        return Backoffs::Raw;
    }
    let book = values.iter().map(|&(_, value)| f32::from_bits(value)).collect();
    Backoffs::Book(book, values.iter().map(|value| value.1).zip(0..).collect())
}

fn unigrams(nodes: &Nodes) -> Vec<Unigram> {
    let has_children =
        |at: usize| !nodes.children.is_empty() && !nodes.children_of(at as u32).is_empty();
    let unigram = |at: usize| Unigram {
        log10: nodes.log10[at],
        backoff: nodes.backoffs[at],
        has_children: u32::from(has_children(at)),
        zero: 0,
    };
    (0..nodes.len()).map(unigram).collect()
}
