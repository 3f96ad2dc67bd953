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
            let number = match saturates {
                true if number.is_nan() => 0.0,
                true => number.clamp(0.0, 1.0),
                false => number,
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
mod tests {
    use super::*;

    const U32: Type = Type::Unsigned(4);
    const S32: Type = Type::Signed(4);
    const U64: Type = Type::Unsigned(8);

    #[test]
    fn integers_wrap_and_extend_as_their_types() {
        assert_eq!(binary(Binary::Add, U32, 0xFFFF_FFFF, 2), Ok(1));
        assert_eq!(binary(Binary::Subtract, Type::Signed(2), 0, 1), Ok(0xFFFF));
        assert_eq!(binary(Binary::MultiplyHigh, U32, 0x8000_0000, 6), Ok(3));
        assert_eq!(binary(Binary::MultiplyHigh, S32, 0x8000_0000, 6), Ok(0xFFFF_FFFD));
        assert_eq!(binary(Binary::MultiplyHigh, U64, u64::MAX, u64::MAX), Ok(u64::MAX - 1));
        assert_eq!(binary(Binary::MultiplyWide, U32, 0xFFFF_FFFF, 4), Ok(0x3_FFFF_FFFC));
        assert_eq!(binary(Binary::MultiplyWide, S32, 0xFFFF_FFFF, 4), Ok((-4i64) as u64));
        assert_eq!(binary(Binary::Divide, S32, 0xFFFF_FFF9, 2), Ok(0xFFFF_FFFD));
        assert_eq!(binary(Binary::Remainder, S32, 0xFFFF_FFF9, 2), Ok(0xFFFF_FFFF));
        assert_eq!(binary(Binary::Minimum, S32, 0xFFFF_FFFF, 1), Ok(0xFFFF_FFFF));
        assert_eq!(binary(Binary::Minimum, U32, 0xFFFF_FFFF, 1), Ok(1));
        assert!(binary(Binary::Divide, U32, 1, 0).is_err());
    }

    #[test]
    fn shifts_stop_at_the_width() {
        assert_eq!(binary(Binary::ShiftLeft, Type::Bits(4), 1, 31), Ok(0x8000_0000));
        assert_eq!(binary(Binary::ShiftLeft, Type::Bits(4), 1, 32), Ok(0));
        assert_eq!(binary(Binary::ShiftRight, U32, 0x8000_0000, 40), Ok(0));
        assert_eq!(binary(Binary::ShiftRight, S32, 0x8000_0000, 40), Ok(0xFFFF_FFFF));
        assert_eq!(binary(Binary::ShiftRight, U64, 1 << 63, 64), Ok(0));
    }

    #[test]
    fn bits_are_found_reversed_inserted_and_extracted() {
        assert_eq!(unary(Unary::ReverseBits, Type::Bits(4), 1), 0x8000_0000);
        assert_eq!(unary(Unary::CountLeadingZeros, Type::Bits(4), 0), 32);
        assert_eq!(unary(Unary::CountOnes, Type::Bits(8), u64::MAX), 64);
        let position = Unary::FindHighest { as_shift: false };
        assert_eq!(unary(position, U32, 0x0001_0000), 16);
        assert_eq!(unary(Unary::FindHighest { as_shift: true }, U32, 0x0001_0000), 15);
        assert_eq!(unary(position, U32, 0), 0xFFFF_FFFF);
        assert_eq!(unary(position, S32, 0xFFFF_FFFE), 0);
        assert_eq!(insert_bits(Type::Bits(4), [0b101, 0xFFFF_FFFF, 4, 3]), 0xFFFF_FFDF);
        assert_eq!(insert_bits(Type::Bits(8), [7, 1, 32, 32]), 0x7_0000_0001);
        assert_eq!(insert_bits(Type::Bits(4), [7, 1, 32, 8]), 1);
        assert_eq!(ternary(Ternary::ExtractBits, U32, [0xABCD, 4, 8]), 0xBC);
        assert_eq!(ternary(Ternary::ExtractBits, S32, [0xABCD, 4, 8]), 0xFFFF_FFBC);
        assert_eq!(
            ternary(Ternary::PermuteBytes, Type::Bits(4), [0x4433_2211, 0x8877_6655, 0x7401]),
            0x8855_1122
        );
        assert_eq!(ternary(Ternary::PermuteBytes, Type::Bits(4), [0x80, 0, 0x8888]), 0xFFFF_FFFF);
    }

    #[test]
    fn floats_are_rounded_once() {
        let bits = |x: f32| u64::from(x.to_bits());
        assert_eq!(
            binary(Binary::Add, Type::F32, bits(1.0), bits(f32::EPSILON / 2.0)),
            Ok(bits(1.0))
        );
        let x = 1.0 + 1000.0 * f32::EPSILON;
        let fused = ternary(Ternary::FusedMultiplyAdd, Type::F32, [bits(x), bits(x), bits(-1.0)]);
        assert_eq!(f32::from_bits(fused as u32), x.mul_add(x, -1.0));
        assert_ne!(f32::from_bits(fused as u32), x * x - 1.0);
        assert_eq!(unary(Unary::Negate, Type::F32, bits(0.0)), bits(-0.0));
        assert_eq!(unary(Unary::Exp2, Type::F32, bits(3.0)), bits(8.0));
        // The number where the other operand is NaN.
        assert_eq!(binary(Binary::Maximum, Type::F32, bits(f32::NAN), bits(2.0)), Ok(bits(2.0)));
    }

    #[test]
    fn comparisons_know_signs_and_nan() {
        assert!(compare(Comparison::Less, S32, 0xFFFF_FFFF, 0));
        assert!(!compare(Comparison::Less, U32, 0xFFFF_FFFF, 0));
        let nan = u64::from(f32::NAN.to_bits());
        assert!(!compare(Comparison::NotEqual, Type::F32, nan, nan));
        assert!(compare(Comparison::OrUnordered(Ordered::Less), Type::F32, nan, 0));
        assert!(compare(Comparison::IsNan, Type::F32, nan, 0));
        assert!(compare(Comparison::Equal, Type::F32, 0, 0x8000_0000));
    }

    #[test]
    fn conversions_round_saturate_and_extend() {
        let conversion =
            |to, from, rounding, saturates| Conversion { to, from, rounding, saturates };
        let widen = conversion(Type::Signed(8), S32, None, false);
        assert_eq!(convert(widen, 0xFFFF_FFFF), u64::MAX);
        assert_eq!(convert(conversion(U64, U32, None, false), 0xFFFF_FFFF), 0xFFFF_FFFF);
        assert_eq!(convert(conversion(Type::Unsigned(1), S32, None, true), 300), 255);
        assert_eq!(convert(conversion(Type::Unsigned(1), S32, None, true), 0xFFFF_FFFF), 0);
        let float = |x: f32| u64::from(x.to_bits());
        let nearest = conversion(S32, Type::F32, Some(Rounding::NearestEven), false);
        assert_eq!(convert(nearest, float(2.5)), 2);
        assert_eq!(convert(nearest, float(-1e20)), 0x8000_0000);
        assert_eq!(convert(nearest, float(f32::NAN)), 0);
        let down = conversion(S32, Type::F32, Some(Rounding::Down), false);
        assert_eq!(convert(down, float(-0.5)), 0xFFFF_FFFF);
        assert_eq!(convert(conversion(Type::F32, U32, None, false), 3), float(3.0));
        assert_eq!(convert(conversion(Type::F32, Type::F32, None, true), float(7.0)), float(1.0));
    }

    proptest::proptest! {
        /// The language's own integers are the reference.
        #[test]
        fn integers_are_those_of_the_language(a: u32, b: u32, shift in 0u32..32) {
            let [x, y] = [a, b].map(u64::from);
            let [i, j] = [a, b].map(|value| value as i32);
            let unsigned = |kind| binary(kind, U32, x, y).unwrap() as u32;
            let signed = |kind| binary(kind, S32, x, y).unwrap() as u32;
            assert_eq!(unsigned(Binary::Add), a.wrapping_add(b));
            assert_eq!(signed(Binary::Subtract), i.wrapping_sub(j) as u32);
            assert_eq!(signed(Binary::MultiplyLow), i.wrapping_mul(j) as u32);
            assert_eq!(unsigned(Binary::Maximum), a.max(b));
            assert_eq!(signed(Binary::Maximum), i.max(j) as u32);
            assert_eq!(binary(Binary::ShiftRight, S32, x, u64::from(shift)), Ok(u64::from((i >> shift) as u32)));
            assert_eq!(compare(Comparison::Less, S32, x, y), i < j);
            assert_eq!(compare(Comparison::GreaterEqual, U32, x, y), a >= b);
            assert_eq!(unary(Unary::CountLeadingZeros, U32, x) as u32, a.leading_zeros());
            let wide = Conversion { to: Type::Signed(8), from: S32, rounding: None, saturates: false };
            assert_eq!(convert(wide, x) as i64, i64::from(i));
            let field = ternary(Ternary::ExtractBits, U32, [x, u64::from(shift), 5]) as u32;
            assert_eq!(field, a >> shift & 31);
        }
    }
}
