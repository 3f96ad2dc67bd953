//! Options of output: translations, n-best lists, alignments and other records
//! (`docs/spec/phrase-decoding.md` 1.4, 1.5, 3.13 and 3.14; Moses 1's options where Moses2 has
//! none).

use std::path::PathBuf;

use super::settings_reader::SettingsReader;
use crate::Result;
use crate::output_streams::OutputStream;

/// The contents of the outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputOptions {
    /// The n-best list, if requested.
    pub n_best: Option<NBestOptions>,
    /// The largest number of candidates tried for an n-best list, as a multiple of its requested
    /// size.
    pub n_best_factor: usize,
    /// Whether feature values follow each phrase of the best translation.
    pub print_score_breakdown: bool,
    /// Whether the word alignment follows the best translation.
    pub print_alignment: bool,
    /// Whether alignments are sorted by target position, not by source position.
    pub sort_alignment_by_target: bool,
    /// Whether the line's number precedes the best translation.
    pub print_id: bool,
    /// The number of the first line.
    pub first_id: i64,
}

/// The form of an n-best list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NBestOptions {
    /// The requested size; as in Moses2, one more entry is printed.
    pub size: usize,
    /// Whether only the first of entries with the same words is printed.
    pub distinct: bool,
    /// Whether feature names precede the values.
    pub labels: bool,
    /// Whether a column has the source and target positions of phrases.
    pub segmentation: bool,
    /// Whether a column has the word alignment.
    pub alignment: bool,
}

impl OutputOptions {
    /// Reads the options and adds the streams that they request to `outputs`, including
    /// the best translation.
    pub(super) fn read(
        read: &SettingsReader<'_>,
        outputs: &mut Vec<(OutputStream, PathBuf)>,
    ) -> Result<Self> {
        let best = output_path(read.value("output-file")?.unwrap_or("-"));
        let mut n_best = None;
        let values = read.parameters.get("n-best-list").map(split_n_best_values);
        match values.as_deref() {
            None => {}
            Some([file, size, rest @ ..]) => {
                let Ok(size) = size.parse() else {
                    let reason = format!("the size, {size:?}, is not a whole number");
                    return read.fail("n-best-list", reason);
                };
                let distinct = match rest {
                    [] => false,
                    [word] if word == "distinct" => true,
                    _ => {
                        let reason = format!("{:?} is not `distinct`", rest.join(" "));
                        return read.fail("n-best-list", reason);
                    }
                };
                n_best = Some(NBestOptions {
                    size,
                    distinct,
                    labels: read.boolean("labeled-n-best-list", true)?,
                    segmentation: read.boolean("include-segmentation-in-n-best", false)?,
                    alignment: read.boolean("print-alignment-info-in-n-best", false)?,
                });
                outputs.push((OutputStream::NBest, output_path(file)));
            }
            Some(_) => {
                return read.fail("n-best-list", "needs a file and a size: FILE SIZE [distinct]");
            }
        }
        // As in Moses, a list on standard output replaces the translation.
        if !outputs.iter().any(|(_, path)| *path == best && best.as_os_str() == "-") {
            outputs.insert(0, (OutputStream::Best, best));
        }
        for (name, stream) in [
            ("alignment-output-file", OutputStream::Alignment),
            ("output-unknowns", OutputStream::Unknowns),
            ("output-search-graph", OutputStream::SearchGraph),
            ("translation-details", OutputStream::Details),
        ] {
            if let Some(path) = read.value(name)? {
                outputs.push((stream, output_path(path)));
            }
        }
        let by_target = match read.integer("sort-word-alignment", 0)? {
            0 => false,
            1 => true,
            n => {
                let reason = format!("{n}; expected 0 (by source position) or 1 (by target)");
                return read.fail("sort-word-alignment", reason);
            }
        };
        Ok(OutputOptions {
            n_best,
            n_best_factor: read.count("n-best-factor", 20)?,
            // Moses2 checks only whether the option is present, as with -t.
            print_score_breakdown: read.parameters.get("report-segmentation-enriched").is_some(),
            print_alignment: read.boolean("print-alignment-info", false)?,
            sort_alignment_by_target: by_target,
            print_id: read.boolean("print-id", false)?,
            first_id: read.integer("start-translation-id", 0)?,
        })
    }
}

