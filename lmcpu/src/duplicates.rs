//! N-grams that an ARPA file lists twice.
//!
//! They make a model ambiguous: KenLM silently keeps one of the two, depending on the kind of file.
//! Here they are an error that names both lines, unless the user chooses to keep the first.

use std::collections::VecDeque;
use std::path::Path;

use miriam_storage::parallel;
use miriam_textio::Vocabulary;

use crate::arpa::{ArpaOptions, ArpaReader, DuplicatePolicy, Section, Unigram};
use crate::hash::combine;
use crate::ngram_errors::duplicate_error;
use crate::{NgramSource, Result};

/// Reads the model at `path` with `read`. If it is ARPA text that lists an n-gram twice and can be
/// read again, keeps the first of the two, as KenLM's probing models do.
///
/// # Errors
///
/// Those of `read`.
pub fn read_keeping_first<T, E>(
    path: &Path,
    options: ArpaOptions,
    read: impl Fn(ArpaOptions) -> Result<T, E>,
) -> Result<T, E>
where
    E: AsDuplicateError,
{
    match read(options) {
        // Keeping the first takes more memory, and duplicates are rare, so it is tried only now.
        Err(error) if error.is_duplicate() && path.is_file() => {
            read(ArpaOptions { duplicates: DuplicatePolicy::KeepFirst, ..options })
        }
        outcome => outcome,
    }
}

/// An error that may say that an n-gram is listed twice.
pub trait AsDuplicateError {
    /// Whether an n-gram is listed twice.
    fn is_duplicate(&self) -> bool;
}

impl AsDuplicateError for crate::Error {
    fn is_duplicate(&self) -> bool {
        matches!(self, crate::Error::Duplicate(_))
    }
}

/// An ARPA file without the later of two equal entries. The whole file is read at once, because its
/// counts come before its n-grams and depend on what is left out.
pub(crate) struct DedupSource<'p> {
    arpa: ArpaReader<'p>,
    counts: Vec<u64>,
    sections: VecDeque<Section>,
}

impl<'p> DedupSource<'p> {
    /// Reads all sections of `arpa`, which has dropped duplicate unigrams already.
    pub fn read(mut arpa: ArpaReader<'p>) -> Result<Self> {
        let mut counts = vec![arpa.unigrams().len() as u64 - u64::from(!arpa.has_unknown())];
        let mut sections = VecDeque::new();
        while let Some(mut section) = arpa.next_section()? {
            let keep = mark_first_occurrences(&section);
            section.retain(&keep);
            counts.push(section.len() as u64);
            sections.push_back(section);
        }
        for (i, (kept, all)) in counts.iter().zip(arpa.counts()).enumerate() {
            if kept < all {
                let (file, order, left_out) = (arpa.name(), i + 1, all - kept);
                tracing::warn!("{file}: {left_out} {order}-grams are duplicates and were left out");
            }
        }
        Ok(DedupSource { arpa, counts, sections })
    }
}

/// Checks that `section`, which was read from ARPA text, lists no n-gram twice. Readers that build
/// tables find duplicates anyway; this check is for readers that build none.
///
/// # Errors
///
/// If an n-gram is listed twice.
pub(crate) fn reject_duplicates(section: &Section, source: &dyn NgramSource) -> Result<()> {
    let Some(second) = mark_first_occurrences(section).iter().position(|is_first| !is_first) else {
        return Ok(());
    };
    let first = (0..second).position(|i| section.ngram(i) == section.ngram(second));
    Err(duplicate_error(section, first.unwrap_or(second), second, source))
}

/// Tells for each n-gram whether it is the first one with its words.
fn mark_first_occurrences(section: &Section) -> Vec<bool> {
    let mut hashes = parallel::map(section.len(), |i| {
        let words = section.ngram(i).iter();
        (words.fold(section.order as u64, |hash, &word| combine(hash, word)), i as u64)
    });
    parallel::sort_numbered_keys(&mut hashes);
    let mut keep = vec![true; section.len()];
    for equal in hashes.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1) {
        for (at, &(_, later)) in equal.iter().enumerate() {
            // Different n-grams may have equal hashes.
            let later = later as usize;
            keep[later] =
                equal[..at].iter().all(|&(_, i)| section.ngram(i as usize) != section.ngram(later));
        }
    }
    keep
}

impl NgramSource for DedupSource<'_> {
    fn name(&self) -> &str {
        self.arpa.name()
    }

    fn counts(&self) -> &[u64] {
        &self.counts
    }

    fn vocabulary(&self) -> &Vocabulary {
        self.arpa.vocabulary()
    }

    fn unigrams(&self) -> &[Unigram] {
        self.arpa.unigrams()
    }

    fn has_unknown(&self) -> bool {
        self.arpa.has_unknown()
    }

    fn next_section(&mut self) -> Result<Option<Section>> {
        Ok(self.sections.pop_front())
    }

    fn ngram_error(&self, section: &Section, index: usize, reason: String) -> crate::Error {
        self.arpa.error(section.line(index), reason)
    }
}

#[cfg(test)]
mod tests {
    use miriam_textio::NoProgress;

    use super::*;
    use crate::dump;
    use crate::test_support::{capture_output, text_input};

    const TWICE: &str = "\\data\\\nngram 1=6\nngram 2=4\n\n\\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.5\n\
        -2\t</s>\n-1.5\ta\t-0.25\n-1.25\ta\t-0.125\n-3\tb\n\n\\2-grams:\n-0.5\t<s> a\n-0.75\ta b\n\
        -0.25\ta b\n-0.875\ta </s>\n\n\\end\\\n";

    fn read(arpa: &str, duplicates: DuplicatePolicy) -> Result<Vec<u8>> {
        let options = ArpaOptions { duplicates, ..ArpaOptions::default() };
        let input = text_input(arpa.as_bytes(), "twice.arpa");
        let arpa = ArpaReader::open(input, options, &NoProgress)?;
        let mut source = DedupSource::read(arpa)?;
        Ok(capture_output(|output| dump(&mut source, output, &NoProgress))?.0)
    }

    #[test]
    fn keep_first_keeps_the_first_entry() {
        let found = String::from_utf8(read(TWICE, DuplicatePolicy::KeepFirst).unwrap()).unwrap();
        let expected = "\\data\\\nngram 1=5\nngram 2=3\n\n\\1-grams:\n-1\t<unk>\t0\n\
            -99\t<s>\t-0.5\n-2\t</s>\t0\n-1.5\ta\t-0.25\n-3\tb\t0\n\n\\2-grams:\n-0.5\t<s> a\n\
            -0.75\ta b\n-0.875\ta </s>\n\n\\end\\\n";
        assert_eq!(found, expected);
    }

    #[test]
    fn duplicate_error_names_both_lines() {
        let message = read(TWICE, DuplicatePolicy::Reject).unwrap_err().to_string();
        assert!(message.contains("twice.arpa, line 10"), "{message}");
        assert!(message.contains("already on line 9"), "{message}");
    }
}
