//! All runs as one, in the order of tables, in batches of whole source phrases: a
//! source phrase's counts are known when its last entry is.

use std::cmp::Ordering;
use std::path::PathBuf;

use crate::Result;
use crate::links::Link;
use crate::partition::Entry;
use crate::run::{RunReader, Seal};

/// Entries of whole source phrases.
#[derive(Default)]
pub(crate) struct Batch {
    rows: Vec<Row>,
    words: Vec<u32>,
    links: Vec<Link>,
    sources: Vec<Source>,
}

/// A source phrase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Source {
    /// How often it occurs in pairs, and in how many different ones.
    pub count: u64,
    pub distinct: u32,
}

struct Row {
    numbers: Entry<'static>,
    source_words: u32,
    target_words: u32,
    links: u32,
}

impl Batch {
    fn push(&mut self, entry: &Entry<'_>) {
        self.words.extend_from_slice(entry.source);
        self.words.extend_from_slice(entry.target);
        self.links.extend_from_slice(entry.links);
        self.rows.push(Row {
            numbers: Entry { source: &[], target: &[], links: &[], ..*entry },
            source_words: entry.source.len() as u32,
            target_words: entry.target.len() as u32,
            links: entry.links.len() as u32,
        });
    }

    /// The words of the last entry's source phrase.
    fn last_source(&self) -> Option<&[u32]> {
        let row = self.rows.last()?;
        let start = self.words.len() - (row.source_words + row.target_words) as usize;
        Some(&self.words[start..start + row.source_words as usize])
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Calls `take` with every entry.
    pub fn entries(&self, mut take: impl FnMut(&Source, &Entry<'_>)) {
        let (mut words, mut links) = (&self.words[..], &self.links[..]);
        let mut rows = self.rows.iter();
        for source in &self.sources {
            for row in rows.by_ref().take(source.distinct as usize) {
                let entry = Entry {
                    source: cut(&mut words, row.source_words),
                    target: cut(&mut words, row.target_words),
                    links: cut(&mut links, row.links),
                    ..row.numbers
                };
                take(source, &entry);
            }
        }
    }
}

fn cut<'a, T>(list: &mut &'a [T], len: u32) -> &'a [T] {
    let (first, rest) = list.split_at(len as usize);
    *list = rest;
    first
}

/// Several runs read as one.
pub(crate) struct Merge {
    /// Runs that are at an entry, as a heap: none comes before its parent.
    heads: Vec<RunReader>,
    /// Entries after which a batch ends with its source phrase.
    batch: usize,
    /// What ends source phrases and target phrases where they are compared.
    ends: [u32; 2],
}

impl Merge {
    /// Reads `runs`, with about `batch` entries at a time.
    pub fn new(runs: &[(PathBuf, Seal)], ends: [u32; 2], batch: usize) -> Result<Self> {
        let mut merge = Merge { heads: Vec::new(), batch, ends };
        for (path, seal) in runs {
            let mut reader = RunReader::open(path, seal)?;
            if reader.advance()? {
                merge.heads.push(reader);
            }
        }
        (0..merge.heads.len() / 2).rev().for_each(|i| merge.sink(i));
        Ok(merge)
    }

    /// The next source phrases with all their entries; nothing at the end.
    pub fn next(&mut self) -> Result<Option<Batch>> {
        let mut batch = Batch::default();
        let mut source = Source::default();
        while let Some(head) = self.heads.first_mut() {
            let entry = head.entry();
            if batch.last_source().is_some_and(|last| last != entry.source) {
                batch.sources.push(std::mem::take(&mut source));
                if batch.len() >= self.batch {
                    return Ok(Some(batch));
                }
            }
            source.count += u64::from(entry.count);
            source.distinct += 1;
            batch.push(&entry);
            if !head.advance()? {
                self.heads.swap_remove(0);
            }
            self.sink(0);
        }
        if batch.rows.is_empty() {
            return Ok(None);
        }
        batch.sources.push(source);
        Ok(Some(batch))
    }

    /// Moves the run at `at` down to where none of its children comes before it.
    fn sink(&mut self, mut at: usize) {
        loop {
            let children = 2 * at + 1..(2 * at + 3).min(self.heads.len());
            let first = children.min_by(|&a, &b| self.compare(a, b));
            match first {
                Some(child) if self.compare(child, at) == Ordering::Less => {
                    self.heads.swap(child, at);
                    at = child;
                }
                _ => return,
            }
        }
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        let (a, b) = (self.heads[a].entry(), self.heads[b].entry());
        let by =
            |a: &[u32], b: &[u32], end: u32| a.iter().chain([&end]).cmp(b.iter().chain([&end]));
        by(a.source, b.source, self.ends[0]).then_with(|| by(a.target, b.target, self.ends[1]))
    }
}
