//! Arithmetic of `f16` and `bf16` with the instructions that inline assembly in kernels uses,
//! compared with results computed by hand.

mod common;

use common::{block, run_body};

/// Runs `body` in one thread: the words of `input` are in `%r2` and so on, and `%r20` is the
/// result.
fn word(body: &str, input: &[u32]) -> u32 {
    let loads: String = (0..input.len())
        .map(|i| format!("ld.global.u32 %r{}, [%rd3+{}];\n", i + 2, 4 * i))
        .collect();
    let body = format!("{loads}{body}\nst.global.u32 [%rd2], %r20;");
    run_body("", &body, block(1), input, 1).unwrap()[0]
}

#[test]
fn conversions_between_floats_round_as_asked() {
    let to_f16 = |mode: &str, x: f32| {
        let body = format!(
            "{{ .reg .b16 h; mov.b32 %f1, %r2; cvt.{mode}.f16.f32 h, %f1; cvt.u32.u16 %r20, h; }}"
        );
        word(&body, &[x.to_bits()])
    };
    assert_eq!(to_f16("rn", 1.0), 0x3C00);
    assert_eq!(to_f16("rn", -0.333_333_34), 0xB555);
    assert_eq!(to_f16("rn", 65536.0), 0x7C00);
    assert_eq!(to_f16("rz", 65536.0), 0x7BFF);
    assert_eq!(to_f16("rn", 1e-8), 0);
    let to_bf16 = |mode: &str, x: f32| {
        let body = format!(
            "{{ .reg .b16 h; mov.b32 %f1, %r2; cvt.{mode}.bf16.f32 h, %f1; cvt.u32.u16 %r20, h; }}"
        );
        word(&body, &[x.to_bits()])
    };
    // 1 + 3/256 is halfway between two bf16 numbers, of which the upper one is even.
    let half = 1.0 + 3.0 / 256.0;
    assert_eq!(to_bf16("rn", half), 0x3F82);
    assert_eq!(to_bf16("rz", half), 0x3F81);
    let back = "cvt.u16.u32 %h1, %r2; cvt.f32.f16 %f1, %h1; mov.b32 %r20, %f1;";
    assert_eq!(word(back, &[0xB555]), (-0.333_251_95f32).to_bits());
    assert_eq!(word(back, &[1]), 2f32.powi(-24).to_bits());
    let pair = "mov.b32 %f1, %r2; mov.b32 %f2, %r3; cvt.rn.bf16x2.f32 %r20, %f1, %f2;";
    assert_eq!(word(pair, &[2f32.to_bits(), 1f32.to_bits()]), 0x4000_3F80);
    let pair = "mov.b32 %f1, %r2; mov.b32 %f2, %r3; cvt.rn.f16x2.f32 %r20, %f1, %f2;";
    assert_eq!(word(pair, &[2f32.to_bits(), 1f32.to_bits()]), 0x4000_3C00);
}

#[test]
fn halves_are_loaded_stored_and_packed() {
    let body = "mad.wide.u32 %rd5, %r1, 2, %rd3; ld.global.nc.u16 %h1, [%rd5]; ld.global.b16 %h2, [%rd5+2];\n\
                cvt.f32.f16 %f1, %h1; cvt.f32.f16 %f2, %h2; add.f32 %f3, %f1, %f2;\n\
                cvt.rn.f16.f32 %h3, %f3; mov.b32 %r2, {%h3, %h1}; mov.b32 {%h4, %h5}, %r2;\n\
                mad.wide.u32 %rd6, %r1, 4, %rd4; st.global.b16 [%rd6], %h4; st.global.u16 [%rd6+2], %h5;";
    // The input is 1, 2, 3, 0.5.
    let found = run_body("", body, block(3), &[0x4000_3C00, 0x3800_4200], 3).unwrap();
    assert_eq!(found, [0x3C00_4200, 0x4000_4500, 0x4200_4300]);
}

#[test]
fn halves_are_computed_with_one_rounding() {
    let [one, three, least] = [0x3C00, 0x4200, 0x0001];
    let binary = |operation: &str, a: u32, b: u32| {
        let body = format!(
            "cvt.u16.u32 %h1, %r2; cvt.u16.u32 %h2, %r3; {operation} %h3, %h1, %h2; cvt.u32.u16 %r20, %h3;"
        );
        word(&body, &[a, b])
    };
    assert_eq!(binary("add.f16", one, three), 0x4400);
    assert_eq!(binary("add.rn.f16", one, least), one);
    assert_eq!(binary("sub.f16", one, three), 0xC000);
    assert_eq!(binary("mul.f16", three, three), 0x4880);
    assert_eq!(binary("max.f16", one, 0xC200), one);
    assert_eq!(binary("min.f16", one, 0xC200), 0xC200);
    assert_eq!(binary("max.bf16", 0x3F80, 0xC040), 0x3F80);
    assert_eq!(binary("mul.ftz.f16", least, one), 0);
    assert_eq!(binary("mul.f16", least, one), least);
    // The bits of two numbers are in one register: (2, 1) and (3, -4).
    let pairs = |operation: &str| {
        word(&format!("{operation} %r20, %r2, %r3;"), &[0x4000_3C00, 0x4200_C400])
    };
    assert_eq!(pairs("add.f16x2"), 0x4500_C200);
    assert_eq!(pairs("mul.f16x2"), 0x4600_C400);
    assert_eq!(pairs("max.f16x2"), 0x4200_3C00);
    assert_eq!(word("neg.f16x2 %r20, %r2;", &[0x4000_BC00]), 0xC000_3C00);
    // (1 + u) * (1 + u) - 1, where u is a unit in the last place: with one rounding, 2 u + u * u.
    let u = 2f32.powi(-10);
    let fused = "fma.rn.f16x2 %r20, %r2, %r2, %r3;";
    let unit = (2.0 * u + u * u).to_bits();
    let expected = ((unit >> 23) - 112) << 10 | unit >> 13 & 0x3FF;
    assert_eq!(word(fused, &[0x3C01_3C00, 0xBC00_3C00]), expected << 16 | 0x4000);
    // bf16: 1 * 1 + 2, and 1.5 * 2 - 3.
    let fused = "fma.rn.bf16x2 %r20, %r2, %r3, %r4;";
    assert_eq!(word(fused, &[0x3F80_3FC0, 0x3F80_4000, 0x4000_C040]), 0x4040_0000);
    let shift = "shl.b32 %r20, %r2, 16;";
    assert_eq!(word(shift, &[0x3FC0]), 1.5f32.to_bits());
    let compared = "cvt.u16.u32 %h1, %r2; cvt.u16.u32 %h2, %r3; setp.lt.f16 %p1, %h1, %h2;\n\
                    selp.b16 %h3, %h1, %h2, %p1; cvt.u32.u16 %r20, %h3;";
    assert_eq!(word(compared, &[0xC200, one]), 0xC200);
}
