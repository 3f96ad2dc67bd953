//! Program of the user that scores a model or its translations (`valid-script-path`,
//! `docs/spec/training.md` A.12).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// The error of Unix systems (ENOEXEC) for a file that is neither a program nor begins with `#!`. A
/// shell, to which Marian gives the command, then reads the file as a script.
const NOT_EXECUTABLE: i32 = 8;

/// The program and its first arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationScript {
    /// The program.
    pub path: PathBuf,
    /// Arguments before the file of translations (`valid-script-args`).
    pub arguments: Vec<String>,
}

impl ValidationScript {
    /// Checks that the program exists, before hours of training.
    ///
    /// # Errors
    /// If the program does not exist.
    pub fn check(&self) -> Result<()> {
        let program = match self.command() {
            Some(command) => Path::new(command.split_whitespace().next().unwrap_or_default()),
            None => &self.path,
        };
        let is_name = program.components().count() == 1;
        let on_path = std::env::var_os("PATH").is_some_and(|folders| {
            std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
        });
        if program.is_file() || is_name && on_path {
            return Ok(());
        }
        Err(self.error(
            "program not found; give its path here and its arguments with --valid-script-args",
        ))
    }

    /// Returns the path if it is a command with arguments, such as `bash ./validate.sh`, which
    /// Marian gives to a shell.
    fn command(&self) -> Option<&str> {
        let text = self.path.to_str().filter(|text| text.contains(char::is_whitespace));
        text.filter(|_| !self.path.is_file())
    }

    /// Returns the number that is the first word of the program's output. `translations` is the
    /// last argument of the program.
    ///
    /// # Errors
    /// If the program cannot be run, fails, or does not print a number.
    pub fn score(&self, translations: Option<&Path>) -> Result<f64> {
        let run = |mut command: Command| {
            let command = command.args(&self.arguments).args(translations);
            command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()
        };
        let mut shell = Command::new("sh");
        let output = match self.command() {
            None => match run(Command::new(&self.path)) {
                Err(error) if error.raw_os_error() == Some(NOT_EXECUTABLE) => {
                    shell.arg(&self.path);
                    run(shell)
                }
                output => output,
            },
            Some(text) => {
                shell.args(["-c", &format!("{text} \"$@\""), "sh"]);
                run(shell)
            }
        };
        let output =
            output.map_err(|e| self.error(format!("cannot run: {e}; it must be a program")))?;
        if !output.status.success() {
            return Err(self.error(format!(
                "the program has failed ({}); to resume the training from its last save, repeat \
                the same command",
                output.status
            )));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let word = text.split_whitespace().next().unwrap_or_default();
        let number = word.trim_end_matches([',', ';', '%']).parse().ok();
        number.ok_or_else(|| {
            self.error(format!("expected a number at the start of its output, found {word:?}"))
        })
    }

    fn error(&self, reason: impl std::fmt::Display) -> Error {
        Error::config(format!("--valid-script-path: {}: {reason}", self.path.display()))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(command: &str) -> ValidationScript {
        ValidationScript { path: "sh".into(), arguments: vec!["-c".into(), command.into()] }
    }

    #[test]
    fn the_first_number_is_the_score() {
        let script = shell("echo 34.25, 60.1/40; echo 7");
        script.check().unwrap();
        assert_eq!(script.score(None).unwrap(), 34.25);
        // The first argument after the command is $0.
        assert_eq!(shell("cat < $0").score(Some(Path::new("/dev/null"))).ok(), None);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("translations");
        std::fs::write(&file, "one\ntwo\n").unwrap();
        assert_eq!(shell("wc -l < $0").score(Some(&file)).unwrap(), 2.0);
    }

    #[test]
    fn a_path_may_be_a_command() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("two words.sh");
        std::fs::write(&file, "echo $# $2\n").unwrap();
        let command = format!("sh '{}'", file.display());
        let arguments = vec!["a b".to_owned()];
        let script = ValidationScript { path: command.into(), arguments };
        script.check().unwrap();
        assert_eq!(script.score(Some(Path::new("translations"))).unwrap(), 2.0);
        let missing = ValidationScript { path: "no-such-program x".into(), arguments: Vec::new() };
        assert!(missing.check().is_err());
    }

    #[test]
    fn a_script_need_not_name_its_shell() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("validate");
        // Another process writes the file: one that is open for writing cannot be run.
        let writing = shell("echo 'echo $#' > $0; chmod +x $0; echo 1");
        writing.score(Some(&file)).unwrap();
        let script = ValidationScript { path: file, arguments: vec!["a b".into()] };
        script.check().unwrap();
        assert_eq!(script.score(Some(Path::new("translations"))).unwrap(), 2.0);
        assert_eq!(script.score(None).unwrap(), 1.0);
    }

    #[test]
    fn failures_of_the_program_are_named() {
        let error = |script: ValidationScript| script.score(None).unwrap_err().to_string();
        assert!(error(shell("exit 3")).contains("--valid-script-path: sh: the program has failed"));
        assert!(error(shell("echo BLEU = 3")).contains("\"BLEU\""));
        assert!(error(shell("true")).contains("expected a number"));
        let missing = ValidationScript { path: "./no-such-program".into(), arguments: Vec::new() };
        assert!(
            missing.check().unwrap_err().to_string().contains("no-such-program: program not found")
        );
        assert!(error(missing).contains("cannot run"));
        let name = ValidationScript { path: "no-such-program".into(), arguments: Vec::new() };
        assert!(name.check().is_err());
    }
}
