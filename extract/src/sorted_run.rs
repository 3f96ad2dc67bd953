//! Sorted runs: files with the phrase pairs of one partition, written and read back.
//!
//! A phrase pair is delta-encoded against the previous one, mostly in single bytes. Blocks are
//! compressed separately, so that a reader needs memory for one block.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use miriam_textio::leb128::{push_leb128, read_leb128};
use xxhash_rust::xxh3::Xxh3Default;

use crate::links::Link;
use crate::phrase_pair::PhrasePair;
use crate::reordering::{pop_orientation_counts, push_orientation_counts};
use crate::{Error, Result};

/// The size of a block in bytes before compression.
const BLOCK_BYTES: usize = 128 << 10;
/// The fastest level, because delta encoding makes the data small already.
const ZSTD_LEVEL: i32 = 1;

/// The length and hash of a complete run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checksum {
    pub entries: u64,
    pub bytes: u64,
    pub digest: u64,
}

fn io_error(path: &Path, action: &'static str) -> impl Fn(std::io::Error) -> Error {
    let name = path.display().to_string();
    move |e| miriam_textio::Error::io(&name, action, e).into()
}

const WRITE_ACTION: &str =
    "write this temporary file; make room, or name another folder with --temp";
const READ_ACTION: &str = "read back this temporary file; remove it and start again";

/// A writer of a run.
pub(crate) struct RunWriter {
    path: PathBuf,
    file: BufWriter<File>,
    digest: Xxh3Default,
    compressor: zstd::bulk::Compressor<'static>,
    checksum: Checksum,
    block: Vec<u8>,
    compressed: Vec<u8>,
    source: Vec<u32>,
    target: Vec<u32>,
}

impl RunWriter {
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(io_error(path, WRITE_ACTION))?;
        Ok(RunWriter {
            path: path.to_owned(),
            file: BufWriter::new(file),
            digest: Xxh3Default::new(),
            compressor: zstd::bulk::Compressor::new(ZSTD_LEVEL)
                .map_err(io_error(path, WRITE_ACTION))?,
            checksum: Checksum::default(),
            block: Vec::with_capacity(BLOCK_BYTES + BLOCK_BYTES / 4),
            compressed: Vec::new(),
            source: Vec::new(),
            target: Vec::new(),
        })
    }

    pub fn push(&mut self, entry: &PhrasePair<'_>) -> Result<()> {
        let block = &mut self.block;
        for (last, words) in [(&mut self.source, entry.source), (&mut self.target, entry.target)] {
            let shared = last.iter().zip(words).take_while(|(a, b)| a == b).count();
            push_leb128(block, shared as u64);
            push_leb128(block, (words.len() - shared) as u64);
            words[shared..].iter().for_each(|&word| push_leb128(block, word.into()));
            last.clear();
            last.extend_from_slice(words);
        }
        push_leb128(block, u64::from(entry.count) << 1 | u64::from(entry.is_pruned));
        push_leb128(block, entry.target_count);
        push_leb128(block, entry.distinct_sources.into());
        entry
            .lexical_weights
            .iter()
            .for_each(|weight| block.extend_from_slice(&weight.to_le_bytes()));
        push_leb128(block, entry.links.len() as u64);
        for link in entry.links {
            push_leb128(block, link.target.into());
            push_leb128(block, link.source.into());
        }
        push_orientation_counts(entry.count, &entry.orientations, block);
        self.checksum.entries += 1;
        if self.block.len() >= BLOCK_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let coded = &mut self.compressed;
        coded.clear();
        coded.reserve(zstd::zstd_safe::compress_bound(self.block.len()));
        self.compressor
            .compress_to_buffer(&self.block, coded)
            .map_err(io_error(&self.path, WRITE_ACTION))?;
        let head = [coded.len() as u32, self.block.len() as u32].map(u32::to_le_bytes).concat();
        for bytes in [&head, &*coded] {
            self.file.write_all(bytes).map_err(io_error(&self.path, WRITE_ACTION))?;
            self.digest.update(bytes);
            self.checksum.bytes += bytes.len() as u64;
        }
        self.block.clear();
        self.source.clear();
        self.target.clear();
        Ok(())
    }

    /// Finishes the run and syncs it to disk.
    pub fn finish(mut self) -> Result<Checksum> {
        if !self.block.is_empty() {
            self.flush()?;
        }
        let file = self
            .file
            .into_inner()
            .map_err(|e| io_error(&self.path, WRITE_ACTION)(e.into_error()))?;
        file.sync_data().map_err(io_error(&self.path, WRITE_ACTION))?;
        self.checksum.digest = self.digest.digest();
        Ok(self.checksum)
    }
}

/// Whether the file at `path` has this checksum.
pub(crate) fn matches_checksum(path: &Path, checksum: &Checksum) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.len() == checksum.bytes)
        && file_digest(path).is_ok_and(|digest| digest == checksum.digest)
}

fn file_digest(path: &Path) -> std::io::Result<u64> {
    let mut file = File::open(path)?;
    let mut digest = Xxh3Default::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(digest.digest()),
            n => digest.update(&buffer[..n]),
        }
    }
}

