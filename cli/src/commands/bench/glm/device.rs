//! What is measured on a GPU.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use miriam_glm::GlmModel;
use miriam_glm::bench::queries;
use miriam_glm::device::{
    DeviceChoice, DeviceModel, DeviceOptions, SENTENCE_START, ScoreBuffers, time_random_reads,
};
use miriam_lmcpu::LanguageModel;

use super::BuiltLayout;
use super::measure::{Bench, BenchPlan, QueryText, ReadRates, count_reads, measure_ceilings};
use super::report::{Backend, Engine, Measurement, QueryMode};

/// The model on the device, if that was asked for or is there. Where none is, it is
/// not asked for again.
pub fn open_on_device(
    choice: &Cell<DeviceChoice>,
    built: &BuiltLayout,
) -> anyhow::Result<Option<DeviceModel>> {
    let number = match choice.get() {
        DeviceChoice::Cpu => return Ok(None),
        DeviceChoice::Cuda(number) => number,
        DeviceChoice::Auto => 0,
    };
    let cpu_model: Arc<dyn LanguageModel> = Arc::<GlmModel>::clone(&built.cpu_model);
    match DeviceModel::new(&built.container, cpu_model, number, DeviceOptions::default()) {
        Ok(device) => Ok(Some(device)),
        Err(miriam_glm::Error::Gpu(error)) if choice.get() == DeviceChoice::Auto => {
            tracing::info!("without a device: {error}");
            choice.set(DeviceChoice::Cpu);
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

impl Bench {
    /// Measures a model of `bytes` bytes on the device.
    pub fn measure_device(
        &mut self,
        engine: &Engine,
        device: &DeviceModel,
        cpu_model: &GlmModel,
        bytes: u64,
    ) -> anyhow::Result<()> {
        let rates = self.measure_device_ceilings(device, bytes)?;
        let Bench { plan, texts, report, .. } = self;
        for asked in texts {
            let tokens = queries::tokens(&asked.text, self.begin);
            for mode in QueryMode::ALL {
                let reads = count_reads(plan, cpu_model, asked, self.begin, mode);
                for &batch in &plan.batches {
                    let slices = sample_batches(asked, &tokens, mode, self.order, batch);
                    let mut row = |place, (queries, wall)| {
                        report.add_measurement(Measurement {
                            engine: engine.clone(),
                            backend: place,
                            mode,
                            text: asked.name.clone(),
                            batch,
                            queries,
                            wall_seconds: wall,
                            cpu_seconds: None,
                            sectors_per_query: Some(reads.sectors_per_query()),
                            ceiling: Some(reads.ceiling(rates)),
                        })
                    };
                    row(Backend::Kernel, time_kernel(plan, device, mode, &slices)?)?;
                    row(
                        Backend::WithCopies,
                        time_with_copies(plan, device, mode, self.order, &slices)?,
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Random reads on the device; the rates of a buffer as large as the model.
    fn measure_device_ceilings(
        &mut self,
        device: &DeviceModel,
        model: u64,
    ) -> anyhow::Result<ReadRates> {
        let properties = device.properties();
        let (plan, number) = (&self.plan, properties.number);
        if self.report.ceilings.iter().all(|ceiling| ceiling.threads > 0) {
            let multiprocessors = properties.multiprocessors;
            let (name, l2) = (&properties.name, properties.l2_bytes / 1_000_000);
            let line = format!("{name}: {multiprocessors} multiprocessors, {l2} MB of L2");
            self.report.add_note(line)?;
        }
        let time = |bytes, sector| -> anyhow::Result<f64> {
            let mut times =
                time_random_reads(number, bytes, sector, plan.random_reads, plan.repeat)?;
            times.sort_by(f32::total_cmp);
            Ok(plan.random_reads as f64 / f64::from(times[times.len() / 2]) * 1e3)
        };
        measure_ceilings(&mut self.report, &plan.buffer_sizes, model, 0, time)
    }
}

/// Batches of one size: a few, so that small ones do not find what the one before has
/// left in the cache. Queries of each, `<s>` apart, and what is asked.
fn sample_batches(
    asked: &QueryText,
    tokens: &[u32],
    mode: QueryMode,
    order: usize,
    batch: usize,
) -> Vec<(usize, Vec<u32>)> {
    const MOST: usize = 8;
    let (all, size) = match mode {
        QueryMode::Explicit => (&asked.ngrams[..], batch * order),
        QueryMode::Sentences => (tokens, batch),
    };
    let slices = all.chunks(size).filter(|slice| slice.len() == size || size > all.len());
    let slice = |slice: &[u32]| match mode {
        QueryMode::Explicit => (slice.len() / order, slice.to_vec()),
        QueryMode::Sentences => {
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
fn time_kernel(
    plan: &BenchPlan,
    device: &DeviceModel,
    mode: QueryMode,
    slices: &[(usize, Vec<u32>)],
) -> anyhow::Result<(usize, f64)> {
    // Large batches are few, and do not fit into a cache anyhow.
    let repeat = if slices.len() < plan.repeat { plan.repeat } else { 1 };
    let mut times = Vec::new();
    for (i, (queries, asked)) in slices.iter().enumerate() {
        let mut resident = match mode {
            QueryMode::Explicit => device.resident_ngrams(asked)?,
            QueryMode::Sentences => device.resident_tokens(asked)?,
        };
        if i == 0 {
            // The first kernel of its kind is loaded first.
            resident.time_kernel(1)?;
        }
        let taken = resident.time_kernel(repeat)?;
        times.extend(taken.into_iter().map(|ms| (*queries, f64::from(ms) / 1e3)));
    }
    Ok(median_by_rate(times))
}

/// The same from the machine's memory and back.
fn time_with_copies(
    plan: &BenchPlan,
    device: &DeviceModel,
    mode: QueryMode,
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
                QueryMode::Explicit => asked.len() / order,
                QueryMode::Sentences => asked.len(),
            };
            let answers = ScoreBuffers { log10: &mut log10[..count], matched: None };
            let started = Instant::now();
            match mode {
                QueryMode::Explicit => device.score_ngrams(asked, answers)?,
                QueryMode::Sentences => device.score_tokens(asked, answers)?,
            }
            if round > 0 {
                times.push((*queries, started.elapsed().as_secs_f64()));
            }
        }
    }
    Ok(median_by_rate(times))
}

/// The measurement in the middle by speed.
fn median_by_rate(mut times: Vec<(usize, f64)>) -> (usize, f64) {
    let rate = |time: &(usize, f64)| time.0 as f64 / time.1;
    times.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
    times[(times.len() - 1) / 2]
}
