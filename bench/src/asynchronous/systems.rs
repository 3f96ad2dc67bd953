//! The systems of Bogoychev's thesis (2019, tables 5.2 and 5.4 to 5.6; `docs/spec/training.md`
//! A.14), scaled to small corpora.
//!
//! An epoch of the thesis has 72 million words. The thesis states the lengths of warm-up and of
//! local optimisers in updates or batches; here they are converted to the same fraction of an
//! epoch, so that they have the same effect with a small corpus. The ratios of batch sizes and of
//! learning rates are unchanged.

use miriam_trainer::options::RawOptions;

use crate::error::Result;

/// The words of the thesis's small and large batches, which fill 3 GB and 10 GB of a GPU. The
/// thesis counts source words; batches here have the same number of target words.
const SMALL_BATCH: f64 = 2633.0;
const LARGE_BATCH: f64 = 10_449.0;
/// The learning rate for small batches divided by that for large ones.
const SMALL_RATE: f64 = 1e-4 / 4.5e-4;
/// Words of an epoch: 1,720 large batches for each of four workers.
const EPOCH: f64 = 4.0 * 1720.0 * LARGE_BATCH;
/// Seconds of a large batch, of a small batch, and of fetch and push together. The thesis does not
/// state these times; they are fitted to its words per second (tables 5.1 and 5.3).
const LARGE_SECONDS: f64 = 0.85;
const SMALL_SECONDS: f64 = 0.35;
const TRANSFER_SECONDS: f64 = 0.19;

/// Batches of all four workers in a cycle of the learning rate (section 5.6.2).
const CYCLE: f64 = 40_000.0;
/// The factor by which the rate rises in a cycle; the thesis does not state it.
const CYCLE_RISE: f64 = 10.0;

/// A system that the study trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct System {
    /// The name, which begins with the system's number in the thesis.
    pub name: &'static str,
    /// A description for tables and legends.
    pub about: &'static str,
    is_small: bool,
    delay: usize,
    warms_up: bool,
    local: Option<Local>,
    tunes_momentum: bool,
    drops: bool,
    buffers: bool,
    rate: Rate,
}

/// The learning rate of the updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rate {
    Constant,
    /// Proportional to the words of an update, relative to the mean of the earlier updates (section
    /// 5.6.1).
    Flexible,
    /// Rises again and again (section 5.6.2).
    Cyclic,
    /// Uniform between 0 and the constant rate (appendix A).
    Random,
}

/// The duration of local optimisers, and their effect on shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Local {
    is_endless: bool,
    shard: &'static str,
}

/// The asynchronous system with large batches and no technique of the thesis.
const PLAIN: System = System {
    name: "1",
    about: "large batches",
    is_small: false,
    delay: 1,
    warms_up: false,
    local: None,
    tunes_momentum: false,
    drops: false,
    buffers: false,
    rate: Rate::Constant,
};
const LOCAL: Local = Local { is_endless: false, shard: "delta" };

/// All systems: the thesis's ten, then variants of them.
pub const SYSTEMS: [System; 22] = [
    System { name: SYNCHRONOUS, about: "synchronous, warm-up", warms_up: true, ..PLAIN },
    System { name: "0", about: "small batches", is_small: true, ..PLAIN },
    System {
        name: "0-dropping",
        about: "small batches, gradient dropping",
        is_small: true,
        drops: true,
        ..PLAIN
    },
    PLAIN,
    System { name: "1-dropping", about: "large batches, gradient dropping", drops: true, ..PLAIN },
    System { name: "2", about: "2 batches an update", delay: 2, ..PLAIN },
    System {
        name: "3",
        about: "2 batches an update, local optimisers",
        delay: 2,
        local: Some(LOCAL),
        ..PLAIN
    },
    System { name: "4", about: "2 batches an update, warm-up", delay: 2, warms_up: true, ..PLAIN },
    System {
        name: "5",
        about: "2 batches an update, local optimisers, momentum tuned",
        delay: 2,
        local: Some(LOCAL),
        tunes_momentum: true,
        ..PLAIN
    },
    System {
        name: "6",
        about: "2 batches an update, warm-up, momentum tuned",
        delay: 2,
        warms_up: true,
        tunes_momentum: true,
        ..PLAIN
    },
    System {
        name: "3-always",
        about: "2 batches an update, local optimisers to the end",
        delay: 2,
        local: Some(Local { is_endless: true, ..LOCAL }),
        ..PLAIN
    },
    System {
        name: "3-copy",
        about: "2 batches an update, local optimisers, shards overwritten",
        delay: 2,
        local: Some(Local { shard: "copy", ..LOCAL }),
        ..PLAIN
    },
    System {
        name: "3-none",
        about: "2 batches an update, local optimisers, shards left alone",
        delay: 2,
        local: Some(Local { shard: "none", ..LOCAL }),
        ..PLAIN
    },
    System { name: "1-buffer", about: "large batches, gradients buffered", buffers: true, ..PLAIN },
    System { name: "delay-4", about: "4 batches an update", delay: 4, ..PLAIN },
    System {
        name: "delay-4-cyclic",
        about: "4 batches an update, cyclic rate",
        delay: 4,
        rate: Rate::Cyclic,
        ..PLAIN
    },
    System {
        name: "1-flexible",
        about: "large batches, flexible rate",
        rate: Rate::Flexible,
        ..PLAIN
    },
    System {
        name: "2-flexible",
        about: "2 batches an update, flexible rate",
        delay: 2,
        rate: Rate::Flexible,
        ..PLAIN
    },
    System {
        name: "5-flexible",
        about: "2 batches an update, local optimisers, momentum tuned, flexible rate",
        delay: 2,
        local: Some(LOCAL),
        tunes_momentum: true,
        rate: Rate::Flexible,
        ..PLAIN
    },
    System { name: "1-cyclic", about: "large batches, cyclic rate", rate: Rate::Cyclic, ..PLAIN },
    System { name: "1-random", about: "large batches, random rate", rate: Rate::Random, ..PLAIN },
    System {
        name: "2-random",
        about: "2 batches an update, random rate",
        delay: 2,
        rate: Rate::Random,
        ..PLAIN
    },
];

