//! `miriam lm dump`: conversion of any model to ARPA text.

use std::path::PathBuf;

use clap::Args;
use miriam_textio::{Input, Output};

use crate::arpa_arguments::ArpaArguments;
use crate::common::{CommonOptions, verify_checksums};

#[derive(Args)]
pub struct Arguments {
    /// A model file of this program or of KenLM, or ARPA text (plain, .gz, .zst, .bz2 or .xz)
    model: PathBuf,
    #[command(flatten)]
    arpa_text: ArpaArguments,
    /// The file to write, compressed if its name ends in .gz, .zst, .bz2 or .xz; - for standard
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
            miriam_glm::open_source(&arguments.model, arguments.arpa_text.options(), &progress)?;
        let mut output = Output::create_atomic(&arguments.output)?;
        miriam_lmcpu::dump(&mut *source, &mut output, &progress)?;
        Ok(output.finish()?)
    })
}
