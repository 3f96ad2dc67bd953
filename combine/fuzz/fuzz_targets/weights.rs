//! Arbitrary bytes as weights of features: they are read, or give an error.
//! `cargo +nightly fuzz run weights` in `combine`.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use miriam_combine::weights::FeatureWeights;
use miriam_textio::n_best::FeatureScheme;
use miriam_textio::{Input, Lines};

fuzz_target!(|data: &[u8]| {
    let size = Some(data.len() as u64);
    let Ok(input) = Input::from_reader(Cursor::new(data.to_vec()), "fuzz", size) else { return };
    if let Ok(weights) = FeatureWeights::from_lines(Lines::new(input), "fuzz".into()) {
        let _ = weights.for_scheme(&FeatureScheme::new(data));
    }
});
