//! Limits of a batch, and the division of sentences into batches within these limits.

use std::cmp::Reverse;

/// The maximum size of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// The maximum number of sentences.
    pub max_sentences: usize,
    /// The maximum number of source tokens; 0 means no limit. A longer sentence is a batch of its
    /// own.
    pub max_tokens: usize,
}

impl BatchLimits {
    /// Whether a batch of `sentences` with `tokens` source tokens is allowed.
    pub fn allow(self, sentences: usize, tokens: usize) -> bool {
        sentences <= self.max_sentences.max(1)
            && (sentences <= 1 || self.max_tokens == 0 || tokens <= self.max_tokens)
    }

    /// Divides sentences into batches, in their order.
    pub fn divide<T>(
        self,
        sentences: impl IntoIterator<Item = T>,
        length: impl Fn(&T) -> usize,
    ) -> Vec<Vec<T>> {
        let (mut batches, mut batch, mut tokens) = (Vec::new(), Vec::new(), 0usize);
        for sentence in sentences {
            let more = length(&sentence);
            tokens = tokens.saturating_add(more);
            if !self.allow(batch.len() + 1, tokens) {
                batches.push(std::mem::take(&mut batch));
                tokens = more;
            }
            batch.push(sentence);
        }
        batches.extend(Some(batch).filter(|batch| !batch.is_empty()));
        batches
    }

    /// Works as [`divide`](Self::divide), longest sentences first, so that no thread is left with a
    /// long one at the end.
    pub fn divide_sorted<T>(
        self,
        mut sentences: Vec<T>,
        length: impl Fn(&T) -> usize,
    ) -> Vec<Vec<T>> {
        sentences.sort_by_key(|sentence| Reverse(length(sentence)));
        self.divide(sentences, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_keep_to_their_limits() {
        let lengths = [2, 9, 3, 1, 4, 3];
        let limits = |max_sentences, max_tokens| BatchLimits { max_sentences, max_tokens };
        let sorted = |limits: BatchLimits| limits.divide_sorted(lengths.to_vec(), |&n| n);
        assert_eq!(sorted(limits(4, 10)), [vec![9], vec![4, 3, 3], vec![2, 1]]);
        assert_eq!(sorted(limits(4, 0)), [vec![9, 4, 3, 3], vec![2, 1]]);
        assert_eq!(sorted(limits(5, 5)), [vec![9], vec![4], vec![3], vec![3, 2], vec![1]]);
        let unsorted = limits(2, 10).divide(lengths, |&n| n);
        assert_eq!(unsorted, [vec![2], vec![9], vec![3, 1], vec![4, 3]]);
        assert!(limits(2, 10).divide(Vec::<usize>::new(), |&n| n).is_empty());
        assert_eq!(limits(0, 0).divide([1, 1], |&n| n), [[1], [1]], "a batch is never empty");
    }
}
