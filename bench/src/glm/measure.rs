//! The measurements, one after another.

use std::io::Write;
use std::time::Instant;

use miriam_glm::GlmModel;
use miriam_lmcpu::LanguageModel;

use super::data::BenchData;
use super::queries;
use super::random_reads::ReadBuffer;
use super::read_counts::ReadCounts;
use super::report::{Backend, Engine, Measurement, QueryMode, ReadCeiling, Report};
use crate::date;
use crate::error::{Error, Result};
use crate::lm::sequences::{ScoringMode, Sequences};
use crate::machine::{self, cpu_seconds};
use crate::statistics::median_by;
use crate::synthetic::Text;

/// How much is measured.
pub struct BenchPlan {
    pub(super) batches: Vec<usize>,
    pub(super) repeat: usize,
    /// All threads of the CPU.
    threads: usize,
    /// Queries of a repeat on each thread of the CPU.
    queries_per_thread: usize,
    /// Queries of which reads are counted.
    pub(super) counted_queries: usize,
    /// Sizes of buffers besides the model's, and random reads of them.
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
    pub(super) begin: u32,
    pub(super) order: usize,
    words: Vec<Vec<u8>>,
    pub(super) report: Report<'o>,
}

/// A text in the forms in which it is asked.
pub(super) struct QueryText {
    pub(super) name: String,
    pub(super) text: Text,
    pub(super) ngrams: Vec<u32>,
}

/// Reads per second of 32, 64 and 128 bytes at once.
pub(super) type ReadRates = [f64; 3];
const READ_BYTES: [u32; 3] = [32, 64, 128];

