//! Other programs by name: started as KenLM's `lmplz`, `build_binary`, `query` or `filter`, or as
//! `fast_align`, `atools` or `extract_lex`, the binary accepts their options and writes the same
//! output, so that scripts run unchanged. Where a command of this program already has the options,
//! as for Moses' and Marian's programs, it runs that command (`renamed`). `miriam install-aliases`
//! creates the names.
//!
//! An unsupported option that would change the output is an error. An option that only affects
//! memory or files is accepted without effect.

mod atools;
mod build_binary;
mod clean_corpus;
mod extract_lex;
mod fast_align;
mod filter;
mod lmplz;
mod multi_bleu;
mod query;
mod renamed;
mod text_filters;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, Parser};

use self::renamed::{RENAMED_PROGRAMS, RenamedProgram, join_marian_command};
use crate::common::CommonOptions;

/// The names with their programs.
const PROGRAMS: [(&str, Program); 14] = [
    ("atools", atools::run),
    ("build_binary", build_binary::run),
    ("clean-corpus-n.perl", clean_corpus::run),
    ("deescape-special-chars.perl", text_filters::unescape),
    ("escape-special-chars.perl", text_filters::escape),
    ("extract_lex", extract_lex::run),
    ("fast_align", fast_align::run),
    ("filter", filter::run),
    ("lmplz", lmplz::run),
    ("lowercase.perl", text_filters::lowercase),
    ("multi-bleu.perl", multi_bleu::run),
    ("query", query::run),
    ("remove-non-printing-char.perl", text_filters::remove_non_printing),
    ("replace-unicode-punctuation.perl", text_filters::replace_punctuation),
];

/// A function that runs a program with its arguments, of which the first is its name.
type Program = fn(Vec<OsString>, &CommonOptions) -> anyhow::Result<()>;

/// The argument before the name of a program in the files that [`write_starter`] writes.
const NAME_FOLLOWS: &str = "--started-as";

/// The beginning of the argument in the first line of such a file. The name of the program and the
/// path of the file follow it.
const NAME_AND_FILE_FOLLOW: &str = "--started-as=";

/// Returns the arguments as if the binary had been started under the name that a file of
/// [`write_starter`] states; unchanged if it was not started by such a file.
pub fn started_as(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.len() <= 2 {
        return arguments;
    }
    let option = arguments[1].to_str();
    if option == Some(NAME_FOLLOWS) {
        arguments.drain(..2);
    } else if let Some(name) = option.and_then(|option| option.strip_prefix(NAME_AND_FILE_FOLLOW)) {
        let name = OsString::from(name);
        arguments.splice(..3, [name]);
    }
    arguments
}

/// Translates the command line to this program's options if it was started under the name of a
/// program with a matching command. Otherwise returns `arguments` unchanged.
pub fn rename(arguments: Vec<OsString>) -> Vec<OsString> {
    let arguments = join_marian_command(arguments);
    let name = arguments.first().and_then(|path| Path::new(path).file_name());
    let program = name.and_then(|name| RenamedProgram::find(name, &arguments));
    program.map(|program| program.translate(&arguments)).unwrap_or(arguments)
}

/// Runs the program whose name is the first of `arguments`. Returns `None` for any other name.
pub fn run_by_name(arguments: &[OsString]) -> Option<ExitCode> {
    let arguments = arguments.to_vec();
    let name = Path::new(arguments.first()?).file_name()?;
    let (_, program) = PROGRAMS.into_iter().find(|(known, _)| name == *known)?;
    let common = CommonOptions::default();
    common.apply();
    Some(crate::common::exit_code(program(arguments, &common)))
}

/// Parses `arguments`. Usage errors exit with status 1, as in the original programs.
fn parse<P: Parser>(arguments: Vec<OsString>) -> P {
    P::try_parse_from(arguments).unwrap_or_else(|error| {
        // This includes requested help.
        crate::console::print_message(&error);
        std::process::exit(1)
    })
}

/// Create names of other programs for this binary, so that scripts that call them run unchanged
///
/// Started under one of these names it accepts that program's options: lmplz, build_binary, query
/// and filter of KenLM; fast_align, atools and extract_lex; moses, moses2, mosesserver and
/// Moses' text scripts (such as tokenizer.perl and clean-corpus-n.perl); sacrebleu; marian,
/// marian-conv, marian-decoder, marian-scorer, marian-server and marian-vocab. Add the folder to
/// the PATH of scripts.
///
/// Example: miriam install-aliases ~/miriam-bin && PATH=~/miriam-bin:$PATH lmplz -o 3 < text.en
#[derive(Args)]
pub struct InstallArguments {
    /// The folder, which is created if it is missing
    folder: PathBuf,
}

