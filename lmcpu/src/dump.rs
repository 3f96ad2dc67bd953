//! Writing of any model as ARPA text in the format of KenLM's `lmplz` (`ngram-lm.md` 1.4): numbers
//! are shortest decimals, and all but the longest n-grams have a backoff, even if it is 0. Entries
//! are in the order of the source.

use miriam_storage::parallel;
use miriam_textio::{Output, Progress, ProgressTask, Vocabulary, WordId, number};

use crate::duplicates::reject_duplicates;
use crate::{NgramSource, Result};

/// The number of entries that one task prints.
const CHUNK_ENTRIES: usize = 1 << 13;

/// Writes the n-grams of `source` to `output`, printed on rayon's current threads.
/// Entries that a source cannot tell from n-grams of the model, such as the blanks of a
/// KenLM file, are written like any other.
///
/// # Errors
///
/// If the source cannot be read, is damaged or lists an n-gram twice, or the output cannot be
/// written.
pub fn dump(
    source: &mut dyn NgramSource,
    output: &mut Output,
    progress: &dyn Progress,
) -> Result<()> {
    let counts = source.counts().to_vec();
    output.write(format!("{}\n\\1-grams:\n", header(&counts)).as_bytes())?;
    let first = usize::from(!source.has_unknown());
    let unigrams = &source.unigrams()[first..];
    let longest = counts.len() == 1;
    let vocabulary = source.vocabulary();
    let task = progress.task("writing", Some(counts.iter().sum()));
    write_entries(output, unigrams.len(), &task, |i, out| {
        let (unigram, id) = (&unigrams[i], (first + i) as u32);
        let backoff = (!longest).then_some(unigram.backoff);
        push_entry(out, unigram.log10, &[id], backoff, vocabulary);
    })?;
    while let Some(section) = source.next_section()? {
        // Model files have each n-gram once.
        if !section.is_empty() && section.line(0) > 0 {
            reject_duplicates(&section, source)?;
        }
        output.write(format!("\n\\{}-grams:\n", section.order).as_bytes())?;
        let vocabulary = source.vocabulary();
        write_entries(output, section.len(), &task, |i, out| {
            let backoff = section.backoffs.get(i).copied();
            push_entry(out, section.log10[i], section.ngram(i), backoff, vocabulary);
        })?;
    }
    drop(task);
    Ok(output.write(b"\n\\end\\\n")?)
}

/// Returns the header of an ARPA file, up to the last count; `counts` has the number of n-grams of
/// each order.
pub(crate) fn header(counts: &[u64]) -> String {
    let mut text = String::from("\\data\\\n");
    for (order, count) in (1..).zip(counts) {
        text += &format!("ngram {order}={count}\n");
    }
    text
}

/// Prints `count` entries by `push` in parallel and writes them in order.
fn write_entries(
    output: &mut Output,
    count: usize,
    task: &ProgressTask<'_>,
    push: impl Fn(usize, &mut Vec<u8>) + Sync,
) -> Result<()> {
    let batch = CHUNK_ENTRIES * 4 * rayon::current_num_threads();
    for first in (0..count).step_by(batch) {
        let last = (first + batch).min(count);
        let texts = parallel::map_tasks((last - first).div_ceil(CHUNK_ENTRIES), &|task| {
            let start = first + task * CHUNK_ENTRIES;
            let mut text = Vec::with_capacity(CHUNK_ENTRIES * 48);
            for i in start..(start + CHUNK_ENTRIES).min(last) {
                push(i, &mut text);
            }
            text
        });
        for text in &texts {
            output.write(text)?;
        }
        task.advance((last - first) as u64);
    }
    Ok(())
}

fn push_entry(
    out: &mut Vec<u8>,
    log10: f32,
    words: &[u32],
    backoff: Option<f32>,
    vocabulary: &Vocabulary,
) {
    push_float(out, log10);
    for (i, &word) in words.iter().enumerate() {
        out.push(if i == 0 { b'\t' } else { b' ' });
        out.extend_from_slice(vocabulary.word(WordId(word)));
    }
    if let Some(backoff) = backoff {
        out.push(b'\t');
        push_float(out, backoff);
    }
    out.push(b'\n');
}

/// Appends `value`. A zero is printed without its sign, which is a flag of the file, not of the
/// model.
fn push_float(out: &mut Vec<u8>, value: f32) {
    number::push_shortest_f32(out, if value == 0.0 { 0.0 } else { value });
}
