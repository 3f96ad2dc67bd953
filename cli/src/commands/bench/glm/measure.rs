//! The measurements, one after another.

use std::time::Instant;

use miriam_glm::GlmModel;
use miriam_glm::bench::cpu::{Sequences, Way};
use miriam_glm::bench::memory::Buffer;
use miriam_glm::bench::queries;
use miriam_glm::bench::reads::Reads;
use miriam_glm::device::{Answers, DeviceModel, SENTENCE_START, time_random_sectors};
use miriam_glm::synthetic::Text;
use miriam_lmcpu::LanguageModel;

use super::super::{date, machine};
use super::report::{Ceiling, Engine, Mode, Place, Report, Row};
use super::source::Source;
use machine::cpu_seconds;

/// How much is measured.
pub struct Plan {
    batches: Vec<usize>,
    repeat: usize,
    /// All threads of the CPU.
    threads: usize,
    /// Queries of a repeat on each thread of the CPU.
    queries: usize,
    /// Queries of which reads are counted.
    counted: usize,
    /// Sizes of buffers besides the model's, and random reads of them.
    buffers: Vec<u64>,
    loads: u64,
}

impl Plan {
    /// What `--quick`, `--repeat` and `--threads` come to.
    pub fn new(quick: bool, repeat: Option<u16>, threads: usize) -> Self {
        let repeat = repeat.map(usize::from);
        match quick {
            true => Plan {
                batches: vec![100, 1_000, 10_000],
                repeat: repeat.unwrap_or(2),
                threads,
                queries: 10_000,
                counted: 10_000,
                buffers: vec![1_000_000],
                loads: 1 << 14,
            },
            false => Plan {
                batches: vec![100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000],
                repeat: repeat.unwrap_or(5),
                threads,
                queries: 250_000,
                counted: 250_000,
                buffers: vec![20_000_000, 4_000_000_000],
                loads: 1 << 26,
            },
        }
    }

    /// The largest batch.
    pub fn most(&self) -> usize {
        self.batches.iter().copied().max().unwrap_or(1)
    }
}

/// What is measured, and what came of it so far.
pub struct Bench {
    plan: Plan,
    texts: Vec<Asked>,
    begin: u32,
    order: usize,
    words: Vec<Vec<u8>>,
    report: Report,
}

/// A text in the forms in which it is asked.
struct Asked {
    name: String,
    text: Text,
    ngrams: Vec<u32>,
    tokens: Vec<u32>,
}

/// Reads a second of 32, 64 and 128 bytes at once.
type Rates = [f64; 3];
const SECTORS: [u32; 3] = [32, 64, 128];

impl Bench {
    /// Prepares the measurements of these texts, and tells what they are like.
    pub fn new(plan: Plan, source: &Source, texts: Vec<(String, Text)>) -> anyhow::Result<Self> {
        let (begin, order) = (source.model.begin, source.order());
        let mut report = Report::default();
        let model = &source.model;
        let total: u64 = model.counts.iter().sum();
        report.about(format!(
            "{}; {} threads; {}",
            machine::processor(),
            plan.threads,
            date::today()
        ))?;
        report.about(format!("{}: {total} n-grams: {:?}", model.name, model.counts))?;
        for (name, text) in &texts {
            let part = text.of_length(plan.counted.min(text.words.len()));
            let matches = part.matches(model);
            let share = |&count: &u64| format!("{:.3}", count as f64 / part.words.len() as f64);
            let shares: Vec<String> = matches.iter().map(share).collect();
            report.about(format!("{name}: words that match 1, 2, ..: {}", shares.join(" ")))?;
        }
        let asked = |(name, text): (String, Text)| {
            let ngrams = queries::ngrams(&text, begin, order);
            let tokens = queries::tokens(&text, begin);
            Asked { name, text, ngrams, tokens }
        };
        let id = |id: &miriam_textio::WordId| model.vocabulary.word(*id).to_vec();
        let words = model.source_ids.iter().map(id).collect();
        let texts = texts.into_iter().map(asked).collect();
        Ok(Bench { plan, texts, begin, order, words, report })
    }

