//! Speed of a language model in queries per second, for each method of scoring.

pub mod sequences;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use miriam_lmcpu::probing::{self, ProbingModel};
use miriam_lmcpu::{LanguageModel, LmWord, Request, ScoreResult, State};
use miriam_storage::{Container, LoadMethod};
use miriam_textio::{Input, Output, Progress};

use crate::error::{Error, Result};
use crate::input::read_words;
use crate::machine::cpu_seconds;
use crate::synthetic::Text;
use crate::workers::sum_over_threads;
use sequences::{ScoringMode, ScoringScratch, Sequences};

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct LmOptions {
    /// A model file of Miriam or KenLM, or an ARPA file.
    pub model: PathBuf,
    /// The text; `-` for standard input.
    pub input: PathBuf,
    /// The query methods; empty for all.
    pub methods: Vec<QueryMethod>,
    /// The number of passes over the text.
    pub passes: u32,
    /// The method of loading the model file.
    pub load: LoadMethod,
    /// The second number of threads to measure; the first is 1.
    pub threads: usize,
    /// The file to which the table is also written as CSV.
    pub csv: Option<PathBuf>,
}

/// The form of calls to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryMethod {
    /// One query per call of the model's concrete type.
    Single,
    /// One query per virtual call of the trait object.
    Dyn,
    /// Batches of 64 words, each after a different state.
    Batch,
    /// Whole sentences, interleaved.
    Sentences,
}

impl QueryMethod {
    /// All methods.
    pub const ALL: [QueryMethod; 4] =
        [QueryMethod::Single, QueryMethod::Dyn, QueryMethod::Batch, QueryMethod::Sentences];

    /// Returns the name in tables and options.
    pub fn name(self) -> &'static str {
        match self {
            QueryMethod::Single => "single",
            QueryMethod::Dyn => "dyn",
            QueryMethod::Batch => "batch",
            QueryMethod::Sentences => "sentences",
        }
    }
}

/// A model by its concrete type, if the benchmark has a loop for it.
enum Model {
    Probing(Box<ProbingModel>),
    Other(Arc<dyn LanguageModel>),
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
    queries: u64,
    cpu: f64,
    wall: f64,
    log10: f64,
}

/// Measures the chosen methods on one thread and on `threads`, prints a table, and writes it as CSV
/// if asked. If no method is named, `Single` is left out for models other than probing files of
/// Miriam. The model is opened on rayon's current threads.
///
/// # Errors
/// If the model or the text cannot be read, the text has no words, `Single` is named for another
/// model than a probing file, or the table cannot be written.
pub fn run(options: &LmOptions, out: &mut dyn Write, progress: &dyn Progress) -> Result<()> {
    Input::check_access(&options.input, options.csv.as_deref())?;
    Input::check_access(&options.model, options.csv.as_deref())?;
    let text = read_words(&options.input)?;
    let is_probing = Container::is_container(&options.model)
        && Container::open_any(&options.model, LoadMethod::Lazy)?.kind() == probing::KIND;
    if !is_probing && options.methods.contains(&QueryMethod::Single) {
        return Err(Error::unmeasurable(format!(
            "{}: the way single needs a file of `miriam lm build --type probing`; build one, or \
             leave out --way single",
            options.model.display()
        )));
    }
    let model = if is_probing {
        Model::Probing(Box::new(ProbingModel::open(&options.model, options.load)?))
    } else {
        Model::Other(miriam_glm::open(&options.model, options.load, progress)?)
    };
    let text = Text::from_lines(&text, model.get().end_of_sentence().0, |word| {
        model.get().word_id(word).0
    });
    let sentences = Sequences::sentences(&text, model.get().begin_state());
    let mut csv = options.csv.as_deref().map(Output::create).transpose()?;
    let mut write_csv = |line: &str| match &mut csv {
        Some(file) => file.write(format!("{line}\n").as_bytes()),
        None => Ok(()),
    };
    write_csv("way,threads,queries,cpu_seconds,wall_seconds,queries_per_cpu_second,log10")?;
    writeln!(
        out,
        "way       threads     queries   CPU s   wall s   M queries / CPU s   M queries / s         log10"
    )?;
    let methods = if options.methods.is_empty() { &QueryMethod::ALL[..] } else { &options.methods };
    let thread_counts = if options.threads > 1 { vec![1, options.threads] } else { vec![1] };
    for threads in thread_counts {
        for &method in methods {
            if method == QueryMethod::Single && !is_probing {
                continue;
            }
            let row = measure(&model, method, threads, &sentences, options.passes);
            let Measurement { queries, cpu, wall, log10 } = row;
            let (name, millions) = (method.name(), queries as f64 / 1e6);
            writeln!(
                out,
                "{name:<9} {threads:>7} {queries:>11} {cpu:>7.2} {wall:>8.2} {:>19.2} {:>15.2} {log10:>13.1}",
                millions / cpu,
                millions / wall,
            )?;
            let rate = queries as f64 / cpu;
            write_csv(&format!("{name},{threads},{queries},{cpu:.6},{wall:.6},{rate:.0},{log10}"))?;
        }
    }
    Ok(csv.map_or(Ok(()), Output::finish)?)
}

