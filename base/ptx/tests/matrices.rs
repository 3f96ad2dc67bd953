//! Matrix products, compared with plain loops, and injected faults.

mod common;

use common::{block, run_body};
use miriam_ptx::{Fault, Grid};

const ROWS: usize = 16;
const COLUMNS: usize = 8;

/// Returns the bits of `x` as an `f16`. It must be zero, or exact and normal in `f16`.
fn f16(x: f32) -> u32 {
    let bits = x.to_bits();
    let magnitude =
        if x == 0.0 { 0 } else { ((bits >> 23 & 0xFF) - 112) << 10 | bits >> 13 & 0x3FF };
    bits >> 16 & 0x8000 | magnitude
}

fn bf16(x: f32) -> u32 {
    x.to_bits() >> 16
}

/// Returns a register with two elements of 16 bits.
fn pair(low: u32, high: u32) -> u32 {
    low | high << 16
}

/// A left matrix by rows, a right one by columns, and the matrix that is added to their product.
/// All elements are small multiples of 1/8, so that sums are exact in any order.
struct Matrices {
    depth: usize,
    left: Vec<f32>,
    right: Vec<f32>,
    added: Vec<f32>,
}

impl Matrices {
    fn new(depth: usize) -> Self {
        let numbers = |count: usize, step: usize| -> Vec<f32> {
            (0..count).map(|i| ((i * step + 3) % 29) as f32 / 8.0 - 1.5).collect()
        };
        let (left, right) = (numbers(ROWS * depth, 7), numbers(COLUMNS * depth, 11));
        Matrices { depth, left, right, added: numbers(ROWS * COLUMNS, 5) }
    }

    /// Computes the product by plain loops.
    fn product(&self) -> Vec<f32> {
        let mut sums = self.added.clone();
        for row in 0..ROWS {
            for column in 0..COLUMNS {
                for k in 0..self.depth {
                    let product =
                        self.left[row * self.depth + k] * self.right[column * self.depth + k];
                    sums[row * COLUMNS + column] += product;
                }
            }
        }
        sums
    }

    /// Returns the words of the three matrices, one matrix after another.
    fn words(&self, encode: fn(f32) -> u32) -> Vec<u32> {
        let factors = [&self.left[..], &self.right].concat();
        let pairs = factors.chunks_exact(2).map(|two| pair(encode(two[0]), encode(two[1])));
        pairs.chain(self.added.iter().map(|x| x.to_bits())).collect()
    }
}

/// Returns a kernel that loads the fragments from the words of [`Matrices`], multiplies and stores
/// the product. `left_order` has the number of the register of each block of the left matrix.
fn kernel(depth: usize, ty: &str, left_order: &[usize]) -> String {
    let (num_left, num_right) = (depth / 4, depth / 8);
    let row_bytes = 2 * depth;
    let mut body = format!(
        "shr.u32 %r2, %r1, 2; and.b32 %r3, %r1, 3;\n\
         mad.lo.u32 %r4, %r2, {row_bytes}, 0; mad.lo.u32 %r4, %r3, 4, %r4; cvt.u64.u32 %rd5, %r4;\n\
         add.u64 %rd6, %rd3, %rd5;\n\
         mul.lo.u32 %r5, %r2, 32; mad.lo.u32 %r5, %r3, 8, %r5; cvt.u64.u32 %rd7, %r5;\n\
         add.u64 %rd8, %rd4, %rd7; add.u64 %rd9, %rd3, %rd7;\n"
    );
    for (part, register) in left_order.iter().enumerate() {
        let offset = (part % 2) * 8 * row_bytes + part / 2 * 16;
        body += &format!("ld.global.u32 %r{}, [%rd6+{offset}];\n", 10 + register);
    }
    for part in 0..num_right {
        let offset = ROWS * row_bytes + 16 * part;
        body += &format!("ld.global.u32 %r{}, [%rd6+{offset}];\n", 20 + part);
    }
    let added = (ROWS + COLUMNS) * row_bytes;
    body += &format!("ld.global.v2.f32 {{%f1, %f2}}, [%rd9+{added}];\n");
    body += &format!("ld.global.v2.f32 {{%f3, %f4}}, [%rd9+{}];\n", added + 256);
    let list = |first: usize, count: usize| -> String {
        (first..first + count).map(|i| format!("%r{i}")).collect::<Vec<_>>().join(",")
    };
    body += &format!(
        "mma.sync.aligned.m16n8k{depth}.row.col.f32.{ty}.{ty}.f32 {{%f5,%f6,%f7,%f8}},{{{}}},{{{}}},\
         {{%f1,%f2,%f3,%f4}};\n\
         st.global.v2.f32 [%rd8], {{%f5, %f6}}; st.global.v2.f32 [%rd8+256], {{%f7, %f8}};",
        list(10, num_left),
        list(20, num_right),
    );
    body
}

