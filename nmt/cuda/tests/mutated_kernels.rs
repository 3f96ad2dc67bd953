//! Mutation tests of the PTX interpreter: each fault injected into a shipped kernel must be
//! reported or change the result. Otherwise the tests that run kernels in the interpreter would
//! prove nothing.

use std::path::Path;

use miriam_gpu::PtxArchive;
use miriam_ptx::{Fault, Grid, Memory, Module};

/// The shape of the GEMM, `[ROWS, DEPTH] x [DEPTH, COLUMNS]`: not a multiple of a tile, so that
/// tiles at the edges are partial.
const ROWS: usize = 70;
const DEPTH: usize = 37;
const COLUMNS: usize = 75;

/// The seeds by which the interpreter orders lanes, warps and blocks.
const SEEDS: std::ops::Range<u64> = 0..4;

/// Returns the PTX of the shipped module `name`.
fn read_module(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/ptx/modules.ptx.gz");
    let archive = std::fs::read(path).expect("the archive is there");
    PtxArchive::unpack(&archive).module(name).to_owned()
}

/// Returns the place of a kernel in the text of its module.
fn find_kernel(ptx: &str, name: &str) -> usize {
    ptx.find(&format!(".entry {name}(")).expect("the kernel")
}

/// Returns the place of the first `pattern` in `text` at or after `start`.
fn find_after(text: &str, start: usize, pattern: &str) -> usize {
    let found = text[start..].find(pattern);
    start + found.unwrap_or_else(|| panic!("{pattern:?} is missing"))
}

/// Returns `count` integers from -8 to 8, whose products have exact f32 sums in every order. Each
/// `factor` gives another sequence.
fn small_integers(count: usize, factor: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * factor) % 17) as f32 - 8.0).collect()
}

fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Returns the `count` numbers at `address`.
fn read_floats(memory: &Memory, address: u64, count: usize) -> Result<Vec<f32>, Fault> {
    let bytes = memory.read(address, 4 * count)?;
    let (words, _) = bytes.as_chunks::<4>();
    Ok(words.iter().map(|word| f32::from_le_bytes(*word)).collect())
}

/// Copies `values` to a new buffer and returns its address.
fn upload(memory: &mut Memory, values: &[f32]) -> Result<u64, Fault> {
    let address = memory.allocate(4 * values.len() as u64)?;
    memory.write(address, &bytes_of(values))?;
    Ok(address)
}

/// A GEMM kernel with its tile, `[columns, rows]`, and its threads.
struct GemmKernel {
    name: &'static str,
    tile: [usize; 2],
    threads: u32,
}

const KERNELS: [GemmKernel; 2] = [
    GemmKernel { name: "product_of_many_rows", tile: [64, 64], threads: 256 },
    GemmKernel { name: "product_of_few_rows", tile: [128, 8], threads: 128 },
];

/// Runs the GEMM `kernel` of the module `ptx` in the interpreter and returns the result.
fn run_gemm(ptx: &str, kernel: &GemmKernel, seed: u64) -> Result<Vec<f32>, Fault> {
    let module = Module::parse(ptx)?;
    let mut memory = Memory::new(1 << 22);
    let out = memory.allocate(4 * (ROWS * COLUMNS) as u64)?;
    let input = upload(&mut memory, &small_integers(ROWS * DEPTH, 7))?;
    let weights = upload(&mut memory, &small_integers(DEPTH * COLUMNS, 5))?;
    let mut parameters = Vec::new();
    // Without bias and residual.
    for address in [out, input, weights, 0, 0] {
        parameters.extend(address.to_le_bytes());
    }
    // `ProductShape`: rows, depth, columns, strides of input, weights, residual and result,
    // activation.
    let shape = [ROWS, DEPTH, COLUMNS, DEPTH, COLUMNS, 0, COLUMNS, 0];
    shape.iter().for_each(|&number| parameters.extend((number as u32).to_le_bytes()));
    let [tile_columns, tile_rows] = kernel.tile;
    let blocks = [COLUMNS.div_ceil(tile_columns) as u32, ROWS.div_ceil(tile_rows) as u32, 1];
    let grid = Grid { blocks, threads: [kernel.threads, 1, 1], seed, ..Grid::default() };
    module.kernel(kernel.name).expect("the kernel").run(&grid, &parameters, &mut memory)?;
    read_floats(&memory, out, ROWS * COLUMNS)
}

/// Returns the product of the matrices that [`run_gemm`] multiplies, `[ROWS, COLUMNS]`.
fn expected_product() -> Vec<f32> {
    let (input, weights) = (small_integers(ROWS * DEPTH, 7), small_integers(DEPTH * COLUMNS, 5));
    let element = |row: usize, column: usize| {
        (0..DEPTH).map(|k| input[row * DEPTH + k] * weights[k * COLUMNS + column]).sum()
    };
    (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| element(row, column))).collect()
}

