//! `build_binary`: packs ARPA text into KenLM's probing and trie files.
//!
//! As with getopt, the word after an option with a value is always its value: in `-T -s`, `-s` is
//! the prefix of temporary files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Parser;
use miriam_lmcpu::kenlm::{
    KenlmProbingOptions, KenlmTrieOptions, SizeOptions, build_kenlm_rest_probing, build_kenlm_trie,
    kenlm_sizes,
};
use miriam_lmcpu::trie::QuantizationBits;
use miriam_lmcpu::{ArpaOptions, MissingMarkerPolicy, PositivePolicy, read_keeping_first};
use miriam_textio::Input;

use crate::common::CommonOptions;
use crate::memory_size::parse_sort_size;

/// Packs ARPA text into KenLM's binary formats, as KenLM's build_binary does
#[derive(Parser)]
#[command(
    name = "build_binary",
    arg_required_else_help = true,
    disable_version_flag = true,
    args_override_self = true
)]
struct Arguments {
    /// log10 probability of <unk> if the ARPA file has none
    #[arg(short = 'u', allow_hyphen_values = true)]
    unknown: Option<f32>,
    /// Slots of a probing table for each entry, more than 1
    #[arg(short = 'p', allow_hyphen_values = true)]
    multiplier: Option<f32>,
    /// Accepted without effect: how the file is written
    #[arg(short = 'w', allow_hyphen_values = true, value_parser = ["mmap", "after"])]
    write_method: Option<String>,
    /// Accepted without effect: there are no temporary files
    #[arg(short = 'T', visible_short_alias = 't', allow_hyphen_values = true)]
    temporary: Option<PathBuf>,
    /// Accepted without effect: the file is built in memory
    #[arg(short = 'S', allow_hyphen_values = true, value_parser = parse_sort_size)]
    memory: Option<u64>,
    /// Accepted without effect, as -S in MiB
    #[arg(short = 'm', allow_hyphen_values = true)]
    mebibytes: Option<u64>,
    /// Score <s> and </s> as <unk> if the ARPA file does not have them
    #[arg(short = 's')]
    allow_missing_markers: bool,
    /// Read positive log probabilities, which IRSTLM writes, as 0
    #[arg(short = 'i')]
    allow_positive: bool,
    /// Omit the words from the file; such a model can score words but not list them
    #[arg(short = 'v')]
    without_words: bool,
    /// Rest costs of a probing file, from models of orders 1, 2 and so on, separated by blanks; the
    /// first is an ARPA file
    #[arg(short = 'r', allow_hyphen_values = true)]
    rest: Option<String>,
    /// Bits per probability in a quantised trie, 1 to 25
    #[arg(short = 'q', allow_hyphen_values = true)]
    prob_bits: Option<u32>,
    /// Bits per backoff in a quantised trie [default: those of -q]
    #[arg(short = 'b', allow_hyphen_values = true, requires = "prob_bits")]
    backoff_bits: Option<u32>,
    /// Compress the pointers of a trie: at most this number of their high bits is kept in an array
    #[arg(short = 'a', allow_hyphen_values = true)]
    pointer_bits: Option<u64>,
    /// [probing|trie] input.arpa output
    #[arg(num_args = 1..=3, required = true)]
    files: Vec<PathBuf>,
}

pub fn run(arguments: Vec<OsString>, common: &CommonOptions) -> anyhow::Result<()> {
    let arguments: Arguments = super::parse(arguments);
    let outcome = match &arguments.files[..] {
        [arpa] => {
            let outcome = print_sizes(arpa, &arguments, common);
            if outcome.is_ok() {
                return outcome;
            }
            outcome
        }
        _ => build(arguments, common),
    };
    crate::console::print_error(if outcome.is_ok() { "SUCCESS\n" } else { "ERROR\n" });
    outcome
}

