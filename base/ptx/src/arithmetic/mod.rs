//! Arithmetic of PTX on registers of 64 bits, by type.
//!
//! Sums, products and roots are rounded to nearest, as `.rn` says. The approximations (`ex2.approx`
//! and its like) are computed more exactly than a GPU does: a result may differ from a device's in
//! the last bits, and kernels whose results must be equal to the bit do not use them.

use crate::types::Type;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Not,
    Negate,
    Absolute,
    ReverseBits,
    CountLeadingZeros,
    CountOnes,
    /// The position of the highest one, or how far it is shifted to get to the highest bit.
    FindHighest {
        as_shift: bool,
    },
    SquareRoot,
    Reciprocal,
    ReciprocalSquareRoot,
    Exp2,
    Log2,
    Tanh,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    MultiplyLow,
    MultiplyHigh,
    /// The product in twice the bits.
    MultiplyWide,
    Divide,
    Remainder,
    Minimum,
    Maximum,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ternary {
    MultiplyAddLow,
    MultiplyAddHigh,
    /// The third operand has twice the bits.
    MultiplyAddWide,
    /// With one rounding.
    FusedMultiplyAdd,
    /// `bfe`: the bits from a position on, a number of them.
    ExtractBits,
    /// `prmt`: bytes of the first two, chosen by the third.
    PermuteBytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// The comparison is also true if an operand is NaN.
    OrUnordered(Ordered),
    /// Neither operand is NaN.
    IsNumber,
    IsNan,
}

/// The comparisons that have an unordered form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ordered {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Rounding to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    NearestEven,
    Zero,
    Down,
    Up,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub to: Type,
    pub from: Type,
    /// To an integer, where a float becomes one, or remains a float.
    pub rounding: Option<Rounding>,
    /// Clamps to the range of the type; floats to [0, 1].
    pub saturates: bool,
}

pub(crate) fn unary(kind: Unary, ty: Type, value: u64) -> u64 {
    match ty {
        Type::F32 => {
            let value = f32::from_bits(value as u32);
            u64::from(float_unary(kind, f64::from(value), || (-value, value.abs())).to_bits())
        }
        Type::F64 => unary_f64(kind, f64::from_bits(value)).to_bits(),
        _ => ty.truncate(integer_unary(kind, ty, value)),
    }
}

/// An `f32` result by way of `f64`, whose second rounding does not show in these functions.
fn float_unary(kind: Unary, value: f64, exact: impl Fn() -> (f32, f32)) -> f32 {
    match kind {
        Unary::Negate => exact().0,
        Unary::Absolute => exact().1,
        _ => unary_f64(kind, value) as f32,
    }
}

fn unary_f64(kind: Unary, value: f64) -> f64 {
    match kind {
        Unary::Negate => -value,
        Unary::Absolute => value.abs(),
        Unary::SquareRoot => value.sqrt(),
        Unary::Reciprocal => 1.0 / value,
        Unary::ReciprocalSquareRoot => 1.0 / value.sqrt(),
        Unary::Exp2 => value.exp2(),
        Unary::Log2 => value.log2(),
        Unary::Tanh => value.tanh(),
        Unary::Not
        | Unary::ReverseBits
        | Unary::CountLeadingZeros
        | Unary::CountOnes
        | Unary::FindHighest { .. } => unreachable!("the parser takes it for integers only"),
    }
}

fn integer_unary(kind: Unary, ty: Type, value: u64) -> u64 {
    let bits = 8 * ty.size() as u32;
    let value = ty.truncate(value);
    let leading_zeros = (value << (64 - bits)).leading_zeros().min(bits);
    match kind {
        Unary::Not => !value,
        Unary::Negate => value.wrapping_neg(),
        Unary::Absolute => ty.extend(value).unsigned_abs(),
        Unary::ReverseBits => value.reverse_bits() >> (64 - bits),
        Unary::CountLeadingZeros => u64::from(leading_zeros),
        Unary::CountOnes => u64::from(value.count_ones()),
        Unary::FindHighest { as_shift } => {
            // Of a negative number, the highest zero.
            let value = if ty.is_signed() && ty.extend(value) < 0 { !value } else { value };
            let leading = (ty.truncate(value) << (64 - bits)).leading_zeros();
            match (leading >= bits, as_shift) {
                (true, _) => u64::from(u32::MAX),
                (false, true) => u64::from(leading),
                (false, false) => u64::from(bits - 1 - leading),
            }
        }
        Unary::SquareRoot
        | Unary::Reciprocal
        | Unary::ReciprocalSquareRoot
        | Unary::Exp2
        | Unary::Log2
        | Unary::Tanh => unreachable!("the parser takes it for floats only"),
    }
}

