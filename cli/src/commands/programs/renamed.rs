//! Programs of Moses and Marian, and sacreBLEU, for which this program has a command with the same
//! options or nearly: their command lines are translated.
//!
//! Scripts of Moses that read their options without Getopt::Long ignore unknown ones. Here they are
//! errors, so that spelling mistakes are found.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use miriam_textio::parse_truth_word;

/// A program and the command that replaces it.
pub struct RenamedProgram {
    pub name: &'static str,
    /// The words after `miriam`.
    command: &'static [&'static str],
    /// Whether Perl's Getopt::Long reads the options: names have one dash or two and may be
    /// shortened.
    has_long_getopt: bool,
    /// Whether the words `stdin` and `stdout` are the standard streams, as in Marian's programs.
    names_streams: bool,
    /// Whether several files may follow `-c`, and later ones override earlier ones, as in Marian's
    /// programs.
    takes_configurations: bool,
    /// Options that select this entry among the entries with its name. If none of them is given,
    /// the next entry is tried.
    selected_by: &'static [&'static str],
    /// Rules for the options that are translated; all others are passed on.
    options: &'static [OptionRule],
}

/// The translation of an option. Names for Getopt::Long are without dashes.
struct OptionRule {
    name: &'static str,
    takes_value: bool,
    replacement: Replacement,
}

/// What an option becomes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replacement {
    Option(&'static str),
    /// An option for each of its values. All values but the first may be left out.
    Options(&'static [&'static str]),
    /// The flag itself, which a truth value may follow. [`Off`] says what the flag becomes if this
    /// value is false.
    Flag(Off),
    /// Its value, without an option.
    Argument,
    /// It has no effect here.
    Nothing,
}

/// What a flag becomes if its truth value is false.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Off {
    /// The option that turns the flag off.
    Option(&'static str),
    Nothing,
    /// Nothing if no configuration is given. A configuration may turn the flag on, and no option
    /// of the command turns it off; so if one is given, the flag keeps its value, which the parser
    /// rejects.
    NothingOrRejected,
}

const fn renamed(name: &'static str, replacement: &'static str) -> OptionRule {
    OptionRule { name, takes_value: true, replacement: Replacement::Option(replacement) }
}

const fn renamed_switch(name: &'static str, replacement: &'static str) -> OptionRule {
    OptionRule { name, takes_value: false, replacement: Replacement::Option(replacement) }
}

