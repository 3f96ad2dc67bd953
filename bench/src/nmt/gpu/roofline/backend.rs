//! Backend that computes only shapes, and counts the work of the kernels that the backend for GPUs
//! would launch.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use miriam_kernels::operators::DeviceOperator;
use miriam_nmt::Result;
use miriam_nmt::layer::{
    ActivationImpl, AttentionMask, AttentionScore, Backend, ColumnSlice, DecodingOps, Device,
    Epilogue, Operator, OutputColumns, OutputOps, RecurrentOps, TopK,
};

use super::{KernelWork, WorkByKernel};

/// The number of columns of each part of a row of logits. The best tokens of each part are found
/// first.
const PART_COLUMNS: usize = 64;

/// The largest number of rows for which a step writes its logits to memory and reads them again.
const FEW_ROWS: usize = 16;

/// The device of [`ShapeBackend`]s, which collects their work.
pub struct ShapeDevice {
    work: Arc<Mutex<WorkByKernel>>,
}

impl ShapeDevice {
    pub fn new(work: &Arc<Mutex<WorkByKernel>>) -> Self {
        ShapeDevice { work: Arc::clone(work) }
    }
}

impl Device for ShapeDevice {
    type Backend = ShapeBackend;

    fn new_backend(&self) -> Result<ShapeBackend> {
        Ok(ShapeBackend { work: Arc::clone(&self.work) })
    }
}

/// A backend that adds up the work of operations.
pub struct ShapeBackend {
    work: Arc<Mutex<WorkByKernel>>,
}

/// A matrix, of which only the shape is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    rows: usize,
    width: usize,
}

impl Shape {
    fn numbers(self) -> usize {
        self.rows * self.width
    }
}

/// The shape of a GEMM's weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightShape {
    /// The number of inputs.
    pub depth: usize,
    /// The number of outputs.
    pub columns: usize,
    /// Whether there is a bias.
    pub has_bias: bool,
}

/// The shapes of a table of embeddings and of the weights that multiply them.
pub struct ProjectedEmbeddings {
    /// The number of columns of the table.
    pub width: usize,
    /// The weights.
    pub weights: WeightShape,
}

/// The keys and values of a sentence.
pub struct SentenceKv {
    positions: usize,
    key_width: usize,
    value_width: usize,
}

/// The keys and values of hypotheses that have the same number of steps.
#[derive(Default)]
pub struct StepKv {
    steps: usize,
}

impl ShapeBackend {
    /// Adds a launch, and the elements and operations of its kernel.
    fn launch(&self, kernel: &'static str, numbers: usize, products: usize, others: usize) {
        let mut work = self.work.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        work.entry(kernel).or_default().add(&KernelWork {
            launches: 1,
            numbers: numbers as f64,
            product_operations: products as f64,
            other_operations: others as f64,
        });
    }

    /// Adds a copy of a matrix by `kernel`.
    fn copy_numbers(&self, kernel: &'static str, shape: Shape) -> Shape {
        if shape.numbers() > 0 {
            self.launch(kernel, 2 * shape.numbers(), 0, 0);
        }
        shape
    }

    fn product(&self, rows: usize, weights: &WeightShape, residual: bool) -> Shape {
        let WeightShape { depth, columns, has_bias } = *weights;
        let out = rows * columns;
        let extra = if residual { out } else { 0 } + if has_bias { columns } else { 0 };
        let numbers = rows * depth + depth * columns + out + extra;
        self.launch("product", numbers, 2 * rows * depth * columns, 0);
        Shape { rows, width: columns }
    }

    /// Adds attention of groups of rows, where each group reads its keys and values once.
    fn attend_groups<'a>(&self, groups: impl Iterator<Item = (usize, &'a SentenceKv)>) -> Shape {
        let (mut rows, mut width) = (0, 0);
        let (mut numbers, mut products) = (0, 0);
        for (queries, sentence) in groups {
            let SentenceKv { positions, key_width, value_width } = *sentence;
            rows += queries;
            width = value_width;
            numbers += (queries + positions) * (key_width + value_width);
            products += 2 * queries * positions * (key_width + value_width);
        }
        self.launch("attend", numbers, products, 0);
        Shape { rows, width }
    }

    /// Adds the work of appending keys and values to a cache, and of attention to the cache.
    fn attend_histories(&self, cache: &mut StepKv, keys: &ColumnSlice<'_, Shape>) -> Shape {
        let (rows, width) = (keys.tensor.rows, keys.columns.len());
        cache.steps += 1;
        self.copy_numbers("copy_part", Shape { rows, width });
        self.copy_numbers("copy_part", Shape { rows, width });
        let history = SentenceKv { positions: cache.steps, key_width: width, value_width: width };
        self.attend_groups((0..rows).map(|_| (1, &history)))
    }
}

