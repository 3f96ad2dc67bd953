//! Cleaning of parallel text for training: unusable pairs are left out, and their numbers are
//! logged.
//!
//! A pair is left out if a side is empty, has too many words, or far more words than the
//! other. Control characters become spaces; a `|`, which separates fields and factors in
//! every file of a phrase model, becomes `&#124;`, as in Moses' tokeniser. Lines that are not
//! UTF-8 are allowed, but reported: they are mostly a mistake.

use std::path::{Path, PathBuf};

use memchr::memchr;
use miriam_textio::{Input, Line, Lines, Output, ParallelLines, Progress, display_name, fields};

use crate::error::check_cancelled;
use crate::manifest::{StageStatistics, stage_statistics};
use crate::{Error, Result};

/// The limits for pairs that are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LengthLimits {
    /// The maximum number of words on a side.
    pub max_words: usize,
    /// The maximum ratio of the sides' numbers of words.
    pub max_ratio: usize,
}

impl LengthLimits {
    /// Whether a pair with these numbers of words is kept.
    pub fn allow(self, words: [usize; 2]) -> bool {
        let (less, more) = (words[0].min(words[1]), words[0].max(words[1]));
        less > 0 && more <= self.max_words && more <= self.max_ratio.saturating_mul(less)
    }
}

/// Counts of a file's lines that are changed, or unusual.
#[derive(Clone, Copy, Debug, Default)]
struct FileStatistics {
    not_utf8: u64,
    with_bar: u64,
    with_controls: u64,
}

impl FileStatistics {
    /// Appends a line of the file at `path` as [`push_cleaned_line`] does, and counts it. Logs a
    /// warning for the first line that is not UTF-8.
    fn push_line(&mut self, path: &Path, line: &Line<'_>, out: &mut Vec<u8>) {
        if std::str::from_utf8(line.bytes).is_err() {
            if self.not_utf8 == 0 {
                tracing::warn!(
                    "{}, line {}: not UTF-8; such lines are used unchanged",
                    display_name(path),
                    line.number
                );
            }
            self.not_utf8 += 1;
        }
        self.with_bar += u64::from(memchr(b'|', line.bytes).is_some());
        self.with_controls += u64::from(line.bytes.iter().any(|&byte| is_unusual_control(byte)));
        push_cleaned_line(out, line.bytes);
    }

    /// Logs the counts that are not 0.
    fn log(self, path: &Path) {
        let name = display_name(path);
        for (count, description) in [
            (self.not_utf8, "not UTF-8"),
            (self.with_bar, "with |, which is &#124; now"),
            (self.with_controls, "with control characters, which are spaces now"),
        ] {
            if count > 0 {
                tracing::info!("{name}: lines {description}: {count}");
            }
        }
    }
}

/// Whether a byte is a control character other than a tab or a carriage return, which are usual in
/// texts.
fn is_unusual_control(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\t' | b'\r')
}

/// Counts of a text's pairs and words.
#[derive(Clone, Debug, Default)]
struct CorpusStatistics {
    pairs: u64,
    kept: u64,
    empty: u64,
    too_long: u64,
    ratio_exceeded: u64,
    source_words: u64,
    target_words: u64,
    files: [FileStatistics; 2],
}

impl CorpusStatistics {
    fn to_statistics(&self) -> StageStatistics {
        stage_statistics([
            ("pairs", self.pairs.into()),
            ("kept", self.kept.into()),
            ("empty", self.empty.into()),
            ("long", self.too_long.into()),
            ("uneven", self.ratio_exceeded.into()),
            ("source_words", self.source_words.into()),
            ("target_words", self.target_words.into()),
            ("not_utf8", self.files.iter().map(|file| file.not_utf8).sum::<u64>().into()),
        ])
    }
}

/// The source and target file of a parallel text.
pub(crate) type ParallelFiles = [PathBuf; 2];