fn multiply(body: &str, matrices: &Matrices, encode: fn(f32) -> u32) -> Result<Vec<f32>, Fault> {
    let found = run_body("", body, block(32), &matrices.words(encode), ROWS * COLUMNS)?;
    Ok(found.into_iter().map(f32::from_bits).collect())
}

#[test]
fn products_are_those_of_plain_loops() {
    let shallow = Matrices::new(8);
    assert_eq!(multiply(&kernel(8, "f16", &[0, 1]), &shallow, f16).unwrap(), shallow.product());
    assert_eq!(multiply(&kernel(8, "bf16", &[0, 1]), &shallow, bf16).unwrap(), shallow.product());
    let deep = Matrices::new(16);
    let body = |ty| kernel(16, ty, &[0, 1, 2, 3]);
    assert_eq!(multiply(&body("f16"), &deep, f16).unwrap(), deep.product());
    assert_eq!(multiply(&body("bf16"), &deep, bf16).unwrap(), deep.product());
}

#[test]
fn a_wrong_fragment_gives_another_product() {
    let deep = Matrices::new(16);
    // The upper right and the lower left block of the left matrix are swapped.
    let found = multiply(&kernel(16, "f16", &[0, 2, 1, 3]), &deep, f16).unwrap();
    assert_ne!(found, deep.product());
    let shallow = Matrices::new(8);
    let found = multiply(&kernel(8, "f16", &[1, 0]), &shallow, f16).unwrap();
    assert_ne!(found, shallow.product());
}

#[test]
fn sums_are_rounded_in_ascending_depth() {
    // 2^24 + 1 + 1 + ...: in this order rounding loses every 1; another order would keep some.
    let mut matrices = Matrices::new(16);
    matrices.left.fill(1.0);
    matrices.right.fill(1.0);
    matrices.added.fill(16_777_216.0);
    let found = multiply(&kernel(16, "f16", &[0, 1, 2, 3]), &matrices, f16).unwrap();
    assert_eq!(found, [16_777_216.0; ROWS * COLUMNS]);
}

#[test]
fn lanes_that_miss_a_product_are_found() {
    let matrices = Matrices::new(8);
    let body = kernel(8, "f16", &[0, 1]);
    let words = matrices.words(f16);
    let ended = body.replace("mma.", "setp.eq.u32 %p1, %r1, 5; @%p1 ret; mma.");
    let fault = run_body("", &ended, block(32), &words, 128).unwrap_err().to_string();
    assert!(fault.contains("an exchange with lane 5, which has ended"), "{fault}");
    let few = run_body("", &body, block(24), &words, 128).unwrap_err().to_string();
    assert!(few.contains("a matrix in a warp with 24 lanes"), "{few}");
    let apart = body.replace("mma.", "setp.lt.u32 %p1, %r1, 9; @%p1 bra $END; mma.")
        + "\n$END: bar.sync 0;";
    let fault = run_body("", &apart, block(32), &words, 128).unwrap_err().to_string();
    assert!(fault.contains("wait at other instructions"), "{fault}");
}

