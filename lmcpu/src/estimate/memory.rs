//! The available memory, and how estimation divides it.

/// The smallest default memory, in bytes.
const MIN_MEMORY: u64 = 64 << 20;

/// Returns half of the memory that is [free](miriam_textio::free_memory) for this process, but at
/// least 64 MiB, in bytes; one gibibyte if the free memory is not known.
pub fn default_memory() -> u64 {
    miriam_textio::free_memory().map_or(1 << 30, |free| (free / 2).max(MIN_MEMORY))
}

/// Bytes per token for sorting.
pub(super) const SORT_BYTES_PER_TOKEN: u64 = 16;
/// Bytes per token for smoothing a row and a column. Measured on text in which n-grams repeat
/// little.
pub(super) const SMOOTH_BYTES_PER_TOKEN: u64 = 48;

/// The number of values after the words of a record.
pub(super) const VALUES: usize = 2;

/// Returns the size in bytes of a record of `length` words.
pub(super) fn record_bytes(length: usize) -> u64 {
    4 * (length + VALUES) as u64
}

/// Returns the memory in bytes per token for partitioning a row into records: each token ends at
/// most one n-gram of each length up to `order`, lists grow by doubling, and the row's tables are
/// in memory.
pub(super) fn partition_bytes_per_token(order: usize) -> u64 {
    SMOOTH_BYTES_PER_TOKEN + 2 * (2..=order).map(record_bytes).sum::<u64>()
}

/// Returns the memory in bytes per token for sorting the records of `length` words: the records as
/// they are read and sorted, and the text made of them.
pub(super) fn sort_bytes_per_token(length: usize) -> u64 {
    size_of::<&[u32]>() as u64 + 5 * record_bytes(length)
}

/// The division of the memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryPlan {
    /// All memory, in bytes.
    pub memory: u64,
    /// The number of tokens that are sorted at once; a longer text is sorted in runs.
    pub chunk_tokens: usize,
    /// The size of a block of text in bytes.
    pub block_bytes: usize,
}

impl MemoryPlan {
    /// Divides `memory` bytes. A quarter, and up to 24 MiB more, is left for freed memory that the
    /// allocator keeps and for the program itself.
    pub fn new(memory: u64) -> Self {
        let memory = memory / 4 * 3 - (memory / 4).min(24 << 20);
        MemoryPlan {
            memory,
            // A token and its position are 8 bytes: a third of the memory.
            chunk_tokens: (memory / 24).clamp(1 << 16, 1 << 31) as usize,
            block_bytes: (memory / 2048).clamp(16 << 10, 1 << 20) as usize,
        }
    }

    /// Returns the memory in bytes for work under way: sorting, and rows and columns.
    pub fn working_memory(&self) -> u64 {
        self.memory / 3
    }

    /// Returns the memory in bytes that is left for the tables of the model when `words` bytes of
    /// words and `tokens` tokens are in memory.
    pub fn model_memory(&self, words: u64, tokens: usize) -> u64 {
        (self.memory - self.working_memory()).saturating_sub(words + 8 * tokens as u64)
    }

    /// Returns the size in bytes of the part of each run that is in memory while runs are merged.
    pub fn segment_bytes(&self) -> usize {
        (self.memory / 4096).clamp(4 << 10, 64 << 10) as usize
    }

    /// Returns the number of bytes of printed text that may wait to be written.
    pub fn output_buffer_bytes(&self) -> usize {
        (self.memory / 16).min(1 << 30) as usize
    }

    /// Returns the number of ranges, 1 to 256, that the vocabulary of a text of `tokens` tokens is
    /// divided into. The work of each thread, `token_bytes` bytes per token, then fits its part of
    /// the memory, unless 256 ranges are too few. Long texts get more ranges, because ranges that
    /// stay in cache are faster.
    pub fn range_count(&self, tokens: u64, token_bytes: u64, threads: usize) -> usize {
        let fit =
            tokens.saturating_mul(token_bytes * threads as u64) / self.working_memory().max(1);
        fit.max(tokens >> 18).clamp(1, 256) as usize
    }
}
