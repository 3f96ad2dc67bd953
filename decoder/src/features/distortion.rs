//! What a jump costs: when it is made, or as early as it is known
//! (`phrase-decoding.md` 3.6, 5.2).

use super::Span;

/// The length of the jump to `span` from the end of the phrase before, in words.
#[inline]
pub(crate) fn jump_distance(last_end: u32, span: Span) -> i64 {
    (i64::from(last_end) - i64::from(span.start)).abs()
}

/// The jumps that become unavoidable with `span`, in words, after Moore and Quirk
/// (2007): a phrase that leaves a gap pays for going over it and coming back, so
/// that later phrases in the gap cost nothing. `last_end` is where the phrase
/// before ended (0 at the beginning), `first_gap` the first open position before
/// `span` is covered.
#[inline]
pub(crate) fn early_distortion_distance(last_end: u32, span: Span, first_gap: u32) -> i64 {
    let length = i64::from(span.end - span.start);
    if span.start == first_gap {
        0
    } else if span.end < last_end {
        2 * length
    } else {
        // Words skipped since the whole prefix, or since the phrase before.
        2 * (i64::from(span.start - first_gap.max(last_end)) + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    #[test]
    fn jumps() {
        assert_eq!(jump_distance(0, span(2, 3)), 2);
        assert_eq!(jump_distance(5, span(2, 3)), 3);
    }

    /// The four cases of section 5.2.
    #[test]
    fn early_jumps() {
        assert_eq!(early_distortion_distance(0, span(0, 3), 0), 0, "next to the prefix");
        assert_eq!(early_distortion_distance(7, span(2, 4), 2), 0, "back in the gap");
        assert_eq!(early_distortion_distance(9, span(4, 6), 2), 4, "left of the phrase before");
        assert_eq!(
            early_distortion_distance(2, span(4, 6), 2),
            8,
            "away from the prefix: 2 and 2 words"
        );
        assert_eq!(early_distortion_distance(0, span(1, 2), 0), 4, "at the beginning");
        assert_eq!(
            early_distortion_distance(6, span(7, 9), 2),
            6,
            "right of the phrase before: 1 and 2"
        );
    }
}