/// Cleans the parallel files `from` into the files `to`. Keeps the pairs within `limits`, or all
/// pairs without limits.
pub(crate) fn clean_parallel(
    from: &ParallelFiles,
    to: &ParallelFiles,
    limits: Option<LengthLimits>,
    progress: &dyn Progress,
) -> Result<StageStatistics> {
    let inputs = [Input::open(&from[0])?, Input::open(&from[1])?];
    let consumed = inputs[0].consumed();
    let task = progress.task("checking text", inputs[0].size());
    let mut outputs = [Output::create_atomic(&to[0])?, Output::create_atomic(&to[1])?];
    let mut lines = ParallelLines::new(inputs.into_iter().map(Lines::in_background).collect());
    let mut counts = CorpusStatistics::default();
    let mut sides = [Vec::new(), Vec::new()];
    while lines.next(|side, _, line| {
        sides[side].clear();
        counts.files[side].push_line(&from[side], line, &mut sides[side]);
        Ok::<_, Error>(())
    })? {
        counts.pairs += 1;
        if counts.pairs % 4096 == 0 {
            task.set_position(consumed.load(std::sync::atomic::Ordering::Relaxed));
            check_cancelled(progress)?;
        }
        let words = [count_words(&sides[0]), count_words(&sides[1])];
        if let Some(limits) = limits.filter(|limits| !limits.allow(words)) {
            let reason = if words.contains(&0) {
                &mut counts.empty
            } else if words.iter().any(|&count| count > limits.max_words) {
                &mut counts.too_long
            } else {
                &mut counts.ratio_exceeded
            };
            *reason += 1;
            continue;
        }
        counts.kept += 1;
        // Without limits, pairs with an empty side are kept.
        counts.empty += u64::from(words.contains(&0));
        counts.source_words += words[0] as u64;
        counts.target_words += words[1] as u64;
        for (side, output) in sides.iter_mut().zip(&mut outputs) {
            side.push(b'\n');
            output.write(side)?;
        }
    }
    drop(task);
    for output in outputs {
        output.finish()?;
    }
    if counts.kept == 0 {
        let reason = match counts.pairs {
            0 => "the text is empty; give a file with one sentence per line".to_owned(),
            n => format!(
                "none of its {n} pairs can be used: {} have an empty side, {} too many words, {} \
                 too many for the other side (--max-words, --max-ratio)",
                counts.empty, counts.too_long, counts.ratio_exceeded
            ),
        };
        return Err(Error::EmptyCorpus { file: display_name(&from[0]), reason });
    }
    log_statistics(&counts, &from[0]);
    for (file, path) in counts.files.iter().zip(from) {
        file.log(path);
    }
    Ok(counts.to_statistics())
}

/// Writes the lines of `from` that are not empty to `to`, cleaned as in [`clean_parallel`].
pub(crate) fn clean_monolingual(
    from: &[PathBuf],
    to: &Path,
    progress: &dyn Progress,
) -> Result<StageStatistics> {
    let mut output = Output::create_atomic(to)?;
    let mut lines_kept = 0u64;
    let mut words = 0u64;
    let mut not_utf8 = 0;
    let mut clean = Vec::new();
    for path in from {
        let input = Input::open(path)?;
        let consumed = input.consumed();
        let task = progress.task("reading text", input.size());
        let mut lines = Lines::in_background(input);
        let mut counts = FileStatistics::default();
        while let Some(line) = lines.next()? {
            clean.clear();
            counts.push_line(path, &line, &mut clean);
            let line_words = count_words(&clean) as u64;
            if line_words > 0 {
                lines_kept += 1;
                words += line_words;
                clean.push(b'\n');
                output.write(&clean)?;
            }
            if line.number % 4096 == 0 {
                task.set_position(consumed.load(std::sync::atomic::Ordering::Relaxed));
                check_cancelled(progress)?;
            }
        }
        drop(task);
        counts.log(path);
        not_utf8 += counts.not_utf8;
    }
    output.finish()?;
    Ok(stage_statistics([
        ("lines", lines_kept.into()),
        ("words", words.into()),
        ("not_utf8", not_utf8.into()),
    ]))
}

