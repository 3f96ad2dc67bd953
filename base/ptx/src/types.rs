//! Types of PTX's instructions.

/// The type of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Pred,
    /// Bits without a meaning, of this many bytes.
    Bits(u8),
    Unsigned(u8),
    Signed(u8),
    F32,
    F64,
}

impl Type {
    /// The type called `name`, without the point before it.
    pub fn parse(name: &str) -> Option<Self> {
        if name == "pred" {
            return Some(Type::Pred);
        }
        let (kind, bits) = name.split_at_checked(1)?;
        let bytes = match bits {
            "8" => 1,
            "16" => 2,
            "32" => 4,
            "64" => 8,
            _ => return None,
        };
        match (kind, bytes) {
            ("b", _) => Some(Type::Bits(bytes)),
            ("u", _) => Some(Type::Unsigned(bytes)),
            ("s", _) => Some(Type::Signed(bytes)),
            ("f", 4) => Some(Type::F32),
            ("f", 8) => Some(Type::F64),
            _ => None,
        }
    }

    /// The size in bytes; a predicate is a byte.
    pub fn size(self) -> usize {
        match self {
            Type::Pred => 1,
            Type::Bits(bytes) | Type::Unsigned(bytes) | Type::Signed(bytes) => usize::from(bytes),
            Type::F32 => 4,
            Type::F64 => 8,
        }
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Type::Signed(_))
    }

    pub fn is_float(self) -> bool {
        matches!(self, Type::F32 | Type::F64)
    }

    /// The lowest bits of `value` that this type has.
    pub fn truncate(self, value: u64) -> u64 {
        match self {
            Type::Pred => value & 1,
            _ => value & (u64::MAX >> (64 - 8 * self.size())),
        }
    }

    /// The bits of `value` as a number: signed types fill the upper bits with their sign.
    pub fn extend(self, value: u64) -> i64 {
        let unused = 64 - 8 * self.size() as u32;
        match self {
            Type::Signed(_) => (value << unused) as i64 >> unused,
            _ => self.truncate(value) as i64,
        }
    }
}
