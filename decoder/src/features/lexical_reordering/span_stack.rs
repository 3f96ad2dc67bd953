//! The blocks that a partial translation consists of, as a shift-reduce parser
//! sees them: the backward state of hierarchical reordering (`docs/spec/phrase-decoding.md`
//! 3.6).
//!
//! A phrase that touches the block on top is merged with it. The result is merged with the block
//! below as long as the two touch. Any other phrase begins a new block. Everything inside a block
//! is translated.

use crate::span::Span;

/// Puts `span` on `stack`, merges spans that touch, and returns the signed distance between `span`
/// and the old top: 1 right after it, -1 right before it. The top of an empty stack is the position
/// before the sentence.
pub(super) fn shift_reduce(stack: &mut Vec<Span>, span: Span) -> i64 {
    let Some(&top) = stack.last() else {
        stack.push(span);
        return i64::from(span.start) + 1;
    };
    let distance = if span.start > top.start {
        i64::from(span.start) - i64::from(top.end) + 1
    } else {
        i64::from(span.end) - i64::from(top.start) - 1
    };
    let mut block = span;
    while let Some(&below) = stack.last() {
        if block.start == below.end {
            block.start = below.start;
        } else if block.end == below.start {
            block.end = below.end;
        } else {
            break;
        }
        stack.pop();
    }
    stack.push(block);
    distance
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Phrases in the order of translation, with the distance of each and the
    /// stack after it, worked out by hand.
    #[test]
    fn blocks_merge_while_they_touch() {
        let mut stack = Vec::new();
        type Bounds = (u32, u32);
        let steps: [(Bounds, i64, &[Bounds]); 7] = [
            ((2, 4), 3, &[(2, 4)]),
            ((6, 7), 3, &[(2, 4), (6, 7)]),
            ((5, 6), -1, &[(2, 4), (5, 7)]),
            ((4, 5), -1, &[(2, 7)]),
            ((9, 10), 3, &[(2, 7), (9, 10)]),
            ((0, 1), -9, &[(2, 7), (9, 10), (0, 1)]),
            ((1, 2), 1, &[(2, 7), (9, 10), (0, 2)]),
        ];
        for ((start, end), distance, blocks) in steps {
            let found = shift_reduce(&mut stack, Span { start, end });
            let spans: Vec<_> = stack.iter().map(|s| (s.start, s.end)).collect();
            assert_eq!((found, &spans[..]), (distance, blocks), "{start}..{end}");
        }
    }
}
