//! Speed of GEMM with packed weights, and its share of the peak.
//!
//! The peak is the rate of the multiplication instructions alone, on registers. It is measured in
//! turn with each GEMM, because the speed of a machine drifts. An operation is a multiplication or
//! an addition. Weights stay in the caches between calls, as far as they fit, as in decoding. Times
//! are CPU times of the thread, and the best of many time slices counts.
//!
//! Run with `cargo bench -p miriam-kernels --bench gemm`. Arguments after `--` select measurements
//! by the beginnings of the words of their names: `i8 6x512`, for instance, or `f32`. `--seconds`
//! sets the CPU seconds of each measurement. If the CPU has tile units, the i8 GEMM on tile units
//! is also compared with the one on vectors; `i8-tiles 32x512` selects from these measurements.

use std::hint::black_box;
use std::io::Write;

use miriam_kernels::gemm::{
    Epilogue, PreparedI8, PreparedI16, Tiling, gemm_f32, gemm_i8, gemm_i16,
};
use miriam_kernels::pack::{UnpackedWeights, WeightsF32, WeightsI8, WeightsI16};
use miriam_kernels::quantize::{QuantizedI8, quantize_i16};
use miriam_kernels::{Cpu, MatMut, MatRef};
use rates::{measure, numbers};

mod rates;

/// Numbers of rows in a step of decoding: one sentence, beams of 5 and 6, batches of 20 and 32
/// sentences, and 32 beams of 5.
const ROWS: [usize; 6] = [1, 5, 6, 20, 32, 160];

/// Depth and columns of the feed-forward and output layers, of a tiny transformer and of a base
/// transformer.
const SHAPES: [(usize, usize); 6] =
    [(256, 1536), (1536, 256), (256, 32_000), (512, 2048), (2048, 512), (512, 32_000)];

/// The numbers that a GEMM multiplies.
#[derive(Clone, Copy, PartialEq)]
enum GemmKind {
    I8,
    /// i8, without negative numbers in the rows.
    I8AfterRelu,
    I16,
    F32,
}

impl GemmKind {
    const ALL: [GemmKind; 4] = [GemmKind::I8, GemmKind::I8AfterRelu, GemmKind::I16, GemmKind::F32];

    fn name(self) -> &'static str {
        match self {
            GemmKind::I8 => "i8",
            GemmKind::I8AfterRelu => "i8-relu",
            GemmKind::I16 => "i16",
            GemmKind::F32 => "f32",
        }
    }
}

/// Returns the rate of a GEMM of this kind and shape, and the rate of the peak, or 0 if there is no
/// peak.
fn bench_gemm(
    cpu: Cpu,
    kind: GemmKind,
    [rows, depth, columns]: [usize; 3],
    for_seconds: f64,
    peak: Option<&Peak>,
) -> [f64; 2] {
    let tiling = Tiling::default_for(cpu);
    let (a, b) = (numbers(rows * depth), numbers(depth * columns));
    let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&b, depth, columns));
    let mut out = vec![0.0; rows * columns];
    let (mut bytes, mut shorts) = (PreparedI8::default(), PreparedI16::default());
    let scales = vec![1.0; rows];
    let operations = 2.0 * (rows * depth * columns) as f64;
    let mut measure = |work: &mut dyn FnMut(MatMut<f32>)| {
        let operations = [operations, peak.map_or(0.0, |peak| peak.operations)];
        let mut peak = peak.map(|peak| || (peak.work)());
        let peak = peak.as_mut().map(|peak| peak as &mut dyn FnMut());
        let work = &mut || work(MatMut::new(black_box(&mut out), rows, columns));
        measure(for_seconds, operations, work, peak)
    };
    let epilogue = Epilogue::default;
    match kind {
        GemmKind::I8 | GemmKind::I8AfterRelu => {
            let least = if kind == GemmKind::I8 { -127.0 } else { 0.0 };
            let weights = WeightsI8::quantize(source).expect("fits");
            let values: Vec<i8> = a.iter().map(|x| (x * 127.0).max(least) as i8).collect();
            let values = QuantizedI8 { values: MatRef::new(&values, rows, depth), scales: &scales };
            measure(&mut |out| {
                bytes.prepare(cpu, tiling, values);
                gemm_i8(&bytes, weights.view(), epilogue(), out);
            })
        }
        GemmKind::I16 => {
            let weights = WeightsI16::quantize(source).expect("fits");
            let (mut values, mut scales) = (vec![0; rows * depth], vec![0.0; rows]);
            let into = MatMut::new(&mut values, rows, depth);
            let values =
                quantize_i16(cpu, MatRef::new(&a, rows, depth), &weights.view(), into, &mut scales);
            measure(&mut |out| {
                shorts.prepare(cpu, tiling, values);
                gemm_i16(&shorts, weights.view(), epilogue(), out);
            })
        }
        GemmKind::F32 => {
            let weights = WeightsF32::pack(source).expect("fits");
            let values = MatRef::new(&a, rows, depth);
            measure(&mut |out| {
                gemm_f32(cpu, tiling, values, weights.view(), epilogue(), out);
            })
        }
    }
}

