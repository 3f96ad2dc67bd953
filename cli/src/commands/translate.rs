//! `miriam translate`: the decoder with Moses' command line.
//!
//! Moses writes long options with one dash or two and allows negative numbers as values,
//! which clap does not support; so the arguments after `translate` go to the decoder unchanged.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use miriam_decoder::{
    Configuration, Error, LineProcessor, options_help, translate_raw_text, translate_segments,
    translate_text,
};
use miriam_rescoring::load_system;
use miriam_textio::{CancellationToken, Input, parse_size};

use super::raw_text::{self, RawTextOptions};
use super::system_configuration::{read_configuration, read_configuration_from_ini};
use crate::common::{CommonOptions, Threads, is_broken_pipe, open_argument_or_file};
use crate::progress::TerminalProgress;
use crate::signals::{SignalHandler, describe_partial_files};

/// The tokens after `translate`: options of the decoder, and options that the program handles.
pub struct TranslateArguments {
    /// Text instead of a file: the words before the first option.
    text: Option<String>,
    /// The ini, if it is not among the options of the decoder.
    ini: Option<PathBuf>,
    decoder_options: Vec<String>,
    raw_text: RawTextOptions,
    pub common: CommonOptions,
    shows_help: bool,
    shows_version: bool,
}

impl TranslateArguments {
    /// Separates the options of the program from those of the decoder. Fails if a token other than
    /// the name of the ini is not UTF-8.
    pub fn new(
        tokens: impl Iterator<Item = OsString>,
        common: CommonOptions,
    ) -> Result<Self, Error> {
        let mut tokens: Vec<OsString> = tokens.collect();
        let mut sorted = TranslateArguments {
            text: None,
            ini: take_ini(&mut tokens),
            decoder_options: Vec::new(),
            raw_text: RawTextOptions::default(),
            common,
            shows_help: false,
            shows_version: false,
        };
        let mut tokens = tokens.into_iter().map(|token| {
            token.into_string().map_err(|token| Error::Usage {
                reason: format!(
                    "{} is not UTF-8; only the name of the ini (-f) may have other bytes: rename \
                     other files, or use links, standard input and standard output",
                    token.display()
                ),
            })
        });
        let mut is_first = true;
        while let Some(token) = tokens.next().transpose()? {
            if std::mem::take(&mut is_first) && !token.starts_with('-') {
                sorted.text = Some(token);
                continue;
            }
            if token.starts_with('-') {
                let name = token.trim_start_matches('-');
                let (name, value) = match name.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (name, None),
                };
                let next = || value.map(Some).map_or_else(|| tokens.next().transpose(), Ok);
                if sorted.parse_option(name, next)? {
                    continue;
                }
            }
            sorted.decoder_options.push(token);
        }
        // The number of threads may come before: `miriam --threads 2 translate ...`.
        if let Threads::Count(n) = sorted.common.threads {
            sorted.decoder_options.splice(0..0, ["-threads".to_owned(), n.to_string()]);
        }
        Ok(sorted)
    }

    /// Handles the option `name` if it belongs to the program; otherwise returns false.
    /// `value` returns the value after `=` or the next token.
    fn parse_option(
        &mut self,
        name: &str,
        value: impl FnOnce() -> Result<Option<String>, Error>,
    ) -> Result<bool, Error> {
        fn usage(reason: String) -> Error {
            Error::Usage { reason }
        }
        match name {
            "help" | "h" => self.shows_help = true,
            "version" => self.shows_version = true,
            "quiet" => self.common.quiet = true,
            "log-level" => {
                self.common.set_log_level(&value()?.unwrap_or_default()).map_err(usage)?;
            }
            "max-line-size" => {
                let size = parse_size(&value()?.unwrap_or_default());
                self.common.max_line_size =
                    Some(size.map_err(|reason| usage(format!("-max-line-size: {reason}")))?);
            }
            _ => return self.raw_text.parse_option(name, value),
        }
        Ok(true)
    }
}

/// Removes `-f INI` from the tokens if the name of the ini is not UTF-8, and returns the name. The
/// decoder takes its other options as text.
fn take_ini(tokens: &mut Vec<OsString>) -> Option<PathBuf> {
    fn names_ini(option: &[u8]) -> bool {
        matches!(option, b"-f" | b"--f" | b"-config" | b"--config")
    }
    let at = tokens.iter().position(|token| token.to_str().is_none())?;
    let bytes = tokens[at].as_bytes();
    let mut parts = bytes.splitn(2, |&byte| byte == b'=');
    if let (Some(option), Some(value)) = (parts.next(), parts.next())
        && names_ini(option)
    {
        let ini = PathBuf::from(OsStr::from_bytes(value));
        tokens.remove(at);
        return Some(ini);
    }
    if at == 0 || !names_ini(tokens[at - 1].as_bytes()) {
        return None;
    }
    let ini = tokens.remove(at);
    tokens.remove(at - 1);
    Some(ini.into())
}

/// Serves the system, with the options of raw text.
#[cfg(feature = "serve")]
fn serve(configuration: &Configuration, tokens: &TranslateArguments) -> anyhow::Result<()> {
    if let Some(text) = &tokens.text {
        let reason = format!("{text:?}: a server takes no text on its command line");
        return Err(Error::Usage { reason }.into());
    }
    let raw = tokens.raw_text.server_setting()?;
    super::translate_server::serve(configuration, &tokens.decoder_options, raw)
}