fn build(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    // These only affect the use of memory and files.
    let _ = (&arguments.write_method, &arguments.temporary);
    let _ = (arguments.memory, arguments.mebibytes);
    let (is_trie, arpa, output) = match &arguments.files[..] {
        [kind, arpa] if matches!(kind.to_str(), Some("probing" | "trie")) && !kind.exists() => {
            bail!("{}: name the file to write after it", arpa.display())
        }
        [arpa, output] => (false, arpa, output),
        [kind, arpa, output] if kind.as_os_str() == "probing" => (false, arpa, output),
        [kind, arpa, output] if kind.as_os_str() == "trie" => (true, arpa, output),
        [kind, ..] if arguments.files.len() == 3 => {
            bail!("type {}: expected probing or trie", kind.display())
        }
        _ => bail!("name the file to write after the ARPA file"),
    };
    if !is_trie && (arguments.prob_bits.is_some() || arguments.pointer_bits.is_some()) {
        bail!("-q, -b and -a are for tries: write trie before the ARPA file");
    }
    if is_trie && arguments.multiplier.is_some() {
        bail!("-p is for probing files; omit it");
    }
    if is_trie && arguments.rest.is_some() {
        bail!("-r is for probing files; omit it");
    }
    let rest: Vec<PathBuf> =
        arguments.rest.iter().flat_map(|files| files.split(' ').map(PathBuf::from)).collect();
    let quantize = quantization_bits(&arguments);
    for input in rest.iter().chain([arpa]) {
        Input::check_access(input, Some(output))?;
    }
    let progress = common.progress();
    let mut options = ArpaOptions::default();
    if let Some(unknown_log10) = arguments.unknown {
        options.unknown_log10 = unknown_log10;
    }
    if arguments.allow_missing_markers {
        options.missing_markers = MissingMarkerPolicy::Unknown;
    }
    if arguments.allow_positive {
        options.positive = PositivePolicy::Zero;
    }
    let pointer_bits = arguments.pointer_bits.map(pointer_bits);
    let has_words = !arguments.without_words;
    let pool = common.build_thread_pool()?;
    if is_trie {
        let quantize = quantize.transpose()?;
        let layout = KenlmTrieOptions { quantize, pointer_bits, has_words };
        pool.install(|| {
            read_keeping_first(arpa, options, |options| {
                build_kenlm_trie(arpa, output, layout, options, &progress)
            })
        })?;
    } else {
        let defaults = KenlmProbingOptions::default();
        let multiplier = arguments.multiplier.unwrap_or(defaults.multiplier);
        let layout = KenlmProbingOptions { multiplier, has_words };
        pool.install(|| {
            read_keeping_first(arpa, options, |options| {
                build_kenlm_rest_probing(arpa, output, layout, &rest, options, &progress)
            })
        })?;
    }
    Ok(())
}

/// Returns the bits of `-q` and `-b`, if any.
fn quantization_bits(arguments: &Arguments) -> Option<anyhow::Result<QuantizationBits>> {
    arguments.prob_bits.map(|prob| {
        let backoff = arguments.backoff_bits.unwrap_or(prob);
        let most = QuantizationBits::MAX;
        QuantizationBits::new(prob, backoff)
            .with_context(|| format!("-q {prob} -b {backoff}: expected 1 to {most} bits"))
    })
}

/// Prints the size of the model in `arpa` in each format.
fn print_sizes(arpa: &Path, arguments: &Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    const DEFAULT_POINTER_BITS: u8 = 22;
    let default_bits = QuantizationBits::new(8, 8).context("8 bits are valid")?;
    let options = SizeOptions {
        multiplier: arguments.multiplier.unwrap_or(KenlmProbingOptions::default().multiplier),
        quantize: quantization_bits(arguments).transpose()?.unwrap_or(default_bits),
        pointer_bits: arguments.pointer_bits.map_or(DEFAULT_POINTER_BITS, pointer_bits),
    };
    let sizes = kenlm_sizes(Input::open(arpa)?, options, &common.progress())?;
    let SizeOptions { multiplier: p, quantize, pointer_bits: a } = options;
    let (q, b) = (quantize.prob(), quantize.backoff());
    let rows = [
        ("probing", sizes.probing, format!("assuming -p {p}")),
        ("probing", sizes.rest_probing, format!("assuming -r models -p {p}")),
        ("trie", sizes.trie, "without quantization".into()),
        ("trie", sizes.quantized_trie, format!("assuming -q {q} -b {b} quantization ")),
        ("trie", sizes.array_trie, format!("assuming -a {a} array pointer compression")),
        (
            "trie",
            sizes.quantized_array_trie,
            format!("assuming -a {a} -q {q} -b {b} array pointer compression and quantization"),
        ),
    ];
    let smallest = rows.iter().map(|row| row.1).min().unwrap_or(0);
    let largest = rows.iter().map(|row| row.1).max().unwrap_or(0);
    let units = [(' ', 0), ('k', 10), ('M', 20), ('G', 30)];
    let fitting = units.into_iter().find(|(_, shift)| smallest >> shift < 10 << 10);
    let (unit, shift) = fitting.unwrap_or(units[3]);
    let width = ((largest as f64 / (1u64 << shift) as f64).log10().ceil() as usize).max(2);
    let mut table = format!("Memory estimate for binary LM:\ntype    {unit:>0$}B\n", width - 1);
    for (kind, size, note) in rows {
        table += &format!("{kind:<8}{:>width$} {note}\n", size >> shift);
    }
    crate::console::print_error(table);
    Ok(())
}

/// Returns the value of `-a` as KenLM reads it: its low eight bits.
fn pointer_bits(given: u64) -> u8 {
    let bits = given as u8;
    if u64::from(bits) != given {
        tracing::warn!(
            "-a {given}: KenLM's build_binary reads it as {bits}; give 255 for the most"
        );
    }
    bits
}
