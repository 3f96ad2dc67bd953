//! Arbitrary lines, lengths and shapes as packed weights: they are rejected, or products read
//! nothing outside of them. `cargo +nightly fuzz run weights` in `base/kernels`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miriam_kernels::gemm::{Epilogue, PreparedI8, PreparedI16, Tiling, gemm_i8, gemm_i16};
use miriam_kernels::pack::{Line, PackedI8, PackedI16, WeightsI8};
use miriam_kernels::quantize::{QuantizedI8, quantize_i16};
use miriam_kernels::{Cpu, MatMut, MatRef};

fuzz_target!(|data: &[u8]| {
    let [depth, columns, scales, rows, norm, row, bytes @ ..] = data else { return };
    let (depth, columns, rows) = (*depth as usize, *columns as usize, (*rows % 40) as usize);
    let lines: Vec<Line> = bytes.as_chunks::<64>().0.iter().map(|bytes| Line(*bytes)).collect();
    let floats = vec![f32::from(*norm); *scales as usize];
    let integers = vec![i32::MIN; *scales as usize];
    let mut out = vec![0.0; rows * columns];
    let (mut prepared_i8, mut prepared_i16) = (PreparedI8::default(), PreparedI16::default());
    for cpu in Cpu::all() {
        let tiling = Tiling::default_for(cpu);
        if let Ok(weights) = PackedI8::new(&lines, &floats, &integers, depth, columns) {
            let values = vec![*row as i8; rows * depth];
            let (values, row_scales) = (MatRef::new(&values, rows, depth), vec![1.0; rows]);
            let values = QuantizedI8 { values, scales: &row_scales };
            for tiling in [tiling, Tiling::default_i8(cpu, rows)] {
                let into = MatMut::new(&mut out, rows, columns);
                prepared_i8.prepare(cpu, tiling, values);
                gemm_i8(&prepared_i8, weights, Epilogue::default(), into);
            }
            let ids: Vec<u32> = bytes.iter().map(|&id| u32::from(id)).collect();
            let _ = WeightsI8::default().select(&weights, &ids);
        }
        if let Ok(weights) = PackedI16::new(&lines, &floats, u32::from(*norm) << 24, depth, columns) {
            let row = vec![f32::from(*row as i8) * 256.0; rows * depth];
            let (row, mut units) = (MatRef::new(&row, rows, depth), vec![0.0; rows]);
            let mut values = vec![0; rows * depth];
            let values = MatMut::new(&mut values, rows, depth);
            let values = quantize_i16(cpu, row, &weights, values, &mut units);
            let into = MatMut::new(&mut out, rows, columns);
            prepared_i16.prepare(cpu, tiling, values);
            gemm_i16(&prepared_i16, weights, Epilogue::default(), into);
        }
    }
});
