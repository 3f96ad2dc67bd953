//! No-repeat n-grams and the repetition penalty.

/// Visits the tokens that would complete an n-gram of order `length` that `words` has already: each
/// token that follows an earlier occurrence of the last `length - 1` tokens.
pub(super) fn for_each_banned_token(words: &[u32], length: usize, mut each: impl FnMut(u32)) {
    if length == 0 || words.len() < length {
        return;
    }
    let last = &words[words.len() + 1 - length..];
    for window in words.windows(length) {
        if window[..length - 1] == *last {
            each(window[length - 1]);
        }
    }
}

/// Visits the tokens that would complete one of `sequences` after `words`.
pub(super) fn for_each_sequence_end(
    words: &[u32],
    sequences: &[Vec<u32>],
    mut each: impl FnMut(u32),
) {
    for sequence in sequences {
        if let Some((&last, before)) = sequence.split_last()
            && words.ends_with(before)
        {
            each(last);
        }
    }
}

/// Returns the penalised logit of a repeated token (Keskar et al. 2019, as in CTranslate2).
pub(super) fn apply_repetition_penalty(logit: f32, penalty: f32) -> f32 {
    if logit < 0.0 { logit * penalty } else { logit / penalty }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forbidden(words: &[u32], length: usize) -> Vec<u32> {
        let mut found = Vec::new();
        for_each_banned_token(words, length, |word| found.push(word));
        found
    }

    #[test]
    fn tokens_completing_a_repeated_ngram_are_banned() {
        assert_eq!(forbidden(&[1, 2, 3, 1, 2], 3), [3]);
        assert_eq!(forbidden(&[1, 2, 3, 1, 2], 2), [3]);
        assert_eq!(forbidden(&[1, 1], 2), [1]);
        assert_eq!(forbidden(&[4, 5], 1), [4, 5]);
        assert!(forbidden(&[4, 5], 3).is_empty());
        assert!(forbidden(&[4, 5], 0).is_empty());
    }

    #[test]
    fn sequences_are_banned_at_their_last_token() {
        let sequences = [vec![1, 2], vec![2, 1, 3], vec![4, 1, 5]];
        let mut found = Vec::new();
        for_each_sequence_end(&[2, 1], &sequences, |word| found.push(word));
        assert_eq!(found, [2, 3]);
        for_each_sequence_end(&[], &sequences, |word| panic!("{word}"));
    }

    #[test]
    fn penalties_make_words_less_likely() {
        assert_eq!(apply_repetition_penalty(-2.0, 1.5), -3.0);
        assert_eq!(apply_repetition_penalty(3.0, 1.5), 2.0);
    }
}
