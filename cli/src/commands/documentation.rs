//! Files that packages install beside the binary: completions for shells and manual pages, both
//! generated from the help texts, and the licences of all libraries.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Arg, ArgAction, Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use miriam_decoder::supported_parameters;
use miriam_textio::Output;

use super::raw_text;

/// The licences of all libraries, written by `packaging/make_notices.py`.
const NOTICES: &str = include_str!("../../notices.txt");

/// Print completions for a shell
///
/// Example: miriam completions bash > ~/.local/share/bash-completion/completions/miriam
#[derive(Args)]
pub struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

/// Write manual pages: miriam.1, and one for each subcommand
///
/// Example: miriam man ~/.local/share/man/man1 && man miriam-align
#[derive(Args)]
pub struct ManArguments {
    /// The folder, which is created if it is missing
    folder: PathBuf,
}

/// Prints completions for a shell.
pub fn print_completions(arguments: CompletionsArguments, command: Command) -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut describe_translate(command), "miriam", &mut text);
    crate::console::print(&text)
}

/// Writes the manual pages.
pub fn write_manual(arguments: ManArguments, command: Command) -> anyhow::Result<()> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: the folder cannot be created", folder.display()))?;
    let mut command = describe_translate(command).disable_help_subcommand(true);
    command.build();
    write_pages(&command, folder)
}

/// Writes the page of a command, then the pages of its subcommands. A file appears only when it is
/// complete.
fn write_pages(command: &Command, folder: &Path) -> anyhow::Result<()> {
    let page = Man::new(command.clone()).source(concat!("miriam ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    page.render(&mut text)?;
    Output::write_file(&folder.join(page.get_filename()), &text)?;
    let mut subcommands = command.get_subcommands().filter(|one| !one.is_hide_set());
    subcommands.try_for_each(|one| write_pages(one, folder))
}

/// Prints the licences of this program and of the libraries in it.
pub fn print_notices() -> anyhow::Result<()> {
    crate::console::print(NOTICES)
}

/// Adds Moses' options and those of raw text to the description of `translate`, which does not
/// parse them with clap.
fn describe_translate(command: Command) -> Command {
    // All subcommands have the options of the program already.
    let general: Vec<String> =
        command.get_arguments().filter_map(|arg| Some(arg.get_long()?.to_owned())).collect();
    let moses = supported_parameters().iter().filter(|p| !general.iter().any(|g| g == p.name));
    let moses = moses.map(|parameter| {
        let arg = describe_option(parameter.name, parameter.values, parameter.help);
        let mut letters = parameter.short.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) => arg.short(letter),
            (Some(_), Some(_)) => arg.visible_alias(parameter.short),
            _ => arg,
        }
    });
    let raw_text = raw_text::OPTIONS.iter();
    let raw_text = raw_text.map(|option| describe_option(option.name, option.value, option.help));
    command.mut_subcommand("translate", |translate| {
        translate.mut_arg("options", |arg| arg.hide(true)).args(moses).args(raw_text)
    })
}

/// Describes an option with a value of the kind `value`, or a flag if this is empty.
fn describe_option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    let arg = Arg::new(name).long(name).help(help);
    if value.is_empty() {
        arg.action(ArgAction::SetTrue)
    } else {
        arg.value_name(value).num_args(1)
    }
}
