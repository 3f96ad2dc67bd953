//! Options of all subcommands, and exit codes.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use miriam_storage::{Container, LoadMethod};
use miriam_textio::{Input, Output, is_same_file, parse_size, quote_for_shell, set_max_line_bytes};
use tracing::level_filters::LevelFilter;

const GENERAL_HEADING: &str = "General options";
const LOG_LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];
/// Names of Marian for the level of errors.
const ERROR_ALIASES: [&str; 2] = ["err", "critical"];

/// Returns a parser for the names of log levels.
fn log_level_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(LOG_LEVELS.map(|level| {
        let value = PossibleValue::new(level);
        if level == "error" { value.aliases(ERROR_ALIASES) } else { value }
    }))
}

/// Returns the level of a name; errors alone for Marian's names.
fn parse_log_level(name: &str) -> LevelFilter {
    let name = if ERROR_ALIASES.contains(&name) { "error" } else { name };
    name.parse().unwrap_or(LevelFilter::INFO)
}

/// Options of all subcommands.
#[derive(Args, Clone, Debug)]
pub struct CommonOptions {
    /// Worker threads; `all` for every core
    #[arg(long, global = true, value_name = "N", default_value = "all", value_parser = parse_threads,
          help_heading = GENERAL_HEADING)]
    pub threads: Threads,
    /// Draw no progress bar
    #[arg(long, global = true, help_heading = GENERAL_HEADING)]
    pub quiet: bool,
    /// The lowest level of messages shown on standard error
    #[arg(long, global = true, value_name = "LEVEL", default_value = "info",
          value_parser = log_level_parser(), help_heading = GENERAL_HEADING)]
    pub log_level: String,
    /// The maximum length of a line; longer lines, as in input without line ends, are errors
    /// [default: 64M, without a limit where lines are not kept in memory]
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size,
          help_heading = GENERAL_HEADING)]
    pub max_line_size: Option<u64>,
}

/// A number of threads, resolved on use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Every core.
    All,
    /// This number.
    Count(usize),
}

impl Threads {
    /// Returns the number of threads.
    pub fn count(self) -> usize {
        match self {
            Threads::All => miriam_textio::available_threads(),
            Threads::Count(n) => n,
        }
    }
}

pub fn parse_threads(text: &str) -> Result<Threads, String> {
    match text {
        "all" => Ok(Threads::All),
        _ => match text.parse() {
            Ok(n) if (1..=4096).contains(&n) => Ok(Threads::Count(n)),
            _ => Err("expected a number from 1 to 4096, or all".into()),
        },
    }
}

/// Parses the name of a load method.
pub fn parse_load_mode(text: &str) -> Result<LoadMethod, String> {
    match text {
        "lazy" => Ok(LoadMethod::Lazy),
        "populate" => Ok(LoadMethod::Populate),
        "huge" => Ok(LoadMethod::HugePages),
        _ => Err("expected lazy, populate or huge".into()),
    }
}

impl Default for CommonOptions {
    fn default() -> Self {
        CommonOptions {
            threads: Threads::All,
            quiet: false,
            log_level: "info".into(),
            max_line_size: None,
        }
    }
}

impl CommonOptions {
    /// Sets the log level by its name.
    pub fn set_log_level(&mut self, level: &str) -> Result<(), String> {
        if !LOG_LEVELS.contains(&level) && !ERROR_ALIASES.contains(&level) {
            return Err(format!("-log-level {level:?}: there are {}", LOG_LEVELS.join(", ")));
        }
        self.log_level = level.to_owned();
        Ok(())
    }

    /// Sends log messages to standard error, and sets the limit on the length of lines.
    pub fn apply(&self) {
        if let Some(bytes) = self.max_line_size {
            set_max_line_bytes(bytes);
        }
        let level = parse_log_level(&self.log_level);
        tracing_subscriber::fmt()
            .with_max_level(level)
            .with_writer(crate::console::standard_error)
            // Reporting would fail, and panic, if standard error is closed.
            .log_internal_errors(false)
            .without_time()
            .with_target(false)
            .init();
    }

