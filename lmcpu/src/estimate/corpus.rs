//! Conversion of text to word ids.
//!
//! Blocks of text are split into words in parallel, each with its own vocabulary. One thread then
//! maps the ids of a block to ids of the whole text, so only the distinct words of a block are
//! looked up in the large vocabulary. Blocks and their words keep their order, so ids are in the
//! order of first appearance (`ngram-lm.md` 3.2).

use std::io::Read;
use std::sync::atomic::Ordering;

use miriam_textio::{Input, Progress, Vocabulary, WordId, ordered_map};

use crate::{Error, Result};

/// The id of `<unk>`.
pub(super) const UNK: u32 = 0;
/// The id of `<s>`.
pub(super) const BOS: u32 = 1;
/// The id of `</s>`.
pub(super) const EOS: u32 = 2;
const MARKERS: [&[u8]; 3] = [b"<unk>", b"<s>", b"</s>"];

/// The largest number of words. Ids have 31 bits: one bit is for a flag.
const MAX_WORDS: usize = 1 << 31;

/// The longest word in bytes; only text without spaces has longer words.
const MAX_WORD_BYTES: usize = 64 << 20;

/// Options for reading text.
#[derive(Clone, Copy)]
pub(super) struct ReadOptions {
    /// The number of threads that split blocks.
    pub threads: usize,
    /// The size of a block in bytes.
    pub block_bytes: usize,
    /// Whether `<s>`, `</s>` and `<unk>` are read as spaces; they are errors if not.
    pub skip_markers: bool,
}

/// The vocabulary and the counts of a text.
pub(super) struct Corpus {
    /// The three markers, then the words of the text.
    pub vocabulary: Vocabulary,
    /// The count of each word; `</s>` occurs once per line.
    pub counts: Vec<u64>,
}

impl Corpus {
    /// Returns the number of words of the text, sentence ends not included.
    pub fn tokens(&self) -> u64 {
        self.counts.iter().sum::<u64>() - self.counts[EOS as usize]
    }
}

/// A block of text split into words.
struct SplitBlock {
    vocabulary: Vocabulary,
    /// Ids of the block's vocabulary; [`EOS`] at the end of each line.
    tokens: Vec<u32>,
    lines: u64,
    /// The line, counted from 0, and the id of the first marker among the words.
    first_marker: Option<(u64, u32)>,
}

/// Reads `input` and passes the ids of its words, with [`EOS`] after each line, to
/// `take`, block by block. A last line without a line end is a line too.
pub(super) fn read(
    input: Input,
    options: ReadOptions,
    progress: &dyn Progress,
    mut take: impl FnMut(&[u32]) -> Result<()>,
) -> Result<Corpus> {
    let name = input.name().to_owned();
    let consumed = input.consumed();
    let task = progress.task("reading text", input.size());
    let mut blocks = BlockReader {
        // Lines are not kept in memory, so a corpus may be one line.
        input: input.without_default_line_limit(),
        size: options.block_bytes.max(1),
        rest: Vec::new(),
        last_byte: b'\n',
        ended: false,
    };
    let mut corpus = Corpus { vocabulary: marker_vocabulary(), counts: vec![0; MARKERS.len()] };
    let (mut lines, mut warned) = (0, false);
    let (mut ids, mut tokens) = (Vec::new(), Vec::new());
    ordered_map(
        options.threads,
        || {
            task.set_position(consumed.load(Ordering::Relaxed));
            blocks.next()
        },
        || |text: Vec<u8>| split_block(&text, options.skip_markers),
        |block: SplitBlock, _| -> Result<()> {
            if let Some((line, marker)) = block.first_marker {
                let marker = String::from_utf8_lossy(MARKERS[marker as usize]);
                let line = lines + line + 1;
                if !options.skip_markers {
                    let reason = format!(
                        "the text has the word {marker}, which is reserved; remove it, or pass \
                         --skip-symbols to read it as a space"
                    );
                    return Err(miriam_textio::Error::format(&name, line, None, reason).into());
                }
                if !warned {
                    tracing::warn!(
                        "{name}, line {line}: {marker} is read as a space, here and below"
                    );
                    warned = true;
                }
            }
            ids.clear();
            ids.extend(block.vocabulary.iter().map(|word| corpus.vocabulary.intern(word).0));
            let num_words = corpus.vocabulary.len();
            if num_words > MAX_WORDS {
                let reason = format!("more than {MAX_WORDS} different words");
                return Err(Error::Unsupported { file: name.clone(), reason });
            }
            corpus.counts.resize(num_words, 0);
            tokens.clear();
            tokens.extend(block.tokens.iter().map(|&local| ids[local as usize]));
            tokens.iter().for_each(|&id| corpus.counts[id as usize] += 1);
            lines += block.lines;
            take(&tokens)
        },
    )?;
    Ok(corpus)
}