/// A reader of a run, positioned at one of its phrase pairs. The file is open only while a block is
/// read, because systems limit the number of open files, and all runs are merged at once.
pub(crate) struct RunReader {
    path: PathBuf,
    /// The place of the next block in the file.
    next_block: u64,
    remaining: u64,
    decompressor: zstd::bulk::Decompressor<'static>,
    compressed: Vec<u8>,
    block: Vec<u8>,
    position: usize,
    /// The current phrase pair.
    source: Vec<u32>,
    target: Vec<u32>,
    links: Vec<Link>,
    scalars: PhrasePair<'static>,
}

impl RunReader {
    /// Creates a reader that is positioned before the first phrase pair.
    pub fn new(path: &Path, checksum: &Checksum) -> Result<Self> {
        Ok(RunReader {
            path: path.to_owned(),
            next_block: 0,
            remaining: checksum.entries,
            decompressor: zstd::bulk::Decompressor::new().map_err(io_error(path, READ_ACTION))?,
            compressed: Vec::new(),
            block: Vec::new(),
            position: 0,
            source: Vec::new(),
            target: Vec::new(),
            links: Vec::new(),
            scalars: PhrasePair::default(),
        })
    }

    /// Advances to the next phrase pair; returns false at the end.
    pub fn advance(&mut self) -> Result<bool> {
        if self.remaining == 0 {
            return Ok(false);
        }
        self.remaining -= 1;
        if self.position == self.block.len() {
            self.read_block()?;
        }
        let bytes = &self.block[..];
        let at = &mut self.position;
        for words in [&mut self.source, &mut self.target] {
            words.truncate(read_leb128(bytes, at) as usize);
            let fresh = read_leb128(bytes, at);
            words.extend((0..fresh).map(|_| read_leb128(bytes, at) as u32));
        }
        let count = read_leb128(bytes, at);
        self.scalars.count = (count >> 1) as u32;
        self.scalars.is_pruned = count & 1 == 1;
        self.scalars.target_count = read_leb128(bytes, at);
        self.scalars.distinct_sources = read_leb128(bytes, at) as u32;
        for weight in &mut self.scalars.lexical_weights {
            let four = bytes[*at..*at + 4].try_into().expect("four bytes");
            *weight = f32::from_le_bytes(four);
            *at += 4;
        }
        self.links.clear();
        for _ in 0..read_leb128(bytes, at) {
            let target = read_leb128(bytes, at) as u32;
            self.links.push(Link { target, source: read_leb128(bytes, at) as u32 });
        }
        self.scalars.orientations = pop_orientation_counts(self.scalars.count, bytes, at);
        Ok(true)
    }

    fn read_block(&mut self) -> Result<()> {
        let failed = io_error(&self.path, READ_ACTION);
        let mut file = File::open(&self.path).map_err(&failed)?;
        file.seek(SeekFrom::Start(self.next_block)).map_err(&failed)?;
        let mut head = [0; 8];
        file.read_exact(&mut head).map_err(&failed)?;
        let [coded, plain] = [&head[..4], &head[4..]]
            .map(|four| u32::from_le_bytes(four.try_into().expect("four bytes")) as usize);
        self.compressed.resize(coded, 0);
        file.read_exact(&mut self.compressed).map_err(&failed)?;
        self.next_block += (head.len() + coded) as u64;
        self.block.clear();
        self.block.reserve(plain);
        self.decompressor
            .decompress_to_buffer(&self.compressed, &mut self.block)
            .map_err(&failed)?;
        self.position = 0;
        self.source.clear();
        self.target.clear();
        Ok(())
    }

    /// Returns the current phrase pair.
    pub fn entry(&self) -> PhrasePair<'_> {
        PhrasePair {
            source: &self.source,
            target: &self.target,
            links: &self.links,
            ..self.scalars
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_round_trip_and_damage_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let words: Vec<Vec<u32>> = (0..9000).map(|i| vec![7, i / 100, i]).collect();
        let links = [Link { target: 0, source: 2 }, Link { target: 1, source: 0 }];
        let entry = |i: usize| PhrasePair {
            source: &words[i],
            target: &words[i / 3][1..],
            links: &links[..i % 3],
            count: i as u32 + 1,
            target_count: 3 * i as u64,
            distinct_sources: i as u32,
            lexical_weights: [1.0 / i as f32, 0.5],
            orientations: match i as u32 {
                0 => [[0, 0, 1, 0], [1, 0, 0, 0]],
                more => [[1, 0, more, 0], [0, 0, 0, more + 1]],
            },
            is_pruned: i.is_multiple_of(5),
        };
        let mut writer = RunWriter::create(&path).unwrap();
        (0..words.len()).for_each(|i| writer.push(&entry(i)).unwrap());
        let checksum = writer.finish().unwrap();
        assert!(matches_checksum(&path, &checksum));
        let mut reader = RunReader::new(&path, &checksum).unwrap();
        for i in 0..words.len() {
            assert!(reader.advance().unwrap());
            assert_eq!(reader.entry(), entry(i));
        }
        assert!(!reader.advance().unwrap());
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[100] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert!(!matches_checksum(&path, &checksum));
        std::fs::write(&path, &bytes[..99]).unwrap();
        assert!(!matches_checksum(&path, &checksum));
        assert!(!matches_checksum(&folder.path().join("none"), &checksum));
    }
}
