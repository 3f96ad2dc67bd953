//! Parser of YAML's block style, in which indentation shows the nesting of nodes.

use super::{Parser, Value};
use crate::Result;

impl Parser<'_> {
    /// Parses the node that begins here or on a later line and is indented by at least `least`
    /// columns; null if there is no such node.
    pub(super) fn block_node(&mut self, least: usize) -> Result<Value> {
        self.skip_blank();
        if self.has_no_node(least) {
            return Ok(Value::Scalar(Vec::new()));
        }
        if let Some(value) = self.alias()? {
            return Ok(value);
        }
        let properties = self.properties()?;
        if !properties.is_present() {
            return self.bare_block_node(least);
        }
        let same_line = !self.skips_line_end();
        let value = self.node_after_properties(least, same_line)?;
        self.keep(properties, &value);
        Ok(value)
    }

    /// Parses the node after an anchor or a tag. On the same line it may be in flow style or a
    /// scalar.
    fn node_after_properties(&mut self, least: usize, same_line: bool) -> Result<Value> {
        if self.has_no_node(least) {
            return Ok(Value::Scalar(Vec::new()));
        }
        let begin = self.position;
        let value = self.bare_block_node(least)?;
        // There, properties would be those of the first key.
        let is_block = self.text.get(begin) != Some(&b'{');
        if same_line && is_block && matches!(value, Value::Mapping(_)) {
            self.position = begin;
            return Err(self.key_error());
        }
        Ok(value)
    }

    /// Skips white space and comments. Returns whether there was a line end.
    fn skips_line_end(&mut self) -> bool {
        let begin = self.position;
        self.skip_blank();
        self.text[begin..self.position].contains(&b'\n')
    }

    /// Whether no node begins here that is indented by at least `least` columns.
    fn has_no_node(&self, least: usize) -> bool {
        self.peek().is_none() || self.column() < least || self.at_document_end()
    }

    /// Parses the node that begins here, without anchor and tags.
    fn bare_block_node(&mut self, least: usize) -> Result<Value> {
        let column = self.column();
        self.enter_nested()?;
        let value = if self.is_indicator(b'-') {
            self.block_sequence(column)
        } else if self.is_indicator(b'?') {
            self.block_mapping(column, None)
        } else {
            self.block_scalar_or_mapping(column, least)
        };
        self.depth -= 1;
        value
    }

    /// Parses the node after the colon of a key at `column`, after a `?` or after a `-`.
    fn value_after(&mut self, column: usize, follows_key: bool) -> Result<Value> {
        self.skip_spaces();
        if let Some(value) = self.alias()? {
            return Ok(value);
        }
        let properties = self.properties()?;
        let value = if matches!(self.peek(), Some(b'|' | b'>')) {
            self.block_scalar(column)?
        } else {
            let same_line = !self.skips_line_end();
            // A sequence under a key need not be indented.
            let least = if follows_key && self.is_indicator(b'-') { column } else { column + 1 };
            if follows_key && same_line {
                // A line has one key only.
                self.inline_value(column + 1)?
            } else if properties.is_present() && same_line {
                self.node_after_properties(least, true)?
            } else {
                self.block_node(least)?
            }
        };
        self.keep(properties, &value);
        Ok(value)
    }

    fn inline_value(&mut self, least: usize) -> Result<Value> {
        match self.peek() {
            None => Ok(Value::Scalar(Vec::new())),
            Some(b'[' | b'{') => self.flow_node(),
            Some(b'"' | b'\'') => Ok(Value::Scalar(self.quoted()?)),
            Some(_) => Ok(Value::Scalar(self.plain_lines(least))),
        }
    }

    fn block_sequence(&mut self, column: usize) -> Result<Value> {
        let mut items = Vec::new();
        while self.is_indicator(b'-') && self.column() == column && !self.at_document_end() {
            self.position += 1;
            items.push(self.value_after(column, false)?);
            self.skip_blank();
        }
        Ok(Value::Sequence(items))
    }

    fn block_scalar_or_mapping(&mut self, column: usize, least: usize) -> Result<Value> {
        let begin = self.position;
        let value = match self.peek() {
            Some(b'[' | b'{') => return self.flow_node(),
            Some(b'"' | b'\'') => self.quoted()?,
            _ => self.plain_line(),
        };
        self.skip_spaces();
        if self.is_indicator(b':') {
            return self.block_mapping(column, Some(value));
        }
        if matches!(self.text.get(begin), Some(b'"' | b'\'')) {
            return Ok(Value::Scalar(value));
        }
        self.position = begin;
        Ok(Value::Scalar(self.plain_lines(least)))
    }

    /// Parses a mapping with keys at `column`. `key` is the first key, if it has been read already;
    /// then the next byte is its colon.
    fn block_mapping(&mut self, column: usize, mut key: Option<Vec<u8>>) -> Result<Value> {
        let mut entries = Vec::new();
        loop {
            let key = match key.take() {
                Some(key) => key,
                None if self.peek().is_none() || self.at_document_end() => break,
                None if self.column() != column => break,
                None if self.is_indicator(b'?') => {
                    self.position += 1;
                    let Value::Scalar(key) = self.value_after(column, true)? else {
                        return Err(self.error("a key that is not a scalar"));
                    };
                    self.skip_blank();
                    if !(self.is_indicator(b':') && self.column() == column) {
                        entries.push((key, Value::Scalar(Vec::new())));
                        continue;
                    }
                    key
                }
                None => {
                    self.check_key()?;
                    let key = match self.peek() {
                        Some(b'"' | b'\'') => self.quoted()?,
                        _ => self.plain_line(),
                    };
                    self.skip_spaces();
                    key
                }
            };
            if !self.is_indicator(b':') {
                return Err(self.error("a key without a colon and a space after it"));
            }
            self.position += 1;
            let begin = self.position;
            let value = self.value_after(column, true)?;
            self.check_merge(begin, &key, &value)?;
            entries.push((key, value));
            self.skip_blank();
        }
        Ok(self.merge(entries))
    }

    /// Parses a block scalar: `|` keeps its lines, `>` joins them with spaces.
    fn block_scalar(&mut self, column: usize) -> Result<Value> {
        let folded = self.peek() == Some(b'>');
        self.position += 1;
        let begin = self.position;
        self.skip_line();
        let stripped = self.text[begin..self.position].contains(&b'-');
        let mut text = Vec::new();
        let mut indent = None;
        while self.peek() == Some(b'\n') {
            let line_start = self.position + 1;
            let line = self.text[line_start..].split(|&b| b == b'\n').next().unwrap_or_default();
            let spaces = line.iter().take_while(|&&b| b == b' ').count();
            let blank = line.iter().all(u8::is_ascii_whitespace);
            // Lines of the scalar are indented more than the key; an empty line may be shorter.
            if !blank && spaces <= column {
                break;
            }
            if !blank {
                let indent = *indent.get_or_insert(spaces);
                text.extend_from_slice(line.get(indent.min(spaces)..).unwrap_or_default());
            }
            text.push(if folded && !blank { b' ' } else { b'\n' });
            self.position = line_start + line.len();
        }
        while text.last().is_some_and(u8::is_ascii_whitespace) {
            text.pop();
        }
        if !stripped && !text.is_empty() {
            text.push(b'\n');
        }
        Ok(Value::Scalar(text))
    }

    fn at_document_end(&self) -> bool {
        let mark = self.rest().starts_with(b"---") || self.rest().starts_with(b"...");
        mark && self.column() == 0
            && matches!(self.text.get(self.position + 3), None | Some(b' ' | b'\n' | b'\r'))
    }
}
