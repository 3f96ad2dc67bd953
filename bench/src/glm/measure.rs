//! Measurements of a model with each text, mode and batch size.

use std::io::Write;
use std::time::Instant;

use miriam_glm::GlmModel;
use miriam_lmcpu::LanguageModel;
use miriam_textio::date;

use super::HardwarePrices;
use super::data::BenchData;
use super::queries;
use super::random_reads::ReadBuffer;
use super::read_counts::ReadCounts;
use super::report::{Backend, Engine, Measurement, QueryMode, ReadCeiling, Report};
use crate::error::{Error, Result};
use crate::lm::sequences::{ScoringMode, Sequences};
use crate::machine::{self, cpu_seconds};
use crate::scaling::topology::count_noun;
use crate::statistics::median_by;
use crate::synthetic::Text;

/// The extent of the measurements.
pub struct BenchPlan {
    pub(super) batches: Vec<usize>,
    pub(super) repeat: usize,
    /// The number of threads of the CPU.
    threads: usize,
    /// The number of queries per repetition and thread of the CPU.
    queries_per_thread: usize,
    /// The number of queries whose reads are counted.
    pub(super) counted_queries: usize,
    /// Sizes in bytes of buffers for random reads, besides the model's size.
    pub(super) buffer_sizes: Vec<u64>,
    pub(super) random_reads: u64,
}

impl BenchPlan {
    /// Returns the plan that `--quick`, `--repeat` and `--threads` select.
    pub fn new(quick: bool, repeat: Option<usize>, threads: usize) -> Self {
        if quick {
            BenchPlan {
                batches: vec![100, 1_000, 10_000],
                repeat: repeat.unwrap_or(2),
                threads,
                queries_per_thread: 10_000,
                counted_queries: 10_000,
                buffer_sizes: vec![1_000_000],
                random_reads: 1 << 14,
            }
        } else {
            BenchPlan {
                batches: vec![100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000],
                repeat: repeat.unwrap_or(5),
                threads,
                queries_per_thread: 250_000,
                counted_queries: 250_000,
                buffer_sizes: vec![20_000_000, 4_000_000_000],
                random_reads: 1 << 26,
            }
        }
    }

    /// Returns the largest batch.
    pub fn max_batch(&self) -> usize {
        self.batches.iter().copied().max().unwrap_or(1)
    }
}

/// A run of measurements: plan, models, texts, and the results so far.
pub struct Bench<'o> {
    pub(super) plan: BenchPlan,
    pub(super) texts: Vec<QueryText>,
    pub(super) bos_id: u32,
    pub(super) order: usize,
    words: Vec<Vec<u8>>,
    num_ngrams: u64,
    pub(super) report: Report<'o>,
}

/// A text and its n-grams as queries.
pub(super) struct QueryText {
    pub(super) name: String,
    pub(super) text: Text,
    pub(super) ngrams: Vec<u32>,
}

/// Reads per second of 32, 64 and 128 bytes each.
pub(super) type ReadRates = [f64; 3];
const READ_BYTES: [u32; 3] = [32, 64, 128];

impl<'o> Bench<'o> {
    /// Prepares measurements with `texts`, and adds notes on the machine, the model and the texts.
    pub fn new(
        plan: BenchPlan,
        prices: HardwarePrices,
        source: &BenchData,
        texts: Vec<(String, Text)>,
        out: &'o mut dyn Write,
    ) -> Result<Self> {
        let (bos_id, order) = (source.model.bos_id, source.order());
        let mut report = Report::new(out, prices, plan.threads);
        let model = &source.model;
        let num_ngrams: u64 = model.counts.iter().sum();
        report.add_note(format!(
            "{}; {}; {}",
            machine::cpu_name(),
            count_noun(plan.threads, "thread"),
            date::today()
        ))?;
        report.add_note(format!("{}: {num_ngrams} n-grams: {:?}", model.name, model.counts))?;
        for (name, text) in &texts {
            let part = text.resized(plan.counted_queries.min(text.words.len()));
            let matches = part.match_length_counts(model);
            let shares: Vec<String> = matches
                .iter()
                .map(|&count| format!("{:.3}", count as f64 / part.words.len() as f64))
                .collect();
            report.add_note(format!("{name}: words that match 1, 2, ..: {}", shares.join(" ")))?;
        }
        let words = model.source_ids.iter().map(|id| model.vocabulary.word(*id).to_vec()).collect();
        let texts = texts
            .into_iter()
            .map(|(name, text)| {
                let ngrams = queries::ngrams(&text, bos_id, order);
                QueryText { name, text, ngrams }
            })
            .collect();
        Ok(Bench { plan, texts, bos_id, order, words, num_ngrams, report })
    }