/// Returns the rates of an i8 GEMM of this shape with vectors and with tile units.
fn compare_tiles(cpu: Cpu, [rows, depth, columns]: [usize; 3], for_seconds: f64) -> [f64; 2] {
    let (a, b) = (numbers(rows * depth), numbers(depth * columns));
    let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&b, depth, columns));
    let weights = WeightsI8::quantize(source).expect("fits");
    let values: Vec<i8> = a.iter().map(|x| (x * 127.0) as i8).collect();
    let scales = vec![1.0; rows];
    let bias = numbers(columns);
    let values = QuantizedI8 { values: MatRef::new(&values, rows, depth), scales: &scales };
    let multiply = |tiling: Tiling, prepared: &mut PreparedI8, out: &mut [f32]| {
        prepared.prepare(cpu, tiling, values);
        let epilogue = Epilogue { bias: Some(&bias), ..Epilogue::default() };
        let out = MatMut::new(black_box(out), rows, columns);
        gemm_i8(prepared, weights.view(), epilogue, out);
    };
    let mut prepared = [PreparedI8::default(), PreparedI8::default()];
    let mut results = [vec![0.0; rows * columns], vec![0.0; rows * columns]];
    let operations = 2.0 * (rows * depth * columns) as f64;
    let ([vectors, tiles], [in_vectors, in_tiles]) = (&mut prepared, &mut results);
    let rates = measure(
        for_seconds,
        [operations; 2],
        &mut || multiply(Tiling::default_for(cpu), vectors, in_vectors),
        // From eight rows on, the default uses tile units.
        Some(&mut || multiply(Tiling::default_i8(cpu, 8), tiles, in_tiles)),
    );
    assert!(results[0] == results[1], "{rows}x{depth}x{columns}: results differ");
    rates
}

/// Loops of multiplication instructions on registers.
#[cfg(target_arch = "x86_64")]
mod peak {
    use std::arch::asm;
    use std::arch::x86_64::*;

    const ROUNDS: usize = 10_000;
    /// The number of sums in registers: enough for no instruction to wait for another's result.
    const SUMS: usize = 10;

    /// Returns the number of operations in a call of a loop below, at `lanes` products per
    /// instruction.
    pub fn operations(lanes: usize) -> u64 {
        (2 * lanes * SUMS * ROUNDS) as u64
    }