impl<'o> Bench<'o> {
    /// Prepares the measurements of these texts, and notes their statistics.
    pub fn new(
        plan: BenchPlan,
        source: &BenchData,
        texts: Vec<(String, Text)>,
        out: &'o mut dyn Write,
    ) -> Result<Self> {
        let (begin, order) = (source.model.bos_id, source.order());
        let mut report = Report::new(out);
        let model = &source.model;
        let total: u64 = model.counts.iter().sum();
        report.add_note(format!(
            "{}; {} threads; {}",
            machine::cpu_name(),
            plan.threads,
            date::today()
        ))?;
        report.add_note(format!("{}: {total} n-grams: {:?}", model.name, model.counts))?;
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
                let ngrams = queries::ngrams(&text, begin, order);
                QueryText { name, text, ngrams }
            })
            .collect();
        Ok(Bench { plan, texts, begin, order, words, report })
    }

    /// Returns the report of all measurements.
    pub fn report(self) -> Report<'o> {
        self.report
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
                self.begin,
                QueryMode::Sentences,
            );
            self.measure_on_cpu(engine, cpu_model, at, Some((reads, rates)))?;
        }
        Ok(())
    }

    /// Measures another model of the same n-grams on the CPU.
    pub fn measure_other(&mut self, kind: &'static str, model: &dyn LanguageModel) -> Result<()> {
        let same = (0..).zip(&self.words).all(|(id, word): (u32, &Vec<u8>)| {
            model.word(miriam_lmcpu::LmWord(id)) == Some(&word[..])
        }) && model.num_words() == self.words.len();
        if !same {
            let reason =
                format!("{kind} gives words other ids than the n-grams that it is made of");
            return Err(Error::unmeasurable(reason));
        }
        for at in 0..self.texts.len() {
            self.measure_on_cpu(&Engine::other(kind), model, at, None)?;
        }
        Ok(())
    }

    /// Measures a model with one text on the CPU, in one size of batches unless it is
    /// the default `glm` file.
    fn measure_on_cpu(
        &mut self,
        engine: &Engine,
        model: &dyn LanguageModel,
        text: usize,
        reads: Option<(ReadCounts, [ReadRates; 2])>,
    ) -> Result<()> {
        let Bench { plan, texts, report, .. } = self;
        let asked = &texts[text];
        for mode in QueryMode::ALL {
            // As many as all threads need.
            let limit = (plan.queries_per_thread * plan.threads).min(asked.text.words.len());
            let sequences = match mode {
                QueryMode::Explicit => {
                    Sequences::ngrams(&asked.ngrams[..limit * self.order], self.order)
                }
                QueryMode::Sentences => {
                    Sequences::sentences(&asked.text.resized(limit), model.begin_state())
                }
            };
            let most = plan.queries_per_thread;
            let mut runs = vec![(Backend::CpuSingle(1), most), (Backend::CpuBatch(1), most)];
            if engine.is_default {
                let smaller = plan.batches.iter().filter(|&&batch| batch < most);
                runs.extend(smaller.map(|&batch| (Backend::CpuBatch(1), batch)));
            }
            if plan.threads > 1 {
                // Small enough for every thread to have several batches.
                runs.push((Backend::CpuBatch(plan.threads), (most / 10).min(10_000)));
            }
            for (place, batch) in runs {
                let threads = place.threads();
                let mut batches = sequences.batches(batch);
                batches.truncate((most * threads).div_ceil(batch));
                let queries =
                    batches.iter().map(|batch| sequences.num_queries(batch.clone())).sum();
                let way = match place {
                    Backend::CpuSingle(_) => ScoringMode::Single,
                    _ => ScoringMode::Batch,
                };
                let (wall, cpu) = time_median(plan.repeat, || {
                    std::hint::black_box(sequences.sum_scores(model, way, &batches, threads));
                });
                // Explicit queries on the CPU score their contexts anew.
                let reads = reads.as_ref().filter(|_| mode == QueryMode::Sentences);
                report.add_measurement(Measurement {
                    engine: engine.clone(),
                    backend: place,
                    mode,
                    text: asked.name.clone(),
                    batch,
                    queries,
                    wall_seconds: wall,
                    cpu_seconds: Some(cpu),
                    sectors_per_query: reads.map(|(reads, _)| reads.sectors_per_query()),
                    ceiling: reads
                        .map(|(reads, rates)| reads.ceiling(rates[usize::from(threads > 1)])),
                })?;
            }
        }
        Ok(())
    }

    /// Random reads of the machine's memory; the rates of a buffer as large as the model.
    fn measure_cpu_ceilings(&mut self, threads: usize, model: u64) -> Result<ReadRates> {
        let plan = &self.plan;
        let loads = plan.random_reads.min(1 << 22) * threads as u64;
        let mut buffer: Option<(u64, ReadBuffer)> = None;
        measure_ceilings(
            &mut self.report,
            &plan.buffer_sizes,
            model,
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

/// Random reads of the buffers and of one as large as the model, whose rates are
/// returned. Files of all layouts are about as large, so the first one's does for all.
pub(super) fn measure_ceilings(
    report: &mut Report<'_>,
    buffers: &[u64],
    model: u64,
    threads: usize,
    mut time: impl FnMut(u64, u32) -> Result<f64>,
) -> Result<ReadRates> {
    let known = report.ceilings.iter().filter(|ceiling| ceiling.threads == threads);
    let known: Vec<f64> = known.map(|ceiling| ceiling.rate).collect();
    if let Some(&rates) = known.last_chunk() {
        return Ok(rates);
    }
    let mut rates = [0.0; 3];
    for bytes in buffers.iter().copied().chain([model]) {
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
    asked: &QueryText,
    begin: u32,
    mode: QueryMode,
) -> ReadCounts {
    match mode {
        QueryMode::Explicit => {
            let counted = plan.counted_queries * LanguageModel::order(cpu_model);
            ReadCounts::for_ngrams(cpu_model, &asked.ngrams[..counted.min(asked.ngrams.len())])
        }
        QueryMode::Sentences => {
            let counted = plan.counted_queries.min(asked.text.words.len());
            ReadCounts::for_text(cpu_model, &asked.text.resized(counted), begin)
        }
    }
}

/// Wall and processor seconds of the repeat of `work` in the middle, after one that
/// does not count.
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
