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

/// The beginning of a kernel in the text of a module, before its name.
const ENTRY: &str = ".visible .entry ";

/// Returns the shipped modules.
fn read_archive() -> PtxArchive {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/ptx/modules.ptx.gz");
    PtxArchive::unpack(&std::fs::read(path).expect("the archive is there"))
}

/// Returns the PTX of the shipped module `name`.
fn read_module(name: &str) -> String {
    read_archive().module(name).to_owned()
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

/// The operands of a launch in the order of the kernel's parameters, and the places of its results.
struct Operands {
    memory: Memory,
    parameters: Vec<u8>,
    /// The addresses of results, and their numbers of words.
    results: Vec<(u64, usize)>,
}

impl Operands {
    fn new() -> Self {
        Operands { memory: Memory::new(1 << 22), parameters: Vec::new(), results: Vec::new() }
    }

    /// Adds an address, or 0 for an optional buffer that is absent.
    fn pointer(&mut self, address: u64) {
        self.parameters.resize(self.parameters.len().next_multiple_of(8), 0);
        self.parameters.extend(address.to_le_bytes());
    }

    /// Adds a buffer that the kernel reads.
    fn input(&mut self, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let address = self.memory.allocate(bytes.len() as u64).expect("room for a buffer");
        self.memory.write(address, &bytes).expect("the buffer has room");
        self.pointer(address);
    }

    fn float_input(&mut self, values: &[f32]) {
        self.input(&values.iter().map(|value| value.to_bits()).collect::<Vec<_>>());
    }

    /// Adds a buffer that the kernel reads, or none.
    fn optional_input(&mut self, exists: bool, values: &[f32]) {
        if exists {
            self.float_input(values);
        } else {
            self.pointer(0);
        }
    }

    /// Adds a buffer of `words` words that the kernel writes.
    fn output(&mut self, words: usize) {
        let address = self.memory.allocate(4 * words as u64).expect("room for a buffer");
        self.results.push((address, words));
        self.pointer(address);
    }

    /// Adds numbers of 32 bits.
    fn numbers(&mut self, numbers: &[usize]) {
        self.parameters.extend(numbers.iter().flat_map(|&number| (number as u32).to_le_bytes()));
    }

    /// Runs a kernel of the module `ptx` in the interpreter and returns its results, one buffer
    /// after the other.
    fn run(mut self, ptx: &str, kernel: &str, grid: &Grid) -> Result<Vec<u32>, Fault> {
        let module = Module::parse(ptx)?;
        let kernel = module.kernel(kernel).expect("the kernel");
        kernel.run(grid, &self.parameters, &mut self.memory)?;
        let mut results = Vec::new();
        for (address, words) in self.results {
            let (words, _) = self.memory.read(address, 4 * words)?.as_chunks::<4>();
            results.extend(words.iter().map(|&word| u32::from_le_bytes(word)));
        }
        Ok(results)
    }
}

/// Kernels that multiply matrices of floats.
const KERNELS: [&str; 2] = ["product_of_many_rows", "product_of_few_rows"];

/// Returns the grid of a GEMM kernel.
fn gemm_grid(kernel: &str, [rows, columns]: [usize; 2], seed: u64) -> Grid {
    let ([tile_columns, tile_rows], threads) = match kernel {
        "product_of_few_rows" => ([128, 8], 128),
        "product_of_few_rows_f16" | "product_of_few_rows_bf16" => ([32, 16], 128),
        _ => ([64, 64], 256),
    };
    let blocks = [columns.div_ceil(tile_columns) as u32, rows.div_ceil(tile_rows) as u32, 1];
    Grid { blocks, threads: [threads, 1, 1], seed, ..Grid::default() }
}

/// Adds the input and the weights of a GEMM, `[rows, depth] x [depth, columns]`.
fn add_factors(operands: &mut Operands, [rows, depth, columns]: [usize; 3]) {
    operands.float_input(&small_integers(rows * depth, 7));
    operands.float_input(&small_integers(depth * columns, 5));
}

/// Adds a `ProductShape`: rows, depth, columns, strides of input, weights, residual and result,
/// activation.
fn add_product_shape(operands: &mut Operands, [rows, depth, columns]: [usize; 3]) {
    operands.numbers(&[rows, depth, columns, depth, columns, 0, columns, 0]);
}

/// Returns the operands of a GEMM without bias and residual.
fn gemm_operands([rows, depth, columns]: [usize; 3]) -> Operands {
    let mut operands = Operands::new();
    operands.output(rows * columns);
    add_factors(&mut operands, [rows, depth, columns]);
    operands.pointer(0);
    operands.pointer(0);
    add_product_shape(&mut operands, [rows, depth, columns]);
    operands
}

/// Runs a GEMM kernel of the module `ptx` in the interpreter and returns the result.
fn run_gemm(ptx: &str, kernel: &str, seed: u64) -> Result<Vec<f32>, Fault> {
    let grid = gemm_grid(kernel, [ROWS, COLUMNS], seed);
    let words = gemm_operands([ROWS, DEPTH, COLUMNS]).run(ptx, kernel, &grid)?;
    Ok(words.into_iter().map(f32::from_bits).collect())
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
            let found = run_gemm(&ptx, kernel, seed).unwrap();
            assert_eq!(found, expected_product(), "{kernel}, seed {seed}");
        }
    }
}

