//! The text of an ini, for programs that change parts of it and keep the rest byte for byte. An ini
//! of the old format is converted to the new one, whose lines can be changed one by one. In another
//! folder relative paths would name other files, so they are made absolute.

use std::io::Read;
use std::path::{Path, PathBuf};

use miriam_textio::Input;

use crate::{Configuration, Error, Result};

/// The text of an ini of the new format.
pub(crate) struct IniText(Vec<u8>);

impl IniText {
    /// Reads the ini of `configuration`, converted to the new format if it has the old one.
    pub(crate) fn read(configuration: &Configuration) -> Result<Self> {
        let mut input = Input::open(&configuration.ini)?;
        let mut text = Vec::new();
        let name = input.name().to_owned();
        input.read_to_end(&mut text).map_err(|e| miriam_textio::Error::io(&name, "read", e))?;
        match configuration.lines_of_old_format()? {
            Some([features, weights]) => Ok(IniText(in_new_format(&text, &features, &weights))),
            None => Ok(IniText(text)),
        }
    }

    /// Whether the section `name` has at least one line.
    pub(crate) fn has_section(&self, name: &str) -> bool {
        section_lines(&self.0).any(|(section, _)| section == name)
    }

    /// Returns the text to be written to `file`. If that file is in another folder, relative paths
    /// are made absolute.
    pub(crate) fn for_folder_of(self, file: &Path, configuration: &Configuration) -> Result<Self> {
        fn folder(path: &Path) -> Option<PathBuf> {
            path.parent().and_then(|p| p.join(".").canonicalize().ok())
        }
        if folder(&configuration.ini) == folder(file) {
            return Ok(self);
        }
        let text = make_paths_absolute(&self.0, |given| configuration.resolve_path(given));
        text.map(IniText)
            .map_err(|reason| Error::configuration(configuration.ini.display().to_string(), reason))
    }

    /// Replaces each line of `[feature]` and `[feature-add]`: `change` gets the number of the
    /// feature and the text of its line without comments. From lines of `[feature-overwrite]`, keys
    /// are removed for which `is_replaced` is true, with the name of a feature and the key.
    pub(crate) fn change_features(
        self,
        change: impl Fn(usize, &str) -> String,
        is_replaced: impl Fn(&str, &str) -> bool,
    ) -> Self {
        let mut out = Vec::with_capacity(self.0.len() + 256);
        // Features of `[feature-add]` come after the others, wherever the section is.
        let features = section_lines(&self.0).filter(|(section, _)| *section == "feature");
        let (mut next, mut next_added) = (0, features.count());
        let mut section = "";
        for line in self.0.split_inclusive(|&b| b == b'\n') {
            section = section_name(line).unwrap_or(section);
            let content = strip_comment(line);
            let text = std::str::from_utf8(content).unwrap_or_default();
            if text.is_empty() || text.starts_with('[') {
                out.extend_from_slice(line);
                continue;
            }
            let changed = match section {
                "feature" => {
                    next += 1;
                    Some(change(next - 1, text))
                }
                "feature-add" => {
                    next_added += 1;
                    Some(change(next_added - 1, text))
                }
                "feature-overwrite" => without_replaced_keys(text, &is_replaced),
                _ => Some(text.to_owned()),
            };
            // A line of `[feature-overwrite]` without keys would be an error.
            let Some(changed) = changed else { continue };
            let indent = line.len() - line.trim_ascii_start().len();
            out.extend_from_slice(&line[..indent]);
            out.extend_from_slice(changed.as_bytes());
            out.extend_from_slice(&line[indent + content.len()..]);
        }
        IniText(out)
    }