const fn divided(name: &'static str, options: &'static [&'static str]) -> OptionRule {
    OptionRule { name, takes_value: true, replacement: Replacement::Options(options) }
}

const fn flag(name: &'static str) -> OptionRule {
    OptionRule { name, takes_value: false, replacement: Replacement::Flag(Off::Nothing) }
}

/// Returns the rule of a flag that a configuration may turn on.
const fn setting(name: &'static str) -> OptionRule {
    let replacement = Replacement::Flag(Off::NothingOrRejected);
    OptionRule { name, takes_value: false, replacement }
}

const fn flag_or(name: &'static str, off: &'static str) -> OptionRule {
    OptionRule { name, takes_value: false, replacement: Replacement::Flag(Off::Option(off)) }
}

const fn ignored(name: &'static str) -> OptionRule {
    OptionRule { name, takes_value: false, replacement: Replacement::Nothing }
}

const fn ignored_with_value(name: &'static str) -> OptionRule {
    OptionRule { name, takes_value: true, replacement: Replacement::Nothing }
}

const fn argument(name: &'static str) -> OptionRule {
    OptionRule { name, takes_value: true, replacement: Replacement::Argument }
}

/// Returns a program whose options are all passed on.
const fn same_options(name: &'static str, command: &'static [&'static str]) -> RenamedProgram {
    RenamedProgram {
        name,
        command,
        has_long_getopt: false,
        names_streams: false,
        takes_configurations: false,
        selected_by: &[],
        options: &[],
    }
}

/// Returns a program of Marian.
const fn marian(
    name: &'static str,
    command: &'static [&'static str],
    options: &'static [OptionRule],
) -> RenamedProgram {
    RenamedProgram {
        name,
        command,
        has_long_getopt: false,
        names_streams: true,
        takes_configurations: true,
        selected_by: &[],
        options,
    }
}

/// The options of `nmt shortlist` for the values of Marian's `--shortlist`.
const SHORTLIST: &[&str] = &["--list", "--first", "--best", "--threshold"];

pub const RENAMED_PROGRAMS: &[RenamedProgram] = &[
    same_options("detokenizer.perl", &["detokenize"]),
    RenamedProgram {
        has_long_getopt: true,
        options: &[renamed("in", "--input"), ignored("b"), ignored("unbuffered")],
        ..same_options("detruecase.perl", &["truecase", "--undo"])
    },
    // Flags of training need no rules: `nmt train` takes a truth value after each itself.
    // `--quiet`, which all commands have, does not.
    marian(
        "marian",
        &["nmt", "train", "--marian-type"],
        &[renamed("-o", "--optimizer"), flag("--quiet")],
    ),
    // Marian's program that converts models converts shortlists too.
    RenamedProgram {
        selected_by: &["-s", "--shortlist"],
        ..marian(
            "marian-conv",
            &["nmt", "shortlist", "--to", "marian-bin", "--output", "lex.bin"],
            &[
                divided("-s", SHORTLIST),
                divided("--shortlist", SHORTLIST),
                renamed("-d", "--output"),
                renamed("--dump", "--output"),
                renamed("--dump-shortlist", "--output"),
                renamed("-V", "--vocabs"),
            ],
        )
    },
    marian(
        "marian-conv",
        &["nmt", "convert", "--to", "marian"],
        &[
            argument("-f"),
            argument("--from"),
            renamed("-t", "--output"),
            renamed("--to", "--output"),
            renamed("-g", "--to"),
            renamed("--gemm-type", "--to"),
            renamed("-V", "--vocabs"),
        ],
    ),
    marian(
        "marian-decoder",
        &["nmt", "translate", "--no-text"],
        &[
            flag_or("--allow-unk", "--disable-unk"),
            flag("--force-decode"),
            flag_or("--max-length-crop", "--no-max-length-crop"),
            flag_or("--n-best", "--no-n-best"),
            setting("--no-spm-decode"),
            setting("--no-spm-encode"),
            flag("--quiet"),
            flag("--relative-paths"),
            flag("--tsv"),
            flag_or("--word-scores", "--no-word-scores"),
        ],
    ),
    // Scores do not depend on how sentences are batched, and nothing is drawn at random.
    marian(
        "marian-scorer",
        &["nmt", "score"],
        &[
            ignored_with_value("--maxi-batch-sort"),
            ignored_with_value("--mini-batch-words"),
            ignored_with_value("--seed"),
            setting("--max-length-crop"),
            setting("--n-best"),
            setting("--no-spm-encode"),
            flag_or("--normalize", "--normalize=0"),
            flag_or("-n", "--normalize=0"),
            flag("--quiet"),
            flag("--relative-paths"),
            flag("--tsv"),
            setting("--word-scores"),
        ],
    ),
    // A server translates what has arrived, in batches with limits of its own; nothing is read
    // ahead and sorted.
    #[cfg(feature = "serve")]
    marian(
        "marian-server",
        &["nmt", "serve"],
        &[
            ignored_with_value("--maxi-batch"),
            ignored_with_value("--maxi-batch-sort"),
            ignored_with_value("--mini-batch-words"),
            flag_or("--allow-unk", "--disable-unk"),
            setting("--max-length-crop"),
            setting("--no-spm-decode"),
            setting("--no-spm-encode"),
            flag("--quiet"),
            flag("--relative-paths"),
            setting("--word-scores"),
        ],
    ),
    marian(
        "marian-vocab",
        &["nmt", "vocab", "--kind", "words", "--text", "-"],
        &[renamed("-m", "--size"), renamed("--max-size", "--size")],
    ),
    same_options("moses", &["translate"]),
    same_options("moses2", &["translate"]),
    #[cfg(feature = "serve")]
    RenamedProgram {
        options: &[flag("-server"), flag("--server")],
        ..same_options("mosesserver", &["translate", "-server"])
    },
    same_options("normalize-punctuation.perl", &["normalize"]),
    same_options("sacrebleu", &["evaluate"]),
    RenamedProgram {
        options: &[ignored_with_value("-lines"), ignored("-time")],
        ..same_options("tokenizer.perl", &["tokenize"])
    },
    RenamedProgram {
        has_long_getopt: true,
        options: &[
            renamed("corpus", "--input"),
            renamed("model", "--output"),
            renamed_switch("possiblyUseFirstToken", "--possibly-use-first-token"),
        ],
        ..same_options("train-truecaser.perl", &["truecase", "--train"])
    },
    RenamedProgram {
        has_long_getopt: true,
        options: &[
            renamed("model", "--model"),
            renamed_switch("a", "--asr"),
            renamed_switch("asr", "--asr"),
            ignored("b"),
            ignored("unbuffered"),
        ],
        ..same_options("truecase.perl", &["truecase"])
    },
];

/// The commands of Marian's main program, and the programs that do the same.
const MARIAN_COMMANDS: [(&str, &str); 5] = [
    ("convert", "marian-conv"),
    ("decode", "marian-decoder"),
    ("score", "marian-scorer"),
    ("train", "marian"),
    ("vocab", "marian-vocab"),
];

/// Replaces `marian` and one of its commands by the program that does the same.
pub fn join_marian_command(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if let [program, command, ..] = &arguments[..]
        && Path::new(program).file_name() == Some(OsStr::new("marian"))
        && let Some((_, name)) = MARIAN_COMMANDS.iter().find(|(known, _)| command == known)
    {
        arguments.drain(..2);
        arguments.insert(0, name.into());
    }
    arguments
}

/// Returns an option with two dashes, so that an unknown option is not read as single letters:
/// `-headline` is not `-h`.
fn with_two_dashes(word: &OsString) -> OsString {
    match word.as_bytes() {
        b"-h" => word.clone(),
        [b'-', letter, ..] if *letter != b'-' => {
            let mut long = OsString::from("-");
            long.push(word);
            long
        }
        _ => word.clone(),
    }
}

/// Returns the truth value that a word spells, if it spells one.
fn truth_value(word: &OsStr) -> Option<bool> {
    parse_truth_word(word.to_str()?)
}

/// Whether a word can be the value of an option. The standard stream `-` can.
fn is_value(word: &&OsString) -> bool {
    *word == "-" || !word.as_bytes().starts_with(b"-")
}

/// Whether one of these arguments is the option for configurations of Marian's programs.
fn names_configuration(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|word| *word != "--").any(|word| {
        let bytes = word.as_bytes();
        bytes == b"--config" || bytes.starts_with(b"--config=") || bytes.starts_with(b"-c")
    })
}

