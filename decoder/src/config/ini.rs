//! The grammar of moses.ini (`docs/spec/phrase-decoding.md` 1.1).
//!
//! `#` starts a comment anywhere; `[name]` starts or continues a section; every other
//! line is a value of its section. A section without values does not define its
//! parameter. So an unknown section is an error only if it has values, as in Moses.

use std::path::{Path, PathBuf};

use miriam_textio::{Input, Lines};

use super::{Parameters, supported_parameters};
use crate::{Error, Result};

/// Returns the ini that `path` names: a file, or the moses.ini of a folder.
pub(super) fn locate(path: PathBuf) -> Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path);
    }
    let ini = path.join("moses.ini");
    if ini.is_file() {
        return Ok(ini);
    }
    let reason = "this folder has no moses.ini; name the ini of a system, or its folder";
    Err(Error::configuration(path.display().to_string(), reason))
}

/// Reads the ini file at `path`, plain or compressed.
pub(super) fn read(path: &Path) -> Result<Parameters> {
    let mut lines = Lines::new(Input::open(path)?);
    let name = lines.name().to_owned();
    fn malformed(line: u64, reason: &str, name: &str) -> miriam_textio::Error {
        miriam_textio::Error::format(name, line, None, reason)
    }
    let mut parameters = Parameters::default();
    let mut section: Option<String> = None;
    // Unknown sections without values so far: their names and lines.
    let mut unknown: Vec<(String, u64)> = Vec::new();
    while let Some(line) = lines.next()? {
        // Comments may be in any encoding.
        let content = line.bytes.split(|&b| b == b'#').next().unwrap_or_default();
        let Ok(text) = std::str::from_utf8(content) else {
            return Err(malformed(line.number, "the line is not UTF-8", &name).into());
        };
        let text = text.trim_matches([' ', '\t', '\r']);
        if text.is_empty() {
            continue;
        }
        if let Some(rest) = text.strip_prefix('[') {
            let Some((name, after)) = rest.split_once(']') else {
                return Err(malformed(line.number, "a section name without `]`", &name).into());
            };
            if !after.trim().is_empty() {
                tracing::warn!(
                    "{}, line {}: ignored: {:?}, after [{name}]; values have lines of their own",
                    path.display(),
                    line.number,
                    after.trim()
                );
            }
            if !supported_parameters::is_section(name) {
                unknown.push((name.to_owned(), line.number));
            }
            section = Some(name.to_owned());
            continue;
        }
        match &section {
            Some(name) if !supported_parameters::is_section(name) => {
                let at = unknown.last().map_or(line.number, |(_, at)| *at);
                return Err(Error::configuration(
                    format!("{}, line {at}", path.display()),
                    supported_parameters::unsupported_message(&format!("[{name}]"), name),
                ));
            }
            Some(name) => parameters.values_mut(name).push(text.to_owned()),
            None => {
                return Err(
                    malformed(line.number, "a value before the first [section]", &name).into()
                );
            }
        }
    }
    for (name, at) in unknown {
        tracing::warn!(
            "{}, line {at}: [{name}] is unknown; it has no values, so that it has no effect",
            path.display()
        );
    }
    Ok(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Parameters> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read(file.path())
    }

    #[test]
    fn comments_sections_and_values() {
        let text = "# head\n[stack] ignored\n 100 # why\r\n\n[feature]\nWordPenalty\n[weight]\n\
                    [feature]\n\tDistortion\n";
        let parameters = parse(text).unwrap();
        assert_eq!(parameters.get("stack").unwrap(), ["100"]);
        assert_eq!(parameters.get("feature").unwrap(), ["WordPenalty", "Distortion"]);
        assert_eq!(parameters.get("weight"), None, "no value, no parameter");
    }

    #[test]
    fn complaints_name_line_and_name() {
        let message = |text| parse(text).unwrap_err().to_string();
        assert!(message("100\n").contains("line 1"));
        assert!(message("[stack\n100\n").contains("line 1"));
        let unknown = message("[stak]\n100\n");
        assert!(unknown.contains("[stak]") && unknown.contains("stack"), "{unknown}");
        let second = message("[stak]\n[stock]\n# none\n\n100\n");
        assert!(second.contains("line 2: [stock] is unknown"), "{second}");
    }

    /// Moses knows a section by its values.
    #[test]
    fn unknown_sections_without_values_have_no_effect() {
        let parameters = parse("[stak]\n# 100\n[stack]\n50\n[other]\n").unwrap();
        assert_eq!(parameters.get("stack").unwrap(), ["50"]);
        assert_eq!(parameters.get("stak"), None);
    }
}