/// # Errors
/// The reason why there is no result.
pub(crate) fn binary(kind: Binary, ty: Type, a: u64, b: u64) -> Result<u64, &'static str> {
    Ok(match ty {
        Type::F32 => {
            let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            let result = match kind {
                Binary::Add => a + b,
                Binary::Subtract => a - b,
                Binary::MultiplyLow => a * b,
                Binary::Divide => a / b,
                Binary::Minimum => a.min(b),
                Binary::Maximum => a.max(b),
                _ => unreachable!("the parser takes it for integers only"),
            };
            u64::from(result.to_bits())
        }
        Type::F64 => {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            let result = match kind {
                Binary::Add => a + b,
                Binary::Subtract => a - b,
                Binary::MultiplyLow => a * b,
                Binary::Divide => a / b,
                Binary::Minimum => a.min(b),
                Binary::Maximum => a.max(b),
                _ => unreachable!("the parser takes it for integers only"),
            };
            result.to_bits()
        }
        _ => integer_binary(kind, ty, a, b)?,
    })
}

fn integer_binary(kind: Binary, ty: Type, a: u64, b: u64) -> Result<u64, &'static str> {
    let bits = 8 * ty.size() as u32;
    // Shifts by more than the width are shifts by the width.
    let shift = (b & u64::from(u32::MAX)).min(u64::from(bits)) as u32;
    let (x, y) = (ty.extend(a), ty.extend(b));
    let (low_x, low_y) = (ty.truncate(a), ty.truncate(b));
    let signed = ty.is_signed();
    let product = if signed {
        (i128::from(x) * i128::from(y)) as u128
    } else {
        u128::from(low_x).wrapping_mul(u128::from(low_y))
    };
    let result = match kind {
        Binary::Add => a.wrapping_add(b),
        Binary::Subtract => a.wrapping_sub(b),
        Binary::MultiplyLow => product as u64,
        Binary::MultiplyHigh => (product >> bits) as u64,
        // The only result that is wider than its type.
        Binary::MultiplyWide => return Ok(Type::Bits(2 * ty.size() as u8).truncate(product as u64)),
        Binary::Divide | Binary::Remainder if low_y == 0 => return Err("a division by zero"),
        Binary::Divide if signed => x.wrapping_div(y) as u64,
        Binary::Divide => low_x / low_y,
        Binary::Remainder if signed => x.wrapping_rem(y) as u64,
        Binary::Remainder => low_x % low_y,
        Binary::Minimum if signed => x.min(y) as u64,
        Binary::Minimum => low_x.min(low_y),
        Binary::Maximum if signed => x.max(y) as u64,
        Binary::Maximum => low_x.max(low_y),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::ShiftLeft => low_x.checked_shl(shift).unwrap_or(0),
        Binary::ShiftRight if signed => (x >> shift.min(63)) as u64,
        Binary::ShiftRight => low_x.checked_shr(shift).unwrap_or(0),
    };
    Ok(ty.truncate(result))
}

pub(crate) fn ternary(kind: Ternary, ty: Type, [a, b, c]: [u64; 3]) -> u64 {
    match (kind, ty) {
        (Ternary::FusedMultiplyAdd, Type::F32) => {
            let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
            u64::from(a.mul_add(b, c).to_bits())
        }
        (Ternary::FusedMultiplyAdd, _) => {
            let [a, b, c] = [a, b, c].map(f64::from_bits);
            a.mul_add(b, c).to_bits()
        }
        (Ternary::MultiplyAddLow, _) => {
            ty.truncate(product(Binary::MultiplyLow, ty, a, b).wrapping_add(c))
        }
        (Ternary::MultiplyAddHigh, _) => {
            ty.truncate(product(Binary::MultiplyHigh, ty, a, b).wrapping_add(c))
        }
        (Ternary::MultiplyAddWide, _) => {
            let wide = Type::Bits(2 * ty.size() as u8);
            wide.truncate(product(Binary::MultiplyWide, ty, a, b).wrapping_add(c))
        }
        (Ternary::ExtractBits, _) => extract_bits(ty, a, b as u32 & 0xFF, c as u32 & 0xFF),
        (Ternary::PermuteBytes, _) => permute_bytes(a, b, c),
    }
}

fn product(kind: Binary, ty: Type, a: u64, b: u64) -> u64 {
    integer_binary(kind, ty, a, b).expect("products have no exceptions")
}

/// `length` bits from `position` on. Bits past the end are zero, or the sign of the field.
fn extract_bits(ty: Type, value: u64, position: u32, length: u32) -> u64 {
    let bits = 8 * ty.size() as u32;
    let shifted = ty.truncate(value).checked_shr(position).unwrap_or(0);
    let field = if length >= 64 { shifted } else { shifted & ((1 << length) - 1) };
    if !ty.is_signed() || length == 0 {
        return field;
    }
    let sign_bit = (position + length - 1).min(bits - 1);
    let is_negative = ty.truncate(value) >> sign_bit & 1 == 1;
    let used = length.min(bits.saturating_sub(position));
    let ones = if used >= 64 { 0 } else { u64::MAX << used };
    ty.truncate(if is_negative { field | ones } else { field })
}