impl Backend for ShapeBackend {
    type Tensor = Shape;
    type Weights = WeightShape;
    type Vector = usize;
    type EmbeddingTable = usize;
    type PositionalEncoding = ();
    type PackedKv = SentenceKv;
    type RelativePositions = ();

    fn shape(&self, tensor: &Shape) -> [usize; 2] {
        [tensor.rows, tensor.width]
    }

    fn zeros(&mut self, rows: usize, width: usize) -> Result<Shape> {
        Ok(self.copy_numbers("gather_rows", Shape { rows, width }))
    }

    fn index_select(&mut self, from: &Shape, indices: &[u32]) -> Result<Shape> {
        Ok(self.copy_numbers("gather_rows", Shape { rows: indices.len(), width: from.width }))
    }

    fn embed(
        &mut self,
        table: &usize,
        tokens: &[Option<u32>],
        _scale: f32,
        _positional_encoding: Option<(&(), &[u32])>,
    ) -> Result<Shape> {
        Ok(self.copy_numbers("embed", Shape { rows: tokens.len(), width: *table }))
    }

    fn affine(
        &mut self,
        input: &Shape,
        weights: &WeightShape,
        epilogue: Epilogue<'_, Shape>,
    ) -> Result<Shape> {
        Ok(self.product(input.rows, weights, epilogue.residual.is_some()))
    }

