//! Options of the command line in the configurations that `-c` names.
//!
//! Marian's keys are read with the configuration. Any other key that is a long option of the
//! command is added to the words of the command line, unless that option is there already, or one
//! that excludes it.

use std::any::TypeId;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use miriam_nmt::{DecoderConfig, OtherOption};

/// The commands of `miriam nmt` that read a decoder's or a scorer's configuration.
const READERS: [&str; 4] = ["translate", "score", "distill", "serve"];

/// Reads configurations as [`DecoderConfig::open_all`] does. The other options of files have been
/// added to the command line by [`add`].
///
/// # Errors
/// Those of [`DecoderConfig::open_all`], and if a configuration that is not a file has other
/// options.
pub fn open_all(paths: &[PathBuf], has_relative_paths: bool) -> anyhow::Result<DecoderConfig> {
    let settings = DecoderConfig::open_all(paths, has_relative_paths)?;
    match settings.other_options.iter().find(|other| !other.file.is_file()) {
        Some(other) => Err(other.unknown_error().into()),
        None => Ok(settings),
    }
}

/// Adds the options of configurations to the words of a command line.
///
/// # Errors
/// If a configuration cannot be read or has a key that is not an option, or if its value is
/// invalid.
pub fn add(mut words: Vec<OsString>, command: fn() -> Command) -> anyhow::Result<Vec<OsString>> {
    if !words.iter().any(|word| word == "nmt") {
        return Ok(words);
    }
    let mut command = command();
    // Wrong usage is reported when the words are parsed again.
    let Ok(matches) = command.try_get_matches_from_mut(&words) else { return Ok(words) };
    let Some(("nmt", nmt)) = matches.subcommand() else { return Ok(words) };
    let Some((name, given)) = nmt.subcommand().filter(|(name, _)| READERS.contains(name)) else {
        return Ok(words);
    };
    // A pipe can be read only once.
    let configurations = given.get_many::<PathBuf>("config").into_iter().flatten();
    let files: Vec<PathBuf> = configurations.filter(|path| path.is_file()).cloned().collect();
    let others = DecoderConfig::open_all(&files, given.get_flag("relative_paths"))?.other_options;
    let commands: Vec<&Command> =
        command.find_subcommand("nmt").into_iter().flat_map(Command::get_subcommands).collect();
    for other in &others {
        let mut options = commands.iter().filter_map(|&one| Some((one, find(one, &other.key)?)));
        match options.clone().find(|(own, _)| own.get_name() == name) {
            Some((own, option)) if !is_overridden(own, option, given) => {
                let longer = insert(words, to_words(other, option));
                if let Err(error) = command.clone().try_get_matches_from(&longer) {
                    let error = error.to_string();
                    let reason = error.lines().next().unwrap_or_default();
                    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
                    anyhow::bail!("{}: {}: {reason}", other.file.display(), other.key);
                }
                words = longer;
            }
            Some(_) => {}
            // A scorer has no use for options of decoding.
            None if name == "score" && options.any(|(one, _)| one.get_name() == "translate") => {}
            None => return Err(other.unknown_error().into()),
        }
    }
    Ok(words)
}

/// Finds the option that a key names.
fn find<'a>(command: &'a Command, key: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|option| {
        let is_help = matches!(
            option.get_action(),
            ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
        );
        let aliases = option.get_all_aliases().unwrap_or_default();
        !is_help && (option.get_long() == Some(key) || aliases.contains(&key))
    })
}

/// Whether the command line has the option, or one that excludes it.
fn is_overridden(command: &Command, option: &Arg, given: &ArgMatches) -> bool {
    fn excludes(command: &Command, one: &Arg, other: &Arg) -> bool {
        let excluded = command.get_arg_conflicts_with(one);
        excluded.into_iter().any(|excluded| excluded.get_id() == other.get_id())
    }
    command.get_arguments().any(|other| {
        let source = given.value_source(other.get_id().as_str());
        source == Some(ValueSource::CommandLine)
            && (other.get_id() == option.get_id()
                || excludes(command, other, option)
                || excludes(command, option, other))
    })
}

/// Returns the words of the command line for an option of a configuration; none for a switch that
/// is off.
fn to_words(other: &OtherOption, option: &Arg) -> Vec<OsString> {
    let name = format!("--{}", other.key);
    if matches!(option.get_action(), ArgAction::SetTrue) {
        return match other.values.as_slice() {
            [word] if miriam_textio::parse_truth_word(word) == Some(false) => Vec::new(),
            [word] if miriam_textio::parse_truth_word(word) == Some(true) => vec![name.into()],
            // The parser reports any other value of a switch.
            values => vec![format!("{name}={}", values.join(" ")).into()],
        };
    }
    let is_path = option.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    let folder = other.folder.as_ref().filter(|_| is_path);
    let values = other.values.iter().map(|value| match folder {
        // `-` names a standard stream.
        Some(folder) if value != "-" => folder.join(value).into_os_string(),
        _ => value.into(),
    });
    let mut words: Vec<OsString> = values.collect();
    match &mut words[..] {
        // A value may begin with a dash.
        [value] => {
            let mut word = OsString::from(name + "=");
            word.push(&*value);
            *value = word;
        }
        _ => words.insert(0, name.into()),
    }
    words
}

/// Inserts words before the first `--`, or at the end.
fn insert(mut words: Vec<OsString>, added: Vec<OsString>) -> Vec<OsString> {
    let at = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.splice(at..at, added);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_folder_except_standard_streams() {
        let option = Arg::new("source").long("source").value_parser(clap::value_parser!(PathBuf));
        for (value, word) in [("text", "--source=folder/text"), ("-", "--source=-")] {
            let other = OtherOption {
                file: "folder/scorer.yml".into(),
                folder: Some("folder".into()),
                key: "source".into(),
                values: vec![value.into()],
            };
            assert_eq!(to_words(&other, &option), [word]);
        }
    }
}
