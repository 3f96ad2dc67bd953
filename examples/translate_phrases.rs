//! Translation of lines with a Moses system.
//!
//!     echo "the red house" | cargo run --release --example translate_phrases examples/toy/moses.ini

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;

use miriam_decoder::{Configuration, System, Translator};
use miriam_textio::NoProgress;

fn main() -> Result<(), Box<dyn Error>> {
    let ini = std::env::args().nth(1).ok_or("usage: translate_phrases MOSES.INI < TEXT")?;
    translate(Path::new(&ini), std::io::stdin().lock(), std::io::stdout().lock())
}

/// Translates each line of `text` with the system of `ini`, and writes its score and its words.
pub fn translate(
    ini: &Path,
    text: impl BufRead,
    mut output: impl Write,
) -> Result<(), Box<dyn Error>> {
    // The configuration has the features, their weights and the search settings. The system has the
    // models, which any number of translators share.
    let system = System::load(&Configuration::from_ini(ini)?, &NoProgress)?;
    let mut translator = Translator::new(&system);
    for line in text.lines() {
        let line = line?;
        match translator.translate(line.as_bytes())? {
            Some(translation) => {
                let words = translation.phrases.iter().flat_map(|phrase| &phrase.words);
                let words: Vec<_> = words.map(|word| String::from_utf8_lossy(word)).collect();
                writeln!(output, "{:.3}\t{}", translation.score, words.join(" "))?;
            }
            None => writeln!(output, "no translation\t{line}")?,
        }
    }
    Ok(())
}
