//! The new ini: the given one with other weights and everything else unchanged, byte for
//! byte. In another folder its relative paths would name other files, so there they are
//! made absolute.

use std::io::Read;
use std::path::{Path, PathBuf};

use miriam_textio::{Input, Output};

use crate::{Configuration, Error, FeatureComponents, Result, System};

/// The text of an ini whose weights can be replaced.
pub(super) struct IniTemplate(Vec<u8>);

impl IniTemplate {
    /// Reads the ini of `configuration`; refuses one whose weights are not in `[weight]`,
    /// before any work is done for `output`.
    pub(super) fn read(configuration: &Configuration, output: &Path) -> Result<Self> {
        let path = &configuration.ini;
        let mut input = Input::open(path)?;
        let mut text = Vec::new();
        let name = input.name().to_owned();
        input.read_to_end(&mut text).map_err(|e| miriam_textio::Error::io(&name, "read", e))?;
        let has = |name| section_lines(&text).any(|(section, _)| section == name);
        if !has("feature") {
            let reason = "weights of the old format are not written; describe the system in \
                          [feature] and its weights in [weight]";
            return Err(Error::configuration(path.display().to_string(), reason));
        }
        if has("weight-overwrite") {
            let reason = "it would override the new weights; put its weights into [weight]";
            return Err(Error::section(path, "weight-overwrite", reason));
        }
        let folder = |path: &Path| path.parent().and_then(|p| p.join(".").canonicalize().ok());
        if folder(path) != folder(output) {
            text = make_paths_absolute(&text, |given| configuration.resolve_path(given))
                .map_err(|reason| Error::configuration(path.display().to_string(), reason))?;
        }
        Ok(IniTemplate(text))
    }

    /// Writes the ini with `weights`, one a component of `system`, to `output`.
    pub(super) fn write(&self, system: &System, weights: &[f32], output: &Path) -> Result<()> {
        let mut file = Output::create_atomic(output)?;
        file.write(&replace_weights(&self.0, system.features(), weights))?;
        Ok(file.finish()?)
    }
}

/// A line without comments and surrounding spaces.
fn strip_comment(line: &[u8]) -> &[u8] {
    line.split(|&b| b == b'#').next().unwrap_or_default().trim_ascii()
}

/// The name of the section that a line begins.
fn section_name(line: &[u8]) -> Option<&str> {
    let rest = strip_comment(line).strip_prefix(b"[")?;
    let name = rest.split(|&b| b == b']').next()?;
    std::str::from_utf8(name).ok()
}

/// The lines that are not blank or comments, each with its section.
fn section_lines(text: &[u8]) -> impl Iterator<Item = (&str, &[u8])> {
    let mut current = "";
    text.split(|&b| b == b'\n').filter_map(move |line| {
        if let Some(name) = section_name(line) {
            current = name;
            return None;
        }
        let content = strip_comment(line);
        (!content.is_empty()).then_some((current, content))
    })
}

/// `text` with what `resolve` makes of the relative paths of its features, absolute.
/// `Err` says which path an ini cannot hold.
fn make_paths_absolute(
    text: &[u8],
    resolve: impl Fn(&str) -> PathBuf,
) -> std::result::Result<Vec<u8>, String> {
    const KEY: &[u8] = b"path=";
    let mut out = Vec::with_capacity(text.len() + 256);
    let mut current = "";
    for line in text.split_inclusive(|&b| b == b'\n') {
        current = section_name(line).unwrap_or(current);
        if !current.starts_with("feature") {
            out.extend_from_slice(line);
            continue;
        }
        let said = line.iter().position(|&b| b == b'#').unwrap_or(line.len());
        for token in line[..said].split_inclusive(|b| b.is_ascii_whitespace()) {
            let word = token.trim_ascii_end();
            match word.strip_prefix(KEY).and_then(|path| std::str::from_utf8(path).ok()) {
                Some(path) if !path.is_empty() && Path::new(path).is_relative() => {
                    out.extend_from_slice(KEY);
                    out.extend_from_slice(absolute_path(path, &resolve)?.as_bytes());
                    out.extend_from_slice(&token[word.len()..]);
                }
                _ => out.extend_from_slice(token),
            }
        }
        out.extend_from_slice(&line[said..]);
    }
    Ok(out)
}