#[cfg(not(feature = "serve"))]
fn serve(_: &Configuration, _: &TranslateArguments) -> anyhow::Result<()> {
    Err(Error::Usage { reason: "this program was built without the server".into() }.into())
}

/// Loads the system and translates its input.
pub fn run(tokens: TranslateArguments) -> anyhow::Result<()> {
    if tokens.shows_help {
        let _ = crate::console::print(help_text());
        return Ok(());
    }
    if tokens.shows_version {
        return crate::console::print_line(concat!("miriam ", env!("MIRIAM_VERSION")));
    }
    let options = &tokens.decoder_options;
    let configuration = match &tokens.ini {
        Some(ini) => read_configuration_from_ini(ini, options, &[])?,
        None => read_configuration(options)?,
    };
    let settings = &configuration.settings;
    if settings.server.is_wanted && !settings.show_weights {
        return serve(&configuration, &tokens);
    }
    if let (Some(text), true) = (&tokens.text, settings.input.as_os_str() != "-") {
        let reason = format!("{text:?}: give either text or -i, not both");
        return Err(Error::Usage { reason }.into());
    }
    if settings.show_weights {
        return crate::console::print(configuration.weight_lines());
    }
    let models: Vec<PathBuf> = configuration.model_files().filter(|file| file.is_file()).collect();
    for (_, output) in &settings.outputs {
        for file in models.iter().chain([&settings.input]) {
            Input::check_access(file, Some(output))?;
        }
    }
    let format = tokens.raw_text.running_text.format()?;
    let steps = tokens.raw_text.load_steps(&configuration)?;
    let progress = tokens.common.progress();
    let threads = configuration.settings.threads;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let system = pool.install(|| load_system(&configuration, &progress))?;
    // Translations on a terminal show the progress well enough.
    let writes_stdout =
        system.settings().outputs.iter().any(|(_, output)| output.as_os_str() == "-");
    let is_shown = writes_stdout && io::stdout().is_terminal();
    let progress = TerminalProgress::new(tokens.common.quiet || is_shown);
    let stop = CancellationToken::new();
    // Opening waits for the first bytes; until then a signal must kill at once.
    let input = open_argument_or_file(tokens.text.as_deref(), &system.settings().input)?;
    let input = tokens.raw_text.watch_tokenization(input, steps.as_ref())?;
    let interrupts = SignalHandler::install(&stop)?;
    let outcome = match (&steps, format) {
        (steps, Some(format)) => {
            let splitter = tokens.raw_text.running_text.splitter(steps.as_ref());
            let processor = steps.as_ref().map(|steps| steps as &dyn LineProcessor);
            translate_segments(&system, input, format, &splitter, processor, (&stop, &progress))
        }
        (Some(steps), None) => translate_raw_text(&system, input, steps, &stop, &progress),
        (None, None) => translate_text(&system, input, &stop, &progress),
    };
    let outcome = outcome.map_err(anyhow::Error::from);
    // A signal to a whole pipeline may also close the output.
    if outcome.as_ref().err().is_none_or(is_broken_pipe) {
        let outputs = system.settings().outputs.iter().map(|(_, output)| output.as_path());
        interrupts.reraise_signal_with_message(&format!(
            "all lines read are translated and written{}",
            describe_partial_files(outputs)
        ));
    }
    outcome
}

fn help_text() -> String {
    format!(
        "Translate text with a phrase-based system: Moses2's options, Moses2's output\n\n\
         Usage: miriam translate -f moses.ini [OPTIONS] < source > target\n\
         \x20      miriam translate TEXT -f moses.ini [OPTIONS]\n\n\
         Example: miriam translate -f moses.ini -i news.de.zst -o news.en -threads all \\\n\
         \x20          -search-algorithm 1 -cube-pruning-pop-limit 400 -s 400\n\n\
         Options take one dash or two and override the sections of the same name in the\n\
         ini. Paths in the ini are tried from the working directory, then from its folder.\n\n\
         {}\n\
         {}\n\
         \x20 -quiet                                       draw no progress bar\n\
         \x20 -log-level LEVEL                             error, warn, info, debug, trace or off [info]\n\
         \x20 -max-line-size SIZE                          the longest line that is read [64M]\n\
         \x20 -version                                     print the version\n",
        options_help(),
        raw_text::help_text()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(words: &[&[u8]]) -> Vec<OsString> {
        words.iter().map(|word| OsStr::from_bytes(word).to_owned()).collect()
    }

    #[test]
    fn the_name_of_the_ini_may_have_any_bytes() {
        let rest: [&[u8]; 2] = [b"-s", b"50"];
        let name: &[u8] = b"caf\xe9/moses.ini";
        let joined = [b"--config=", name].concat();
        let separate: [&[u8]; 4] = [b"-s", b"50", b"-f", name];
        for words in [&separate[..], &[&joined[..], b"-s", b"50"]] {
            let mut words = tokens(words);
            let ini = take_ini(&mut words).unwrap();
            assert_eq!(ini.as_os_str().as_bytes(), name);
            assert_eq!(words, tokens(&rest));
        }
        for words in [&[b"-f", &b"moses.ini"[..]][..], &[b"-i", name], &[name]] {
            let mut left = tokens(words);
            assert_eq!(take_ini(&mut left), None);
            assert_eq!(left, tokens(words));
        }
    }
}
