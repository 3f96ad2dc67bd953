//! The checks that take time in the size of the model.

use miriam_lmcpu::{LmWord, NgramIndex, Result};
use miriam_storage::Container;

use crate::model::GlmModel;
use crate::ngram_table::NgramTable;

/// Checks what opening does not: that each word is found by itself and each n-gram
/// stands where a search finds it, that the suffix of each n-gram is there and knows of
/// it, that every number is one, and that blanks are where they should be. The
/// checksums are [`Container::verify`]'s.
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
    let mut listed = NgramTable::from_unigrams(&model, container)?;
    for order in 2..=model.order() {
        listed = listed.next_order(&model, container, order)?;
    }
    Ok(())
}