/// The name of the synchronous system.
pub const SYNCHRONOUS: &str = "sync";

/// The number of [`SYSTEMS`] that the thesis has; the others are variants.
pub const NUM_THESIS_SYSTEMS: usize = 10;

/// The size of a study.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Target words of a large batch.
    pub batch_words: usize,
    /// The learning rate with large batches.
    pub rate: f64,
    /// Target words of an epoch.
    pub epoch_words: u64,
    /// Epochs.
    pub epochs: u64,
    /// Workers.
    pub workers: usize,
}

impl Scale {
    /// Converts `batches` large batches of each of four workers to target words: the same fraction
    /// of an epoch as in the thesis.
    fn scaled_words(&self, batches: f64) -> f64 {
        batches * 4.0 * LARGE_BATCH / EPOCH * self.epoch_words as f64
    }

    /// Returns the number of target words of a system's batch.
    fn batch_words(&self, system: &System) -> usize {
        let share = if system.is_small { SMALL_BATCH / LARGE_BATCH } else { 1.0 };
        (self.batch_words as f64 * share).round().max(1.0) as usize
    }

    /// Converts `batches` large batches of each worker of the thesis to batches of one worker of
    /// `system`: the same fraction of an epoch, at least one batch.
    fn batches_a_worker(&self, system: &System, batches: f64) -> u64 {
        let words = self.scaled_words(batches) / self.workers as f64;
        (words / self.batch_words(system) as f64).ceil().max(1.0) as u64
    }

    /// Returns the description of the thesis's machine: batches, and transfers of a model of
    /// `parameters` parameters, take the times of the constants above.
    pub fn thesis_machine(&self, parameters: usize) -> String {
        let word = (LARGE_SECONDS - SMALL_SECONDS) / (LARGE_BATCH - SMALL_BATCH);
        let shard_bytes = 4.0 * parameters as f64 / self.workers as f64;
        format!(
            "workers = {}\nseconds_per_word = {:e}\nseconds_per_batch = {:.4}\nbandwidth = {:e}\n",
            self.workers,
            word * LARGE_BATCH / self.batch_words as f64,
            LARGE_SECONDS - word * LARGE_BATCH,
            shard_bytes / (TRANSFER_SECONDS / 2.0)
        )
    }
}

impl System {
    /// Returns the system called `name`.
    pub fn find(name: &str) -> Option<System> {
        SYSTEMS.into_iter().find(|system| system.name == name)
    }

    /// Whether workers wait for each other.
    pub fn is_synchronous(&self) -> bool {
        self.name == SYNCHRONOUS
    }

