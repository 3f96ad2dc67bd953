//! Wire format of protocol buffers: varints, byte strings, 32-bit and 64-bit values.

/// A field's value on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WireValue<'a> {
    /// A varint.
    Varint(u64),
    /// A string or an embedded message.
    Bytes(&'a [u8]),
    /// Four bytes: a float.
    Fixed32(u32),
    /// Eight bytes; their value is not needed.
    Fixed64,
}

/// Iterator over the fields of a message: number and value. A damaged message yields `Err` once,
/// then the iteration ends.
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub fn new(message: &'a [u8]) -> Self {
        Fields { rest: message }
    }

    fn read_varint(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..70).step_by(7) {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            // Bits beyond the 64th are dropped, as protobuf readers do.
            number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn read_bytes(&mut self, length: u64) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(usize::try_from(length).ok()?)?;
        self.rest = rest;
        Some(bytes)
    }

    fn read_field(&mut self) -> Option<(u64, WireValue<'a>)> {
        let key = self.read_varint()?;
        let value = match key & 7 {
            0 => WireValue::Varint(self.read_varint()?),
            1 => self.read_bytes(8).map(|_| WireValue::Fixed64)?,
            2 => {
                let length = self.read_varint()?;
                WireValue::Bytes(self.read_bytes(length)?)
            }
            5 => WireValue::Fixed32(u32::from_le_bytes(self.read_bytes(4)?.try_into().ok()?)),
            _ => return None,
        };
        Some((key >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, WireValue<'a>), ()>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.read_field();
        if field.is_none() {
            self.rest = &[];
        }
        Some(field.ok_or(()))
    }
}

/// A message to be written: its fields on the wire.
#[derive(Default)]
pub struct Message(Vec<u8>);

impl Message {
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn push_varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub fn varint(&mut self, field: u64, number: u64) {
        self.push_varint(field << 3);
        self.push_varint(number);
    }

    pub fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.push_varint(field << 3 | 2);
        self.push_varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub fn float(&mut self, field: u64, number: f32) {
        self.push_varint(field << 3 | 5);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub fn message(&mut self, field: u64, message: Message) {
        self.bytes(field, &message.0);
    }
}
