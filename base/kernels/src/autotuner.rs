//! Autotuning: the fastest of several equivalent implementations, found during the work.
//!
//! As in Marian (2018): for each operation and shape, the first calls try the alternatives
//! in turn and are timed; then the fastest is chosen. The alternatives must give the same
//! bits, so that measurements never change a translation. Shapes are distinguished by depth,
//! columns and a bucket of rows, because batches differ by a few rows from step to step.
//!
//! Choices can be cached in a file, by model of CPU, so that a later process does not measure
//! again.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::Instant;

use miriam_storage::atomic_file::AtomicFile;
use serde::{Deserialize, Serialize};

use crate::{Cpu, Error, Result};

/// The number of timed calls of each alternative.
const TRIALS_PER_ALTERNATIVE: usize = 25;

/// The name of the cache file.
const CACHE_NAME: &str = "products.json";

/// The largest number of bytes read of a cache file. Real files have a few thousand.
const MAX_CACHE_BYTES: u64 = 4 << 20;

/// The largest number of choices of a machine in a cache file, so that its size is bounded.
const MAX_CHOICES: usize = 4096;

/// An operation of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperationShape {
    /// The operation, for instance `i8`. Choices are separate for each name.
    pub operation: &'static str,
    /// The number of rows of the call.
    pub rows: usize,
    /// The number of inputs.
    pub depth: usize,
    /// The number of outputs.
    pub columns: usize,
}

impl OperationShape {
    /// Returns the shape with its rows rounded up to a power of two if there are more than eight.
    fn bucket(self) -> Self {
        let rows = if self.rows <= 8 { self.rows } else { self.rows.next_power_of_two() };
        Self { rows, ..self }
    }

    fn name(self) -> String {
        format!("{} {}x{}x{}", self.operation, self.rows, self.depth, self.columns)
    }
}

/// The state of tuning for a shape.
enum TuningState {
    /// Nanoseconds per row, for each call of each alternative.
    Measuring(Vec<Vec<f32>>),
    /// The alternative that was fastest.
    Chosen(usize),
    /// The alternative in the cache file.
    Cached(usize),
}

/// The autotuner of a process, shared by its threads.
pub struct Autotuner {
    cpu_model: String,
    /// Choices from the file, by name of shape.
    cached: BTreeMap<String, usize>,
    states: RwLock<HashMap<OperationShape, TuningState>>,
}

/// The content of the cache file: for each machine, the chosen alternative of each shape.
#[derive(Debug, Default, Serialize, Deserialize)]
struct TunerCache {
    version: u32,
    machines: BTreeMap<String, BTreeMap<String, usize>>,
}

const VERSION: u32 = 1;

impl Autotuner {
    /// Creates a tuner without choices.
    pub fn new(cpu: Cpu) -> Self {
        Self { cpu_model: cpu_model(cpu), cached: BTreeMap::new(), states: RwLock::default() }
    }

    /// Creates a tuner with the cached choices for this machine, or without choices if the file
    /// does not exist.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, [`Error::TunerCache`] if it is not a cache.
    pub fn load(cpu: Cpu, path: &Path) -> Result<Self> {
        let mut tuner = Self::new(cpu);
        let mut cache = read_cache(path)?;
        tuner.cached = cache.machines.remove(&tuner.cpu_model).unwrap_or_default();
        Ok(tuner)
    }