#[test]
fn shipped_kernels_are_exact() {
    let ptx = read_module("product");
    for kernel in KERNELS {
        for seed in SEEDS {
            let found = run_gemm(&ptx, &kernel, seed).unwrap();
            assert_eq!(found, expected_product(), "{}, seed {seed}", kernel.name);
        }
    }
}

/// Without its first barrier, a kernel reads shared memory that another warp has not written yet.
/// It is reported for every order of warps.
#[test]
fn a_missing_barrier_is_reported() {
    let ptx = read_module("product");
    for kernel in KERNELS {
        let start = find_kernel(&ptx, kernel.name);
        let barrier = find_after(&ptx, start, "bar.sync");
        let end = find_after(&ptx, barrier, ";") + 1;
        let broken = format!("{}{}", &ptx[..barrier], &ptx[end..]);
        for seed in SEEDS {
            let fault = run_gemm(&broken, &kernel, seed).expect_err("a fault").to_string();
            let is_known =
                ["not written", "without a barrier"].iter().any(|text| fault.contains(text));
            assert!(is_known && fault.contains(kernel.name), "{fault}");
        }
    }
}

/// A read past the end of the input is reported with kernel and line.
#[test]
fn a_read_past_the_end_of_a_buffer_is_reported() {
    let ptx = read_module("product");
    for kernel in KERNELS {
        let start = find_kernel(&ptx, kernel.name);
        let load = find_after(&ptx, start, "ld.global.nc.f32");
        let end = find_after(&ptx, load, "]");
        let far = 4 * DEPTH * ROWS * COLUMNS;
        let broken = format!("{}+{far}{}", &ptx[..end], &ptx[end..]);
        let fault = run_gemm(&broken, &kernel, 1).expect_err("a fault").to_string();
        for part in [kernel.name, "line", "a read of 4 bytes at offset"] {
            assert!(fault.contains(part), "{fault}");
        }
    }
}

/// The shape of the logits.
const TOPK_ROWS: usize = 3;
const TOPK_COLUMNS: usize = 60;

/// Returns the logit at `index`; no two logits are equal.
fn logit(index: usize) -> usize {
    (index * 7919) % 2003
}

/// Runs the top-1 kernel on the rows of logits in the interpreter and returns the best column of
/// each.
fn best_columns(ptx: &str, seed: u64) -> Result<Vec<u32>, Fault> {
    let module = Module::parse(ptx)?;
    let mut memory = Memory::new(1 << 22);
    let logits: Vec<f32> = (0..TOPK_ROWS * TOPK_COLUMNS).map(|i| logit(i) as f32).collect();
    let logits = upload(&mut memory, &logits)?;
    // The results of each row: the largest logit, the sum of exponentials, the best logit, and its
    // column.
    let buffers = (0..4)
        .map(|_| memory.allocate(4 * TOPK_ROWS as u64))
        .collect::<Result<Vec<u64>, Fault>>()?;
    let mut parameters = Vec::new();
    buffers.iter().for_each(|address| parameters.extend(address.to_le_bytes()));
    // k = 1 for each part, then padding to the alignment of the next pointer.
    parameters.extend([1u32, 0].map(u32::to_le_bytes).concat());
    parameters.extend(logits.to_le_bytes());
    parameters.extend((TOPK_COLUMNS as u32).to_le_bytes());
    let grid =
        Grid { blocks: [1, TOPK_ROWS as u32, 1], threads: [128, 1, 1], seed, ..Grid::default() };
    module.kernel("topk_of_parts").expect("the kernel").run(&grid, &parameters, &mut memory)?;
    Ok(read_floats(&memory, buffers[3], TOPK_ROWS)?.iter().map(|bits| bits.to_bits()).collect())
}

/// A shuffle that reads another lane changes the result or ends in a fault.
#[test]
fn a_shuffle_from_a_wrong_lane_is_noticed() {
    let ptx = read_module("output");
    let right = best_columns(&ptx, 1).unwrap();
    let largest = |row: usize| {
        (0..TOPK_COLUMNS).max_by_key(|column| logit(row * TOPK_COLUMNS + column)).unwrap() as u32
    };
    assert_eq!(right, (0..TOPK_ROWS).map(largest).collect::<Vec<_>>());
    // Some shuffles compute the sum of exponentials, which is not read here; those of the search
    // for the maximum, over 5 distances, change the result.
    let start = find_kernel(&ptx, "topk_of_parts");
    let end = find_after(&ptx, start, "\n}");
    let mut changed = 0;
    for (at, shuffle) in ptx[start..end].match_indices("shfl.sync.bfly") {
        let after = start + at + shuffle.len();
        let broken = format!("{}shfl.sync.up{}", &ptx[..start + at], &ptx[after..]);
        let results: Vec<_> = SEEDS.map(|seed| best_columns(&broken, seed)).collect();
        let is_wrong = |result: &Result<Vec<u32>, Fault>| result.as_ref().ok() != Some(&right);
        changed += usize::from(results.iter().any(is_wrong));
    }
    assert!(changed >= 4, "only {changed} broken shuffles were noticed");
}
