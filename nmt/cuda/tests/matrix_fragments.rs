//! Planted faults in products of half precision: exchanged registers change the result.

use miriam_gpu::PtxArchive;
use miriam_ptx::{Grid, Memory, Module};

const PTX_ARCHIVE: &[u8] = include_bytes!("../kernels/ptx/modules.ptx.gz");

/// The product of sixteen rows with 32 columns: every part of the matrices of a warp is in use.
const ROWS: usize = 16;
const DEPTH: usize = 128;
const COLUMNS: usize = 32;

/// A kernel with its module, its number of threads, and its number of matrix instructions.
struct HalfProduct {
    module: &'static str,
    kernel: &'static str,
    threads: u32,
    instructions: usize,
}

const fn half_product(
    module: &'static str,
    kernel: &'static str,
    threads: u32,
    instructions: usize,
) -> HalfProduct {
    HalfProduct { module, kernel, threads, instructions }
}

/// In a round of its loop, the kernel for few rows multiplies a depth of 128; the kernel for many
/// rows multiplies a depth of 32 by four times eight columns. A matrix instruction has a depth of 8
/// for compute capability 7.5, and of 16 for 8.0.
const PRODUCTS: [HalfProduct; 6] = [
    half_product("half_product_75", "product_of_few_rows_f16", 128, 16),
    half_product("half_product_75", "product_of_many_rows_f16", 256, 16),
    half_product("half_product_80", "product_of_few_rows_f16", 128, 8),
    half_product("half_product_80", "product_of_many_rows_f16", 256, 8),
    half_product("half_product_80", "product_of_few_rows_bf16", 128, 8),
    half_product("half_product_80", "product_of_many_rows_bf16", 256, 8),
];

/// Returns a small integer. Both types of 16 bits represent it exactly, and f32 represents the sums
/// of products exactly.
fn input(row: usize, k: usize) -> i32 {
    ((row * 7 + k * 5) % 11) as i32 - 5
}

fn weight(k: usize, column: usize) -> i32 {
    ((k * 3 + column * 4) % 13) as i32 - 6
}

/// Returns the bits of an integer of at most ten bits in binary16.
fn f16(number: i32) -> u32 {
    let bits = (number as f32).to_bits();
    let sign = bits >> 16 & 0x8000;
    if number == 0 { 0 } else { sign | (((bits & 0x7fff_ffff) >> 13) - (112 << 10)) }
}

/// Returns an integer of at most eight bits in the type of a kernel.
fn half(kernel: &str, number: i32) -> u32 {
    if kernel.ends_with("_bf16") { (number as f32).to_bits() >> 16 } else { f16(number) }
}

/// Runs the kernel of a module.
fn run(text: &str, product: &HalfProduct) -> Vec<f32> {
    let module = Module::parse(text).unwrap();
    let mut memory = Memory::new(1 << 20);
    let mut upload = |words: Vec<u32>| {
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let address = memory.allocate(bytes.len() as u64).unwrap();
        memory.write(address, &bytes).unwrap();
        address
    };
    let out = upload(vec![0; ROWS * COLUMNS]);
    let inputs =
        (0..ROWS).flat_map(|row| (0..DEPTH).map(move |k| (input(row, k) as f32).to_bits()));
    let inputs = upload(inputs.collect());
    let bits = |k, column| half(product.kernel, weight(k, column));
    let pair = |k, column| bits(k, column) | bits(k + 1, column) << 16;
    let pairs = (0..DEPTH).step_by(2).flat_map(|k| (0..COLUMNS).map(move |column| pair(k, column)));
    let pairs = upload(pairs.collect());
    let (bias, residual) = (0, 0);
    let addresses: [u64; 5] = [out, inputs, pairs, bias, residual];
    let strides = [DEPTH, COLUMNS, 0, COLUMNS];
    let shape = [ROWS, DEPTH, COLUMNS].into_iter().chain(strides).chain([0]);
    let mut parameters: Vec<u8> = addresses.into_iter().flat_map(u64::to_le_bytes).collect();
    parameters.extend(shape.flat_map(|number| (number as u32).to_le_bytes()));
    let grid = Grid { threads: [product.threads, 1, 1], seed: 3, ..Grid::default() };
    module.kernel(product.kernel).unwrap().run(&grid, &parameters, &mut memory).unwrap();
    let bytes = memory.read(out, 4 * ROWS * COLUMNS).unwrap();
    bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn expected() -> Vec<f32> {
    let sum = |row: usize, column: usize| -> i32 {
        (0..DEPTH).map(|k| input(row, k) * weight(k, column)).sum()
    };
    (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| sum(row, column) as f32)).collect()
}

/// Exchanges the first two registers of the left matrix of an instruction.
fn with_exchanged_registers(instruction: &str) -> String {
    let parts: Vec<&str> = instruction.split('{').collect();
    let (left, rest) = parts[2].split_once('}').expect("registers in braces");
    let mut registers: Vec<&str> = left.split(',').map(str::trim).collect();
    registers.swap(0, 1);
    let left = format!("{}}}{rest}", registers.join(", "));
    [parts[0], parts[1], &left, parts[3], parts[4]].join("{")
}

#[test]
fn exchanged_registers_change_the_product() {
    let archive = PtxArchive::unpack(PTX_ARCHIVE);
    for product in &PRODUCTS {
        let HalfProduct { module, kernel, instructions, .. } = *product;
        let text = archive.module(module);
        assert_eq!(run(text, product), expected(), "{module}, {kernel}");
        let begin = text.find(&format!(".entry {kernel}(")).expect("the kernel");
        let end = begin + text[begin + 1..].find(".entry ").unwrap_or(text.len() - begin - 1);
        let places: Vec<usize> =
            text[begin..end].match_indices("mma.sync").map(|(place, _)| begin + place).collect();
        assert_eq!(places.len(), instructions, "{module}, {kernel}");
        for place in places {
            let length = text[place..].find(';').expect("the end of the instruction");
            let mutated = with_exchanged_registers(&text[place..place + length]);
            let mutated = [&text[..place], &mutated, &text[place + length..]].concat();
            assert_ne!(run(&mutated, product), expected(), "{module}, {kernel}");
        }
    }
}
