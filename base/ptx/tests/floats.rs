//! Arithmetic of `f32` as NVRTC emits it, compared with Rust's.

mod common;

use common::{block, run_body};

/// Runs `body`, which computes `%f2` from `%f1`, for each number.
fn map(body: &str, inputs: &[f32]) -> Vec<f32> {
    let body = format!("ld.global.f32 %f1, [%rd1]; {body} st.global.f32 [%rd2], %f2;");
    let bits: Vec<u32> = inputs.iter().map(|x| x.to_bits()).collect();
    let found = run_body("", &body, block(inputs.len() as u32), &bits, inputs.len()).unwrap();
    found.into_iter().map(f32::from_bits).collect()
}

const NUMBERS: [f32; 12] =
    [0.0, -0.0, 1.0, -1.5, 0.3, 7.25, -20.0, 80.0, 1e-3, 3e-39, -2e-40, 3.4e38];

/// The code that NVRTC emits for `expf`, without and with `--use_fast_math`.
const EXP: &str = "fma.rn.f32 %f3, %f1, 0f3BBB989D, 0f3F000000; cvt.sat.f32.f32 %f4, %f3;\n\
                   mov.f32 %f5, 0f4B400001; mov.f32 %f6, 0f437C0000; fma.rm.f32 %f7, %f4, %f6, %f5;\n\
                   add.f32 %f8, %f7, 0fCB40007F; neg.f32 %f9, %f8;\n\
                   fma.rn.f32 %f10, %f1, 0f3FB8AA3B, %f9; fma.rn.f32 %f11, %f1, 0f32A57060, %f10;\n\
                   mov.b32 %r2, %f7; shl.b32 %r3, %r2, 23; mov.b32 %f12, %r3;\n\
                   ex2.approx.ftz.f32 %f13, %f11; mul.f32 %f2, %f13, %f12;";
const FAST_EXP: &str = "mul.ftz.f32 %f3, %f1, 0f3FB8AA3B; ex2.approx.ftz.f32 %f2, %f3;";

#[test]
fn exponentials_are_close() {
    for (body, error) in [(EXP, 2e-7), (FAST_EXP, 4e-6)] {
        for (x, found) in NUMBERS.iter().zip(map(body, &NUMBERS)) {
            let expected = f64::from(*x).exp();
            if expected > f64::from(f32::MAX) {
                assert_eq!(found, f32::INFINITY);
            } else {
                let relative = (f64::from(found) / expected - 1.0).abs();
                assert!(relative < error, "exp({x}): {found}, {expected}");
            }
        }
    }
}

#[test]
fn roots_and_quotients_are_rounded_to_nearest() {
    let bits = |numbers: &[f32]| -> Vec<u32> {
        // NaN has the bits that PTX calls canonical.
        numbers.iter().map(|x| if x.is_nan() { 0x7FFF_FFFF } else { x.to_bits() }).collect()
    };
    let check = |body: &str, function: &dyn Fn(f32) -> f32| {
        let expected: Vec<f32> = NUMBERS.iter().map(|x| function(*x)).collect();
        assert_eq!(bits(&map(body, &NUMBERS)), bits(&expected), "{body}");
    };
    check("sqrt.rn.f32 %f2, %f1;", &f32::sqrt);
    check("rcp.rn.f32 %f2, %f1;", &|x| 1.0 / x);
    check("div.rn.f32 %f2, %f1, 0f40400000;", &|x| x / 3.0);
    check("mul.rn.f32 %f2, %f1, %f1;", &|x| x * x);
    check("fma.rn.f32 %f2, %f1, %f1, %f1;", &|x| x.mul_add(x, x));
    check("fma.rn.f32 %f2, %f1, 0f34000001, 0f3F800000;", &|x| {
        x.mul_add(f32::from_bits(0x3400_0001), 1.0)
    });
    check("rsqrt.approx.f32 %f2, %f1;", &|x| (1.0 / f64::from(x).sqrt()) as f32);
    check("lg2.approx.f32 %f2, %f1;", &|x| f64::from(x).log2() as f32);
    check("tanh.approx.f32 %f2, %f1;", &|x| f64::from(x).tanh() as f32);
    check("sin.approx.f32 %f2, %f1;", &|x| f64::from(x).sin() as f32);
    check("div.full.f32 %f2, %f1, 0f41200000;", &|x| x / 10.0);
    check("abs.f32 %f2, %f1;", &f32::abs);
    check("cvt.rmi.f32.f32 %f2, %f1;", &f32::floor);
    check("cvt.rni.f32.f32 %f2, %f1;", &f32::round_ties_even);
    check("cvt.rzi.s32.f32 %r2, %f1; cvt.rn.f32.s32 %f2, %r2;", &|x| x as i32 as f32);
    check("cvt.rzi.u64.f32 %rd5, %f1; cvt.rn.f32.u64 %f2, %rd5;", &|x| x as u64 as f32);
    check("copysign.f32 %f2, %f1, 0f40000000;", &|x| 2f32.copysign(x));
}

