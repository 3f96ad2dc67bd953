//! Sixteen lanes as one register of AVX-512, with and without VNNI and products of bf16.
//!
//! VNNI multiplies unsigned by signed bytes into 32 bits and never saturates: rows
//! are shifted by 128 there, and the packed corrections of the columns undo it.
//! Without VNNI bytes are multiplied as with AVX2 (see `avx2.rs`).

use std::arch::x86_64::*;

use super::avx2::magnitudes_and_signs;
use super::{Isa, LANES, RegisterBlocking, TABLE_LEN};
use crate::pack::Line;

/// AVX-512 F, BW, DQ and VL, with AVX2 and FMA. Exists only where the CPU has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx512(());

/// The features of [`Avx512`], and VNNI. Exists only where the CPU has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx512Vnni(());

/// The features of [`Avx512Vnni`], and products of bf16. Exists only where the CPU has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx512Bf16(());

impl Avx512 {
    /// Returns the token, if the CPU has the features.
    pub(crate) fn new() -> Option<Self> {
        let all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma");
        all.then_some(Self(()))
    }
}

impl Avx512Vnni {
    /// Returns the token, if the CPU has the features.
    pub(crate) fn new() -> Option<Self> {
        let all = Avx512::new().is_some() && is_x86_feature_detected!("avx512vnni");
        all.then_some(Self(()))
    }

    /// Returns the token of the same features with products of bf16, if the CPU has them.
    pub(crate) fn with_bf16(self) -> Option<Avx512Bf16> {
        is_x86_feature_detected!("avx512bf16").then_some(Avx512Bf16(()))
    }

    /// Returns the token of the same features without VNNI.
    pub(crate) fn without_vnni(self) -> Avx512 {
        Avx512(())
    }
}

/// Calls an intrinsic that does not access memory.
macro_rules! one {
    ($($call:tt)+) => {
        // SAFETY: the intrinsic needs AVX-512 F, BW, DQ or VL (or VNNI in `Avx512Vnni`, VNNI or
        // BF16 in `Avx512Bf16`) and has no other condition; the token exists only where the CPU has
        // them.
        unsafe { $($call)+ }
    };
}

