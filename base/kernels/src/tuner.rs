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
const TRIALS: usize = 25;

/// Bytes of a file of choices that are read. Real ones have a few thousand.
const LARGEST: u64 = 4 << 20;

/// Choices that a machine may have in a file, so that none grows without end.
const MOST: usize = 4096;

/// An operation of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The operation, for instance `i8`. Those of different names are unrelated.
    pub operation: &'static str,
    /// Rows of the call.
    pub rows: usize,
    /// Inputs.
    pub depth: usize,
    /// Outputs.
    pub columns: usize,
}

impl Shape {
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
enum Knowledge {
    /// Nanoseconds a row of each alternative's calls.
    Trying(Vec<Vec<f32>>),
    Fixed(usize),
    /// Found in the file.
    Remembered(usize),
}

/// The choices of one process, shared by its threads.
pub struct Tuner {
    machine: String,
    /// By name of shape, from the file.
    remembered: BTreeMap<String, usize>,
    known: RwLock<HashMap<Shape, Knowledge>>,
}

/// The file: alternatives by shape, by machine.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Choices {
    version: u32,
    machines: BTreeMap<String, BTreeMap<String, usize>>,
}

const VERSION: u32 = 1;

impl Tuner {
    /// Knows nothing yet.
    pub fn new(cpu: Cpu) -> Self {
        Self { machine: machine(cpu), remembered: BTreeMap::new(), known: RwLock::default() }
    }

    /// Knows what was remembered for this machine; nothing, if there is no such file.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, [`Error::Choices`] if it is something
    /// else.
    pub fn load(cpu: Cpu, path: &Path) -> Result<Self> {
        let mut tuner = Self::new(cpu);
        let mut choices = read(path)?;
        tuner.remembered = choices.machines.remove(&tuner.machine).unwrap_or_default();
        Ok(tuner)
    }

    /// Writes what is fixed beside what the file has already, also for other machines. Of
    /// two processes that do so at once one may lose its choices, which are then made again.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::File`] if the file cannot be read or written,
    /// [`Error::Choices`] if something else stands there.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut choices = read(path)?;
        let mine = choices.machines.entry(self.machine.clone()).or_default();
        for (shape, choice) in self.fixed() {
            if mine.len() < MOST || mine.contains_key(&shape) {
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
    pub fn remembered(&self) -> usize {
        self.remembered.len()
    }

    /// The choices made so far, by name of shape; not those that were remembered.
    pub fn fixed(&self) -> BTreeMap<String, usize> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let fixed = known.iter().filter_map(|(shape, knowledge)| match knowledge {
            Knowledge::Fixed(choice) => Some((shape.name(), *choice)),
            Knowledge::Trying(_) | Knowledge::Remembered(_) => None,
        });
        fixed.collect()
    }

    /// Does the work with one of the alternatives 0, 1, ... below `alternatives`: in the
    /// first calls of a shape with each in turn, timed, then with the fastest.
    ///
    /// # Panics
    /// If there are no alternatives.
    pub fn run<R>(&self, shape: Shape, alternatives: usize, work: impl FnOnce(usize) -> R) -> R {
        assert!(alternatives > 0);
        if alternatives == 1 || shape.rows == 0 {
            return work(0);
        }
        let (shape, rows) = (shape.bucket(), shape.rows);
        let met = {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            known.get(&shape).map(|knowledge| match knowledge {
                Knowledge::Fixed(choice) | Knowledge::Remembered(choice) => {
                    Ok((*choice).min(alternatives - 1))
                }
                Knowledge::Trying(times) => Err(next_trial(times)),
            })
        };
        let trial = met.unwrap_or_else(|| self.recall(shape, alternatives).ok_or(0));
        match trial {
            Ok(choice) => work(choice),
            Err(trial) => {
                let start = Instant::now();
                let result = work(trial);
                let time = start.elapsed().as_nanos() as f32 / rows as f32;
                self.record(shape, alternatives, trial, time);
                result
            }
        }
    }

    /// The choice that was remembered for a shape, looked up by name once. One that is no
    /// longer there is no choice.
    fn recall(&self, shape: Shape, alternatives: usize) -> Option<usize> {
        if self.remembered.is_empty() {
            return None;
        }
        let choice = *self.remembered.get(&shape.name())?;
        if choice >= alternatives {
            return None;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(shape, Knowledge::Remembered(choice));
        Some(choice)
    }

    fn record(&self, shape: Shape, alternatives: usize, trial: usize, time: f32) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let empty = || Knowledge::Trying(vec![Vec::new(); alternatives]);
        let knowledge = known.entry(shape).or_insert_with(empty);
        let Knowledge::Trying(times) = knowledge else { return };
        let Some(of_trial) = times.get_mut(trial) else { return };
        of_trial.push(time);
        if times.iter().all(|times| times.len() >= TRIALS) {
            let medians: Vec<f32> = times.iter_mut().map(|times| median(times)).collect();
            let best = (0..alternatives).min_by(|&a, &b| medians[a].total_cmp(&medians[b]));
            *knowledge = Knowledge::Fixed(best.expect("there are alternatives"));
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

fn read(path: &Path) -> Result<Choices> {
    let io = |source| Error::Io { path: path.to_owned(), action: "read", source };
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Choices { version: VERSION, ..Choices::default() });
        }
        file => file.map_err(io)?,
    };
    let mut text = Vec::new();
    file.take(LARGEST).read_to_end(&mut text).map_err(io)?;
    parse(&text).map_err(|reason| Error::Choices { path: path.to_owned(), reason })
}

fn parse(text: &[u8]) -> Result<Choices, String> {
    let choices: Choices = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if choices.version != VERSION {
        return Err(format!("version {}, this program reads {VERSION}", choices.version));
    }
    Ok(choices)
}

/// The model of CPU and the instructions used, as far as the system tells.
fn machine(cpu: Cpu) -> String {
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
pub fn is_choices(text: &[u8]) -> bool {
    parse(text).is_ok()
}

#[cfg(test)]
mod tests;