    /// Returns the size of a file of `bytes` bytes divided by the number of n-grams.
    pub(super) fn bytes_per_ngram(&self, bytes: u64) -> f64 {
        bytes as f64 / self.num_ngrams as f64
    }

    /// Measures a `glm` file of `bytes` bytes on the CPU.
    pub fn measure_glm_on_cpu(
        &mut self,
        engine: &Engine,
        cpu_model: &GlmModel,
        bytes: u64,
    ) -> Result<()> {
        let one = self.measure_cpu_ceilings(1, bytes)?;
        let rates = match self.plan.threads {
            1 => [one, one],
            threads => [one, self.measure_cpu_ceilings(threads, bytes)?],
        };
        for at in 0..self.texts.len() {
            let reads = count_reads(
                &self.plan,
                cpu_model,
                &self.texts[at],
                self.bos_id,
                QueryMode::Sentences,
            );
            self.measure_on_cpu(engine, cpu_model, bytes, at, Some((reads, rates)))?;
        }
        Ok(())
    }

    /// Measures another model of the same n-grams, in a file of `bytes` bytes, on the CPU.
    pub fn measure_other(
        &mut self,
        engine: &Engine,
        model: &dyn LanguageModel,
        bytes: u64,
    ) -> Result<()> {
        let has_same_ids = (0..).zip(&self.words).all(|(id, word): (u32, &Vec<u8>)| {
            model.word(miriam_lmcpu::LmWord(id)) == Some(&word[..])
        }) && model.num_words() == self.words.len();
        if !has_same_ids {
            let reason = format!(
                "{engine}: its word ids differ from those of the n-grams that it was built from; \
                 please report this with the command"
            );
            return Err(Error::unmeasurable(reason));
        }
        for at in 0..self.texts.len() {
            self.measure_on_cpu(engine, model, bytes, at, None)?;
        }
        Ok(())
    }

    /// Measures a model with one text on the CPU: word by word and in batches on one thread, and in
    /// batches on all threads. The default `glm` file is also measured in smaller batches on one
    /// thread.
    fn measure_on_cpu(
        &mut self,
        engine: &Engine,
        model: &dyn LanguageModel,
        bytes: u64,
        text: usize,
        reads: Option<(ReadCounts, [ReadRates; 2])>,
    ) -> Result<()> {
        let bytes_per_ngram = self.bytes_per_ngram(bytes);
        let Bench { plan, texts, report, .. } = self;
        let query_text = &texts[text];
        for mode in QueryMode::ALL {
            // The number of queries that all threads need together.
            let limit = (plan.queries_per_thread * plan.threads).min(query_text.text.words.len());
            let sequences = match mode {
                QueryMode::Explicit => {
                    Sequences::ngrams(&query_text.ngrams[..limit * self.order], self.order)
                }
                QueryMode::Sentences => {
                    Sequences::sentences(&query_text.text.resized(limit), model.begin_state())
                }
            };
            let most = plan.queries_per_thread;
            let mut runs = vec![(Backend::CpuSingle(1), most), (Backend::CpuBatch(1), most)];
            if engine.is_default {
                let smaller = plan.batches.iter().filter(|&&batch| batch < most);
                runs.extend(smaller.map(|&batch| (Backend::CpuBatch(1), batch)));
            }
            if plan.threads > 1 {
                // Batches are small enough for each thread to score several.
                runs.push((Backend::CpuBatch(plan.threads), (most / 10).min(10_000)));
            }
            for (backend, batch) in runs {
                let threads = backend.threads();
                let mut batches = sequences.batches(batch);
                batches.truncate((most * threads).div_ceil(batch));
                let queries =
                    batches.iter().map(|batch| sequences.num_queries(batch.clone())).sum();
                let scoring_mode = match backend {
                    Backend::CpuSingle(_) => ScoringMode::Single,
                    _ => ScoringMode::Batch,
                };
                let (wall, cpu) = time_median(plan.repeat, || {
                    std::hint::black_box(sequences.sum_scores(
                        model,
                        scoring_mode,
                        &batches,
                        threads,
                    ));
                });
                // Explicit queries on the CPU also score their contexts, whose reads are not
                // counted.
                let reads = reads.as_ref().filter(|_| mode == QueryMode::Sentences);
                report.add_measurement(Measurement {
                    engine: engine.clone(),
                    backend,
                    mode,
                    text: query_text.name.clone(),
                    batch,
                    queries,
                    wall_seconds: wall,
                    cpu_seconds: Some(cpu),
                    sectors_per_query: reads.map(|(reads, _)| reads.sectors_per_query()),
                    ceiling: reads
                        .map(|(reads, rates)| reads.ceiling(rates[usize::from(threads > 1)])),
                    bytes_per_ngram,
                })?;
            }
        }
        Ok(())
    }

