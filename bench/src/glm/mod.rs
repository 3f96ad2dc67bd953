//! Benchmark of the GPU language model on the device and on the CPU, next to other kinds of model
//! with the same n-grams; also a bitwise comparison of their scores.
//!
//! No data is needed: without files, a model and texts are generated. Only one layout of the model
//! is on disk at a time. The upper bound of the speed follows from the bytes that a search must
//! read (`read_counts`) and the speed of random reads of memory (`random_reads`).

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
mod tree_sizes;

use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use miriam_glm::device::DeviceChoice;
#[cfg(feature = "cuda")]
use miriam_glm::device::DeviceOptions;
use miriam_glm::format::NodeWidth;
use miriam_glm::{GlmModel, GlmOptions, create_glm, write_glm};
use miriam_lmcpu::ArpaOptions;
use miriam_lmcpu::probing::{ProbingModel, build_probing};
use miriam_lmcpu::sorted::SortedModel;
use miriam_lmcpu::trie::{TrieModel, write_trie};
use miriam_nmt::DeviceSet;
use miriam_storage::{Container, LoadMethod};
use miriam_textio::{Output, Progress};
use serde_json::{Value, json};

use crate::description::describe_file;
use crate::error::{Error, Result, cannot};
use crate::saved_results::{SavedResults, StudyFolder};
use crate::scaling::time_left::describe_duration;
use crate::synthetic::{SyntheticOptions, Text, random_ngrams};
use comparison::{CheckData, Models};
use data::BenchData;
use measure::{Bench, BenchPlan};
#[cfg(feature = "cuda")]
use report::Backend;
use report::Engine;
use tree_sizes::TreeSizes;

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct GlmBenchOptions {
    /// The n-grams and the texts.
    pub source: NgramSource,
    /// The seed of synthetic models and texts, and of random n-grams.
    pub seed: u64,
    /// The folder to write to; if `None`, scores are compared bitwise and nothing is measured.
    pub output: Option<StudyFolder>,
    /// The device that is measured besides the CPU.
    pub device: DeviceChoice,
    /// Whether to use a small model, small batches and few repetitions.
    pub quick: bool,
    /// The number of repetitions of each measurement, if not the default.
    pub repeat: Option<usize>,
    /// The maximal number of threads of the CPU.
    pub threads: usize,
    /// Prices of the hardware, for the column of queries per second and price.
    pub prices: HardwarePrices,
}

/// Prices of the hardware that is measured, in any one currency; `None` if unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct HardwarePrices {
    /// The price of the CPU, all of whose threads are measured.
    pub cpu: Option<f64>,
    /// The price of the device.
    pub device: Option<f64>,
}

impl GlmBenchOptions {
    /// Returns `ngrams`, or the default number of n-grams of a synthetic model.
    fn synthetic_ngrams(&self, ngrams: Option<u64>) -> u64 {
        ngrams.unwrap_or(if self.quick { 100_000 } else { 80_000_000 })
    }
}

/// The source of the n-grams of a measurement.
#[derive(Clone, Debug)]
pub enum NgramSource {
    /// A synthetic model, and texts made from it.
    Synthetic {
        /// The approximate number of n-grams, if not the default.
        ngrams: Option<u64>,
        /// The length of the longest n-grams.
        order: usize,
    },
    /// A model file.
    File {
        /// The file, of any kind that `lm build` reads.
        model: PathBuf,
        /// Texts to score; if empty, they are generated from the model.
        texts: Vec<PathBuf>,
    },
}

/// Node widths that are measured.
const NODE_WIDTHS: [NodeWidth; 3] = [NodeWidth::Keys8, NodeWidth::Keys16, NodeWidth::Keys32];
/// The values of `max_hashed_order` that are measured.
const MAX_HASHED_ORDERS: [usize; 2] = [0, 2];

/// Other kinds of model of the same n-grams that are measured.
const TRIE: &str = "trie";
const PROBING: &str = "probing";

/// Measures every layout and writes `queries.csv`, `reads.csv`, `trees.csv` and `queries.svg`, or
/// compares the scores of all layouts; prints each row when it is measured. Models are built on
/// rayon's current threads. The same options resume a study that was stopped: layouts that were
/// measured to the end are not built again.
///
/// # Errors
/// If files cannot be read or written, another command uses the folder, the folder has results of
/// another study, the device cannot be used, or ([`Error::Mismatch`]) two searches differ.
pub fn run(options: &GlmBenchOptions, out: &mut dyn Write, progress: &dyn Progress) -> Result<()> {
    let device = options.device.resolve_for_build().map_err(miriam_glm::Error::from)?;
    match &options.output {
        Some(folder) => {
            // The folder is opened before the n-grams are generated or read, because that takes
            // long.
            let device = resolve_auto(device);
            let saved = SavedResults::open(Some(folder), describe(options, device)?)?;
            let source = read_source(options, progress)?;
            let device = Cell::new(device);
            measure_all(options, saved, &folder.path, &source, &device, out, progress)
        }
        None => compare_all(options, read_source(options, progress)?, &Cell::new(device), out),
    }
}

