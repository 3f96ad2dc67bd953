//! Medians of repeated measurements, and the share of equal items.

/// Returns the measurement with the median `key` (of an even number, the lower of the middle two).
/// It is one of the measurements, so that its values are consistent with each other.
///
/// # Panics
/// If there are no measurements.
pub fn median_by<T: Clone>(measurements: &[T], key: impl Fn(&T) -> f64) -> T {
    let mut sorted: Vec<&T> = measurements.iter().collect();
    sorted.sort_by(|a, b| key(a).total_cmp(&key(b)));
    sorted[(sorted.len() - 1) / 2].clone()
}

/// Returns the median of numbers: of an even number of them, the mean of the middle two.
///
/// # Panics
/// If there are no numbers.
pub fn median(values: &[f64]) -> f64 {
    let lower = median_by(values, |&value| value);
    let upper = median_by(values, |&value| -value);
    (lower + upper) / 2.0
}

/// Returns the share of items, from 0 to 1, that equal the item of `reference` at the same index.
pub fn share_of_equal<T: PartialEq>(items: &[T], reference: &[T]) -> f64 {
    let equal = items.iter().zip(reference).filter(|(a, b)| a == b).count();
    equal as f64 / items.len() as f64
}

/// Returns items without repeats, in the order of their first occurrence.
pub fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for item in items {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(
            median_by(&[(3.0, 'c'), (1.0, 'a'), (2.0, 'b'), (4.0, 'd')], |p| p.0),
            (2.0, 'b')
        );
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(share_of_equal(&[1, 2, 3, 4], &[1, 0, 3, 0]), 0.5);
    }
}
