//! Speed of a phrase table: spans of a text per second, without and with decoding of their targets.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use miriam_probingpt::{AnyTable, LookupReads, SpanLookup, Targets};
use miriam_storage::LoadMethod;
use miriam_textio::{Input, Output};

use crate::error::{Error, Result};
use crate::input::{lines, read_text, words};
use crate::machine::cpu_seconds;
use crate::workers::sum_over_threads;

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct PtOptions {
    /// A phrase table in Miriam's format, or a ProbingPT directory of Moses.
    pub table: PathBuf,
    /// The text; `-` for standard input.
    pub input: PathBuf,
    /// The largest number of words of a span.
    pub max_length: usize,
    /// The methods; empty for all.
    pub methods: Vec<LookupMethod>,
    /// The number of passes over the text.
    pub passes: u32,
    /// The method of loading the table.
    pub load: LoadMethod,
    /// The number of threads that is measured besides one thread.
    pub threads: usize,
    /// The file to which the table of results is also written as CSV.
    pub csv: Option<PathBuf>,
}

/// The part of a lookup that is measured: the option `--way` and the column `way` of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupMethod {
    /// Finding the spans that are source phrases.
    Find,
    /// Finding these spans, and decoding all their targets.
    Targets,
}

impl LookupMethod {
    /// All methods.
    pub const ALL: [LookupMethod; 2] = [LookupMethod::Find, LookupMethod::Targets];

    /// Returns the name in tables and options.
    pub fn name(self) -> &'static str {
        match self {
            LookupMethod::Find => "find",
            LookupMethod::Targets => "targets",
        }
    }
}

/// A text as word ids of a table.
struct Sentences {
    ids: Vec<Vec<u32>>,
    max_length: usize,
}

/// The number of sentences that a thread takes at once.
const SENTENCES_PER_TASK: usize = 64;

/// Measures each method on one thread and on `threads` and prints a table. For a table of Miriam,
/// also prints how many cache lines of the index a lookup reads and how many records it compares.
///
/// # Errors
/// If the table or the text cannot be read, the text has no words, a record is damaged, or the
/// results cannot be written.
pub fn run(options: &PtOptions, out: &mut dyn Write) -> Result<()> {
    Input::check_access(&options.input, options.csv.as_deref())?;
    Input::check_access(&options.table, options.csv.as_deref())?;
    let table = AnyTable::open(&options.table, options.load)?;
    let text = read_text(&options.input)?;
    let sentences = Sentences::read(&text, &table, options.max_length);
    if sentences.ids.iter().all(Vec::is_empty) {
        return Err(Error::no_words(&options.input));
    }
    let totals = sentences.count(&table)?;
    let mut csv = options.csv.as_deref().map(Output::create).transpose()?;
    let mut write_csv = |line: &str| match &mut csv {
        Some(file) => file.write(format!("{line}\n").as_bytes()),
        None => Ok(()),
    };
    write_csv(HEADING)?;
    writeln!(
        out,
        "way      threads      spans       found      targets   CPU s   wall s   M spans / CPU s   M spans / s"
    )?;
    let methods =
        if options.methods.is_empty() { &LookupMethod::ALL[..] } else { &options.methods };
    let mut threads = vec![1];
    threads.extend((options.threads > 1).then_some(options.threads));
    let passes = u64::from(options.passes);
    // The reads are the same for every method and number of threads.
    let reads_per_lookup = totals.reads_per_lookup();
    let reads_in_csv = match reads_per_lookup {
        Some([buckets, records]) => format!("{buckets:.4},{records:.4}"),
        None => ",".into(),
    };
    for &threads in &threads {
        for &method in methods {
            let (cpu, wall) = sentences.measure(&table, method, threads, options.passes);
            let [spans, found] = [totals.spans, totals.found].map(|count| passes * count);
            let targets = match method {
                LookupMethod::Find => 0,
                LookupMethod::Targets => passes * totals.targets,
            };
            let (name, millions) = (method.name(), spans as f64 / 1e6);
            writeln!(
                out,
                "{name:<8} {threads:>7} {spans:>10} {found:>11} {targets:>12} {cpu:>7.2} {wall:>8.2} {:>17.2} {:>13.2}",
                millions / cpu,
                millions / wall,
            )?;
            let rate = spans as f64 / cpu;
            write_csv(&format!(
                "{name},{threads},{spans},{found},{targets},{cpu:.6},{wall:.6},{rate:.0},\
                 {reads_in_csv}"
            ))?;
        }
    }
    if let Some([buckets, records]) = reads_per_lookup {
        writeln!(
            out,
            "\nA lookup reads {buckets:.3} lines of the index and compares {records:.3} records; \
             {:.1} % of the spans of known words are source phrases.",
            100.0 * totals.found as f64 / totals.spans.max(1) as f64
        )?;
    }
    Ok(csv.map_or(Ok(()), Output::finish)?)
}

