//! Numbers of common n-grams of every pair of candidates of a list.
//!
//! The matches of a candidate with all others come from one pass over the candidates that have each
//! of its n-grams. A rare n-gram has a list of the candidates that have it. A frequent one has a
//! row of bytes, one per candidate. Rows are added with vector instructions; a byte holds the sum
//! of several rows before it must be widened. N-grams that all candidates have are counted once for
//! the list. N-grams of a single candidate match nothing.

use super::ngrams::{ListNgrams, NgramCount};

/// Lengths of rows are multiples of this, so that loops over them have no remainder.
pub(super) const ROW_BLOCK: usize = 64;

/// An n-gram is kept as a list if at most one in this number of candidates has it. If all
/// candidates have it, only candidates with more than the smallest count are counted here.
const DENSE_FRACTION: usize = 24;

/// The largest count in a row; larger ones are divided among several rows. The sum of four rows
/// fits in a byte.
const MAX_ROW_COUNT: u32 = 63;

/// The number of rows that are added together.
const ADDED_ROWS: usize = 4;

/// The n-grams of a list, by the candidates that have them.
pub(super) struct MatchIndex {
    num_orders: usize,
    num_candidates: usize,
    /// The length of rows: the number of candidates, rounded up.
    stride: usize,
    /// By order, the number of n-grams that every candidate has.
    shared: Vec<i32>,
    /// The rows of frequent n-grams.
    rows: Vec<u8>,
    /// For each candidate and order, the rows of its frequent n-grams with its counts.
    row_counts: Vec<(u32, u8)>,
    row_ends: Vec<usize>,
    /// The candidates of rare n-grams with their counts, by n-gram, in ascending order.
    postings: Vec<(u32, u32)>,
    /// For each candidate and order, and each of its rare n-grams: the first posting of the n-gram,
    /// the posting of the candidate, and the end of the postings.
    posting_ranges: Vec<[u32; 3]>,
    posting_ends: Vec<usize>,
}

/// The matches of one candidate with others, in buffers that are reused.
#[derive(Default)]
pub(super) struct MatchRow {
    /// The numbers of matches, by order and candidate.
    matches: Vec<i32>,
    stride: usize,
    sums: Vec<u8>,
}

impl MatchRow {
    /// Returns the matches of an order, by candidate.
    pub fn order(&self, order: usize) -> &[i32] {
        &self.matches[order * self.stride..][..self.stride]
    }
}

/// The place where an n-gram is kept.
#[derive(Clone, Copy)]
enum Place {
    /// Nowhere: at most one candidate has more occurrences of it than `shared` counts.
    Nowhere,
    /// In rows from `first` on, for counts above `base`.
    Rows { first: u32, base: u32 },
    /// In postings from `first` on, for counts above `base`; `next` is the index of the next
    /// one to write.
    Postings { first: u32, next: u32, base: u32 },
}

impl MatchIndex {
    pub fn new(list: &ListNgrams) -> Self {
        let (num_candidates, num_orders) = (list.num_candidates(), list.num_orders());
        let stride = num_candidates.next_multiple_of(ROW_BLOCK);
        let mut index = MatchIndex {
            num_orders,
            num_candidates,
            stride,
            shared: vec![0; num_orders],
            rows: Vec::new(),
            row_counts: Vec::new(),
            row_ends: Vec::with_capacity(num_candidates * num_orders),
            postings: Vec::new(),
            posting_ranges: Vec::new(),
            posting_ends: Vec::with_capacity(num_candidates * num_orders),
        };
        let mut places = index.place_ngrams(list);
        for candidate in 0..num_candidates {
            for order in 0..num_orders {
                for entry in list.counts(candidate, order) {
                    index.add(candidate, *entry, &mut places[entry.ngram as usize]);
                }
                index.row_ends.push(index.row_counts.len());
                index.posting_ends.push(index.posting_ranges.len());
            }
        }
        // The end of the postings of an n-gram is known after its last candidate.
        for range in &mut index.posting_ranges {
            if let Place::Postings { next, .. } = places[range[2] as usize] {
                range[2] = next;
            }
        }
        index
    }

