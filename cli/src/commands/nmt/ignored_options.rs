//! Options of Marian for memory, kernels and logging, which are accepted and have no effect, so
//! that its command lines run unchanged.

use clap::Args;
use tracing::warn;

/// Options that are accepted, reported in one line, and ignored.
#[derive(Args)]
pub struct IgnoredOptions {
    #[arg(short, long, hide = true, value_name = "N", allow_negative_numbers = true)]
    workspace: Option<String>,
    #[arg(short, long, hide = true, num_args = 1.., value_name = "N")]
    devices: Vec<String>,
    #[arg(long, hide = true)]
    quiet_translation: bool,
    /// Greedy search does so wherever no scores are printed.
    #[arg(long, hide = true)]
    skip_cost: bool,
    #[arg(long, hide = true)]
    optimize: bool,
    #[arg(long, hide = true, value_name = "KIND")]
    gemm_type: Option<String>,
    #[arg(long, hide = true, value_name = "KIND")]
    gemm_precision: Option<String>,
    #[arg(long, hide = true)]
    int8shift: bool,
    #[arg(long = "int8shiftAll", hide = true)]
    int8shift_all: bool,
    #[arg(long = "int8shiftAlpha", hide = true)]
    int8shift_alpha: bool,
    #[arg(long = "int8shiftAlphaAll", hide = true)]
    int8shift_alpha_all: bool,
    #[arg(long, hide = true)]
    fp16: bool,
}

impl IgnoredOptions {
    /// Warns of those that are set.
    pub fn warn_if_given(&self) {
        let products = [
            ("--optimize", self.optimize),
            ("--gemm-type", self.gemm_type.is_some()),
            ("--gemm-precision", self.gemm_precision.is_some()),
            ("--int8shift", self.int8shift),
            ("--int8shiftAll", self.int8shift_all),
            ("--int8shiftAlpha", self.int8shift_alpha),
            ("--int8shiftAlphaAll", self.int8shift_alpha_all),
            ("--fp16", self.fp16),
        ];
        let others = [
            ("--workspace", self.workspace.is_some()),
            ("--devices", !self.devices.is_empty()),
            ("--quiet-translation", self.quiet_translation),
            ("--skip-cost", self.skip_cost),
        ];
        let given = |options: &[(&'static str, bool)]| -> Vec<&'static str> {
            options.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect()
        };
        let (products, others) = (given(&products), given(&others));
        if !others.is_empty() {
            warn!("without effect here: {}", others.join(" "));
        }
        if !products.is_empty() {
            let products = products.join(" ");
            warn!("without effect here: {products}; --precision chooses what is multiplied");
        }
    }
}
