//! Options and results of resampling: numbers of resampled texts, significance tests, and
//! confidence intervals.

/// The number of resampled texts and the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resampling {
    /// The number of resampled texts.
    pub count: usize,
    /// The seed of the random numbers; equal seeds draw equal texts.
    pub seed: u64,
}

impl Default for Resampling {
    fn default() -> Self {
        Resampling { count: 1000, seed: 12345 }
    }
}

/// A 95 % confidence interval of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceInterval {
    /// The mean score of the resampled texts.
    pub mean: f64,
    /// Half the width of the range that contains the middle 95 % of the scores.
    pub half_width: f64,
}

/// A significance test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairedTest {
    /// Segments drawn with replacement, the same ones for both systems.
    Bootstrap(Resampling),
    /// Segments exchanged between the systems at random.
    ApproximateRandomization(Resampling),
}

impl PairedTest {
    /// Returns the number of resampled texts, and the seed.
    pub fn resampling(self) -> Resampling {
        match self {
            PairedTest::Bootstrap(resampling)
            | PairedTest::ApproximateRandomization(resampling) => resampling,
        }
    }

    /// Returns the short name of the test in sacreBLEU's signatures.
    pub fn name(self) -> &'static str {
        match self {
            PairedTest::Bootstrap(_) => "bs",
            PairedTest::ApproximateRandomization(_) => "ar",
        }
    }
}
