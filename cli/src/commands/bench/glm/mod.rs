//! `miriam bench glm`: n-grams a second of the GPU language model, on the device and
//! on the CPU, beside this project's other models, made from the same n-grams.
//!
//! Nothing but this binary is needed: without files it makes a model and texts of its
//! own. Each layout of the file is built, measured and deleted before the next.

mod chart;
mod measure;
mod report;
mod source;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use miriam_glm::bench::check::{self, Material, Models};
use miriam_glm::device::{DeviceModel, DeviceOptions, Processor};
use miriam_glm::format::NodeWidth;
use miriam_glm::synthetic::{Recipe, random_ngrams};
use miriam_glm::{GlmModel, GlmOptions, create_glm, write_glm};
use miriam_lmcpu::probing::{ProbingModel, build_probing};
use miriam_lmcpu::sorted::SortedModel;
use miriam_lmcpu::trie::{TrieModel, write_trie};
use miriam_lmcpu::{Duplicates, LanguageModel};
use miriam_storage::{Container, Load};

use crate::common::Common;
use measure::{Bench, Plan};
use report::Engine;
use source::Source;

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
          value_parser = clap::value_parser!(u64).range(Recipe::LEAST..=Recipe::MOST))]
    synthetic: Option<u64>,
    /// What the made model and texts follow from
    #[arg(long, value_name = "S", default_value = "1")]
    seed: u64,
    /// The length of the longest n-grams of the made model
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
    device: Processor,
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
const WIDTHS: [NodeWidth; 3] = [NodeWidth::Keys8, NodeWidth::Keys16, NodeWidth::Keys32];
const HASHED: [usize; 2] = [0, 2];

pub fn run(arguments: Arguments, common: &Common) -> anyhow::Result<()> {
    common.pool()?.install(|| {
        let quick = arguments.quick;
        let source = match &arguments.model {
            Some(model) => Source::read(model, &arguments.input, common)?,
            None => {
                let ngrams =
                    arguments.synthetic.unwrap_or(if quick { 100_000 } else { 80_000_000 });
                let order = usize::from(arguments.order);
                let recipe = Recipe { ngrams, order, seed: arguments.seed };
                if !recipe.fits() {
                    bail!(
                        "--synthetic {ngrams} with --order {order}: an order would have more \
                         n-grams than 32 bits count; give fewer or a higher order"
                    );
                }
                Source::make(&recipe)
            }
        };
        match arguments.check {
            true => check_all(&arguments, source),
            false => measure_all(&arguments, source, common),
        }
    })
}

/// Measures every layout and writes what came of it.
fn measure_all(arguments: &Arguments, source: Source, common: &Common) -> anyhow::Result<()> {
    let folder = arguments.output.as_deref().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .with_context(|| format!("{}: cannot make this folder", folder.display()))?;
    let files = tempfile::Builder::new().prefix(".models").tempdir_in(folder)?;
    let plan = Plan::new(arguments.quick, arguments.repeat, common.threads.count());
    let texts = source.texts(plan.most(), arguments.seed);
    let mut bench = Bench::new(plan, &source, texts)?;
    let mut processor = arguments.device;
    for layout in layouts(source.order()) {
        let path = files.path().join("glm");
        let (container, twin) = build(source.model.clone(), layout, &path)?;
        let engine = Engine::glm(layout, source.order());
        let device = open_device(&mut processor, &container, &twin)?;
        if let Some(device) = &device {
            bench.device(&engine, device, &twin, container.file_length())?;
        }
        bench.twin(&engine, &twin, container.file_length())?;
        drop((device, twin, container));
        fs::remove_file(&path)?;
    }
    let (trie, probing) = (files.path().join("trie"), files.path().join("probing"));
    write_trie(source.model, &trie, None)?;
    build_probing(&trie, &probing, Duplicates::Refuse, &common.progress())?;
    bench.other("trie", &TrieModel::open(&trie, Load::HugePages)?)?;
    bench.other("probing", &ProbingModel::open(&probing, Load::HugePages)?)?;
    bench.report().write(folder)
}

/// The layouts that are measured for models of an order: every node width with bigrams
/// in a tree and in a hash table, what `lm build` makes unless told otherwise, and all
/// orders in hash tables.
fn layouts(order: usize) -> Vec<GlmOptions> {
    let hashed = HASHED.iter().filter(|&&hashed| hashed <= order);
    let mut layouts: Vec<GlmOptions> =
        hashed.flat_map(|&hashed| WIDTHS.map(|width| GlmOptions { width, hashed })).collect();
    let usual = report::usual(order);
    for layout in [usual, GlmOptions { hashed: order, ..usual }] {
        if !layouts.contains(&layout) {
            layouts.push(layout);
        }
    }
    layouts
}

/// The file of a layout, and its model.
fn build(
    model: SortedModel,
    layout: GlmOptions,
    path: &Path,
) -> anyhow::Result<(Container, Arc<GlmModel>)> {
    write_glm(model, &layout, create_glm(path)?)?;
    let container = Container::open_any(path, Load::HugePages)?;
    let twin = Arc::new(GlmModel::from_container(&container)?);
    Ok((container, twin))
}

/// Compares the results of every layout.
fn check_all(arguments: &Arguments, source: Source) -> anyhow::Result<()> {
    let count = if arguments.quick { 20_000 } else { 1_000_000 };
    let files = tempfile::tempdir()?;
    let batches = check::BATCHES.iter().map(|&size| match arguments.quick {
        true => size.min(50_000),
        false => size,
    });
    let material = Material {
        random: random_ngrams(&source.model, source.order(), count, arguments.seed),
        text: source.mixed_text(count, arguments.seed),
        batches: batches.collect(),
    };
    let trie = files.path().join("trie");
    write_trie(source.model.clone(), &trie, None)?;
    let trie = TrieModel::open(&trie, Load::HugePages)?;
    let mut processor = arguments.device;
    let mut out = io::stdout();
    for layout in layouts(source.order()) {
        let name = Engine::glm(layout, source.order()).to_string();
        let path = files.path().join("glm");
        let (container, twin) = build(source.model.clone(), layout, &path)?;
        let device = open_device(&mut processor, &container, &twin)?;
        let models = Models {
            twin: &*twin,
            other: &trie,
            other_name: "trie",
            begin: source.model.begin,
            device: device.as_ref().map(|device| device as &dyn check::Device),
        };
        let mut told = Ok(());
        check::check(&models, &material, &mut |line| {
            if told.is_ok() {
                told = writeln!(out, "{name}: {line}");
            }
        })?;
        told?;
    }
    let what = match processor {
        Processor::Cpu => "all the same on the CPU; no device was compared",
        _ => "all the same, on the device and on the CPU",
    };
    Ok(writeln!(out, "{what}")?)
}

/// The model on the device, if that was asked for or is there. Where none is, it is
/// not asked for again.
fn open_device(
    processor: &mut Processor,
    container: &Container,
    twin: &Arc<GlmModel>,
) -> anyhow::Result<Option<DeviceModel>> {
    let number = match *processor {
        Processor::Cpu => return Ok(None),
        Processor::Cuda(number) => number,
        Processor::Auto => 0,
    };
    let twin: Arc<dyn LanguageModel> = Arc::<GlmModel>::clone(twin);
    match DeviceModel::new(container, twin, number, DeviceOptions::default()) {
        Ok(device) => Ok(Some(device)),
        Err(miriam_glm::Error::Gpu(error)) if *processor == Processor::Auto => {
            tracing::info!("without a device: {error}");
            *processor = Processor::Cpu;
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