/// The operations that do not depend on VNNI.
macro_rules! common {
    ($features:literal) => {
        type F = __m512;
        type I = __m512i;
        type Mask = __mmask16;
        const REGISTER_BLOCKING: RegisterBlocking = RegisterBlocking::Wide;
        const PREFERS_UNSIGNED: bool = false;

        #[inline(always)]
        fn run<R>(self, body: impl FnOnce(Self) -> R) -> R {
            #[target_feature(enable = $features)]
            fn with_features<T, R>(isa: T, body: impl FnOnce(T) -> R) -> R {
                body(isa)
            }
            // SAFETY: the token exists only where the CPU has these features.
            unsafe { with_features(self, body) }
        }

        #[inline(always)]
        fn splat(self, value: f32) -> Self::F {
            one!(_mm512_set1_ps(value))
        }
        #[inline(always)]
        fn load(self, from: &[f32]) -> Self::F {
            let from: &[f32; LANES] = from.first_chunk().expect("sixteen elements");
            // SAFETY: AVX-512 F; sixteen elements are there, no alignment is needed.
            unsafe { _mm512_loadu_ps(from.as_ptr()) }
        }
        #[inline(always)]
        fn store(self, value: Self::F, to: &mut [f32]) {
            let to: &mut [f32; LANES] = to.first_chunk_mut().expect("sixteen elements");
            // SAFETY: AVX-512 F; sixteen elements are there, no alignment is needed.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), value) }
        }
        #[inline(always)]
        fn add(self, a: Self::F, b: Self::F) -> Self::F {
            one!(_mm512_add_ps(a, b))
        }
        #[inline(always)]
        fn sub(self, a: Self::F, b: Self::F) -> Self::F {
            one!(_mm512_sub_ps(a, b))
        }
        #[inline(always)]
        fn mul(self, a: Self::F, b: Self::F) -> Self::F {
            one!(_mm512_mul_ps(a, b))
        }
        #[inline(always)]
        fn div(self, a: Self::F, b: Self::F) -> Self::F {
            one!(_mm512_div_ps(a, b))
        }
        #[inline(always)]
        fn mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
            one!(_mm512_fmadd_ps(a, b, c))
        }
        #[inline(always)]
        fn max(self, a: Self::F, b: Self::F) -> Self::F {
            one!(_mm512_max_ps(a, b))
        }
        #[inline(always)]
        fn min(self, a: Self::F, b: Self::F) -> Self::F {
            one!(_mm512_min_ps(a, b))
        }
        #[inline(always)]
        fn abs(self, a: Self::F) -> Self::F {
            one!(_mm512_andnot_ps(_mm512_set1_ps(-0.0), a))
        }
        #[inline(always)]
        fn sqrt(self, a: Self::F) -> Self::F {
            one!(_mm512_sqrt_ps(a))
        }
        #[inline(always)]
        fn max_abs(self, a: Self::F, b: Self::F) -> Self::F {
            let (a, b) = (self.abs(a), self.abs(b));
            // Compared as integers, the bits of magnitudes have the order of the magnitudes.
            let (a, b) = (one!(_mm512_castps_si512(a)), one!(_mm512_castps_si512(b)));
            let larger = one!(_mm512_max_epi32(a, b));
            one!(_mm512_castsi512_ps(larger))
        }
        #[inline(always)]
        fn copysign(self, a: Self::F, sign: Self::F) -> Self::F {
            one!({
                let bit = _mm512_set1_ps(-0.0);
                _mm512_or_ps(_mm512_andnot_ps(bit, a), _mm512_and_ps(bit, sign))
            })
        }
        #[inline(always)]
        fn less(self, a: Self::F, b: Self::F) -> Self::Mask {
            one!(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b))
        }
        #[inline(always)]
        fn select(self, mask: Self::Mask, yes: Self::F, no: Self::F) -> Self::F {
            one!(_mm512_mask_blend_ps(mask, no, yes))
        }
        #[inline(always)]
        fn mask_bits(self, mask: Self::Mask) -> u32 {
            u32::from(mask)
        }
        #[inline(always)]
        fn scale_by_power(self, a: Self::F, shifted: Self::F) -> Self::F {
            one!({
                let exponent = _mm512_slli_epi32::<23>(_mm512_castps_si512(shifted));
                _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), exponent))
            })
        }
        #[inline(always)]
        fn gather(self, table: &[f32; TABLE_LEN], index: Self::I) -> Self::F {
            let mut lanes = [0i32; LANES];
            self.store_i32(index, &mut lanes);
            assert!(lanes.iter().fold(0, |all, &lane| all | lane as u32) < TABLE_LEN as u32);
            // SAFETY: AVX-512 F; every index was just checked to lie inside the table
            // (its length is a power of two, so the union of the bits bounds them all).
            unsafe { _mm512_i32gather_ps::<4>(index, table.as_ptr()) }
        }

        #[inline(always)]
        fn splat_i32(self, value: i32) -> Self::I {
            one!(_mm512_set1_epi32(value))
        }
        #[inline(always)]
        fn load_i32(self, from: &[i32]) -> Self::I {
            let from: &[i32; LANES] = from.first_chunk().expect("sixteen elements");
            // SAFETY: AVX-512 F; sixteen elements are there, no alignment is needed.
            unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
        }
        #[inline(always)]
        fn to_f32(self, a: Self::I) -> Self::F {
            one!(_mm512_cvtepi32_ps(a))
        }
        #[inline(always)]
        fn round(self, a: Self::F) -> Self::I {
            one!(_mm512_cvtps_epi32(a))
        }
        #[inline(always)]
        fn store_i32(self, value: Self::I, to: &mut [i32]) {
            let to: &mut [i32; LANES] = to.first_chunk_mut().expect("sixteen elements");
            // SAFETY: AVX-512 F; sixteen elements are there, no alignment is needed.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), value) }
        }
        #[inline(always)]
        fn store_i8(self, value: Self::I, to: &mut [i8]) {
            let to: &mut [i8; LANES] = to.first_chunk_mut().expect("sixteen elements");
            // SAFETY: AVX-512 F; sixteen bytes are there, no alignment is needed.
            unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(value)) }
        }
        #[inline(always)]
        fn load_line(self, line: &Line) -> Self::F {
            let bytes = load_bytes(self, line);
            one!(_mm512_castsi512_ps(bytes))
        }
        #[inline(always)]
        fn store_line(self, value: Self::F, line: &mut Line) {
            // SAFETY: AVX-512 F; a line is 64 bytes, aligned to 64.
            unsafe { _mm512_store_ps(line.0.as_mut_ptr().cast(), value) }
        }
        #[inline(always)]
        fn transpose(self, rows: [Self::F; LANES]) -> [Self::F; LANES] {
            transpose_sixteen(self, rows)
        }
    };
}

