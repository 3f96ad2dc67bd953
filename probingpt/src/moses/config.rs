//! `config`: the version and the counts of a directory.

use std::ops::RangeInclusive;
use std::path::Path;

use miriam_textio::parse_truth_word;

use super::text_file::{TextFile, TextLine};
use crate::format::{MAX_REORDERING, MAX_SCORES};
use crate::{Error, Result};

/// The supported version of ProbingPT's layout.
const VERSION: u64 = 15;

/// The numbers of `config`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Config {
    /// The number of distinct source phrases, which determines the size of the hash table.
    pub sources: u64,
    /// The number of phrase scores of a target.
    pub num_scores: usize,
    /// The number of reordering scores of a target, which follow the phrase scores.
    pub num_reordering: usize,
    /// Whether scores are logarithms already.
    pub log_prob: bool,
}

impl Config {
    pub fn read(path: &Path) -> Result<Self> {
        let file = TextFile::open(path)?;
        let version = read_number(&file, "API_VERSION", 0..=u64::MAX)?;
        if version != VERSION {
            return Err(Error::Options(format!(
                "{}: ProbingPT version {version}, this program reads version {VERSION}; build the \
                 table again with `miriam pt build`",
                path.display()
            )));
        }
        let (line, log_prob) = find_value(&file, "log_prob")?;
        let log_prob = str::from_utf8(log_prob).ok().and_then(parse_truth_word);
        let log_prob = log_prob.ok_or_else(|| line.error(Some(2), "log_prob must be 0 or 1"))?;
        Ok(Config {
            sources: read_number(&file, "uniq_entries", 0..=u64::MAX)?,
            num_scores: read_number(&file, "num_scores", 1..=MAX_SCORES as u64)? as usize,
            num_reordering: read_number(&file, "num_lex_scores", 0..=MAX_REORDERING as u64)?
                as usize,
            log_prob,
        })
    }
}

fn read_number(file: &TextFile, name: &str, range: RangeInclusive<u64>) -> Result<u64> {
    let (line, value) = find_value(file, name)?;
    let number = line.parse_number::<u64>(2, value)?;
    if !range.contains(&number) {
        let (least, most) = range.into_inner();
        let reason = format!("{name} is {number}, not between {least} and {most}");
        return Err(line.error(Some(2), reason));
    }
    Ok(number)
}

/// Finds the value of a key. Of a repeated key, the last value is used, as in Moses.
fn find_value<'f>(file: &'f TextFile, name: &str) -> Result<(TextLine<'f>, &'f [u8])> {
    let mut found = None;
    for line in file.lines() {
        let (key, value) = line.split_at_tab()?;
        if key == name.as_bytes() {
            found = Some((line, value));
        }
    }
    found.ok_or_else(|| {
        file.error(format!("{name} is missing; tables older than version {VERSION} are not read"))
    })
}
