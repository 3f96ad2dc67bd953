//! Anchors, aliases, tags and merge keys, which only configurations have.
//!
//! An alias is a copy of the value with its anchor. Copies are limited in size and depth, because a
//! few lines of aliases of aliases could fill any memory.

use std::collections::HashSet;

use super::{MAX_DEPTH, Parser, Value};
use crate::Result;

/// The maximum size of all values that aliases copy: bytes of scalars, and one for each node.
const MAX_COPIED: usize = 1 << 18;

/// The key whose mappings are merged into its own mapping.
const MERGE: &[u8] = b"<<";

/// Tags that say what a value looks like anyway. The reader of a value decides its type.
const PLAIN_TAGS: [&[u8]; 11] = [
    b"!",
    b"!!str",
    b"!!int",
    b"!!float",
    b"!!bool",
    b"!!null",
    b"!!seq",
    b"!!map",
    b"!!python/tuple",
    b"!!python/str",
    b"!!python/unicode",
];

/// The anchors of a configuration, and the size of the copies of their values.
#[derive(Default)]
pub(super) struct Anchors {
    /// Names and values, in the order of the file.
    values: Vec<(Vec<u8>, Value)>,
    copied: usize,
}

/// The tags and the anchor before a node.
#[derive(Default)]
pub(super) struct Properties {
    anchor: Option<Vec<u8>>,
    is_present: bool,
}

impl Properties {
    pub fn is_present(&self) -> bool {
        self.is_present
    }
}

impl Parser<'_> {
    /// Reads the tags and the anchor before a node, and spaces after them.
    pub(super) fn properties(&mut self) -> Result<Properties> {
        let mut properties = Properties::default();
        if self.anchors.is_none() {
            return Ok(properties);
        }
        loop {
            match self.peek() {
                Some(b'&') => {
                    let name = self.property_name(1);
                    if name.is_empty() {
                        return Err(self.error("an anchor without a name; put & in quotes"));
                    }
                    properties.anchor = Some(name);
                }
                Some(b'!') => {
                    let tag = self.property_name(0);
                    if !PLAIN_TAGS.contains(&&tag[..]) {
                        let tag = String::from_utf8_lossy(&tag[..tag.len().min(40)]).into_owned();
                        return Err(self.error(&format!(
                            "the tag {tag} is not supported; leave it out, or put the text in quotes"
                        )));
                    }
                }
                // As text, it would silently replace the value that is meant.
                Some(b'*') if properties.is_present => {
                    return Err(self.error("an alias has no anchor and no tag; write *name alone"));
                }
                _ => return Ok(properties),
            }
            properties.is_present = true;
            self.skip_spaces();
        }
    }

    /// Reads an alias, if one begins here, and returns its value.
    pub(super) fn alias(&mut self) -> Result<Option<Value>> {
        if self.anchors.is_none() || self.peek() != Some(b'*') {
            return Ok(None);
        }
        let begin = self.position;
        let name = self.property_name(1);
        let mut values = self.anchors.iter().flat_map(|anchors| anchors.values.iter().rev());
        let value = values.find(|(known, _)| *known == name);
        let Some(value) = value.map(|(_, value)| value.clone()) else {
            self.position = begin;
            let name = String::from_utf8_lossy(&name[..name.len().min(40)]).into_owned();
            return Err(self.error(&format!(
                "there is no anchor &{name} before the alias *{name}; put a text that begins with \
                 * in quotes"
            )));
        };
        let (size, depth) = measure(&value);
        if self.depth + depth > MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        let copied = self.anchors.as_mut().map_or(0, |anchors| {
            anchors.copied = anchors.copied.saturating_add(size);
            anchors.copied
        });
        if copied > MAX_COPIED {
            return Err(self.error("the values of aliases are too large; write them out"));
        }
        Ok(Some(value))
    }

    /// Keeps the value of an anchor for aliases after it.
    pub(super) fn keep(&mut self, properties: Properties, value: &Value) {
        if let (Some(anchors), Some(name)) = (&mut self.anchors, properties.anchor) {
            anchors.values.push((name, value.clone()));
        }
    }

    /// Rejects a key with an anchor, an alias or a tag.
    pub(super) fn check_key(&self) -> Result<()> {
        if self.anchors.is_some() && matches!(self.peek(), Some(b'&' | b'*' | b'!')) {
            return Err(self.key_error());
        }
        Ok(())
    }

    pub(super) fn key_error(&self) -> crate::Error {
        self.error("keys have no anchors, aliases and tags; write the key alone, or in quotes")
    }

    /// Rejects a merge key whose value, which begins at `begin`, has anything but mappings.
    pub(super) fn check_merge(&mut self, begin: usize, key: &[u8], value: &Value) -> Result<()> {
        let mut items = value.items().iter();
        if self.anchors.is_some()
            && key == MERGE
            && items.any(|item| !matches!(item, Value::Mapping(_)))
        {
            self.position = begin;
            return Err(self.error("<< has a value that is not a mapping"));
        }
        Ok(())
    }

    /// Replaces merge keys (`<<`) by the entries of their mappings that the mapping itself lacks.
    pub(super) fn merge(&self, entries: Vec<(Vec<u8>, Value)>) -> Value {
        if self.anchors.is_none() || !entries.iter().any(|(key, _)| key == MERGE) {
            return Value::Mapping(entries);
        }
        let mut known: HashSet<Vec<u8>> = entries.iter().map(|(key, _)| key.clone()).collect();
        let mut merged: Vec<(Vec<u8>, Value)> = Vec::new();
        for (key, value) in entries {
            if key != MERGE {
                merged.push((key, value));
                continue;
            }
            for (key, value) in value.items().iter().filter_map(Value::entries).flatten() {
                if known.insert(key.clone()) {
                    merged.push((key.clone(), value.clone()));
                }
            }
        }
        Value::Mapping(merged)
    }

    /// Skips `skipped` bytes, and reads a name up to white space or an indicator of flow style.
    fn property_name(&mut self, skipped: usize) -> Vec<u8> {
        self.position += skipped;
        let begin = self.position;
        while self.peek().is_some_and(|b| !b.is_ascii_whitespace() && !b",[]{}".contains(&b)) {
            self.position += 1;
        }
        self.text[begin..self.position].to_vec()
    }
}

/// Returns the size of a value, and the depth of its nodes.
fn measure(value: &Value) -> (usize, usize) {
    fn add<'v>(values: impl Iterator<Item = (usize, &'v Value)>) -> (usize, usize) {
        values.fold((1, 1), |(size, depth), (key, value)| {
            let (more, below) = measure(value);
            (size + key + more, depth.max(below + 1))
        })
    }
    match value {
        Value::Scalar(bytes) => (bytes.len() + 1, 1),
        Value::Sequence(items) => add(items.iter().map(|item| (0, item))),
        Value::Mapping(entries) => add(entries.iter().map(|(key, value)| (key.len(), value))),
    }
}