    /// Adds the choices of this process to the cache file, keeping the choices of other machines.
    /// If two processes do so at once, the choices of one process may be lost and are then measured
    /// again.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Storage`] if the file cannot be read or written,
    /// [`Error::TunerCache`] if the existing file is not a cache.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut cache = read_cache(path)?;
        let machine_choices = cache.machines.entry(self.cpu_model.clone()).or_default();
        for (shape, choice) in self.new_choices() {
            if machine_choices.len() < MAX_CHOICES || machine_choices.contains_key(&shape) {
                machine_choices.insert(shape, choice);
            }
        }
        let mut file = AtomicFile::create(path)?;
        let text = serde_json::to_string_pretty(&cache).expect("maps of strings and numbers");
        writeln!(file, "{text}").map_err(|source| io_error(path, "write", source))?;
        file.commit()?;
        Ok(())
    }

    /// Returns the file in the user's cache folder, if there is one: `products.json` in
    /// `$MIRIAM_CACHE`, `$XDG_CACHE_HOME/miriam` or `~/.cache/miriam`.
    pub fn default_cache_path() -> Option<PathBuf> {
        fn folder(name: &str) -> Option<PathBuf> {
            std::env::var_os(name).map(PathBuf::from)
        }
        // The XDG rules require absolute paths.
        fn absolute_folder(name: &str) -> Option<PathBuf> {
            folder(name).filter(|path| path.is_absolute())
        }
        let cache = folder("MIRIAM_CACHE")
            .filter(|path| !path.as_os_str().is_empty())
            .or_else(|| absolute_folder("XDG_CACHE_HOME").map(|cache| cache.join("miriam")))
            .or_else(|| absolute_folder("HOME").map(|home| home.join(".cache/miriam")))?;
        Some(cache.join(CACHE_NAME))
    }

    /// Returns the number of choices from the file.
    pub fn cached_count(&self) -> usize {
        self.cached.len()
    }

    /// Returns the choices of this process, by name of shape, without the choices from the file.
    pub fn new_choices(&self) -> BTreeMap<String, usize> {
        let states = self.states.read().unwrap_or_else(PoisonError::into_inner);
        let chosen = states.iter().filter_map(|(shape, state)| match state {
            TuningState::Chosen(choice) => Some((shape.name(), *choice)),
            TuningState::Measuring(_) | TuningState::Cached(_) => None,
        });
        chosen.collect()
    }

    /// Calls `work` with the number of an alternative, from 0 to `alternatives - 1`. The first
    /// calls of a shape try each alternative in turn and are timed; later calls use the fastest.
    ///
    /// # Panics
    /// If there are no alternatives.
    pub fn run<R>(
        &self,
        shape: OperationShape,
        alternatives: usize,
        work: impl FnOnce(usize) -> R,
    ) -> R {
        assert!(alternatives > 0);
        if alternatives == 1 || shape.rows == 0 {
            return work(0);
        }
        let (shape, rows) = (shape.bucket(), shape.rows);
        // `Ok` with the chosen alternative, or `Err` with the one to try.
        let known = {
            let states = self.states.read().unwrap_or_else(PoisonError::into_inner);
            states.get(&shape).map(|state| match state {
                TuningState::Chosen(choice) | TuningState::Cached(choice) => {
                    Ok((*choice).min(alternatives - 1))
                }
                TuningState::Measuring(times) => Err(next_trial(times)),
            })
        };
        let known = known.unwrap_or_else(|| self.find_cached(shape, alternatives).ok_or(0));
        match known {
            Ok(choice) => work(choice),
            Err(trial) => {
                let start = Instant::now();
                let result = work(trial);
                let time = start.elapsed().as_nanos() as f32 / rows as f32;
                self.record_time(shape, alternatives, trial, time);
                result
            }
        }
    }

    /// Returns the cached choice for a shape; `None` if there is no choice, or its alternative does
    /// not exist any more. A choice that is found is also kept in `states`, so that a shape is
    /// looked up by name only once.
    fn find_cached(&self, shape: OperationShape, alternatives: usize) -> Option<usize> {
        if self.cached.is_empty() {
            return None;
        }
        let choice = *self.cached.get(&shape.name())?;
        if choice >= alternatives {
            return None;
        }
        let mut states = self.states.write().unwrap_or_else(PoisonError::into_inner);
        states.insert(shape, TuningState::Cached(choice));
        Some(choice)
    }

    fn record_time(&self, shape: OperationShape, alternatives: usize, trial: usize, time: f32) {
        let mut states = self.states.write().unwrap_or_else(PoisonError::into_inner);
        let state = states
            .entry(shape)
            .or_insert_with(|| TuningState::Measuring(vec![Vec::new(); alternatives]));
        let TuningState::Measuring(times) = state else { return };
        let Some(trial_times) = times.get_mut(trial) else { return };
        trial_times.push(time);
        if times.iter().all(|times| times.len() >= TRIALS_PER_ALTERNATIVE) {
            let medians: Vec<f32> = times.iter_mut().map(|times| median(times)).collect();
            let best = (0..alternatives).min_by(|&a, &b| medians[a].total_cmp(&medians[b]));
            *state = TuningState::Chosen(best.expect("there are alternatives"));
        }
    }
}

/// Returns the alternative with the fewest trials.
fn next_trial(times: &[Vec<f32>]) -> usize {
    (0..times.len()).min_by_key(|&trial| times[trial].len()).unwrap_or(0)
}

fn median(times: &mut [f32]) -> f32 {
    times.sort_by(f32::total_cmp);
    times[times.len() / 2]
}

fn read_cache(path: &Path) -> Result<TunerCache> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(TunerCache { version: VERSION, ..TunerCache::default() });
        }
        file => file.map_err(|source| io_error(path, "read", source))?,
    };
    let mut text = Vec::new();
    let read = file.take(MAX_CACHE_BYTES).read_to_end(&mut text);
    read.map_err(|source| io_error(path, "read", source))?;
    parse_cache(&text).map_err(|reason| Error::TunerCache { path: path.to_owned(), reason })
}

fn io_error(path: &Path, action: &'static str, source: std::io::Error) -> Error {
    Error::Io { path: path.to_owned(), action, source }
}

fn parse_cache(text: &[u8]) -> Result<TunerCache, String> {
    let cache: TunerCache = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if cache.version != VERSION {
        return Err(format!("version {}, this program reads {VERSION}", cache.version));
    }
    Ok(cache)
}

/// Returns the model of the CPU, as far as the system tells, and the instruction set in use.
fn cpu_model(cpu: Cpu) -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        let mut values = lines.filter(|(key, _)| key.trim() == name);
        values.next().map_or("?", |(_, value)| value.trim()).to_owned()
    };
    let (name, family, model) = (field("model name"), field("cpu family"), field("model"));
    format!("{name}, family {family}, model {model}, {}", cpu.name())
}

/// Whether `text` is a valid cache file. Public for the fuzz target only.
#[doc(hidden)]
pub fn is_tuner_cache(text: &[u8]) -> bool {
    parse_cache(text).is_ok()
}

#[cfg(test)]
mod tests;