/// Copies both matrices to shared memory: the left one as 16 rows of 32 bytes, the right one as 16
/// rows of 16 bytes, one row for each step of the depth. Multiplies the matrices after `ldmatrix`.
/// `%s` is a placeholder for the modifier of the load of the right matrix.
const LOADED: &str = ".shared .align 16 .b8 left[512]; .shared .align 16 .b8 right[256];\n\
    mul.lo.u32 %r2, %r1, 16; cvt.u64.u32 %rd5, %r2; add.u64 %rd6, %rd3, %rd5;\n\
    ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd6]; mov.u32 %r7, left; add.u32 %r8, %r7, %r2;\n\
    st.shared.v4.u32 [%r8], {%r3, %r4, %r5, %r6};\n\
    setp.lt.u32 %p1, %r1, 16; mov.u32 %r9, right; add.u32 %r8, %r9, %r2;\n\
    @%p1 ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd6+512];\n\
    @%p1 st.shared.v4.u32 [%r8], {%r3, %r4, %r5, %r6};\n\
    bar.warp.sync -1;\n\
    and.b32 %r3, %r1, 15; shr.u32 %r4, %r1, 4; mad.lo.u32 %r5, %r3, 32, %r7;\n\
    mad.lo.u32 %r5, %r4, 16, %r5; mad.lo.u32 %r6, %r3, 16, %r9;\n\
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r5];\n\
    ldmatrix.sync.aligned.m8n8.x2%s.shared.b16 {%r20, %r21}, [%r6];\n\
    mov.f32 %f1, 0f00000000;\n\
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f5,%f6,%f7,%f8},{%r10,%r11,%r12,%r13},\
    {%r20,%r21},{%f1,%f1,%f1,%f1};\n\
    shr.u32 %r2, %r1, 2; and.b32 %r3, %r1, 3; mul.lo.u32 %r5, %r2, 32; mad.lo.u32 %r5, %r3, 8, %r5;\n\
    cvt.u64.u32 %rd7, %r5; add.u64 %rd8, %rd4, %rd7;\n\
    st.global.v2.f32 [%rd8], {%f5, %f6}; st.global.v2.f32 [%rd8+256], {%f7, %f8};";

#[test]
fn matrices_are_loaded_and_transposed() {
    let mut matrices = Matrices::new(16);
    matrices.added.fill(0.0);
    let expected: Vec<u32> = matrices.product().iter().map(|x| x.to_bits()).collect();
    // The right matrix by rows.
    let by_rows: Vec<f32> =
        (0..16 * COLUMNS).map(|i| matrices.right[i % COLUMNS * 16 + i / COLUMNS]).collect();
    let input = Matrices { right: by_rows, ..matrices }.words(f16);
    let run = |body: &str| run_body("", body, block(32), &input, ROWS * COLUMNS);
    assert_eq!(run(&LOADED.replace("%s", ".trans")).unwrap(), expected);
    // Without transposition, the product is different.
    assert_ne!(run(&LOADED.replace("%s", "")).unwrap(), expected);
    let past = LOADED.replace("%s", ".trans").replace("[%r6]", "[%r6+16]");
    let fault = run(&past).unwrap_err().to_string();
    assert!(fault.contains("a read of 16 bytes at") && fault.contains("lane 15"), "{fault}");
}

#[test]
fn single_matrices_lie_as_the_manual_draws_them() {
    // The element in row `r` and column `c` is `8 r + c`. Lane `l` gets two elements: row `l / 4`,
    // columns from `2 (l % 4)` on.
    let body = ".shared .align 16 .b8 tile[128]; mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 4, %r2;\n\
                ld.global.u32 %r4, [%rd1]; st.shared.u32 [%r3], %r4; bar.warp.sync -1;\n\
                and.b32 %r5, %r1, 7; mad.lo.u32 %r6, %r5, 16, %r2; cvt.u64.u32 %rd5, %r6;\n\
                ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%rd5]; st.global.u32 [%rd2], %r7;";
    let input: Vec<u32> = (0..32).map(|i| pair(2 * i, 2 * i + 1)).collect();
    assert_eq!(run_body("", body, block(32), &input, 32).unwrap(), input);
    let transposed = body.replace("x1.shared", "x1.trans.shared");
    let expected: Vec<u32> =
        (0..32).map(|l| pair(l % 4 * 16 + l / 4, l % 4 * 16 + 8 + l / 4)).collect();
    let grid = Grid { seed: 4, ..block(32) };
    assert_eq!(run_body("", &transposed, grid, &input, 32).unwrap(), expected);
}
