//! Scores of translations by further models, added to n-best lists as features.

use std::path::Path;

use miriam_textio::n_best::{NBestEntry, NBestForm, NBestReader, split_features};
use miriam_textio::number::push_general;
use miriam_textio::{Output, Progress, ordered_map};

use crate::{Error, Result};

/// The features that are added.
pub struct AddedFeatures<'a> {
    /// Their names, without `=`; each has one value.
    pub names: &'a [String],
    /// Appends the values of a translation, one for each name.
    pub score: &'a (dyn Fn(&[u8], &mut Vec<f64>) + Sync),
}

/// Writes `list` with additional features after those of each entry. Totals stay as they are: no
/// weight of the new features is known. Returns the number of entries.
///
/// # Errors
/// If a name is not one, or a feature of the list has it; if a file cannot be read or written, or a
/// line is invalid; if a score is not finite.
pub fn add_features(
    list: &Path,
    added: &AddedFeatures<'_>,
    threads: usize,
    mut output: Output,
    progress: &dyn Progress,
) -> Result<u64> {
    check_names(added.names)?;
    let mut reader = NBestReader::new([list.to_owned()], NBestForm::Any);
    let task = progress.task("scoring", None);
    let mut count = 0;
    ordered_map(
        threads,
        || -> Result<_> { Ok(reader.next()?) },
        || |entries: Vec<NBestEntry>| added.add_to(&entries),
        |written: Result<(Vec<u8>, usize)>, more| {
            let (text, entries) = written?;
            output.write(&text)?;
            count += entries as u64;
            task.set_position(count);
            if task.is_cancelled() {
                return Err(Error::Cancelled);
            }
            if more { Ok(()) } else { Ok(output.flush()?) }
        },
    )?;
    output.finish()?;
    Ok(count)
}

fn check_names(names: &[String]) -> Result<()> {
    for (place, name) in names.iter().enumerate() {
        let is_valid = !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && !name.contains(|c: char| c.is_whitespace() || "=:|".contains(c));
        if !is_valid {
            return Err(Error::usage(format!(
                "{name:?} is not a name of a feature: expected letters, then letters and digits"
            )));
        }
        if names[..place].contains(name) {
            return Err(Error::usage(format!("two features have the name {name}")));
        }
    }
    Ok(())
}

impl AddedFeatures<'_> {
    /// Returns the lines of a sentence with the features, and their number.
    fn add_to(&self, entries: &[NBestEntry]) -> Result<(Vec<u8>, usize)> {
        let mut text = Vec::new();
        let mut values = Vec::with_capacity(self.names.len());
        for entry in entries {
            let known = split_features(entry.features())
                .find_map(|(name, _)| self.names.iter().find(|new| new.as_bytes() == name));
            if let Some(known) = known {
                let reason = format!("feature {known} is there already; choose another name");
                return Err(entry.error(entry.fields.features_field, reason).into());
            }
            values.clear();
            (self.score)(entry.text(), &mut values);
            let mut features = Vec::new();
            for (name, value) in self.names.iter().zip(&values) {
                if !value.is_finite() {
                    let reason = format!("the score {name} of this translation is {value}");
                    return Err(entry.error(2, reason).into());
                }
                if !features.is_empty() {
                    features.push(b' ');
                }
                features.extend_from_slice(name.as_bytes());
                features.extend_from_slice(b"= ");
                push_general(&mut features, *value);
            }
            entry.fields.push_changed(&entry.line, &features, None, &mut text);
            text.push(b'\n');
        }
        Ok((text, entries.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miriam_textio::NoProgress;

    fn run(list: &str, names: &[&str]) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let [path, out] = ["list", "out"].map(|name| folder.path().join(name));
        std::fs::write(&path, list).unwrap();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let score = |text: &[u8], values: &mut Vec<f64>| {
            values.push(if text == b"bad" { f64::NAN } else { text.len() as f64 });
            values.push(-0.5);
        };
        let added = AddedFeatures { names: &names, score: &score };
        let output = Output::create(&out).unwrap();
        add_features(&path, &added, 2, output, &NoProgress).map_err(|e| e.to_string())?;
        Ok(std::fs::read_to_string(&out).unwrap())
    }

    #[test]
    fn features_follow_those_of_the_list() {
        let list =
            "0 ||| ab ||| LM0= -1 ||| -2 ||| 0-0\n0 ||| a |||  ||| -3\n1 |||  ||| -1 ||| 0\n";
        assert_eq!(
            run(list, &["L", "M"]).unwrap(),
            "0 ||| ab ||| LM0= -1 L= 2 M= -0.5 ||| -2 ||| 0-0\n\
             0 ||| a ||| L= 1 M= -0.5 ||| -3\n1 |||  ||| -1 L= 0 M= -0.5 ||| 0\n"
        );
    }

    #[test]
    fn names_and_scores_that_do_not_fit_are_refused() {
        let list = "0 ||| ab ||| LM0= -1 ||| -2\n0 ||| bad ||| LM0= -1 ||| -2\n";
        for (names, reason) in [
            (["LM0", "M"], "line 1, field 3: feature LM0 is there already"),
            (["L", "M"], "line 2, field 2: the score L of this translation is NaN"),
            (["L", "L"], "two features have the name L"),
            (["L M", "N"], "\"L M\" is not a name"),
            (["L=", "N"], "\"L=\" is not a name"),
            (["", "N"], "\"\" is not a name"),
        ] {
            let error = run(list, &names).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
