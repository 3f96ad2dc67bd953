//! Entries on disk: the file that a partition becomes, and how it is read back.
//!
//! An entry is written as what differs from the one before it, most of it in single
//! bytes. Blocks are compressed one by one, so that a reader holds one block.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3Default;

use crate::links::Link;
use crate::partition::Entry;
use crate::reordering::MAX_CLASSES;
use crate::sentence::{push_varint, read_varint};
use crate::{Error, Result};

/// Bytes of entries in a block.
const BLOCK: usize = 128 << 10;
/// As fast as it gets; the entries are small already.
const LEVEL: i32 = 1;

/// What tells a whole run from another or a cut one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seal {
    pub entries: u64,
    pub bytes: u64,
    pub digest: u64,
}

fn failed(path: &Path, action: &'static str) -> impl Fn(std::io::Error) -> Error {
    let name = path.display().to_string();
    move |e| miriam_textio::Error::io(&name, action, e).into()
}

const WRITE: &str = "write this temporary file; make room, or name another folder with --temp";
const READ: &str = "read back this temporary file; start again without it";

/// A run being written.
pub(crate) struct RunWriter {
    path: PathBuf,
    file: BufWriter<File>,
    digest: Xxh3Default,
    compressor: zstd::bulk::Compressor<'static>,
    seal: Seal,
    block: Vec<u8>,
    source: Vec<u32>,
    target: Vec<u32>,
}

impl RunWriter {
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(failed(path, WRITE))?;
        Ok(RunWriter {
            path: path.to_owned(),
            file: BufWriter::new(file),
            digest: Xxh3Default::new(),
            compressor: zstd::bulk::Compressor::new(LEVEL).map_err(failed(path, WRITE))?,
            seal: Seal::default(),
            block: Vec::with_capacity(BLOCK + BLOCK / 4),
            source: Vec::new(),
            target: Vec::new(),
        })
    }

    pub fn push(&mut self, entry: &Entry<'_>) -> Result<()> {
        let block = &mut self.block;
        for (last, words) in [(&mut self.source, entry.source), (&mut self.target, entry.target)] {
            let shared = last.iter().zip(words).take_while(|(a, b)| a == b).count();
            push_varint(block, shared as u64);
            push_varint(block, (words.len() - shared) as u64);
            words[shared..].iter().for_each(|&word| push_varint(block, word.into()));
            last.clear();
            last.extend_from_slice(words);
        }
        push_varint(block, u64::from(entry.count) << 1 | u64::from(entry.pruned));
        push_varint(block, entry.target_count);
        push_varint(block, entry.target_distinct.into());
        entry.lexical.iter().for_each(|weight| block.extend_from_slice(&weight.to_le_bytes()));
        push_varint(block, entry.links.len() as u64);
        for link in entry.links {
            push_varint(block, link.target.into());
            push_varint(block, link.source.into());
        }
        entry.orientations.iter().flatten().for_each(|&count| push_varint(block, count.into()));
        self.seal.entries += 1;
        if self.block.len() >= BLOCK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let coded = self.compressor.compress(&self.block).map_err(failed(&self.path, WRITE))?;
        let head = [coded.len() as u32, self.block.len() as u32].map(u32::to_le_bytes).concat();
        for bytes in [&head, &coded] {
            self.file.write_all(bytes).map_err(failed(&self.path, WRITE))?;
            self.digest.update(bytes);
            self.seal.bytes += bytes.len() as u64;
        }
        self.block.clear();
        self.source.clear();
        self.target.clear();
        Ok(())
    }

    /// Ends the run, which is then on disk.
    pub fn finish(mut self) -> Result<Seal> {
        if !self.block.is_empty() {
            self.flush()?;
        }
        let file = self.file.into_inner().map_err(|e| failed(&self.path, WRITE)(e.into_error()))?;
        file.sync_data().map_err(failed(&self.path, WRITE))?;
        self.seal.digest = self.digest.digest();
        Ok(self.seal)
    }
}

/// Whether the file at `path` is the run that `seal` was put on.
pub(crate) fn is_whole(path: &Path, seal: &Seal) -> bool {
    let digest = || -> std::io::Result<u64> {
        let mut file = File::open(path)?;
        if file.metadata()?.len() != seal.bytes {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        let (mut digest, mut buffer) = (Xxh3Default::new(), vec![0; 1 << 20]);
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(digest.digest()),
                n => digest.update(&buffer[..n]),
            }
        }
    };
    digest().is_ok_and(|digest| digest == seal.digest)
}