/// Without its first barrier, a kernel reads shared memory that another warp has not written yet.
/// This is reported for every order of warps.
#[test]
fn a_missing_barrier_is_reported() {
    let ptx = read_module("product");
    for kernel in KERNELS {
        let start = find_kernel(&ptx, kernel);
        let barrier = find_after(&ptx, start, "bar.sync");
        let end = find_after(&ptx, barrier, ";") + 1;
        let broken = format!("{}{}", &ptx[..barrier], &ptx[end..]);
        for seed in SEEDS {
            let fault = run_gemm(&broken, kernel, seed).expect_err("a fault").to_string();
            let is_known =
                ["not written", "without a barrier"].iter().any(|text| fault.contains(text));
            assert!(is_known && fault.contains(kernel), "{fault}");
        }
    }
}

/// Returns the operands of a GEMM that keeps only the best logits of each part of a row.
fn topk_operands([rows, depth, columns]: [usize; 3]) -> Operands {
    let (parts, each) = (columns.div_ceil(64), 3);
    let mut operands = Operands::new();
    [1, 1, each, each].into_iter().for_each(|numbers| operands.output(rows * parts * numbers));
    operands.numbers(&[each]);
    add_factors(&mut operands, [rows, depth, columns]);
    operands.pointer(0);
    add_product_shape(&mut operands, [rows, depth, columns]);
    operands
}

/// Returns the operands of attention from one query to `keys` keys. The results are the attended
/// values and the attention weights.
fn attention_operands(kernel: &str, keys: usize) -> Operands {
    let width = 8;
    let mut operands = Operands::new();
    operands.output(width);
    operands.float_input(&small_integers(width, 3));
    // A `Query`: no address of its own, the first row, the visible keys, its position.
    operands.input(&[0, 0, 0, keys as u32, keys as u32 - 1, 0]);
    operands.float_input(&small_integers(keys * 2 * width, 7));
    operands.pointer(0);
    operands.optional_input(kernel.starts_with("attend_additive"), &small_integers(width, 5));
    // For relative positions: classes of distances, no vectors, a bias for each class.
    let is_relative = kernel.starts_with("attend_relative");
    if is_relative {
        operands.input(&(0..=2 * keys as u32).map(|at| at % 7).collect::<Vec<_>>());
    } else {
        operands.pointer(0);
    }
    operands.pointer(0);
    operands.pointer(0);
    operands.optional_input(is_relative, &small_integers(7, 2));
    operands.output(keys);
    // An `AttentionShape`: strides of queries and rows, columns of keys and values, widths, heads,
    // the stride of results, the head of the weights and their stride, the place of distance 0
    // among the classes. The factor of scores follows.
    operands.numbers(&[width, 2 * width, 0, width, width, width, 1, width, 0, keys, keys]);
    operands.numbers(&[0.05f32.to_bits() as usize]);
    operands
}

/// Returns the operands of a launch that merges the two best logits of each of 150 parts of a row.
fn merge_operands() -> Operands {
    let (parts, k) = (150, 3);
    let mut operands = Operands::new();
    operands.output(2);
    operands.output(k);
    operands.output(k);
    let largest: Vec<f32> = (0..parts).map(|part| logit(part) as f32).collect();
    operands.float_input(&largest);
    operands.float_input(&vec![1.0; parts]);
    let logits: Vec<f32> = largest.iter().flat_map(|&largest| [largest, largest - 0.5]).collect();
    operands.float_input(&logits);
    operands.input(&(0..2 * parts as u32).collect::<Vec<_>>());
    operands.numbers(&[parts, 2, k]);
    operands
}

/// Runs a kernel that has barriers, with loops of more than one round.
fn run_with_barriers(ptx: &str, kernel: &str, seed: u64) -> Result<Vec<u32>, Fault> {
    let one_block = |threads: u32| Grid { threads: [threads, 1, 1], seed, ..Grid::default() };
    if kernel == "topk_of_rows" {
        return merge_operands().run(ptx, kernel, &one_block(128));
    }
    if kernel.starts_with("attend_") {
        let threads = attention_threads(kernel);
        let operands = attention_operands(kernel, threads as usize + 20);
        return operands.run(ptx, kernel, &one_block(threads));
    }
    let [rows, depth, columns] = [20, 140, 75];
    let operands = if kernel.starts_with("topk_of_products") {
        topk_operands([rows, depth, columns])
    } else {
        gemm_operands([rows, depth, columns])
    };
    operands.run(ptx, kernel, &gemm_grid(kernel, [rows, columns], seed))
}

