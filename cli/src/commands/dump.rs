//! `miriam lm dump`: any model back to ARPA text.

use std::path::PathBuf;

use clap::Args;
use miriam_textio::{Input, Output};

use super::lm::DuplicatePolicy;
use crate::common::{CommonOptions, verify_checksums};

#[derive(Args)]
pub struct Arguments {
    /// A model file of ours or of KenLM's, or ARPA text (plain, .gz, .zst, .bz2 or .xz)
    model: PathBuf,
    /// What to do about n-grams that an ARPA file lists twice
    #[arg(long, value_name = "HOW", default_value = "refuse")]
    duplicates: DuplicatePolicy,
    /// The file to write, compressed if its name ends in .gz or .zst; - for standard
    /// output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    Input::check_access(&arguments.model, Some(&arguments.output))?;
    verify_checksums(&arguments.model)?;
    let progress = common.progress();
    common.build_thread_pool()?.install(|| {
        let mut source =
            miriam_glm::open_source(&arguments.model, arguments.duplicates.into(), &progress)?;
        let mut output = Output::create_atomic(&arguments.output)?;
        miriam_lmcpu::dump(&mut *source, &mut output, &progress)?;
        Ok(output.finish()?)
    })
}
