//! The new ini of a tuning run: the given ini with other weights, otherwise unchanged byte for
//! byte. If it is written to another folder, its relative paths are made absolute.

use std::path::Path;

use miriam_textio::Output;

use crate::ini_text::{IniText, section_name, strip_comment};
use crate::{Configuration, Error, FeatureComponents, Result, System};

/// The text of an ini whose weights can be replaced.
pub(super) struct IniTemplate(Vec<u8>);

impl IniTemplate {
    /// Reads the ini of `configuration`, to be written to `output` with new weights. Rejects an ini
    /// with `[weight-overwrite]`, before any tuning is done.
    pub(super) fn read(configuration: &Configuration, output: &Path) -> Result<Self> {
        let text = IniText::read(configuration)?;
        if text.has_section("weight-overwrite") {
            let reason = "it would override the new weights; put its weights into [weight]";
            return Err(Error::section(&configuration.ini, "weight-overwrite", reason));
        }
        Ok(IniTemplate(text.for_folder_of(output, configuration)?.into_bytes()))
    }

    /// Writes the ini with `weights`, one per component of `system`, to `output`.
    pub(super) fn write(&self, system: &System, weights: &[f32], output: &Path) -> Result<()> {
        let mut file = Output::create_atomic(output)?;
        file.write(&replace_weights(&self.0, system.features(), weights))?;
        Ok(file.finish()?)
    }
}

/// Returns `text` with `weights` for the tuneable `features` in its lines of `[weight]`; features
/// without a line get one at the end of that section.
fn replace_weights(text: &[u8], features: &[FeatureComponents], weights: &[f32]) -> Vec<u8> {
    fn line_of(feature: &FeatureComponents, weights: &[f32]) -> String {
        let mut line = format!("{}=", feature.name);
        for weight in &weights[feature.range.clone()] {
            line.push_str(&format!(" {weight}"));
        }
        line
    }
    let mut missing: Vec<&FeatureComponents> =
        features.iter().filter(|f| f.is_tuneable()).collect();
    let mut out = Vec::with_capacity(text.len() + 256);
    // The position after the last line of weights, or after the heading.
    let mut end_of_weights = None;
    let mut current = "";
    for line in text.split_inclusive(|&b| b == b'\n') {
        let content = strip_comment(line);
        if let Some(name) = section_name(line) {
            current = name;
        } else if let Some(name) = content.split(|b| b.is_ascii_whitespace()).next()
            && let ("weight", Some(name)) = (current, name.strip_suffix(b"="))
            && let Some(feature) =
                features.iter().find(|f| f.is_tuneable() && f.name.as_bytes() == name)
        {
            let indent = line.len() - line.trim_ascii_start().len();
            out.extend_from_slice(&line[..indent]);
            out.extend_from_slice(line_of(feature, weights).as_bytes());
            out.extend_from_slice(&line[indent + content.len()..]);
            missing.retain(|missing| missing.name != feature.name);
            end_of_weights = Some(out.len());
            continue;
        }
        out.extend_from_slice(line);
        if current == "weight" && !content.is_empty() {
            end_of_weights = Some(out.len());
        }
    }
    if missing.is_empty() {
        return out;
    }
    let mut lines: String =
        missing.iter().map(|feature| line_of(feature, weights) + "\n").collect();
    let at = end_of_weights.unwrap_or(out.len());
    if end_of_weights.is_none() {
        lines.insert_str(0, "\n[weight]\n");
    }
    if at > 0 && out[at - 1] != b'\n' {
        lines.insert(0, '\n');
    }
    out.splice(at..at, lines.into_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ini_text::section_lines;
    use proptest::prelude::*;

    fn feature(name: &str, first: usize, count: usize, tuneable: bool) -> FeatureComponents {
        let (name, range) = (name.to_owned(), first..first + count);
        FeatureComponents {
            name,
            range,
            tuneable: vec![tuneable; count],
            weights: vec![1.0; count],
        }
    }

    fn rewrite(text: &str) -> String {
        let features =
            [feature("U0", 0, 1, false), feature("T0", 1, 2, true), feature("LM0", 3, 1, true)];
        String::from_utf8(replace_weights(text.as_bytes(), &features, &[1.0, 0.25, -0.5, 0.1]))
            .unwrap()
    }

    #[test]
    fn only_weights_change() {
        let text = "# head\n[stack]\n100\n[weight]\r\nU0= 1\n\n# phi\n\tT0= 1 2  # two\r\n[feature]\n\
                    T0= 7\n[weight]\nLM0= 3";
        let expected = "# head\n[stack]\n100\n[weight]\r\nU0= 1\n\n# phi\n\tT0= 0.25 -0.5  # two\r\n\
                        [feature]\nT0= 7\n[weight]\nLM0= 0.1";
        assert_eq!(rewrite(text), expected);
    }

    #[test]
    fn features_without_a_line_get_one() {
        let text = "[feature]\nx\n[weight]\nU0= 1\nT0= 1 2\n\n[stack]\n1\n";
        let expected = "[feature]\nx\n[weight]\nU0= 1\nT0= 0.25 -0.5\nLM0= 0.1\n\n[stack]\n1\n";
        assert_eq!(rewrite(text), expected);
        assert_eq!(rewrite("[feature]\nx"), "[feature]\nx\n\n[weight]\nT0= 0.25 -0.5\nLM0= 0.1\n");
    }

    proptest! {
        /// In any text, all lines except the lines of tuned weights are unchanged, and the tuned
        /// weights are present. Replacing weights is idempotent.
        #[test]
        fn any_text_keeps_its_other_lines(
            lines in proptest::collection::vec(
                prop_oneof![
                    Just("[weight]"), Just("[stack] "), Just("LM0= 3 # three"), Just(" T0= x"),
                    Just("U0= 1"), Just("# LM0= 2"), Just(""), Just("LM0"), Just("="),
                ], 0..12),
            end in prop_oneof![Just(""), Just("\n")],
        ) {
            let text = lines.join("\n") + end;
            let new = rewrite(&text);
            prop_assert_eq!(rewrite(&new), new.clone());
            for expected in ["T0= 0.25 -0.5", "LM0= 0.1"] {
                let is_weight = |(section, line)| section == "weight" && line == expected.as_bytes();
                prop_assert!(section_lines(new.as_bytes()).any(is_weight), "{new}");
            }
            let mut section = "";
            let mut kept = new.lines();
            for line in text.lines() {
                section = section_name(line.as_bytes()).unwrap_or(section);
                let name = line.trim_start().split(' ').next().unwrap();
                if section != "weight" || !["LM0=", "T0="].contains(&name) {
                    prop_assert!(kept.any(|kept| kept == line), "{line:?} of {text:?} in {new:?}");
                }
            }
        }
    }
}
