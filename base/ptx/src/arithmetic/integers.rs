//! Arithmetic of integers, and of bits.

use super::{Binary, Ternary, Unary};
use crate::types::Type;

#[inline(always)]
pub(super) fn unary(kind: Unary, ty: Type, value: u64) -> u64 {
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
            // In a negative number, the highest zero bit is found.
            let value = if ty.is_signed() && ty.extend(value) < 0 { !value } else { value };
            let leading = (ty.truncate(value) << (64 - bits)).leading_zeros();
            match (leading >= bits, as_shift) {
                (true, _) => u64::from(u32::MAX),
                (false, true) => u64::from(leading),
                (false, false) => u64::from(bits - 1 - leading),
            }
        }
        _ => unreachable!("the parser accepts it for floats only"),
    }
}

/// Computes a binary operation on integers of type `ty`.
///
/// # Errors
/// The reason, if the operation has no result.
#[inline(always)]
pub(super) fn binary(kind: Binary, ty: Type, a: u64, b: u64) -> Result<u64, &'static str> {
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
        Binary::CopySign => unreachable!("the parser accepts it for floats only"),
    };
    Ok(ty.truncate(result))
}

#[inline(always)]
pub(super) fn ternary(kind: Ternary, ty: Type, [a, b, c]: [u64; 3]) -> u64 {
    match kind {
        Ternary::MultiplyAddLow => {
            ty.truncate(product(Binary::MultiplyLow, ty, a, b).wrapping_add(c))
        }
        Ternary::MultiplyAddHigh => {
            ty.truncate(product(Binary::MultiplyHigh, ty, a, b).wrapping_add(c))
        }
        Ternary::MultiplyAddWide => {
            let wide = Type::Bits(2 * ty.size() as u8);
            wide.truncate(product(Binary::MultiplyWide, ty, a, b).wrapping_add(c))
        }
        Ternary::ExtractBits => extract_bits(ty, a, b as u32 & 0xFF, c as u32 & 0xFF),
        Ternary::PermuteBytes => permute_bytes(a, b, c),
        Ternary::FunnelShift { to_left, clamps } => funnel_shift(to_left, clamps, [a, b, c]),
        Ternary::AddDistance => ty.truncate((ty.extend(a).abs_diff(ty.extend(b))).wrapping_add(c)),
        Ternary::Logic(table) => ty.truncate(logic3(table, [a, b, c])),
        Ternary::DotProduct { is_signed } => dot_product(is_signed, [a, b, c]),
        Ternary::FusedMultiplyAdd => unreachable!("the parser accepts it for floats only"),
    }
}

fn product(kind: Binary, ty: Type, a: u64, b: u64) -> u64 {
    binary(kind, ty, a, b).expect("products have no exceptions")
}

/// Returns `length` bits from `position` on. Bits past the end are zero, or copies of the field's
/// sign if the type is signed.
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

/// Returns a byte for each of the four lowest half bytes of `selector`: the low three bits of the
/// half byte choose among the eight bytes of `b` and `a`; its high bit spreads the chosen byte's
/// sign.
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

/// Returns `value` with `length` bits from `position` on replaced by the lowest bits of `field`.
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

/// Joins `high` and `low` to 64 bits and shifts them. Returns the upper word after a shift to the
/// left, the lower word after a shift to the right. Shifts are modulo 32 unless they clamp.
fn funnel_shift(to_left: bool, clamps: bool, [low, high, shift]: [u64; 3]) -> u64 {
    let both = high << 32 | low & u64::from(u32::MAX);
    let shift = if clamps { (shift & u64::from(u32::MAX)).min(32) } else { shift & 31 };
    Type::Bits(4).truncate(if to_left { both << shift >> 32 } else { both >> shift })
}

/// Looks up each bit of the result in `table`. The index is `4 * a + 2 * b + c`, from the bits of
/// the operands.
fn logic3(table: u8, [a, b, c]: [u64; 3]) -> u64 {
    (0..8).filter(|row| table >> row & 1 == 1).fold(0, |result, row| {
        let bits = |value: u64, place: u32| if row >> place & 1 == 1 { value } else { !value };
        result | bits(a, 2) & bits(b, 1) & bits(c, 0)
    })
}

/// Returns `c` plus the sum of the products of the four bytes of `a` and `b`.
fn dot_product(is_signed: [bool; 2], [a, b, c]: [u64; 3]) -> u64 {
    let byte = |value: u64, place: u32, is_signed: bool| {
        let byte = (value >> (8 * place)) as u8;
        if is_signed { i64::from(byte as i8) } else { i64::from(byte) }
    };
    let sum: i64 = (0..4).map(|i| byte(a, i, is_signed[0]) * byte(b, i, is_signed[1])).sum();
    Type::Bits(4).truncate((sum as u64).wrapping_add(c))
}
