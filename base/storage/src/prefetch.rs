//! Prefetching of cache lines.

/// Starts loading the cache line at `address` for reading. This is only a hint: any address is
/// allowed, also an unmapped one.
#[inline(always)]
pub fn prefetch_read<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults and has no architectural effect; SSE is
    // part of the x86-64 baseline.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Starts loading the cache line of `slice[index]`; an index outside the slice is harmless.
#[inline(always)]
pub fn prefetch_at<T>(slice: &[T], index: usize) {
    prefetch_read(slice.as_ptr().wrapping_add(index));
}