/// Appends the lines of the file at `path` to `output`, with line ends of one byte.
pub(crate) fn copy_lines(path: &Path, output: &mut Output) -> Result<()> {
    let mut lines = Lines::new(Input::open(path)?);
    while let Some(line) = lines.next()? {
        output.write(line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes))?;
        output.write(b"\n")?;
    }
    Ok(())
}

/// Counts the lines of a file.
pub(crate) fn count_lines(path: &Path) -> Result<u64> {
    let mut lines = Lines::new(Input::open(path)?);
    let mut count = 0;
    while lines.next()?.is_some() {
        count += 1;
    }
    Ok(count)
}

pub(crate) fn count_words(line: &[u8]) -> usize {
    fields::split_words(line).count()
}

/// Appends `line` with single spaces between its words and `&#124;` in place of `|`. Control
/// characters count as spaces.
fn push_cleaned_line(out: &mut Vec<u8>, line: &[u8]) {
    let start = out.len();
    for word in line.split(|&byte| byte <= b' ' || byte == 0x7f).filter(|word| !word.is_empty()) {
        if out.len() > start {
            out.push(b' ');
        }
        let mut rest = word;
        while let Some(bar) = memchr(b'|', rest) {
            out.extend_from_slice(&rest[..bar]);
            out.extend_from_slice(b"&#124;");
            rest = &rest[bar + 1..];
        }
        out.extend_from_slice(rest);
    }
}

