//! Relative positions: self-attention that depends on the distance from a query to a key
//! (`neural.md` 1.10).

use crate::Result;
use miriam_nmt_models::architecture::{
    PositionalEncodingKind, RelativeBiasConfig, TransformerConfig,
};

/// The longest distance in tables of classes. Models distinguish distances up to 128; the limit is
/// for files that claim more.
const MAX_TABULATED: usize = 4096;

/// The relative positions of one layer: classes of distances and what they add to self-attention.
#[derive(Clone, Debug)]
pub struct RelativePositions {
    classes: DistanceClasses,
    /// The classes of keys at or before the query, by their distance: attention asks for each head,
    /// query and key.
    before: Vec<u32>,
    /// The classes of keys after the query, by their distance.
    after: Vec<u32>,
    /// The terms of each class.
    pub terms: DistanceTerms,
}

/// Terms that each class of distances adds to attention.
#[derive(Clone, Debug)]
pub enum DistanceTerms {
    /// Vectors, `[classes, head_dim]`, added to the keys and to the values of every head.
    Vectors {
        /// Added to keys.
        keys: Vec<f32>,
        /// Added to values.
        values: Vec<f32>,
    },
    /// Numbers, `[classes, heads]`, added to the scores of each head.
    Biases(Vec<f32>),
}

/// The classes of distances from a query to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DistanceClasses {
    /// Distances from `-max` to `max`; longer ones belong to the outermost classes.
    Clipped { max: usize },
    /// T5's classes: one for each near distance; far distances share classes by their logarithm.
    Logarithmic {
        /// The number of classes.
        buckets: usize,
        /// Distances of at least this number belong to the last class.
        max: usize,
        /// Whether keys after the query have half of the classes; otherwise they are in the class
        /// of distance 0.
        both_directions: bool,
    },
}

impl DistanceClasses {
    /// The distance from which on all keys at the same side of the query are in the same class.
    fn max(self) -> usize {
        match self {
            DistanceClasses::Clipped { max } | DistanceClasses::Logarithmic { max, .. } => max,
        }
    }

    fn class(self, query: usize, key: usize) -> usize {
        match self {
            DistanceClasses::Clipped { max } => {
                if key >= query {
                    max + (key - query).min(max)
                } else {
                    max - (query - key).min(max)
                }
            }
            DistanceClasses::Logarithmic { buckets, max, both_directions } => {
                let (first, buckets, distance) = match both_directions {
                    true if key > query => (buckets / 2, buckets / 2, key - query),
                    true => (0, buckets / 2, query - key),
                    false => (0, buckets, query.saturating_sub(key)),
                };
                let exact = buckets / 2;
                if distance < exact {
                    return first + distance;
                }
                let far = (distance as f32 / exact as f32).ln() / (max as f32 / exact as f32).ln();
                let class = exact + (far * (buckets - exact) as f32) as usize;
                first + class.min(buckets - 1)
            }
        }
    }
}

impl RelativePositions {
    /// Creates relative positions with vectors for distances from `-max_distance` to
    /// `max_distance`. `keys` and `values` have `[2 * max_distance + 1, head_dim]` numbers each.
    pub fn with_vectors(max_distance: usize, keys: Vec<f32>, values: Vec<f32>) -> Self {
        let classes = DistanceClasses::Clipped { max: max_distance };
        Self::new(classes, DistanceTerms::Vectors { keys, values })
    }

    /// Creates relative positions with T5's biases, `[buckets, heads]` numbers. In a decoder, no
    /// key is after the query.
    pub fn with_biases(config: RelativeBiasConfig, is_decoder: bool, biases: Vec<f32>) -> Self {
        let classes = DistanceClasses::Logarithmic {
            buckets: config.buckets,
            max: config.max_distance,
            both_directions: !is_decoder,
        };
        Self::new(classes, DistanceTerms::Biases(biases))
    }

