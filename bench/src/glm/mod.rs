//! n-grams per second of the GPU language model, on the device and on the CPU, beside this
//! project's other models, made from the same n-grams; or the comparison of their results to
//! the bit.
//!
//! Only this program is needed: without files it generates a model and texts. Each
//! layout of the file is built, measured and deleted before the next. Queries have the form that
//! searches take (`queries`); what a search has to read (`read_counts`) and random reads of the
//! memory (`random_reads`) give the upper bound.

mod chart;
mod comparison;
mod data;
#[cfg(feature = "cuda")]
mod device;
mod measure;
pub(crate) mod queries;
mod random_reads;
mod read_counts;
mod report;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_glm::device::DeviceChoice;
use miriam_glm::format::NodeWidth;
use miriam_glm::{GlmModel, GlmOptions, create_glm, write_glm};
use miriam_lmcpu::ArpaOptions;
use miriam_lmcpu::probing::{ProbingModel, build_probing};
use miriam_lmcpu::sorted::SortedModel;
use miriam_lmcpu::trie::{TrieModel, write_trie};
use miriam_storage::{Container, LoadMethod};
use miriam_textio::{Output, Progress};

use crate::error::{Error, Result, cannot};
use crate::synthetic::{SyntheticOptions, random_ngrams};
use comparison::{CheckData, Models};
use data::BenchData;
use measure::{Bench, BenchPlan};
use report::Engine;

/// What is measured or compared.
#[derive(Clone, Debug)]
pub struct GlmBenchOptions {
    /// The n-grams and the texts.
    pub source: NgramSource,
    /// The seed of synthetic models and texts, and of random n-grams.
    pub seed: u64,
    /// The folder to write to; without it nothing is measured, but all results are compared to
    /// the bit.
    pub output: Option<PathBuf>,
    /// Where besides the CPU.
    pub device: DeviceChoice,
    /// A small model, small batches, few repeats.
    pub quick: bool,
    /// Measurements of which the median is taken, if not the usual number.
    pub repeat: Option<usize>,
    /// The most threads of the CPU.
    pub threads: usize,
}

/// Where the n-grams of a measurement come from.
#[derive(Clone, Debug)]
pub enum NgramSource {
    /// A synthetic model, and texts made from it.
    Synthetic {
        /// About how many n-grams, if not the usual number.
        ngrams: Option<u64>,
        /// The length of the longest n-grams.
        order: usize,
    },
    /// A model file.
    File {
        /// The file, of any kind that `lm build` reads.
        model: PathBuf,
        /// Texts to score; none: they are made from the model.
        texts: Vec<PathBuf>,
    },
}

/// Layouts that are measured: node widths, and up to which order hash tables go.
const NODE_WIDTHS: [NodeWidth; 3] = [NodeWidth::Keys8, NodeWidth::Keys16, NodeWidth::Keys32];
const MAX_HASHED_ORDERS: [usize; 2] = [0, 2];

/// Measures every layout and writes `queries.csv`, `reads.csv` and `queries.svg`, or compares the
/// results of all layouts; prints rows as they come. Models are made on rayon's current threads.
///
/// # Errors
/// Files cannot be read or written, the chosen device cannot be used, or ([`Error::Mismatch`])
/// two searches differ.
pub fn run(options: &GlmBenchOptions, out: &mut dyn Write, progress: &dyn Progress) -> Result<()> {
    let device = Cell::new(options.device.resolve_for_build().map_err(miriam_glm::Error::from)?);
    let source = match &options.source {
        NgramSource::File { model, texts } => BenchData::read(model, texts, progress)?,
        &NgramSource::Synthetic { ngrams, order } => {
            let ngrams = ngrams.unwrap_or(if options.quick { 100_000 } else { 80_000_000 });
            let recipe = SyntheticOptions { ngrams, order, seed: options.seed };
            if !recipe.fits_u32_ids() {
                return Err(Error::unmeasurable(format!(
                    "--synthetic {ngrams} with --order {order}: an order would have more \
                     n-grams than 32 bits count; give fewer or a higher order"
                )));
            }
            BenchData::generate(&recipe)
        }
    };
    match &options.output {
        Some(folder) => measure_all(options, folder, source, &device, out, progress),
        None => compare_all(options, source, &device, out),
    }
}