    /// What was measured.
    pub fn report(self) -> Report {
        self.report
    }

    /// Measures a model of `bytes` bytes on the device.
    pub fn device(
        &mut self,
        engine: &Engine,
        device: &DeviceModel,
        twin: &GlmModel,
        bytes: u64,
    ) -> anyhow::Result<()> {
        let rates = self.device_ceilings(device, bytes)?;
        let Bench { plan, texts, report, .. } = self;
        for asked in texts {
            for mode in Mode::ALL {
                let reads = count_reads(plan, twin, asked, self.begin, mode);
                for &batch in &plan.batches {
                    let slices = slices(asked, mode, self.order, batch);
                    let mut row = |place, (queries, wall)| {
                        report.row(Row {
                            engine: engine.clone(),
                            place,
                            mode,
                            text: asked.name.clone(),
                            batch,
                            queries,
                            wall,
                            cpu: None,
                            sectors: Some(reads.sectors_a_query()),
                            ceiling: Some(reads.ceiling(rates)),
                        })
                    };
                    row(Place::Kernel, in_kernel(plan, device, mode, &slices)?)?;
                    row(Place::Copies, with_copies(plan, device, mode, self.order, &slices)?)?;
                }
            }
        }
        Ok(())
    }

    /// Measures a `glm` file of `bytes` bytes on the CPU.
    pub fn twin(&mut self, engine: &Engine, twin: &GlmModel, bytes: u64) -> anyhow::Result<()> {
        let one = self.cpu_ceilings(1, bytes)?;
        let rates = match self.plan.threads {
            1 => [one, one],
            threads => [one, self.cpu_ceilings(threads, bytes)?],
        };
        for at in 0..self.texts.len() {
            let reads = count_reads(&self.plan, twin, &self.texts[at], self.begin, Mode::Sentences);
            self.on_cpu(engine, twin, at, Some((reads, rates)))?;
        }
        Ok(())
    }

    /// Measures another model of the same n-grams on the CPU.
    pub fn other(&mut self, kind: &'static str, model: &dyn LanguageModel) -> anyhow::Result<()> {
        let named =
            |(id, word): (u32, &Vec<u8>)| model.word(miriam_lmcpu::LmWord(id)) == Some(&word[..]);
        let same = (0..).zip(&self.words).all(named) && model.num_words() == self.words.len();
        anyhow::ensure!(same, "{kind} gives words other ids than the n-grams that it is made of");
        for at in 0..self.texts.len() {
            self.on_cpu(&Engine::other(kind), model, at, None)?;
        }
        Ok(())
    }

    /// Measures a model with one text on the CPU, in one size of batches unless it is
    /// the usual `glm` file.
    fn on_cpu(
        &mut self,
        engine: &Engine,
        model: &dyn LanguageModel,
        text: usize,
        reads: Option<(Reads, [Rates; 2])>,
    ) -> anyhow::Result<()> {
        let Bench { plan, texts, report, .. } = self;
        let asked = &texts[text];
        for mode in Mode::ALL {
            // As many as all threads need.
            let limit = (plan.queries * plan.threads).min(asked.text.words.len());
            let sequences = match mode {
                Mode::Explicit => {
                    Sequences::ngrams(&asked.ngrams[..limit * self.order], self.order)
                }
                Mode::Sentences => {
                    Sequences::sentences(&asked.text.of_length(limit), model.begin_state())
                }
            };
            let most = plan.queries;
            let mut runs = vec![(Place::Single(1), most), (Place::Batch(1), most)];
            if engine.is_usual {
                let smaller = plan.batches.iter().filter(|&&batch| batch < most);
                runs.extend(smaller.map(|&batch| (Place::Batch(1), batch)));
            }
            if plan.threads > 1 {
                // Small enough for every thread to have several batches.
                runs.push((Place::Batch(plan.threads), (most / 10).min(10_000)));
            }
            for (place, batch) in runs {
                let threads = place.threads();
                let mut batches = sequences.batches(batch);
                batches.truncate((most * threads).div_ceil(batch));
                let queries = batches.iter().map(|batch| sequences.queries(batch.clone())).sum();
                let way = match place {
                    Place::Single(_) => Way::Single,
                    _ => Way::Batch,
                };
                let (wall, cpu) = median(plan.repeat, || {
                    std::hint::black_box(sequences.run(model, way, &batches, threads));
                });
                // Explicit queries on the CPU score their contexts anew.
                let reads = reads.as_ref().filter(|_| mode == Mode::Sentences);
                report.row(Row {
                    engine: engine.clone(),
                    place,
                    mode,
                    text: asked.name.clone(),
                    batch,
                    queries,
                    wall,
                    cpu: Some(cpu),
                    sectors: reads.map(|(reads, _)| reads.sectors_a_query()),
                    ceiling: reads
                        .map(|(reads, rates)| reads.ceiling(rates[usize::from(threads > 1)])),
                })?;
            }
        }
        Ok(())
    }

