//! Tests of packing: the bytes of the layouts, columns that are read back, and views that are
//! rejected.

use proptest::prelude::*;

use super::*;

#[test]
fn layouts_match_the_bytes_of_files() {
    // Depth 5 and 17 columns: two panels, each of 2 lines in i8, 3 in i16 and 5 in f32.
    let numbers: Vec<i8> = (0..5 * 17).map(|at| at as i8).collect();
    let at = |depth: usize, column: usize| (depth * 17 + column) as i8;
    let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&numbers, 5, 17));
    let weights = WeightsI8::pack(source, |column| column as f32).unwrap();
    let (lines, scales, corrections) = weights.parts();
    assert_eq!((lines.len(), scales.len(), corrections.len()), (4, 32, 32));
    assert_eq!(lines[0].0[8..12], [0, 1, 2, 3].map(|depth| at(depth, 2) as u8));
    assert_eq!(lines[1].0[8..12], [at(4, 2) as u8, 0, 0, 0]);
    assert_eq!(lines[2].0[..5], [at(0, 16), at(1, 16), at(2, 16), at(3, 16), 0].map(|x| x as u8));
    assert_eq!(corrections[16], -128 * (16 + 33 + 50 + 67 + 84));
    assert_eq!((scales[16], scales[17], corrections[17]), (16.0, 0.0, 0));

    let numbers: Vec<i16> = (0..5 * 17).map(|at| 300 * at).collect();
    let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&numbers, 5, 17));
    let weights = WeightsI16::pack(source, |_| 0.5).unwrap();
    let (lines, scales, norm) = weights.parts();
    // The root of 300^2 (16^2 + 33^2 + 50^2 + 67^2 + 84^2), rounded up.
    assert_eq!((lines.len(), scales.len(), norm), (6, 32, 37_217));
    let pair = [300 * 36i16, 300 * 53].map(i16::to_le_bytes);
    assert_eq!(lines[1].0[8..12], *pair.as_flattened());

    let numbers: Vec<f32> = (0..5 * 17).map(|at| at as f32).collect();
    let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&numbers, 5, 17));
    let weights = WeightsF32::pack(source).unwrap();
    assert_eq!(weights.lines().len(), 10);
    assert_eq!(weights.lines()[3].0[8..12], (3.0f32 * 17.0 + 2.0).to_le_bytes());
    assert_eq!(weights.lines()[9].0[..4], (4.0f32 * 17.0 + 16.0).to_le_bytes());

    let names = [Layout::F32, Layout::I16, Layout::I8].map(Layout::name);
    assert_eq!(names, ["f32x16x1", "i16x16x2", "i8x16x4"]);
}

#[test]
fn columns_are_unpacked() {
    let numbers: Vec<f32> = (0..7 * 20).map(|at| (at as f32 - 70.0) / 50.0).collect();
    let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&numbers, 7, 20));
    let floats = WeightsF32::pack(source).unwrap();
    let shorts = WeightsI16::quantize(source).unwrap();
    let bytes = WeightsI8::quantize(source).unwrap();
    for column in 0..20 {
        let expected: Vec<f32> = (0..7).map(|depth| numbers[depth * 20 + column]).collect();
        let largest = expected.iter().fold(0f32, |most, x| most.max(x.abs()));
        let mut found = [0.0; 7];
        floats.view().column(column, &mut found);
        assert_eq!(found, expected[..]);
        shorts.view().column(column, &mut found);
        // The norm of seven numbers, which becomes 46,340, is at most sqrt(7) times the largest
        // one, which so becomes at least 17,000.
        assert!(
            found.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 0.501 * largest / 17_000.0)
        );
        bytes.view().column(column, &mut found);
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 0.501 * largest / 127.0));
    }
}

#[test]
fn rounding_matches_the_standard_library() {
    for number in (-2000..2000).map(|n| n as f32 / 8.0).chain([-8191.5, 0.49999997, 8190.5]) {
        assert_eq!(super::round_ties_even(number), number.round_ties_even(), "{number}");
    }
}