    /// Creates a pool with the requested number of threads, for parallel building.
    pub fn build_thread_pool(&self) -> anyhow::Result<rayon::ThreadPool> {
        Ok(rayon::ThreadPoolBuilder::new().num_threads(self.threads.count()).build()?)
    }

    /// Returns the progress bar that long work reports to.
    pub fn progress(&self) -> crate::progress::TerminalProgress {
        crate::progress::TerminalProgress::new(self.quiet)
    }

    /// Returns the progress of a study: a bar, or lines of the log where standard error is not a
    /// terminal.
    pub fn study_progress(&self) -> crate::progress::TerminalProgress {
        crate::progress::TerminalProgress::for_study(self.quiet)
    }
}

/// Memory for buffers, threads and the program itself, independent of `--memory`.
const MEMORY_FLOOR: u64 = 128 << 20;

/// Warns of a memory limit below the minimum of a run.
pub fn warn_of_memory_floor(limit: Option<u64>) {
    if let Some(limit) = limit.filter(|limit| *limit < MEMORY_FLOOR) {
        tracing::warn!(
            "--memory is {} MiB: the limit is for memory that grows with the text; about {} MiB are taken \
             in any case",
            limit >> 20,
            MEMORY_FLOOR >> 20
        );
    }
}

/// Opens a text, and warns if it looks like another format. If the text is standard input from a
/// terminal, asks the user to type.
pub fn open_text(path: &Path) -> miriam_textio::Result<Input> {
    if path.as_os_str() == "-" && std::io::stdin().is_terminal() {
        tracing::info!("type text, a line at a time; Ctrl-D ends it");
    }
    let input = Input::open(path)?;
    warn_of_binary(&input);
    Ok(input)
}

/// Warns of an input that does not look like text.
pub fn warn_of_binary(input: &Input) {
    if input.is_binary() {
        let name = input.name();
        tracing::warn!("{name}: the input has zero bytes; is it text in UTF-8?");
    }
}

/// Opens the text `argument` if there is one, otherwise the file at `path`. Warns if `argument` is
/// the name of a file, because its name is translated then.
pub fn open_argument_or_file(argument: Option<&str>, path: &Path) -> miriam_textio::Result<Input> {
    match argument {
        Some(text) => {
            if Path::new(text).is_file() {
                tracing::warn!(
                    "{}: this text is also the name of a file; to translate the file, give -i {}",
                    text,
                    quote_for_shell(Path::new(text))
                );
            }
            let bytes = text.as_bytes().to_vec();
            let size = bytes.len() as u64;
            Input::from_reader(std::io::Cursor::new(bytes), "the text given", Some(size))
        }
        None => open_text(path),
    }
}

/// Checks the checksums of a file of this program before it is converted. The new file has new
/// checksums, which would hide damage of the old file.
pub fn verify_checksums(path: &Path) -> miriam_storage::Result<()> {
    if Container::is_container(path) {
        Container::open_any(path, LoadMethod::Lazy)?.verify()?;
    }
    Ok(())
}

/// Warns like [`open_text`], for texts that are opened later and more than once. Standard input and
/// pipes are not checked.
///
/// # Errors
/// If a file cannot be read.
pub fn warn_if_binary<'p>(texts: impl IntoIterator<Item = &'p Path>) -> miriam_textio::Result<()> {
    texts.into_iter().filter(|text| text.is_file()).try_for_each(|text| open_text(text).map(drop))
}

