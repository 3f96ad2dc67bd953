//! How much memory there is, and how estimation divides it.

use std::fs;

/// The least that is worth planning with.
const MIN_MEMORY: u64 = 64 << 20;

/// Half of the memory that is free for this process: what the machine reports as
/// available, or what its control group still allows if that is less. A gibibyte
/// where nobody tells.
pub fn default_memory() -> u64 {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let group = number("/sys/fs/cgroup/memory.max").zip(number("/sys/fs/cgroup/memory.current"));
    let group = group.map(|(limit, used)| limit.saturating_sub(used));
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
    });
    let free = group.into_iter().chain(machine).min();
    free.map_or(1 << 30, |free| (free / 2).max(MIN_MEMORY))
}

/// Bytes a token that sorting needs.
pub(super) const SORT_BYTES_PER_TOKEN: u64 = 16;
/// Bytes a token that a row and a column need while they are smoothed. Measured
/// where n-grams repeat little, for a text has about as many of them, of all
/// lengths, as tokens.
pub(super) const SMOOTH_BYTES_PER_TOKEN: u64 = 48;

/// Shares of the memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryPlan {
    /// Bytes in all.
    pub memory: u64,
    /// Tokens that are sorted at once; a longer text is sorted in runs.
    pub chunk_tokens: usize,
    /// Bytes of text that are split at once.
    pub block_bytes: usize,
}

impl MemoryPlan {
    /// Divides `memory` bytes, of which a quarter and a little more is for what
    /// the allocator keeps of freed memory and for the program itself.
    pub fn new(memory: u64) -> Self {
        let memory = memory / 4 * 3 - (memory / 4).min(24 << 20);
        MemoryPlan {
            memory,
            // A token and its position are 8 bytes: a third of the memory.
            chunk_tokens: (memory / 24).clamp(1 << 16, 1 << 31) as usize,
            block_bytes: (memory / 2048).clamp(16 << 10, 1 << 20) as usize,
        }
    }

    /// How much is for work under way: sorting, and rows and columns.
    pub fn working_memory(&self) -> u64 {
        self.memory / 3
    }

    /// How much is left for the model itself when `words` bytes of words and
    /// `tokens` tokens are in memory.
    pub fn model_memory(&self, words: u64, tokens: usize) -> u64 {
        (self.memory - self.working_memory()).saturating_sub(words + 8 * tokens as u64)
    }

    /// Bytes of each run that are in memory while runs are merged.
    pub fn segment_bytes(&self) -> usize {
        (self.memory / 4096).clamp(4 << 10, 64 << 10) as usize
    }

    /// How many bytes of printed text may wait to be written.
    pub fn output_buffer_bytes(&self) -> usize {
        (self.memory / 16).min(1 << 30) as usize
    }

    /// Into how many ranges a vocabulary is cut that occurs `tokens` times in
    /// the text, so that each thread has work within its share; ranges that stay
    /// in cache are faster still.
    pub fn range_count(&self, tokens: u64, threads: usize) -> usize {
        let fit = tokens.saturating_mul(SMOOTH_BYTES_PER_TOKEN * threads as u64)
            / self.working_memory().max(1);
        fit.max(tokens >> 18).clamp(1, 256) as usize
    }
}
