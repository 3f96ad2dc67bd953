//! `build_binary`: packs ARPA text into KenLM's probing file.
//!
//! KenLM's trie files are read but not written, so the type `trie` is refused: another
//! program could not open what we would write instead.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Parser;
use miriam_lmcpu::DuplicatePolicy;
use miriam_lmcpu::kenlm::{KenlmOptions, build_kenlm_probing};
use miriam_textio::Input;

use super::size::parse_sort_size;
use crate::common::CommonOptions;

/// Packs ARPA text into KenLM's binary format (probing), as KenLM's build_binary does
#[derive(Parser)]
#[command(name = "build_binary", arg_required_else_help = true, disable_version_flag = true)]
struct Arguments {
    /// log10 probability of <unk> where the ARPA file has none
    #[arg(short = 'u', allow_negative_numbers = true)]
    unknown: Option<f32>,
    /// Slots of a table for each entry, more than 1
    #[arg(short = 'p')]
    multiplier: Option<f32>,
    /// Accepted without effect: how the file is written
    #[arg(short = 'w', value_parser = ["mmap", "after"])]
    write_method: Option<String>,
    /// Accepted without effect: there are no temporary files
    #[arg(short = 'T', visible_short_alias = 't')]
    temporary: Option<PathBuf>,
    /// Accepted without effect: a probing file is built in memory
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
    /// Refused: a file without its words
    #[arg(short = 'v')]
    without_words: bool,
    /// Refused: rest costs
    #[arg(short = 'r')]
    rest: Option<String>,
    /// Refused: quantised tries
    #[arg(short = 'q')]
    prob_bits: Option<u8>,
    /// Refused: quantised tries
    #[arg(short = 'b')]
    backoff_bits: Option<u8>,
    /// Refused: compressed tries
    #[arg(short = 'a')]
    pointer_bits: Option<u8>,
    /// [type] input.arpa output
    #[arg(num_args = 1..=3, required = true)]
    files: Vec<PathBuf>,
}

pub fn run(arguments: Vec<OsString>, common: &CommonOptions) -> anyhow::Result<()> {
    let outcome = build(super::parse(arguments), common);
    eprintln!("{}", if outcome.is_ok() { "SUCCESS" } else { "ERROR" });
    outcome
}

fn build(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let refused = [
        ("-s", arguments.allow_missing_markers),
        ("-i", arguments.allow_positive),
        ("-v", arguments.without_words),
        ("-r", arguments.rest.is_some()),
        ("-q", arguments.prob_bits.is_some()),
        ("-b", arguments.backoff_bits.is_some()),
        ("-a", arguments.pointer_bits.is_some()),
    ];
    if let Some((name, _)) = refused.into_iter().find(|(_, given)| *given) {
        bail!("{name} is not supported; leave it out, or use KenLM's build_binary");
    }
    // These say how memory and files are used.
    let _ = (arguments.write_method, arguments.temporary);
    let _ = (arguments.memory, arguments.mebibytes);
    let (arpa, output): (&Path, &Path) = match &arguments.files[..] {
        [arpa, output] => (arpa, output),
        [kind, arpa, output] if kind.as_os_str() == "probing" => (arpa, output),
        [kind, arpa, _] if kind.as_os_str() == "trie" => bail!(
            "KenLM's tries are not written; leave the type out for a probing file, or make a \
             small file that miriam and its Python module open: miriam lm build {} --type trie \
             -o FILE",
            arpa.display()
        ),
        [kind, ..] if arguments.files.len() == 3 => {
            bail!("type {}: give probing", kind.display())
        }
        _ => bail!("name the file to write after the ARPA file; sizes are not estimated"),
    };
    Input::check_access(arpa, Some(output))?;
    let defaults = KenlmOptions::default();
    let options = KenlmOptions {
        multiplier: arguments.multiplier.unwrap_or(defaults.multiplier),
        unknown_log10: arguments.unknown.unwrap_or(defaults.unknown_log10),
    };
    let progress = common.progress();
    common.build_thread_pool()?.install(|| {
        build_kenlm_probing(arpa, output, options, DuplicatePolicy::Reject, &progress)
    })?;
    Ok(())
}
