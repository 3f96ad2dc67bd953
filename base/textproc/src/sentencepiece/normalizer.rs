//! Normalisation before segmentation: a map replaces characters, runs of spaces become one space,
//! and spaces are written as U+2581.
//!
//! The map is a double-array trie in Darts-clone's format, which is part of the model file. At
//! each position, the longest key that matches is replaced.

use std::collections::BTreeSet;

use super::protobuf::{Fields, WireValue};
use super::trie::DoubleArrayTrie;

/// The symbol of a space inside pieces: U+2581.
pub const SPACE_SYMBOL: &[u8] = "\u{2581}".as_bytes();

/// The replacement of an invalid byte.
const REPLACEMENT_CHARACTER: &[u8] = "\u{fffd}".as_bytes();

/// The normalisation of one model.
pub struct Normalizer {
    /// Units of the double array; empty if the model has no map.
    units: Vec<u32>,
    /// Replacements, each terminated by a zero byte.
    replacements: Vec<u8>,
    pub add_dummy_prefix: bool,
    pub remove_extra_whitespaces: bool,
    escape_whitespaces: bool,
    /// User-defined pieces, which stay unchanged.
    user_defined: Option<DoubleArrayTrie>,
}

impl Default for Normalizer {
    fn default() -> Self {
        Normalizer {
            units: Vec::new(),
            replacements: Vec::new(),
            add_dummy_prefix: true,
            remove_extra_whitespaces: true,
            escape_whitespaces: true,
            user_defined: None,
        }
    }
}

impl Normalizer {
    /// Parses the normaliser's specification in a model file.
    pub fn parse(message: &[u8]) -> Result<Self, String> {
        let mut normalizer = Normalizer::default();
        for field in Fields::new(message) {
            match field.map_err(|()| "the normaliser's specification is truncated")? {
                (2, WireValue::Bytes(map)) => normalizer.set_charsmap(map)?,
                (3, WireValue::Varint(number)) => normalizer.add_dummy_prefix = number != 0,
                (4, WireValue::Varint(number)) => normalizer.remove_extra_whitespaces = number != 0,
                (5, WireValue::Varint(number)) => normalizer.escape_whitespaces = number != 0,
                _ => {}
            }
        }
        Ok(normalizer)
    }

    /// Sets the map of characters from its bytes in a model file.
    pub fn set_charsmap(&mut self, map: &[u8]) -> Result<(), String> {
        if map.is_empty() {
            return Ok(());
        }
        fn wrong() -> String {
            "the character map is truncated".to_owned()
        }
        let (length, rest) = map.split_first_chunk::<4>().ok_or_else(wrong)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (units, replacements) = rest.split_at_checked(length).ok_or_else(wrong)?;
        let (units, left) = units.as_chunks::<4>();
        if units.is_empty() || !left.is_empty() || replacements.last() != Some(&0) {
            return Err("the character map is damaged".into());
        }
        self.units = units.iter().map(|&unit| u32::from_le_bytes(unit)).collect();
        self.replacements = replacements.to_vec();
        Ok(())
    }

    /// Whether the model has a character map.
    pub fn has_charsmap(&self) -> bool {
        !self.units.is_empty()
    }

