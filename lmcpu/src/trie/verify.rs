//! Checks of a trie file whose time grows with the size of the model.

use super::*;
use crate::model_head::check_values;

/// Checks what opening does not check. Each word must be found by its text, and each n-gram by its
/// key. The suffix of each n-gram must exist and be flagged as having children. No probability may
/// be NaN, all backoffs must be finite, and blanks must exist and be counted.
/// [`Container::verify`] checks the checksums.
///
/// # Errors
///
/// If the file cannot be opened as a trie or a check fails.
pub fn verify(container: &Container) -> Result<()> {
    let model = TrieModel::from_container(container)?;
    model.head.verify(container)?;
    let words = model.head.words.len();
    let mut parents = Vec::with_capacity(words);
    for (id, unigram) in model.unigrams.iter().enumerate() {
        check_values(unigram.log10, unigram.backoff)
            .map_err(|reason| container.damaged("order-1", format!("word {id}: {reason}")))?;
        parents.push(match unigram.has_children {
            0 => ParentStatus::Childless,
            _ => ParentStatus::ExpectsChildren,
        });
    }
    let sources = words - usize::from(!model.metadata.head.has_unknown);
    if model.metadata.counts[0] != sources as u64 {
        return Err(container.damaged("metadata", "wrong number of words").into());
    }
    for (i, level) in model.levels.iter().enumerate() {
        let order = i + 2;
        let damaged = |reason: String| container.damaged(&format!("order-{order}"), reason);
        let count = level.verify().map_err(damaged)?;
        let mut numbers = vec![ParentStatus::Absent; level.capacity() as usize];
        for entry in level.entries() {
            let number = entry.number;
            let parent =
                usize::try_from(entry.parent).ok().and_then(|parent| parents.get_mut(parent));
            match parent {
                Some(parent @ (ParentStatus::ExpectsChildren | ParentStatus::HasChildren)) => {
                    *parent = ParentStatus::HasChildren
                }
                _ => {
                    let reason =
                        format!("n-gram {number}: its suffix is not flagged as having children");
                    return Err(damaged(reason).into());
                }
            }
            if entry.word as usize >= words {
                return Err(damaged(format!(
                    "n-gram {number}: its oldest word is not in the vocabulary"
                ))
                .into());
            }
            if level.is_outside_codebooks(entry.value) {
                let reason = format!("n-gram {number} refers to a value outside its codebook");
                return Err(damaged(reason).into());
            }
            let found = level.decode_ngram(number, entry.value);
            check_values(found.log10, found.backoff)
                .map_err(|reason| damaged(format!("n-gram {number}: {reason}")))?;
            numbers[number as usize] = match found.extend_left {
                None => ParentStatus::Childless,
                Some(_) => ParentStatus::ExpectsChildren,
            };
        }
        if let Some(at) = parents.iter().position(|parent| *parent == ParentStatus::ExpectsChildren)
        {
            let reason = format!("n-gram {at} is flagged as having children, but has none");
            return Err(container.damaged(&format!("order-{}", order - 1), reason).into());
        }
        let blanks = model.blanks.for_order(order);
        if !blanks.is_sorted_by(|a, b| a < b)
            || !blanks
                .iter()
                .all(|&at| numbers.get(at as usize).is_some_and(|n| *n != ParentStatus::Absent))
        {
            let reason = format!("blanks of order {order} are not sorted or do not exist");
            return Err(container.damaged("blanks", reason).into());
        }
        if count != model.metadata.levels[i].entries
            || count - blanks.len() as u64 != model.metadata.counts[order - 1]
        {
            let reason = format!("wrong number of {order}-grams");
            return Err(container.damaged("metadata", reason).into());
        }
        parents = numbers;
    }
    Ok(())
}

/// The state of an n-gram that may be the suffix of others.
#[derive(Clone, Copy, PartialEq)]
enum ParentStatus {
    /// There is no such n-gram.
    Absent,
    /// Its entry says that it has no children.
    Childless,
    /// Its entry says that it has children; none has been seen.
    ExpectsChildren,
    /// Its entry says that it has children, and one has been seen.
    HasChildren,
}