#[test]
fn subnormal_numbers_become_zero_where_asked() {
    let flush = |x: f32| if x.is_subnormal() { 0f32.copysign(x) } else { x };
    let bits = |numbers: Vec<f32>| numbers.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let expected = |function: fn(f32) -> f32| -> Vec<u32> {
        bits(NUMBERS.iter().map(|x| flush(function(flush(*x)))).collect())
    };
    assert_eq!(bits(map("add.ftz.f32 %f2, %f1, 0f80000000;", &NUMBERS)), expected(|x| x + -0.0));
    assert_eq!(
        bits(map("mul.ftz.f32 %f2, %f1, 0f00800000;", &NUMBERS)),
        expected(|x| x * f32::MIN_POSITIVE)
    );
    assert_eq!(bits(map("neg.ftz.f32 %f2, %f1;", &NUMBERS)), expected(|x| -x));
    let is_zero =
        "setp.eq.ftz.f32 %p1, %f1, 0f00000000; selp.f32 %f2, 0f3F800000, 0f00000000, %p1;";
    let zeros = NUMBERS.map(|x| if flush(x) == 0.0 { 1.0 } else { 0.0 });
    assert_eq!(map(is_zero, &NUMBERS), zeros);
    // Without the modifier, subnormal numbers stay.
    assert_eq!(map("add.f32 %f2, %f1, 0f80000000;", &[3e-39]), [3e-39]);
    assert_eq!(map("ex2.approx.ftz.f32 %f2, %f1;", &[-130.0]), [0.0]);
    assert_eq!(map("ex2.approx.f32 %f2, %f1;", &[-130.0]), [2f32.powi(-130)]);
}

#[test]
fn rounding_modes_are_those_of_the_instruction() {
    // A third of a unit in the last place is added to one, and subtracted from it.
    let third = f32::EPSILON / 3.0;
    let next = 1.0 + f32::EPSILON;
    let before = 1.0 - f32::EPSILON / 2.0;
    let add = |mode: &str| map(&format!("add.{mode}.f32 %f2, %f1, 0f3F800000;"), &[third, -third]);
    assert_eq!(add("rn"), [1.0, 1.0 - f32::EPSILON / 2.0]);
    assert_eq!(add("rz"), [1.0, before]);
    assert_eq!(add("rm"), [1.0, before]);
    assert_eq!(add("rp"), [next, 1.0]);
    let product = |mode: &str| map(&format!("mul.{mode}.f32 %f2, %f1, %f1;"), &[next, f32::MAX]);
    assert_eq!(product("rz"), [1.0 + 2.0 * f32::EPSILON, f32::MAX]);
    assert_eq!(product("rp"), [1.0 + 3.0 * f32::EPSILON, f32::INFINITY]);
    let fused = |mode: &str| map(&format!("fma.{mode}.f32 %f2, %f1, %f1, 0fBF800000;"), &[next]);
    // The exact result is 2e + e * e with the epsilon e; e * e is half a unit in the last place.
    let double = 2.0 * f32::EPSILON;
    assert_eq!(fused("rz"), [double]);
    assert_eq!(fused("rp"), [f32::from_bits(double.to_bits() + 1)]);
    let to_zero =
        "cvt.f64.f32 %rd5, %f1; add.f64 %rd5, %rd5, 0d3FF0000000000000; cvt.rz.f32.f64 %f2, %rd5;";
    assert_eq!(map(to_zero, &[third, -third]), [1.0, before]);
}

#[test]
fn minima_and_maxima_respect_nan_and_the_sign_of_zero() {
    let inputs = [f32::NAN, 0.0, -0.0, -3.0];
    assert_eq!(map("max.f32 %f2, %f1, 0fC0000000;", &inputs), [-2.0, 0.0, -0.0, -2.0]);
    assert!(map("max.NaN.f32 %f2, %f1, 0fC0000000;", &inputs)[0].is_nan());
    let signs = |found: Vec<f32>| found.iter().map(|x| x.is_sign_negative()).collect::<Vec<_>>();
    assert_eq!(signs(map("min.f32 %f2, %f1, 0f00000000;", &inputs)), [false, false, true, true]);
    assert_eq!(signs(map("max.f32 %f2, %f1, 0f80000000;", &inputs)), [true, false, true, true]);
    let is_nan = "setp.nan.f32 %p1, %f1, %f1; selp.f32 %f2, 0f3F800000, 0f00000000, %p1;";
    assert_eq!(map(is_nan, &inputs), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(map("cvt.sat.f32.f32 %f2, %f1;", &inputs), [0.0; 4]);
}