fn marker_vocabulary() -> Vocabulary {
    let mut vocabulary = Vocabulary::new();
    MARKERS.iter().for_each(|marker| _ = vocabulary.intern(marker));
    vocabulary
}

/// Whether `byte` separates words (`ngram-lm.md` 3.2).
#[inline]
pub(super) fn is_separator(byte: u8) -> bool {
    byte <= b' ' && matches!(byte, 0 | b'\t' | b'\n' | b'\r' | b' ')
}

fn split_block(text: &[u8], skip_markers: bool) -> SplitBlock {
    let mut block = SplitBlock {
        vocabulary: marker_vocabulary(),
        tokens: Vec::with_capacity(text.len() / 4),
        lines: 0,
        first_marker: None,
    };
    let mut at = 0;
    while at < text.len() {
        if is_separator(text[at]) {
            if text[at] == b'\n' {
                block.tokens.push(EOS);
                block.lines += 1;
            }
            at += 1;
            continue;
        }
        let length = text[at..].iter().position(|&byte| is_separator(byte));
        let end = length.map_or(text.len(), |length| at + length);
        let WordId(id) = block.vocabulary.intern(&text[at..end]);
        if id > EOS {
            block.tokens.push(id);
        } else {
            block.first_marker.get_or_insert((block.lines, id));
            if !skip_markers {
                break;
            }
        }
        at = end;
    }
    block
}

/// A reader of text in blocks, which end between words.
struct BlockReader {
    input: Input,
    size: usize,
    /// The first part of a word that the last block did not hold completely.
    rest: Vec<u8>,
    /// The last byte returned; a line end before the first block.
    last_byte: u8,
    ended: bool,
}

impl BlockReader {
    fn next(&mut self) -> Result<Option<Vec<u8>>> {
        if self.ended {
            return Ok(None);
        }
        let mut text = std::mem::take(&mut self.rest);
        loop {
            let start = text.len();
            text.reserve_exact(self.size);
            let got = (&mut self.input).take(self.size as u64).read_to_end(&mut text);
            got.map_err(|e| miriam_textio::Error::io(self.input.name(), "read", e))?;
            if text.len() < start + self.size {
                self.ended = true;
                break;
            }
            // What comes before is a part of one word.
            if let Some(at) = text[start..].iter().rposition(|&byte| is_separator(byte)) {
                let at = start + at;
                self.rest = text.split_off(at + 1);
                self.last_byte = text[at];
                return Ok(Some(text));
            }
            if text.len() > MAX_WORD_BYTES.max(self.size) {
                let file = self.input.name().to_owned();
                let reason = format!(
                    "a word has more than {MAX_WORD_BYTES} bytes; give a text file with spaces \
                     between words"
                );
                return Err(Error::Unsupported { file, reason });
            }
        }
        if *text.last().unwrap_or(&self.last_byte) != b'\n' {
            text.push(b'\n');
        }
        Ok(Some(text))
    }
}

/// Calls `found` with each word of `input`, separated as in text.
pub(super) fn read_words(mut input: Input, mut found: impl FnMut(&[u8])) -> Result<()> {
    let mut text = Vec::new();
    let read = input.read_to_end(&mut text);
    read.map_err(|e| miriam_textio::Error::io(input.name(), "read", e))?;
    text.split(|&byte| is_separator(byte)).filter(|word| !word.is_empty()).for_each(&mut found);
    Ok(())
}
