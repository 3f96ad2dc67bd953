//! `miriam bench lm`: queries a second of a language model, in every way in which
//! it can be asked.

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use miriam_lmcpu::probing::{self, ProbingModel};
use miriam_lmcpu::{LanguageModel, LmWord, Request, ScoreResult, State};
use miriam_storage::{Container, LoadMethod};
use miriam_textio::{Input, Log10};

use super::machine::cpu_seconds;
use crate::common::{CommonOptions, parse_load_mode};

#[derive(Args)]
pub struct Arguments {
    /// A model file of ours or of KenLM's, or ARPA text (plain, .gz or .zst)
    model: PathBuf,
    /// The text: plain, .gz or .zst; - for standard input
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// How queries are made, repeatable; without it, every way there is
    #[arg(long, value_name = "WAY")]
    way: Vec<QueryMethod>,
    /// Passes over the text
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    passes: u32,
    /// How a model file comes into memory: lazy, populate or huge
    #[arg(long, value_name = "HOW", default_value = "huge", value_parser = parse_load_mode)]
    load: LoadMethod,
    /// Also write the table here, as comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// How queries are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum QueryMethod {
    /// One at a time, by the type of the model itself (our probing files only)
    Single,
    /// One at a time, by the trait that hides the type
    Dyn,
    /// In batches of 64 words, each after a state of its own, as decoders query
    Batch,
    /// Whole sentences side by side
    Sentences,
}

impl QueryMethod {
    const ALL: [QueryMethod; 4] =
        [QueryMethod::Single, QueryMethod::Dyn, QueryMethod::Batch, QueryMethod::Sentences];

    fn name(self) -> &'static str {
        match self {
            QueryMethod::Single => "single",
            QueryMethod::Dyn => "dyn",
            QueryMethod::Batch => "batch",
            QueryMethod::Sentences => "sentences",
        }
    }
}

/// A model by its own type, where that is ours to name.
enum Model {
    Probing(Box<ProbingModel>),
    Other(std::sync::Arc<dyn LanguageModel>),
}

impl Model {
    fn get(&self) -> &dyn LanguageModel {
        match self {
            Model::Probing(model) => &**model,
            Model::Other(model) => &**model,
        }
    }
}

/// A row of the table.
struct Measurement {
    way: QueryMethod,
    threads: usize,
    queries: u64,
    cpu: f64,
    wall: f64,
    log10: f64,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    Input::check_access(&arguments.input, arguments.csv.as_deref())?;
    Input::check_access(&arguments.model, arguments.csv.as_deref())?;
    let mut text = Vec::new();
    Input::open(&arguments.input)?.read_to_end(&mut text)?;
    let is_probing = Container::is_container(&arguments.model)
        && Container::open_any(&arguments.model, LoadMethod::Lazy)?.kind() == probing::KIND;
    let model = if is_probing {
        Model::Probing(Box::new(ProbingModel::open(&arguments.model, arguments.load)?))
    } else {
        let progress = common.progress();
        let open = || miriam_glm::open(&arguments.model, arguments.load, &progress);
        Model::Other(common.build_thread_pool()?.install(open)?)
    };
    let (words, ends) = text_to_ids(model.get(), &text);
    let mut csv = arguments.csv.as_deref().map(File::create).transpose()?;
    let heading = "way,threads,queries,cpu_seconds,wall_seconds,queries_per_cpu_second,log10";
    if let Some(csv) = &mut csv {
        writeln!(csv, "{heading}")?;
    }
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "way       threads     queries   CPU s   wall s   M queries / CPU s   M queries / s         log10"
    )?;
    let ways = if arguments.way.is_empty() { &QueryMethod::ALL[..] } else { &arguments.way };
    let mut threads = vec![1];
    threads.extend((common.threads.count() > 1).then_some(common.threads.count()));
    for &threads in &threads {
        for &way in ways {
            if way == QueryMethod::Single && !is_probing {
                continue;
            }
            let row = measure(&model, way, threads, &words, &ends, arguments.passes);
            let Measurement { queries, cpu, wall, log10, .. } = row;
            let millions = queries as f64 / 1e6;
            writeln!(
                out,
                "{:<9} {threads:>7} {queries:>11} {cpu:>7.2} {wall:>8.2} {:>19.2} {:>15.2} {log10:>13.1}",
                row.way.name(),
                millions / cpu,
                millions / wall,
            )?;
            if let Some(csv) = &mut csv {
                let (name, threads) = (row.way.name(), row.threads);
                let rate = queries as f64 / cpu;
                writeln!(csv, "{name},{threads},{queries},{cpu:.6},{wall:.6},{rate:.0},{log10}")?;
            }
        }
    }
    Ok(())
}

/// The ids of the words of `text`, each line with its `</s>`, and where lines
/// end.
fn text_to_ids(model: &dyn LanguageModel, text: &[u8]) -> (Vec<LmWord>, Vec<usize>) {
    let (mut words, mut ends) = (Vec::new(), Vec::new());
    for line in text.strip_suffix(b"\n").unwrap_or(text).split(|&b| b == b'\n') {
        let line = line.split(|b| matches!(b, b' ' | 0x09..=0x0d)).filter(|word| !word.is_empty());
        words.extend(line.map(|word| model.word_id(word)));
        words.push(model.end_of_sentence());
        ends.push(words.len());
    }
    (words, ends)
}

