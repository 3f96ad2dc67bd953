//! Arithmetic on paper, and beside the language's own integers.

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
    assert_eq!(binary(Binary::Add, Type::F32, bits(1.0), bits(f32::EPSILON / 2.0)), Ok(bits(1.0)));
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
    let conversion = |to, from, rounding, saturates| Conversion { to, from, rounding, saturates };
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
