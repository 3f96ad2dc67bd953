//! Writer of Marian's `.bin` (`neural.md` 1.2).
//!
//! All headers come before all contents, so items are first collected in memory.

use std::io::Write;
use std::path::Path;

use miriam_storage::atomic_file::AtomicFile;

use crate::{Error, Result};

/// Every content begins at a multiple of this number of bytes.
const ALIGNMENT: usize = 256;
/// The version of the format.
const VERSION: u64 = 1;
const F32_KIND: u64 = 0x404;
const BYTES_KIND: u64 = 0x101;
/// The types of integers of eight and of sixteen bits, as the fork for browsers numbers them.
const BROWSER_I8_KIND: u64 = 0x4101;
const BROWSER_I16_KIND: u64 = 0x4102;

/// An item with its content, padded.
struct Item {
    name: Vec<u8>,
    kind: u64,
    shape: Vec<i32>,
    content: Vec<u8>,
}

/// The items of a `.bin` that is being written.
#[derive(Default)]
pub struct MarianBinaryWriter {
    items: Vec<Item>,
}

impl MarianBinaryWriter {
    /// Adds a tensor of 32-bit floats in row-major order.
    ///
    /// # Panics
    /// If a dimension has more than 31 bits.
    pub fn add_f32(&mut self, name: &str, shape: &[usize], values: &[f32]) {
        let content = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.add(name, F32_KIND, shape, content);
    }

    /// Adds a matrix of integers, one output column after the other, and the multiplier by which
    /// numbers became integers.
    ///
    /// # Panics
    /// If a dimension has more than 31 bits.
    pub fn add_i8(&mut self, name: &str, shape: &[usize], values: &[i8], multiplier: f32) {
        let mut content: Vec<u8> = values.iter().map(|&value| value as u8).collect();
        content.extend_from_slice(&multiplier.to_le_bytes());
        self.add(name, BROWSER_I8_KIND, shape, content);
    }

    /// Works as [`MarianBinaryWriter::add_i8`] with integers of sixteen bits.
    ///
    /// # Panics
    /// If a dimension has more than 31 bits.
    pub fn add_i16(&mut self, name: &str, shape: &[usize], values: &[i16], multiplier: f32) {
        let mut content: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        content.extend_from_slice(&multiplier.to_le_bytes());
        self.add(name, BROWSER_I16_KIND, shape, content);
    }

    /// Adds bytes, as Marian stores text.
    ///
    /// # Panics
    /// If there are more than 2 GiB less 256 bytes.
    pub fn add_bytes(&mut self, name: &str, bytes: &[u8]) {
        self.add(name, BYTES_KIND, &[bytes.len().next_multiple_of(ALIGNMENT)], bytes.to_vec());
    }

    fn add(&mut self, name: &str, kind: u64, shape: &[usize], mut content: Vec<u8>) {
        content.resize(content.len().next_multiple_of(ALIGNMENT), 0);
        fn dimension(&n: &usize) -> i32 {
            i32::try_from(n).expect("a dimension of 31 bits")
        }
        let shape = shape.iter().map(dimension).collect();
        let name = [name.as_bytes(), b"\0"].concat();
        self.items.push(Item { name, kind, shape, content });
    }

    /// Writes all items, sorted by name, to the file `path`, which appears complete or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(mut self, path: &Path) -> Result<()> {
        self.items.sort_by(|a, b| a.name.cmp(&b.name));
        let mut head = Vec::new();
        let mut push = |number: u64| head.extend_from_slice(&number.to_le_bytes());
        push(VERSION);
        push(self.items.len() as u64);
        for Item { name, kind, shape, content } in &self.items {
            push(name.len() as u64);
            push(*kind);
            push(shape.len() as u64);
            push(content.len() as u64);
        }
        self.items.iter().for_each(|item| head.extend_from_slice(&item.name));
        for dimension in self.items.iter().flat_map(|item| &item.shape) {
            head.extend_from_slice(&dimension.to_le_bytes());
        }
        let start = head.len() + size_of::<u64>();
        let padding = start.next_multiple_of(ALIGNMENT) - start;
        head.extend_from_slice(&(padding as u64).to_le_bytes());
        head.resize(head.len() + padding, 0);
        let mut file = AtomicFile::create(path)?;
        let contents = self.items.iter().map(|item| &item.content);
        for bytes in std::iter::once(&head).chain(contents) {
            file.write_all(bytes)
                .map_err(|e| Error::from(miriam_storage::Error::io(path, "write", e)))?;
        }
        Ok(file.commit()?)
    }
}
