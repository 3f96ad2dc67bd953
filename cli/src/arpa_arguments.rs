//! Arguments for irregular ARPA files, shared by the `lm` commands.

use clap::Args;
use miriam_lmcpu::{ArpaOptions, DuplicatePolicy, MissingMarkerPolicy, PositivePolicy};

#[derive(Args, Clone, Copy)]
pub struct ArpaArguments {
    /// Duplicate n-grams in an ARPA file: reject, or keep-first (as KenLM's probing models)
    #[arg(long, value_name = "POLICY", default_value = "reject")]
    duplicates: DuplicatePolicy,
    /// Positive log probabilities in an ARPA file: reject, or zero (as KenLM's build_binary -i)
    #[arg(long, value_name = "POLICY", default_value = "reject")]
    positive: PositivePolicy,
    /// <s> or </s> missing from an ARPA file: reject, or unknown (score it as <unk>, as
    /// KenLM's build_binary -s)
    #[arg(long, value_name = "POLICY", default_value = "reject")]
    missing_markers: MissingMarkerPolicy,
}

impl ArpaArguments {
    /// Returns the options that the arguments select.
    pub fn options(self) -> ArpaOptions {
        let ArpaArguments { duplicates, positive, missing_markers } = self;
        ArpaOptions { duplicates, positive, missing_markers, ..ArpaOptions::default() }
    }
}
