//! Nodes in brackets and braces, and so all of JSON.

use super::{Parser, Value};
use crate::Result;

impl Parser<'_> {
    /// The node that begins here; inside of brackets line ends mean nothing.
    pub(super) fn flow_node(&mut self) -> Result<Value> {
        self.deeper()?;
        let value = match self.peek() {
            Some(b'[') => self.flow_sequence(),
            Some(b'{') => self.flow_mapping(),
            _ => self.flow_scalar().map(Value::Scalar),
        };
        self.depth -= 1;
        value
    }

    fn flow_sequence(&mut self) -> Result<Value> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_blank();
            match self.peek() {
                None => return Err(self.wrong("the text ends inside of [ ]")),
                Some(b']') => break,
                _ => items.push(self.flow_node()?),
            }
            self.separator(b']')?;
        }
        self.at += 1;
        Ok(Value::Sequence(items))
    }

    fn flow_mapping(&mut self) -> Result<Value> {
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.skip_blank();
            match self.peek() {
                None => return Err(self.wrong("the text ends inside of { }")),
                Some(b'}') => break,
                _ => {}
            }
            let key = self.flow_scalar()?;
            self.skip_blank();
            let mut value = Value::Scalar(Vec::new());
            if self.peek() == Some(b':') {
                self.at += 1;
                self.skip_blank();
                if !matches!(self.peek(), Some(b',' | b'}')) {
                    value = self.flow_node()?;
                }
            }
            entries.push((key, value));
            self.separator(b'}')?;
        }
        self.at += 1;
        Ok(Value::Mapping(entries))
    }

    /// The comma behind an item, unless `end` follows.
    fn separator(&mut self, end: u8) -> Result<()> {
        self.skip_blank();
        match self.peek() {
            Some(b',') => self.at += 1,
            Some(b) if b == end => {}
            _ => return Err(self.wrong(&format!("a comma or {} is missing", char::from(end)))),
        }
        Ok(())
    }

    fn flow_scalar(&mut self) -> Result<Vec<u8>> {
        if matches!(self.peek(), Some(b'"' | b'\'')) {
            return self.quoted();
        }
        let begin = self.at;
        while let Some(byte) = self.peek() {
            let ends = match byte {
                b',' | b']' | b'}' | b'[' | b'{' | b'\n' => true,
                b':' => matches!(
                    self.text.get(self.at + 1),
                    None | Some(b' ' | b'\n' | b'\r' | b'\t' | b',' | b'}' | b']')
                ),
                b'#' => self.at > begin && matches!(self.text[self.at - 1], b' ' | b'\t'),
                _ => false,
            };
            if ends {
                break;
            }
            self.at += 1;
        }
        let text = self.text[begin..self.at].trim_ascii();
        if text.is_empty() {
            return Err(self.wrong("a value is missing"));
        }
        Ok(text.to_vec())
    }
}
