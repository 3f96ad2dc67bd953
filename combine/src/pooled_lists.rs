//! The lists of several systems, read together sentence by sentence.

use miriam_textio::n_best::{NBestEntry, NBestReader};

use crate::{Error, ListInput, Result};

/// Readers of lists of the same sentences.
pub(crate) struct PooledLists {
    lists: Vec<(String, NBestReader)>,
    sentences: u64,
}

impl PooledLists {
    pub(crate) fn open(lists: Vec<ListInput>) -> Result<Self> {
        if lists.is_empty() {
            return Err(Error::usage("give at least one n-best list"));
        }
        let standard_input = ListInput::File("-".into());
        if lists.iter().filter(|list| **list == standard_input).count() > 1 {
            return Err(Error::usage("standard input can be read only once; give - once"));
        }
        let lists = lists.into_iter().map(|list| Ok((list.name(), list.open()?)));
        Ok(PooledLists { lists: lists.collect::<Result<_>>()?, sentences: 0 })
    }

    /// Reads the entries of the next sentence, by list. Returns `None` at the end.
    ///
    /// # Errors
    /// If a list cannot be read, a line is invalid, or one list has fewer sentences than another.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<Vec<NBestEntry>>>> {
        let mut found = Vec::with_capacity(self.lists.len());
        let mut ended: Option<&str> = None;
        for (name, reader) in &mut self.lists {
            match reader.next()? {
                Some(entries) => found.push(entries),
                None => ended = Some(ended.unwrap_or(name)),
            }
        }
        match (ended, found.first().and_then(|entries| entries.first())) {
            (None, _) => {
                self.sentences += 1;
                Ok(Some(found))
            }
            (Some(_), None) => Ok(None),
            (Some(ended), Some(entry)) => {
                let reason = format!(
                    "sentence {} is not in {ended}, which has {} sentence(s); give lists of the \
                     same text",
                    self.sentences, self.sentences
                );
                Err(entry.error(1, reason).into())
            }
        }
    }
}