/// What `resolve` makes of `path`, absolute.
fn absolute_path(
    path: &str,
    resolve: impl Fn(&str) -> PathBuf,
) -> std::result::Result<String, String> {
    let full = std::path::absolute(resolve(path)).map_err(|e| format!("path={path}: {e}"))?;
    let can_hold = |text: &&str| !text.contains([' ', '\t', '\n', '\r', '#']);
    full.to_str().filter(can_hold).map(str::to_owned).ok_or_else(|| {
        format!(
            "path={path} is relative, and an ini in another folder cannot name {}: no path with \
             a space or # in it; write the tuned ini into the folder of this one",
            full.display()
        )
    })
}

/// `text` with `weights` for the tuneable `features` in its lines of `[weight]`;
/// features without a line get one after the last.
fn replace_weights(text: &[u8], features: &[FeatureComponents], weights: &[f32]) -> Vec<u8> {
    let line_of = |feature: &FeatureComponents| {
        let mut line = format!("{}=", feature.name);
        for weight in &weights[feature.range.clone()] {
            line.push_str(&format!(" {weight}"));
        }
        line
    };
    let mut missing: Vec<&FeatureComponents> = features.iter().filter(|f| f.tuneable).collect();
    let mut out = Vec::with_capacity(text.len() + 256);
    // After the last line of weights, or after the heading.
    let mut end_of_weights = None;
    let mut current = "";
    for line in text.split_inclusive(|&b| b == b'\n') {
        let said = strip_comment(line);
        if let Some(name) = section_name(line) {
            current = name;
        } else if let Some(name) = said.split(|b| b.is_ascii_whitespace()).next()
            && let ("weight", Some(name)) = (current, name.strip_suffix(b"="))
            && let Some(feature) = features.iter().find(|f| f.tuneable && f.name.as_bytes() == name)
        {
            let indent = line.len() - line.trim_ascii_start().len();
            out.extend_from_slice(&line[..indent]);
            out.extend_from_slice(line_of(feature).as_bytes());
            out.extend_from_slice(&line[indent + said.len()..]);
            missing.retain(|missing| missing.name != feature.name);
            end_of_weights = Some(out.len());
            continue;
        }
        out.extend_from_slice(line);
        if current == "weight" && !said.is_empty() {
            end_of_weights = Some(out.len());
        }
    }
    if missing.is_empty() {
        return out;
    }
    let mut lines: String = missing.iter().map(|feature| line_of(feature) + "\n").collect();
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
    use proptest::prelude::*;

    fn feature(name: &str, first: usize, count: usize, tuneable: bool) -> FeatureComponents {
        let (name, range) = (name.to_owned(), first..first + count);
        FeatureComponents { name, range, tuneable, weights: vec![1.0; count] }
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
    fn relative_paths_become_absolute() {
        let resolve = |path: &str| Path::new("/models").join(path.trim_start_matches("${INI}/"));
        let text = "path=a\n[feature]\nT path=${INI}/t.miriam\tn=1 # path=b\r\nLM path=/lm path=l\n\
                    [weight]\nT0= 1 path=c";
        let expected = "path=a\n[feature]\nT path=/models/t.miriam\tn=1 # path=b\r\n\
                        LM path=/lm path=/models/l\n[weight]\nT0= 1 path=c";
        let new = make_paths_absolute(text.as_bytes(), resolve).unwrap();
        assert_eq!(String::from_utf8(new).unwrap(), expected);
        let error = make_paths_absolute(b"[feature]\nT path=t", |_| "/my models/t".into());
        assert!(error.unwrap_err().contains("/my models/t"));
    }

    #[test]
    fn features_without_a_line_get_one() {
        let text = "[feature]\nx\n[weight]\nU0= 1\nT0= 1 2\n\n[stack]\n1\n";
        let expected = "[feature]\nx\n[weight]\nU0= 1\nT0= 0.25 -0.5\nLM0= 0.1\n\n[stack]\n1\n";
        assert_eq!(rewrite(text), expected);
        assert_eq!(rewrite("[feature]\nx"), "[feature]\nx\n\n[weight]\nT0= 0.25 -0.5\nLM0= 0.1\n");
    }

    proptest! {
        /// In any text, lines other than our weights are unchanged, and the weights are
        /// present; replacing is idempotent.
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
                section = super::section_name(line.as_bytes()).unwrap_or(section);
                let name = line.trim_start().split(' ').next().unwrap();
                if section != "weight" || !["LM0=", "T0="].contains(&name) {
                    prop_assert!(kept.any(|kept| kept == line), "{line:?} of {text:?} in {new:?}");
                }
            }
        }
    }

    #[test]
    fn sections_and_their_lines() {
        let lines: Vec<_> = section_lines(b"[a]\n1 # x\n# y\n[b] z\n\n[c]\n2").collect();
        assert_eq!(lines, [("a", &b"1"[..]), ("c", b"2")]);
    }
}