    fn apply(
        &mut self,
        operator: impl Operator,
        matrices: &[ColumnSlice<'_, Shape>],
        vectors: &[&usize],
    ) -> Result<Shape> {
        let shapes: Vec<[usize; 2]> =
            matrices.iter().map(|matrix| [matrix.tensor.rows, matrix.columns.len()]).collect();
        let [rows, width] = operator.shape(&shapes);
        let read: usize = shapes.iter().map(|[rows, width]| rows * width).sum();
        let vectors: usize = vectors.iter().copied().sum();
        let numbers = read + vectors + rows * width;
        if rows * width > 0 {
            match operator.device(width) {
                DeviceOperator::Elements(kernel)
                | DeviceOperator::Rows(kernel)
                | DeviceOperator::Sequences { kernel, .. } => {
                    self.launch(kernel.name, numbers, 0, numbers);
                }
                DeviceOperator::ConcatRows | DeviceOperator::ConcatColumns => {
                    for [rows, width] in shapes {
                        self.copy_numbers("copy_part", Shape { rows, width });
                    }
                }
                DeviceOperator::ColumnRanges(ranges) => {
                    for part in ranges.iter().filter(|part| !part.columns.is_empty()) {
                        let numbers = 2 * rows * part.columns.len();
                        self.launch(part.kernel.name, numbers, 0, numbers);
                    }
                }
                DeviceOperator::Unsupported => {}
            }
        }
        Ok(Shape { rows, width })
    }

    fn pack_kv(
        &mut self,
        _heads: usize,
        keys: ColumnSlice<'_, Shape>,
        values: ColumnSlice<'_, Shape>,
        lengths: &[usize],
    ) -> Result<Vec<SentenceKv>> {
        let (key_width, value_width) = (keys.columns.len(), values.columns.len());
        let sentences = lengths.iter();
        Ok(sentences.map(|&positions| SentenceKv { positions, key_width, value_width }).collect())
    }

    fn attend(
        &mut self,
        _queries: ColumnSlice<'_, Shape>,
        groups: &[(usize, &SentenceKv)],
        _mask: AttentionMask,
    ) -> Result<Shape> {
        Ok(self.attend_groups(groups.iter().copied()))
    }

    fn attend_relative(
        &mut self,
        heads: usize,
        [_, keys, values]: [ColumnSlice<'_, Shape>; 3],
        lengths: &[usize],
        _mask: AttentionMask,
        _relative: &(),
    ) -> Result<Shape> {
        let sentences = self.pack_kv(heads, keys, values, lengths)?;
        Ok(self.attend_groups(lengths.iter().copied().zip(&sentences)))
    }
}

impl DecodingOps for ShapeBackend {
    type KvCache = StepKv;

    fn new_kv_cache(&mut self) -> Result<StepKv> {
        Ok(StepKv::default())
    }

    fn attend_kv_cache(
        &mut self,
        cache: &mut StepKv,
        _heads: usize,
        [_, keys, _]: [ColumnSlice<'_, Shape>; 3],
        _parents: &[Option<u32>],
        _relative: Option<&()>,
    ) -> Result<Shape> {
        Ok(self.attend_histories(cache, &keys))
    }

    fn gather_state(&mut self, state: &Shape, parents: &[Option<u32>]) -> Result<Shape> {
        Ok(self.copy_numbers("gather_rows", Shape { rows: parents.len(), width: state.width }))
    }

    fn replace_rows(
        &mut self,
        rows: Shape,
        indices: &[u32],
        from: ColumnSlice<'_, Shape>,
    ) -> Result<Shape> {
        let part = Shape { rows: indices.len(), width: from.columns.len() };
        self.copy_numbers("scatter_rows", part);
        Ok(rows)
    }

    fn attend_with_weights(
        &mut self,
        queries: ColumnSlice<'_, Shape>,
        groups: &[(usize, &SentenceKv)],
        _head: usize,
        _weights: &mut Vec<Vec<f32>>,
    ) -> Result<Shape> {
        self.attend(queries, groups, AttentionMask::All)
    }
}

impl RecurrentOps for ShapeBackend {
    type Annotations = SentenceKv;
    type ProjectedEmbeddingCache = ProjectedEmbeddings;

    fn embed_projected(
        &mut self,
        cache: &ProjectedEmbeddings,
        tokens: &[Option<u32>],
    ) -> Result<Shape> {
        let embedded = self.embed(&cache.width, tokens, 1.0, None)?;
        Ok(self.product(embedded.rows, &cache.weights, false))
    }

    fn annotate(
        &mut self,
        _attention_score: &AttentionScore<usize>,
        keys: &Shape,
        values: &Shape,
        lengths: &[usize],
    ) -> Result<Vec<SentenceKv>> {
        self.pack_kv(1, self.whole(keys), self.whole(values), lengths)
    }

    fn attend_annotations(
        &mut self,
        _activation_impl: ActivationImpl,
        _attention_score: &AttentionScore<usize>,
        _queries: &Shape,
        groups: &[(usize, &SentenceKv)],
        _weights: Option<&mut Vec<Vec<f32>>>,
    ) -> Result<Shape> {
        Ok(self.attend_groups(groups.iter().copied()))
    }
}

impl OutputOps for ShapeBackend {
    fn select_output(&mut self, weights: &WeightShape, tokens: &[u32]) -> Result<WeightShape> {
        Ok(WeightShape { columns: tokens.len(), ..*weights })
    }

    fn topk(
        &mut self,
        _hidden: &Shape,
        rows: Range<usize>,
        weights: &WeightShape,
        _columns: OutputColumns<'_>,
        best: &mut [TopK],
    ) -> Result<()> {
        let k = best.iter().map(TopK::k).max().unwrap_or(0);
        let WeightShape { depth, columns, has_bias } = *weights;
        let logits = rows.len() * columns;
        // Top-k and normaliser of each part of the columns, then of all parts together.
        let blocks = rows.len() * columns.div_ceil(PART_COLUMNS);
        let parts = blocks * 2 * (k.min(PART_COLUMNS) + 1);
        if rows.len() <= FEW_ROWS {
            self.product(rows.len(), weights, false);
            self.launch("topk_of_parts", logits + parts, 0, 2 * logits);
        } else {
            let read = (rows.len() + columns) * depth + if has_bias { columns } else { 0 };
            self.launch("topk_of_products", read + parts, 2 * logits * depth, 2 * logits);
        }
        self.launch("topk_of_rows", parts + rows.len() * 2 * (k + 1), 0, parts);
        Ok(())
    }

    fn gather_logits(
        &mut self,
        _hidden: &Shape,
        _pairs: &[(u32, u32)],
        _weights: &WeightShape,
        _logits: &mut [f32],
    ) -> Result<()> {
        Ok(())
    }

    fn row_logits(
        &mut self,
        _hidden: &Shape,
        rows: Range<usize>,
        weights: &WeightShape,
        logits: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> Result<()> {
        logits.clear();
        logits.resize(rows.len() * weights.columns, 0.0);
        log_normalizers.clear();
        log_normalizers.resize(rows.len(), 0.0);
        Ok(())
    }
}