/// The number of words that a thread takes from the queue at once.
const WORDS_PER_TASK: usize = 1 << 16;

fn measure(
    model: &Model,
    method: QueryMethod,
    threads: usize,
    sentences: &Sequences,
    passes: u32,
) -> Measurement {
    let batches = sentences.batches(WORDS_PER_TASK);
    let (cpu_start, start) = (cpu_seconds(), Instant::now());
    let log10 = sum_over_threads(threads, batches.len() * passes as usize, || {
        let mut scratch = Scratch::new(model.get());
        let batches = &batches;
        move |task| {
            let batch = batches[task % batches.len()].clone();
            let words = sentences.iter(batch.clone());
            match (method, model) {
                (QueryMethod::Single, Model::Probing(model)) => {
                    scratch.score_single(&**model, words)
                }
                (QueryMethod::Single | QueryMethod::Dyn, _) => {
                    scratch.score_single(model.get(), words)
                }
                (QueryMethod::Batch, _) => scratch.score_batch(model.get(), words),
                (QueryMethod::Sentences, _) => {
                    let (model, mode) = (model.get(), ScoringMode::Batch);
                    let scores = scratch.sequences.score(model, sentences, batch, mode);
                    f64::from(scores.iter().fold(0.0f32, |sum, score| sum + score.0.0))
                }
            }
        }
    });
    let (cpu, wall) = (cpu_seconds() - cpu_start, start.elapsed().as_secs_f64());
    let queries = sentences.num_queries(0..sentences.len()) as u64 * u64::from(passes);
    Measurement { queries, cpu, wall, log10 }
}

/// The number of sentences in a batch.
const BATCH_SENTENCES: usize = 64;

/// The buffers of one thread.
struct Scratch {
    sequences: ScoringScratch,
    begin: State,
    states: Vec<State>,
    results: Vec<ScoreResult>,
}

impl Scratch {
    fn new(model: &dyn LanguageModel) -> Self {
        Scratch {
            sequences: ScoringScratch::default(),
            begin: model.begin_state(),
            states: vec![State::EMPTY; BATCH_SENTENCES],
            results: vec![ScoreResult::default(); BATCH_SENTENCES],
        }
    }

    /// Scores one word per call, and returns the sum of all log10 probabilities. Adds up in f32, as
    /// `kenlm_benchmark` does, so that the figures are comparable.
    #[inline(never)]
    fn score_single<'s, M: LanguageModel + ?Sized>(
        &mut self,
        model: &M,
        sentences: impl Iterator<Item = &'s [LmWord]>,
    ) -> f64 {
        let mut sum = 0.0f32;
        let mut states = [State::EMPTY; 2];
        let [first, second] = &mut states;
        let (mut state, mut next) = (first, second);
        for sentence in sentences {
            state.copy_from(&self.begin);
            for &word in sentence {
                sum += model.score(state, word, next).0.0;
                // This swaps references; the states are not copied.
                std::mem::swap(&mut state, &mut next);
            }
        }
        f64::from(sum)
    }

    fn score_batch<'s>(
        &mut self,
        model: &dyn LanguageModel,
        mut sentences: impl Iterator<Item = &'s [LmWord]>,
    ) -> f64 {
        let mut sum = 0.0f32;
        let mut remaining_words: Vec<&[LmWord]> =
            sentences.by_ref().take(BATCH_SENTENCES).collect();
        fn first_request((lane, rest): (usize, &&[LmWord])) -> Request {
            Request { state: lane as u32, word: rest[0] }
        }
        let mut requests: Vec<Request> =
            remaining_words.iter().enumerate().map(first_request).collect();
        for request in &requests {
            self.states[request.state as usize].copy_from(&self.begin);
        }
        while !requests.is_empty() {
            model.score_batch(&self.states, &requests, &mut self.results);
            let mut kept = 0;
            for i in 0..requests.len() {
                let (lane, mut rest) = (requests[i].state, &remaining_words[i][1..]);
                sum += self.results[i].log10.0;
                if rest.is_empty() {
                    let Some(sentence) = sentences.next() else { continue };
                    rest = sentence;
                    self.states[lane as usize].copy_from(&self.begin);
                } else {
                    self.states[lane as usize].copy_from(&self.results[i].next_state);
                }
                requests[kept] = Request { state: lane, word: rest[0] };
                remaining_words[kept] = rest;
                kept += 1;
            }
            requests.truncate(kept);
            remaining_words.truncate(kept);
        }
        f64::from(sum)
    }
}