/// Returns the exit status: 1 with a message on standard error for invalid input or environment,
/// 2 for wrong usage. A closed pipe is not an error.
pub fn exit_code(outcome: anyhow::Result<()>) -> ExitCode {
    // Buffered output is part of the result.
    let written = crate::console::standard_output().flush();
    match outcome.and_then(|()| Ok(written?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let usage = matches!(
                error.downcast_ref::<miriam_decoder::Error>(),
                Some(miriam_decoder::Error::Usage { .. })
            ) || matches!(
                error.downcast_ref::<miriam_combine::Error>(),
                Some(miriam_combine::Error::Usage { .. })
            ) || matches!(
                error.downcast_ref::<miriam_trainer::Error>(),
                Some(miriam_trainer::Error::Usage(_))
            );
            #[cfg(feature = "serve")]
            let usage = usage
                || matches!(
                    error.downcast_ref::<miriam_serve::Error>(),
                    Some(miriam_serve::Error::Usage { .. })
                );
            crate::console::print_error(format!("miriam: {}\n", full_message(&error)));
            ExitCode::from(if usage { 2 } else { 1 })
        }
    }
}

/// Returns the message of `error` with its causes. Errors of libraries include their causes, which
/// must not be repeated.
fn full_message(error: &anyhow::Error) -> String {
    if error.chain().any(|cause| cause.is::<rayon::ThreadPoolBuildError>()) {
        return crate::panics::THREADS_REMEDY.to_owned();
    }
    error.chain().skip(1).map(ToString::to_string).fold(error.to_string(), |message, cause| {
        if message.contains(&cause) { message } else { format!("{message}: {cause}") }
    })
}

/// Exits with the status of wrong usage.
pub fn exit_with_usage_error(reason: impl std::fmt::Display) -> ! {
    clap::Error::raw(ErrorKind::ValueValidation, format!("{reason}\n")).exit()
}

/// Returns a word for a decoder's command line, which is text. Exits with the status of wrong usage
/// if it is not UTF-8.
pub fn utf8_word(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    match word.to_str() {
        Some(text) => text.to_owned(),
        None => exit_with_usage_error(format!("{} is not UTF-8", word.display())),
    }
}

/// Corrects the tips of a usage error.
pub fn clarify(mut error: clap::Error) -> clap::Error {
    // The parser suggests `-- -n` for an unknown option, which would make it the name of a file.
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested)
    {
        tips.retain(|tip| !tip.to_string().starts_with("to pass "));
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    let names_text = error.context().any(|(_, value)| value.to_string() == "[TEXT]");
    if error.kind() == ErrorKind::ArgumentConflict && names_text {
        let tip = "a word after the last value of an option, such as a third file of --vocabs, is \
                   read as TEXT";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Exits with the status of wrong usage if several of `inputs` are standard input (`-`), which can
/// be read only once.
pub fn check_stdin_use<P: AsRef<Path>>(inputs: impl IntoIterator<Item = P>) {
    if inputs.into_iter().filter(|path| path.as_ref().as_os_str() == "-").count() > 1 {
        let reason = "standard input can be read only once; give - for one file only";
        exit_with_usage_error(reason);
    }
}

/// Checks, before a command begins, that its inputs can be read, and that its outputs can be
/// created and are different files. Each output has the name of its option. Several outputs may be
/// `-` or a device. Exits if two outputs are the same file, or two inputs are standard input.
///
/// # Errors
/// If an input cannot be read, or is also an output; if an output cannot be created.
pub fn check_files<'p>(
    inputs: impl IntoIterator<Item = &'p PathBuf>,
    outputs: &[(&str, Option<&PathBuf>)],
) -> miriam_textio::Result<()> {
    let outputs: Vec<(&str, &PathBuf)> =
        outputs.iter().filter_map(|(option, path)| Some((*option, (*path)?))).collect();
    for (number, (option, path)) in outputs.iter().enumerate() {
        if let Some((other, _)) = outputs[..number].iter().find(|(_, one)| is_same_file(one, path))
        {
            exit_with_usage_error(format!(
                "{}: {other} and {option} would write the same file; give each its own",
                path.display()
            ));
        }
    }
    for (_, output) in &outputs {
        Output::check_access(output)?;
    }
    let inputs: Vec<&PathBuf> = inputs.into_iter().collect();
    check_stdin_use(&inputs);
    for input in inputs {
        // This is the check if there are no outputs.
        Input::check_access(input, None)?;
        for (_, output) in &outputs {
            Input::check_access(input, Some(output))?;
        }
    }
    Ok(())
}

/// Returns a temporary folder, which is removed when it is dropped.
///
/// # Errors
/// If it cannot be made; the message names the place and the remedy.
pub fn temporary_folder() -> anyhow::Result<tempfile::TempDir> {
    let place = std::env::temp_dir();
    tempfile::tempdir_in(&place).with_context(|| {
        format!(
            "{}: cannot make a temporary folder; free some space there, or set TMPDIR to another \
             folder",
            place.display()
        )
    })
}

/// The extensions of files that models consist of, and that results rarely have.
const MODEL_FILE_EXTENSIONS: [&str; 14] = [
    "arpa",
    "bin",
    "codes",
    "dat",
    "json",
    "miriam",
    "model",
    "npz",
    "s2t",
    "safetensors",
    "spm",
    "vocab",
    "yaml",
    "yml",
];

/// Checks that no output replaces a file of the model in `folder`: an existing file with a name
/// that files of models have. Texts beside a model may be replaced.
///
/// # Errors
/// If an output would replace such a file.
pub fn check_model_folder<'p>(
    folder: &Path,
    outputs: impl IntoIterator<Item = &'p Path>,
) -> anyhow::Result<()> {
    let Ok(folder) = folder.canonicalize() else { return Ok(()) };
    let is_inside = |path: &Path| {
        let parent = path
            .parent()
            .map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
        parent.and_then(|parent| parent.canonicalize().ok()).is_some_and(|parent| parent == folder)
    };
    for output in outputs {
        // A link may lead into the folder, or out of it.
        let target = output.canonicalize().ok();
        let names = std::iter::once(output).chain(target.as_deref());
        if output.is_file() && names.into_iter().any(|name| is_inside(name) && is_model_file(name))
        {
            anyhow::bail!(
                "{}: it lies in the folder of the model and may belong to it; give another name, or \
                 remove it first",
                output.display()
            );
        }
    }
    Ok(())
}