/// Measures every layout and writes what came of it.
fn measure_all(
    options: &GlmBenchOptions,
    folder: &Path,
    source: BenchData,
    #[cfg_attr(not(feature = "cuda"), expect(unused_variables))] choice: &Cell<DeviceChoice>,
    out: &mut dyn Write,
    progress: &dyn Progress,
) -> Result<()> {
    fs::create_dir_all(folder).map_err(cannot("make this folder", folder))?;
    let files = tempfile::Builder::new().prefix(".models").tempdir_in(folder);
    let files = files.map_err(cannot("make a folder for models", folder))?;
    let plan = BenchPlan::new(options.quick, options.repeat, options.threads);
    let texts = source.texts(plan.max_batch(), options.seed);
    let mut bench = Bench::new(plan, &source, texts, out)?;
    for layout in measured_layouts(source.order()) {
        let path = files.path().join("glm");
        let built = build_layout(source.model.clone(), layout, &path)?;
        let engine = Engine::glm(layout, source.order());
        let bytes = built.container.file_length();
        #[cfg(feature = "cuda")]
        if let Some(device) = device::open_on_device(choice, &built)? {
            bench.measure_device(&engine, &device, &built.cpu_model, bytes)?;
        }
        bench.measure_glm_on_cpu(&engine, &built.cpu_model, bytes)?;
        drop(built);
        fs::remove_file(&path).map_err(cannot("remove", &path))?;
    }
    let (trie, probing) = (files.path().join("trie"), files.path().join("probing"));
    write_trie(source.model, &trie, None)?;
    build_probing(&trie, &probing, ArpaOptions::default(), progress)?;
    bench.measure_other("trie", &TrieModel::open(&trie, LoadMethod::HugePages)?)?;
    bench.measure_other("probing", &ProbingModel::open(&probing, LoadMethod::HugePages)?)?;
    let report = bench.report();
    report.write(folder)?;
    let chart = chart::draw(&report).to_svg();
    Ok(Output::write_file(&folder.join("queries.svg"), chart.as_bytes())?)
}

/// The layouts that are measured for models of an order: every node width with bigrams
/// in a tree and in a hash table, what `lm build` makes unless told otherwise, and all
/// orders in hash tables.
fn measured_layouts(order: usize) -> Vec<GlmOptions> {
    let hashed = MAX_HASHED_ORDERS.iter().filter(|&&hashed| hashed <= order);
    let mut layouts: Vec<GlmOptions> = hashed
        .flat_map(|&hashed| {
            NODE_WIDTHS.map(|width| GlmOptions { node_width: width, max_hashed_order: hashed })
        })
        .collect();
    let default_layout = report::default_layout(order);
    for layout in [default_layout, GlmOptions { max_hashed_order: order, ..default_layout }] {
        if !layouts.contains(&layout) {
            layouts.push(layout);
        }
    }
    layouts
}

/// A `glm` file of one layout, open.
struct BuiltLayout {
    container: Container,
    cpu_model: Arc<GlmModel>,
}

/// Writes `model` in a layout to `path` and opens it.
fn build_layout(model: SortedModel, layout: GlmOptions, path: &Path) -> Result<BuiltLayout> {
    write_glm(model, &layout, create_glm(path)?)?;
    let container = Container::open_any(path, LoadMethod::HugePages)?;
    let cpu_model = Arc::new(GlmModel::from_container(&container)?);
    Ok(BuiltLayout { container, cpu_model })
}

/// Compares the results of every layout.
fn compare_all(
    options: &GlmBenchOptions,
    source: BenchData,
    choice: &Cell<DeviceChoice>,
    out: &mut dyn Write,
) -> Result<()> {
    let count = if options.quick { 20_000 } else { 1_000_000 };
    let files = tempfile::tempdir();
    let files = files.map_err(cannot("make a folder for models", &std::env::temp_dir()))?;
    let batches = comparison::BATCH_SIZES
        .iter()
        .map(|&size| if options.quick { size.min(50_000) } else { size });
    let material = CheckData {
        random_ngrams: random_ngrams(&source.model, source.order(), count, options.seed),
        text: source.mixed_text(count, options.seed),
        batch_sizes: batches.collect(),
    };
    let trie = files.path().join("trie");
    write_trie(source.model.clone(), &trie, None)?;
    let trie = TrieModel::open(&trie, LoadMethod::HugePages)?;
    for layout in measured_layouts(source.order()) {
        let name = Engine::glm(layout, source.order()).to_string();
        let path = files.path().join("glm");
        let built = build_layout(source.model.clone(), layout, &path)?;
        #[cfg(feature = "cuda")]
        let device = device::open_on_device(choice, &built)?;
        let models = Models {
            cpu_model: &*built.cpu_model,
            reference: &trie,
            reference_name: "trie",
            bos_id: source.model.bos_id,
            #[cfg(feature = "cuda")]
            device: device.as_ref().map(|device| device as &dyn comparison::BatchScorer),
            #[cfg(not(feature = "cuda"))]
            device: None,
        };
        let mut written = Ok(());
        comparison::compare_models(&models, &material, &mut |line| {
            if written.is_ok() {
                written = writeln!(out, "{name}: {line}");
            }
        })?;
        written?;
    }
    let what = match choice.get() {
        DeviceChoice::Cpu => "all the same on the CPU; no device was compared",
        _ => "all the same, on the device and on the CPU",
    };
    Ok(writeln!(out, "{what}")?)
}
