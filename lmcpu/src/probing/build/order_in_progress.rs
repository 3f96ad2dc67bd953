//! The order whose n-grams are being added to a probing model, part by part.
//!
//! The table entries of a part are made and partitioned as soon as it arrives, while its n-grams
//! are in the CPU's cache. At the same time, flags are set at the suffixes and contexts of its
//! n-grams in the next lower order. The table is built after the last part.

use miriam_storage::parallel::{self, Workspaces};
use miriam_storage::probing::PartitionEnds;

use super::*;

/// The state of the order that is being read, without its entries, which are in
/// [`ProbingBuilder::scratch`].
#[derive(Default)]
pub(super) struct OrderInProgress {
    /// The number of words of its n-grams; 0 before the first order.
    order: usize,
    /// The number of home lines of its table: lines that keys hash to, without the spare lines
    /// after them.
    home_lines: usize,
    /// The number of entries so far.
    num_entries: usize,
    /// The partition of each chunk of entries, in the order of the chunks in
    /// [`ProbingBuilder::scratch`].
    groups: Vec<PartitionEnds>,
    /// The n-grams whose suffix or context is not in the model, in the order of the source. A
    /// missing suffix is added as a blank (an n-gram without a probability of its own).
    incomplete: Section,
}

impl OrderInProgress {
    /// Returns the number of words of the n-grams.
    pub(super) fn order(&self) -> usize {
        self.order
    }

    /// Builds the table of the entries, which are in `scratch`.
    fn build_table<L: TableLine>(&self, scratch: &mut [u32]) -> Result<BuiltTable<L>, BuildError> {
        let mut rest = &view_entries::<L>(scratch)[..self.num_entries];
        let mut groups = Vec::with_capacity(self.groups.len());
        for ends in &self.groups {
            let (group, after) = rest.split_at(ends.num_entries());
            rest = after;
            groups.push(PartitionedEntries::new(group, ends));
        }
        let built = TableBuilder::<L>::new(self.home_lines).build(&groups);
        built.map_err(|DuplicateKey { key }| BuildError::Duplicate { order: self.order, key })
    }
}

impl ProbingBuilder {
    /// Whether `order` is the highest of the model.
    pub(super) fn is_longest(&self, order: usize) -> bool {
        order == self.counts.len()
    }

    /// Begins the order of the n-grams of `order` words. There are `total` of these n-grams.
    pub(super) fn begin_order(&mut self, order: usize, total: usize) {
        let home_lines = if self.is_longest(order) {
            home_lines::<Line5>(total, LOAD_FACTOR)
        } else {
            home_lines::<Line4>(total, LOAD_FACTOR)
        };
        self.in_progress = OrderInProgress { order, home_lines, ..OrderInProgress::default() };
    }

    /// Adds some n-grams of the current order.
    pub(super) fn add_part(&mut self, part: &Section) {
        if self.is_longest(part.order) {
            self.add_entries::<Line5>(part, |index| part.log10[index].to_bits() | SIGN);
        } else {
            self.add_entries::<Line4>(part, |index: usize| {
                pack(part.log10[index].to_bits() | SIGN, part.backoffs[index].to_bits())
            });
        }
    }