    /// Returns the text.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Returns a line of `[feature-overwrite]` without the keys for which `is_replaced` is true, as in
/// [`IniText::change_features`]; `None` if no key is left.
fn without_replaced_keys(line: &str, is_replaced: impl Fn(&str, &str) -> bool) -> Option<String> {
    let mut tokens = line.split_ascii_whitespace();
    let feature = tokens.next()?;
    let is_kept = |token: &&str| !is_replaced(feature, token.split('=').next().unwrap_or_default());
    let kept: Vec<&str> = tokens.clone().filter(is_kept).collect();
    if kept.len() == tokens.count() {
        return Some(line.to_owned());
    }
    (!kept.is_empty()).then(|| format!("{feature} {}", kept.join(" ")))
}

/// Returns `text` with `[feature]` and `[weight]` in place of its sections of the old format.
/// `features` and `weights` are the lines of the two new sections.
fn in_new_format(text: &[u8], features: &[String], weights: &[String]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 256);
    let mut section = "";
    for line in text.split_inclusive(|&b| b == b'\n') {
        section = section_name(line).unwrap_or(section);
        if !Configuration::is_section_of_old_format(section) {
            out.extend_from_slice(line);
        }
    }
    if out.last().is_some_and(|&byte| byte != b'\n') {
        out.push(b'\n');
    }
    for (name, lines) in [("feature", features), ("weight", weights)] {
        out.extend_from_slice(format!("\n[{name}]\n{}\n", lines.join("\n")).as_bytes());
    }
    out
}

/// Returns a line without comments and surrounding spaces.
pub(crate) fn strip_comment(line: &[u8]) -> &[u8] {
    line.split(|&b| b == b'#').next().unwrap_or_default().trim_ascii()
}

/// Returns the name of the section that a line begins.
pub(crate) fn section_name(line: &[u8]) -> Option<&str> {
    let rest = strip_comment(line).strip_prefix(b"[")?;
    let name = rest.split(|&b| b == b']').next()?;
    std::str::from_utf8(name).ok()
}