/// Creates a symbolic link for each name, and a file that starts this binary for each name of a
/// Perl script. If another file has one of these names, fails and creates nothing.
pub fn install(arguments: InstallArguments) -> anyhow::Result<()> {
    let binary = std::env::current_exe().context("this binary's path is unknown")?;
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: the folder cannot be created", folder.display()))?;
    let mut names: Vec<&str> = PROGRAMS.iter().map(|(name, _)| *name).collect();
    names.extend(RENAMED_PROGRAMS.iter().map(|program| program.name));
    names.sort_unstable();
    names.dedup();
    let links: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    // Nothing is created unless all links can be.
    for link in &links {
        if link.symlink_metadata().is_ok() && !points_to_us(link) && !is_starter(link) {
            bail!("{}: the file exists and does not start miriam; remove it first", link.display());
        }
    }
    for (link, name) in links.iter().zip(names) {
        let shown = link.display();
        if link.symlink_metadata().is_ok() {
            std::fs::remove_file(link).with_context(|| format!("{shown}: cannot be replaced"))?;
        }
        let made = if name.ends_with(".perl") {
            write_starter(link, &binary, name)
        } else {
            std::os::unix::fs::symlink(&binary, link)
        };
        made.with_context(|| format!("{shown}: cannot be created"))?;
        crate::console::print_line(shown)?;
    }
    // A relative folder would be another one after the first `cd` of a script.
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
    tracing::info!("for scripts: PATH={}:$PATH", folder.display());
    Ok(())
}

/// The second line of a file that starts this binary.
const STARTER_MARK: &[u8] = b"# Made by `miriam install-aliases`.\n";

/// The length of the longest first line that all kernels read as a whole.
const MAX_FIRST_LINE: usize = 127;

/// Writes a file that starts `binary` as the program `name`, which ends in `.perl`. Scripts also
/// run it as `perl FILE`, with switches of Perl.
fn write_starter(file: &Path, binary: &Path, name: &str) -> std::io::Result<()> {
    let binary = binary.as_os_str().as_bytes();
    let argument = format!(" {NAME_AND_FILE_FOLLOW}{name}\n");
    let first_line = [b"#!", binary, argument.as_bytes()].concat();
    let is_valid =
        first_line.len() <= MAX_FIRST_LINE && !binary.iter().any(|byte| byte.is_ascii_whitespace());
    let text = if is_valid {
        // Perl interprets a file whose first line has the word "perl".
        let path = quote(binary, br"'\", br"\");
        let words =
            format!(", '{NAME_FOLLOWS}', '{name}', @ARGV or die \"$0: cannot start: $!\\n\";\n");
        [&first_line[..], STARTER_MARK, b"exec {", &path, b"} ", &path, words.as_bytes()].concat()
    } else {
        // Perl runs the program that the first line names; the shell takes none of its switches.
        let words = format!(" {NAME_FOLLOWS} {name} \"$@\"\n");
        let path = quote(binary, b"'", br"'\'");
        [b"#!/bin/sh\n", STARTER_MARK, b"exec ", &path, words.as_bytes()].concat()
    };
    std::fs::write(file, text)?;
    std::fs::set_permissions(file, PermissionsExt::from_mode(0o755))
}

/// Returns `path` in single quotes, with `escape` before each byte of `special`.
fn quote(path: &[u8], special: &[u8], escape: &[u8]) -> Vec<u8> {
    let mut quoted = b"'".to_vec();
    for byte in path {
        if special.contains(byte) {
            quoted.extend_from_slice(escape);
        }
        quoted.push(*byte);
    }
    quoted.push(b'\'');
    quoted
}

/// Whether [`write_starter`] wrote the file.
fn is_starter(file: &Path) -> bool {
    std::fs::read(file)
        .is_ok_and(|text| text.split_inclusive(|&byte| byte == b'\n').nth(1) == Some(STARTER_MARK))
}

/// Whether the link points to a binary of this name, even in another or a missing folder.
fn points_to_us(link: &Path) -> bool {
    let target = link.read_link().ok();
    fn name(path: &Path) -> Option<OsString> {
        path.file_name().map(OsString::from)
    }
    target.and_then(|path| name(&path)) == std::env::current_exe().ok().and_then(|path| name(&path))
}
