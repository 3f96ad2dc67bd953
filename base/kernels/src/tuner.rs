//! Which of several equal ways is the fastest, found while the work is done.
//!
//! As Marian's (2018): for each operation and shape, the first calls try the
//! alternatives in turn and are timed; then the fastest is fixed. The alternatives must
//! give the same bits, so that what was measured never changes a translation. Shapes are
//! told apart by depth and columns, and by a bucket of rows: batches differ by a few rows
//! from step to step.
//!
//! What was found can be remembered in a file, for each model of CPU, so that the next
//! start measures nothing.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{PoisonError, RwLock};
use std::time::Instant;

use miriam_storage::atomic_file::AtomicFile;
use serde::{Deserialize, Serialize};

use crate::{Cpu, Error, Result};

/// Timed calls of each alternative.
const TRIALS_PER_ALTERNATIVE: usize = 25;

/// Bytes of a file of choices that are read. Real ones have a few thousand.
const MAX_CACHE_BYTES: u64 = 4 << 20;

/// Choices that a machine may have in a file, so that none grows without end.
const MAX_CHOICES: usize = 4096;

/// An operation of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperationShape {
    /// The operation, for instance `i8`. Those of different names are unrelated.
    pub operation: &'static str,
    /// Rows of the call.
    pub rows: usize,
    /// Inputs.
    pub depth: usize,
    /// Outputs.
    pub columns: usize,
}

impl OperationShape {
    /// Up to eight rows each number is its own, then a power of two stands for all above
    /// the one before.
    fn bucket(self) -> Self {
        let rows = if self.rows <= 8 { self.rows } else { self.rows.next_power_of_two() };
        Self { rows, ..self }
    }

    fn name(self) -> String {
        format!("{} {}x{}x{}", self.operation, self.rows, self.depth, self.columns)
    }
}

/// What is known of a shape.
enum TuningState {
    /// Nanoseconds a row of each alternative's calls.
    Measuring(Vec<Vec<f32>>),
    Chosen(usize),
    /// Found in the file.
    Cached(usize),
}

/// The choices of one process, shared by its threads.
pub struct Tuner {
    cpu_model: String,
    /// By name of shape, from the file.
    cached: BTreeMap<String, usize>,
    states: RwLock<HashMap<OperationShape, TuningState>>,
}

/// The file: alternatives by shape, by machine.
#[derive(Debug, Default, Serialize, Deserialize)]
struct TunerCache {
    version: u32,
    machines: BTreeMap<String, BTreeMap<String, usize>>,
}

const VERSION: u32 = 1;

impl Tuner {
    /// Knows nothing yet.
    pub fn new(cpu: Cpu) -> Self {
        Self { cpu_model: cpu_model(cpu), cached: BTreeMap::new(), states: RwLock::default() }
    }

    /// Knows what was remembered for this machine; nothing, if there is no such file.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, [`Error::Choices`] if it is something
    /// else.
    pub fn load(cpu: Cpu, path: &Path) -> Result<Self> {
        let mut tuner = Self::new(cpu);
        let mut choices = read_cache(path)?;
        tuner.cached = choices.machines.remove(&tuner.cpu_model).unwrap_or_default();
        Ok(tuner)
    }

