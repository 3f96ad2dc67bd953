//! Any bytes as a file of measured choices: taken or refused.
//! `cargo +nightly fuzz run choices` in `base/kernels`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = miriam_kernels::tuner::is_choices(data);
});