    fn new(classes: DistanceClasses, terms: DistanceTerms) -> Self {
        let distances = 0..=classes.max().min(MAX_TABULATED);
        RelativePositions {
            classes,
            before: distances.clone().map(|distance| classes.class(distance, 0) as u32).collect(),
            after: distances.map(|distance| classes.class(0, distance) as u32).collect(),
            terms,
        }
    }

    /// Loads the relative positions of the self-attention under `prefix`; `None` if the model has
    /// absolute positions. `read_values` reads a parameter by its name.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn load(
        mut read_values: impl FnMut(&str) -> Result<Vec<f32>>,
        shape: &TransformerConfig,
        prefix: &str,
        is_decoder: bool,
    ) -> Result<Option<Self>> {
        Ok(match shape.positional_encoding {
            PositionalEncodingKind::RelativeVectors { max_distance } => {
                let keys = read_values(&format!("{prefix}_Rk"))?;
                let values = read_values(&format!("{prefix}_Rv"))?;
                Some(Self::with_vectors(max_distance, keys, values))
            }
            PositionalEncodingKind::RelativeBias(config) => {
                let biases = read_values(&format!("{prefix}_Rb"))?;
                Some(Self::with_biases(config, is_decoder, biases))
            }
            _ => None,
        })
    }

    /// Returns the class of the distance from the query at position `query` to the key at position
    /// `key`.
    pub fn class(&self, query: usize, key: usize) -> usize {
        let (table, distance) =
            if key > query { (&self.after, key - query) } else { (&self.before, query - key) };
        match table.get(distance.min(self.classes.max())) {
            Some(&class) => class as usize,
            None => self.classes.class(query, key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn distances_are_clipped() {
        let classes = DistanceClasses::Clipped { max: 2 };
        let of = |query, key| classes.class(query, key);
        assert_eq!([of(5, 0), of(5, 3), of(5, 4), of(5, 5)], [0, 0, 1, 2]);
        assert_eq!([of(5, 6), of(5, 7), of(5, 9)], [3, 4, 4]);
    }

    /// The values of T5's own function for 32 classes up to a distance of 128.
    #[test]
    fn far_distances_share_classes_as_in_t5() {
        let both = DistanceClasses::Logarithmic { buckets: 32, max: 128, both_directions: true };
        let at = |distance: i32| {
            let (query, key) = if distance < 0 { (-distance, 0) } else { (0, distance) };
            both.class(query as usize, key as usize)
        };
        let distances = [0, -1, -7, -8, -11, -12, -16, -127, -128, -1000];
        assert_eq!(distances.map(at), [0, 1, 7, 8, 8, 9, 10, 15, 15, 15]);
        assert_eq!([1, 7, 8, 12, 1000].map(at), [17, 23, 24, 25, 31]);
        let back = DistanceClasses::Logarithmic { buckets: 32, max: 128, both_directions: false };
        let at = |distance: usize| back.class(distance, 0);
        assert_eq!([0, 15, 16, 20, 64, 113, 5000].map(at), [0, 15, 16, 17, 26, 31, 31]);
        assert_eq!(back.class(3, 4), 0);
    }

    proptest! {
        #[test]
        fn classes_are_in_range(
            query in 0usize..3000,
            key in 0usize..3000,
            buckets in 4usize..70,
            more in 1usize..200,
            both_directions: bool,
        ) {
            let max = buckets / 2 + more;
            let logarithmic = DistanceClasses::Logarithmic { buckets, max, both_directions };
            prop_assert!(logarithmic.class(query, key) < buckets);
            let clipped = DistanceClasses::Clipped { max };
            prop_assert!(clipped.class(query, key) <= 2 * max);
            for classes in [logarithmic, clipped] {
                let table = RelativePositions::new(classes, DistanceTerms::Biases(Vec::new()));
                prop_assert_eq!(table.class(query, key), classes.class(query, key));
            }
            let classes = DistanceClasses::Logarithmic { buckets, max: 1 << 24, both_directions };
            let table = RelativePositions::new(classes, DistanceTerms::Biases(Vec::new()));
            let far = 3000 * query + key;
            prop_assert_eq!(table.class(far, key), classes.class(far, key));
        }
    }
}
