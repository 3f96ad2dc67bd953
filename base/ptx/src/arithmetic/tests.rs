//! Arithmetic compared with results computed by hand and with Rust's integers.

use super::rounding::encode;
use super::*;

const U32: Type = Type::Unsigned(4);
const S32: Type = Type::Signed(4);
const U64: Type = Type::Unsigned(8);
const MODE: Mode = Mode {
    flushes: false,
    saturates: false,
    rounding: Rounding::NearestEven,
    keeps_nan: false,
    is_rectified: false,
};

fn unary(kind: Unary, ty: Type, value: u64) -> u64 {
    super::unary(kind, ty, MODE, value)
}

fn binary(kind: Binary, ty: Type, a: u64, b: u64) -> Result<u64, &'static str> {
    super::binary(kind, ty, MODE, a, b)
}

fn ternary(kind: Ternary, ty: Type, operands: [u64; 3]) -> u64 {
    super::ternary(kind, ty, MODE, operands)
}

fn compare(comparison: Comparison, ty: Type, a: u64, b: u64) -> bool {
    super::compare(comparison, ty, false, a, b)
}

/// Returns a conversion that rounds floats to nearest, and to integers as `to_integer` says.
fn conversion(to: Type, from: Type, to_integer: Option<Rounding>, saturates: bool) -> Conversion {
    let rounding = Rounding::NearestEven;
    Conversion { to, from, to_integer, rounding, saturates, flushes: false, is_rectified: false }
}

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
    // A maximum with NaN is the other operand.
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
    // NaN has the highest bit in integers of 64 bits, and in all integers from `f64`.
    let wide = [(Type::Signed(8), Type::F32), (U64, Type::F16), (Type::Signed(8), Type::F64)];
    for (to, from) in wide {
        let nan = encode(from, Rounding::NearestEven, f64::NAN);
        assert_eq!(convert(conversion(to, from, None, false), nan), 1 << 63, "{to:?} {from:?}");
    }
    assert_eq!(convert(conversion(U32, Type::F64, None, false), f64::NAN.to_bits()), 1 << 31);
    let down = conversion(S32, Type::F32, Some(Rounding::Down), false);
    assert_eq!(convert(down, float(-0.5)), 0xFFFF_FFFF);
    assert_eq!(convert(conversion(Type::F32, U32, None, false), 3), float(3.0));
    assert_eq!(convert(conversion(Type::F32, Type::F32, None, true), float(7.0)), float(1.0));
}

proptest::proptest! {
    /// Rust's integers are the reference.
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
        let wide = conversion(Type::Signed(8), S32, None, false);
        assert_eq!(convert(wide, x) as i64, i64::from(i));
        let field = ternary(Ternary::ExtractBits, U32, [x, u64::from(shift), 5]) as u32;
        assert_eq!(field, a >> shift & 31);
    }
}

#[test]
fn words_are_shifted_together_and_bits_are_combined() {
    let low = 0x8765_4321;
    let high = 0xFEDC_BA98;
    let shift = |to_left, clamps, by| {
        ternary(Ternary::FunnelShift { to_left, clamps }, Type::Bits(4), [low, high, by])
    };
    assert_eq!(shift(true, false, 8), 0xDCBA_9887);
    assert_eq!(shift(false, false, 8), 0x9887_6543);
    assert_eq!(shift(true, false, 40), shift(true, false, 8));
    assert_eq!(shift(true, true, 40), low);
    assert_eq!(shift(false, true, 40), high);
    // The table of `a & b ^ c`, from the tables of `a`, `b` and `c`.
    let table = 0xF0 & 0xCC ^ 0xAA;
    let found = ternary(Ternary::Logic(table), Type::Bits(4), [0b1100, 0b1010, 0b0001]);
    assert_eq!(found, 0b1001);
    assert_eq!(ternary(Ternary::AddDistance, S32, [0xFFFF_FFFF, 2, 10]), 13);
    let signed = Ternary::DotProduct { is_signed: [true, true] };
    assert_eq!(ternary(signed, S32, [0xFF02_0304, 0x0201_0101, 100]), 100 - 2 + 2 + 3 + 4);
}

