//! The corpus, read once: checked, encoded as word ids and stored in blocks of a few bytes
//! per word. Blocks are in memory up to a limit, the others in an unnamed temporary file.
//!
//! Later steps read all blocks several times, as the memory limit requires. Reading costs little
//! in comparison with the work on each sentence pair.

use std::path::Path;
use std::sync::atomic::Ordering;

use miriam_storage::spill_file::{SpillFile, TEMP_OR_MEMORY};
use miriam_textio::fields::{find_separator, split_words};
use miriam_textio::{
    Input, Lines, ParallelLines, Progress, Vocabulary, ordered_map, reject_giza_output,
};
use xxhash_rust::xxh3::Xxh3Default;

use crate::consistent_spans::for_each_consistent_span;
use crate::links::{Link, parse_links};
use crate::ranked_vocabulary::{RankedVocabulary, VocabularyBuilder};
use crate::sentence_pair::{SentencePair, encode_links, encode_words};
use crate::{Error, IN_FLIGHT_BATCHES, Result, check_cancelled};

/// The limits of the size of a batch, in bytes of text.
const BATCH_BYTES: (u64, u64) = (16 << 10, 256 << 10);
/// Bytes of memory per byte of text while it is parsed into a block.
const PARSING_OVERHEAD: u64 = 4;

/// Sentence pairs with their links.
pub(crate) struct Corpus {
    /// The source vocabulary and the target vocabulary.
    pub vocabularies: [RankedVocabulary; 2],
    /// The number of sentence pairs.
    pub pairs: u64,
    /// The number of occurrences of phrase pairs.
    pub instances: u64,
    /// A hash that identifies this text.
    pub digest: u128,
    blocks: Vec<StoredBlock>,
    /// Bytes of the blocks in memory.
    in_memory: u64,
    spill: SpillFile,
}

enum StoredBlock {
    Memory(Vec<u8>),
    Disk { at: u64, len: usize },
}

/// A batch of corresponding lines of the three files.
#[derive(Default)]
struct LineBatch {
    text: Vec<u8>,
    /// The ends of the three lines of each pair in `text`.
    ends: Vec<[usize; 3]>,
    first_line: u64,
}

/// A parsed batch, with word ids of its own vocabularies.
struct ParsedBatch {
    vocabularies: [Vocabulary; 2],
    tokens: [Vec<u32>; 2],
    links: Vec<Link>,
    /// The ends of each pair in the two token lists and in the links.
    ends: Vec<[usize; 3]>,
    instances: u64,
}

impl Corpus {
    /// Reads three files line by line. `longest` is the maximum phrase length; `memory` limits the
    /// blocks in memory, in bytes.
    pub fn read(
        inputs: [&Path; 3],
        longest: usize,
        memory: u64,
        folder: &Path,
        threads: usize,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let inputs =
            inputs.into_iter().map(Input::open).collect::<miriam_textio::Result<Vec<_>>>()?;
        let consumed: Vec<_> = inputs.iter().map(Input::consumed).collect();
        let total = inputs.iter().map(Input::size).sum();
        let task = progress.task("reading", total);
        let mut files = ParallelLines::new(inputs.into_iter().map(Lines::in_background).collect());
        let names = files.names().to_vec();
        let mut digests = [(); 3].map(|()| Xxh3Default::new());
        let mut corpus = CorpusBuilder::new(memory, folder);
        let size = memory / PARSING_OVERHEAD / (IN_FLIGHT_BATCHES * threads as u64);
        let size = size.clamp(BATCH_BYTES.0, BATCH_BYTES.1) as usize;
        ordered_map(
            threads,
            || {
                let done = consumed.iter().map(|count| count.load(Ordering::Relaxed)).sum();
                task.set_position(done);
                check_cancelled(&task)?;
                read_batch(&mut files, size, &mut digests)
            },
            || {
                let names = &names;
                let mut sentence = SentencePair::default();
                move |batch: LineBatch| parse_batch(&batch, names, longest, &mut sentence)
            },
            |parsed, _| corpus.add_batch(parsed?),
        )?;
        drop(task);
        let pairs = files.num_read();
        let digest = digests.iter().fold(0u128, |all, one| {
            all.rotate_left(41).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
                ^ one.digest128()
        });
        if pairs == 0 {
            let reason = "no text; write one sentence per line".to_owned();
            return Err(Error::Unsupported { file: names[0].clone(), reason });
        }
        corpus.finish(pairs, digest)
    }

    /// Returns the number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the ranks that end source phrases and target phrases in comparisons.
    pub fn end_ranks(&self) -> [u32; 2] {
        [0, 1].map(|side: usize| self.vocabularies[side].end_rank)
    }

    /// Returns the bytes of memory that the corpus takes.
    pub fn memory_bytes(&self) -> u64 {
        self.in_memory + self.vocabularies.iter().map(RankedVocabulary::memory_bytes).sum::<u64>()
    }

    /// Calls `take` with every sentence pair of block `i`.
    pub fn for_each_sentence_pair(
        &self,
        i: usize,
        sentence: &mut SentencePair,
        mut take: impl FnMut(&SentencePair),
    ) -> Result<()> {
        let loaded;
        let bytes = match &self.blocks[i] {
            StoredBlock::Memory(bytes) => bytes,
            StoredBlock::Disk { at, len } => {
                loaded = self.read_spilled(*at, *len)?;
                &loaded
            }
        };
        let mut at = 0;
        while at < bytes.len() {
            sentence.decode(bytes, &mut at, [&self.vocabularies[0], &self.vocabularies[1]]);
            take(sentence);
        }
        Ok(())
    }