impl RenamedProgram {
    /// Returns the program called `name`; of several, the first that has no selecting options, or
    /// has one of them among the arguments.
    pub fn find(name: &OsStr, arguments: &[OsString]) -> Option<&'static Self> {
        RENAMED_PROGRAMS.iter().find(|program| {
            let mut rules = arguments.iter().skip(1).filter_map(|word| program.find_rule(word));
            name == program.name
                && (program.selected_by.is_empty()
                    || rules.any(|(rule, _)| program.selected_by.contains(&rule.name)))
        })
    }

    /// Translates `arguments`, whose first word is the name of the other program, to a command line
    /// of this program.
    pub fn translate(&self, arguments: &[OsString]) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["miriam".into()];
        if let [_, only] = arguments
            && only == "--version"
        {
            words.push(only.clone());
            return words;
        }
        words.extend(self.command.iter().map(OsString::from));
        let mut given = arguments.iter().skip(1).peekable();
        while let Some(word) = given.next() {
            if self.takes_configurations && (word == "-c" || word == "--config") {
                if given.peek().is_none_or(|word| !is_value(word)) {
                    words.push(word.clone());
                }
                while let Some(file) = given.next_if(is_value) {
                    words.extend(["--config".into(), file.clone()]);
                }
                continue;
            }
            let Some((rule, attached)) = self.find_rule(word) else {
                words.push(if self.has_long_getopt {
                    with_two_dashes(word)
                } else {
                    self.name_stream(word)
                });
                continue;
            };
            match rule.replacement {
                Replacement::Option(option) | Replacement::Options(&[option, ..]) => {
                    words.push(option.into());
                }
                Replacement::Flag(off) => {
                    let value = attached
                        .clone()
                        .or_else(|| given.next_if(|word| truth_value(word).is_some()).cloned());
                    match value.as_deref().map(truth_value) {
                        None | Some(Some(true)) if self.has_flag(rule.name) => {}
                        None | Some(Some(true)) => words.push(rule.name.into()),
                        Some(Some(false)) => match off {
                            Off::Option(off) => words.push(off.into()),
                            Off::NothingOrRejected
                                if self.takes_configurations && names_configuration(arguments) =>
                            {
                                words.push(format!("{}=false", rule.name).into());
                            }
                            Off::Nothing | Off::NothingOrRejected => {}
                        },
                        // The parser rejects it.
                        Some(None) => words.push(word.clone()),
                    }
                }
                Replacement::Options(&[]) | Replacement::Argument | Replacement::Nothing => {}
            }
            if rule.takes_value {
                let value = attached.or_else(|| given.next().cloned());
                words.extend(value.filter(|_| rule.replacement != Replacement::Nothing));
            }
            if let Replacement::Options([_, further @ ..]) = rule.replacement {
                for option in further {
                    let Some(value) = given.next_if(is_value) else { break };
                    words.extend([OsString::from(option), value.clone()]);
                }
            }
        }
        words
    }

    /// Whether the command has a flag already, with one dash or two.
    fn has_flag(&self, name: &str) -> bool {
        self.command.iter().any(|own| own.trim_start_matches('-') == name.trim_start_matches('-'))
    }

    /// Returns a word in which Marian's name of a standard stream is replaced by `-`.
    fn name_stream(&self, word: &OsString) -> OsString {
        let stream = |name: &str| {
            let value = name.split_once('=').map_or(name, |(_, value)| value);
            let is_stream = self.names_streams && matches!(value, "stdin" | "stdout");
            is_stream.then(|| format!("{}-", &name[..name.len() - value.len()]))
        };
        word.to_str().and_then(stream).map_or_else(|| word.clone(), OsString::from)
    }

    /// Returns the rule of an option, and the value that is written in the same word.
    fn find_rule(&self, word: &OsString) -> Option<(&OptionRule, Option<OsString>)> {
        let bytes = word.as_bytes();
        let value = |start: usize| Some(OsString::from_vec(bytes[start..].to_vec()));
        let is_option = bytes.len() > 1 && bytes[0] == b'-' && bytes != b"--";
        let equals = bytes.iter().position(|&byte| byte == b'=').filter(|_| is_option);
        let name = std::str::from_utf8(&bytes[..equals.unwrap_or(bytes.len())]).ok()?;
        let attached = equals.and_then(|at| value(at + 1));
        let rules = self.options.iter().filter(|_| is_option);
        if self.has_long_getopt {
            let name = name.trim_start_matches('-').to_ascii_lowercase();
            fn lower(rule: &OptionRule) -> String {
                rule.name.to_ascii_lowercase()
            }
            let exact = rules.clone().find(|rule| lower(rule) == name);
            let mut shortened = rules.filter(|rule| lower(rule).starts_with(&name));
            let unique = match (shortened.next(), shortened.next()) {
                (Some(rule), None) => Some(rule),
                _ => None,
            };
            return exact.or(unique).map(|rule| (rule, attached));
        }
        let mut rules = rules.map(|rule| {
            if rule.name == name {
                return Some((rule, attached.clone()));
            }
            // A letter and its value in one word.
            let is_letter = rule.takes_value && rule.name.len() == 2;
            let found = is_letter && bytes.starts_with(rule.name.as_bytes());
            found.then(|| (rule, value(2)))
        });
        rules.find_map(|found| found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let words = join_marian_command(words);
        let program = RenamedProgram::find(&words[0], &words).unwrap();
        let words: Vec<_> =
            program.translate(&words).into_iter().map(|w| w.into_string()).collect();
        words.into_iter().collect::<Result<Vec<_>, _>>().unwrap().join(" ")
    }

    #[test]
    fn options_are_renamed_as_the_programs_read_them() {
        for (given, expected) in [
            (
                "moses2 -f moses.ini -n-best-list - 5",
                "miriam translate -f moses.ini -n-best-list - 5",
            ),
            #[cfg(feature = "serve")]
            (
                "mosesserver -f a.ini --server --server-port 8390",
                "miriam translate -server -f a.ini --server-port 8390",
            ),
            #[cfg(feature = "serve")]
            ("mosesserver -server true -f a.ini", "miriam translate -server -f a.ini"),
            ("marian --version", "miriam --version"),
            ("detruecase.perl -headline a", "miriam truecase --undo --headline a"),
            ("sacrebleu ref -i out -m chrf", "miriam evaluate ref -i out -m chrf"),
            (
                "marian-conv -f a.npz -t=b.bin --gemm-type intgemm8",
                "miriam nmt convert --to marian a.npz --output b.bin --to intgemm8",
            ),
            (
                "marian-conv --shortlist lex.gz 50 60 0.1 --dump lex.bin --vocabs a.spm b.spm",
                "miriam nmt shortlist --to marian-bin --output lex.bin --list lex.gz --first 50 \
                 --best 60 --threshold 0.1 --output lex.bin --vocabs a.spm b.spm",
            ),
            (
                "marian-conv -V a.yml b.yml -s=lex 50 -d -",
                "miriam nmt shortlist --to marian-bin --output lex.bin --vocabs a.yml b.yml \
                 --list lex --first 50 --output -",
            ),
            (
                "marian-decoder -c a.yml -i stdin --output=stdout",
                "miriam nmt translate --no-text --config a.yml -i - --output=-",
            ),
            (
                "marian-decoder -c a.yml b.yml -b 4",
                "miriam nmt translate --no-text --config a.yml --config b.yml -b 4",
            ),
            (
                "marian-decoder --word-scores true --tsv on --n-best=false --allow-unk 0 --quiet -b 4",
                "miriam nmt translate --no-text --word-scores --tsv --no-n-best --disable-unk \
                 --quiet -b 4",
            ),
            (
                "marian-scorer --tsv true --n-best off -n true --word-scores=maybe",
                "miriam nmt score --tsv -n --word-scores=maybe",
            ),
            ("marian-scorer -n 0.6 --tsv file", "miriam nmt score -n 0.6 --tsv file"),
            ("marian-scorer -n 0 -m m", "miriam nmt score --normalize=0 -m m"),
            ("marian-scorer --normalize=false -m m", "miriam nmt score --normalize=0 -m m"),
            ("marian-scorer --word-scores off -m m", "miriam nmt score -m m"),
            (
                "marian-scorer --word-scores off --tsv no -c a.yml",
                "miriam nmt score --word-scores=false --config a.yml",
            ),
            ("marian-scorer --word-scores off -m m -- -c", "miriam nmt score -m m -- -c"),
            ("marian --quiet true --skip yes", "miriam nmt train --marian-type --quiet --skip yes"),
            (
                "marian-scorer -m m -t stdin a --maxi-batch-sort trg --seed 3",
                "miriam nmt score -m m -t - a",
            ),
            ("tokenizer.perl -l de -lines 100 -time -a", "miriam tokenize -l de -a"),
            (
                "train-truecaser.perl --model m --corpus c",
                "miriam truecase --train --output m --input c",
            ),
            (
                "train-truecaser.perl -mod=m -c=c -possibly",
                "miriam truecase --train --output m --input c --possibly-use-first-token",
            ),
            ("truecase.perl -MODEL m -a -b", "miriam truecase --model m --asr"),
            ("detruecase.perl --unbuf -in f", "miriam truecase --undo --input f"),
            // An option that is not known is passed on.
            ("truecase.perl --model m --headline x", "miriam truecase --model m --headline x"),
            (
                "marian -o adam --optimizer-delay 2",
                "miriam nmt train --marian-type --optimizer adam --optimizer-delay 2",
            ),
            (
                "marian -osgd -m model.npz",
                "miriam nmt train --marian-type --optimizer sgd -m model.npz",
            ),
            ("marian train -m model.npz", "miriam nmt train --marian-type -m model.npz"),
            ("marian vocab -m 100", "miriam nmt vocab --kind words --text - --size 100"),
            ("marian-vocab -m 100", "miriam nmt vocab --kind words --text - --size 100"),
            ("marian-vocab --max-size=100", "miriam nmt vocab --kind words --text - --size 100"),
        ] {
            assert_eq!(translated(given), expected);
        }
    }

    #[test]
    fn names_are_sorted() {
        assert!(RENAMED_PROGRAMS.is_sorted_by_key(|program| program.name));
    }
}
