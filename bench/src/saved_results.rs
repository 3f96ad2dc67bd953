//! Saved results of a study: each result is written when it is measured. If the study is stopped,
//! the same command reads these results from the file and measures only the others.
//!
//! The first line of `results.jsonl` says what is measured; each further line is a result with its
//! name. Results of different studies are not mixed, and are overwritten only on request. One
//! command at a time may use a folder.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use miriam_storage::file_lock::FileLock;
use miriam_textio::{Output, ProgressTask};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::description::{describe_program, find_difference};
use crate::error::{Error, Result, cannot};

/// The folder of a study.
#[derive(Clone, Debug)]
pub struct StudyFolder {
    /// The folder, which is made if it is missing.
    pub path: PathBuf,
    /// Whether saved results in the folder are measured again and replaced.
    pub overwrite: bool,
}

/// The results so far, and the file of a study that has a folder.
pub struct SavedResults {
    results: HashMap<String, Value>,
    file: Option<(PathBuf, File)>,
    /// The lock on the folder, which ends with the study.
    _lock: Option<FileLock>,
    /// Whether a result was measured since the last step.
    has_measured: bool,
}

const NAME: &str = "results.jsonl";
const LOCK_NAME: &str = "results.lock";

/// Makes the folder of a study if it is missing, and locks it.
///
/// # Errors
/// If the folder cannot be made, or another command measures in it.
pub(crate) fn lock_folder(path: &Path) -> Result<FileLock> {
    fs::create_dir_all(path).map_err(cannot("make this folder", path))?;
    FileLock::try_acquire(&path.join(LOCK_NAME))?.ok_or_else(|| {
        Error::unmeasurable(format!(
            "{}: another study is measured in this folder; wait for it, or give another -o",
            path.display()
        ))
    })
}

impl SavedResults {
    /// Opens the results in a folder, or begins a file of them. `study` describes what is measured;
    /// the program and the CPU are added to it. Without a folder nothing is saved.
    ///
    /// # Errors
    /// If another command uses the folder, it has results of another study or damaged ones, or a
    /// file cannot be read or written.
    pub fn open(folder: Option<&StudyFolder>, study: Value) -> Result<Self> {
        let Some(StudyFolder { path, overwrite }) = folder else {
            return Ok(SavedResults {
                results: HashMap::new(),
                file: None,
                _lock: None,
                has_measured: false,
            });
        };
        let lock = lock_folder(path)?;
        let path = path.join(NAME);
        let mut description = describe_program()?;
        description.insert("study".into(), study);
        let description = Value::Object(description);
        let mut results = HashMap::new();
        // A study that was killed before its first result has no results to continue or to lose.
        let saved = if *overwrite { None } else { read_lines(&path)? };
        let lines = saved.as_deref().filter(|lines| lines.len() > 1).unwrap_or_default();
        for (line, number) in lines.iter().zip(1..) {
            read_line(line, number, &description, &mut results).map_err(|reason| {
                Error::unmeasurable(format!(
                    "{}: {reason}; give -o another folder, or --overwrite to measure again",
                    path.display()
                ))
            })?;
        }
        // The file is written again, because its last line may be incomplete.
        let mut text = format!("{description}\n");
        for line in lines.iter().skip(1) {
            text += line;
            text.push('\n');
        }
        Output::write_file(&path, text.as_bytes())?;
        let file = File::options().append(true).open(&path);
        let file = file.map_err(cannot("write this file", &path))?;
        Ok(SavedResults {
            results,
            file: Some((path, file)),
            _lock: Some(lock),
            has_measured: false,
        })
    }

    /// Whether there is a saved result `name` that was not taken yet.
    pub fn contains(&self, name: &str) -> bool {
        self.results.contains_key(name)
    }

    /// Takes the saved result `name`; `None` if there is none.
    ///
    /// # Errors
    /// If the result is damaged.
    pub fn take<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>> {
        let (Some(saved), Some((path, _))) = (self.results.remove(name), &self.file) else {
            return Ok(None);
        };
        serde_json::from_value(saved).map(Some).map_err(|error| {
            Error::unmeasurable(format!(
                "{}: the result {name:?} is damaged: {error}; give --overwrite to measure again",
                path.display()
            ))
        })
    }

    /// Saves the result `name`, if the study has a folder.
    ///
    /// # Errors
    /// If the result cannot be written.
    pub fn save<T: Serialize>(&mut self, name: &str, result: &T) -> Result<()> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        // A single write, so that a line can only be cut if the whole system stops.
        let line = format!("{}\n", json!({ "name": name, "result": result }));
        file.write_all(line.as_bytes()).map_err(cannot("write this file", path))
    }

    /// Returns the saved result `name`; if there is none, measures it and saves it.
    ///
    /// # Errors
    /// Those of `measure`, and if the result cannot be read or written.
    pub fn get_or_measure<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
        measure: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if let Some(saved) = self.take(name)? {
            return Ok(saved);
        }
        self.has_measured = true;
        let result = measure()?;
        self.save(name, &result)?;
        Ok(result)
    }

    /// Advances `task` by a step. A step whose results were all saved is skipped, because it says
    /// nothing about the time left.
    pub fn advance(&mut self, task: &ProgressTask<'_>) {
        if std::mem::take(&mut self.has_measured) { task.advance(1) } else { task.skip(1) }
    }
}