#[test]
fn short_floats_are_decoded_and_rounded() {
    for (bits, number) in [
        (0x3C00, 1.0),
        (0xC500, -5.0),
        (0x7BFF, 65504.0),
        (0x0001, 2f64.powi(-24)),
        (0x0400, 2f64.powi(-14)),
        (0x7C00, f64::INFINITY),
    ] {
        assert_eq!(decode(Type::F16, bits), number);
        assert_eq!(encode(Type::F16, Rounding::NearestEven, number), bits);
    }
    for (number, rounding, bits) in [
        // Half of a unit in the last place: to even.
        (1.0 + 2f64.powi(-11), Rounding::NearestEven, 0x3C00),
        (1.0 + 3.0 * 2f64.powi(-11), Rounding::NearestEven, 0x3C02),
        (1.0 + 2f64.powi(-11), Rounding::Up, 0x3C01),
        (65520.0, Rounding::NearestEven, 0x7C00),
        (65520.0, Rounding::Zero, 0x7BFF),
        (-65520.0, Rounding::Up, 0xFBFF),
        (2f64.powi(-25), Rounding::NearestEven, 0),
        (1.5 * 2f64.powi(-25), Rounding::NearestEven, 1),
        (f64::NAN, Rounding::NearestEven, 0x7FFF),
    ] {
        assert_eq!(encode(Type::F16, rounding, number), bits, "{number} {rounding:?}");
    }
    assert_eq!(decode(Type::Bf16, 0xC040), -3.0);
    assert_eq!(encode(Type::Bf16, Rounding::NearestEven, 1.0 + 2f64.powi(-8)), 0x3F80);
    assert_eq!(encode(Type::Bf16, Rounding::NearestEven, 1.0 + 3.0 * 2f64.powi(-8)), 0x3F82);
    assert_eq!(encode(Type::Bf16, Rounding::Zero, -(2.0 - 2f64.powi(-8))), 0xBFFF);
    assert_eq!(encode(Type::Bf16, Rounding::NearestEven, 3.39e38), 0x7F7F);
    assert_eq!(encode(Type::Bf16, Rounding::NearestEven, 3.4e38), 0x7F80);
}

proptest::proptest! {
    /// Floats of 16 bits keep their bits when they are decoded and encoded, and `f64` are rounded
    /// to `f32` as in Rust.
    #[test]
    fn rounding_is_that_of_the_language(bits: u16, wide: u64, a: u32, b: u32, c: u32) {
        for ty in [Type::F16, Type::Bf16] {
            let number = decode(ty, u64::from(bits));
            if !number.is_nan() {
                assert_eq!(encode(ty, Rounding::Down, number), u64::from(bits));
            }
        }
        let wide = f64::from_bits(wide);
        if !wide.is_nan() {
            let found = rounding::encode_slowly(Type::F32, Rounding::NearestEven, wide);
            assert_eq!(found as u32, (wide as f32).to_bits());
        }
        let [x, y, z] = [a, b, c].map(f32::from_bits);
        let fused = ternary(Ternary::FusedMultiplyAdd, Type::F32, [a, b, c].map(u64::from)) as u32;
        let expected = x.mul_add(y, z);
        assert!(fused == expected.to_bits() || expected.is_nan() && fused == 0x7FFF_FFFF);
    }
}

/// All operations on all lanes, compared with the operations on one lane.
#[test]
fn operations_on_lanes_equal_single_operations() {
    let numbers: Lanes = std::array::from_fn(|i| {
        let floats = [0.0, -0.0, 1.5, -3.0, f32::NAN, f32::INFINITY, 1e-40, 3e38];
        let integers =
            [0, 1, 5, 31, 32, 33, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 40, u64::MAX];
        if i % 2 == 0 { u64::from(floats[i / 2 % 8].to_bits()) } else { integers[i / 2 % 11] }
    });
    let rotated = |by: usize| -> Lanes { std::array::from_fn(|i| numbers[(i + by) % 32]) };
    let integers = [
        Binary::Add,
        Binary::Subtract,
        Binary::MultiplyLow,
        Binary::And,
        Binary::Or,
        Binary::Xor,
        Binary::ShiftLeft,
        Binary::ShiftRight,
        Binary::Minimum,
        Binary::Maximum,
    ];
    let floats = [Binary::Add, Binary::Subtract, Binary::MultiplyLow, Binary::Divide];
    let comparisons = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessEqual,
        Comparison::Greater,
        Comparison::GreaterEqual,
        Comparison::OrUnordered(Ordered::Equal),
        Comparison::OrUnordered(Ordered::NotEqual),
        Comparison::OrUnordered(Ordered::Less),
        Comparison::OrUnordered(Ordered::LessEqual),
        Comparison::OrUnordered(Ordered::Greater),
        Comparison::OrUnordered(Ordered::GreaterEqual),
        Comparison::IsNumber,
        Comparison::IsNan,
    ];
    let types = [U32, S32, U64, Type::Signed(8), Type::Bits(4), Type::Bits(8), Type::Unsigned(2)];
    for by in 0..32 {
        let (other, third) = (rotated(by), rotated(7 * by));
        let mut found = [0; 32];
        let check = |found: &Lanes, expected: &dyn Fn(usize) -> u64, what: &dyn std::fmt::Debug| {
            for i in 0..32 {
                assert_eq!(found[i], expected(i), "{what:?} {:x} {:x}", numbers[i], other[i]);
            }
        };
        for ty in types.into_iter().chain([Type::F32]) {
            for &kind in if ty.is_float() { &floats[..] } else { &integers } {
                binary_lanes(kind, ty, MODE, [&numbers, &other], &mut found);
                let one = |i: usize| binary(kind, ty, numbers[i], other[i]).unwrap();
                check(&found, &one, &(kind, ty));
            }
            for comparison in comparisons {
                compare_lanes(comparison, ty, false, [&numbers, &other], &mut found);
                let one = |i: usize| compare(comparison, ty, numbers[i], other[i]).into();
                check(&found, &one, &(comparison, ty));
            }
            if !ty.is_float() {
                let conversion = conversion(U64, ty, None, false);
                convert_lanes(conversion, &numbers, &mut found);
                check(&found, &|i| convert(conversion, numbers[i]), &ty);
            }
        }
        for (kind, ty) in [
            (Ternary::FusedMultiplyAdd, Type::F32),
            (Ternary::MultiplyAddLow, S32),
            (Ternary::MultiplyAddWide, S32),
            (Ternary::MultiplyAddWide, U32),
        ] {
            ternary_lanes(kind, ty, MODE, [&numbers, &other, &third], &mut found);
            let one = |i: usize| ternary(kind, ty, [numbers[i], other[i], third[i]]);
            check(&found, &one, &(kind, ty));
        }
        for ty in [U32, S32] {
            binary_lanes(Binary::MultiplyWide, ty, MODE, [&numbers, &other], &mut found);
            let one = |i: usize| binary(Binary::MultiplyWide, ty, numbers[i], other[i]).unwrap();
            check(&found, &one, &ty);
        }
        for kind in [Unary::Negate, Unary::Absolute] {
            unary_lanes(kind, Type::F32, MODE, &other, &mut found);
            check(&found, &|i| unary(kind, Type::F32, other[i]), &kind);
        }
    }
}