    /// Writes what is fixed beside what the file has already, also for other machines. Of
    /// two processes that do so at once one may lose its choices, which are then made again.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::File`] if the file cannot be read or written,
    /// [`Error::Choices`] if something else stands there.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut choices = read_cache(path)?;
        let mine = choices.machines.entry(self.cpu_model.clone()).or_default();
        for (shape, choice) in self.new_choices() {
            if mine.len() < MAX_CHOICES || mine.contains_key(&shape) {
                mine.insert(shape, choice);
            }
        }
        let mut file = AtomicFile::create(path)?;
        let text = serde_json::to_string_pretty(&choices).expect("maps of strings and numbers");
        let io = |source| Error::Io { path: path.to_owned(), action: "write", source };
        writeln!(file, "{text}").map_err(io)?;
        file.commit()?;
        Ok(())
    }

    /// How many choices came from the file.
    pub fn cached_count(&self) -> usize {
        self.cached.len()
    }

    /// The choices made so far, by name of shape; not those that were remembered.
    pub fn new_choices(&self) -> BTreeMap<String, usize> {
        let known = self.states.read().unwrap_or_else(PoisonError::into_inner);
        let fixed = known.iter().filter_map(|(shape, knowledge)| match knowledge {
            TuningState::Chosen(choice) => Some((shape.name(), *choice)),
            TuningState::Measuring(_) | TuningState::Cached(_) => None,
        });
        fixed.collect()
    }

    /// Does the work with one of the alternatives 0, 1, ... below `alternatives`: in the
    /// first calls of a shape with each in turn, timed, then with the fastest.
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
        let met = {
            let known = self.states.read().unwrap_or_else(PoisonError::into_inner);
            known.get(&shape).map(|knowledge| match knowledge {
                TuningState::Chosen(choice) | TuningState::Cached(choice) => {
                    Ok((*choice).min(alternatives - 1))
                }
                TuningState::Measuring(times) => Err(next_trial(times)),
            })
        };
        let trial = met.unwrap_or_else(|| self.find_cached(shape, alternatives).ok_or(0));
        match trial {
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

    /// The choice that was remembered for a shape, looked up by name once. One that is no
    /// longer there is no choice.
    fn find_cached(&self, shape: OperationShape, alternatives: usize) -> Option<usize> {
        if self.cached.is_empty() {
            return None;
        }
        let choice = *self.cached.get(&shape.name())?;
        if choice >= alternatives {
            return None;
        }
        let mut known = self.states.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(shape, TuningState::Cached(choice));
        Some(choice)
    }

    fn record_time(&self, shape: OperationShape, alternatives: usize, trial: usize, time: f32) {
        let mut known = self.states.write().unwrap_or_else(PoisonError::into_inner);
        let empty = || TuningState::Measuring(vec![Vec::new(); alternatives]);
        let knowledge = known.entry(shape).or_insert_with(empty);
        let TuningState::Measuring(times) = knowledge else { return };
        let Some(of_trial) = times.get_mut(trial) else { return };
        of_trial.push(time);
        if times.iter().all(|times| times.len() >= TRIALS_PER_ALTERNATIVE) {
            let medians: Vec<f32> = times.iter_mut().map(|times| median(times)).collect();
            let best = (0..alternatives).min_by(|&a, &b| medians[a].total_cmp(&medians[b]));
            *knowledge = TuningState::Chosen(best.expect("there are alternatives"));
        }
    }
}

/// The alternative tried least.
fn next_trial(times: &[Vec<f32>]) -> usize {
    (0..times.len()).min_by_key(|&trial| times[trial].len()).unwrap_or(0)
}

fn median(times: &mut [f32]) -> f32 {
    times.sort_by(f32::total_cmp);
    times[times.len() / 2]
}

fn read_cache(path: &Path) -> Result<TunerCache> {
    let io = |source| Error::Io { path: path.to_owned(), action: "read", source };
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(TunerCache { version: VERSION, ..TunerCache::default() });
        }
        file => file.map_err(io)?,
    };
    let mut text = Vec::new();
    file.take(MAX_CACHE_BYTES).read_to_end(&mut text).map_err(io)?;
    parse_cache(&text).map_err(|reason| Error::TunerCache { path: path.to_owned(), reason })
}

fn parse_cache(text: &[u8]) -> Result<TunerCache, String> {
    let choices: TunerCache = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if choices.version != VERSION {
        return Err(format!("version {}, this program reads {VERSION}", choices.version));
    }
    Ok(choices)
}

/// The model of CPU and the instructions used, as far as the system tells.
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

/// For the fuzz target: reads any bytes as a file of choices, and says whether they are
/// one.
#[doc(hidden)]
pub fn is_tuner_cache(text: &[u8]) -> bool {
    parse_cache(text).is_ok()
}

#[cfg(test)]
mod tests;
