//! Writer of lexical translation tables as text.

use std::io::Write;
use std::path::Path;

use miriam_textio::{Output, Vocabulary, WordId};

use crate::Result;
use crate::cooccurrence::CooccurrenceRows;
use crate::translation_table::{FORWARD, TranslationTable};

/// Word pairs with smaller probabilities in both directions are left out.
const MIN_PROBABILITY: f64 = 1e-4;

/// Writes lines of `source target p(target|source) p(source|target)`: source words in the order of
/// their first occurrence in the text, the targets of a source word by falling p(target|source).
pub(crate) fn write_lexical_table(
    path: &Path,
    [sources, targets]: [&Vocabulary; 2],
    rows: &CooccurrenceRows,
    translation_table: &TranslationTable,
) -> Result<()> {
    let mut output = Output::create_atomic(path)?;
    let mut line = Vec::new();
    for word in 0..sources.len() as u32 {
        let mut entries: Vec<usize> = rows
            .row(word)
            .filter(|&entry| translation_table.entries[entry].iter().any(|&p| p >= MIN_PROBABILITY))
            .collect();
        entries.sort_by(|&a, &b| {
            let [forward_a, forward_b] =
                [a, b].map(|entry| translation_table.entries[entry][FORWARD]);
            forward_b.total_cmp(&forward_a).then(rows.targets[a].cmp(&rows.targets[b]))
        });
        for entry in entries {
            let [forward, reverse] = translation_table.entries[entry];
            line.clear();
            line.extend_from_slice(sources.word(WordId(word)));
            line.push(b' ');
            line.extend_from_slice(targets.word(WordId(rows.targets[entry])));
            writeln!(line, " {forward:.7} {reverse:.7}").expect("writing to memory cannot fail");
            output.write(&line)?;
        }
    }
    Ok(output.finish()?)
}
