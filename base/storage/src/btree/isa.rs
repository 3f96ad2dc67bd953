//! Vectorised comparison of a node's keys.
//!
//! Instructions are detected once. An [`Isa`] above the baseline exists only if the processor
//! supports it, so code that has one may use its instructions. The choice is a branch on a constant
//! value, which costs less than a call through a pointer.

use super::Unit;

/// The instruction set that compares keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// The baseline of all processors.
    pub const PLAIN: Isa = Isa(Level::Plain);

    /// Returns the best instruction set of this processor.
    pub fn detect() -> Self {
        Self::avx512().or_else(Self::avx2).unwrap_or(Self::PLAIN)
    }

    /// Returns AVX2, if the processor supports it.
    pub fn avx2() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            return Some(Isa(Level::Avx2));
        }
        None
    }

    /// Returns AVX-512, if the processor supports it.
    pub fn avx512() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx512f") {
            return Some(Isa(Level::Avx512));
        }
        None
    }

    /// Returns the rank of `key`: the number of smaller keys in `keys`. `keys` has at most eight
    /// units; its keys are in ascending order.
    #[inline(always)]
    pub fn rank(self, keys: &[Unit], key: u32) -> usize {
        match self.0 {
            Level::Plain => rank_plain(keys, key),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this level is made by `avx2` only, where the processor has it.
            Level::Avx2 => unsafe { rank_avx2(keys, key) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this level is made by `avx512` only, where the processor has it.
            Level::Avx512 => unsafe { rank_avx512(keys, key) },
        }
    }
}

/// Returns the index of `key` in `keys`, which are distinct and in any order. It is inlined
/// because nearly all blocks have one unit, for which a call would cost more than the comparison.
#[inline(always)]
pub fn find_key(keys: &[Unit], key: u32) -> Option<usize> {
    for (at, unit) in keys.iter().enumerate() {
        let equal = match_mask4(unit, key);
        if equal != 0 {
            return Some(at * 4 + equal.trailing_zeros() as usize);
        }
    }
    None
}

/// Returns a mask with one bit for each of four keys that equals `key`.
#[inline(always)]
fn match_mask4(unit: &Unit, key: u32) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            _mm_castsi128_ps, _mm_cmpeq_epi32, _mm_load_si128, _mm_movemask_ps, _mm_set1_epi32,
        };
        // SAFETY: SSE2 is part of the x86-64 baseline, and a unit is 16 bytes at a
        // multiple of 16.
        unsafe {
            let keys = _mm_load_si128(unit.0.as_ptr().cast());
            let equal = _mm_cmpeq_epi32(keys, _mm_set1_epi32(key as i32));
            _mm_movemask_ps(_mm_castsi128_ps(equal)) as u32
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    unit.0.iter().enumerate().fold(0, |bits, (at, &other)| bits | u32::from(other == key) << at)
}

/// Computes [`Isa::rank`] without branches, in a form that compilers vectorise.
#[inline]
fn rank_plain(keys: &[Unit], key: u32) -> usize {
    let mut less = [0u32; 4];
    for unit in keys {
        for (less, &other) in less.iter_mut().zip(&unit.0) {
            *less += u32::from(other < key);
        }
    }
    less.iter().sum::<u32>() as usize
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn rank_avx2(keys: &[Unit], key: u32) -> usize {
    use std::arch::x86_64::{
        _mm_castsi128_ps, _mm_cmpeq_epi32, _mm_load_si128, _mm_max_epu32, _mm_movemask_ps,
        _mm_set1_epi32, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_loadu_si256,
        _mm256_max_epu32, _mm256_movemask_ps, _mm256_set1_epi32,
    };
    // A bit is set for each key of the node that is not less than `key`: such a key equals the
    // maximum of itself and `key`. One more bit, after the bits of all keys, is always set.
    let mut not_less = 1u64 << ((keys.len() * 4) & 63);
    let (pairs, odd) = keys.as_chunks::<2>();
    let wanted = _mm256_set1_epi32(key as i32);
    for (at, pair) in pairs.iter().enumerate() {
        // SAFETY: two units are 32 bytes.
        let keys = unsafe { _mm256_loadu_si256(pair.as_ptr().cast()) };
        let equal = _mm256_cmpeq_epi32(_mm256_max_epu32(keys, wanted), keys);
        not_less |= u64::from(_mm256_movemask_ps(_mm256_castsi256_ps(equal)) as u8) << (at * 8);
    }
    if let [unit] = odd {
        // SAFETY: a unit is 16 bytes at a multiple of 16.
        let keys = unsafe { _mm_load_si128(unit.0.as_ptr().cast()) };
        let equal = _mm_cmpeq_epi32(_mm_max_epu32(keys, _mm_set1_epi32(key as i32)), keys);
        let bits = _mm_movemask_ps(_mm_castsi128_ps(equal)) as u64;
        not_less |= bits << (pairs.len() * 8);
    }
    not_less.trailing_zeros() as usize
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn rank_avx512(keys: &[Unit], key: u32) -> usize {
    use std::arch::x86_64::{
        _mm512_cmpge_epu32_mask, _mm512_loadu_si512, _mm512_mask_cmpge_epu32_mask,
        _mm512_maskz_loadu_epi32, _mm512_set1_epi32,
    };
    let mut not_less = 1u64 << ((keys.len() * 4) & 63);
    let (fours, rest) = keys.as_chunks::<4>();
    let wanted = _mm512_set1_epi32(key as i32);
    for (at, four) in fours.iter().enumerate() {
        // SAFETY: four units are 64 bytes.
        let keys = unsafe { _mm512_loadu_si512(four.as_ptr().cast()) };
        not_less |= u64::from(_mm512_cmpge_epu32_mask(keys, wanted)) << (at * 16);
    }
    if !rest.is_empty() {
        let used = (1u16 << (rest.len() * 4)) - 1;
        // SAFETY: only the lanes in `used` are read, and they lie in `rest`.
        let keys = unsafe { _mm512_maskz_loadu_epi32(used, rest.as_ptr().cast()) };
        let bits = _mm512_mask_cmpge_epu32_mask(used, keys, wanted);
        not_less |= u64::from(bits) << (fours.len() * 16);
    }
    not_less.trailing_zeros() as usize
}