#[test]
fn both_orientations_pack_alike() {
    let numbers: Vec<f32> = (0..6 * 19).map(|at| at as f32).collect();
    let turned: Vec<f32> = (0..6 * 19).map(|at| ((at % 6) * 19 + at / 6) as f32).collect();
    let one =
        WeightsF32::pack(UnpackedWeights::inputs_by_outputs(MatRef::new(&numbers, 6, 19))).unwrap();
    let other =
        WeightsF32::pack(UnpackedWeights::outputs_by_inputs(MatRef::new(&turned, 19, 6))).unwrap();
    assert_eq!(one.lines(), other.lines());
}

proptest! {
    /// Arbitrary lines, scales and shapes are rejected, or multiplied without reading outside of
    /// them (which sanitisers check).
    #[test]
    fn hostile_weights_are_rejected_or_multiplied(
        lines in 0usize..40,
        scales in 0usize..40,
        depth in prop_oneof![0usize..20, any::<usize>()],
        columns in prop_oneof![0usize..40, any::<usize>()],
        bytes in any::<[u8; 32]>(),
    ) {
        let mut line = Line::ZERO;
        line.0[..32].copy_from_slice(&bytes);
        let lines = vec![line; lines];
        let floats = vec![f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]); scales];
        let corrections = vec![i32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]); scales];
        if let Ok(weights) = PackedI8::new(&lines, &floats, &corrections, depth, columns) {
            let rows = vec![-100; depth];
            let mut out = vec![0.0; columns];
            let quantized = crate::quantize::QuantizedI8 { values: MatRef::new(&rows, 1, depth), scales: &[1.0] };
            for cpu in crate::Cpu::all() {
                let mut prepared = crate::gemm::PreparedI8::default();
                prepared.prepare(cpu, crate::gemm::Tiling::default_for(cpu), quantized);
                let into = crate::MatMut::new(&mut out, 1, columns);
                crate::gemm::gemm_i8(&prepared, weights, Default::default(), into);
            }
        }
        let _ = PackedI16::new(&lines, &floats, 5, depth, columns);
        let _ = PackedF32::new(&lines, depth, columns);
    }
}

#[test]
fn shapes_whose_padding_exceeds_usize_are_rejected() {
    for columns in [usize::MAX, usize::MAX - 15] {
        assert!(PackedI8::new(&[], &[], &[], 0, columns).is_err());
        assert!(PackedI16::new(&[], &[], 0, 0, columns).is_err());
    }
}

#[test]
fn numbers_of_few_bits_are_packed_exactly() {
    // All numbers have eight significant bits in four binades, so they are multiples of 2^-12. The
    // norms of the runs are so small that the unit is a smaller power of two: nothing is rounded.
    let mut numbers: Vec<f32> =
        (0..100 * 3).map(|at| f32::from(128 + (at * 37 % 128) as u16) * 0.001953125).collect();
    numbers.iter_mut().enumerate().for_each(|(at, x)| *x *= [1.0, -0.5, 0.25, -0.125][at / 3 % 4]);
    let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&numbers, 100, 3));
    let weights = WeightsI16::quantize(source).unwrap();
    for column in 0..3 {
        let mut found = [0.0; 100];
        weights.view().column(column, &mut found);
        let expected: Vec<f32> = (0..100).map(|depth| numbers[depth * 3 + column]).collect();
        assert_eq!(found, expected[..]);
    }
    // Numbers of many bits keep the finest unit, which is not a power of two.
    let numbers: Vec<f32> =
        numbers.iter().enumerate().map(|(at, x)| x * (1.0 + at as f32 * 1e-3)).collect();
    let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&numbers, 100, 3));
    let weights = WeightsI16::quantize(source).unwrap();
    assert!(weights.parts().1[..3].iter().all(|scale| scale.to_bits() & 0x7f_ffff != 0));
    assert!(weights.parts().2 > 46_000);
}

#[test]
fn weights_that_are_not_finite_have_nan_scales() {
    for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut numbers = [0.5; 9];
        numbers[4] = odd;
        let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&numbers, 3, 3));
        let shorts = WeightsI16::quantize(source).unwrap();
        let bytes = WeightsI8::quantize(source).unwrap();
        for scales in [shorts.parts().1, bytes.parts().1] {
            assert_eq!([0, 1, 2].map(|at: usize| scales[at].is_nan()), [false, true, false]);
        }
    }
}

