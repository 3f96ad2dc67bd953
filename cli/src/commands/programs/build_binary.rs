//! `build_binary`: packs ARPA text into KenLM's probing and trie files.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Parser;
use miriam_lmcpu::DuplicatePolicy;
use miriam_lmcpu::kenlm::{
    KenlmProbingOptions, KenlmTrieOptions, build_kenlm_probing, build_kenlm_trie,
};
use miriam_lmcpu::trie::QuantizationBits;
use miriam_textio::Input;

use super::size::parse_sort_size;
use crate::common::CommonOptions;

/// Packs ARPA text into KenLM's binary formats, as KenLM's build_binary does
#[derive(Parser)]
#[command(name = "build_binary", arg_required_else_help = true, disable_version_flag = true)]
struct Arguments {
    /// log10 probability of <unk> where the ARPA file has none
    #[arg(short = 'u', allow_negative_numbers = true)]
    unknown: Option<f32>,
    /// Slots of a probing table for each entry, more than 1
    #[arg(short = 'p')]
    multiplier: Option<f32>,
    /// Accepted without effect: how the file is written
    #[arg(short = 'w', value_parser = ["mmap", "after"])]
    write_method: Option<String>,
    /// Accepted without effect: there are no temporary files
    #[arg(short = 'T', visible_short_alias = 't')]
    temporary: Option<PathBuf>,
    /// Accepted without effect: the file is built in memory
    #[arg(short = 'S', value_parser = parse_sort_size)]
    memory: Option<u64>,
    /// Accepted without effect, as -S in MiB
    #[arg(short = 'm')]
    mebibytes: Option<u64>,
    /// Refused: a model without <s> and </s>
    #[arg(short = 's')]
    allow_missing_markers: bool,
    /// Refused: positive log probabilities
    #[arg(short = 'i')]
    allow_positive: bool,
    /// Leave the words out of the file, which then can score but not list them
    #[arg(short = 'v')]
    without_words: bool,
    /// Refused: rest costs
    #[arg(short = 'r')]
    rest: Option<String>,
    /// Bits of a probability in a quantised trie, 1 to 25
    #[arg(short = 'q')]
    prob_bits: Option<u32>,
    /// Bits of a backoff in a quantised trie [default: those of -q]
    #[arg(short = 'b', requires = "prob_bits")]
    backoff_bits: Option<u32>,
    /// Compress the pointers of a trie: at most this number of their high bits is kept in an array
    #[arg(short = 'a')]
    pointer_bits: Option<u8>,
    /// [probing|trie] input.arpa output
    #[arg(num_args = 1..=3, required = true)]
    files: Vec<PathBuf>,
}

pub fn run(arguments: Vec<OsString>, common: &CommonOptions) -> anyhow::Result<()> {
    let outcome = build(super::parse(arguments), common);
    crate::console::print_error(if outcome.is_ok() { "SUCCESS\n" } else { "ERROR\n" });
    outcome
}

fn build(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let refused = [
        ("-s", arguments.allow_missing_markers),
        ("-i", arguments.allow_positive),
        ("-r", arguments.rest.is_some()),
    ];
    if let Some((name, _)) = refused.into_iter().find(|(_, given)| *given) {
        bail!("{name} is not supported; leave it out, or use KenLM's build_binary");
    }
    // These say how memory and files are used.
    let _ = (arguments.write_method, arguments.temporary);
    let _ = (arguments.memory, arguments.mebibytes);
    let (is_trie, arpa, output) = match &arguments.files[..] {
        [arpa, output] => (false, arpa, output),
        [kind, arpa, output] if kind.as_os_str() == "probing" => (false, arpa, output),
        [kind, arpa, output] if kind.as_os_str() == "trie" => (true, arpa, output),
        [kind, ..] if arguments.files.len() == 3 => {
            bail!("type {}: give probing or trie", kind.display())
        }
        _ => bail!("name the file to write after the ARPA file; sizes are not estimated"),
    };
    if !is_trie && (arguments.prob_bits.is_some() || arguments.pointer_bits.is_some()) {
        bail!("-q, -b and -a are for tries: write trie before the ARPA file");
    }
    if is_trie && arguments.multiplier.is_some() {
        bail!("-p is for probing files; leave it out");
    }
    let quantize = arguments.prob_bits.map(|prob| {
        let backoff = arguments.backoff_bits.unwrap_or(prob);
        let most = QuantizationBits::MAX;
        QuantizationBits::new(prob, backoff)
            .with_context(|| format!("-q {prob} -b {backoff}: give 1 to {most} bits"))
    });
    Input::check_access(arpa, Some(output))?;
    let progress = common.progress();
    let (defaults, duplicates) = (KenlmProbingOptions::default(), DuplicatePolicy::Reject);
    let unknown_log10 = arguments.unknown.unwrap_or(defaults.unknown_log10);
    let has_words = !arguments.without_words;
    let pool = common.build_thread_pool()?;
    if is_trie {
        let options = KenlmTrieOptions {
            quantize: quantize.transpose()?,
            pointer_bits: arguments.pointer_bits,
            unknown_log10,
            has_words,
        };
        pool.install(|| build_kenlm_trie(arpa, output, options, duplicates, &progress))?;
    } else {
        let multiplier = arguments.multiplier.unwrap_or(defaults.multiplier);
        let options = KenlmProbingOptions { multiplier, unknown_log10, has_words };
        pool.install(|| build_kenlm_probing(arpa, output, options, duplicates, &progress))?;
    }
    Ok(())
}
