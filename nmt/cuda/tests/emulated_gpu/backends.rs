//! Operations on the reference in f64 and on the device, with the same random numbers.

use std::sync::{Arc, OnceLock};

use miriam_gpu::Buffer;
use miriam_kernels::embedding::SinusoidKind;
use miriam_kernels::operators::Operator;
use miriam_nmt_cuda::{
    CudaBackend, CudaDevice, DeviceTensor, EmbeddingTable, PositionalEncoding, ProjectedEmbeddings,
    RelativeTerms, WeightFormat, Weights,
};
use miriam_nmt_network::layer::{ColumnSlice, DecodingBackend, Device, RelativePositions};
use miriam_nmt_network::plain_parameters::{PlainMatrix, PlainWeights};
use miriam_nmt_network::reference::{self, Matrix, PositionTable, ReferenceBackend, Rounding};

/// A linear congruential generator.
pub(crate) struct Random(pub u64);

impl Random {
    /// Returns a number from 0 to `limit - 1`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) % limit as u64) as usize
    }

    /// Returns a size from 1 to `max`.
    pub fn size(&mut self, max: usize) -> usize {
        1 + self.below(max)
    }

    /// Returns numbers from -2 to 2.
    pub fn values(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.below(4001) as f32 / 1000.0 - 2.0).collect()
    }

    /// Returns a matrix of numbers from -2 to 2.
    pub fn matrix(&mut self, rows: usize, columns: usize) -> PlainMatrix {
        PlainMatrix { rows, columns, values: self.values(rows * columns) }
    }
}

/// Returns the rounding of products with weights of a format.
pub(crate) fn rounding(format: WeightFormat) -> Rounding {
    match format {
        WeightFormat::F32 => Rounding::Exact,
        WeightFormat::F16 => Rounding::F16,
        WeightFormat::Bf16 => Rounding::Bf16,
    }
}

/// A backend whose parameters and tensors a test makes and reads.
pub(crate) trait TestBackend: DecodingBackend + Sized {
    fn tensor_with(&mut self, rows: usize, width: usize, values: &[f32]) -> Self::Tensor;
    fn vector_with(&mut self, values: &[f32]) -> Self::Vector;
    fn weights_with(&mut self, weights: &PlainWeights) -> Self::Weights;
    fn table_with(&mut self, table: PlainMatrix) -> Self::EmbeddingTable;
    fn learned_positions(&mut self, table: PlainMatrix) -> Self::PositionalEncoding;
    fn sinusoids(&mut self, kind: SinusoidKind, width: usize) -> Self::PositionalEncoding;
    fn relative_positions(&mut self, host: RelativePositions) -> Self::RelativePositions;
    fn projected_embeddings(
        &mut self,
        table: Self::EmbeddingTable,
        weights: Self::Weights,
    ) -> Self::ProjectedEmbeddingCache;
    fn read(&mut self, tensor: &Self::Tensor) -> Vec<f64>;

    /// Returns a random matrix.
    fn random_tensor(&mut self, random: &mut Random, rows: usize, width: usize) -> Self::Tensor {
        self.tensor_with(rows, width, &random.values(rows * width))
    }

    /// Returns a random vector.
    fn random_vector(&mut self, random: &mut Random, len: usize) -> Self::Vector {
        self.vector_with(&random.values(len))
    }

    /// Returns random weights with a bias.
    fn random_weights(
        &mut self,
        random: &mut Random,
        depth: usize,
        columns: usize,
    ) -> Self::Weights {
        let matrix = random.matrix(depth, columns);
        self.weights_with(&PlainWeights { matrix, bias: Some(random.values(columns)) })
    }

    /// Applies an operator to random matrices of these shapes, each inside a tensor with up to two
    /// more columns on each side, and to random vectors of these lengths.
    fn apply_to_random(
        &mut self,
        random: &mut Random,
        operator: impl Operator,
        matrices: &[[usize; 2]],
        vectors: &[usize],
    ) -> Vec<f64> {
        let parts: Vec<_> = matrices
            .iter()
            .map(|&[rows, width]| {
                let (before, after) = (random.below(3), random.below(3));
                (self.random_tensor(random, rows, before + width + after), before..before + width)
            })
            .collect();
        let slices: Vec<_> = parts
            .iter()
            .map(|(tensor, columns)| ColumnSlice { tensor, columns: columns.clone() })
            .collect();
        let vectors: Vec<_> = vectors.iter().map(|&len| self.random_vector(random, len)).collect();
        let result = self.apply(operator, &slices, &vectors.iter().collect::<Vec<_>>()).unwrap();
        self.read(&result)
    }
}

fn widen(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| value.into()).collect()
}

impl TestBackend for ReferenceBackend {
    fn tensor_with(&mut self, rows: usize, width: usize, values: &[f32]) -> Matrix {
        Matrix::new(rows, width, widen(values))
    }

    fn vector_with(&mut self, values: &[f32]) -> Vec<f64> {
        widen(values)
    }

