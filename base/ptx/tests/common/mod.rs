//! Runs of kernels over buffers, for tests.

use miriam_ptx::{Fault, Grid, Memory, Module};

/// Runs `kernel` on `grid` over `buffers`, whose addresses are its parameters, and returns the
/// buffers. `None` in a buffer is a word that is not written yet.
pub fn run_module(
    text: &str,
    kernel: &str,
    grid: Grid,
    buffers: &[Vec<Option<u32>>],
) -> Result<Vec<Vec<u32>>, Fault> {
    let module = Module::parse(text)?;
    let mut memory = Memory::new(1 << 24);
    let (mut addresses, mut parameters) = (Vec::new(), Vec::new());
    for buffer in buffers {
        let address = memory.allocate(4 * buffer.len() as u64)?;
        for (place, word) in buffer.iter().enumerate() {
            if let Some(word) = word {
                memory.write(address + 4 * place as u64, &word.to_le_bytes())?;
            }
        }
        parameters.extend_from_slice(&address.to_le_bytes());
        addresses.push((address, buffer.len()));
    }
    let grid = Grid { max_steps: 10_000_000, ..grid };
    module.kernel(kernel).expect("the kernel is there").run(&grid, &parameters, &mut memory)?;
    let words = |&(address, length): &(u64, usize)| -> Result<Vec<u32>, Fault> {
        let bytes = memory.read(address, 4 * length)?;
        Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect())
    };
    addresses.iter().map(words).collect()
}

/// Runs `body` on `grid` as a kernel `k` with the parameters `x` and `y`: `x` holds `input`, and
/// `words` words of `y` are returned. `%rd3` and `%rd4` are the addresses of `x` and `y`. `%rd1`
/// and `%rd2` are the addresses of the thread's word in each of them. `%r1` is the index of the
/// thread. `outside` holds the declarations of the module outside of the kernel.
#[allow(dead_code, reason = "not all tests use it")]
pub fn run_body(
    outside: &str,
    body: &str,
    grid: Grid,
    input: &[u32],
    words: usize,
) -> Result<Vec<u32>, Fault> {
    let text = format!(
        ".version 8.4\n.target sm_80\n.address_size 64\n{outside}\n\
         .visible .entry k(.param .u64 x, .param .u64 y) {{\n\
         .reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %rd<20>;\n\
         ld.param.u64 %rd3, [x]; ld.param.u64 %rd4, [y]; mov.u32 %r1, %tid.x;\n\
         mad.wide.u32 %rd1, %r1, 4, %rd3; mad.wide.u32 %rd2, %r1, 4, %rd4;\n{body}\nret;\n}}"
    );
    let buffers = [input.iter().copied().map(Some).collect(), vec![None; words]];
    let found = run_module(&text, "k", grid, &buffers)?;
    Ok(found.into_iter().nth(1).expect("there are two buffers"))
}

/// Returns a grid of one block with `threads` threads.
#[allow(dead_code, reason = "not all tests use it")]
pub fn block(threads: u32) -> Grid {
    Grid { threads: [threads, 1, 1], seed: 1, ..Grid::default() }
}