/// Returns the values of `n-best-list`: one per line, as in Moses, or all on one line.
fn split_n_best_values(values: &[String]) -> Vec<String> {
    let one_a_line = values.get(1).is_some_and(|text: &String| text.parse::<usize>().is_ok());
    let has_several = values.first().is_some_and(|first| first.contains([' ', '\t']));
    if one_a_line || !has_several {
        return values.to_vec();
    }
    values.iter().flat_map(|value| value.split_ascii_whitespace()).map(str::to_owned).collect()
}

/// Returns the output path, which is `-` for `/dev/stdout`: Moses uses both names for standard
/// output.
pub(super) fn output_path(path: &str) -> PathBuf {
    if path == "/dev/stdout" { "-".into() } else { path.into() }
}

#[cfg(test)]
mod tests {
    use super::super::Parameters;
    use super::*;
    use std::path::Path;

    fn read(options: &[(&str, &str)]) -> Result<(OutputOptions, Vec<(OutputStream, PathBuf)>)> {
        let mut parameters = Parameters::default();
        for (name, values) in options {
            parameters.values_mut(name).extend(values.split_whitespace().map(str::to_owned));
        }
        let reader = SettingsReader { ini: Path::new("moses.ini"), parameters: &parameters };
        let mut outputs = Vec::new();
        let read = OutputOptions::read(&reader, &mut outputs)?;
        Ok((read, outputs))
    }

    #[test]
    fn lists_replace_the_translation_on_standard_output() {
        let streams = |options: &[(&str, &str)]| read(options).unwrap().1;
        assert_eq!(streams(&[]), [(OutputStream::Best, "-".into())]);
        let list = ("n-best-list", "list.gz 10");
        assert_eq!(
            streams(&[list]),
            [(OutputStream::Best, "-".into()), (OutputStream::NBest, "list.gz".into())]
        );
        for file in ["- 10", "/dev/stdout 10"] {
            assert_eq!(streams(&[("n-best-list", file)]), [(OutputStream::NBest, "-".into())]);
            let both = [("n-best-list", file), ("output-file", "best")];
            let expected = [(OutputStream::Best, "best".into()), (OutputStream::NBest, "-".into())];
            assert_eq!(streams(&both), expected);
        }
    }

    #[test]
    fn n_best_options() {
        let n_best = |values| read(&[("n-best-list", values)]).map(|(read, _)| read.n_best);
        let list = n_best("f 7 distinct").unwrap().unwrap();
        assert!(list.size == 7 && list.distinct && list.labels && !list.segmentation);
        assert!(!n_best("f 7").unwrap().unwrap().distinct);
        // In an ini, values may be on one line or on lines of their own.
        for lines in [&["f 7 distinct"][..], &["f\t7", "distinct"], &["my file", "7", "distinct"]] {
            let mut parameters = Parameters::default();
            parameters.values_mut("n-best-list").extend(lines.iter().map(|&l| l.to_owned()));
            let reader = SettingsReader { ini: Path::new("moses.ini"), parameters: &parameters };
            let mut outputs = Vec::new();
            let list = OutputOptions::read(&reader, &mut outputs).unwrap().n_best.unwrap();
            assert!(list.size == 7 && list.distinct, "{lines:?}");
            let file = if lines[0] == "my file" { "my file" } else { "f" };
            assert!(outputs.contains(&(OutputStream::NBest, file.into())), "{outputs:?}");
        }
        for wrong in ["f", "f many", "f 7 distinc", "f 7 distinct more"] {
            let message = n_best(wrong).unwrap_err().to_string();
            assert!(message.contains("n-best-list"), "{message}");
        }
        assert!(read(&[("sort-word-alignment", "2")]).is_err());
    }
}