    /// Sets the user-defined pieces, which stay unchanged. Duplicates and empty pieces are ignored.
    pub fn set_user_defined<'a>(&mut self, texts: impl Iterator<Item = &'a [u8]>) {
        let texts: BTreeSet<&[u8]> = texts.filter(|text| !text.is_empty()).collect();
        let texts = (!texts.is_empty()).then_some(texts);
        self.user_defined =
            texts.map(|texts| DoubleArrayTrie::new(texts.into_iter().map(|text| (0, text))));
    }

    /// Returns the length in bytes of the longest user-defined piece that `text` begins with.
    pub fn user_defined_prefix_len(&self, text: &[u8]) -> Option<usize> {
        self.user_defined.as_ref().and_then(|kept| kept.longest_prefix(text))
    }

    /// Appends the normalised `text` to `normal`. `whitespace_as_suffix` puts the dummy space at
    /// the end of the sentence instead of its beginning.
    pub fn normalize(&self, text: &[u8], whitespace_as_suffix: bool, normal: &mut Vec<u8>) {
        let begin = normal.len();
        let space = if self.escape_whitespaces { SPACE_SYMBOL } else { b" " };
        let mut rest = text;
        if self.remove_extra_whitespaces {
            while !rest.is_empty() {
                let (replaced, length) = self.normalize_prefix(rest);
                if replaced != b" " {
                    break;
                }
                rest = &rest[length..];
            }
        }
        if rest.is_empty() {
            return;
        }
        if self.add_dummy_prefix && !whitespace_as_suffix {
            normal.extend_from_slice(space);
        }
        let mut after_space = self.remove_extra_whitespaces;
        while !rest.is_empty() {
            let (mut replaced, length) = self.normalize_prefix(rest);
            while after_space && let Some(shorter) = replaced.strip_prefix(b" ") {
                replaced = shorter;
            }
            for &byte in replaced {
                match byte {
                    b' ' => normal.extend_from_slice(space),
                    _ => normal.push(byte),
                }
            }
            if let Some(&last) = replaced.last() {
                after_space = self.remove_extra_whitespaces && last == b' ';
            }
            rest = &rest[length..];
        }
        if self.remove_extra_whitespaces {
            while normal.len() > begin && normal[begin..].ends_with(space) {
                normal.truncate(normal.len() - space.len());
            }
        }
        if self.add_dummy_prefix && whitespace_as_suffix {
            normal.extend_from_slice(space);
        }
    }

    /// Appends `text` with the characters that the map replaces. Unlike
    /// [`normalize`](Self::normalize), it does not change spaces.
    pub fn replace_all(&self, text: &[u8], normal: &mut Vec<u8>) {
        let mut rest = text;
        while !rest.is_empty() {
            let (replaced, length) = self.normalize_prefix(rest);
            normal.extend_from_slice(replaced);
            rest = &rest[length..];
        }
    }

    /// Normalises the beginning of the non-empty `text`. Returns the result, and how many bytes of
    /// `text` it replaces.
    fn normalize_prefix<'a>(&'a self, text: &'a [u8]) -> (&'a [u8], usize) {
        if let Some(length) = self.user_defined_prefix_len(text) {
            return (&text[..length], length);
        }
        if let Some((length, start)) = self.longest_match(text) {
            let replacement = self.replacements.get(start..).unwrap_or_default();
            return (replacement.split(|&b| b == 0).next().unwrap_or_default(), length);
        }
        match char_len(text) {
            Some(length) => (&text[..length], length),
            None => (REPLACEMENT_CHARACTER, 1),
        }
    }

    /// Returns the length in bytes of the longest key of the map that `text` begins with, and the
    /// offset of its replacement.
    fn longest_match(&self, text: &[u8]) -> Option<(usize, usize)> {
        let mut found = None;
        let mut index = child_offset(*self.units.first()?);
        for (length, &byte) in (1..).zip(text) {
            index ^= usize::from(byte);
            let Some(&unit) = self.units.get(index) else { break };
            // A unit's label is its lowest byte, and its highest bit is not set.
            if unit & 0x8000_00ff != u32::from(byte) {
                break;
            }
            index ^= child_offset(unit);
            if unit >> 8 & 1 == 1 {
                let Some(&leaf) = self.units.get(index) else { break };
                found = Some((length, (leaf & 0x7fff_ffff) as usize));
            }
        }
        found
    }
}

/// Returns the offset from a unit to the base of its children.
fn child_offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 0x200) >> 6)) as usize
}

/// Returns the length in bytes of the character that `text` begins with, if it is valid.
pub fn char_len(text: &[u8]) -> Option<usize> {
    let length = match text.first()? {
        0..0x80 => return Some(1),
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => return None,
    };
    let character = text.get(..length)?;
    std::str::from_utf8(character).is_ok().then_some(length)
}
