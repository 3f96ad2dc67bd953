//! The options of asynchronous training.

use std::path::Path;

use super::raw::RawOptions;
use super::resolve::invalid_option;
use crate::asynchronous::simulation::Machine;
use crate::asynchronous::{
    AsyncOptions, DroppingOptions, DroppingRates, DroppingScope, FetchMode, LocalOptimizer,
    ShardUpdate,
};
use crate::error::Result;
use crate::training::TrainingLength;

/// The options that have an effect only with `async-sgd` or `simulate-async`.
const DEPENDENT: [&str; 11] = [
    "scale-rate-by-delay",
    "gradient-buffer",
    "local-optimizer-batches",
    "local-optimizer-params",
    "local-optimizer-shard",
    "grad-dropping-rate",
    "grad-dropping-warmup",
    "grad-dropping-momentum",
    "grad-dropping-scope",
    "grad-dropping-fetch",
    "grad-dropping-anneal",
];

impl RawOptions {
    /// Returns the options of asynchronous training, or `None` if training is synchronous. `delay`
    /// is the number of batches per push; `parts` is the number of updates per batch.
    ///
    /// # Errors
    /// If an option's value is invalid, or an option needs or excludes another; the error names the
    /// option.
    pub(super) fn async_options(&self, delay: usize, parts: usize) -> Result<Option<AsyncOptions>> {
        let is_simulated = !self.get_string("simulate-async").is_empty();
        if !is_simulated && !self.get_flag("async-sgd")? {
            let given = DEPENDENT.iter().find(|name| self.is_given(name) && !self.is_off(name));
            return match given {
                Some(name) => Err(invalid_option(name, "it needs --async-sgd; add that option")),
                None => Ok(None),
            };
        }
        if self.get_flag("sync-sgd")? {
            return Err(invalid_option("sync-sgd", "give it or --async-sgd, not both"));
        }
        let quantization_options = ["quantize-aware", "quantize-bits", "clip-products"];
        if let Some(name) =
            quantization_options.iter().find(|name| self.is_given(name) && !self.is_off(name))
        {
            return Err(invalid_option(
                name,
                "it works only in synchronous training; leave it out",
            ));
        }
        if parts > 1 {
            let reason = "asynchronous training pushes whole batches; give a whole number from 1";
            return Err(invalid_option("optimizer-delay", reason));
        }
        let betas: Vec<f64> = self.get_list("local-optimizer-params")?;
        let betas = match betas[..] {
            [] => None,
            [beta1, beta2] if betas.iter().all(|beta| (0.0..1.0).contains(beta)) => {
                self.check_adam("local-optimizer-params")?;
                Some([beta1, beta2])
            }
            _ => {
                let reason = "give two betas, each at least 0 and below 1";
                return Err(invalid_option("local-optimizer-params", reason));
            }
        };
        let shard_update = self.choice(
            "local-optimizer-shard",
            [
                ("copy", ShardUpdate::Copy),
                ("delta", ShardUpdate::Delta),
                ("none", ShardUpdate::None),
            ],
        )?;
        let batches: u64 = self.get("local-optimizer-batches")?;
        let local = (batches > 0).then_some(LocalOptimizer { batches, betas, shard_update });
        let gradient_buffer: usize = self.get("gradient-buffer")?;
        if gradient_buffer == 0 {
            return Err(invalid_option("gradient-buffer", "expected a number of pushes from 1"));
        }
        Ok(Some(AsyncOptions {
            delay,
            scales_rate_by_delay: self.get_flag("scale-rate-by-delay")?,
            gradient_buffer,
            local,
            dropping: self.dropping()?,
        }))
    }

    fn is_off(&self, name: &str) -> bool {
        let spec = super::table::find(name);
        matches!(&self.get_strings(name).join(" ")[..], "" | "0" | "false")
            || spec.is_some_and(|spec| self.get_strings(name).join(" ") == spec.default)
    }

    fn choice<T: Copy, const N: usize>(&self, name: &str, choices: [(&str, T); N]) -> Result<T> {
        let given = self.get_string(name);
        let found = choices.iter().find(|(known, _)| *known == given);
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
            invalid_option(name, format!("{given:?} is unknown; give one of {}", names.join(", ")))
        })
    }

    fn dropping(&self) -> Result<Option<DroppingOptions>> {
        let first = self.number("grad-dropping-rate", 0.0..=0.999_999)?;
        let mut later: Vec<(TrainingLength, f64)> = Vec::new();
        for text in self.get_strings("grad-dropping-anneal") {
            let parsed = text.split_once('@').and_then(|(rate, length)| {
                let rate = rate.parse().ok().filter(|rate| (0.0..=0.999_999).contains(rate))?;
                Some((length.parse::<TrainingLength>().ok()?, rate))
            });
            fn ascends(length: &TrainingLength, later: &[(TrainingLength, f64)]) -> bool {
                later.last().is_none_or(|(last, _)| {
                    last.count < length.count && (last.unit == length.unit || last.is_zero())
                })
            }
            match parsed.filter(|(length, _)| ascends(length, &later)) {
                Some(step) => later.push(step),
                None => {
                    let reason = format!(
                        "{text:?}: give rates from 0 to 0.999999, each with the length from which \
                         it holds, as in 0.75@0 0.9375@1e; lengths must ascend and have one unit"
                    );
                    return Err(invalid_option("grad-dropping-anneal", reason));
                }
            }
        }
        if first == 0.0 && later.is_empty() {
            return Ok(None);
        }
        Ok(Some(DroppingOptions {
            rates: DroppingRates { first, later },
            warmup: self.get("grad-dropping-warmup")?,
            momentum: self.number("grad-dropping-momentum", 0.0..=0.999_999)?,
            scope: self.choice(
                "grad-dropping-scope",
                [
                    ("shard", DroppingScope::Shard),
                    ("global", DroppingScope::Global),
                    ("tensor", DroppingScope::Tensor),
                ],
            )?,
            fetch: self.choice(
                "grad-dropping-fetch",
                [
                    ("indices", FetchMode::Indices),
                    ("delta", FetchMode::Delta),
                    ("dense", FetchMode::Dense),
                ],
            )?,
        }))
    }

    /// Reads the machine to simulate from the file that `simulate-async` names. Returns `None` if
    /// the option names no file or training is synchronous.
    pub(super) fn machine(&self, is_asynchronous: bool) -> Result<Option<Machine>> {
        let path = self.get_string("simulate-async");
        if path.is_empty() || !is_asynchronous {
            return Ok(None);
        }
        let path = Path::new(&path);
        let text = std::fs::read_to_string(path)
            .map_err(|e| miriam_storage::Error::io(path, "read", e))?;
        let parsed = Machine::parse(&text);
        let file = path.display();
        parsed.map(Some).map_err(|reason| crate::error::Error::config(format!("{file}: {reason}")))
    }
}