/// Returns the complete lines of a file; `None` if it does not exist.
fn read_lines(path: &PathBuf) -> Result<Option<Vec<String>>> {
    let text = match fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(cannot("read this file", path))?,
    };
    let text = String::from_utf8_lossy(&text);
    let complete = text.rsplit_once('\n').map_or("", |(lines, _)| lines);
    Ok(Some(complete.lines().map(str::to_owned).collect()))
}

/// Checks the description in line 1, or adds the result of another line.
fn read_line(
    line: &str,
    number: usize,
    description: &Value,
    results: &mut HashMap<String, Value>,
) -> Result<(), String> {
    let damaged = || format!("line {number} is damaged");
    let mut value: Value = serde_json::from_str(line).map_err(|_| damaged())?;
    if number == 1 {
        return match find_difference("", &value, description) {
            Some(difference) => Err(format!("the results are of another study: {difference}")),
            None => Ok(()),
        };
    }
    match (value["name"].take(), value["result"].take()) {
        (Value::String(name), result) if !result.is_null() => {
            results.insert(name, result);
            Ok(())
        }
        _ => Err(damaged()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(rounds: u32) -> Value {
        json!({ "rounds": rounds, "batches": [1, 2] })
    }

    /// Returns three results, and the names of those that were measured.
    fn run(folder: &StudyFolder, study: Value) -> Result<(Vec<f64>, Vec<u32>)> {
        let mut saved = SavedResults::open(Some(folder), study)?;
        let (mut results, mut measured) = (Vec::new(), Vec::new());
        for number in 1u32..=3 {
            results.push(saved.get_or_measure(&format!("batch {number}"), || {
                measured.push(number);
                Ok(1.0 / f64::from(number))
            })?);
        }
        Ok((results, measured))
    }

    #[test]
    fn a_killed_study_is_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let mut folder = StudyFolder { path: folder.path().join("new"), overwrite: false };
        let (all, measured) = run(&folder, study(1)).unwrap();
        assert_eq!(measured, [1, 2, 3]);
        let path = folder.path.join(NAME);
        let text = fs::read_to_string(&path).unwrap();
        // If the file is cut at any byte, only the incomplete results are measured again.
        for length in 0..=text.len() {
            fs::write(&path, &text[..length]).unwrap();
            let complete = text[..length].matches('\n').count().saturating_sub(1) as u32;
            let (results, measured) = run(&folder, study(1)).unwrap();
            assert_eq!(results, all);
            assert_eq!(measured, (complete + 1..=3).collect::<Vec<_>>(), "{length} bytes");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        folder.overwrite = true;
        assert_eq!(run(&folder, study(1)).unwrap().1, [1, 2, 3]);
    }

    #[test]
    fn one_study_at_a_time_uses_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let folder = StudyFolder { path: folder.path().into(), overwrite: true };
        let first = SavedResults::open(Some(&folder), study(1)).unwrap();
        let second = SavedResults::open(Some(&folder), study(1)).err().unwrap().to_string();
        assert!(second.contains("another study is measured in this folder"), "{second}");
        drop(first);
        assert!(!folder.path.join(LOCK_NAME).exists());
        assert_eq!(run(&folder, study(1)).unwrap().1, [1, 2, 3]);
    }

    #[test]
    fn results_of_another_study_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let folder = StudyFolder { path: folder.path().into(), overwrite: false };
        run(&folder, study(1)).unwrap();
        let error = run(&folder, study(2)).unwrap_err().to_string();
        assert!(error.contains("another study: study rounds: was 1, is now 2"), "{error}");
        assert!(error.contains("--overwrite"), "{error}");
        let path = folder.path.join(NAME);
        let text = fs::read_to_string(&path).unwrap();
        for (from, to, expected) in [
            ("{\"name\":\"batch 2\"", "{\"nam", "line 3 is damaged"),
            ("0.5", "\"fast\"", "the result \"batch 2\" is damaged"),
            ("\"result\":0.5", "\"result\":null", "line 3 is damaged"),
        ] {
            fs::write(&path, text.replace(from, to)).unwrap();
            let error = run(&folder, study(1)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn damaged_files_are_rejected_or_read(place in 0usize..2000, byte: u8) {
            let folder = tempfile::tempdir().unwrap();
            let folder = StudyFolder { path: folder.path().into(), overwrite: false };
            run(&folder, study(1)).unwrap();
            let path = folder.path.join(NAME);
            let mut bytes = fs::read(&path).unwrap();
            let place = place % bytes.len();
            bytes[place] = byte;
            fs::write(&path, bytes).unwrap();
            if let Ok((results, _)) = run(&folder, study(1)) {
                proptest::prop_assert_eq!(results.len(), 3);
            }
        }
    }
}
