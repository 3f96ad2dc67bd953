//! Systems of a scaling study, and their names in its figures.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A system to measure: a curve of the chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredSystem {
    /// Its name in tables and in the chart.
    pub name: String,
    /// What it does.
    pub workload: Workload,
    /// Further options of the workload's subcommand.
    pub options: Vec<String>,
}

/// The work of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Workload {
    /// `translate` with a moses.ini.
    Phrase(PathBuf),
    /// `nmt translate` with a model.
    Neural(PathBuf),
    /// `lm perplexity` with a model.
    LanguageModel(PathBuf),
    /// A command of the shell that reads lines and writes a line for each. `{threads}` and
    /// `{cpus}` in it are replaced.
    Command(String),
}

impl Workload {
    /// Returns the kind's name on the command line of a measuring process.
    pub fn kind(&self) -> &'static str {
        match self {
            Workload::Phrase(_) => "phrase",
            Workload::Neural(_) => "nmt",
            Workload::LanguageModel(_) => "lm",
            Workload::Command(_) => "command",
        }
    }
}

impl MeasuredSystem {
    /// Returns the arguments of the measuring process after `--`: options of the subcommand with
    /// a worker on each of `cpus`, or the command.
    pub fn arguments(&self, input: &Path, cpus: &[usize]) -> Vec<OsString> {
        let threads = cpus.len().to_string();
        let mut arguments: Vec<OsString> = match &self.workload {
            Workload::Phrase(ini) => {
                let list: Vec<String> = cpus.iter().map(usize::to_string).collect();
                let files = ["-f".into(), ini.into(), "-i".into(), input.into()];
                let workers =
                    ["-threads".into(), threads.into(), "-cpus".into(), list.join(",").into()];
                [files, workers].concat()
            }
            Workload::Neural(model) => {
                vec!["-m".into(), model.into(), "--threads".into(), threads.into()]
            }
            Workload::LanguageModel(model) => {
                vec![model.into(), "--threads".into(), threads.into()]
            }
            Workload::Command(command) => vec![fill_placeholders(command, cpus).into()],
        };
        // GPUs are measured only if they are asked for.
        let is_placed = self.options.iter().any(|option| option.starts_with("--device"));
        let has_device = matches!(self.workload, Workload::Neural(_) | Workload::LanguageModel(_));
        if has_device && !is_placed {
            arguments.extend(["--device".into(), "cpu".into()]);
        }
        arguments.extend(self.options.iter().map(Into::into));
        arguments
    }
}

/// Returns `command` with `{threads}` and `{cpus}` replaced by the number of CPUs and their list.
fn fill_placeholders(command: &str, cpus: &[usize]) -> String {
    let list: Vec<String> = cpus.iter().map(usize::to_string).collect();
    command.replace("{threads}", &cpus.len().to_string()).replace("{cpus}", &list.join(","))
}

/// Divides `NAME=REST` at the first `=`. An argument that is the path of a file is not divided.
pub fn split_name(argument: &str) -> (Option<&str>, &str) {
    match argument.split_once('=') {
        Some((name, rest)) if !Path::new(argument).exists() => (Some(name), rest),
        _ => (None, argument),
    }
}

/// Returns the default name of a system: the name of the folder of a moses.ini, the name of a
/// folder, or the name of another file without its extension.
pub fn default_name(path: &Path) -> String {
    // A relative path may lack the name of its folder.
    let path = path.canonicalize().unwrap_or_else(|_| path.into());
    let is_standard = path.file_name().is_some_and(|name| name == "moses.ini");
    let named = match path.parent() {
        Some(folder) if is_standard => folder.file_name(),
        _ if path.is_dir() => path.file_name(),
        _ => path.file_stem(),
    };
    // The root of the file system has no name.
    named.map_or_else(|| "system".into(), |name| name.to_string_lossy().into_owned())
}

