//! Translation of a text with a neural model of any supported format.
//!
//!     echo "the old doctor buys two red apples ." | cargo run --release --example translate_neural examples/toy-neural

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use miriam_nmt::ModelBundle;
use miriam_nmt::engine::{Autotuner, Cpu};
use miriam_nmt::translate::{SourceText, TranslationOptions, Translator};
use miriam_textio::{CancellationToken, Input, Lines, NoProgress, Output};

fn main() -> Result<(), Box<dyn Error>> {
    let model = std::env::args().nth(1).ok_or("usage: translate_neural MODEL < TEXT")?;
    // `-` is standard input or output.
    translate(Path::new(&model), Input::open(Path::new("-"))?, Output::create(Path::new("-"))?)
}

/// Translates the lines of `text` with the model, on all cores, and writes them in their order.
pub fn translate(model: &Path, text: Input, output: Output) -> Result<(), Box<dyn Error>> {
    // A folder of Marian, CTranslate2, Hugging Face, Argos or Firefox, or one file of ours: the
    // contents tell the format. Vocabularies and tokenizers beside it are used.
    let bundle = ModelBundle::open(model, None)?;
    let mut options = TranslationOptions::for_bundle(&bundle, None);
    options.threads = miriam_textio::available_threads();
    // The tuner picks the fastest kernels of this CPU; results do not depend on its choice.
    let tuner = Arc::new(Autotuner::new(Cpu::detect()));
    let translator = Translator::new(bundle, options, &tuner)?;

    let source = SourceText { lines: Lines::new(text), prefixes: None };
    let stop = CancellationToken::new();
    translator.translate(source, false, output, &stop, &NoProgress, &mut |error| {
        eprintln!("line {}: {}", error.line, error.reason);
        Ok(())
    })?;
    Ok(())
}