/// Whether a file has a name like those of models.
fn is_model_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    MODEL_FILE_EXTENSIONS.contains(&extension)
        || name.contains("vocab")
        || ["vmap.txt", "merges.txt", "config", "cache"].contains(&name)
}

/// Whether the error is a closed pipe of the output.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Words {
        #[arg(value_name = "TEXT", conflicts_with = "input")]
        text: Option<String>,
        #[arg(long)]
        input: Option<String>,
    }

    fn message(words: &[&str]) -> String {
        match Words::try_parse_from(words) {
            Ok(Words { text, input }) => panic!("{text:?} and {input:?} are accepted"),
            Err(error) => clarify(error).to_string(),
        }
    }

    #[derive(Parser)]
    struct Common {
        #[command(flatten)]
        common: CommonOptions,
    }

    #[test]
    fn log_levels_have_the_names_of_marian_too() {
        for (name, expected) in [
            ("err", LevelFilter::ERROR),
            ("error", LevelFilter::ERROR),
            ("critical", LevelFilter::ERROR),
            ("warn", LevelFilter::WARN),
            ("off", LevelFilter::OFF),
        ] {
            let words = Common::try_parse_from(["a", "--log-level", name]);
            let words = words.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(parse_log_level(&words.common.log_level), expected, "{name}");
            let mut options = CommonOptions::default();
            options.set_log_level(name).unwrap();
            assert_eq!(parse_log_level(&options.log_level), expected, "{name}");
        }
        assert!(Common::try_parse_from(["a", "--log-level", "loud"]).is_err());
        assert!(CommonOptions::default().set_log_level("loud").is_err());
    }

    #[test]
    fn tips_of_usage_errors_lead_to_the_fault() {
        let unknown = message(&["a", "-n", "8"]);
        assert!(unknown.contains("unexpected argument '-n'"), "{unknown}");
        assert!(!unknown.contains("as a value"), "{unknown}");
        assert!(message(&["a", "--inputs=x"]).contains("'--input'"));
        let surplus = message(&["a", "--input", "b", "c"]);
        assert!(surplus.contains("a third file of --vocabs"), "{surplus}");
    }
}
