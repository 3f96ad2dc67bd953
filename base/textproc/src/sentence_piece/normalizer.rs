//! What text goes through before it is cut: characters replaced by a map, spaces joined
//! and marked.
//!
//! The map is a double-array trie in the form of Darts-clone, compiled into the model
//! file: for each position the longest key that matches is replaced.

use super::protobuf::{Fields, Wire};
use super::trie::Trie;

/// Stands for a space inside of pieces: U+2581.
pub const SPACE: &[u8] = "\u{2581}".as_bytes();

/// In place of a byte that is part of no character.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// The rules of one model.
pub struct Normalizer {
    /// Units of the double array; empty: every character stays.
    units: Vec<u32>,
    /// Replacements, each ended by a zero.
    replacements: Vec<u8>,
    pub dummy_prefix: bool,
    pub remove_extra_spaces: bool,
    mark_spaces: bool,
    /// Text that is left as it is.
    kept: Option<Trie>,
}

impl Default for Normalizer {
    fn default() -> Self {
        Normalizer {
            units: Vec::new(),
            replacements: Vec::new(),
            dummy_prefix: true,
            remove_extra_spaces: true,
            mark_spaces: true,
            kept: None,
        }
    }
}

impl Normalizer {
    pub fn parse(message: &[u8]) -> Result<Self, String> {
        let mut normalizer = Normalizer::default();
        for field in Fields::new(message) {
            match field.map_err(|()| "the rules of normalisation are cut")? {
                (2, Wire::Bytes(map)) => normalizer.set_map(map)?,
                (3, Wire::Number(number)) => normalizer.dummy_prefix = number != 0,
                (4, Wire::Number(number)) => normalizer.remove_extra_spaces = number != 0,
                (5, Wire::Number(number)) => normalizer.mark_spaces = number != 0,
                _ => {}
            }
        }
        Ok(normalizer)
    }

    fn set_map(&mut self, map: &[u8]) -> Result<(), String> {
        if map.is_empty() {
            return Ok(());
        }
        let wrong = || "the map of characters is cut".to_owned();
        let (length, rest) = map.split_first_chunk::<4>().ok_or_else(wrong)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (units, replacements) = rest.split_at_checked(length).ok_or_else(wrong)?;
        let (units, left) = units.as_chunks::<4>();
        if units.is_empty() || !left.is_empty() || replacements.last() != Some(&0) {
            return Err("the map of characters is damaged".into());
        }
        self.units = units.iter().map(|&unit| u32::from_le_bytes(unit)).collect();
        self.replacements = replacements.to_vec();
        Ok(())
    }

    /// Whether there is a map at all.
    pub fn has_map(&self) -> bool {
        !self.units.is_empty()
    }

    /// Leaves these texts as they are wherever they stand.
    pub fn keep<'a>(&mut self, texts: impl Iterator<Item = &'a [u8]>) {
        let mut texts = texts.peekable();
        self.kept = texts.peek().is_some().then(|| Trie::new(texts.map(|text| (0, text))));
    }

    /// The length of the kept text at the beginning of `text`.
    pub fn kept(&self, text: &[u8]) -> Option<usize> {
        self.kept.as_ref().and_then(|kept| kept.longest(text))
    }

    /// Appends the normal form of `text`, spaces marked, to `normal`. `space_behind` says
    /// where the space goes that a sentence gets of its own.
    pub fn normalize(&self, text: &[u8], space_behind: bool, normal: &mut Vec<u8>) {
        let begin = normal.len();
        let space = if self.mark_spaces { SPACE } else { b" " };
        let mut rest = text;
        if self.remove_extra_spaces {
            while !rest.is_empty() {
                let (replaced, length) = self.replace(rest);
                if replaced != b" " {
                    break;
                }
                rest = &rest[length..];
            }
        }
        if rest.is_empty() {
            return;
        }
        if self.dummy_prefix && !space_behind {
            normal.extend_from_slice(space);
        }
        let mut behind_space = self.remove_extra_spaces;
        while !rest.is_empty() {
            let (mut replaced, length) = self.replace(rest);
            while behind_space && let Some(shorter) = replaced.strip_prefix(b" ") {
                replaced = shorter;
            }
            for &byte in replaced {
                match byte {
                    b' ' => normal.extend_from_slice(space),
                    _ => normal.push(byte),
                }
            }
            if let Some(&last) = replaced.last() {
                behind_space = self.remove_extra_spaces && last == b' ';
            }
            rest = &rest[length..];
        }
        if self.remove_extra_spaces {
            while normal.len() > begin && normal[begin..].ends_with(space) {
                normal.truncate(normal.len() - space.len());
            }
        }
        if self.dummy_prefix && space_behind {
            normal.extend_from_slice(space);
        }
    }

    /// Appends `text` with characters replaced, spaces as they are.
    pub fn replace_all(&self, text: &[u8], normal: &mut Vec<u8>) {
        let mut rest = text;
        while !rest.is_empty() {
            let (replaced, length) = self.replace(rest);
            normal.extend_from_slice(replaced);
            rest = &rest[length..];
        }
    }

    /// What stands for the beginning of `text`, which is not empty, and how many bytes
    /// that is.
    fn replace<'a>(&'a self, text: &'a [u8]) -> (&'a [u8], usize) {
        if let Some(length) = self.kept(text) {
            return (&text[..length], length);
        }
        if let Some((length, start)) = self.longest(text) {
            let replacement = self.replacements.get(start..).unwrap_or_default();
            return (replacement.split(|&b| b == 0).next().unwrap_or_default(), length);
        }
        match character_length(text) {
            Some(length) => (&text[..length], length),
            None => (REPLACEMENT, 1),
        }
    }

    /// The longest key of the map that `text` begins with, and where its replacement is.
    fn longest(&self, text: &[u8]) -> Option<(usize, usize)> {
        let mut found = None;
        let mut place = offset(*self.units.first()?);
        for (length, &byte) in (1..).zip(text) {
            place ^= usize::from(byte);
            let Some(&unit) = self.units.get(place) else { break };
            // A unit's label is its lowest byte, and its highest bit is not set.
            if unit & 0x8000_00ff != u32::from(byte) {
                break;
            }
            place ^= offset(unit);
            if unit >> 8 & 1 == 1 {
                let Some(&leaf) = self.units.get(place) else { break };
                found = Some((length, (leaf & 0x7fff_ffff) as usize));
            }
        }
        found
    }
}

/// From a unit to the base of its children.
fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 0x200) >> 6)) as usize
}

/// Bytes of the character that `text` begins with, if it is one.
pub fn character_length(text: &[u8]) -> Option<usize> {
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
