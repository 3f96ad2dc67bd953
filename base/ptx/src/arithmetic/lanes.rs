//! Arithmetic on all lanes of a warp at once. The most frequent operations have loops of their own,
//! which the compiler turns into vector instructions; the others are computed lane by lane.

use super::{Binary, Comparison, Conversion, Mode, Ordered, Ternary, Unary};
use super::{binary, compare, convert, multiply_add, ternary, unary};
use crate::types::Type;

/// A value for each lane.
pub(crate) type Lanes = [u64; 32];

/// Types of 32 bits, for operations that do not depend on a sign.
macro_rules! words {
    () => {
        Type::Bits(4) | Type::Unsigned(4) | Type::Signed(4)
    };
}

/// Types of 64 bits, for operations that do not depend on a sign.
macro_rules! long_words {
    () => {
        Type::Bits(8) | Type::Unsigned(8) | Type::Signed(8)
    };
}

pub(crate) fn unary_lanes(kind: Unary, ty: Type, mode: Mode, from: &Lanes, to: &mut Lanes) {
    let plain = mode == Mode::default();
    match (kind, ty) {
        (Unary::Negate, Type::F32) if plain => one(from, to, |a| (a as u32 ^ 1 << 31).into()),
        (Unary::Absolute, Type::F32) if plain => one(from, to, |a| (a as u32 & !(1 << 31)).into()),
        _ => one(from, to, |a| unary(kind, ty, mode, a)),
    }
}

/// Computes an operation that cannot fail: anything but integer division and remainder, which fail
/// for a divisor of 0.
pub(crate) fn binary_lanes(
    kind: Binary,
    ty: Type,
    mode: Mode,
    [a, b]: [&Lanes; 2],
    to: &mut Lanes,
) {
    let plain = mode == Mode::default();
    match (kind, ty) {
        (Binary::Add, Type::F32) if plain => floats(a, b, to, |a, b| a + b),
        (Binary::Subtract, Type::F32) if plain => floats(a, b, to, |a, b| a - b),
        (Binary::MultiplyLow, Type::F32) if plain => floats(a, b, to, |a, b| a * b),
        (Binary::Divide, Type::F32) if plain => floats(a, b, to, |a, b| a / b),
        (Binary::Add, words!()) => words(a, b, to, u32::wrapping_add),
        (Binary::Subtract, words!()) => words(a, b, to, u32::wrapping_sub),
        (Binary::MultiplyLow, words!()) => words(a, b, to, u32::wrapping_mul),
        (Binary::And, words!()) => words(a, b, to, |a, b| a & b),
        (Binary::Or, words!()) => words(a, b, to, |a, b| a | b),
        (Binary::Xor, words!()) => words(a, b, to, |a, b| a ^ b),
        (Binary::ShiftLeft, words!()) => {
            words(a, b, to, |a, b| if b < 32 { a << (b & 31) } else { 0 });
        }
        (Binary::ShiftRight, Type::Bits(4) | Type::Unsigned(4)) => {
            words(a, b, to, |a, b| if b < 32 { a >> (b & 31) } else { 0 });
        }
        (Binary::ShiftRight, Type::Signed(4)) => {
            words(a, b, to, |a, b| (a as i32 >> b.min(31)) as u32);
        }
        (Binary::MultiplyWide, Type::Unsigned(4)) => {
            two(a, b, to, |a, b| u64::from(a as u32) * u64::from(b as u32));
        }
        (Binary::MultiplyWide, Type::Signed(4)) => two(a, b, to, signed_product),
        (Binary::Add, long_words!()) => two(a, b, to, u64::wrapping_add),
        (Binary::Subtract, long_words!()) => two(a, b, to, u64::wrapping_sub),
        (Binary::And, long_words!()) => two(a, b, to, |a, b| a & b),
        (Binary::Or, long_words!()) => two(a, b, to, |a, b| a | b),
        _ => two(a, b, to, |a, b| binary(kind, ty, mode, a, b).unwrap_or(0)),
    }
}

pub(crate) fn ternary_lanes(
    kind: Ternary,
    ty: Type,
    mode: Mode,
    [a, b, c]: [&Lanes; 3],
    to: &mut Lanes,
) {
    match (kind, ty) {
        (Ternary::FusedMultiplyAdd, Type::F32) if mode == Mode::default() => {
            fused_multiply_add([a, b, c], to);
        }
        (Ternary::MultiplyAddLow, words!()) => three(a, b, c, to, |a, b, c| {
            u64::from((a as u32).wrapping_mul(b as u32).wrapping_add(c as u32))
        }),
        (Ternary::MultiplyAddWide, Type::Unsigned(4)) => three(a, b, c, to, |a, b, c| {
            (u64::from(a as u32) * u64::from(b as u32)).wrapping_add(c)
        }),
        (Ternary::MultiplyAddWide, Type::Signed(4)) => {
            three(a, b, c, to, |a, b, c| signed_product(a, b).wrapping_add(c));
        }
        _ => three(a, b, c, to, |a, b, c| ternary(kind, ty, mode, [a, b, c])),
    }
}

