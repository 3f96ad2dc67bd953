//! Arbitrary bytes as a cache file of the autotuner: they are read or rejected, without a panic.
//! `cargo +nightly fuzz run tuner_cache` in `base/kernels`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = miriam_kernels::autotuner::is_tuner_cache(data);
});