    /// Random reads on the device; the rates of a buffer as large as the model.
    fn device_ceilings(&mut self, device: &DeviceModel, model: u64) -> anyhow::Result<Rates> {
        let properties = device.properties();
        let (plan, number) = (&self.plan, properties.number);
        if self.report.ceilings.iter().all(|ceiling| ceiling.threads > 0) {
            let multiprocessors = properties.multiprocessors;
            let (name, l2) = (&properties.name, properties.l2 / 1_000_000);
            let line = format!("{name}: {multiprocessors} multiprocessors, {l2} MB of L2");
            self.report.about(line)?;
        }
        let time = |bytes, sector| -> anyhow::Result<f64> {
            let mut times = time_random_sectors(number, bytes, sector, plan.loads, plan.repeat)?;
            times.sort_by(f32::total_cmp);
            Ok(plan.loads as f64 / f64::from(times[times.len() / 2]) * 1e3)
        };
        ceilings(&mut self.report, &plan.buffers, model, 0, time)
    }

    /// The same on the CPU.
    fn cpu_ceilings(&mut self, threads: usize, model: u64) -> anyhow::Result<Rates> {
        let plan = &self.plan;
        let loads = plan.loads.min(1 << 22) * threads as u64;
        let mut buffer: Option<(u64, Buffer)> = None;
        let time = |bytes, sector| -> anyhow::Result<f64> {
            if buffer.as_ref().is_none_or(|(size, _)| *size != bytes) {
                buffer = Some((bytes, Buffer::new(bytes)));
            }
            let (_, buffer) = buffer.as_ref().expect("it was just made");
            let (wall, _) = median(plan.repeat, || buffer.read(sector, loads, threads));
            Ok(loads as f64 / wall)
        };
        ceilings(&mut self.report, &plan.buffers, model, threads, time)
    }
}

/// Random reads of the buffers and of one as large as the model, whose rates are
/// returned. Files of all layouts are about as large, so the first one's does for all.
fn ceilings(
    report: &mut Report,
    buffers: &[u64],
    model: u64,
    threads: usize,
    mut time: impl FnMut(u64, u32) -> anyhow::Result<f64>,
) -> anyhow::Result<Rates> {
    let known = report.ceilings.iter().filter(|ceiling| ceiling.threads == threads);
    let known: Vec<f64> = known.map(|ceiling| ceiling.rate).collect();
    if let Some(&rates) = known.last_chunk() {
        return Ok(rates);
    }
    let mut rates = [0.0; 3];
    for bytes in buffers.iter().copied().chain([model]) {
        for (rate, sector) in rates.iter_mut().zip(SECTORS) {
            *rate = time(bytes, sector)?;
            report.ceiling(Ceiling { threads, bytes, sector, rate: *rate })?;
        }
    }
    Ok(rates)
}

fn count_reads(plan: &Plan, twin: &GlmModel, asked: &Asked, begin: u32, mode: Mode) -> Reads {
    match mode {
        Mode::Explicit => {
            let counted = plan.counted * LanguageModel::order(twin);
            Reads::of_ngrams(twin, &asked.ngrams[..counted.min(asked.ngrams.len())])
        }
        Mode::Sentences => {
            let counted = plan.counted.min(asked.text.words.len());
            Reads::of_text(twin, &asked.text.of_length(counted), begin)
        }
    }
}

