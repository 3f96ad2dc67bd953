//! Products beside the peak of the machine: what the multiplying instructions alone do
//! on registers. `cargo bench -p miriam-tensor --bench products`; elements a second are
//! operations (a multiplication and an addition are two).

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use miriam_tensor::pack::{Source, WeightsF32, WeightsI8, WeightsI16};
use miriam_tensor::product::{Epilogue, Scratch, Tiling, product_f32, product_i8, product_i16};
use miriam_tensor::quantise::{QuantisedI8, quantise_i16};
use miriam_tensor::{Cpu, Mat, MatMut};

/// Rows, depth, columns: those of the projections of small and base transformers, of an
/// output layer, and of Devlin's cells.
const SHAPES: [(usize, usize, usize); 13] = [
    (1, 256, 1536),
    (1, 512, 2048),
    (1, 512, 32_000),
    (2, 512, 2048),
    (5, 512, 2048),
    (6, 512, 2048),
    (5, 512, 32_000),
    (32, 512, 2048),
    (160, 512, 2048),
    (1, 512, 1536),
    (1, 1024, 3072),
    (6, 1024, 3072),
    (30, 1024, 3072),
];

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|at| ((at * 7919) % 2003) as f32 / 1001.0 - 1.0).collect()
}

fn products(criterion: &mut Criterion) {
    let cpu = Cpu::best();
    let tiling = Tiling::usual(cpu);
    for (rows, depth, columns) in SHAPES {
        let mut group = criterion.benchmark_group(format!("{rows}x{depth}x{columns}"));
        group.throughput(Throughput::Elements(2 * (rows * depth * columns) as u64));
        let (a, b) = (numbers(rows * depth), numbers(depth * columns));
        let source = Source::inputs_by_outputs(Mat::new(&b, depth, columns));
        let mut out = vec![0.0; rows * columns];
        let mut scratch = Scratch::default();

        let weights = WeightsI8::quantise(source).expect("fits");
        let scales = vec![1.0; rows];
        for (name, least) in [("i8", -127.0), ("i8 after ReLU", 0.0)] {
            let values: Vec<i8> = a.iter().map(|x| (x * 127.0).max(least) as i8).collect();
            let values = QuantisedI8 { values: Mat::new(&values, rows, depth), scales: &scales };
            group.bench_function(name, |bencher| {
                bencher.iter(|| {
                    let out = MatMut::new(&mut out, rows, columns);
                    let (values, epilogue) = (black_box(values), Epilogue::default());
                    product_i8(cpu, tiling, values, weights.view(), epilogue, out, &mut scratch);
                });
            });
        }

        let weights = WeightsI16::quantise(source).expect("fits");
        let (mut values, mut scales) = (vec![0; rows * depth], vec![0.0; rows]);
        let into = MatMut::new(&mut values, rows, depth);
        let values =
            quantise_i16(cpu, Mat::new(&a, rows, depth), &weights.view(), into, &mut scales);
        group.bench_function("i16", |bencher| {
            bencher.iter(|| {
                let out = MatMut::new(&mut out, rows, columns);
                let (values, epilogue) = (black_box(values), Epilogue::default());
                product_i16(cpu, tiling, values, weights.view(), epilogue, out, &mut scratch);
            });
        });

        let weights = WeightsF32::pack(source).expect("fits");
        let values = Mat::new(&a, rows, depth);
        group.bench_function("f32", |bencher| {
            bencher.iter(|| {
                let out = MatMut::new(&mut out, rows, columns);
                let (values, epilogue) = (black_box(values), Epilogue::default());
                product_f32(cpu, tiling, values, weights.view(), epilogue, out);
            });
        });
    }
}

/// The multiplying instructions on registers.
#[cfg(target_arch = "x86_64")]
mod peak {
    use std::arch::asm;
    use std::arch::x86_64::*;

    pub const ROUNDS: usize = 10_000;
    const SUMS: usize = 10;

    /// Operations of one call of each of the loops below, for `lanes` products an
    /// instruction.
    pub fn operations(lanes: usize) -> u64 {
        (2 * lanes * SUMS * ROUNDS) as u64
    }

    /// A loop over sums that the compiler cannot do before: an operand passes through
    /// assembly that may have changed it.
    macro_rules! peak {
        ($name:ident, $features:literal, $register:ident, $zero:ident, $set:expr,
         |$sum:ident, $a:ident, $b:ident, $one:ident| $step:expr) => {
            #[target_feature(enable = $features)]
            pub fn $name() {
                let ($one, $b, mut sums) = ($set(1), $set(3), [$zero(); SUMS]);
                for _ in 0..ROUNDS {
                    for $sum in &mut sums {
                        let mut $a = $b;
                        // SAFETY: an empty instruction that claims to change a register.
                        unsafe { asm!("/* {0} */", inout($register) $a, options(nomem, nostack)) };
                        *$sum = $step;
                    }
                }
                std::hint::black_box(sums);
            }
        };
    }

    peak!(avx2_i8, "avx2", ymm_reg, _mm256_setzero_si256, _mm256_set1_epi16, |sum, a, b, one| {
        _mm256_add_epi32(*sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), one))
    });
    peak!(avx2_i16, "avx2", ymm_reg, _mm256_setzero_si256, _mm256_set1_epi16, |sum, a, b, _one| {
        _mm256_add_epi32(*sum, _mm256_madd_epi16(a, b))
    });
    peak!(
        avx2_f32,
        "avx2,fma",
        ymm_reg,
        _mm256_setzero_ps,
        |x: i16| _mm256_set1_ps(f32::from(x) * 0.25),
        |sum, a, b, _one| _mm256_fmadd_ps(a, b, *sum)
    );
    peak!(
        vnni_i8,
        "avx512f,avx512vnni",
        zmm_reg,
        _mm512_setzero_si512,
        |x: i16| _mm512_set1_epi32(i32::from(x)),
        |sum, a, b, _one| _mm512_dpbusd_epi32(*sum, a, b)
    );
}

#[cfg(target_arch = "x86_64")]
fn peaks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("peak");
    let mut measure = |name: &str, lanes, body: fn()| {
        group.throughput(Throughput::Elements(peak::operations(lanes)));
        group.bench_function(name, |bencher| bencher.iter(body));
    };
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the CPU has AVX2 and FMA, as was just asked.
        measure("i8, AVX2 (exact for half of the range)", 32, || unsafe { peak::avx2_i8() });
        // SAFETY: as above.
        measure("i16, AVX2", 16, || unsafe { peak::avx2_i16() });
        // SAFETY: as above.
        measure("f32, AVX2", 8, || unsafe { peak::avx2_f32() });
    }
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni") {
        // SAFETY: the CPU has AVX-512 F and VNNI, as was just asked.
        measure("i8, VNNI", 64, || unsafe { peak::vnni_i8() });
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn peaks(_: &mut Criterion) {}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_millis(800))
        .sample_size(20);
    targets = peaks, products
}
criterion_main!(benches);