/// A token that promises AVX-512 F.
trait Registers512 {}
impl Registers512 for Avx512 {}
impl Registers512 for Avx512Vnni {}
impl Registers512 for Avx512Bf16 {}

/// Returns the transpose of sixteen registers.
#[inline(always)]
fn transpose_sixteen(_: impl Registers512, rows: [__m512; LANES]) -> [__m512; LANES] {
    let (mut pairs, mut quads, mut columns) = (rows, rows, rows);
    one!({
        for row in [0, 2, 4, 6, 8, 10, 12, 14] {
            pairs[row] = _mm512_unpacklo_ps(rows[row], rows[row + 1]);
            pairs[row + 1] = _mm512_unpackhi_ps(rows[row], rows[row + 1]);
        }
        for row in [0, 4, 8, 12] {
            for odd in [0, 1] {
                let a = _mm512_castps_pd(pairs[row + odd]);
                let b = _mm512_castps_pd(pairs[row + odd + 2]);
                quads[row + 2 * odd] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
                quads[row + 2 * odd + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
            }
        }
        // Quarter L of register 4g + k now has rows 4g to 4g + 3 of column 4L + k.
        for k in 0..4 {
            let even_low = _mm512_shuffle_f32x4::<0x88>(quads[k], quads[4 + k]);
            let odd_low = _mm512_shuffle_f32x4::<0xdd>(quads[k], quads[4 + k]);
            let even_high = _mm512_shuffle_f32x4::<0x88>(quads[8 + k], quads[12 + k]);
            let odd_high = _mm512_shuffle_f32x4::<0xdd>(quads[8 + k], quads[12 + k]);
            columns[k] = _mm512_shuffle_f32x4::<0x88>(even_low, even_high);
            columns[4 + k] = _mm512_shuffle_f32x4::<0x88>(odd_low, odd_high);
            columns[8 + k] = _mm512_shuffle_f32x4::<0xdd>(even_low, even_high);
            columns[12 + k] = _mm512_shuffle_f32x4::<0xdd>(odd_low, odd_high);
        }
    });
    columns
}

/// Returns the 64 bytes of a line.
#[inline(always)]
fn load_bytes(_: impl Registers512, line: &Line) -> __m512i {
    // SAFETY: AVX-512 F, as the token promises; a line is 64 bytes, aligned to 64.
    unsafe { _mm512_load_si512(line.0.as_ptr().cast()) }
}

impl Isa for Avx512 {
    common!("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma");
    const SHIFTS_TO_UNSIGNED: bool = false;

    #[inline(always)]
    fn prepare_i8(self, quad: u32) -> ([u32; 2], i32) {
        magnitudes_and_signs(quad)
    }
    #[inline(always)]
    fn dot_i8<const SIGNED: bool>(self, sums: Self::I, quad: &[u32; 2], line: &Line) -> Self::I {
        let mut weights = load_bytes(self, line);
        one!({
            if SIGNED {
                weights = _mm512_xor_si512(weights, _mm512_set1_epi32(quad[1] as i32));
            }
            let pairs = _mm512_maddubs_epi16(_mm512_set1_epi32(quad[0] as i32), weights);
            _mm512_add_epi32(sums, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))
        })
    }
    #[inline(always)]
    fn dot_i16(self, sums: Self::I, pair: u32, line: &Line) -> Self::I {
        let weights = load_bytes(self, line);
        one!(_mm512_add_epi32(sums, _mm512_madd_epi16(_mm512_set1_epi32(pair as i32), weights)))
    }
}

