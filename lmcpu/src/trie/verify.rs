//! The checks that take time in the size of the model.

use super::*;
use crate::LanguageModel;

/// Checks what opening does not: that each word is found by itself, that the
/// children of all n-grams are sorted, in range and those of one n-gram each,
/// that the index of keys is theirs, that every number is one, and that blanks
/// are where they should be. The checksums are [`Container::verify`]'s.
pub fn verify(container: &Container) -> Result<()> {
    let model = TrieModel::from_container(container)?;
    if let Err(id) = model.words.verify() {
        let reason = format!("word {id} is not found by its own text");
        return Err(container.damaged("words.index", reason).into());
    }
    let marker = |text: &[u8], id: u32| LanguageModel::word(&model, LmWord(id)) == Some(text);
    if !marker(b"<unk>", 0)
        || !marker(b"<s>", model.metadata.begin)
        || !marker(b"</s>", model.metadata.end)
    {
        return Err(container.damaged("words.bytes", "a special word has another's id").into());
    }
    let words = model.words.len();
    for (id, unigram) in model.unigrams[..words].iter().enumerate() {
        check_numbers(unigram.log10, unigram.backoff)
            .map_err(|reason| container.damaged("order-1", format!("word {id}: {reason}")))?;
    }
    let sources = words - usize::from(!model.metadata.has_unknown);
    if model.metadata.counts[0] != sources as u64 {
        return Err(container.damaged("metadata", "the count of words is another").into());
    }
    let mut begins: Vec<u32> = model.unigrams.iter().map(|unigram| unigram.children).collect();
    for (i, level) in model.levels.iter().enumerate() {
        let order = i + 2;
        let damaged = |reason: String| container.damaged(&format!("order-{order}"), reason);
        check_children(&begins, level, words as u32)
            .map_err(|reason| container.damaged(&format!("order-{}", order - 1), reason))?;
        if !level.keys_are_right() {
            let reason = "it is not the index of the records";
            return Err(container.damaged(&format!("order-{order}.keys"), reason).into());
        }
        let [probs, backoffs] = level.book_sizes();
        let outside = |size: Option<usize>, bits: u32| size.is_some_and(|n| bits as usize >= n);
        for at in 0..level.len {
            if outside(probs, level.prob_bits(at)) || outside(backoffs, level.backoff_bits(at)) {
                return Err(damaged(format!("n-gram {at} names a value that no book has")).into());
            }
            let found = level.get(at);
            check_numbers(found.log10, found.backoff)
                .map_err(|reason| damaged(format!("n-gram {at}: {reason}")))?;
        }
        let blanks = model.blanks_of(order);
        if !blanks.is_sorted_by(|a, b| a < b) || blanks.last().is_some_and(|&at| at >= level.len) {
            let reason = format!("those of order {order} are not sorted or not there");
            return Err(container.damaged("blanks", reason).into());
        }
        if u64::from(level.len) - blanks.len() as u64 != model.metadata.counts[order - 1] {
            let reason = format!("the count of {order}-grams is another");
            return Err(container.damaged("metadata", reason).into());
        }
        if order < model.metadata.order as usize {
            begins = (0..=level.len).map(|at| level.children_begin(at)).collect();
        }
    }
    Ok(())
}

/// Whether `begins` cut `level` into nodes of sorted words.
fn check_children(begins: &[u32], level: &Level, words: u32) -> Result<(), String> {
    if begins.first() != Some(&0) || begins.last() != Some(&level.len) {
        return Err("the children are not all of the next order".into());
    }
    for (at, pair) in begins.windows(2).enumerate() {
        if pair[0] > pair[1] || pair[1] > level.len {
            return Err(format!("the children of n-gram {at} end before they begin"));
        }
        let mut children = (pair[0]..pair[1]).map(|child| level.word(child));
        let mut before = None;
        if children.any(|word| {
            let sorted = word < words && before.is_none_or(|before| before < word);
            before = Some(word);
            !sorted
        }) {
            return Err(format!("the children of n-gram {at} are not sorted words"));
        }
    }
    Ok(())
}

fn check_numbers(log10: f32, backoff: f32) -> Result<(), &'static str> {
    if log10.is_nan() {
        return Err("a log probability is not a number");
    }
    if !backoff.is_finite() {
        return Err("a backoff is not a finite number");
    }
    Ok(())
}