    /// Defines a function that adds products to sums in a loop. The compiler cannot move the
    /// products out of the loop, because empty assembly pretends to change an operand.
    macro_rules! peak {
        ($name:ident, $features:literal, $register:ident, $zero:ident, $set:expr,
         |$sum:ident, $a:ident, $b:ident, $one:ident| $step:expr) => {
            #[target_feature(enable = $features)]
            pub fn $name() {
                let ($one, $b, mut sums) = ($set(1), $set(3), [$zero(); SUMS]);
                for _ in 0..ROUNDS {
                    for $sum in &mut sums {
                        let mut $a = $b;
                        // SAFETY: no instruction; the compiler just assumes that a register
                        // changes.
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
        avx512_f32,
        "avx512f",
        zmm_reg,
        _mm512_setzero_ps,
        |x: i16| _mm512_set1_ps(f32::from(x) * 0.25),
        |sum, a, b, _one| _mm512_fmadd_ps(a, b, *sum)
    );
    peak!(
        vnni_i16,
        "avx512f,avx512vnni",
        zmm_reg,
        _mm512_setzero_si512,
        |x: i16| _mm512_set1_epi32(i32::from(x)),
        |sum, a, b, _one| _mm512_dpwssd_epi32(*sum, a, b)
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

/// A loop of multiplication instructions.
struct Peak {
    /// The number of operations in a call of `work`.
    operations: f64,
    work: fn(),
}

/// Returns a loop of the instructions with which the kernels of `cpu` multiply, if there is one
/// above.
#[cfg(target_arch = "x86_64")]
fn peak_of(cpu: Cpu, kind: GemmKind) -> Option<Peak> {
    // The name of the instruction set says which instructions this CPU has.
    let (lanes, work): (usize, fn()) = match (cpu.name(), kind) {
        // SAFETY: an instruction set of that name exists only where the CPU has AVX2 and FMA.
        ("avx2", GemmKind::I8 | GemmKind::I8AfterRelu) => (32, || unsafe { peak::avx2_i8() }),
        // SAFETY: as above.
        ("avx2", GemmKind::I16) => (16, || unsafe { peak::avx2_i16() }),
        // SAFETY: as above.
        ("avx2", GemmKind::F32) => (8, || unsafe { peak::avx2_f32() }),
        ("avx512-vnni" | "avx512-amx", GemmKind::I8 | GemmKind::I8AfterRelu) => {
            // SAFETY: an instruction set of that name exists only where the CPU has AVX-512 VNNI.
            (64, || unsafe { peak::vnni_i8() })
        }
        // SAFETY: as above.
        ("avx512-vnni" | "avx512-amx", GemmKind::I16) => (32, || unsafe { peak::vnni_i16() }),
        ("avx512" | "avx512-vnni" | "avx512-amx", GemmKind::F32) => {
            // SAFETY: instruction sets of these names exist only where the CPU has AVX-512 F.
            (16, || unsafe { peak::avx512_f32() })
        }
        _ => return None,
    };
    Some(Peak { operations: peak::operations(lanes) as f64, work })
}

#[cfg(not(target_arch = "x86_64"))]
fn peak_of(_: Cpu, _: GemmKind) -> Option<Peak> {
    None
}

/// The arguments of the command line.
struct Arguments {
    seconds: f64,
    prefixes: Vec<String>,
}

impl Arguments {
    fn parse() -> Self {
        let mut parsed = Arguments { seconds: 0.3, prefixes: Vec::new() };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match &argument[..] {
                // Cargo passes this.
                "--bench" => {}
                "--seconds" => {
                    let value = arguments.next().and_then(|text| text.parse().ok());
                    parsed.seconds = value.expect("--seconds takes a number");
                }
                _ => parsed.prefixes.push(argument),
            }
        }
        parsed
    }

    /// Whether each prefix is the beginning of a word of `name`, the name of a measurement.
    fn selects(&self, name: &str) -> bool {
        let begins = |with: &String| name.split(' ').any(|word| word.starts_with(&with[..]));
        self.prefixes.iter().all(begins)
    }
}

fn main() {
    let arguments = Arguments::parse();
    let cpu = Cpu::detect();
    let mut out = std::io::stdout().lock();
    let mut say = |line: &str| {
        let _ = writeln!(out, "{line}");
        let _ = out.flush();
    };
    say(&format!("instructions: {}; rates in 10^9 operations a second", Cpu::describe_detected()));
    say("kind    rows x depth x columns       rate      peak   share");
    let mut tables = Vec::new();
    for kind in GemmKind::ALL {
        let peak = peak_of(cpu, kind);
        let mut table = Vec::new();
        let mut peak_rates: Vec<f64> = Vec::new();
        for rows in ROWS {
            let mut cells = Vec::new();
            for (depth, columns) in SHAPES {
                let shape = format!("{rows}x{depth}x{columns}");
                if !arguments.selects(&format!("{} {shape}", kind.name())) {
                    cells.push("-".to_owned());
                    continue;
                }
                let [rate, peak_rate] =
                    bench_gemm(cpu, kind, [rows, depth, columns], arguments.seconds, peak.as_ref());
                let share = if peak_rate > 0.0 {
                    format!("{:.0} %", 100.0 * rate / peak_rate)
                } else {
                    "?".into()
                };
                say(&format!(
                    "{:<7} {shape:<24} {rate:>8.1} {peak_rate:>9.1} {share:>7}",
                    kind.name()
                ));
                cells.push(format!("{rate:.0} ({share})"));
                peak_rates.push(peak_rate);
            }
            table.push((rows, cells));
        }
        let best_peak = peak_rates.into_iter().fold(0.0, f64::max);
        tables.push((kind, best_peak, table));
    }
    for (kind, best_peak, table) in tables {
        if table.iter().all(|(_, cells)| cells.iter().all(|cell| cell == "-")) {
            continue;
        }
        let shapes = SHAPES.map(|(depth, columns)| format!("{depth} x {columns}"));
        say(&format!("\n| {}, peak {best_peak:.0} | {} |", kind.name(), shapes.join(" | ")));
        say(&format!("|---|{}", "---|".repeat(SHAPES.len())));
        for (rows, cells) in table {
            say(&format!("| {rows} | {} |", cells.join(" | ")));
        }
    }
    if cpu.name() != "avx512-amx" {
        return say("\ni8 with tile units: not measured, the CPU has none or they are not used");
    }
    say("\ni8, rows x depth x columns    vectors     tiles   ratio");
    for rows in [4, 6, 8, 16, 24, 32, 64, 160] {
        for (depth, columns) in SHAPES {
            let shape = format!("{rows}x{depth}x{columns}");
            if arguments.selects(&format!("i8-tiles {shape}")) {
                let [vectors, tiles] =
                    compare_tiles(cpu, [rows, depth, columns], arguments.seconds);
                let ratio = tiles / vectors;
                say(&format!("{shape:<27} {vectors:>9.1} {tiles:>9.1} {ratio:>7.2}"));
            }
        }
    }
}
