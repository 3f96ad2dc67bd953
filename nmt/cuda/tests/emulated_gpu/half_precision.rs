//! Products with weights of 16 bits, compared with plain loops over rounded numbers. Products of
//! the same row in different batches are equal to the bit.

use std::sync::Arc;

use miriam_kernels::MatMut;
use miriam_kernels::activation::plain::activate;
use miriam_nmt_cuda::{CudaBackend, DeviceTensor, WeightFormat, Weights};
use miriam_nmt_network::layer::{
    Activation, Backend, Device, Epilogue, OutputColumns, OutputOps, TopK,
};
use miriam_nmt_network::plain_parameters::{PlainMatrix, PlainWeights};

use crate::backends::{Random, device, rounding};
use crate::operations::ACTIVATIONS;

/// Returns the formats of 16 bits that the device has.
fn formats() -> Vec<WeightFormat> {
    let all = [WeightFormat::F16, WeightFormat::Bf16];
    all.into_iter().filter(|&format| device().check_format(format).is_ok()).collect()
}

/// The operands of a product.
struct Product {
    weights: PlainWeights,
    input: Vec<f32>,
    residual: Option<Vec<f32>>,
    activation: Activation,
    rows: usize,
}

impl Product {
    /// Creates the product number `index`: activations take turns, and every third product has no
    /// residual.
    fn random(random: &mut Random, index: usize, [rows, depth, columns]: [usize; 3]) -> Self {
        let weights = random_weights(random, depth, columns);
        let input = random.values(rows * depth);
        let residual = (!index.is_multiple_of(3)).then(|| random.values(rows * columns));
        let activation = ACTIVATIONS[index % ACTIVATIONS.len()];
        Product { weights, input, residual, activation, rows }
    }

    /// Returns an element, computed from numbers that `round` has rounded, and the sum of the
    /// magnitudes of all terms.
    fn element(&self, row: usize, column: usize, round: impl Fn(f32) -> f64) -> [f64; 2] {
        let PlainMatrix { rows: depth, columns, values } = &self.weights.matrix;
        let bias = self.weights.bias.as_ref().map_or(0.0, |bias| bias[column]);
        let residual = self.residual.as_ref().map_or(0.0, |rows| rows[row * columns + column]);
        let others = [bias, residual].map(f64::from);
        let terms = (0..*depth)
            .map(|k| round(self.input[row * depth + k]) * round(values[k * columns + column]));
        let [mut sum, size] = terms
            .chain(others)
            .fold([0.0, 0.0], |[sum, size], term| [sum + term, size + term.abs()]);
        activate(self.activation, MatMut::new(std::slice::from_mut(&mut sum), 1, 1));
        [sum, size]
    }

    /// Computes the product on the device.
    fn on_device(&self, backend: &mut CudaBackend, format: WeightFormat) -> Vec<f32> {
        let PlainMatrix { rows: depth, columns, .. } = self.weights.matrix;
        let weights = device().weights(&self.weights, format).unwrap();
        let input = backend.tensor(self.rows, depth, &self.input).unwrap();
        let residual = self.residual.as_ref();
        let residual = residual.map(|rows| backend.tensor(self.rows, columns, rows).unwrap());
        let epilogue = Epilogue { residual: residual.as_ref(), activation: self.activation };
        let product = backend.affine(&input, &weights, epilogue).unwrap();
        backend.values(&product).unwrap().to_vec()
    }
}

#[test]
#[ignore = "run by kernels_agree_with_the_cpu"]
fn products_equal_those_of_rounded_numbers() {
    let random = &mut Random(3);
    let backend = &mut device().new_backend().unwrap();
    for format in formats() {
        // Inputs and weights each have at most this relative error. The slope of an activation is
        // at most 1.13.
        let ulp = if format == WeightFormat::F16 { 2.0_f64.powi(-11) } else { 2.0_f64.powi(-8) };
        let rounding = rounding(format);
        let mut index = 0;
        // Rows of an odd depth begin at any multiple of four bytes, and end in half a pair.
        for depth in [1, 7, 131] {
            for columns in [1, 13, 100] {
                for rows in [1, 5, 16, 17, 70] {
                    let product = Product::random(random, index, [rows, depth, columns]);
                    index += 1;
                    let found = product.on_device(backend, format);
                    for (at, found) in found.iter().enumerate() {
                        let (row, column) = (at / columns, at % columns);
                        let place = format!("{format:?} {rows} {depth} {columns}: {row} {column}");
                        let check = |[expected, size]: [f64; 2], tolerance: f64| {
                            let error = (f64::from(*found) - expected).abs() / size.max(1.0);
                            assert!(error <= tolerance, "{place}: {expected}, found {found}");
                        };
                        check(product.element(row, column, |x| rounding.round(x.into())), 1e-5);
                        check(product.element(row, column, f64::from), 2.4 * ulp);
                    }
                }
            }
        }
    }
}