const HEADING: &str = "way,threads,spans,found,targets,cpu_seconds,wall_seconds,\
                       spans_per_cpu_second,lines_per_lookup,records_per_lookup";

/// The results of one pass over the text, counted before anything is timed.
struct Totals {
    spans: u64,
    found: u64,
    targets: u64,
    /// `None` for tables of Moses.
    reads: Option<LookupReads>,
}

impl Totals {
    /// Returns the mean numbers of lines of the index that a lookup reads and of records that it
    /// compares.
    fn reads_per_lookup(&self) -> Option<[f64; 2]> {
        let LookupReads { spans, buckets, records } = self.reads?;
        Some([buckets, records].map(|count| count as f64 / spans.max(1) as f64))
    }
}

impl Sentences {
    fn read(text: &[u8], table: &AnyTable, max_length: usize) -> Self {
        let find = |word: &[u8]| table.find_source_word(word).unwrap_or(u32::MAX);
        let ids = lines(text).map(|line| words(line).map(find).collect()).collect();
        Sentences { ids, max_length }
    }

    fn count(&self, table: &AnyTable) -> Result<Totals> {
        let (mut lookup, mut targets) = (SpanLookup::new(), Targets::new());
        let mut totals = Totals { spans: 0, found: 0, targets: 0, reads: None };
        for sentence in &self.ids {
            table.lookup_spans(sentence, self.max_length, &mut lookup);
            totals.spans += lookup.num_spans() as u64;
            totals.found += lookup.hits().len() as u64;
            for hit in lookup.hits() {
                table.read_targets(hit.record, &mut targets)?;
                totals.targets += targets.len() as u64;
            }
            if let AnyTable::Native(table) = table {
                let LookupReads { spans, buckets, records } = table.lookup_reads(&lookup);
                let reads = totals.reads.get_or_insert_default();
                reads.spans += spans;
                reads.buckets += buckets;
                reads.records += records;
            }
        }
        Ok(totals)
    }

    /// Returns the CPU and the wall time in seconds. `count` has decoded every record, so decoding
    /// cannot fail here.
    fn measure(
        &self,
        table: &AnyTable,
        method: LookupMethod,
        threads: usize,
        passes: u32,
    ) -> (f64, f64) {
        let tasks: Vec<&[Vec<u32>]> = self.ids.chunks(SENTENCES_PER_TASK).collect();
        let (cpu, wall) = (cpu_seconds(), Instant::now());
        let found = sum_over_threads(threads, tasks.len() * passes as usize, || {
            let (mut lookup, mut targets) = (SpanLookup::new(), Targets::new());
            let tasks = &tasks;
            move |task| {
                let mut found = 0;
                for sentence in tasks[task % tasks.len()] {
                    table.lookup_spans(sentence, self.max_length, &mut lookup);
                    match method {
                        LookupMethod::Find => found += lookup.hits().len(),
                        LookupMethod::Targets => {
                            for hit in lookup.hits() {
                                let decoded = table.read_targets(hit.record, &mut targets);
                                found += decoded.map_or(0, |()| targets.len());
                            }
                        }
                    }
                }
                found as f64
            }
        });
        std::hint::black_box(found);
        (cpu_seconds() - cpu, wall.elapsed().as_secs_f64())
    }
}
