//! Moses' `clean-corpus-n.perl`: leaves out pairs of lines that are empty, too long or of very
//! different lengths. Its output is the script's, but bytes that are not UTF-8 become U+FFFD.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::bail;
use clap::Parser;
use miriam_storage::paths::with_suffix;
use miriam_textio::{Input, Lines, Output};

use crate::common::CommonOptions;

/// Leaves out pairs of lines that are empty, too long, or of very different lengths
#[derive(Parser)]
#[command(name = "clean-corpus-n.perl", infer_long_args = true, disable_version_flag = true)]
struct Arguments {
    /// The path of the texts without the suffixes: CORPUS.L1 and CORPUS.L2, or the same with .gz
    corpus: PathBuf,
    /// The suffix of the first text, its language
    l1: String,
    /// The suffix of the second text, its language
    l2: String,
    /// The path of the cleaned texts without the suffixes
    clean_corpus: PathBuf,
    /// The smallest number of words of a line
    min: usize,
    /// The largest number of words of a line
    max: usize,
    /// A file for the numbers of the lines that are kept
    lines_retained: Option<PathBuf>,
    /// The largest ratio of the numbers of words of a pair
    #[arg(long, default_value_t = 9.0)]
    ratio: f64,
    /// Keep pairs of any ratio
    #[arg(long)]
    ignore_ratio: bool,
    /// Do not count tags, the text between < and >
    #[arg(long)]
    ignore_xml: bool,
    /// Write lower case
    #[arg(long, alias = "lc")]
    lowercase: bool,
    /// The largest number of characters of a word
    #[arg(long, alias = "mwl", default_value_t = 1000)]
    max_word_length: usize,
    /// The encoding of the texts; only utf8
    #[arg(long, default_value = "utf8", value_parser = ["utf8"])]
    encoding: String,
}

pub fn run(arguments: Vec<OsString>, common: &CommonOptions) -> anyhow::Result<()> {
    // The script's options may have one dash.
    let arguments = arguments.into_iter().map(|word| match word.to_str() {
        Some(text) if text.len() > 2 && text.starts_with('-') && !text.starts_with("--") => {
            format!("-{text}").into()
        }
        _ => word,
    });
    let options: Arguments = super::parse(arguments.collect());
    let languages = [&options.l1, &options.l2];
    let inputs = languages.map(|language| {
        let plain = with_suffix(&options.corpus, &format!(".{language}"));
        let compressed = with_suffix(&plain, ".gz");
        if !plain.exists() && compressed.exists() { compressed } else { plain }
    });
    let outputs =
        languages.map(|language| with_suffix(&options.clean_corpus, &format!(".{language}")));
    for output in outputs.iter().chain(&options.lines_retained) {
        for input in &inputs {
            Input::check_access(input, Some(output))?;
        }
    }
    let [first, second] = [Input::open(&inputs[0])?, Input::open(&inputs[1])?];
    let (size, consumed) = (first.size(), first.consumed());
    let [mut first, mut second] = [first, second].map(Lines::new);
    let mut cleaned = [Output::create(&outputs[0])?, Output::create(&outputs[1])?];
    let mut retained = options.lines_retained.as_deref().map(Output::create).transpose()?;
    let progress = common.progress();
    let task = (&progress as &dyn miriam_textio::Progress).task("cleaning", size);
    let (mut is_factored, mut count, mut kept) = (false, 0u64, 0u64);
    while let Some(line) = first.next()? {
        let Some(other) = second.next()? else {
            bail!("{}: it has only {count} lines, fewer than the other text", inputs[1].display());
        };
        count += 1;
        task.set_position(consumed.load(std::sync::atomic::Ordering::Relaxed));
        if count == 1 {
            is_factored = [line.bytes, other.bytes].iter().any(|text| text.contains(&b'|'));
        }
        let pair = [line.bytes, other.bytes].map(|text| clean(text, &options, is_factored));
        if !is_kept(&pair, &options) {
            continue;
        }
        for (text, input) in pair.iter().zip(&inputs) {
            let bytes = text.as_bytes();
            if bytes.windows(2).any(|two| matches!(two, [b' ' | b'|', b'|'])) {
                bail!("{}, line {count}: a factor is blank", input.display());
            }
        }
        kept += 1;
        for (text, output) in pair.iter().zip(&mut cleaned) {
            output.write(text.as_bytes())?;
            output.write(b"\n")?;
        }
        if let Some(retained) = &mut retained {
            retained.write(format!("{count}\n").as_bytes())?;
        }
    }
    let is_longer = second.next()?.is_some();
    for output in cleaned.into_iter().chain(retained) {
        output.finish()?;
    }
    if is_longer {
        bail!("{}: lines after line {count} have no pair", inputs[1].display());
    }
    tracing::info!("kept {kept} of {count} pairs");
    Ok(())
}

