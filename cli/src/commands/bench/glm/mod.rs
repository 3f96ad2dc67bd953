//! `miriam bench glm`: n-grams a second of the GPU language model, on the device and
//! on the CPU, beside this project's other models, made from the same n-grams.
//!
//! Nothing but this binary is needed: without files it makes a model and texts of its
//! own. Each layout of the file is built, measured and deleted before the next.

mod chart;
mod data;
#[cfg(feature = "cuda")]
mod device;
mod measure;
mod report;

use std::cell::Cell;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use miriam_glm::bench::comparison::{self, CheckData, Models};
use miriam_glm::device::DeviceChoice;
use miriam_glm::format::NodeWidth;
use miriam_glm::synthetic::{SyntheticOptions, random_ngrams};
use miriam_glm::{GlmModel, GlmOptions, create_glm, write_glm};
use miriam_lmcpu::DuplicatePolicy;
use miriam_lmcpu::probing::{ProbingModel, build_probing};
use miriam_lmcpu::sorted::SortedModel;
use miriam_lmcpu::trie::{TrieModel, write_trie};
use miriam_storage::{Container, LoadMethod};

use crate::common::CommonOptions;
use data::BenchData;
use measure::{Bench, BenchPlan};
use report::Engine;

/// n-grams a second of the GPU language model, on device and CPU
///
/// Measures random reads of the memory (the ceiling), then explicit n-grams and whole
/// sentences, of text like the model's own and of new text, in batches of 100 to 10
/// million, in nodes of 8, 16 and 32 keys, with none, some or all of the orders in hash
/// tables; on a device without copies and with them, on the CPU with one thread and
/// with all; and the other models of this program on the CPU. Writes queries.csv, reads.csv and
/// queries.svg, and a table to standard output. Without --model it makes a model and
/// texts of its own.
///
/// With --check nothing is measured: everything that scores must give the same bits.
///
/// Example: miriam bench glm --synthetic 80000000 -o glm-speed
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Make a model of about N n-grams [default: 80000000; with --quick 100000]
    #[arg(long, value_name = "N", conflicts_with = "model",
          value_parser = clap::value_parser!(u64).range(SyntheticOptions::MIN_NGRAMS..=SyntheticOptions::MAX_NGRAMS))]
    synthetic: Option<u64>,
    /// The seed of the synthetic model and texts
    #[arg(long, value_name = "S", default_value = "1")]
    seed: u64,
    /// The order of the synthetic model
    #[arg(long, value_name = "N", default_value = "5", conflicts_with = "model",
          value_parser = clap::value_parser!(u8).range(2..=16))]
    order: u8,
    /// Take the n-grams of this model: a file of any kind that `lm build` reads
    #[arg(short, long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// A text to score, repeatable: plain, .gz or .zst; without it texts are made
    #[arg(short, long, value_name = "FILE", requires = "model")]
    input: Vec<PathBuf>,
    /// The folder to write to; it is made if it is not there
    #[arg(short, long, value_name = "FOLDER", required_unless_present = "check")]
    output: Option<PathBuf>,
    /// Where besides the CPU: cpu (nowhere), cuda, cuda:N, or auto (a device if there is
    /// one)
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,
    /// Compare the bits of all results instead
    #[arg(long)]
    check: bool,
    /// A small model, small batches, few repeats
    #[arg(long)]
    quick: bool,
    /// Measurements of which the median is taken [default: 5; with --quick 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    repeat: Option<u16>,
}

/// Layouts that are measured: node widths, and up to which order hash tables go.
const NODE_WIDTHS: [NodeWidth; 3] = [NodeWidth::Keys8, NodeWidth::Keys16, NodeWidth::Keys32];
const MAX_HASHED_ORDERS: [usize; 2] = [0, 2];