/// A run being read, at one of its entries.
pub(crate) struct RunReader {
    path: PathBuf,
    file: BufReader<File>,
    left: u64,
    decompressor: zstd::bulk::Decompressor<'static>,
    coded: Vec<u8>,
    block: Vec<u8>,
    at: usize,
    /// The entry.
    source: Vec<u32>,
    target: Vec<u32>,
    links: Vec<Link>,
    numbers: Entry<'static>,
}

impl RunReader {
    /// Opens the run and stands before its first entry.
    pub fn open(path: &Path, seal: &Seal) -> Result<Self> {
        let file = File::open(path).map_err(failed(path, READ))?;
        Ok(RunReader {
            path: path.to_owned(),
            file: BufReader::new(file),
            left: seal.entries,
            decompressor: zstd::bulk::Decompressor::new().map_err(failed(path, READ))?,
            coded: Vec::new(),
            block: Vec::new(),
            at: 0,
            source: Vec::new(),
            target: Vec::new(),
            links: Vec::new(),
            numbers: Entry::default(),
        })
    }

    /// Goes on to the next entry; false at the end.
    pub fn advance(&mut self) -> Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        if self.at == self.block.len() {
            self.load()?;
        }
        let (bytes, at) = (&self.block[..], &mut self.at);
        for words in [&mut self.source, &mut self.target] {
            words.truncate(read_varint(bytes, at) as usize);
            let fresh = read_varint(bytes, at);
            words.extend((0..fresh).map(|_| read_varint(bytes, at) as u32));
        }
        let mut number = || read_varint(bytes, at);
        let count = number();
        (self.numbers.count, self.numbers.pruned) = ((count >> 1) as u32, count & 1 == 1);
        self.numbers.target_count = number();
        self.numbers.target_distinct = number() as u32;
        for weight in &mut self.numbers.lexical {
            let four = bytes[*at..*at + 4].try_into().expect("four bytes");
            *weight = f32::from_le_bytes(four);
            *at += 4;
        }
        self.links.clear();
        for _ in 0..read_varint(bytes, at) {
            let target = read_varint(bytes, at) as u32;
            self.links.push(Link { target, source: read_varint(bytes, at) as u32 });
        }
        self.numbers.orientations =
            [(); 2].map(|()| [(); MAX_CLASSES].map(|()| read_varint(bytes, at) as u32));
        Ok(true)
    }

    fn load(&mut self) -> Result<()> {
        let failed = failed(&self.path, READ);
        let mut head = [0; 8];
        self.file.read_exact(&mut head).map_err(&failed)?;
        let [coded, plain] = [&head[..4], &head[4..]]
            .map(|four| u32::from_le_bytes(four.try_into().expect("four bytes")) as usize);
        self.coded.resize(coded, 0);
        self.file.read_exact(&mut self.coded).map_err(&failed)?;
        self.block = self.decompressor.decompress(&self.coded, plain).map_err(&failed)?;
        self.at = 0;
        self.source.clear();
        self.target.clear();
        Ok(())
    }

    /// The entry that the reader is at.
    pub fn entry(&self) -> Entry<'_> {
        Entry { source: &self.source, target: &self.target, links: &self.links, ..self.numbers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_and_damage_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let words: Vec<Vec<u32>> = (0..9000).map(|i| vec![7, i / 100, i]).collect();
        let links = [Link { target: 0, source: 2 }, Link { target: 1, source: 0 }];
        let entry = |i: usize| Entry {
            source: &words[i],
            target: &words[i / 3][1..],
            links: &links[..i % 3],
            count: i as u32 + 1,
            target_count: 3 * i as u64,
            target_distinct: i as u32,
            lexical: [1.0 / i as f32, 0.5],
            orientations: [[1, 2, 3, i as u32], [0; 4]],
            pruned: i.is_multiple_of(5),
        };
        let mut writer = RunWriter::create(&path).unwrap();
        (0..words.len()).for_each(|i| writer.push(&entry(i)).unwrap());
        let seal = writer.finish().unwrap();
        assert!(is_whole(&path, &seal));
        let mut reader = RunReader::open(&path, &seal).unwrap();
        for i in 0..words.len() {
            assert!(reader.advance().unwrap());
            assert_eq!(reader.entry(), entry(i));
        }
        assert!(!reader.advance().unwrap());
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[100] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert!(!is_whole(&path, &seal));
        std::fs::write(&path, &bytes[..99]).unwrap();
        assert!(!is_whole(&path, &seal));
        assert!(!is_whole(&folder.path().join("none"), &seal));
    }
}
