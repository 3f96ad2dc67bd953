//! Learning of vocabularies from text: BPE codes, SentencePiece models, word lists.
//!
//! The text is read once, in parallel blocks. Only the counts of its words are kept; vocabularies
//! are learned from these counts. Therefore memory grows with the number of distinct words, and the
//! vocabulary depends neither on the order of lines nor on the number of threads.

use std::io::Write;
use std::path::PathBuf;

use miriam_textio::{Input, Progress, ProgressTask, fields, map_blocks, split_lines};
use miriam_textproc::sentencepiece::{PieceTrainer, TrainError, TrainOptions};
use miriam_textproc::{
    BpeLearnOptions, Interrupted, SentencePiece, WordCounts, add_bpe_line, learn_bpe,
};

use crate::{Error, Result};

/// The words with the ids 0 and 1 in every word vocabulary, as in Marian.
const SPECIAL_WORDS: [&[u8]; 2] = [b"</s>", b"<unk>"];

/// The kind of vocabulary to learn, with its options.
#[derive(Clone, Debug)]
pub enum LearnOptions {
    /// A file of BPE codes, as subword-nmt writes it.
    Bpe(BpeLearnOptions),
    /// A SentencePiece model.
    SentencePiece(TrainOptions),
    /// A vocabulary of whole words, as Marian writes it.
    Words {
        /// The maximum number of words including `</s>` and `<unk>`, so at least 2; `None` for no
        /// maximum.
        max_size: Option<usize>,
    },
}

/// A vocabulary that was learned from text.
#[derive(Clone, Debug)]
pub struct LearnedVocabulary {
    /// The content of the vocabulary file.
    pub bytes: Vec<u8>,
    /// The number of merges, pieces or words.
    pub len: usize,
}

/// Learns a vocabulary from the lines of all `texts`, which may be compressed; `-` is standard
/// input. Texts are read, and SentencePiece models are learned, on `threads` threads.
///
/// # Errors
/// If a text cannot be read, if the texts have no words, if a word vocabulary would have fewer than
/// 2 words, if the texts have too few distinct words for the requested size (SentencePiece), or if
/// threads cannot be started; [`Error::Cancelled`] if `progress` is cancelled while words are
/// counted or a SentencePiece model is learned.
pub fn learn_vocabulary(
    texts: &[PathBuf],
    options: &LearnOptions,
    threads: usize,
    progress: &dyn Progress,
) -> Result<LearnedVocabulary> {
    let text_names =
        texts.iter().map(|text| text.display().to_string()).collect::<Vec<_>>().join(", ");
    let unsupported = |reason: String| Error::Unsupported { file: text_names.clone(), reason };
    if let LearnOptions::Words { max_size: Some(size) } = options
        && *size < SPECIAL_WORDS.len()
    {
        return Err(unsupported(format!(
            "the size of the word vocabulary is {size}; give 2 or more, for </s> and <unk>"
        )));
    }
    let counts = match options {
        LearnOptions::Bpe(_) => count_words(texts, threads, progress, add_bpe_line)?,
        LearnOptions::SentencePiece(_) => {
            count_words(texts, threads, progress, |line, counts| counts.add_line(line))?
        }
        LearnOptions::Words { .. } => count_words(texts, threads, progress, add_word_line)?,
    };
    if counts.is_empty() {
        return Err(unsupported("the text has no words".into()));
    }
    // The first report creates the task, because only reports of the SentencePiece trainer tell its
    // total.
    let mut task: Option<ProgressTask> = None;
    let mut report = |done: u64, total: u64| {
        let task = task.get_or_insert_with(|| progress.task("learning", Some(total)));
        task.set_position(done);
        !task.is_cancelled()
    };
    match options {
        LearnOptions::Bpe(options) => {
            let total = options.max_merges as u64;
            let learned = learn_bpe(&counts, *options, |done| report(done, total))
                .map_err(|Interrupted| Error::Cancelled)?;
            Ok(LearnedVocabulary { bytes: learned.codes, len: learned.num_merges })
        }
        LearnOptions::SentencePiece(options) => {
            let learned = PieceTrainer::new(options.clone()).train(&counts, threads, report);
            let bytes = learned.map_err(|error| match error {
                TrainError::Cancelled => Error::Cancelled,
                error => unsupported(error.to_string()),
            })?;
            let len = SentencePiece::from_bytes(&bytes, &text_names)?.len();
            Ok(LearnedVocabulary { bytes, len })
        }
        LearnOptions::Words { max_size } => {
            let words = select_words(&counts, *max_size);
            Ok(LearnedVocabulary { bytes: words_to_yaml(&words), len: words.len() })
        }
    }
}