/// Returns the lines that are not blank or comments, each with its section.
pub(crate) fn section_lines(text: &[u8]) -> impl Iterator<Item = (&str, &[u8])> {
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

/// Replaces the relative paths of features and rescoring models in `text` by the absolute paths
/// that `resolve` gives. An error names a path that an ini cannot hold.
fn make_paths_absolute(
    text: &[u8],
    resolve: impl Fn(&str) -> PathBuf,
) -> std::result::Result<Vec<u8>, String> {
    // `vocabs=` of models of `[rescore]` has two paths or one.
    const KEYS: [&[u8]; 2] = [b"path=", b"vocabs="];
    let mut out = Vec::with_capacity(text.len() + 256);
    let mut current = "";
    for line in text.split_inclusive(|&b| b == b'\n') {
        current = section_name(line).unwrap_or(current);
        if !current.starts_with("feature") && current != "rescore" {
            out.extend_from_slice(line);
            continue;
        }
        let content_end = line.iter().position(|&b| b == b'#').unwrap_or(line.len());
        for token in line[..content_end].split_inclusive(|b| b.is_ascii_whitespace()) {
            let word = token.trim_ascii_end();
            let found = KEYS.iter().find_map(|key| Some((key, word.strip_prefix(*key)?)));
            let found =
                found.and_then(|(key, paths)| Some((key, std::str::from_utf8(paths).ok()?)));
            let Some((key, paths)) = found else {
                out.extend_from_slice(token);
                continue;
            };
            let separator = |c: char| c == ',' && *key != KEYS[0];
            let paths = paths.split(separator).map(|path| {
                if path.is_empty() || Path::new(path).is_absolute() {
                    return Ok(path.to_owned());
                }
                absolute_path(path, &resolve)
            });
            let paths: Vec<String> = paths.collect::<std::result::Result<_, _>>()?;
            out.extend_from_slice(key);
            out.extend_from_slice(paths.join(",").as_bytes());
            out.extend_from_slice(&token[word.len()..]);
        }
        out.extend_from_slice(&line[content_end..]);
    }
    Ok(out)
}

/// Returns the absolute path that `resolve` gives for `path`.
fn absolute_path(
    path: &str,
    resolve: impl Fn(&str) -> PathBuf,
) -> std::result::Result<String, String> {
    let full = std::path::absolute(resolve(path)).map_err(|e| format!("path={path}: {e}"))?;
    full.to_str().filter(|text| !text.contains([' ', '\t', '\n', '\r', '#'])).map(str::to_owned).ok_or_else(|| {
        format!(
            "path={path} is relative; in another folder it would be {}, but a path in an ini has \
             no space and no #; write the new ini into the folder of this one",
            full.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_become_absolute() {
        let resolve = |path: &str| Path::new("/models").join(path.trim_start_matches("${INI}/"));
        let text = "path=a\n[feature]\nT path=${INI}/t.miriam\tn=1 # path=b\r\nLM path=/lm path=l\n\
                    [weight]\nT0= 1 path=c";
        let expected = "path=a\n[feature]\nT path=/models/t.miriam\tn=1 # path=b\r\n\
                        LM path=/lm path=/models/l\n[weight]\nT0= 1 path=c";
        let new = make_paths_absolute(text.as_bytes(), resolve).unwrap();
        assert_eq!(String::from_utf8(new).unwrap(), expected);
        let text = "[rescore]\nNeuralModel path=a,b vocabs=s,/t\nNgramModel path=l\n";
        let expected = "[rescore]\nNeuralModel path=/models/a,b vocabs=/models/s,/t\nNgramModel path=/models/l\n";
        let new = make_paths_absolute(text.as_bytes(), resolve).unwrap();
        assert_eq!(String::from_utf8(new).unwrap(), expected);
        let error = make_paths_absolute(b"[feature]\nT path=t", |_| "/my models/t".into());
        assert!(error.unwrap_err().contains("/my models/t"));
    }

    #[test]
    fn sections_and_their_lines() {
        let lines: Vec<_> = section_lines(b"[a]\n1 # x\n# y\n[b] z\n\n[c]\n2").collect();
        assert_eq!(lines, [("a", &b"1"[..]), ("c", b"2")]);
    }

    #[test]
    fn feature_lines_change_and_all_else_stays() {
        let text =
            b"# F\n[stack]\n1\n[feature] # x\n A a=1 # one\n\nB\r\n[weight]\nA0= 1\n[feature]\nC";
        let change = |text: &[u8]| {
            let number = |number, line: &str| format!("{number}:{line}");
            let is_replaced = |feature: &str, key: &str| feature == "A" && key == "path";
            let changed = IniText(text.to_vec()).change_features(number, is_replaced);
            String::from_utf8(changed.into_bytes()).unwrap()
        };
        let expected = "# F\n[stack]\n1\n[feature] # x\n 0:A a=1 # one\n\n1:B\r\n[weight]\nA0= 1\n[feature]\n2:C";
        assert_eq!(change(text), expected);
        let text = b"[feature-add]\nD\nE # e\n[feature-overwrite]\nA path=x # gone\n B path=x\r\n\
                     A  load=lazy path=x\nA  load=lazy\n[feature]\nA\n[stack]\n1\n";
        let expected = "[feature-add]\n1:D\n2:E # e\n[feature-overwrite]\n B path=x\r\n\
                        A load=lazy\nA  load=lazy\n[feature]\n0:A\n[stack]\n1\n";
        assert_eq!(change(text), expected);
    }

    #[test]
    fn sections_of_the_old_format_are_replaced() {
        let text = b"[stack]\n1\n[weight-t]\n# four\n0.1\n[mapping]\n0 T 0";
        let new = in_new_format(text, &["A".into(), "B".into()], &["A0= 1".into()]);
        let expected = "[stack]\n1\n[mapping]\n0 T 0\n\n[feature]\nA\nB\n\n[weight]\nA0= 1\n";
        assert_eq!(String::from_utf8(new).unwrap(), expected);
    }
}
