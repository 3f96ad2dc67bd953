//! How much memory there is, and how estimation divides it.

use std::fs;

/// The least that is worth planning with.
const LEAST: u64 = 64 << 20;

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
    free.map_or(1 << 30, |free| (free / 2).max(LEAST))
}

/// Shares of the memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Bytes in all.
    pub memory: u64,
    /// Tokens that are sorted at once; a longer text is sorted in runs.
    pub chunk: usize,
    /// Bytes of text that are split at once.
    pub block: usize,
}

impl Plan {
    pub fn new(memory: u64) -> Self {
        Plan {
            memory,
            // A token and its position are 8 bytes: two fifths of the memory.
            chunk: (memory / 20).clamp(1, 1 << 31) as usize,
            block: (memory / 1024).clamp(16 << 10, 1 << 20) as usize,
        }
    }

    /// How much is left for the model itself when `words` bytes of words and
    /// `tokens` tokens are in memory: a quarter is for work under way.
    pub fn for_model(&self, words: u64, tokens: usize) -> u64 {
        (self.memory - self.memory / 4).saturating_sub(words + 8 * tokens as u64)
    }

    /// Into how many ranges a vocabulary is cut that occurs `tokens` times in
    /// the text. What a thread works on, a row and a column, takes about 48
    /// bytes an n-gram and must fit into its share of the quarter; ranges that
    /// stay in cache are faster still.
    pub fn ranges(&self, tokens: u64, threads: usize) -> usize {
        let fit = tokens.saturating_mul(48 * 4 * threads as u64) / self.memory.max(1);
        fit.max(tokens >> 18).clamp(1, 256) as usize
    }
}
