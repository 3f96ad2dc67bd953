//! The checks that read the whole model.

use miriam_lmcpu::Result;
use miriam_storage::Container;

use crate::model::GlmModel;
use crate::ngram_table::NgramTable;

/// Checks more than opening does: that a search finds each word and each n-gram, that the suffix of
/// each n-gram exists and lists it as a child, that scores are numbers, and that the blanks are at
/// their places. [`Container::verify`] checks the checksums.
///
/// # Errors
///
/// The first fault found, with its section.
pub fn verify(container: &Container) -> Result<()> {
    let model = GlmModel::from_container(container)?;
    model.head.verify(container)?;
    let mut table = NgramTable::from_unigrams(&model, container)?;
    for order in 2..=model.head.order() {
        table = table.next_order(&model, container, order)?;
    }
    Ok(())
}