#[test]
fn filling_gives_the_bytes_of_packing() {
    let mut numbers = crate::testing::TestRng::new(33);
    let mut filled = WeightsF32::default();
    for (depth, outputs) in [
        (5, vec![17]),
        (16, vec![16, 16, 16]),
        (37, vec![48, 5, 90]),
        (128, vec![128]),
        (1, vec![1, 1]),
        (0, vec![3]),
        (70, vec![0, 33]),
        (20, vec![]),
    ] {
        let columns: usize = outputs.iter().sum();
        let depth = if outputs.is_empty() { 0 } else { depth };
        // The weights are filled from parts: columns of a wider matrix, or rows of its transpose.
        let stride = columns + 1;
        let whole = numbers.floats(depth * stride, 1.0);
        let turned: Vec<f32> = (0..columns * depth)
            .map(|at| whole[at % depth.max(1) * stride + at / depth.max(1)])
            .collect();
        let whole = MatRef::with_stride(&whole, depth, columns, stride);
        let turned = MatRef::new(&turned, columns, depth);
        let mut parts = Vec::new();
        let mut first = 0;
        for (index, width) in outputs.iter().enumerate() {
            let range = first..first + width;
            parts.push(if index % 2 == 0 {
                UnpackedWeights::inputs_by_outputs(whole.column_range(range))
            } else {
                UnpackedWeights::outputs_by_inputs(turned.row_range(range))
            });
            first += width;
        }
        let expected = WeightsF32::pack(UnpackedWeights::inputs_by_outputs(whole)).unwrap();
        filled.fill(&parts);
        assert_eq!(filled.lines(), expected.lines(), "{depth} x {outputs:?}");
        assert_eq!((filled.view().depth(), filled.view().columns()), (depth, columns));
        let expected = WeightsF32::pack(UnpackedWeights::outputs_by_inputs(whole)).unwrap();
        filled.fill_transposed(&parts);
        assert_eq!(filled.lines(), expected.lines(), "{depth} x {outputs:?} transposed");
        assert_eq!((filled.view().depth(), filled.view().columns()), (columns, depth));
    }
}

#[test]
fn registers_are_transposed_on_every_instruction_set() {
    use crate::isa::{Isa, dispatch};
    fn transpose<I: Isa>(isa: I, numbers: &mut [f32]) {
        let mut rows = [isa.splat(0.0); 16];
        for (row, from) in rows.iter_mut().zip(numbers.chunks(16)) {
            *row = isa.load(from);
        }
        for (row, to) in isa.transpose(rows).into_iter().zip(numbers.chunks_mut(16)) {
            isa.store(row, to);
        }
    }
    for cpu in crate::Cpu::all() {
        let mut numbers: Vec<f32> = (0..256).map(|at| at as f32).collect();
        dispatch!(cpu, transpose(&mut numbers));
        let expected: Vec<f32> = (0..256).map(|at| (at % 16 * 16 + at / 16) as f32).collect();
        assert_eq!(numbers, expected, "{}", cpu.name());
    }
}

/// If the bytes of each output are contiguous and the depth is a multiple of four, `pack_bytes`
/// packs a panel at a time. The result is the same as from `pack`.
#[test]
fn packing_panels_gives_the_bytes_of_packing_columns() {
    for (depth, columns) in [(4, 1), (8, 16), (64, 40), (12, 33), (6, 20), (0, 5), (8, 0)] {
        let bytes: Vec<u8> = (0..depth * columns).map(|at| (at * 89 % 255 + 1) as u8).collect();
        let bytes: Vec<u8> = bytes.iter().map(|&b| if b == 128 { 1 } else { b }).collect();
        let integers: Vec<i8> = bytes.iter().map(|&byte| byte as i8).collect();
        let scale = |column: usize| 1.0 / (column + 1) as f32;
        let by_panels = WeightsI8::pack_bytes(
            UnpackedWeights::outputs_by_inputs(MatRef::new(&bytes, columns, depth)),
            scale,
        );
        let by_columns = WeightsI8::pack(
            UnpackedWeights::outputs_by_inputs(MatRef::new(&integers, columns, depth)),
            scale,
        );
        let (by_panels, by_columns) = (by_panels.unwrap(), by_columns.unwrap());
        assert_eq!(by_panels.parts(), by_columns.parts(), "{depth} x {columns}");
        // Columns give their integers back.
        let mut column = vec![0; depth];
        for index in 0..columns {
            by_panels.view().column_integers(index, &mut column);
            assert_eq!(column, bytes[index * depth..][..depth]);
        }
    }
}
