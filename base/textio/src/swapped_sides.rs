//! Detection of development texts with swapped sides, by their words.

use std::collections::HashSet;
use std::path::Path;

use crate::{Input, Lines, Result, fields};

/// The number of lines read from the parallel text. They contain most words of running text, and
/// are read in a fraction of a second.
const MAX_KNOWN_LINES: usize = 20_000;

/// The number of lines read from the development text.
const MAX_DEV_LINES: usize = 1_000;

/// Returns a warning if the source side of a development text seems to be in the target language:
/// more than half of its words are in the target side of the parallel text, but not in the source
/// side. `train` and `dev` are paths of source and target; pipes are not read.
///
/// # Errors
///
/// If a file cannot be read.
pub fn find_swapped_sides(train: [&Path; 2], dev: [&Path; 2]) -> Result<Option<String>> {
    if train.into_iter().chain(dev).any(|path| !path.is_file()) {
        return Ok(None);
    }
    let mut words = 0_u64;
    let mut foreign = 0_u64;
    let known = [known_words(train[0])?, known_words(train[1])?];
    let mut lines = Lines::new(Input::open(dev[0])?);
    for _ in 0..MAX_DEV_LINES {
        let Some(line) = lines.next()? else { break };
        for word in fields::split_words(line.bytes) {
            words += 1;
            foreign += u64::from(!known[0].contains(word) && known[1].contains(word));
        }
    }
    Ok((2 * foreign > words).then(|| {
        format!(
            "{}: {foreign} of {words} words are words of {} and not of {}: are the two sides of \
             the development text swapped?",
            dev[0].display(),
            train[1].display(),
            train[0].display()
        )
    }))
}

/// Returns the words of the first lines of the text at `path`.
fn known_words(path: &Path) -> Result<HashSet<Box<[u8]>>> {
    let mut known = HashSet::new();
    let mut lines = Lines::new(Input::open(path)?);
    for _ in 0..MAX_KNOWN_LINES {
        let Some(line) = lines.next()? else { break };
        for word in fields::split_words(line.bytes) {
            if !known.contains(word) {
                known.insert(word.into());
            }
        }
    }
    Ok(known)
}