    /// Returns the length of rows: the number of candidates, rounded up to whole blocks.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Decides where each n-gram is kept, and makes room for it.
    fn place_ngrams(&mut self, list: &ListNgrams) -> Vec<Place> {
        #[derive(Clone, Copy)]
        struct Spread {
            candidates: u32,
            smallest: u32,
            above_smallest: u32,
            largest: u32,
            order: u32,
        }
        let none =
            Spread { candidates: 0, smallest: u32::MAX, above_smallest: 0, largest: 0, order: 0 };
        let mut spreads = vec![none; list.num_ngrams()];
        for candidate in 0..self.num_candidates {
            for order in 0..self.num_orders {
                for entry in list.counts(candidate, order) {
                    let spread = &mut spreads[entry.ngram as usize];
                    // The number of candidates with more than the smallest count so far.
                    spread.above_smallest = match entry.count.cmp(&spread.smallest) {
                        std::cmp::Ordering::Less => spread.candidates,
                        std::cmp::Ordering::Equal => spread.above_smallest,
                        std::cmp::Ordering::Greater => spread.above_smallest + 1,
                    };
                    spread.candidates += 1;
                    spread.smallest = spread.smallest.min(entry.count);
                    spread.largest = spread.largest.max(entry.count);
                    spread.order = order as u32;
                }
            }
        }
        let (mut num_rows, mut num_postings) = (0u32, 0u32);
        let places = spreads.iter().map(|spread| {
            let mut base = 0;
            let mut candidates = spread.candidates as usize;
            if candidates == self.num_candidates {
                base = spread.smallest;
                self.shared[spread.order as usize] += base as i32;
                candidates = spread.above_smallest as usize;
            }
            if candidates <= 1 {
                Place::Nowhere
            } else if candidates * DENSE_FRACTION <= self.num_candidates {
                let first = num_postings;
                num_postings += candidates as u32;
                Place::Postings { first, next: first, base }
            } else {
                let first = num_rows;
                num_rows += (spread.largest - base).div_ceil(MAX_ROW_COUNT);
                Place::Rows { first, base }
            }
        });
        let places = places.collect();
        self.rows = vec![0; num_rows as usize * self.stride];
        self.postings = vec![(0, 0); num_postings as usize];
        places
    }

    /// Adds an n-gram of a candidate. For now, the third number of a range of postings is the
    /// n-gram instead of the end.
    fn add(&mut self, candidate: usize, entry: NgramCount, place: &mut Place) {
        let NgramCount { ngram, count } = entry;
        match place {
            Place::Nowhere => {}
            Place::Rows { first, base } => {
                let (mut rest, mut row) = (count - *base, *first);
                while rest > 0 {
                    let part = rest.min(MAX_ROW_COUNT) as u8;
                    self.rows[row as usize * self.stride + candidate] = part;
                    self.row_counts.push((row, part));
                    rest -= u32::from(part);
                    row += 1;
                }
            }
            Place::Postings { first, next, base } if count > *base => {
                self.postings[*next as usize] = (candidate as u32, count - *base);
                self.posting_ranges.push([*first, *next, ngram]);
                *next += 1;
            }
            Place::Postings { .. } => {}
        }
    }

    /// Computes the matches of `candidate` with the candidates from `from` on. Its matches with
    /// itself lack n-grams that no other candidate has.
    pub fn fill_row(&self, candidate: usize, from: usize, row: &mut MatchRow) {
        let start = from - from % ROW_BLOCK;
        row.stride = self.stride;
        row.matches.resize(self.num_orders * self.stride, 0);
        row.sums.resize(self.stride, 0);
        for order in 0..self.num_orders {
            let matches = &mut row.matches[order * self.stride..][..self.stride][start..];
            matches.fill(self.shared[order]);
            let sums = &mut row.sums[start..];
            let mut largest = 0u32;
            for part in self.rows_of(candidate, order).chunks(ADDED_ROWS) {
                let more: u32 = part.iter().map(|&(_, count)| u32::from(count)).sum();
                if largest + more > u32::from(u8::MAX) {
                    widen(sums, matches);
                    largest = 0;
                }
                largest += more;
                self.add_rows(part, start, sums);
            }
            widen(sums, matches);
            for &[first, own, end] in self.postings_of(candidate, order) {
                let count = self.postings[own as usize].1;
                let first = if from > candidate { own + 1 } else { first };
                for &(other, more) in &self.postings[first as usize..end as usize] {
                    if other as usize >= start {
                        matches[other as usize - start] += count.min(more) as i32;
                    }
                }
            }
        }
    }