    /// Returns the system's options for the trainer.
    ///
    /// # Errors
    /// Only if the trainer does not know one of these options.
    pub fn options(&self, scale: &Scale) -> Result<RawOptions> {
        let mut options = RawOptions::default();
        let mut set = |name: &str, value: String| options.set(name, vec![value]);
        let rate = scale.rate * if self.is_small { SMALL_RATE } else { 1.0 };
        match self.rate {
            Rate::Constant | Rate::Flexible => set("learn-rate", rate.to_string())?,
            Rate::Cyclic | Rate::Random => {}
        }
        if self.rate == Rate::Flexible {
            set("batch-flexible-lr", "true".into())?;
            set("batch-normal-words", "0".into())?;
        }
        if self.rate == Rate::Random {
            set("lr-random", rate.to_string())?;
        }
        set("mini-batch-words", scale.batch_words(self).to_string())?;
        set("count-target-words", "true".into())?;
        // 16,000 updates of the thesis: 4,000 batches of each of four workers.
        let warm_up = format!("{}t", scale.scaled_words(4000.0).round());
        if self.warms_up {
            set("lr-warmup", warm_up.clone())?;
        }
        if self.is_synchronous() {
            set("lr-decay-inv-sqrt", warm_up)?;
        }
        if self.delay > 1 {
            set("optimizer-delay", self.delay.to_string())?;
        }
        let batches = scale.batches_a_worker(self, 4000.0);
        if let Some(Local { is_endless, shard }) = self.local {
            let batches = if is_endless { u64::from(u32::MAX) } else { batches };
            set("local-optimizer-batches", batches.to_string())?;
            set("local-optimizer-shard", shard.into())?;
        }
        if self.drops {
            set("grad-dropping-rate", "0.99".into())?;
            set("grad-dropping-warmup", scale.batches_a_worker(self, 100.0).to_string())?;
        }
        if self.buffers {
            set("gradient-buffer", scale.workers.to_string())?;
        }
        let betas = if self.is_synchronous() {
            ["0.9", "0.98"]
        } else if self.tunes_momentum {
            ["0.93", "0.997"]
        } else {
            ["0.9", "0.999"]
        };
        options.set("optimizer-params", betas.map(String::from).into())?;
        if self.rate == Rate::Cyclic {
            let updates = scale.workers as u64 * scale.batches_a_worker(self, CYCLE / 4.0);
            let updates = updates.div_ceil(self.delay as u64);
            // As an f32, so that the text has no digits of rounding.
            let low = (rate / CYCLE_RISE) as f32;
            let cycle = vec![low.to_string(), rate.to_string(), updates.to_string()];
            options.set("lr-cycle", cycle)?;
        }
        if self.tunes_momentum {
            let schedule = vec!["0.93,0.997@0".into(), format!("0.92,0.998@{batches}")];
            options.set("momentum-schedule", schedule)?;
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use miriam_trainer::asynchronous::simulation::Machine;

    use super::*;

    const THESIS: Scale = Scale {
        batch_words: 10_449,
        rate: 4.5e-4,
        epoch_words: 71_889_120,
        epochs: 10,
        workers: 4,
    };

    #[test]
    fn at_the_thesis_size_systems_have_the_thesis_options() {
        let options = |name: &str| System::find(name).unwrap().options(&THESIS).unwrap();
        let get = |name: &str, option: &str| options(name).get_strings(option).join(" ");
        assert_eq!(get("0", "learn-rate"), "0.0001");
        assert_eq!(get("0", "mini-batch-words"), "2633");
        assert_eq!(get("0-dropping", "grad-dropping-warmup"), "397");
        assert_eq!(get("1-dropping", "grad-dropping-warmup"), "100");
        assert_eq!(get("1-dropping", "grad-dropping-rate"), "0.99");
        assert_eq!(get("3", "local-optimizer-batches"), "4000");
        assert_eq!(get("3", "optimizer-delay"), "2");
        assert_eq!(get("5", "momentum-schedule"), "0.93,0.997@0 0.92,0.998@4000");
        assert_eq!(get("sync", "optimizer-params"), "0.9 0.98");
        // 16,000 updates.
        assert_eq!(get("sync", "lr-warmup"), format!("{}t", 16_000 * 10_449));
        assert_eq!(get("6", "lr-warmup"), get("sync", "lr-warmup"));
        assert_eq!(get("1-buffer", "gradient-buffer"), "4");
        assert_eq!(get("1-cyclic", "lr-cycle"), "0.000045 0.00045 40000");
        assert_eq!(get("delay-4-cyclic", "lr-cycle"), "0.000045 0.00045 10000");
        assert_eq!(get("1-random", "lr-random"), "0.00045");
        assert_eq!(get("5-flexible", "batch-normal-words"), "0");
        assert!(!options("1-cyclic").is_given("learn-rate"));
        for system in SYSTEMS {
            let mut options = system.options(&THESIS).unwrap();
            if !system.is_synchronous() {
                options.set("async-sgd", vec!["true".into()]).unwrap();
            }
            options.set("type", vec!["s2s".into()]).unwrap();
            options.training_config([100, 100]).unwrap();
        }
    }

    #[test]
    fn the_thesis_machine_has_its_speed() {
        let machine = Machine::parse(&THESIS.thesis_machine(1_000_000)).unwrap();
        let batch = |words: f64| machine.seconds_per_batch + words * machine.seconds_per_word;
        assert!((batch(10_449.0) - 0.85).abs() < 1e-3 && (batch(2633.0) - 0.35).abs() < 1e-3);
        assert!((2.0 * 1e6 / machine.bandwidth.unwrap() - 0.19).abs() < 1e-6);
    }
}