/// Logs the numbers of kept and unusable pairs.
fn log_statistics(counts: &CorpusStatistics, path: &Path) {
    let CorpusStatistics { pairs, kept, source_words, target_words, .. } = counts;
    let name = display_name(path);
    tracing::info!("{name}: {kept} of {pairs} pairs, {source_words} and {target_words} words");
    for (count, description) in [
        (counts.empty, "have an empty side"),
        (counts.too_long, "have too many words"),
        (counts.ratio_exceeded, "have too many words on one side for those on the other"),
    ] {
        if count > 0 {
            tracing::info!("{name}: {count} {description}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use miriam_textio::{CancellableProgress, CancellationToken, NoProgress};
    use proptest::prelude::*;

    use super::*;

    const LIMITS: Option<LengthLimits> = Some(LengthLimits { max_words: 5, max_ratio: 2 });

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Folder(tempfile::tempdir().unwrap())
        }

        fn clean(
            &self,
            source: &[u8],
            target: &[u8],
            limits: Option<LengthLimits>,
        ) -> Result<(StageStatistics, Vec<u8>, Vec<u8>)> {
            let from = ["s", "t"].map(|name| self.0.path().join(name));
            fs::write(&from[0], source).unwrap();
            fs::write(&from[1], target).unwrap();
            let to = ["cs", "ct"].map(|name| self.0.path().join(name));
            let facts = clean_parallel(&from, &to, limits, &NoProgress)?;
            Ok((facts, fs::read(&to[0]).unwrap(), fs::read(&to[1]).unwrap()))
        }
    }

    #[test]
    fn unusable_pairs_are_left_out_and_counted() {
        let source = b"\xEF\xBB\xBFa b\n\nx y z\n1 2 3 4 5 6\na|b\tc\r\nm n\n \x01 \n\xff q";
        let target = b"A\nB\nX\n1 2 3 4 5 6\nA ||| B\nM\nW\nQ R\n";
        let (facts, source, target) = Folder::new().clean(source, target, LIMITS).unwrap();
        assert_eq!(source, b"a b\na&#124;b c\nm n\n\xff q\n");
        assert_eq!(target, b"A\nA &#124;&#124;&#124; B\nM\nQ R\n");
        for (name, count) in [
            ("pairs", 8),
            ("kept", 4),
            ("empty", 2),
            ("long", 1),
            ("uneven", 1),
            ("source_words", 8),
            ("target_words", 7),
            ("not_utf8", 1),
        ] {
            assert_eq!(facts[name], count, "{name}");
        }
    }

    #[test]
    fn without_limits_every_pair_is_kept() {
        let (facts, source, target) = Folder::new().clean(b"a\n\nb\n", b"A\nB\n\n", None).unwrap();
        assert_eq!((&source[..], &target[..]), (&b"a\n\nb\n"[..], &b"A\nB\n\n"[..]));
        assert_eq!([&facts["kept"], &facts["empty"]], [3, 2]);
    }

    #[test]
    fn any_ratio_can_be_allowed() {
        let limits = Some(LengthLimits { max_words: 5, max_ratio: usize::MAX });
        let (facts, _, target) = Folder::new().clean(b"a b\n", b"1 2 3 4 5\n", limits).unwrap();
        assert_eq!((&facts["kept"], &target[..]), (&1.into(), &b"1 2 3 4 5\n"[..]));
    }

    #[test]
    fn cleaning_can_be_cancelled() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("text"), "a\n".repeat(5000)).unwrap();
        let stop = CancellationToken::new();
        stop.cancel();
        let progress = CancellableProgress { shown: &NoProgress, stop: &stop };
        let from = [path("text"), path("text")];
        let cleaned = clean_parallel(&from, &[path("s"), path("t")], None, &progress);
        assert!(matches!(cleaned, Err(Error::Cancelled)));
        let cleaned = clean_monolingual(&from[..1], &path("m"), &progress);
        assert!(matches!(cleaned, Err(Error::Cancelled)));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no file is left");
    }

    #[test]
    fn copied_lines_have_plain_ends() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        fs::write(&from, "a\r\nb\nc").unwrap();
        let mut output = Output::create_atomic(&to).unwrap();
        copy_lines(&from, &mut output).unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"a\nb\nc\n");
    }

    #[test]
    fn texts_that_are_empty_or_not_parallel_are_rejected() {
        const PARALLEL: &str = "line N of one belongs to line N of the other; find the line that \
                                one of them lacks";
        let folder = Folder::new();
        let message = |source: &[u8], target: &[u8]| {
            let error = folder.clean(source, target, LIMITS).unwrap_err().to_string();
            error.replace(&format!("{}/", folder.0.path().display()), "")
        };
        assert_eq!(message(b"a\nb\nc\n", b"a\n"), format!("s has 3 lines, t has 1: {PARALLEL}"));
        assert_eq!(message(b"a\n", b"a\nb\nc"), format!("s has 1 line, t has 3: {PARALLEL}"));
        assert_eq!(
            message(b"", b""),
            "s: the text is empty; give a file with one sentence per line"
        );
        assert_eq!(
            message(b"\na\n", b"a\nb c d e\n"),
            "s: none of its 2 pairs can be used: 1 have an empty side, 0 too many words, 1 too \
             many for the other side (--max-words, --max-ratio)"
        );
    }

    proptest! {
        /// Cleaned text is parallel, within the limits, and unchanged by cleaning it again.
        #[test]
        fn cleaning_is_idempotent(
            pairs in prop::collection::vec(("[a-c|\t \u{1}\u{e9}]{0,9}", "[a-c|\r \u{e9}]{0,9}"), 1..20)
        ) {
            let source: String = pairs.iter().map(|(source, _)| format!("{source}\n")).collect();
            let target: String = pairs.iter().map(|(_, target)| format!("{target}\n")).collect();
            let folder = Folder::new();
            if let Ok((_, source, target)) =
                folder.clean(source.as_bytes(), target.as_bytes(), LIMITS)
            {
                let [source_lines, target_lines] =
                    [&source, &target].map(|text| text.split(|&b| b == b'\n').count());
                prop_assert_eq!(source_lines, target_lines);
                for line in source.split(|&b| b == b'\n').chain(target.split(|&b| b == b'\n')) {
                    prop_assert!(count_words(line) <= 5 && !line.contains(&b'|'));
                }
                let (facts, again, _) = folder.clean(&source, &target, LIMITS).unwrap();
                prop_assert_eq!(again, source);
                prop_assert_eq!(&facts["kept"], &facts["pairs"]);
            }
        }
    }
}