    fn read_spilled(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.spill.read(at, &mut bytes)?;
        Ok(bytes)
    }
}

/// Reads the next lines of the three files, about `size` bytes.
fn read_batch(
    files: &mut ParallelLines,
    size: usize,
    digests: &mut [Xxh3Default; 3],
) -> Result<Option<LineBatch>> {
    let mut batch = LineBatch { first_line: files.num_read() + 1, ..LineBatch::default() };
    while batch.text.len() < size {
        let mut ends = [0; 3];
        let has_line = files.next(|file, name, line| {
            // Checked here already: output of GIZA++ has more lines than the texts, and the error
            // must not be that the numbers of lines differ.
            if file == 2 {
                reject_giza_output(name, line)?;
            }
            digests[file].update(line.bytes);
            digests[file].update(b"\n");
            batch.text.extend_from_slice(line.bytes);
            ends[file] = batch.text.len();
            Ok::<_, Error>(())
        })?;
        if !has_line {
            break;
        }
        batch.ends.push(ends);
    }
    Ok((!batch.ends.is_empty()).then_some(batch))
}

/// Parses and checks the lines of a batch.
fn parse_batch(
    batch: &LineBatch,
    names: &[String],
    longest: usize,
    sentence: &mut SentencePair,
) -> Result<ParsedBatch> {
    let mut parsed = ParsedBatch {
        vocabularies: [Vocabulary::new(), Vocabulary::new()],
        tokens: [Vec::new(), Vec::new()],
        links: Vec::new(),
        ends: Vec::with_capacity(batch.ends.len()),
        instances: 0,
    };
    let mut start = 0;
    let mut before = [0; 3];
    for (number, ends) in (batch.first_line..).zip(&batch.ends) {
        for (side, &end) in ends[..2].iter().enumerate() {
            // Lines may end in CRLF, as everywhere else.
            let line = &batch.text[start..end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if find_separator(line).is_some() {
                let reason = "a word contains |||, the field separator of tables; write it as \
                              &#124;&#124;&#124;, as Moses' tokenizer does";
                return Err(line_error(&names[side], number, reason.to_owned()));
            }
            let vocabulary = &mut parsed.vocabularies[side];
            parsed.tokens[side].extend(split_words(line).map(|word| vocabulary.intern(word).0));
            start = end;
        }
        let line = &batch.text[start..ends[2]];
        start = ends[2];
        let counts = [0, 1].map(|side| parsed.tokens[side].len() - before[side]);
        parse_links(line, counts[0], counts[1], &mut parsed.links)
            .map_err(|reason| line_error(&names[2], number, reason))?;
        parsed.links[before[2]..].sort_unstable();
        sentence.set(
            &parsed.tokens[0][before[0]..],
            &parsed.tokens[1][before[1]..],
            &parsed.links[before[2]..],
        );
        for_each_consistent_span(sentence, longest, |block| {
            parsed.instances += block.count_source_spans(longest)
        });
        before = [parsed.tokens[0].len(), parsed.tokens[1].len(), parsed.links.len()];
        parsed.ends.push(before);
    }
    Ok(parsed)
}

fn line_error(file: &str, line: u64, reason: String) -> Error {
    miriam_textio::Error::format(file, line, None, reason).into()
}

/// A corpus under construction.
struct CorpusBuilder {
    vocabularies: [VocabularyBuilder; 2],
    instances: u64,
    blocks: Vec<StoredBlock>,
    memory_limit: u64,
    in_memory: u64,
    spill: SpillFile,
}

impl CorpusBuilder {
    fn new(memory: u64, folder: &Path) -> Self {
        CorpusBuilder {
            vocabularies: [VocabularyBuilder::new(), VocabularyBuilder::new()],
            instances: 0,
            blocks: Vec::new(),
            memory_limit: memory,
            in_memory: 0,
            spill: SpillFile::new(folder, TEMP_OR_MEMORY),
        }
    }

    fn add_batch(&mut self, parsed: ParsedBatch) -> Result<()> {
        let ids: [Vec<u32>; 2] = [0, 1].map(|side: usize| {
            let words = parsed.vocabularies[side].iter();
            words.map(|word| self.vocabularies[side].intern(word)).collect()
        });
        let mut bytes = Vec::with_capacity(2 * parsed.tokens[0].len() + 2 * parsed.tokens[1].len());
        let mut before = [0; 3];
        for &ends in &parsed.ends {
            for (side, ids) in ids.iter().enumerate() {
                let tokens = &parsed.tokens[side][before[side]..ends[side]];
                encode_words(tokens.iter().map(|&token| ids[token as usize]), &mut bytes);
            }
            encode_links(&parsed.links[before[2]..ends[2]], &mut bytes);
            before = ends;
        }
        self.instances += parsed.instances;
        let block = if self.in_memory + bytes.len() as u64 <= self.memory_limit {
            bytes.shrink_to_fit();
            self.in_memory += bytes.len() as u64;
            StoredBlock::Memory(bytes)
        } else {
            StoredBlock::Disk { at: self.spill.append(&bytes)?, len: bytes.len() }
        };
        self.blocks.push(block);
        Ok(())
    }

    fn finish(self, pairs: u64, digest: u128) -> Result<Corpus> {
        Ok(Corpus {
            vocabularies: self.vocabularies.map(VocabularyBuilder::into_ranked),
            pairs,
            instances: self.instances,
            digest,
            blocks: self.blocks,
            in_memory: self.in_memory,
            spill: self.spill,
        })
    }
}