    fn rows_of(&self, candidate: usize, order: usize) -> &[(u32, u8)] {
        let place = candidate * self.num_orders + order;
        let start = if place == 0 { 0 } else { self.row_ends[place - 1] };
        &self.row_counts[start..self.row_ends[place]]
    }

    fn postings_of(&self, candidate: usize, order: usize) -> &[[u32; 3]] {
        let place = candidate * self.num_orders + order;
        let start = if place == 0 { 0 } else { self.posting_ends[place - 1] };
        &self.posting_ranges[start..self.posting_ends[place]]
    }

    /// Adds at most [`ADDED_ROWS`] rows, from candidate `start` on, to `sums`. The numbers of a row
    /// are clipped to its count in `part`.
    fn add_rows(&self, part: &[(u32, u8)], start: usize, sums: &mut [u8]) {
        let length = sums.len();
        let row = |row: u32| &self.rows[row as usize * self.stride + start..][..length];
        if let &[(a, a_count), (b, b_count), (c, c_count), (d, d_count)] = part {
            let (a, b, c, d) = (row(a), row(b), row(c), row(d));
            for i in 0..length {
                let first = a[i].min(a_count).wrapping_add(b[i].min(b_count));
                let second = c[i].min(c_count).wrapping_add(d[i].min(d_count));
                sums[i] = sums[i].wrapping_add(first.wrapping_add(second));
            }
        } else {
            for &(a, count) in part {
                for (sum, &other) in sums.iter_mut().zip(row(a)) {
                    *sum = sum.wrapping_add(other.min(count));
                }
            }
        }
    }
}

/// Adds the bytes `sums` to `matches`, and sets the bytes to zero.
fn widen(sums: &mut [u8], matches: &mut [i32]) {
    for (total, sum) in matches.iter_mut().zip(&mut *sums) {
        *total += i32::from(*sum);
    }
    sums.fill(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count_naively(list: &ListNgrams, a: usize, b: usize, order: usize) -> i32 {
        let mut common = 0;
        for x in list.counts(a, order) {
            for y in list.counts(b, order).iter().filter(|y| y.ngram == x.ngram) {
                common += x.count.min(y.count) as i32;
            }
        }
        common
    }

    fn check(lines: &[Vec<u32>]) -> Result<(), TestCaseError> {
        let list = ListNgrams::new(lines.iter().map(|line| vec![line.clone()]), &[3]);
        let index = MatchIndex::new(&list);
        let mut row = MatchRow::default();
        for a in 0..lines.len() {
            for from in [0, a + 1] {
                index.fill_row(a, from, &mut row);
                for b in (from..lines.len()).filter(|&b| b != a) {
                    for order in 0..3 {
                        let expected = count_naively(&list, a, b, order);
                        prop_assert_eq!(row.order(order)[b], expected);
                    }
                }
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn equals_naive_counts(
            lines in proptest::collection::vec(proptest::collection::vec(0u32..5, 0..14), 1..90),
        ) {
            check(&lines)?;
        }
    }

    /// Counts beyond a byte are exact.
    #[test]
    fn long_repetitions_are_counted() {
        let lines: Vec<Vec<u32>> = (0..70).map(|i| vec![i % 2; 10 * i as usize]).collect();
        check(&lines).unwrap();
        check(&[vec![1; 700], vec![1; 650], vec![1; 3]]).unwrap();
    }
}