/// Returns the number of threads of an attention kernel. Its name ends with the largest number of
/// columns that values may have.
fn attention_threads(kernel: &str) -> u32 {
    match kernel.rsplit('_').next() {
        Some("128") => 32,
        Some("512") => 128,
        _ => 256,
    }
}

/// Returns the barriers of a kernel, numbered by their order in its text, whose absence is not
/// noticed. In a block of one warp these are all barriers, because the interpreter runs the lanes
/// of a warp together. In other blocks, the needless barriers are before a reduction or before
/// probabilities are stored: there, another barrier already follows the last read.
fn needless_barriers(kernel: &str) -> &'static [usize] {
    match kernel {
        "attend_dot_128" | "attend_relative_128" => &[0, 1],
        "topk_of_rows" => &[0],
        _ if kernel.starts_with("attend_") => &[0, 4],
        _ => &[],
    }
}

/// Whether a kernel without its barrier at a place of the text is reported or gives other results
/// than `right`.
fn needs_barrier(ptx: &str, kernel: &str, place: usize, right: &[u32]) -> bool {
    let end = find_after(ptx, place, ";") + 1;
    let broken = format!("{}{}", &ptx[..place], &ptx[end..]);
    (0..2).any(|seed| run_with_barriers(&broken, kernel, seed).as_deref().ok() != Some(right))
}

/// Removes each barrier of each kernel in turn. Except for the [`needless_barriers`], this is
/// noticed: a read of shared memory that is not written is reported, or a race of warps, or the
/// results differ.
#[test]
fn missing_barriers_are_noticed_unless_needless() {
    let archive = read_archive();
    let mut count = 0;
    for (module, ptx) in archive.modules() {
        let head = &ptx[..find_after(ptx, 0, ENTRY)];
        for kernel in PtxArchive::kernel_names(ptx) {
            let start = find_after(ptx, 0, &format!("{ENTRY}{kernel}("));
            let rest = &ptx[start + ENTRY.len()..];
            let length = rest.find(ENTRY).map_or(ptx.len() - start, |next| ENTRY.len() + next);
            let alone = format!("{head}{}", &ptx[start..start + length]);
            let barriers: Vec<usize> = alone.match_indices("bar.sync").map(|(at, _)| at).collect();
            if barriers.is_empty() {
                continue;
            }
            count += barriers.len();
            let right = run_with_barriers(&alone, kernel, 0).unwrap();
            let needless: Vec<usize> = (0..barriers.len())
                .filter(|&number| !needs_barrier(&alone, kernel, barriers[number], &right))
                .collect();
            assert_eq!(needless, needless_barriers(kernel), "{module}, {kernel}");
        }
    }
    assert!(count > 50, "only {count} barriers");
}

/// A read past the end of the input is reported with kernel and line.
#[test]
fn a_read_past_the_end_of_a_buffer_is_reported() {
    let ptx = read_module("product");
    for kernel in KERNELS {
        let start = find_kernel(&ptx, kernel);
        let load = find_after(&ptx, start, "ld.global.nc.f32");
        let end = find_after(&ptx, load, "]");
        let far = 4 * DEPTH * ROWS * COLUMNS;
        let broken = format!("{}+{far}{}", &ptx[..end], &ptx[end..]);
        let fault = run_gemm(&broken, kernel, 1).expect_err("a fault").to_string();
        for part in [kernel, "line", "a read of 4 bytes at offset"] {
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
    let mut operands = Operands::new();
    // For each row the largest logit, the sum of exponentials, the best logit, and its column.
    (0..4).for_each(|_| operands.output(TOPK_ROWS));
    // The number of best logits of each part.
    operands.numbers(&[1]);
    let logits: Vec<f32> = (0..TOPK_ROWS * TOPK_COLUMNS).map(|i| logit(i) as f32).collect();
    operands.float_input(&logits);
    operands.numbers(&[TOPK_COLUMNS]);
    let blocks = [1, TOPK_ROWS as u32, 1];
    let grid = Grid { blocks, threads: [128, 1, 1], seed, ..Grid::default() };
    let results = operands.run(ptx, "topk_of_parts", &grid)?;
    Ok(results[3 * TOPK_ROWS..].to_vec())
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
    // Some shuffles compute the sum of exponentials, which is not read here. Of the shuffles that
    // find the maximum, over 5 distances, at least 4 must change the result.
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