pub fn run(mut arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    arguments.device = arguments.device.resolve_for_build()?;
    common.build_thread_pool()?.install(|| {
        let quick = arguments.quick;
        let source = match &arguments.model {
            Some(model) => BenchData::read(model, &arguments.input, common)?,
            None => {
                let ngrams =
                    arguments.synthetic.unwrap_or(if quick { 100_000 } else { 80_000_000 });
                let order = usize::from(arguments.order);
                let recipe = SyntheticOptions { ngrams, order, seed: arguments.seed };
                if !recipe.fits_u32_ids() {
                    bail!(
                        "--synthetic {ngrams} with --order {order}: an order would have more \
                         n-grams than 32 bits count; give fewer or a higher order"
                    );
                }
                BenchData::generate(&recipe)
            }
        };
        match arguments.check {
            true => compare_all(&arguments, source),
            false => measure_all(&arguments, source, common),
        }
    })
}

/// Measures every layout and writes what came of it.
fn measure_all(
    arguments: &Arguments,
    source: BenchData,
    common: &CommonOptions,
) -> anyhow::Result<()> {
    let folder = arguments.output.as_deref().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .with_context(|| format!("{}: cannot make this folder", folder.display()))?;
    let files = tempfile::Builder::new().prefix(".models").tempdir_in(folder)?;
    let plan = BenchPlan::new(arguments.quick, arguments.repeat, common.threads.count());
    let texts = source.texts(plan.max_batch(), arguments.seed);
    let mut bench = Bench::new(plan, &source, texts)?;
    #[cfg(feature = "cuda")]
    let choice = Cell::new(arguments.device);
    for layout in measured_layouts(source.order()) {
        let path = files.path().join("glm");
        let built = build_layout(source.model.clone(), layout, &path)?;
        let engine = Engine::glm(layout, source.order());
        let bytes = built.container.file_length();
        #[cfg(feature = "cuda")]
        if let Some(device) = device::open_on_device(&choice, &built)? {
            bench.measure_device(&engine, &device, &built.cpu_model, bytes)?;
        }
        bench.measure_glm_on_cpu(&engine, &built.cpu_model, bytes)?;
        drop(built);
        fs::remove_file(&path)?;
    }
    let (trie, probing) = (files.path().join("trie"), files.path().join("probing"));
    write_trie(source.model, &trie, None)?;
    build_probing(&trie, &probing, DuplicatePolicy::Reject, &common.progress())?;
    bench.measure_other("trie", &TrieModel::open(&trie, LoadMethod::HugePages)?)?;
    bench.measure_other("probing", &ProbingModel::open(&probing, LoadMethod::HugePages)?)?;
    bench.report().write(folder)
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
fn build_layout(
    model: SortedModel,
    layout: GlmOptions,
    path: &Path,
) -> anyhow::Result<BuiltLayout> {
    write_glm(model, &layout, create_glm(path)?)?;
    let container = Container::open_any(path, LoadMethod::HugePages)?;
    let cpu_model = Arc::new(GlmModel::from_container(&container)?);
    Ok(BuiltLayout { container, cpu_model })
}

/// Compares the results of every layout.
fn compare_all(arguments: &Arguments, source: BenchData) -> anyhow::Result<()> {
    let count = if arguments.quick { 20_000 } else { 1_000_000 };
    let files = tempfile::tempdir()?;
    let batches = comparison::BATCH_SIZES.iter().map(|&size| match arguments.quick {
        true => size.min(50_000),
        false => size,
    });
    let material = CheckData {
        random_ngrams: random_ngrams(&source.model, source.order(), count, arguments.seed),
        text: source.mixed_text(count, arguments.seed),
        batch_sizes: batches.collect(),
    };
    let trie = files.path().join("trie");
    write_trie(source.model.clone(), &trie, None)?;
    let trie = TrieModel::open(&trie, LoadMethod::HugePages)?;
    let choice = Cell::new(arguments.device);
    let mut out = io::stdout();
    for layout in measured_layouts(source.order()) {
        let name = Engine::glm(layout, source.order()).to_string();
        let path = files.path().join("glm");
        let built = build_layout(source.model.clone(), layout, &path)?;
        #[cfg(feature = "cuda")]
        let device = device::open_on_device(&choice, &built)?;
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