/// Returns the device that the description of saved results names: for `auto`, the first GPU if it
/// can be opened, else the CPU.
fn resolve_auto(choice: DeviceChoice) -> DeviceChoice {
    if choice != DeviceChoice::Auto {
        return choice;
    }
    match DeviceSet::Auto.resolve() {
        Ok(DeviceSet::Cuda(_)) => DeviceChoice::Cuda(0),
        _ => DeviceChoice::Cpu,
    }
}

/// Describes what is measured. Prices are left out, because they only divide what was measured.
fn describe(options: &GlmBenchOptions, device: DeviceChoice) -> Result<Value> {
    let source = match &options.source {
        NgramSource::File { model, texts } => {
            let texts = texts.iter().map(|text| describe_input("-i", text));
            json!({
                "model": describe_input("-m", model)?,
                "texts": texts.collect::<Result<Vec<Value>>>()?,
            })
        }
        &NgramSource::Synthetic { ngrams, order } => {
            json!({ "ngrams": options.synthetic_ngrams(ngrams), "order": order })
        }
    };
    let device = match device {
        DeviceChoice::Cpu => "cpu".into(),
        DeviceChoice::Auto => "auto".into(),
        DeviceChoice::Cuda(number) => format!("cuda:{number}"),
    };
    let plan = BenchPlan::new(options.quick, options.repeat, options.threads);
    Ok(json!({
        "name": "glm",
        "source": source,
        "seed": options.seed,
        "device": device,
        "quick": options.quick,
        "repeat": plan.repeat,
        "threads": options.threads,
    }))
}

/// Describes a file of the study, given by an option.
fn describe_input(option: &str, path: &Path) -> Result<Value> {
    if path.as_os_str() == "-" {
        return Err(Error::unmeasurable(format!(
            "{option}: expected a file, found standard input; a saved study must read files"
        )));
    }
    describe_file(path)
}

/// Generates or reads the n-grams, and reads the texts of files.
fn read_source(options: &GlmBenchOptions, progress: &dyn Progress) -> Result<BenchData> {
    match &options.source {
        NgramSource::File { model, texts } => BenchData::read(model, texts, progress),
        &NgramSource::Synthetic { ngrams, order } => {
            let ngrams = options.synthetic_ngrams(ngrams);
            let recipe = SyntheticOptions { ngrams, order, seed: options.seed };
            if !recipe.fits_u32_ids() {
                return Err(Error::unmeasurable(format!(
                    "--synthetic {ngrams} with --order {order}: an order would have more \
                     n-grams than 32-bit ids; give fewer n-grams or a higher order"
                )));
            }
            Ok(BenchData::generate(&recipe))
        }
    }
}

/// Measures every engine that has no saved results, and writes the tables and the chart.
fn measure_all(
    options: &GlmBenchOptions,
    mut saved: SavedResults,
    folder: &Path,
    source: &BenchData,
    choice: &Cell<DeviceChoice>,
    out: &mut dyn Write,
    progress: &dyn Progress,
) -> Result<()> {
    let files = ModelFolder::create(folder)?;
    let plan = BenchPlan::new(options.quick, options.repeat, options.threads);
    let texts = source.texts(plan.max_batch(), options.seed);
    let trees = count_trees(&source.model, &texts, plan.counted_queries);
    tree_sizes::write_csv(&trees, folder)?;
    let mut bench = Bench::new(plan, options.prices, source, texts, out)?;
    for line in tree_sizes::table(&trees) {
        bench.report.add_note(line)?;
    }
    let engines = measured_engines(source.order());
    let mut left = engines.iter().filter(|engine| !saved.contains(&engine.to_string())).count();
    if left < engines.len() {
        tracing::info!(
            "{}: {} of {} models were measured before; --overwrite measures them again",
            folder.display(),
            engines.len() - left,
            engines.len()
        );
    }
    let start = Instant::now();
    let mut measured: u32 = 0;
    for engine in &engines {
        let name = engine.to_string();
        if let Some(results) = saved.take(&name)? {
            bench.report.add_results(engine, results)?;
            continue;
        }
        let length = bench.report.length();
        match engine.layout {
            Some(layout) => measure_layout(&mut bench, engine, layout, source, &files, choice)?,
            None => measure_other_kind(&mut bench, engine, source, &files, progress)?,
        }
        saved.save(&name, &bench.report.results_since(&length))?;
        measured += 1;
        left -= 1;
        let each = start.elapsed().as_secs_f64() / f64::from(measured);
        let time_left = match left {
            0 => String::new(),
            _ => format!("; about {} left", describe_duration(each * left as f64)),
        };
        tracing::info!("{} of {}: {name}{time_left}", engines.len() - left, engines.len());
    }
    bench.report.write(folder)?;
    let chart = chart::draw(&bench.report).to_svg();
    Ok(Output::write_file(&folder.join("queries.svg"), chart.as_bytes())?)
}