    /// Creates the entries of `part`; `value` returns the value of the n-gram with an index in
    /// `part`. Sets the flags of the suffix and the context of each n-gram for which both exist.
    fn add_entries<L: TableLine>(
        &mut self,
        part: &Section,
        value: impl Fn(usize) -> L::Value + Sync,
    ) {
        let order = part.order;
        let is_longest = self.is_longest(order);
        let unigrams = &self.unigrams;
        let shorter = self.middle.last_mut().map(|middle| {
            let home = middle.home_lines as u64;
            (AtomicLine4::from_mut_lines(&mut middle.lines), home)
        });
        fn prefetch(hash: u64, shorter: &Option<(&[AtomicLine4], u64)>) {
            if let Some((lines, home)) = *shorter {
                prefetch_at(lines, fast_range(nonzero_key(hash), home) as usize);
            }
        }
        let find = |hash: u64| match shorter {
            None => unigrams.get(hash as usize),
            Some((lines, home)) => {
                let slot = find_slot(lines, home, nonzero_key(hash))?.0;
                Some(lines[slot / Line4::SLOTS].value(slot % Line4::SLOTS))
            }
        };
        let OrderInProgress { home_lines, num_entries, groups, incomplete, .. } =
            &mut self.in_progress;
        let table_builder = TableBuilder::<L>::new(*home_lines);
        let end = *num_entries + part.len();
        let numbers = size_of::<L::Entry>() / size_of::<u32>();
        // Memory is reserved for the counts that the file claims. They may be far too high, but
        // memory that is never written costs nothing.
        let most = self.counts[1..].iter().max().map_or(0, |&count| count as usize);
        if *num_entries == 0 {
            self.scratch.resize_for_overwrite(0, 0);
        }
        self.scratch.grow_for_overwrite(end * numbers, most.saturating_mul(numbers));
        let entries_out = &mut view_entries::<L>(&mut self.scratch)[*num_entries..end];
        *num_entries = end;
        let chunks = part.words.chunks(CHUNK * order).zip(entries_out.chunks_mut(CHUNK)).collect();
        let workspaces = Workspaces::<Vec<L::Entry>>::default();
        let done = parallel::map_items(chunks, &|chunk, (words, into): (&[u32], &mut [_])| {
            workspaces.with(|entries| {
                entries.clear();
                let (mut missing, mut closure_checks) = (Vec::new(), Vec::new());
                for words in words.chunks(PREFETCH_GROUP * order) {
                    let first = chunk * CHUNK + entries.len();
                    let mut parts = [(0, 0, 0); PREFETCH_GROUP];
                    for (parts, ngram) in parts.iter_mut().zip(words.chunks(order)) {
                        let suffix = hash_oldest_first(&ngram[1..]);
                        let context = hash_oldest_first(&ngram[..order - 1]);
                        *parts = (combine(suffix, ngram[0]), suffix, context);
                        prefetch(suffix, &shorter);
                        prefetch(context, &shorter);
                    }
                    for (i, oldest) in words.iter().step_by(order).enumerate() {
                        let (ngram, suffix, context) = parts[i];
                        entries.push(L::pack_entry(nonzero_key(ngram), value(first + i), *oldest));
                        match (find(suffix), find(context)) {
                            (Some(ending), Some(beginning)) => {
                                update_flags(beginning, set_extends_right);
                                let ending = update_flags(ending, set_extends_left);
                                if !is_longest && !has_extension(ending) {
                                    closure_checks.push(ClosureCheck { order, ngram, suffix });
                                }
                            }
                            _ => missing.push(first + i),
                        }
                    }
                }
                (table_builder.partition(entries, into), missing, closure_checks)
            })
        });
        for (group, missing, closure_checks) in done {
            groups.push(group);
            missing.into_iter().for_each(|index| incomplete.push_from(part, index));
            self.closure_checks.extend(closure_checks);
        }
    }

    /// Builds the table of the current order, which is not the highest, and then adds the missing
    /// suffixes of its n-grams as blanks. Does nothing before the first order.
    pub(super) fn finish_order(&mut self) -> Result<(), BuildError> {
        let OrderInProgress { order, home_lines, num_entries, .. } = self.in_progress;
        if order == 0 {
            return Ok(());
        }
        let (lines, oldest) = self.in_progress.build_table(&mut self.scratch)?;
        let (entries, blanks) = (num_entries as u64, HashMap::new());
        self.middle.push(MiddleTable { order, lines, home_lines, entries, blanks, oldest });
        self.add_blanks()
    }

    /// Adds blanks for the n-grams of the order in progress that lack a suffix.
    pub(super) fn add_blanks(&mut self) -> Result<(), BuildError> {
        let ngrams = std::mem::take(&mut self.in_progress.incomplete);
        (0..ngrams.len()).try_for_each(|index| self.mark_extensions_with_blanks(&ngrams, index))
    }

    /// Returns the number of home lines of the table of the longest n-grams, unless these are
    /// unigrams.
    pub(super) fn longest_home_lines(&self) -> Option<usize> {
        (self.counts.len() > 1).then_some(self.in_progress.home_lines)
    }

    /// Returns the table of the longest n-grams, whose entries are in `scratch`; `None` if these
    /// are unigrams.
    pub(super) fn build_longest(
        &self,
        scratch: &mut [u32],
    ) -> Result<Option<BuiltTable<Line5>>, BuildError> {
        (self.counts.len() > 1).then(|| self.in_progress.build_table(scratch)).transpose()
    }
}

/// The lines of a table, and the oldest word of the n-gram in each slot.
pub(super) type BuiltTable<L> = (ZeroedVec<L>, ZeroedVec<u32>);

/// Views `scratch` as entries.
fn view_entries<L: TableLine>(scratch: &mut [u32]) -> &mut [L::Entry] {
    let entries = <[L::Entry]>::mut_from_bytes(scratch.as_mut_bytes());
    entries.unwrap_or_else(|_| unreachable!("whole entries"))
}
