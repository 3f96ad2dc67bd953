//! Faults that are planted in the kernels that ship: each must be reported or change a product, or a
//! test that runs the interpreter would prove nothing.

use std::path::Path;

use miriam_gpu::PtxArchive;
use miriam_ptx::{Fault, Grid, Memory, Module};

/// Rows, depth and columns of the product: more than a block, and a part of one.
const ROWS: usize = 70;
const DEPTH: usize = 37;
const COLUMNS: usize = 75;

/// The seeds of the order of lanes, warps and blocks.
const SEEDS: std::ops::Range<u64> = 0..4;

fn module(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/ptx/modules.ptx.gz");
    let archive = std::fs::read(path).expect("the archive is there");
    PtxArchive::unpack(&archive).module(name).to_owned()
}

fn numbers(count: usize, factor: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * factor) % 17) as f32 - 8.0).collect()
}

fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn floats(memory: &Memory, address: u64, count: usize) -> Result<Vec<f32>, Fault> {
    let bytes = memory.read(address, 4 * count)?;
    let words = bytes.chunks_exact(4);
    Ok(words.map(|word| f32::from_le_bytes(word.try_into().expect("four bytes"))).collect())
}

/// Returns the address of a buffer with these numbers.
fn upload(memory: &mut Memory, values: &[f32]) -> Result<u64, Fault> {
    let address = memory.allocate(4 * values.len() as u64)?;
    memory.write(address, &bytes_of(values))?;
    Ok(address)
}

/// Runs a kernel of products of a module.
fn product(ptx: &str, kernel: &str, seed: u64) -> Result<Vec<f32>, Fault> {
    let module = Module::parse(ptx)?;
    let mut memory = Memory::new(1 << 22);
    let out = memory.allocate(4 * (ROWS * COLUMNS) as u64)?;
    let input = upload(&mut memory, &numbers(ROWS * DEPTH, 7))?;
    let weights = upload(&mut memory, &numbers(DEPTH * COLUMNS, 5))?;
    let mut parameters = Vec::new();
    for address in [out, input, weights, 0, 0] {
        parameters.extend(address.to_le_bytes());
    }
    let shape = [ROWS, DEPTH, COLUMNS, DEPTH, COLUMNS, 0, COLUMNS, 0];
    shape.iter().for_each(|&number| parameters.extend((number as u32).to_le_bytes()));
    let (tile, threads) = if kernel.contains("many") { ([64, 64], 256) } else { ([128, 8], 128) };
    let blocks = [COLUMNS.div_ceil(tile[0]) as u32, ROWS.div_ceil(tile[1]) as u32, 1];
    let grid = Grid { blocks, threads: [threads, 1, 1], seed, ..Grid::default() };
    module.kernel(kernel).expect("the kernel").run(&grid, &parameters, &mut memory)?;
    floats(&memory, out, ROWS * COLUMNS)
}

fn expected() -> Vec<f32> {
    let (input, weights) = (numbers(ROWS * DEPTH, 7), numbers(DEPTH * COLUMNS, 5));
    let element = |row: usize, column: usize| {
        (0..DEPTH).map(|k| input[row * DEPTH + k] * weights[k * COLUMNS + column]).sum()
    };
    (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| element(row, column))).collect()
}

const KERNELS: [&str; 2] = ["product_of_many_rows", "product_of_few_rows"];

#[test]
fn the_kernels_as_they_ship_have_no_fault() {
    let ptx = module("product");
    for kernel in KERNELS {
        for seed in SEEDS {
            assert_eq!(product(&ptx, kernel, seed).unwrap(), expected(), "{kernel}, seed {seed}");
        }
    }
}

