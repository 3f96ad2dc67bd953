//! Measurements of models on a GPU.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use miriam_glm::GlmModel;
use miriam_glm::device::{
    DeviceChoice, DeviceModel, DeviceOptions, SENTENCE_START, ScoreBuffers, time_random_reads,
};
use miriam_lmcpu::LanguageModel;

use super::BuiltLayout;
use super::measure::{Bench, BenchPlan, QueryText, ReadRates, count_reads, measure_ceilings};
use super::queries;
use super::report::{Backend, Engine, Measurement, QueryMode};
use crate::error::Result;
use crate::statistics::median_by;

/// Loads the model on the device that `choice` names, and returns `None` for the CPU. If `choice`
/// is `Auto`, sets it to the first GPU if that can be used and can hold the model, or else to the
/// CPU, so that all models of a run have the same device.
pub fn open_on_device(
    choice: &Cell<DeviceChoice>,
    built: &BuiltLayout,
    options: DeviceOptions,
) -> Result<Option<DeviceModel>> {
    let number = match choice.get() {
        DeviceChoice::Cpu => return Ok(None),
        DeviceChoice::Cuda(number) => number,
        DeviceChoice::Auto => 0,
    };
    let cpu_model: Arc<dyn LanguageModel> = Arc::<GlmModel>::clone(&built.cpu_model);
    match DeviceModel::new(&built.container, cpu_model, number, options) {
        Ok(device) => {
            choice.set(DeviceChoice::Cuda(number));
            Ok(Some(device))
        }
        Err(miriam_glm::Error::Gpu(error)) if choice.get() == DeviceChoice::Auto => {
            tracing::info!("no device is used: {error}");
            choice.set(DeviceChoice::Cpu);
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

impl Bench<'_> {
    /// Measures a model of `bytes` bytes on the device. `kernel` is the kind of the device's
    /// kernels. The time with copies is measured for [`Backend::Kernel`] only.
    pub fn measure_device(
        &mut self,
        engine: &Engine,
        device: &DeviceModel,
        kernel: Backend,
        cpu_model: &GlmModel,
        bytes: u64,
    ) -> Result<()> {
        let rates = self.measure_device_ceilings(device, bytes)?;
        let bytes_per_ngram = self.bytes_per_ngram(bytes);
        let Bench { plan, texts, report, .. } = self;
        for text in texts {
            let tokens = queries::tokens(&text.text, self.bos_id);
            for mode in QueryMode::ALL {
                let reads = count_reads(plan, cpu_model, text, self.bos_id, mode);
                for &batch in &plan.batches {
                    let samples = sample_batches(text, &tokens, mode, self.order, batch);
                    let mut row = |backend, (queries, wall)| {
                        report.add_measurement(Measurement {
                            engine: engine.clone(),
                            backend,
                            mode,
                            text: text.name.clone(),
                            batch,
                            queries,
                            wall_seconds: wall,
                            cpu_seconds: None,
                            sectors_per_query: Some(reads.sectors_per_query()),
                            ceiling: Some(reads.ceiling(rates)),
                            bytes_per_ngram,
                        })
                    };
                    row(kernel, time_kernel(plan, device, mode, &samples)?)?;
                    if kernel == Backend::Kernel {
                        row(
                            Backend::WithCopies,
                            time_with_copies(plan, device, mode, self.order, &samples)?,
                        )?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Measures random reads on the device, and returns the rates for a buffer as large as the
    /// model.
    fn measure_device_ceilings(
        &mut self,
        device: &DeviceModel,
        model_bytes: u64,
    ) -> Result<ReadRates> {
        let properties = device.properties();
        let (plan, number) = (&self.plan, properties.number);
        // The device is described once, before its first ceiling, whose number of threads is 0.
        if self.report.ceilings.iter().all(|ceiling| ceiling.threads > 0) {
            let multiprocessors = properties.multiprocessors;
            let (name, l2) = (&properties.name, properties.l2_bytes / 1_000_000);
            let line = format!("{name}: {multiprocessors} multiprocessors, {l2} MB of L2");
            self.report.add_note(line)?;
        }
        measure_ceilings(&mut self.report, &plan.buffer_sizes, model_bytes, 0, |bytes, sector| {
            let times = time_random_reads(number, bytes, sector, plan.random_reads, plan.repeat)?;
            let milliseconds = median_by(&times, |&time| time.into());
            Ok(plan.random_reads as f64 / f64::from(milliseconds) * 1e3)
        })
    }
}

/// Returns up to eight different batches of `batch` inputs, each as its number of queries, which do
/// not include `<s>`, and its input. With a single small batch, all n-grams would be in the cache.
/// A text that is shorter than a batch is returned whole.
fn sample_batches(
    text: &QueryText,
    tokens: &[u32],
    mode: QueryMode,
    order: usize,
    batch: usize,
) -> Vec<(usize, Vec<u32>)> {
    const MAX_BATCHES: usize = 8;
    let (all, size) = match mode {
        QueryMode::Explicit => (&text.ngrams[..], batch * order),
        QueryMode::Sentences => (tokens, batch),
    };
    let slices = all.chunks(size).filter(|slice| slice.len() == size || size > all.len());
    let samples = slices.map(|slice| match mode {
        QueryMode::Explicit => (slice.len() / order, slice.to_vec()),
        QueryMode::Sentences => {
            let mut tokens = slice.to_vec();
            let starts = tokens.iter().filter(|&&token| token & SENTENCE_START != 0).count();
            // A batch may begin within a sentence.
            tokens[0] |= SENTENCE_START;
            (tokens.len() - starts, tokens)
        }
    });
    samples.take(MAX_BATCHES).collect()
}

/// Returns the number of queries of the median batch and the seconds of its kernel.
fn time_kernel(
    plan: &BenchPlan,
    device: &DeviceModel,
    mode: QueryMode,
    batches: &[(usize, Vec<u32>)],
) -> Result<(usize, f64)> {
    // Large batches are few, but do not fit into a cache, so each can be measured repeatedly.
    let repeat = if batches.len() < plan.repeat { plan.repeat } else { 1 };
    let mut times = Vec::new();
    for (i, (queries, input)) in batches.iter().enumerate() {
        let mut resident = match mode {
            QueryMode::Explicit => device.resident_ngrams(input)?,
            QueryMode::Sentences => device.resident_tokens(input)?,
        };
        if i == 0 {
            // The first call also loads the kernel, which is not measured.
            resident.time_kernel(1)?;
        }
        let milliseconds = resident.time_kernel(repeat)?;
        times.extend(milliseconds.into_iter().map(|ms| (*queries, f64::from(ms) / 1e3)));
    }
    Ok(median_by_rate(&times))
}

/// Returns the same as [`time_kernel`] for calls that copy from and to the host's memory.
fn time_with_copies(
    plan: &BenchPlan,
    device: &DeviceModel,
    mode: QueryMode,
    order: usize,
    batches: &[(usize, Vec<u32>)],
) -> Result<(usize, f64)> {
    let mut times = Vec::new();
    let longest = batches.iter().map(|(_, input)| input.len()).max().unwrap_or(0);
    let mut log10 = vec![0.0; longest];
    // The first round allocates buffers and is not counted.
    for round in 0..=plan.repeat {
        for (queries, input) in batches {
            let count = match mode {
                QueryMode::Explicit => input.len() / order,
                QueryMode::Sentences => input.len(),
            };
            let scores = ScoreBuffers { log10: &mut log10[..count], matched: None };
            let started = Instant::now();
            match mode {
                QueryMode::Explicit => device.score_ngrams(input, scores)?,
                QueryMode::Sentences => device.score_tokens(input, scores)?,
            }
            if round > 0 {
                times.push((*queries, started.elapsed().as_secs_f64()));
            }
        }
    }
    Ok(median_by_rate(&times))
}

/// Returns the measurement, a number of queries and their seconds, with the median rate.
fn median_by_rate(times: &[(usize, f64)]) -> (usize, f64) {
    median_by(times, |&(queries, seconds)| queries as f64 / seconds)
}
