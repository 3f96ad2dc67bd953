//! The full check of a table: everything that reading relies on, and the number of entries.

use miriam_storage::Container;

use crate::{Annotations, PhraseTable, Result, Targets};

/// Checks a whole phrase table beyond its checksums (which
/// [`Container::verify`] covers): dictionaries, every record, that every source
/// is found by its words, and the metadata's numbers of sources, entries and pairs without
/// reordering scores.
///
/// # Errors
///
/// The first fault found, with its section or record.
pub fn verify(container: &Container) -> Result<()> {
    let table = PhraseTable::from_container(container.clone())?;
    for (name, dictionary) in [("source", table.source_words()), ("target", table.target_words())] {
        if let Err(id) = dictionary.verify() {
            let reason = format!("word {id} is not found by its own text");
            return Err(container.damaged(name, reason).into());
        }
    }
    for id in 0..table.num_alignments() as u32 {
        table.check_alignment(id)?;
    }
    let mut targets = Targets::new();
    let mut annotations = Annotations::new();
    let mut source = Vec::new();
    let (mut sources, mut entries, mut missing) = (0, 0, 0);
    for record in table.records() {
        table.read_source(record, &mut source)?;
        if table.find(&source) != Some(record) {
            let section = format!("record at {}", record.0);
            return Err(container
                .damaged(&section, "a lookup of its source phrase does not find it")
                .into());
        }
        table.read_targets(record, &mut targets)?;
        table.read_annotations(record, &mut annotations)?;
        sources += 1;
        entries += targets.len() as u64;
        for i in 0..targets.len() {
            missing +=
                u64::from(table.num_reordering_scores() > 0 && targets.reordering_row(i) == 0);
            if !table.alignment_points(targets.alignment_id(i)).all(|(s, t)| {
                usize::from(s) < source.len() && usize::from(t) < targets.words(i).len()
            }) {
                let section = format!("record at {}", record.0);
                let reason = "an alignment points outside its phrases";
                return Err(container.damaged(&section, reason).into());
            }
        }
    }
    let counted = [sources, entries, missing];
    let expected = [table.num_sources(), table.num_entries(), table.missing_reordering()];
    if counted != expected {
        let reason = format!(
            "it counts {expected:?} sources, entries and pairs without reordering; there are \
             {counted:?}"
        );
        return Err(container.damaged("metadata", reason).into());
    }
    Ok(())
}
