//! Training of a small neural model from two parallel text files.
//!
//! cargo run --release --example train_neural examples/toy/train.en examples/toy/train.es toy-model

use std::error::Error;
use std::path::{Path, PathBuf};

use miriam_textio::{CancellationToken, NoProgress};
use miriam_trainer::options::preset;
use miriam_trainer::train_from_text::{Summary, TrainingRequest};

/// The length of training, in updates of the parameters: enough to see the cost fall. The length
/// that the preset has gives a good model.
const UPDATES: &str = "100u";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [source, target, folder] = &arguments[..] else {
        return Err("usage: train_neural SOURCE TARGET FOLDER".into());
    };
    let model = train(source, target, Path::new(folder), UPDATES)?;
    println!("miriam nmt translate -m {} translates with it", model.display());
    Ok(())
}

/// Trains a model of the preset `toy` in `folder`, and returns what `nmt translate -m` opens. A
/// training run that was stopped is resumed by calling this again.
pub fn train(
    source: &str,
    target: &str,
    folder: &Path,
    updates: &str,
) -> Result<PathBuf, Box<dyn Error>> {
    // Options have Marian's names; a preset has values for most of them.
    let mut options = preset("toy")?;
    options.set("train-sets", vec![source.to_owned(), target.to_owned()])?;
    options.set("after", vec![updates.to_owned()])?;
    let request = TrainingRequest {
        options,
        folder: Some(folder.to_owned()),
        vocab_size: Some(500),
        plot: None,
        dry_run: false,
    };
    let mut log = |line: &str| eprintln!("{line}");
    let mut warn = |line: &str| eprintln!("warning: {line}");
    match request.run(&CancellationToken::new(), &NoProgress, &mut log, &mut warn)? {
        Summary::Trained { model, .. } => Ok(model),
        Summary::Memory(_) => unreachable!("only a dry run counts memory"),
    }
}