/// Checks that names can be told apart and be written to CSV.
///
/// # Errors
/// If a name is empty, is used twice, or has a comma, a quotation mark or a control character.
pub fn check_names(systems: &[MeasuredSystem]) -> Result<()> {
    let mut seen = HashSet::new();
    for MeasuredSystem { name, .. } in systems {
        let is_unfit = |c: char| c == ',' || c == '"' || c.is_control();
        if name.trim().is_empty() || name.contains(is_unfit) {
            return Err(Error::unmeasurable(format!(
                "{name:?} cannot name a system: expected characters other than commas and \
                 quotation marks; give a name as NAME=..."
            )));
        }
        if !seen.insert(name) {
            return Err(Error::unmeasurable(format!(
                "two systems are named {name}; give them names as NAME=..."
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(name: &str) -> MeasuredSystem {
        let workload = Workload::Phrase("m/moses.ini".into());
        MeasuredSystem { name: name.into(), workload, options: vec!["-s".into(), "9".into()] }
    }

    #[test]
    fn names_are_given_or_those_of_folders() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a=b");
        std::fs::create_dir(&path).unwrap();
        let ini = path.join("moses.ini");
        for name in [&ini, &path.join("probing.ini"), &path.join("lm.5.bin")] {
            std::fs::write(name, "").unwrap();
        }
        assert_eq!(default_name(&ini), "a=b");
        assert_eq!(default_name(&path), "a=b");
        assert_eq!(default_name(&path.join("probing.ini")), "probing");
        assert_eq!(default_name(&path.join("lm.5.bin")), "lm.5");
        assert_eq!(default_name(Path::new("absent/moses.ini")), "absent");
        assert_eq!(default_name(Path::new("/")), "system");
        let whole = path.to_str().unwrap();
        assert_eq!(split_name(whole), (None, whole), "a path with =");
        assert_eq!(split_name("x=a=b"), (Some("x"), "a=b"));
        assert_eq!(split_name("moses.ini"), (None, "moses.ini"));
    }

    #[test]
    fn names_that_cannot_be_told_apart_are_rejected() {
        assert!(check_names(&[system("a"), system("b c")]).is_ok());
        let twice = check_names(&[system("a"), system("b"), system("a")]).unwrap_err().to_string();
        assert!(twice.contains("two systems are named a"), "{twice}");
        for name in ["", " ", "a,b", "a\"b", "a\nb"] {
            let error = check_names(&[system(name)]).unwrap_err().to_string();
            assert!(error.contains("cannot name a system"), "{error}");
        }
    }

    #[test]
    fn placeholders_are_replaced() {
        let filled = fill_placeholders("moses -t {threads} --cpus {cpus} {other}", &[4, 0, 7]);
        assert_eq!(filled, "moses -t 3 --cpus 4,0,7 {other}");
    }

    #[test]
    fn measuring_processes_get_threads_and_cpus() {
        let arguments = system("a").arguments(Path::new("text"), &[0, 4]);
        let expected = "-f m/moses.ini -i text -threads 2 -cpus 0,4 -s 9";
        assert_eq!(arguments, expected.split(' ').collect::<Vec<_>>());
        let text = Path::new("text");
        let neural = MeasuredSystem { workload: Workload::Neural("n".into()), ..system("b") };
        assert_eq!(
            neural.arguments(text, &[0, 4]),
            ["-m", "n", "--threads", "2", "--device", "cpu", "-s", "9"]
        );
        let mut lm = MeasuredSystem { workload: Workload::LanguageModel("l".into()), ..neural };
        lm.options = vec!["--device=cuda".into()];
        assert_eq!(lm.arguments(text, &[3]), ["l", "--threads", "1", "--device=cuda"]);
        let workload = Workload::Command("x -t {threads} -c {cpus}".into());
        let other = MeasuredSystem { workload, options: Vec::new(), ..system("b") };
        assert_eq!(other.arguments(Path::new("text"), &[0, 4]), ["x -t 2 -c 0,4"]);
    }
}