/// The products of integers with VNNI.
macro_rules! vnni_products {
    () => {
        const SHIFTS_TO_UNSIGNED: bool = true;

        #[inline(always)]
        fn prepare_i8(self, quad: u32) -> ([u32; 2], i32) {
            ([quad ^ 0x8080_8080, 0], 0)
        }
        #[inline(always)]
        fn dot_i8<const SIGNED: bool>(
            self,
            sums: Self::I,
            quad: &[u32; 2],
            line: &Line,
        ) -> Self::I {
            let weights = load_bytes(self, line);
            one!(_mm512_dpbusd_epi32(sums, _mm512_set1_epi32(quad[0] as i32), weights))
        }
        #[inline(always)]
        fn dot_i16(self, sums: Self::I, pair: u32, line: &Line) -> Self::I {
            let weights = load_bytes(self, line);
            one!(_mm512_dpwssd_epi32(sums, _mm512_set1_epi32(pair as i32), weights))
        }
    };
}

impl Isa for Avx512Vnni {
    common!("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma");
    vnni_products!();
}

/// For each word of the result of `zip_bf16`, its index in the result of `join_bf16(even, odd)`.
const ZIPPED_WORDS: [i16; 2 * LANES] = {
    let mut words = [0; 2 * LANES];
    let mut lane = 0;
    while lane < LANES {
        words[2 * lane] = lane as i16;
        words[2 * lane + 1] = (LANES + lane) as i16;
        lane += 1;
    }
    words
};

impl Isa for Avx512Bf16 {
    common!("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,avx2,fma");
    vnni_products!();
    #[inline(always)]
    fn dot_bf16(self, sums: Self::F, pair: u32, line: &Line) -> Self::F {
        let weights = bf16_lanes(load_bytes(self, line));
        let pair = bf16_lanes(one!(_mm512_set1_epi32(pair as i32)));
        one!(_mm512_dpbf16_ps(sums, weights, pair))
    }
    #[inline(always)]
    fn join_bf16(self, low: Self::F, high: Self::F) -> Self::F {
        let joined = bf16_words(one!(_mm512_cvtne2ps_pbh(high, low)));
        one!(_mm512_castsi512_ps(joined))
    }
    #[inline(always)]
    fn zip_bf16(self, even: Self::F, odd: Self::F) -> Self::F {
        let joined = bf16_words(one!(_mm512_cvtne2ps_pbh(odd, even)));
        // SAFETY: AVX-512 F; the table has 64 bytes, no alignment is needed.
        let words = unsafe { _mm512_loadu_si512(ZIPPED_WORDS.as_ptr().cast()) };
        one!(_mm512_castsi512_ps(_mm512_permutexvar_epi16(words, joined)))
    }
}

/// Returns a register of integers as a register of bf16.
#[inline(always)]
fn bf16_lanes(words: __m512i) -> __m512bh {
    // SAFETY: both are 512 bits without invalid values.
    unsafe { std::mem::transmute::<__m512i, __m512bh>(words) }
}

/// Returns a register of bf16 as a register of integers.
#[inline(always)]
fn bf16_words(lanes: __m512bh) -> __m512i {
    // SAFETY: both are 512 bits without invalid values.
    unsafe { std::mem::transmute::<__m512bh, __m512i>(lanes) }
}
