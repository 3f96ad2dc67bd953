//! Checks of a probing file whose time grows with the size of the model.

use super::*;
use crate::model_head::check_values;
use crate::{LanguageModel, NgramSource};

/// Checks what opening does not check. Each word must be found by its text, and each n-gram by its
/// key. The tables must have the number of entries in the metadata. No probability may be NaN, and
/// all backoffs must be finite. [`Container::verify`] checks the checksums.
///
/// # Errors
///
/// If the file cannot be opened as a probing model or a check fails.
pub fn verify(container: &Container) -> Result<()> {
    let model = ProbingModel::from_container(container)?;
    model.head.verify(container)?;
    for (id, &value) in model.unigrams.iter().enumerate() {
        check_value(value)
            .map_err(|reason| container.damaged("order-1", format!("word {id}: {reason}")))?;
    }
    for (i, table) in model.middle.iter().enumerate() {
        check_table(container, &model, i + 2, table, check_value)?;
    }
    if let Some(table) = &model.longest {
        check_table(container, &model, model.order(), table, |log10| {
            check_values(f32::from_bits(log10), 0.0)
        })?;
    }
    if container.kind_version() != VERSION_WITHOUT_WORDS {
        let mut ngrams = probing_source(container)?;
        while ngrams.next_section()?.is_some() {}
    }
    Ok(())
}

fn check_table<L: TableLine<Value: PartialEq>>(
    container: &Container,
    model: &ProbingModel,
    order: usize,
    table: &ProbingTable<L>,
    check: impl Fn(L::Value) -> Result<(), &'static str>,
) -> Result<()> {
    let name = format!("order-{order}");
    let mut found = 0;
    for (key, value) in table.iter() {
        found += 1;
        if table.find(key).is_none_or(|v| v != value) {
            return Err(container.damaged(&name, "an n-gram is not where its key belongs").into());
        }
        check(value).map_err(|reason| container.damaged(&name, reason))?;
    }
    let expected = model.metadata.entries[order - 2];
    if found != expected {
        let reason = format!("it holds {found} n-grams, not {expected}");
        return Err(container.damaged(&name, reason).into());
    }
    Ok(())
}

fn check_value(value: u64) -> Result<(), &'static str> {
    check_values(f32::from_bits(log10_bits(value)), f32::from_bits(backoff_bits(value)))
}
