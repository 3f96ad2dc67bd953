//! Arrival times of requests.

use miriam_storage::random::SplitMix64;

/// Returns the ascending times before `seconds` of a Poisson process with `rate` events per second:
/// the times between events are independent and exponentially distributed.
pub(super) fn poisson_arrivals(rate: f64, seconds: f64, seed: u64) -> impl Iterator<Item = f64> {
    let mut random = SplitMix64::new(seed);
    let mut time = 0.0;
    std::iter::from_fn(move || {
        // The logarithm's argument is above 0.
        time -= (1.0 - random.next_f64()).ln() / rate;
        (time < seconds).then_some(time)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of the gaps and of the counts per second differ from those of the
    /// distributions by at most four standard errors.
    #[test]
    fn arrivals_are_a_poisson_process() {
        let (rate, seconds) = (50.0, 2000.0);
        let times: Vec<f64> = poisson_arrivals(rate, seconds, 7).collect();
        let count = times.len() as f64;
        assert!((count - rate * seconds).abs() < 4.0 * (rate * seconds).sqrt(), "{count}");
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|&gap| gap >= 0.0));
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        assert!((mean * rate - 1.0).abs() < 4.0 / n.sqrt(), "{mean}");
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / n;
        // The variance of the estimated variance of an exponential distribution is 8 / n times the
        // square of the true variance.
        assert!((variance * rate * rate - 1.0).abs() < 4.0 * (8.0 / n).sqrt(), "{variance}");
        let mut counts = vec![0.0; seconds as usize];
        times.iter().for_each(|&time| counts[time as usize] += 1.0);
        let spread = counts.iter().map(|count| (count - rate).powi(2)).sum::<f64>() / seconds;
        assert!((spread / rate - 1.0).abs() < 4.0 * (2.0 / seconds).sqrt(), "{spread}");
        let again: Vec<f64> = poisson_arrivals(rate, 10.0, 7).collect();
        assert_eq!(again[..], times[..again.len()], "a seed gives the same arrivals");
        assert!(poisson_arrivals(rate, 10.0, 8).next() != times.first().copied());
    }
}