/// A byte for each of the four lowest half bytes of `selector`: its low three bits choose among the
/// eight bytes of `b` and `a`, its high bit spreads the chosen byte's sign.
fn permute_bytes(a: u64, b: u64, selector: u64) -> u64 {
    let bytes = (a & 0xFFFF_FFFF) | b << 32;
    (0..4).fold(0, |result, i| {
        let choice = selector >> (4 * i) & 0xF;
        let byte = bytes >> (8 * (choice & 7)) & 0xFF;
        let byte = match choice >> 3 {
            0 => byte,
            _ if byte >> 7 == 1 => 0xFF,
            _ => 0,
        };
        result | byte << (8 * i)
    })
}

/// `value` with `length` bits from `position` on replaced by the lowest of `field`.
pub(crate) fn insert_bits(ty: Type, [field, value, position, length]: [u64; 4]) -> u64 {
    let bits = 8 * ty.size() as u64;
    let (position, length) = (position & 0xFF, length & 0xFF);
    if position >= bits || length == 0 {
        return ty.truncate(value);
    }
    let ones = if length >= 64 { u64::MAX } else { (1 << length) - 1 };
    let mask = ones << position;
    ty.truncate(value & !mask | field << position & mask)
}

pub(crate) fn compare(comparison: Comparison, ty: Type, a: u64, b: u64) -> bool {
    let ordering = match ty {
        Type::F32 => f32::from_bits(a as u32).partial_cmp(&f32::from_bits(b as u32)),
        Type::F64 => f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
        Type::Signed(_) => Some(ty.extend(a).cmp(&ty.extend(b))),
        _ => Some(ty.truncate(a).cmp(&ty.truncate(b))),
    };
    let ordered = match comparison {
        Comparison::IsNumber => return ordering.is_some(),
        Comparison::IsNan => return ordering.is_none(),
        Comparison::Equal => Ordered::Equal,
        Comparison::NotEqual => Ordered::NotEqual,
        Comparison::Less => Ordered::Less,
        Comparison::LessEqual => Ordered::LessEqual,
        Comparison::Greater => Ordered::Greater,
        Comparison::GreaterEqual => Ordered::GreaterEqual,
        Comparison::OrUnordered(ordered) => ordered,
    };
    let Some(ordering) = ordering else { return matches!(comparison, Comparison::OrUnordered(_)) };
    match ordered {
        Ordered::Equal => ordering.is_eq(),
        Ordered::NotEqual => ordering.is_ne(),
        Ordered::Less => ordering.is_lt(),
        Ordered::LessEqual => ordering.is_le(),
        Ordered::Greater => ordering.is_gt(),
        Ordered::GreaterEqual => ordering.is_ge(),
    }
}

pub(crate) fn convert(conversion: Conversion, value: u64) -> u64 {
    let Conversion { to, from, rounding, saturates } = conversion;
    match (from.is_float(), to.is_float()) {
        (false, false) => {
            let value = i128::from(from.extend(value));
            let value = if from.is_signed() { value } else { value & i128::from(u64::MAX) };
            to.truncate(if saturates { clamp(to, value) as u64 } else { value as u64 })
        }
        (false, true) => {
            let number = from.extend(value);
            match (to, from.is_signed()) {
                (Type::F32, true) => u64::from((number as f32).to_bits()),
                (Type::F32, false) => u64::from((number as u64 as f32).to_bits()),
                (_, true) => (number as f64).to_bits(),
                (_, false) => (number as u64 as f64).to_bits(),
            }
        }
        (true, false) => {
            let number = round(float(from, value), rounding.unwrap_or(Rounding::Zero));
            // Conversions to integers always saturate; NaN is zero.
            to.truncate(clamp(to, if number.is_nan() { 0 } else { number as i128 }) as u64)
        }
        (true, true) => {
            let number = float(from, value);
            let number = rounding.map_or(number, |rounding| round(number, rounding));
            let number = if saturates && number.is_nan() {
                0.0
            } else if saturates {
                number.clamp(0.0, 1.0)
            } else {
                number
            };
            match to {
                Type::F32 => u64::from((number as f32).to_bits()),
                _ => number.to_bits(),
            }
        }
    }
}

fn float(ty: Type, value: u64) -> f64 {
    match ty {
        Type::F32 => f64::from(f32::from_bits(value as u32)),
        _ => f64::from_bits(value),
    }
}

fn round(number: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::NearestEven => number.round_ties_even(),
        Rounding::Zero => number.trunc(),
        Rounding::Down => number.floor(),
        Rounding::Up => number.ceil(),
    }
}

/// The nearest integer that `ty` holds.
fn clamp(ty: Type, value: i128) -> i128 {
    let bits = 8 * ty.size() as u32;
    if ty.is_signed() {
        value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        value.clamp(0, (1 << bits) - 1)
    }
}

#[cfg(test)]
mod tests;
