//! Moses' `multi-bleu.perl`: BLEU of tokenised text, printed as the script prints it. Unlike the
//! script, this program stops if a reference has another number of lines, or if the file of a
//! further reference is missing. The script ignores lines of references after the last translation,
//! and takes a missing reference for one of 9,999 words.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::bail;
use clap::Parser;
use miriam_metrics::bleu::{BleuCounts, MAX_NGRAM_ORDER, NgramMatcher, ReferenceNgrams, TokenId};
use miriam_textio::{Error as TextError, Input, Lines};

use crate::commands::numbered_references::{find_numbered, find_stem};
use crate::common::CommonOptions;

/// Computes BLEU of standard input, without tokenisation
#[derive(Parser)]
#[command(name = "multi-bleu.perl", disable_version_flag = true)]
struct Arguments {
    /// Ignore the case of ASCII letters
    #[arg(long)]
    lc: bool,
    /// The reference, also the first part of the names REFERENCE0, REFERENCE1 and so on, then
    /// further references
    #[arg(required = true)]
    references: Vec<PathBuf>,
}

pub fn run(arguments: Vec<OsString>, _: &CommonOptions) -> anyhow::Result<()> {
    // The script's option has one dash.
    let arguments =
        arguments.into_iter().map(|word| if word == "-lc" { "--lc".into() } else { word });
    let options: Arguments = super::parse(arguments.collect());
    let paths = find_references(&options.references);
    for path in &paths {
        Input::check_access(path, None)?;
    }
    let mut hypotheses = Lines::new(Input::open("-".as_ref())?);
    let mut references = Vec::new();
    for path in &paths {
        references.push(Lines::new(Input::open(path)?));
    }
    let (mut matcher, mut sums) = (NgramMatcher::default(), BleuCounts::default());
    let mut count = 0;
    while let Some(line) = hypotheses.next()? {
        let hypothesis = lowercase_if(options.lc, line.bytes);
        let mut lines = Vec::with_capacity(paths.len());
        for reference in &mut references {
            let Some(line) = reference.next()? else {
                let total = count_lines(&mut hypotheses, count + 1)?;
                return Ok(check_line_counts([&hypotheses, &*reference], [total, count])?);
            };
            lines.push(lowercase_if(options.lc, line.bytes));
        }
        count += 1;
        let ngrams = ReferenceNgrams::new(lines.iter().map(|line| words(line)));
        let tokens: Vec<TokenId> = words(&hypothesis).map(|word| ngrams.token_id(word)).collect();
        sums += matcher.count_matches(&ngrams, &tokens);
    }
    for reference in &mut references {
        let total = count_lines(reference, count)?;
        check_line_counts([&hypotheses, &*reference], [count, total])?;
    }
    crate::console::print_line(to_text(&sums))?;
    if sums.reference_len == 0 {
        bail!("the references have no word");
    }
    Ok(())
}

/// Reads the rest of a text and returns the number of all its lines, of which `count` were read.
fn count_lines(text: &mut Lines, mut count: u64) -> miriam_textio::Result<u64> {
    while text.next()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// Checks that two texts have the same number of lines.
fn check_line_counts(texts: [&Lines; 2], counts: [u64; 2]) -> miriam_textio::Result<()> {
    TextError::check_line_counts(texts.map(Lines::name).into_iter().zip(counts))
}

/// Returns the files that the script reads. For the first name, `REFERENCE`, these are the numbered
/// files, then `REFERENCE` itself if it exists or has no numbered files. If numbered files exist
/// only with `.ref` after the name, these are read. The other names follow.
fn find_references(names: &[PathBuf]) -> Vec<PathBuf> {
    let (first, others) = names.split_first().expect("one at least");
    let stem = find_stem(first);
    let mut paths = find_numbered(&stem);
    if paths.is_empty() || stem.exists() {
        paths.push(stem);
    }
    paths.extend_from_slice(others);
    paths
}

fn lowercase_if(lowercase: bool, line: &[u8]) -> Vec<u8> {
    if lowercase { line.to_ascii_lowercase() } else { line.to_vec() }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    // Perl's white space.
    line.split(|byte| byte.is_ascii_whitespace() || *byte == 0x0b).filter(|word| !word.is_empty())
}

/// Returns the script's line of output.
fn to_text(counts: &BleuCounts) -> String {
    let (hypothesis, reference) = (counts.hypothesis_len, counts.reference_len);
    if reference == 0 {
        return "BLEU = 0, 0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)".into();
    }
    let precisions: [f64; MAX_NGRAM_ORDER] = std::array::from_fn(|n| {
        let total = counts.totals[n];
        if total == 0 { 0.0 } else { counts.matches[n] as f64 / total as f64 }
    });
    let ratio = hypothesis as f64 / reference as f64;
    let brevity_penalty = if hypothesis < reference {
        (1.0 - reference as f64 / hypothesis as f64).exp()
    } else {
        1.0
    };
    let mean = precisions.map(f64::ln).iter().sum::<f64>() / MAX_NGRAM_ORDER as f64;
    let percent: Vec<String> = precisions.iter().map(|p| format!("{:.1}", 100.0 * p)).collect();
    format!(
        "BLEU = {:.2}, {} (BP={brevity_penalty:.3}, ratio={ratio:.3}, hyp_len={hypothesis}, \
         ref_len={reference})",
        100.0 * (brevity_penalty * mean.exp()),
        percent.join("/"),
    )
}
