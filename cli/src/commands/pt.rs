//! `miriam pt`: binary phrase tables.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use miriam_decoder::{Configuration, build_binary_system};
use miriam_probingpt::{
    AnyTable, BuildOptions, BuildReport, EntryPrinter, IndexStatistics, Statistics, build_file,
};
use miriam_storage::LoadMethod;
use miriam_textio::{Input, Lines, Output, fields, parse_size, quote_for_shell};

use crate::common::{
    CommonOptions, check_files, check_model_folder, verify_checksums, warn_of_memory_floor,
};
use crate::model_kind::{ModelKind, explain_foreign, explain_wrong_kind};
use crate::option_values::parse_number;

#[derive(Subcommand)]
pub enum Command {
    Build(BuildArguments),
    Query(QueryArguments),
    Dump(DumpArguments),
    Info(InfoArguments),
}

/// Build one binary file from Moses' text tables
///
/// The files must be in the order of `LC_ALL=C sort` of whole lines, as Moses
/// writes them, or be sorted with --sort. Without a reordering table it is enough
/// that lines of one source are adjacent. Plain and compressed text is
/// recognised by its content.
///
/// With --config all text tables of a moses.ini are built into the folder of -o. The scores of the
/// reordering table are stored in the phrase tables. A moses.ini that names the new files is
/// written there; the rest of the ini is unchanged.
///
/// Example: miriam pt build --phrase-table phrase-table.gz --reordering
/// reordering-table.gz -o phrase-table.miriam
///
/// Example: miriam pt build --config moses.ini -o binary
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct BuildArguments {
    /// The phrase table: source ||| target ||| scores [||| alignment [||| counts ...]]
    #[arg(long, value_name = "FILE", required_unless_present = "config")]
    phrase_table: Option<PathBuf>,
    /// The moses.ini, or its folder, whose text tables are built
    #[arg(
        short = 'f',
        long,
        value_name = "INI",
        conflicts_with_all = ["phrase_table", "reordering", "num_scores"]
    )]
    config: Option<PathBuf>,
    /// The lexical reordering table: source ||| target ||| scores
    #[arg(long, value_name = "FILE")]
    reordering: Option<PathBuf>,
    /// The file to write; with --config the folder
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Fail unless lines have this many scores
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    num_scores: Option<usize>,
    /// Keep the N targets per source with the highest third score, p(e|f)
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    prune: Option<usize>,
    /// Use at most about this much memory for sorting and for the intermediate form, and
    /// temporary files beside the output for the rest: 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,
    /// Sort the tables first
    #[arg(long)]
    sort: bool,
}