/// Batches of one size: a few, so that small ones do not find what the one before has
/// left in the cache. Queries of each, `<s>` apart, and what is asked.
fn slices(asked: &Asked, mode: Mode, order: usize, batch: usize) -> Vec<(usize, Vec<u32>)> {
    const MOST: usize = 8;
    let (all, size) = match mode {
        Mode::Explicit => (&asked.ngrams, batch * order),
        Mode::Sentences => (&asked.tokens, batch),
    };
    let slices = all.chunks(size).filter(|slice| slice.len() == size || size > all.len());
    let slice = |slice: &[u32]| match mode {
        Mode::Explicit => (slice.len() / order, slice.to_vec()),
        Mode::Sentences => {
            let mut tokens = slice.to_vec();
            let starts = tokens.iter().filter(|&&token| token & SENTENCE_START != 0).count();
            // A batch may begin within a sentence.
            tokens[0] |= SENTENCE_START;
            (tokens.len() - starts, tokens)
        }
    };
    slices.map(slice).take(MOST).collect()
}

/// Queries of a batch and the median of the seconds that a kernel takes for it.
fn in_kernel(
    plan: &Plan,
    device: &DeviceModel,
    mode: Mode,
    slices: &[(usize, Vec<u32>)],
) -> anyhow::Result<(usize, f64)> {
    // Large batches are few, and do not fit into a cache anyhow.
    let repeat = if slices.len() < plan.repeat { plan.repeat } else { 1 };
    let mut times = Vec::new();
    for (i, (queries, asked)) in slices.iter().enumerate() {
        let mut resident = match mode {
            Mode::Explicit => device.resident_ngrams(asked)?,
            Mode::Sentences => device.resident_tokens(asked)?,
        };
        if i == 0 {
            // The first kernel of its kind is loaded first.
            resident.time(1)?;
        }
        let taken = resident.time(repeat)?;
        times.extend(taken.into_iter().map(|ms| (*queries, f64::from(ms) / 1e3)));
    }
    Ok(middle(times))
}

/// The same from the machine's memory and back.
fn with_copies(
    plan: &Plan,
    device: &DeviceModel,
    mode: Mode,
    order: usize,
    slices: &[(usize, Vec<u32>)],
) -> anyhow::Result<(usize, f64)> {
    let mut times = Vec::new();
    let most = slices.iter().map(|(_, asked)| asked.len()).max().unwrap_or(0);
    let mut log10 = vec![0.0; most];
    // The first round makes buffers and warms up.
    for round in 0..=plan.repeat {
        for (queries, asked) in slices {
            let count = match mode {
                Mode::Explicit => asked.len() / order,
                Mode::Sentences => asked.len(),
            };
            let answers = Answers { log10: &mut log10[..count], matched: None };
            let started = Instant::now();
            match mode {
                Mode::Explicit => device.score_ngrams(asked, answers)?,
                Mode::Sentences => device.score_tokens(asked, answers)?,
            }
            if round > 0 {
                times.push((*queries, started.elapsed().as_secs_f64()));
            }
        }
    }
    Ok(middle(times))
}

/// The measurement in the middle by speed.
fn middle(mut times: Vec<(usize, f64)>) -> (usize, f64) {
    let rate = |time: &(usize, f64)| time.0 as f64 / time.1;
    times.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
    times[(times.len() - 1) / 2]
}

/// Wall and processor seconds of the repeat of `work` in the middle, after one that
/// does not count.
fn median(repeat: usize, mut work: impl FnMut()) -> (f64, f64) {
    work();
    let run = |_| {
        let (wall, cpu) = (Instant::now(), cpu_seconds());
        work();
        (wall.elapsed().as_secs_f64(), cpu_seconds() - cpu)
    };
    let mut times: Vec<(f64, f64)> = (0..repeat).map(run).collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    times[(times.len() - 1) / 2]
}