    fn weights_with(&mut self, weights: &PlainWeights) -> reference::Weights {
        let PlainMatrix { rows, columns, values } = &weights.matrix;
        let matrix = Matrix::new(*rows, *columns, widen(values));
        let bias = weights.bias.as_deref().map(widen);
        reference::Weights { matrix, bias, rounding: Rounding::Exact }
    }

    fn table_with(&mut self, table: PlainMatrix) -> Matrix {
        Matrix::new(table.rows, table.columns, widen(&table.values))
    }

    fn learned_positions(&mut self, table: PlainMatrix) -> PositionTable {
        PositionTable::Learned(self.table_with(table))
    }

    fn sinusoids(&mut self, kind: SinusoidKind, width: usize) -> PositionTable {
        let half = width / 2;
        let steps = match kind {
            SinusoidKind::Marian => half.saturating_sub(1).max(1),
            SinusoidKind::CTranslate2 => half.max(1),
        };
        PositionTable::Sinusoidal { half, steps: steps as f64 }
    }

    fn relative_positions(&mut self, host: RelativePositions) -> RelativePositions {
        host
    }

    fn projected_embeddings(
        &mut self,
        table: Matrix,
        weights: reference::Weights,
    ) -> reference::ProjectedEmbeddings {
        reference::ProjectedEmbeddings { table, weights }
    }

    fn read(&mut self, tensor: &Matrix) -> Vec<f64> {
        (0..tensor.rows()).flat_map(|row| tensor.row(row).to_vec()).collect()
    }
}

/// Returns the GPU that all tests of a process share.
pub(crate) fn device() -> &'static CudaDevice {
    static DEVICE: OnceLock<CudaDevice> = OnceLock::new();
    DEVICE.get_or_init(|| CudaDevice::open(0).unwrap())
}

impl TestBackend for CudaBackend {
    fn tensor_with(&mut self, rows: usize, width: usize, values: &[f32]) -> DeviceTensor {
        self.tensor(rows, width, values).unwrap()
    }

    fn vector_with(&mut self, values: &[f32]) -> Arc<Buffer<f32>> {
        device().vector(values).unwrap()
    }

    fn weights_with(&mut self, weights: &PlainWeights) -> Arc<Weights> {
        device().weights(weights, WeightFormat::F32).unwrap()
    }

    fn table_with(&mut self, table: PlainMatrix) -> Arc<EmbeddingTable> {
        Arc::new(device().embedding_table(&table).unwrap())
    }

    fn learned_positions(&mut self, table: PlainMatrix) -> PositionalEncoding {
        PositionalEncoding::Learned(device().embedding_table(&table).unwrap())
    }

    fn sinusoids(&mut self, kind: SinusoidKind, width: usize) -> PositionalEncoding {
        PositionalEncoding::sinusoidal(kind, width)
    }

    fn relative_positions(&mut self, host: RelativePositions) -> RelativeTerms {
        device().relative_positions(host).unwrap()
    }

    fn projected_embeddings(
        &mut self,
        table: Arc<EmbeddingTable>,
        weights: Arc<Weights>,
    ) -> ProjectedEmbeddings {
        ProjectedEmbeddings { table, weights }
    }

    fn read(&mut self, tensor: &DeviceTensor) -> Vec<f64> {
        widen(self.values(tensor).unwrap())
    }
}

/// Operations that both backends compute, from the same random numbers.
pub(crate) trait Case {
    fn run<B: TestBackend>(&self, backend: &mut B, random: &mut Random) -> Vec<f64>;
}

/// Checks that the device and the reference compute the same numbers.
pub(crate) fn compare(case: &impl Case, name: &str, seed: u64) {
    let expected = case.run(&mut ReferenceBackend, &mut Random(seed));
    let found = case.run(&mut device().new_backend().unwrap(), &mut Random(seed));
    assert_eq!(expected.len(), found.len(), "{name}, seed {seed}");
    for (index, (a, b)) in expected.iter().zip(&found).enumerate() {
        let is_near = (a - b).abs() <= 1e-5 * a.abs().max(1.0);
        assert!(
            is_near,
            "{name}, seed {seed}, number {index}: {a} in the reference, {b} on the device"
        );
    }
}

/// Declares a test that compares what both backends compute, for several seeds.
macro_rules! compare_backends {
    ($name:ident, |$backend:ident, $random:ident| $body:block) => {
        #[test]
        #[ignore = "run by kernels_agree_with_the_cpu"]
        fn $name() {
            struct Body;
            impl $crate::backends::Case for Body {
                fn run<B: $crate::backends::TestBackend>(
                    &self,
                    $backend: &mut B,
                    $random: &mut $crate::backends::Random,
                ) -> Vec<f64> {
                    $body
                }
            }
            (0..4).for_each(|seed| $crate::backends::compare(&Body, stringify!($name), seed));
        }
    };
}
pub(crate) use compare_backends;