/// Counts the words of a line, separated by spaces; a CR at its end is not part of a word.
fn add_word_line(line: &[u8], counts: &mut WordCounts) {
    for word in fields::split_at_spaces(line.strip_suffix(b"\r").unwrap_or(line)) {
        counts.add(word, 1);
    }
}

/// Counts the words of all texts in parallel; `add_line` counts the words of a line.
fn count_words(
    texts: &[PathBuf],
    threads: usize,
    progress: &dyn Progress,
    add_line: impl Fn(&[u8], &mut WordCounts) + Sync,
) -> Result<WordCounts> {
    let mut counts = WordCounts::default();
    for text in texts {
        map_blocks(
            Input::open(text)?,
            threads,
            ("counting words", progress),
            |block| {
                let mut block_counts = WordCounts::default();
                split_lines(block).for_each(|line| add_line(line, &mut block_counts));
                block_counts
            },
            |block_counts, _| {
                counts.merge(block_counts);
                if progress.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
            },
        )?;
    }
    Ok(counts)
}

/// Returns the words of a vocabulary in the order of their ids: `</s>`, `<unk>`, then the words of
/// a text by falling count, and by their bytes where counts are equal; at most `max_size` in all.
pub fn select_words(counts: &WordCounts, max_size: Option<usize>) -> Vec<&[u8]> {
    let text_words = counts.sorted().into_iter().map(|(word, _)| word);
    let text_words = text_words.filter(|word| !SPECIAL_WORDS.contains(word));
    SPECIAL_WORDS.into_iter().chain(text_words).take(max_size.unwrap_or(usize::MAX)).collect()
}

/// Returns a map from words to ids in YAML, which [`Vocabulary::open`](super::Vocabulary::open)
/// reads; Marian reads it too if all words are UTF-8. Words are quoted, because some have another
/// meaning in YAML without quotes (`no`, `1`, `:`).
pub fn words_to_yaml(words: &[&[u8]]) -> Vec<u8> {
    let mut yaml = Vec::new();
    for (id, word) in words.iter().enumerate() {
        yaml.push(b'"');
        for &byte in *word {
            match byte {
                b'"' | b'\\' => yaml.extend_from_slice(&[b'\\', byte]),
                0..0x20 | 0x7f => {
                    write!(yaml, "\\x{byte:02x}").expect("writing to a vector does not fail");
                }
                _ => yaml.push(byte),
            }
        }
        writeln!(yaml, "\": {id}").expect("writing to a vector does not fail");
    }
    yaml
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Vocabulary;
    use miriam_textio::NoProgress;
    use proptest::prelude::*;

    #[test]
    fn frequent_words_come_first_and_bytes_decide_ties() {
        let mut counts = WordCounts::default();
        counts.add_line(b"b a b c a d <unk> \xc3\xa4 z z z");
        let all = [&b"</s>"[..], b"<unk>", b"z", b"a", b"b", b"c", b"d", b"\xc3\xa4"];
        assert_eq!(select_words(&counts, None), all);
        assert_eq!(select_words(&counts, Some(4)), all[..4]);
    }

    #[test]
    fn too_small_sizes_are_rejected_before_texts_are_read() {
        let options = LearnOptions::Words { max_size: Some(1) };
        let texts = [PathBuf::from("absent")];
        let error = learn_vocabulary(&texts, &options, 1, &NoProgress).unwrap_err();
        assert!(error.to_string().contains("vocabulary is 1; give 2 or more"), "{error}");
    }

    proptest! {
        #[test]
        fn any_words_are_read_back(
            text in proptest::collection::vec(any::<u8>(), 0..60),
            more in "[ -~\u{80}-\u{2030}]{0,20}",
        ) {
            let mut counts = WordCounts::default();
            counts.add_line(&text);
            counts.add_line(more.as_bytes());
            let words = select_words(&counts, None);
            let read = Vocabulary::parse(&words_to_yaml(&words), Path::new("words.yml")).unwrap();
            prop_assert!(read.iter().eq(words.iter().copied()));
            prop_assert_eq!((read.eos_id(), read.unk_id()), (0, 1));
        }
    }
}