/// Without a barrier a warp reads what another has not written, under every order.
#[test]
fn a_missing_barrier_is_reported() {
    let ptx = module("product");
    for kernel in KERNELS {
        let start = ptx.find(&format!(".entry {kernel}(")).expect("the kernel");
        let barriers: Vec<usize> =
            ptx[start..].match_indices("bar.sync").map(|(at, _)| at).collect();
        let (first, length) =
            (start + barriers[0], ptx[start + barriers[0]..].find(';').unwrap() + 1);
        let broken = format!("{}{}", &ptx[..first], &ptx[first + length..]);
        for seed in SEEDS {
            let fault = product(&broken, kernel, seed).expect_err("a fault").to_string();
            let is_known =
                ["not written", "without a barrier"].iter().any(|text| fault.contains(text));
            assert!(is_known && fault.contains(kernel), "{fault}");
        }
    }
}

/// A read past the end of the weights is named with its kernel and line.
#[test]
fn a_read_outside_of_a_buffer_is_reported() {
    let ptx = module("product");
    for kernel in KERNELS {
        let start = ptx.find(&format!(".entry {kernel}(")).expect("the kernel");
        let load = start + ptx[start..].find("ld.global.nc.f32").expect("a load");
        let end = load + ptx[load..].find(']').expect("its address");
        let far = 4 * DEPTH * ROWS * COLUMNS;
        let broken = format!("{}+{far}{}", &ptx[..end], &ptx[end..]);
        let fault = product(&broken, kernel, 1).expect_err("a fault").to_string();
        assert!(fault.contains(kernel) && fault.contains("line"), "{fault}");
    }
}

/// Runs the search for the best of some rows of logits; returns the best column of each.
fn best_columns(ptx: &str, seed: u64) -> Result<Vec<u32>, Fault> {
    let (rows, columns) = (3, 60);
    let module = Module::parse(ptx)?;
    let mut memory = Memory::new(1 << 22);
    let logits: Vec<f32> = (0..rows * columns).map(|i| ((i * 7919) % 2003) as f32).collect();
    let logits = upload(&mut memory, &logits)?;
    let buffers: Result<Vec<u64>, Fault> =
        (0..4).map(|_| memory.allocate(4 * rows as u64)).collect();
    let buffers = buffers?;
    let mut parameters = Vec::new();
    buffers.iter().for_each(|address| parameters.extend(address.to_le_bytes()));
    // One of each part; padding before the next address.
    parameters.extend([1u32, 0].map(u32::to_le_bytes).concat());
    parameters.extend(logits.to_le_bytes());
    parameters.extend((columns as u32).to_le_bytes());
    let grid = Grid { blocks: [1, rows as u32, 1], threads: [128, 1, 1], seed, ..Grid::default() };
    module.kernel("topk_of_parts").expect("the kernel").run(&grid, &parameters, &mut memory)?;
    Ok(floats(&memory, buffers[3], rows)?.iter().map(|bits| bits.to_bits()).collect())
}

/// A shuffle that takes the number of a wrong lane changes the result or ends in a fault.
#[test]
fn a_shuffle_from_a_wrong_lane_is_noticed() {
    let ptx = module("output");
    let right = best_columns(&ptx, 1).unwrap();
    let largest = |row: usize| {
        let logit = |column: &usize| ((row * 60 + column) * 7919) % 2003;
        (0..60).max_by_key(|column| (logit(column), std::cmp::Reverse(*column))).unwrap() as u32
    };
    assert_eq!(right, [0, 1, 2].map(largest));
    // Exchanges over every distance in the search of the best: each takes part in the result.
    let start = ptx.find(".entry topk_of_parts(").expect("the kernel");
    let mut changed = 0;
    for (at, _) in ptx[start..].match_indices("shfl.sync.bfly") {
        let broken = format!("{}shfl.sync.up{}", &ptx[..start + at], &ptx[start + at + 14..]);
        let results: Vec<_> = SEEDS.map(|seed| best_columns(&broken, seed)).collect();
        let is_wrong = |result: &Result<Vec<u32>, Fault>| result.as_ref().ok() != Some(&right);
        changed += usize::from(results.iter().any(is_wrong));
    }
    assert!(changed >= 4, "{changed}");
}
