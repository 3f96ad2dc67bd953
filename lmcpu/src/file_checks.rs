//! Checks that probing and trie files share.

/// Checks the two numbers of an n-gram.
pub(crate) fn check_numbers(log10: f32, backoff: f32) -> Result<(), &'static str> {
    if log10.is_nan() {
        return Err("a log probability is not a number");
    }
    if !backoff.is_finite() {
        return Err("a backoff is not a finite number");
    }
    Ok(())
}