    /// Measures random reads of the machine's memory, and returns the rates for a buffer as large
    /// as the model.
    fn measure_cpu_ceilings(&mut self, threads: usize, model_bytes: u64) -> Result<ReadRates> {
        let plan = &self.plan;
        let loads = plan.random_reads.min(1 << 22) * threads as u64;
        let mut buffer: Option<(u64, ReadBuffer)> = None;
        measure_ceilings(
            &mut self.report,
            &plan.buffer_sizes,
            model_bytes,
            threads,
            |bytes, sector| -> Result<f64> {
                if buffer.as_ref().is_none_or(|(size, _)| *size != bytes) {
                    buffer = Some((bytes, ReadBuffer::new(bytes)));
                }
                let (_, buffer) = buffer.as_ref().expect("it was just made");
                let (wall, _) =
                    time_median(plan.repeat, || buffer.read_at_random(sector, loads, threads));
                Ok(loads as f64 / wall)
            },
        )
    }
}

/// Measures random reads of buffers, the last one as large as the model, and returns the rates for
/// the last one. Files of all layouts have about the same size, so this is measured for the first
/// file only.
pub(super) fn measure_ceilings(
    report: &mut Report<'_>,
    buffers: &[u64],
    model_bytes: u64,
    threads: usize,
    mut time: impl FnMut(u64, u32) -> Result<f64>,
) -> Result<ReadRates> {
    let known = report.ceilings.iter().filter(|ceiling| ceiling.threads == threads);
    let known: Vec<f64> = known.map(|ceiling| ceiling.rate).collect();
    if let Some(&rates) = known.last_chunk() {
        return Ok(rates);
    }
    let mut rates = [0.0; 3];
    for bytes in buffers.iter().copied().chain([model_bytes]) {
        for (rate, sector) in rates.iter_mut().zip(READ_BYTES) {
            *rate = time(bytes, sector)?;
            report.add_ceiling(ReadCeiling { threads, bytes, sector, rate: *rate })?;
        }
    }
    Ok(rates)
}

pub(super) fn count_reads(
    plan: &BenchPlan,
    cpu_model: &GlmModel,
    query_text: &QueryText,
    bos_id: u32,
    mode: QueryMode,
) -> ReadCounts {
    match mode {
        QueryMode::Explicit => {
            let counted = plan.counted_queries * LanguageModel::order(cpu_model);
            ReadCounts::for_ngrams(
                cpu_model,
                &query_text.ngrams[..counted.min(query_text.ngrams.len())],
            )
        }
        QueryMode::Sentences => {
            let counted = plan.counted_queries.min(query_text.text.words.len());
            ReadCounts::for_text(cpu_model, &query_text.text.resized(counted), bos_id)
        }
    }
}

/// Runs `work` once without measuring it, then `repeat` times. Returns the wall seconds and the CPU
/// seconds of the run with the median wall time.
fn time_median(repeat: usize, mut work: impl FnMut()) -> (f64, f64) {
    work();
    median_by(
        &(0..repeat)
            .map(|_| {
                let (wall, cpu) = (Instant::now(), cpu_seconds());
                work();
                (wall.elapsed().as_secs_f64(), cpu_seconds() - cpu)
            })
            .collect::<Vec<_>>(),
        |time| time.0,
    )
}