/// Writes 1 in the lanes in which the comparison holds, 0 in the others.
pub(crate) fn compare_lanes(
    comparison: Comparison,
    ty: Type,
    flushes: bool,
    [a, b]: [&Lanes; 2],
    to: &mut Lanes,
) {
    match ty {
        Type::F32 if !flushes => {
            let number = |bits: u64| f32::from_bits(bits as u32);
            compare_as(comparison, number, a, b, to);
        }
        Type::Signed(4) => compare_as(comparison, |bits| bits as i32, a, b, to),
        Type::Bits(4) | Type::Unsigned(4) => compare_as(comparison, |bits| bits as u32, a, b, to),
        Type::Signed(8) => compare_as(comparison, |bits| bits as i64, a, b, to),
        Type::Bits(8) | Type::Unsigned(8) => compare_as(comparison, |bits| bits, a, b, to),
        _ => two(a, b, to, |a, b| compare(comparison, ty, flushes, a, b).into()),
    }
}

pub(crate) fn convert_lanes(conversion: Conversion, from: &Lanes, to: &mut Lanes) {
    let Conversion { to: to_type, from: from_type, saturates, .. } = conversion;
    if from_type.is_float() || to_type.is_float() || saturates {
        return one(from, to, |a| convert(conversion, a));
    }
    one(from, to, |a| to_type.truncate(from_type.extend(a) as u64));
}

fn compare_as<T: PartialOrd>(
    comparison: Comparison,
    number: fn(u64) -> T,
    a: &Lanes,
    b: &Lanes,
    to: &mut Lanes,
) {
    let check = |to: &mut Lanes, holds: fn(T, T) -> bool| {
        two(a, b, to, |a, b| holds(number(a), number(b)).into());
    };
    match comparison {
        Comparison::Equal => check(to, |a, b| a == b),
        Comparison::NotEqual => check(to, differ),
        Comparison::Less => check(to, |a, b| a < b),
        Comparison::LessEqual => check(to, |a, b| a <= b),
        Comparison::Greater => check(to, |a, b| a > b),
        Comparison::GreaterEqual => check(to, |a, b| a >= b),
        Comparison::IsNumber => check(to, |a, b| a.partial_cmp(&b).is_some()),
        Comparison::IsNan => check(to, |a, b| a.partial_cmp(&b).is_none()),
        Comparison::OrUnordered(ordered) => {
            let opposite = match ordered {
                Ordered::Equal => Comparison::NotEqual,
                Ordered::NotEqual => Comparison::Equal,
                Ordered::Less => Comparison::GreaterEqual,
                Ordered::LessEqual => Comparison::Greater,
                Ordered::Greater => Comparison::LessEqual,
                Ordered::GreaterEqual => Comparison::Less,
            };
            compare_as(opposite, number, a, b, to);
            to.iter_mut().for_each(|is_true| *is_true ^= 1);
        }
    }
}

/// Whether two numbers differ; false if one of them is NaN.
#[expect(clippy::double_comparisons, reason = "false for NaN")]
fn differ<T: PartialOrd>(a: T, b: T) -> bool {
    a < b || a > b
}

fn signed_product(a: u64, b: u64) -> u64 {
    (i64::from(a as i32) * i64::from(b as i32)) as u64
}

/// Computes `a * b + c` in `f64` and rounds each sum a second time, to `f32`. The second rounding
/// changes a result only if the sum lies exactly half-way between two `f32` values, or if the
/// result is subnormal. Then the lanes are computed again with one rounding.
fn fused_multiply_add([a, b, c]: [&Lanes; 3], to: &mut Lanes) {
    let number = |bits: u64| f64::from(f32::from_bits(bits as u32));
    let mut is_doubtful = false;
    for i in 0..to.len() {
        let sum = number(a[i]) * number(b[i]) + number(c[i]);
        let last_bits = sum.to_bits() & 0x1FFF_FFFF;
        is_doubtful |= last_bits == 0x1000_0000 || sum.abs() < f64::from(f32::MIN_POSITIVE);
        to[i] = bits_of(sum as f32);
    }
    if is_doubtful {
        three(a, b, c, to, |a, b, c| {
            bits_of(multiply_add(number(a), number(b), f32::from_bits(c as u32)))
        });
    }
}

/// Returns the bits of a result. NaN becomes the NaN that PTX calls canonical.
#[inline(always)]
fn bits_of(number: f32) -> u64 {
    u64::from(if number.is_nan() { 0x7FFF_FFFF } else { number.to_bits() })
}

#[inline(always)]
fn floats(a: &Lanes, b: &Lanes, to: &mut Lanes, operation: impl Fn(f32, f32) -> f32) {
    two(a, b, to, |a, b| bits_of(operation(f32::from_bits(a as u32), f32::from_bits(b as u32))));
}

#[inline(always)]
fn words(a: &Lanes, b: &Lanes, to: &mut Lanes, operation: impl Fn(u32, u32) -> u32) {
    two(a, b, to, |a, b| operation(a as u32, b as u32).into());
}

#[inline(always)]
pub(crate) fn one(a: &Lanes, to: &mut Lanes, operation: impl Fn(u64) -> u64) {
    for (to, a) in to.iter_mut().zip(a) {
        *to = operation(*a);
    }
}

#[inline(always)]
pub(crate) fn two(a: &Lanes, b: &Lanes, to: &mut Lanes, operation: impl Fn(u64, u64) -> u64) {
    for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
        *to = operation(*a, *b);
    }
}

#[inline(always)]
pub(crate) fn three(
    a: &Lanes,
    b: &Lanes,
    c: &Lanes,
    to: &mut Lanes,
    operation: impl Fn(u64, u64, u64) -> u64,
) {
    for (((to, a), b), c) in to.iter_mut().zip(a).zip(b).zip(c) {
        *to = operation(*a, *b, *c);
    }
}