/// Returns the engines that are measured for models of an order.
fn measured_engines(order: usize) -> Vec<Engine> {
    let layouts = measured_layouts(order).into_iter().map(|layout| Engine::glm(layout, order));
    layouts.chain([TRIE, PROBING].map(Engine::other)).collect()
}

/// Builds a `glm` file in a layout, and measures it on the device and on the CPU.
fn measure_layout(
    bench: &mut Bench<'_>,
    engine: &Engine,
    layout: GlmOptions,
    source: &BenchData,
    files: &ModelFolder,
    #[cfg_attr(not(feature = "cuda"), expect(unused_variables))] choice: &Cell<DeviceChoice>,
) -> Result<()> {
    let path = files.0.join("glm");
    let built = build_layout(source.model.clone(), layout, &path)?;
    let bytes = built.container.file_length();
    #[cfg(feature = "cuda")]
    if let Some(device) = device::open_on_device(choice, &built, DeviceOptions::default())? {
        bench.measure_device(engine, &device, Backend::Kernel, &built.cpu_model, bytes)?;
        let has_generic = engine.is_default && device.has_special_kernels();
        // The memory of the device may not suffice for two copies.
        drop(device);
        let generic = DeviceOptions { generic_kernels: true, ..DeviceOptions::default() };
        if has_generic && let Some(device) = device::open_on_device(choice, &built, generic)? {
            let kernel = Backend::GenericKernel;
            bench.measure_device(engine, &device, kernel, &built.cpu_model, bytes)?;
        }
    }
    bench.measure_glm_on_cpu(engine, &built.cpu_model, bytes)?;
    drop(built);
    fs::remove_file(&path).map_err(cannot("remove", &path))
}

/// Builds a trie, or a probing table from the trie, and measures it on the CPU.
fn measure_other_kind(
    bench: &mut Bench<'_>,
    engine: &Engine,
    source: &BenchData,
    files: &ModelFolder,
    progress: &dyn Progress,
) -> Result<()> {
    let [trie, probing] = [TRIE, PROBING].map(|name| files.0.join(name));
    if !trie.exists() {
        write_trie(source.model.clone(), &trie, None)?;
    }
    if engine.kind == TRIE {
        let model = TrieModel::open(&trie, LoadMethod::HugePages)?;
        return bench.measure_other(engine, &model, file_length(&trie)?);
    }
    build_probing(&trie, &probing, ArpaOptions::default(), progress)?;
    let model = ProbingModel::open(&probing, LoadMethod::HugePages)?;
    bench.measure_other(engine, &model, file_length(&probing)?)
}

fn file_length(path: &Path) -> Result<u64> {
    Ok(path.metadata().map_err(cannot("read this file", path))?.len())
}

/// A folder for models inside the folder of the study. It is removed at the end.
struct ModelFolder(PathBuf);

impl ModelFolder {
    /// Creates the folder, after removing one that a stopped run left.
    fn create(study: &Path) -> Result<Self> {
        let path = study.join(".miriam-bench-glm");
        if path.exists() {
            fs::remove_dir_all(&path).map_err(cannot("remove this folder", &path))?;
        }
        fs::create_dir(&path).map_err(cannot("make this folder", &path))?;
        Ok(ModelFolder(path))
    }
}

impl Drop for ModelFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Counts the trees of a model, and the trees that are searched for the first `queries` words of
/// each text.
fn count_trees(model: &SortedModel, texts: &[(String, Text)], queries: usize) -> Vec<TreeSizes> {
    let searched = texts.iter().map(|(name, text)| {
        TreeSizes::searched_by(model, name, &text.resized(queries.min(text.words.len())))
    });
    [TreeSizes::all_trees(model)].into_iter().chain(searched).collect()
}

/// Returns the layouts that are measured for models of an order: every node width, once with
/// bigrams in a tree and once with bigrams in a hash table; the default of `lm build`; and hash
/// tables for all orders.
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

/// An open `glm` file with a certain layout.
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

/// Compares the scores of every layout with those of a trie, bit for bit.
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
        let device = device::open_on_device(choice, &built, DeviceOptions::default())?;
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
        DeviceChoice::Cpu => "all scores are equal on the CPU; no device was compared",
        _ => "all scores are equal on the device and on the CPU",
    };
    Ok(writeln!(out, "{what}")?)
}