/// Words that a thread scores between two looks at the queue.
const WORDS_PER_TASK: usize = 1 << 16;

fn measure(
    model: &Model,
    way: QueryMethod,
    threads: usize,
    words: &[LmWord],
    ends: &[usize],
    passes: u32,
) -> Measurement {
    // Chunks of whole sentences, as ranges of `ends`.
    let mut chunks = Vec::new();
    let (mut first, mut start) = (0, 0);
    for (i, &end) in ends.iter().enumerate() {
        if end - start >= WORDS_PER_TASK || i + 1 == ends.len() {
            chunks.push((start, first..i + 1));
            (first, start) = (i + 1, end);
        }
    }
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut run = ScoringScratch::new(model.get());
        let mut sum = 0.0;
        loop {
            let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if at >= chunks.len() * passes as usize {
                return sum;
            }
            let (start, range) = &chunks[at % chunks.len()];
            sum += match (way, model) {
                (QueryMethod::Single, Model::Probing(model)) => {
                    run.score_single(&**model, words, *start, &ends[range.clone()])
                }
                (QueryMethod::Single | QueryMethod::Dyn, _) => {
                    run.score_single(model.get(), words, *start, &ends[range.clone()])
                }
                (QueryMethod::Batch, _) => {
                    run.score_batch(model.get(), words, *start, &ends[range.clone()])
                }
                (QueryMethod::Sentences, _) => {
                    run.score_sentences(model.get(), words, *start, &ends[range.clone()])
                }
            };
        }
    };
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let log10 = if threads == 1 {
        work()
    } else {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            workers.into_iter().map(|worker| worker.join().expect("no worker panics")).sum()
        })
    };
    let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
    let queries = words.len() as u64 * u64::from(passes);
    Measurement { way, threads, queries, cpu, wall, log10 }
}

/// Sentences of a batch.
const BATCH_SENTENCES: usize = 64;

/// Buffers of one thread.
struct ScoringScratch {
    begin: State,
    scores: Vec<(Log10, u8)>,
    ends: Vec<usize>,
    states: Vec<State>,
    results: Vec<ScoreResult>,
}

impl ScoringScratch {
    fn new(model: &dyn LanguageModel) -> Self {
        ScoringScratch {
            begin: model.begin_state(),
            scores: Vec::new(),
            ends: Vec::new(),
            states: vec![State::EMPTY; BATCH_SENTENCES],
            results: vec![ScoreResult::default(); BATCH_SENTENCES],
        }
    }

    /// One query after another, as a caller without a plan makes them. Sums are
    /// f32, as kenlm_benchmark's.
    #[inline(never)]
    fn score_single<M: LanguageModel + ?Sized>(
        &mut self,
        model: &M,
        words: &[LmWord],
        mut start: usize,
        ends: &[usize],
    ) -> f64 {
        let mut sum = 0.0f32;
        let mut states = [State::EMPTY; 2];
        let [first, second] = &mut states;
        let (mut state, mut next) = (first, second);
        for &end in ends {
            state.copy_from(&self.begin);
            for &word in &words[start..end] {
                sum += model.score(state, word, next).0.0;
                // The references, not the states.
                std::mem::swap(&mut state, &mut next);
            }
            start = end;
        }
        f64::from(sum)
    }

    fn score_batch(
        &mut self,
        model: &dyn LanguageModel,
        words: &[LmWord],
        mut start: usize,
        ends: &[usize],
    ) -> f64 {
        let mut sum = 0.0f32;
        let mut waiting = ends.iter().map(|&end| {
            let sentence = &words[start..end];
            start = end;
            sentence
        });
        let mut rests: Vec<&[LmWord]> = waiting.by_ref().take(BATCH_SENTENCES).collect();
        let request =
            |(lane, rest): (usize, &&[LmWord])| Request { state: lane as u32, word: rest[0] };
        let mut requests: Vec<Request> = rests.iter().enumerate().map(request).collect();
        for request in &requests {
            self.states[request.state as usize].copy_from(&self.begin);
        }
        while !requests.is_empty() {
            model.score_batch(&self.states, &requests, &mut self.results);
            let mut kept = 0;
            for i in 0..requests.len() {
                let (lane, mut rest) = (requests[i].state, &rests[i][1..]);
                sum += self.results[i].log10.0;
                if rest.is_empty() {
                    let Some(sentence) = waiting.next() else { continue };
                    rest = sentence;
                    self.states[lane as usize].copy_from(&self.begin);
                } else {
                    self.states[lane as usize].copy_from(&self.results[i].next_state);
                }
                requests[kept] = Request { state: lane, word: rest[0] };
                rests[kept] = rest;
                kept += 1;
            }
            requests.truncate(kept);
            rests.truncate(kept);
        }
        f64::from(sum)
    }

    fn score_sentences(
        &mut self,
        model: &dyn LanguageModel,
        words: &[LmWord],
        start: usize,
        ends: &[usize],
    ) -> f64 {
        self.ends.clear();
        self.ends.extend(ends.iter().map(|end| end - start));
        let count = self.ends[self.ends.len() - 1];
        self.scores.resize(count.max(self.scores.len()), (Log10(0.0), 0));
        model.score_sentences(&self.begin, &words[start..], &self.ends, &mut self.scores);
        f64::from(self.scores[..count].iter().fold(0.0f32, |sum, score| sum + score.0.0))
    }
}
