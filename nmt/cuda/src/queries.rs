//! Keys and values as rows of tensors, and for each query a record of the rows that it attends to.

use miriam_gpu::Buffer;
use miriam_nmt_network::layer::AttentionMask;

use crate::memory::DeviceTensor;

/// The keys and values of a sentence: some rows of a tensor, in two ranges of its columns.
pub struct SourceKv {
    pub(crate) layout: KvLayout,
    pub(crate) first_row: usize,
    pub(crate) positions: usize,
}

/// The place of keys and values in the rows of a tensor.
#[derive(Clone)]
pub(crate) struct KvLayout {
    pub tensor: DeviceTensor,
    pub key_column: usize,
    pub value_column: usize,
    /// Columns of keys and of values, of all heads.
    pub key_width: usize,
    pub value_width: usize,
    pub heads: usize,
}

/// The keys and values that queries attend to: rows of the tensor of `layout`. If there is a
/// `list`, it has the numbers of these rows, and the records of queries are ranges of the list.
pub(crate) struct Keys<'a> {
    pub layout: &'a KvLayout,
    pub list: Option<&'a Buffer<u32>>,
}

impl<'a> Keys<'a> {
    pub fn in_sentence(sentence: &'a SourceKv) -> Self {
        Keys { layout: &sentence.layout, list: None }
    }
}

/// A record for each query, laid out like `Query` of `attention.cu`.
#[derive(Default)]
pub(crate) struct QueryRecords {
    pub words: Vec<u32>,
    /// The largest number of rows that a query sees.
    pub longest: usize,
}

/// The attention weights of some queries.
pub(crate) struct AttentionWeights {
    /// `[queries, longest]`.
    pub rows: DeviceTensor,
    /// The number of positions of the sentence that each query attends to.
    pub lengths: Vec<usize>,
}

/// Words of a record.
const RECORD_WORDS: usize = 6;

impl QueryRecords {
    /// Adds the record of a query: the first of the rows that it sees, their number, and its own
    /// position in its sentence or history. `address` is the address of the tensor with the rows,
    /// or 0 for the tensor of the launch.
    pub fn push(&mut self, address: u64, [first, visible, position]: [usize; 3]) {
        let address = [address as u32, (address >> 32) as u32];
        self.words.extend(address);
        self.words.extend([first as u32, visible as u32, position as u32, 0]);
        self.longest = self.longest.max(visible);
    }

    /// Returns the number of queries.
    pub fn len(&self) -> usize {
        self.words.len() / RECORD_WORDS
    }

    /// Returns a record for each position of sentences, as a query to its own sentence.
    pub fn for_sentences(lengths: &[usize], mask: AttentionMask) -> Self {
        let mut records = QueryRecords::default();
        let mut first = 0;
        for &length in lengths {
            for position in 0..length {
                let visible = mask.visible(position, length, length);
                records.push(0, [first, visible, position]);
            }
            first += length;
        }
        records
    }
}

impl KvLayout {
    /// Whether rows of both tensors are read in the same way.
    pub fn is_like(&self, other: &KvLayout) -> bool {
        let columns = |layout: &KvLayout| {
            let KvLayout { key_column, value_column, key_width, value_width, heads, .. } = *layout;
            (key_column, value_column, key_width, value_width, heads, layout.tensor.width())
        };
        columns(self) == columns(other)
    }
}