fn random_weights(random: &mut Random, depth: usize, columns: usize) -> PlainWeights {
    PlainWeights { matrix: random.matrix(depth, columns), bias: Some(random.values(columns)) }
}

fn product(backend: &mut CudaBackend, input: &DeviceTensor, weights: &Arc<Weights>) -> Vec<f32> {
    let product = backend.affine(input, weights, Epilogue::default()).unwrap();
    backend.values(&product).unwrap().to_vec()
}

/// A row has the same bits in a product of few rows or of many, at any position. The same holds for
/// single elements, and for products with some of the columns.
#[test]
#[ignore = "run by kernels_agree_with_the_cpu"]
fn products_of_half_precision_do_not_depend_on_the_batch() {
    let random = &mut Random(5);
    let backend = &mut device().new_backend().unwrap();
    for format in formats() {
        for (rows, depth, columns) in [(90, 131, 70), (18, 64, 33), (40, 5, 9)] {
            let values = random.values(rows * depth);
            let input = backend.tensor(rows, depth, &values).unwrap();
            let weights = random_weights(random, depth, columns);
            let weights = device().weights(&weights, format).unwrap();
            let all = product(backend, &input, &weights);
            for count in [1, 2, 13, 16] {
                let first = random.below(rows - count + 1);
                let part = first as u32..(first + count) as u32;
                let few = backend.index_select(&input, &part.collect::<Vec<_>>()).unwrap();
                let expected = &all[first * columns..][..count * columns];
                let found = product(backend, &few, &weights);
                assert_eq!(found, expected, "{format:?}, {count} rows from {first}");
            }
            let pair = |_| (random.below(rows) as u32, random.below(columns) as u32);
            let pairs: Vec<(u32, u32)> = (0..45).map(pair).collect();
            let mut single = vec![0.0; pairs.len()];
            backend.gather_logits(&input, &pairs, &weights, &mut single).unwrap();
            for (&(row, column), single) in pairs.iter().zip(&single) {
                let expected = all[row as usize * columns + column as usize];
                assert_eq!(*single, expected, "{format:?}, row {row}, column {column}");
            }
            let tokens: Vec<u32> = (0..columns as u32).step_by(3).collect();
            let some = backend.select_output(&weights, &tokens).unwrap();
            // All rows but the first: if the depth is odd, this part of the input begins at an odd
            // offset.
            let mut best = vec![TopK::new(columns, true); rows - 1];
            let shortlist = OutputColumns::Tokens(&tokens);
            backend.topk(&input, 1..rows, &some, shortlist, &mut best).unwrap();
            // Another kernel finds the best tokens of few rows.
            let mut alone = vec![TopK::new(columns, true); 1];
            backend.topk(&input, 5..6, &some, shortlist, &mut alone).unwrap();
            assert_eq!(alone[0].candidates(), best[4].candidates(), "{format:?}");
            assert_eq!(alone[0].log_normalizer(), best[4].log_normalizer(), "{format:?}");
            for (best, expected) in best.iter().zip(all.chunks_exact(columns).skip(1)) {
                assert_eq!(best.candidates().len(), tokens.len());
                for one in best.candidates() {
                    assert_eq!(one.logit, expected[one.id as usize], "{format:?}");
                }
            }
        }
    }
}

/// Numbers beyond the range of binary16 become its largest number, not infinity. They are in the
/// range of bfloat16.
#[test]
#[ignore = "run by kernels_agree_with_the_cpu"]
fn large_numbers_stay_finite() {
    let backend = &mut device().new_backend().unwrap();
    for format in formats() {
        let largest = if format == WeightFormat::F16 { 65_504.0 } else { 131_072.0 };
        let values = vec![1.0, 131_072.0];
        let matrix = PlainMatrix { rows: 1, columns: 2, values };
        let weights = device().weights(&PlainWeights { matrix, bias: None }, format).unwrap();
        let input = backend.tensor(2, 1, &[-131_072.0, 1.0]).unwrap();
        let expected = [-largest, -largest * largest, 1.0, largest];
        assert_eq!(product(backend, &input, &weights), expected, "{format:?}");
    }
}
