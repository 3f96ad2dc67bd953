//! Tests that GEMM in i8 gives the same bits with tiles as with registers, and that its sums do
//! not saturate. One test emulates tiles with the vectors of each instruction set of the CPU. The
//! others run the tile instructions, which are emulated if the CPU has AVX-512 VNNI but no tile
//! unit; without VNNI these tests are skipped.

use super::*;
use crate::Cpu;
use crate::activation::Activation;
use crate::gemm::int8::multiply_in_tiles;
use crate::gemm::{PreparedI8, gemm_i8};
use crate::isa::{EmulatedTiles, dispatch};
use crate::pack::{PackedI8, UnpackedWeights, WeightsI8};
use crate::quantize::QuantizedI8;
use crate::testing::{TestRng, cpu_with_tiles};

/// Rows, depth and columns of a GEMM.
type Shape = (usize, usize, usize);

/// The operands of a GEMM and of its epilogue.
struct Case {
    shape: Shape,
    rows: Vec<i8>,
    row_scales: Vec<f32>,
    weights: WeightsI8,
    bias: Vec<f32>,
    residual: Vec<f32>,
}

impl Case {
    fn new(numbers: &mut TestRng, shape: Shape) -> Self {
        let (rows, depth, columns) = shape;
        let mut bytes = |count: usize, least: i64| -> Vec<i8> {
            (0..count).map(|_| numbers.integer(least, 127) as i8).collect()
        };
        let (values, weights) = (bytes(rows * depth, -127), bytes(depth * columns, -128));
        let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&weights, depth, columns));
        let column_scales = numbers.floats(columns, 0.1);
        Case {
            shape,
            rows: values,
            row_scales: numbers.floats(rows, 0.1),
            weights: WeightsI8::pack(source, |column| column_scales[column]).unwrap(),
            bias: numbers.floats(columns, 1.0),
            residual: numbers.floats(rows * columns, 1.0),
        }
    }

    fn values(&self) -> QuantizedI8<'_> {
        let values = MatRef::new(&self.rows, self.shape.0, self.shape.1);
        QuantizedI8 { values, scales: &self.row_scales }
    }

    /// Returns the bits of the result of `gemm`, and the largest magnitude of each row (zeros if
    /// the epilogue does not compute them). `code` encodes the epilogue: one bit each for the bias,
    /// the residual, accumulation and the magnitudes, then two for the activation.
    fn run(
        &self,
        code: usize,
        gemm: impl FnOnce(PackedI8, Epilogue, MatMut<f32>),
    ) -> (Vec<u32>, Vec<f32>) {
        let (rows, _, columns) = self.shape;
        let has = |bit: usize| code >> bit & 1 == 1;
        let activations =
            [Activation::None, Activation::Relu, Activation::Swish, Activation::GeluSigmoid];
        let (mut out, mut largest) = (self.residual.clone(), vec![0.0; rows]);
        let epilogue = Epilogue {
            bias: has(0).then_some(&self.bias[..]),
            residual: has(1).then_some(MatRef::new(&self.residual, rows, columns)),
            accumulate: has(2),
            absmax: has(3).then_some(&mut largest[..]),
            activation: activations[code >> 4 & 3],
        };
        gemm(self.weights.view(), epilogue, MatMut::new(&mut out, rows, columns));
        (out.iter().map(|value| value.to_bits()).collect(), largest)
    }

    /// Returns the result of a GEMM with its sums in registers.
    fn with_registers(&self, cpu: Cpu, code: usize) -> (Vec<u32>, Vec<f32>) {
        let mut prepared = PreparedI8::default();
        prepared.prepare(cpu, Tiling::default_for(cpu), self.values());
        self.run(code, |weights, epilogue, out| gemm_i8(&prepared, weights, epilogue, out))
    }
}

/// The largest number of multiplications in a GEMM with emulated tiles; each takes about 1 ns.
const MAX_EMULATED: usize = 12_000_000;

/// Whether a GEMM of that shape is small enough for emulated tiles.
fn is_emulable(&(rows, depth, columns): &Shape) -> bool {
    rows * depth * columns < MAX_EMULATED
}