/// Print the entries of source phrases.
///
/// Reads one source phrase per line; prints its entries as Moses text lines
/// (source ||| target ||| scores ||| alignment), then an empty line.
///
/// Example: echo "ein mann" | miriam pt query phrase-table.miriam
#[derive(Args)]
pub struct QueryArguments {
    /// The phrase table: a file of this program, or a ProbingPT directory of Moses
    file: PathBuf,
    /// Add a fifth field with the reordering scores
    #[arg(long)]
    reordering: bool,
    /// The file of source phrases; `-` is standard input
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// The file for the entries; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

/// Print a whole phrase table as text
///
/// Fields are those of the original text. Entries of a source keep their order; sources are in the
/// order of the file's index. Probabilities have enough digits to reproduce the stored scores,
/// which are clipped at e^-100. `| LC_ALL=C sort` gives the order for `pt build`. From a ProbingPT
/// directory of Moses, only the source phrases in its cache are printed, because others are stored
/// as hashes.
///
/// Example: miriam pt dump phrase-table.miriam -o phrase-table.gz --reordering
/// reordering-table.gz
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct DumpArguments {
    /// The phrase table: a file of this program, or a ProbingPT directory of Moses
    file: PathBuf,
    /// The file for the text; `-` is standard output, .gz, .zst, .bz2 and .xz are compressed
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Also write the lexical reordering table to this file
    #[arg(long, value_name = "FILE")]
    reordering: Option<PathBuf>,
}

/// Print counts, the size of each section, the load of the index, and statistics of the scores.
///
/// Example: miriam pt info phrase-table.miriam --json
#[derive(Args)]
pub struct InfoArguments {
    /// The phrase table: a file of this program, or a ProbingPT directory of Moses
    file: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn parse_positive(text: &str) -> Result<usize, String> {
    parse_number(text, |number| number > 0, "a number from 1")
}

pub fn run(command: Command, common: &CommonOptions) -> anyhow::Result<()> {
    match command {
        Command::Build(arguments) => build(arguments, common),
        Command::Query(arguments) => query(arguments),
        Command::Dump(arguments) => dump(arguments),
        Command::Info(arguments) => info(arguments),
    }
}

fn build(arguments: BuildArguments, common: &CommonOptions) -> anyhow::Result<()> {
    warn_of_memory_floor(arguments.memory);
    let options = BuildOptions {
        phrase_table: arguments.phrase_table.unwrap_or_default(),
        reordering: arguments.reordering,
        num_scores: arguments.num_scores,
        prune: arguments.prune,
        memory: arguments.memory,
        sort: arguments.sort,
        threads: common.threads.count(),
        ..BuildOptions::default()
    };
    if let Some(ini) = &arguments.config {
        return build_system(ini, &arguments.output, &options, common);
    }
    for input in std::iter::once(&options.phrase_table).chain(&options.reordering) {
        check_table(input, &arguments.output)?;
    }
    let start = std::time::Instant::now();
    let report = build_file(&options, &arguments.output, &common.progress())?;
    log_report(&report, &arguments.output);
    tracing::info!("built in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Checks that `table` can be read and is not `output`. If it is missing, the error says what is in
/// its place.
fn check_table(table: &Path, output: &Path) -> anyhow::Result<()> {
    let checked = Input::check_access(table, Some(output));
    checked.map_err(
        |error| {
            if table.exists() { error.into() } else { explain_foreign(error, table) }
        },
    )
}

/// Builds the text tables of an ini, and writes an ini with the binary ones.
fn build_system(
    ini: &Path,
    output: &Path,
    options: &BuildOptions,
    common: &CommonOptions,
) -> anyhow::Result<()> {
    let configuration = Configuration::from_ini(ini)
        .map_err(|error| explain_wrong_kind(error, ini, ModelKind::PhraseSystem))?;
    let built = build_binary_system(&configuration, output, options, &common.progress())?;
    for table in &built.tables {
        log_report(&table.report, &table.file);
    }
    for name in &built.text_reordering {
        tracing::warn!(
            "{name}: its table stays text, because the records of the phrase tables cannot hold its \
             scores"
        );
    }
    let ini = &built.ini;
    tracing::info!(
        "{}: translate with `miriam translate -f {}`",
        ini.display(),
        quote_for_shell(ini)
    );
    Ok(())
}

/// Logs what was built into `file`.
fn log_report(report: &BuildReport, file: &Path) {
    let mut extra = String::new();
    let mut add = |count: u64, what: &str| {
        if count > 0 {
            extra += &format!(", {count} {what}");
        }
    };
    add(report.pruned, "pruned away");
    add(report.missing_reordering, "without reordering scores");
    add(report.unused_reordering, "of the reordering table not in the phrase table (left out)");
    tracing::info!(
        "{}: {} phrase pairs of {} sources, {} bytes{extra}",
        file.display(),
        report.entries,
        report.sources,
        report.bytes,
    );
    if report.entries > 0 && report.missing_reordering == report.entries {
        tracing::warn!(
            "{}: no phrase pair has reordering scores; was the reordering table made with another \
             phrase table?",
            file.display()
        );
    }
    if report.sparse_entries > 0 {
        tracing::warn!(
            "{}: {} phrase pairs have sparse features (field 6), which are kept for `miriam pt dump` \
             and not scored",
            file.display(),
            report.sparse_entries
        );
    }
}

fn query(arguments: QueryArguments) -> anyhow::Result<()> {
    Input::check_access(&arguments.input, Some(&arguments.output))?;
    check_table(&arguments.file, &arguments.output)?;
    let table = AnyTable::open(&arguments.file, LoadMethod::Lazy)?;
    let mut printer = EntryPrinter::new(&table);
    let mut lines = Lines::new(Input::open(&arguments.input)?);
    let mut output = Output::create(&arguments.output)?;
    let mut text = Vec::new();
    let mut source = Vec::new();
    while let Some(line) = lines.next()? {
        source.clear();
        text.clear();
        let words = fields::split_words(fields::trim(line.bytes));
        // An unknown word has no id, and no phrase.
        source.extend(words.map(|word| table.find_source_word(word).unwrap_or(u32::MAX)));
        if let Some(record) = table.find(&source) {
            printer.write_query_result(record, &source, arguments.reordering, &mut text)?;
        }
        text.push(b'\n');
        output.write(&text)?;
        // The input may be interactive.
        if arguments.input.as_os_str() == "-" {
            output.flush()?;
        }
    }
    output.finish()?;
    Ok(())
}

fn dump(arguments: DumpArguments) -> anyhow::Result<()> {
    check_table(&arguments.file, &arguments.output)?;
    let outputs =
        [("--output", Some(&arguments.output)), ("--reordering", arguments.reordering.as_ref())];
    check_files([&arguments.file], &outputs)?;
    let written = outputs.iter().filter_map(|(_, path)| path.map(PathBuf::as_path));
    check_model_folder(&arguments.file, written)?;
    verify_checksums(&arguments.file)?;
    let table = AnyTable::open(&arguments.file, LoadMethod::Lazy)?;
    if arguments.reordering.is_some() && table.num_reordering_scores() == 0 {
        anyhow::bail!("{}: the table has no reordering scores", arguments.file.display());
    }
    let mut printer = EntryPrinter::new(&table);
    let mut output = Output::create_atomic(&arguments.output)?;
    let mut reordering = arguments.reordering.as_deref().map(Output::create_atomic).transpose()?;
    let mut text = Vec::new();
    let left_out = table.for_each_source(|record, source| -> anyhow::Result<()> {
        text.clear();
        printer.write_phrase_table(record, source, &mut text)?;
        output.write(&text)?;
        if let Some(reordering) = &mut reordering {
            text.clear();
            printer.write_reordering_table(record, source, &mut text)?;
            reordering.write(&text)?;
        }
        Ok(())
    })?;
    output.finish()?;
    if let Some(reordering) = reordering {
        reordering.finish()?;
    }
    if let Some(omission) = describe_omission(left_out) {
        tracing::warn!(
            "{}: {omission}: a table of Moses names only those in its cache by their words; \
             `miriam pt query` prints the entries of any phrase it is given",
            arguments.file.display()
        );
    }
    Ok(())
}

/// Returns the beginning of the warning that source phrases are omitted.
fn describe_omission(count: u64) -> Option<String> {
    match count {
        0 => None,
        1 => Some("a source phrase is omitted".into()),
        _ => Some(format!("{count} source phrases are omitted")),
    }
}

fn info(arguments: InfoArguments) -> anyhow::Result<()> {
    let table = AnyTable::open(&arguments.file, LoadMethod::Lazy)?;
    let statistics = table.statistics()?;
    let counts = table_counts(&table, &statistics);
    let parts = section_sizes(&table);
    let index = match &table {
        AnyTable::Native(table) => Some(table.index_statistics()?),
        AnyTable::Moses(_) => None,
    };
    let mut output = Output::create("-".as_ref())?;
    let text = if arguments.json {
        fn pair((name, number): &(&str, u64)) -> String {
            format!("\"{name}\":{number}")
        }
        let mut members: Vec<String> = counts.iter().map(pair).collect();
        let parts: Vec<String> = parts.iter().map(pair).collect();
        members.push(format!("\"sections\":{{{}}}", parts.join(",")));
        if let Some(index) = index {
            let IndexStatistics { buckets, load, mean_buckets_read, max_buckets_read } = index;
            members.push(format!(
                "\"index\":{{\"buckets\":{buckets},\"load\":{load},\
                 \"mean_buckets_read\":{mean_buckets_read},\"max_buckets_read\":{max_buckets_read}}}"
            ));
        }
        let scores = statistics.scores.iter().map(|s| {
            let distinct = s.distinct.map_or("null".into(), |n| n.to_string());
            let [lowest, highest, mean] =
                [f64::from(s.lowest), f64::from(s.highest), s.mean].map(json_number);
            format!(
                "{{\"storage\":\"{}\",\"distinct\":{distinct},\"lowest\":{lowest},\"highest\":{highest},\"mean\":{mean}}}",
                s.storage
            )
        });
        members.push(format!("\"score_columns\":[{}]", scores.collect::<Vec<_>>().join(",")));
        format!("{{{}}}\n", members.join(","))
    } else {
        let mut text = String::new();
        for (name, count) in counts {
            text += &format!("{:<20} {count:>14}\n", name.replace('_', " "));
        }
        text += "\nsection                       bytes\n";
        for (name, length) in parts {
            text += &format!("{name:<20} {length:>14}\n");
        }
        if let Some(index) = index {
            text += &format!(
                "\nindex: {} buckets, {:.1} % of their slots in use; a lookup of a source phrase \
                 reads {:.3} buckets, at most {}\n",
                index.buckets,
                100.0 * index.load,
                index.mean_buckets_read,
                index.max_buckets_read
            );
        }
        text += "\nscore  lowest ln  mean ln  highest ln  stored\n";
        for (k, s) in statistics.scores.iter().enumerate() {
            let distinct = s.distinct.map_or(String::new(), |n| format!(", {n} distinct"));
            text += &format!(
                "{:<5} {:>10.4} {:>8.4} {:>11.4}  {}{distinct}\n",
                k + 1,
                s.lowest,
                s.mean,
                s.highest,
                s.storage
            );
        }
        text
    };
    output.write(text.as_bytes())?;
    output.finish()?;
    Ok(())
}

/// Returns the counts of `table`. A table of Moses does not have all of them.
fn table_counts(table: &AnyTable, statistics: &Statistics) -> Vec<(&'static str, u64)> {
    let mut counts = vec![
        ("entries", statistics.entries),
        ("single_targets", statistics.single_targets),
        ("max_targets", statistics.max_targets as u64),
        ("source_words", u64::from(table.num_source_words())),
        ("target_words", u64::from(table.num_target_words())),
        ("target_tokens", statistics.target_words),
        ("max_target_length", statistics.max_target_length as u64),
        ("scores", table.num_scores() as u64),
        ("reordering_scores", table.num_reordering_scores() as u64),
    ];
    match table {
        AnyTable::Native(table) => {
            counts.insert(1, ("sources", table.num_sources()));
            counts.insert(7, ("max_source_length", table.max_source_length() as u64));
            counts.extend([
                ("reordering_rows", (table.num_reordering_rows() as u64).saturating_sub(1)),
                ("missing_reordering", table.missing_reordering()),
                ("alignments", table.num_alignments() as u64),
                ("bytes", table.container().file_length()),
            ]);
        }
        AnyTable::Moses(table) => {
            counts.insert(1, ("sources", table.num_sources()));
            let bytes = table.files().map(|(_, length)| length).sum();
            counts.extend([("alignments", table.num_alignments() as u64), ("bytes", bytes)]);
        }
    }
    counts
}

/// Returns the sections of a file of this program, or the files of a table of Moses, with their
/// sizes in bytes.
fn section_sizes(table: &AnyTable) -> Vec<(&str, u64)> {
    match table {
        AnyTable::Native(table) => {
            let sections = table.container().sections().iter();
            sections.map(|section| (section.name.as_str(), section.length)).collect()
        }
        AnyTable::Moses(table) => table.files().collect(),
    }
}

/// Converts a number to JSON; an empty table has no lowest score.
fn json_number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { "null".into() }
}

#[cfg(test)]
mod tests {
    use super::describe_omission;

    #[test]
    fn one_omitted_phrase_is_not_named_in_the_plural() {
        assert_eq!(describe_omission(0), None);
        assert_eq!(describe_omission(1).as_deref(), Some("a source phrase is omitted"));
        assert_eq!(describe_omission(2).as_deref(), Some("2 source phrases are omitted"));
    }
}
