//! The checks that read the whole model.

use miriam_lmcpu::{LmWord, NgramIndex, Result};
use miriam_storage::Container;

use crate::model::GlmModel;
use crate::ngram_table::NgramTable;

/// Checks what opening does not: that a search finds each word and each n-gram, that
/// the suffix of each n-gram is there and lists it as a child, that scores are numbers,
/// and that the blanks are where they should be. [`Container::verify`] checks the
/// checksums.
///
/// # Errors
///
/// The first fault found, with its section.
pub fn verify(container: &Container) -> Result<()> {
    let model = GlmModel::from_container(container)?;
    if let Err(id) = model.words.verify() {
        let reason = format!("word {id} is not found by its own text");
        return Err(container.damaged("words.index", reason).into());
    }
    let marker = |text: &[u8], id: u32| model.word(LmWord(id)) == Some(text);
    if !marker(b"<unk>", 0)
        || !marker(b"<s>", model.metadata.bos_id)
        || !marker(b"</s>", model.metadata.eos_id)
    {
        return Err(container.damaged("words.bytes", "a special word has another's id").into());
    }
    let mut table = NgramTable::from_unigrams(&model, container)?;
    for order in 2..=model.order() {
        table = table.next_order(&model, container, order)?;
    }
    Ok(())
}