/// Returns shapes that cover: rows from one to beyond four tiles; depths and columns that are whole
/// tiles or not; several slabs of rows; the largest depth; empty matrices. The third, the fourth
/// and the fifth are too large for emulated tiles.
fn shapes(numbers: &mut TestRng) -> Vec<Shape> {
    let mut shapes = vec![
        (16, 64, 16),
        (33, 256, 96),
        (1100, 512, 40),
        (530, 1030, 70),
        (16, 65_000, 16),
        // A slab of four tiles of fourteen rows, and a slab of one.
        (66, 8200, 20),
        (33, 0, 20),
        (40, 64, 0),
        (0, 64, 16),
    ];
    for rows in 1..=70 {
        shapes.push((rows, numbers.integer(1, 300) as usize, numbers.integer(1, 150) as usize));
    }
    shapes
}

/// Returns the code of a random epilogue (see [`Case::run`]).
fn random_epilogue(numbers: &mut TestRng) -> usize {
    numbers.integer(0, 63) as usize
}

#[test]
fn emulated_tiles_give_the_bits_of_registers() {
    fn multiply_emulated<I: Isa>(
        isa: I,
        rows: &PreparedI8,
        weights: PackedI8,
        epilogue: Epilogue,
        out: MatMut<f32>,
    ) {
        multiply_in_tiles(isa, EmulatedTiles::configure, rows, weights, epilogue, out);
    }
    let mut numbers = TestRng::new(41);
    for cpu in Cpu::all() {
        let mut prepared = PreparedI8::default();
        for shape in shapes(&mut numbers).into_iter().filter(is_emulable) {
            let case = Case::new(&mut numbers, shape);
            prepared.reset(cpu, Tiling::default_for(cpu), shape.1, &case.row_scales);
            prepared.cells.tiles.fill(case.values().values);
            let code = random_epilogue(&mut numbers);
            let found = case.run(code, |weights, epilogue, out| {
                dispatch!(cpu, multiply_emulated(&prepared, weights, epilogue, out));
            });
            let expected = case.with_registers(cpu, code);
            assert!(found == expected, "{}: {shape:?}, epilogue {code}", cpu.name());
        }
    }
}

/// On a machine with AMX this test runs the CPU's own instructions, for all shapes.
#[test]
fn tile_instructions_give_the_bits_of_registers() {
    let Some(cpu) = cpu_with_tiles() else { return };
    let is_emulated = !Cpu::all().contains(&cpu);
    let mut numbers = TestRng::new(42);
    let mut prepared = PreparedI8::default();
    for shape in shapes(&mut numbers) {
        if is_emulated && !is_emulable(&shape) {
            continue;
        }
        let case = Case::new(&mut numbers, shape);
        prepared.prepare(cpu, Tiling::default_i8(cpu, 8), case.values());
        for _ in 0..if is_emulated { 1 } else { 20 } {
            let code = random_epilogue(&mut numbers);
            let found = case.run(code, |weights, epilogue, out| {
                gemm_i8(&prepared, weights, epilogue, out);
            });
            let expected = case.with_registers(cpu, code);
            assert!(found == expected, "{shape:?}, epilogue {code}");
        }
    }
}

/// Extreme bytes, at the largest depth that weights may have.
#[test]
fn sums_do_not_saturate() {
    let Some(cpu) = cpu_with_tiles() else { return };
    let (rows, depth, columns) = (9, 65_000, 16);
    for (a, b) in [(127i8, 127i8), (-127, -128), (127, -128)] {
        let (a, b) = (vec![a; rows * depth], vec![b; depth * columns]);
        let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&b, depth, columns));
        let weights = WeightsI8::pack(source, |_| 1.0).unwrap();
        let scales = vec![1.0; rows];
        let values = QuantizedI8 { values: MatRef::new(&a, rows, depth), scales: &scales };
        let mut prepared = PreparedI8::default();
        prepared.prepare(cpu, Tiling::default_i8(cpu, rows), values);
        let mut out = vec![0.0; rows * columns];
        let into = MatMut::new(&mut out, rows, columns);
        gemm_i8(&prepared, weights.view(), Epilogue::default(), into);
        let expected = (i64::from(a[0]) * i64::from(b[0]) * depth as i64) as f32;
        assert_eq!(out, vec![expected; rows * columns]);
    }
}
