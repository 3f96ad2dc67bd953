//! `config`: the version and the counts of a directory.

use std::path::Path;

use miriam_textio::parse_truth_word;

use super::text_file::TextFile;
use crate::format::{MAX_REORDERING, MAX_SCORES};
use crate::{Error, Result};

/// The supported version of ProbingPT's layout.
const VERSION: u64 = 15;

/// The numbers of `config`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Config {
    /// The number of distinct source phrases, which determines the size of the hash table.
    pub sources: u64,
    /// Phrase scores of a target.
    pub num_scores: usize,
    /// Reordering scores of a target, which follow them.
    pub num_reordering: usize,
    /// Whether scores are logarithms already.
    pub log_prob: bool,
}

impl Config {
    pub fn read(path: &Path) -> Result<Self> {
        let file = TextFile::open(path)?;
        // Of a repeated key the last value counts, as in Moses.
        let find = |name: &str| -> Result<(super::text_file::TextLine<'_>, &[u8])> {
            let mut found = Err(missing(&file, name));
            for line in file.lines() {
                let (key, value) = line.split_at_tab()?;
                if key == name.as_bytes() {
                    found = Ok((line, value));
                }
            }
            found
        };
        let number =
            |name: &str| find(name).and_then(|(line, value)| line.parse_number::<u64>(2, value));
        let version = number("API_VERSION")?;
        if version != VERSION {
            return Err(Error::Options(format!(
                "{}: ProbingPT version {version}, this program reads version {VERSION}; build the \
                 table again with `miriam pt build`",
                path.display()
            )));
        }
        let bounded = |name: &str, least: u64, most: usize| -> Result<usize> {
            let (line, value) = find(name)?;
            let number = line.parse_number::<u64>(2, value)?;
            if !(least..=most as u64).contains(&number) {
                let reason = format!("{name} is {number}, not between {least} and {most}");
                return Err(line.error(Some(2), reason));
            }
            Ok(number as usize)
        };
        let (line, log_prob) = find("log_prob")?;
        let log_prob = str::from_utf8(log_prob).ok().and_then(parse_truth_word);
        let log_prob =
            log_prob.ok_or_else(|| line.error(Some(2), "log_prob is neither 0 nor 1"))?;
        Ok(Config {
            sources: number("uniq_entries")?,
            num_scores: bounded("num_scores", 1, MAX_SCORES)?,
            num_reordering: bounded("num_lex_scores", 0, MAX_REORDERING)?,
            log_prob,
        })
    }
}

fn missing(file: &TextFile, name: &str) -> Error {
    file.error(format!("{name} is missing; tables older than version {VERSION} are not read"))
}