proptest::proptest! {
    /// Ties and subnormal sums among random bits.
    #[test]
    fn sums_of_products_in_lanes_are_rounded_once(a: [u32; 8], b: [u32; 8], c: [u32; 8], shift in 0u32..24) {
        // Few bits, so that ties are frequent.
        let short = |bits: u32| u64::from(bits >> shift << shift);
        let [a, b, c] = [a, b, c].map(|bits| -> Lanes { std::array::from_fn(|i| short(bits[i % 8])) });
        let mut found = [0; 32];
        ternary_lanes(Ternary::FusedMultiplyAdd, Type::F32, MODE, [&a, &b, &c], &mut found);
        for i in 0..8 {
            let [x, y, z] = [a, b, c].map(|bits| f32::from_bits(bits[i] as u32));
            let expected = x.mul_add(y, z);
            let bits = found[i] as u32;
            assert!(bits == expected.to_bits() || expected.is_nan() && bits == 0x7FFF_FFFF);
        }
    }
}

#[test]
fn integers_that_become_floats_are_rounded_once_and_saturate() {
    let to_f32 = |from, rounding, value: u64| {
        convert(Conversion { rounding, ..conversion(Type::F32, from, None, false) }, value)
    };
    // 2^63 + 1 and 2^24 + 1 are between two `f32`; their last bits are lost in `f64` too.
    let (large, small) = ((1 << 63) + 1, (1 << 24) + 1);
    let two = |power: i32| u64::from(2f32.powi(power).to_bits());
    for (rounding, added) in [(Rounding::Zero, 0), (Rounding::Down, 0), (Rounding::Up, 1)] {
        assert_eq!(to_f32(U64, rounding, large), two(63) + added, "{rounding:?}");
        assert_eq!(to_f32(U32, rounding, small), two(24) + added, "{rounding:?}");
    }
    // -2^62 - 1: down is away from zero.
    let negative = (-(1i64 << 62) - 1) as u64;
    let minus = two(62) | 1 << 31;
    assert_eq!(to_f32(Type::Signed(8), Rounding::Down, negative), minus + 1);
    assert_eq!(to_f32(Type::Signed(8), Rounding::Up, negative), minus);
    // 2^60 + 2^36 is half-way between two `f32`, and the last 1 lies beyond an `f64`.
    let half_way = (1u64 << 60) + (1 << 36);
    assert_eq!(to_f32(U64, Rounding::NearestEven, half_way), two(60));
    assert_eq!(to_f32(U64, Rounding::NearestEven, half_way + 1), two(60) + 1);
    let saturating = conversion(Type::F32, S32, None, true);
    for (value, expected) in [(7, 1.0f32), (1, 1.0), (0, 0.0), (-3i32, 0.0)] {
        assert_eq!(convert(saturating, u64::from(value as u32)), u64::from(expected.to_bits()));
    }
}

#[test]
fn numbers_that_cancel_give_negative_zero_when_rounded_down() {
    let one = u64::from(1f32.to_bits());
    let (minus_one, minus_zero) = (one | 1 << 31, 1 << 31);
    for (rounding, zero) in [(Rounding::Down, minus_zero), (Rounding::Up, 0), (Rounding::Zero, 0)] {
        let mode = Mode { rounding, ..MODE };
        let add = |a, b| super::binary(Binary::Add, Type::F32, mode, a, b);
        assert_eq!(add(one, minus_one), Ok(zero), "{rounding:?}");
        assert_eq!(add(0, 0), Ok(0), "{rounding:?}");
        assert_eq!(add(minus_zero, 0), Ok(zero), "{rounding:?}");
        let subtract = super::binary(Binary::Subtract, Type::F32, mode, one, one);
        assert_eq!(subtract, Ok(zero), "{rounding:?}");
        let fused =
            super::ternary(Ternary::FusedMultiplyAdd, Type::F32, mode, [one, one, minus_one]);
        assert_eq!(fused, zero, "{rounding:?}");
    }
}
