//! Words that would repeat what a hypothesis has already.

/// The words that would end a sequence of `length` words that `words` has already: each
/// time its last `length - 1` words come before, the word that follows them there.
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

/// A logit of a word that was put out before (Keskar et al. 2019, as CTranslate2 has it).
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
    fn penalties_make_words_less_likely() {
        assert_eq!(apply_repetition_penalty(-2.0, 1.5), -3.0);
        assert_eq!(apply_repetition_penalty(3.0, 1.5), 2.0);
    }
}
