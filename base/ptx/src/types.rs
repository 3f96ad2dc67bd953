//! Types of PTX's instructions.

/// The type of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Pred,
    /// Bits without a meaning, of this many bytes.
    Bits(u8),
    Unsigned(u8),
    Signed(u8),
    F16,
    Bf16,
    /// Two numbers of 16 bits in one register.
    F16x2,
    Bf16x2,
    F32,
    F64,
}

impl Type {
    /// Returns the type called `name`, without the dot before it.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "pred" => return Some(Type::Pred),
            "f16" => return Some(Type::F16),
            "bf16" => return Some(Type::Bf16),
            "f16x2" => return Some(Type::F16x2),
            "bf16x2" => return Some(Type::Bf16x2),
            "f32" => return Some(Type::F32),
            "f64" => return Some(Type::F64),
            _ => {}
        }
        let (kind, bits) = name.split_at_checked(1)?;
        let bytes = match bits {
            "8" => 1,
            "16" => 2,
            "32" => 4,
            "64" => 8,
            _ => return None,
        };
        match kind {
            "b" => Some(Type::Bits(bytes)),
            "u" => Some(Type::Unsigned(bytes)),
            "s" => Some(Type::Signed(bytes)),
            _ => None,
        }
    }

    /// Returns the size in bytes; a predicate is a byte.
    pub fn size(self) -> usize {
        match self {
            Type::Pred => 1,
            Type::Bits(bytes) | Type::Unsigned(bytes) | Type::Signed(bytes) => usize::from(bytes),
            Type::F16 | Type::Bf16 => 2,
            Type::F32 | Type::F16x2 | Type::Bf16x2 => 4,
            Type::F64 => 8,
        }
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Type::Signed(_))
    }

    pub fn is_float(self) -> bool {
        matches!(self, Type::F32 | Type::F64 | Type::F16 | Type::Bf16) || self.half().is_some()
    }

    /// Returns the type of both halves of a pair.
    pub fn half(self) -> Option<Type> {
        match self {
            Type::F16x2 => Some(Type::F16),
            Type::Bf16x2 => Some(Type::Bf16),
            _ => None,
        }
    }

    /// Returns the lowest bits of `value` that this type has.
    #[inline(always)]
    pub fn truncate(self, value: u64) -> u64 {
        match self {
            Type::Pred => value & 1,
            _ => value & (u64::MAX >> (64 - 8 * self.size())),
        }
    }

    /// Returns the bits of `value` as a number: signed types fill the upper bits with their sign.
    #[inline(always)]
    pub fn extend(self, value: u64) -> i64 {
        let unused = 64 - 8 * self.size() as u32;
        match self {
            Type::Signed(_) => (value << unused) as i64 >> unused,
            _ => self.truncate(value) as i64,
        }
    }
}
