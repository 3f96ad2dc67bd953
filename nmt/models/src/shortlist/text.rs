//! The text format: one `target source probability` per line.

use miriam_textio::{Error, Lines, fields, number};

use super::{RepeatedPairs, Shortlist, ShortlistOptions};
use crate::Result;
use crate::vocabulary::Vocabulary;

pub fn read(
    mut lines: Lines,
    options: ShortlistOptions,
    repeated: RepeatedPairs,
    source: &Vocabulary,
    target: &Vocabulary,
) -> Result<Shortlist> {
    let name = lines.name().to_owned();
    let mut lists: Vec<Vec<(f32, u32)>> = vec![Vec::new(); source.len()];
    let (mut num_entries, mut num_unknown) = (0u64, 0u64);
    while let Some(line) = lines.next()? {
        let mut words = fields::split_words(line.bytes);
        let (Some(to), Some(from), Some(probability), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            let reason = "expected a target word, a source word and a probability";
            return Err(Error::format(&name, line.number, None, reason).into());
        };
        if to == b"NULL" || from == b"NULL" {
            continue;
        }
        let probability = number::parse_f32(probability)
            .filter(|probability| !probability.is_nan())
            .ok_or_else(|| Error::format(&name, line.number, Some(3), "not a probability"))?;
        if probability > options.threshold {
            let (from, to) = (source.find(from), target.find(to));
            num_entries += 1;
            num_unknown += u64::from(from.is_none() || to.is_none());
            let from = from.unwrap_or_else(|| source.unk_id());
            let to = to.unwrap_or_else(|| target.unk_id());
            lists[from as usize].push((probability, to));
        }
    }
    if num_unknown > num_entries / 2 {
        tracing::warn!(
            "{name}: {num_unknown} of {num_entries} entries have words that are not in the \
             vocabularies; a model of pieces needs a shortlist of pieces, from text that is \
             segmented as for the model"
        );
    }
    Ok(Shortlist::new(options, lists, repeated, source, target))
}