/// Returns a line with single spaces, and without bars unless they separate factors. Bytes that are
/// not UTF-8 become U+FFFD.
fn clean(line: &[u8], options: &Arguments, is_factored: bool) -> String {
    let text = String::from_utf8_lossy(line);
    let text = if options.lowercase {
        text.chars().flat_map(char::to_lowercase).collect()
    } else {
        text.into_owned()
    };
    let text = if is_factored { text } else { text.replace('|', "") };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a pair of cleaned lines is kept.
fn is_kept(pair: &[String; 2], options: &Arguments) -> bool {
    let counts = pair.each_ref().map(|text| count_words(text, options.ignore_xml));
    let fits = pair.iter().zip(counts).all(|(text, count)| {
        let mut words = text.split([' ', '|']);
        !text.is_empty()
            && (options.min..=options.max).contains(&count)
            && words.all(|word| word.chars().count() <= options.max_word_length)
    });
    let [one, other] = counts.map(|count| count as f64);
    let is_balanced = one / other <= options.ratio && other / one <= options.ratio;
    fits && (options.ignore_ratio || is_balanced)
}

/// Returns the number of words, without tags if `ignore_xml` is set. A tag is the longest match of
/// the script's `<\S[^>]*\S>`, so that `<>b>` and `<b>>` are tags, but `<b>` is not.
fn count_words(text: &str, ignore_xml: bool) -> usize {
    if !ignore_xml {
        return text.split_whitespace().count();
    }
    let (mut plain, mut at) = (String::new(), 0);
    // The place of the next `>` after the first character of a tag; several `<` may share it.
    let mut close = text.find('>');
    while let Some(open) = text[at..].find('<').map(|length| at + length) {
        plain.push_str(&text[at..open]);
        at = open;
        let Some(first) = text[open + 1..].chars().next() else { break };
        let rest = open + 1 + first.len_utf8();
        if close.is_some_and(|place| place < rest) {
            close = text[rest..].find('>').map(|length| rest + length);
        }
        let Some(place) = close else { break };
        let end = if text[place + 1..].starts_with('>') {
            Some(place + 2)
        } else if place > rest && !text[..place].ends_with(' ') {
            Some(place + 1)
        } else {
            None
        };
        match end.filter(|_| first != ' ') {
            Some(end) => {
                plain.push(' ');
                at = end;
            }
            None => {
                plain.push('<');
                at = open + 1;
            }
        }
    }
    plain.push_str(&text[at..]);
    plain.split_whitespace().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(words: &str) -> Arguments {
        let words = format!("clean-corpus-n.perl c de en out 1 5 {words}");
        Arguments::parse_from(words.split_whitespace())
    }

    fn keeps(first: &str, second: &str, words: &str) -> bool {
        let options = options(words);
        let pair = [first, second].map(|text| clean(text.as_bytes(), &options, text.contains('|')));
        is_kept(&pair, &options)
    }

    #[test]
    fn pairs_are_kept_as_by_the_script() {
        assert!(keeps(" a  b\u{a0}c ", "x", ""));
        assert!(!keeps("a b c d e f", "x", ""), "too long");
        assert!(!keeps("a", " \t ", ""), "empty");
        assert!(!keeps("a b c", "x", "--ratio 2"));
        assert!(keeps("a b c", "x", "--ratio 2 --ignore-ratio"));
        assert!(keeps("a b c d <e f=g>", "x", "--ignore-xml"));
        assert!(!keeps("a b c d <e f=g>", "x", ""));
        assert!(!keeps("a bcd", "x", "--max-word-length 2"));
        assert!(keeps("ab|cd ef|gh", "x", "--max-word-length 2"));
        assert_eq!(clean("Ä|B  c".as_bytes(), &options("--lc"), false), "äb c");
        assert_eq!(count_words("a < b > <c> <dd>e", true), 6);
        // Each of these is a tag of the script, and the `x` beside it the only word.
        for tag in ["<é>>", "<b c>>", "<b >>", "<>b>", "<> b>", "<>>>", "<<b>", "<b<c>"] {
            assert_eq!(count_words(&format!("x{tag}"), true), 1, "{tag}");
        }
        assert_eq!(count_words("x<b >y", true), 2);
        assert_eq!(count_words("x<b>>>", true), 2);
        assert_eq!(count_words("x <> y <", true), 4);
    }
}
