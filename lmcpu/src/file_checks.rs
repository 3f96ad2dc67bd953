//! Checks that probing and trie files share.

use miriam_storage::Container;
use miriam_storage::dictionary::Dictionary;

use crate::{MAX_ORDER, Result};

/// Checks the order that the metadata gives.
pub(crate) fn check_order(container: &Container, order: usize) -> Result<()> {
    if !(1..=MAX_ORDER).contains(&order) {
        let reason = format!("order {order} is not between 1 and {MAX_ORDER}");
        return Err(container.damaged("metadata", reason).into());
    }
    Ok(())
}

/// Checks that there are as many unigrams as words and that `<s>` and `</s>`, whose ids
/// the metadata gives, are words.
pub(crate) fn check_counts(
    container: &Container,
    words: usize,
    unigrams: usize,
    [bos_id, eos_id]: [u32; 2],
) -> Result<()> {
    if unigrams != words || u32::try_from(words).is_err() {
        let reason = "there is not one unigram for each word";
        return Err(container.damaged("order-1", reason).into());
    }
    let known = |id: u32| id > 0 && (id as usize) < words;
    if !known(bos_id) || !known(eos_id) {
        let reason = "<s> or </s> is no word of the model";
        return Err(container.damaged("metadata", reason).into());
    }
    Ok(())
}

/// Checks in time that grows with the vocabulary that each word is found by its own text
/// and that the special words have their ids.
pub(crate) fn check_words(
    container: &Container,
    words: &Dictionary,
    [bos_id, eos_id]: [u32; 2],
) -> Result<()> {
    if let Err(id) = words.verify() {
        let reason = format!("word {id} is not found by its own text");
        return Err(container.damaged("words.index", reason).into());
    }
    let markers: [(&[u8], u32); 3] = [(b"<unk>", 0), (b"<s>", bos_id), (b"</s>", eos_id)];
    if markers.iter().any(|&(text, id)| words.get(id) != Some(text)) {
        return Err(container.damaged("words.bytes", "a special word has another's id").into());
    }
    Ok(())
}

/// Checks the two numbers of an n-gram.
pub(crate) fn check_numbers(log10: f32, backoff: f32) -> Result<(), &'static str> {
    if log10.is_nan() {
        return Err("a log probability is not a number");
    }
    if !backoff.is_finite() {
        return Err("a backoff is not a finite number");
    }
    Ok(())
}
