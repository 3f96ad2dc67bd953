//! Flow style: nodes in brackets and braces.

use super::{Parser, Value};
use crate::Result;

impl Parser<'_> {
    /// Parses the node that begins here; line ends inside brackets are white space.
    pub(super) fn flow_node(&mut self) -> Result<Value> {
        if let Some(value) = self.alias()? {
            return Ok(value);
        }
        let properties = self.properties()?;
        self.skip_blank();
        self.enter_nested()?;
        let value = match self.peek() {
            Some(b'[') => self.flow_sequence(),
            Some(b'{') => self.flow_mapping(),
            // A null, as in `[&a, 1]`.
            Some(b',' | b']' | b'}') if properties.is_present() => Ok(Value::Scalar(Vec::new())),
            _ => self.flow_scalar().map(Value::Scalar),
        };
        self.depth -= 1;
        let value = value?;
        self.keep(properties, &value);
        Ok(value)
    }

    fn flow_sequence(&mut self) -> Result<Value> {
        self.position += 1;
        let mut items = Vec::new();
        loop {
            self.skip_blank();
            match self.peek() {
                None => return Err(self.error("the text ends inside of [ ]")),
                Some(b']') => break,
                _ => items.push(self.flow_node()?),
            }
            self.expect_separator(b']')?;
        }
        self.position += 1;
        Ok(Value::Sequence(items))
    }

    fn flow_mapping(&mut self) -> Result<Value> {
        self.position += 1;
        let mut entries = Vec::new();
        loop {
            self.skip_blank();
            match self.peek() {
                None => return Err(self.error("the text ends inside of { }")),
                Some(b'}') => break,
                _ => {}
            }
            self.check_key()?;
            let begin = self.position;
            let key = self.flow_scalar()?;
            self.skip_blank();
            let mut value = Value::Scalar(Vec::new());
            if self.peek() == Some(b':') {
                self.position += 1;
                self.skip_blank();
                if !matches!(self.peek(), Some(b',' | b'}')) {
                    value = self.flow_node()?;
                }
            }
            self.check_merge(begin, &key, &value)?;
            entries.push((key, value));
            self.expect_separator(b'}')?;
        }
        self.position += 1;
        Ok(self.merge(entries))
    }

    /// Skips the comma after an item, unless `end` follows.
    fn expect_separator(&mut self, end: u8) -> Result<()> {
        self.skip_blank();
        match self.peek() {
            Some(b',') => self.position += 1,
            Some(b) if b == end => {}
            _ => return Err(self.error(&format!("a comma or {} is missing", char::from(end)))),
        }
        Ok(())
    }

    fn flow_scalar(&mut self) -> Result<Vec<u8>> {
        if matches!(self.peek(), Some(b'"' | b'\'')) {
            return self.quoted();
        }
        let begin = self.position;
        while let Some(byte) = self.peek() {
            let ends = match byte {
                b',' | b']' | b'}' | b'[' | b'{' | b'\n' => true,
                b':' => matches!(
                    self.text.get(self.position + 1),
                    None | Some(b' ' | b'\n' | b'\r' | b'\t' | b',' | b'}' | b']')
                ),
                b'#' => {
                    self.position > begin && matches!(self.text[self.position - 1], b' ' | b'\t')
                }
                _ => false,
            };
            if ends {
                break;
            }
            self.position += 1;
        }
        let text = self.text[begin..self.position].trim_ascii();
        if text.is_empty() {
            return Err(self.error("a value is missing"));
        }
        Ok(text.to_vec())
    }
}
