//! Saved runs of a study, from which the same command resumes it.
//!
//! `runs.csv` has the runs, and `study.json` says what they are runs of: the machine, the text, the
//! seconds and the systems. Runs of another study are never mixed in, and never overwritten unasked.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::ScalingOptions;
use super::run_stats::RunStats;
use super::study::ScalingStudy;
use super::system::Workload;
use super::topology::Topology;
use super::write_file;
use crate::error::{Error, Result, cannot};
use crate::machine;

const RUNS: &str = "runs.csv";
const DESCRIPTION: &str = "study.json";
const SYSTEMS: &str = "systems";

const HEADING: &str = "system,threads,round,words_per_second,user_seconds,system_seconds,\
                       voluntary_switches,involuntary_switches,peak_bytes,words,wall_seconds";

/// A run with its place in the study.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedRun {
    pub system: String,
    pub threads: usize,
    /// From 0.
    pub round: usize,
    pub stats: RunStats,
}

/// The description of a study that decides whether its runs may be continued. The numbers of
/// threads and of rounds are not in it: a study may grow.
pub struct StudyDescription(Map<String, Value>);

impl StudyDescription {
    /// Describes the study of `options` on this machine.
    ///
    /// # Errors
    /// If the text cannot be found.
    pub fn new(options: &ScalingOptions, topology: &Topology) -> Result<Self> {
        let text = &options.input;
        let information = text.metadata().map_err(cannot("read this text", text))?;
        let systems: Map<String, Value> = options
            .systems
            .iter()
            .map(|system| {
                let work = match &system.workload {
                    Workload::Phrase(path)
                    | Workload::Neural(path)
                    | Workload::LanguageModel(path) => absolute_name(path),
                    Workload::Command(command) => command.clone(),
                };
                let value = json!([system.workload.kind(), work, system.options]);
                (system.name.clone(), value)
            })
            .collect();
        let description = json!({
            "program": env!("CARGO_PKG_VERSION"),
            "machine": machine::cpu_name(),
            "processors": topology.to_string(),
            "text": [absolute_name(text), information.len()],
            "seconds": options.seconds,
            SYSTEMS: systems,
        });
        let Value::Object(description) = description else { unreachable!("it is an object") };
        Ok(StudyDescription(description))
    }

    /// Returns the runs that an earlier command with this description saved in `folder`. The
    /// command may have had fewer systems.
    ///
    /// # Errors
    /// If there are runs with another description, or a file is damaged or cannot be read.
    pub fn read_runs(&self, folder: &Path) -> Result<Vec<SavedRun>> {
        let [runs, description] = [RUNS, DESCRIPTION].map(|name| folder.join(name));
        if !runs.exists() {
            return Ok(Vec::new());
        }
        let text = match fs::read(&description) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            read => Some(read.map_err(cannot("read this file", &description))?),
        };
        let csv = fs::read(&runs).map_err(cannot("read this file", &runs))?;
        self.check(text.as_deref())
            .and_then(|()| parse_runs(&String::from_utf8_lossy(&csv)))
            .map_err(|reason| {
                Error::unmeasurable(format!(
                    "{}: {reason}; give -o another folder, or --overwrite to measure again",
                    runs.display()
                ))
            })
    }

    /// Checks that a saved description, if there is one, is this one.
    fn check(&self, saved: Option<&[u8]>) -> Result<(), String> {
        let Some(saved) = saved else {
            return Err(format!("the runs are of an unknown study, without {DESCRIPTION}"));
        };
        let Ok(saved) = serde_json::from_slice(saved) else {
            return Err(format!("{DESCRIPTION} beside it is damaged"));
        };
        match self.difference(&saved) {
            Some(difference) => Err(format!("the runs are of another study: {difference}")),
            None => Ok(()),
        }
    }

    /// Writes the description to `folder`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.0).expect("keys are strings");
        write_file(folder, DESCRIPTION, &format!("{text}\n"))
    }

    /// Returns the first difference of a saved description, if it has any. Systems may be new.
    fn difference(&self, saved: &Map<String, Value>) -> Option<String> {
        for key in self.0.keys().filter(|key| *key != SYSTEMS) {
            let [ours, theirs] = [&self.0, saved].map(|map| map.get(key).unwrap_or(&Value::Null));
            if ours != theirs {
                return Some(format!("its {key} is {theirs}, now it is {ours}"));
            }
        }
        let ours = self.0.get(SYSTEMS).and_then(Value::as_object)?;
        let Some(theirs) = saved.get(SYSTEMS).and_then(Value::as_object) else {
            return Some("it has no systems".into());
        };
        for (name, system) in theirs {
            match ours.get(name) {
                Some(now) if now == system => {}
                Some(now) => return Some(format!("its {name} is {system}, now it is {now}")),
                None => return Some(format!("it has the system {name}, which is not given now")),
            }
        }
        None
    }
}

fn absolute_name(path: &Path) -> String {
    path.canonicalize().unwrap_or_else(|_| path.into()).to_string_lossy().into_owned()
}

impl ScalingStudy {
    /// Returns a line for each run, by system and number of threads, in the order of the rounds.
    pub fn runs_csv(&self) -> String {
        let mut text = format!("{HEADING}\n");
        for system in &self.systems {
            for point in &system.points {
                for (round, run) in &point.runs {
                    let _ = writeln!(
                        text,
                        "{},{},{},{:.1},{:.6},{:.6},{},{},{},{},{:.6}",
                        system.name,
                        point.threads,
                        round + 1,
                        run.words_per_second(),
                        run.user_seconds,
                        run.system_seconds,
                        run.voluntary_switches,
                        run.involuntary_switches,
                        run.peak_bytes,
                        run.words,
                        run.wall_seconds
                    );
                }
            }
        }
        text
    }

    /// Writes the runs to `folder`.
    pub fn write_runs(&self, folder: &Path) -> Result<()> {
        write_file(folder, RUNS, &self.runs_csv())
    }
}

/// Parses a text of [`ScalingStudy::runs_csv`].
///
/// # Errors
/// What is wrong, with its line.
pub fn parse_runs(text: &str) -> Result<Vec<SavedRun>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADING) {
        return Err("line 1: expected the heading of runs".into());
    }
    lines
        .zip(2..)
        .map(|(line, number)| {
            parse_run(line).ok_or_else(|| format!("line {number}: not a run: {line:?}"))
        })
        .collect()
}

fn parse_run(line: &str) -> Option<SavedRun> {
    fn positive(text: &str) -> Option<f64> {
        text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
    }
    let fields: Vec<&str> = line.split(',').collect();
    let &[system, threads, round, _, user, kernel, voluntary, involuntary, peak, words, wall] =
        &fields[..]
    else {
        return None;
    };
    let stats = RunStats {
        words: words.parse().ok()?,
        wall_seconds: positive(wall).filter(|&wall| wall >= 1e-6)?,
        user_seconds: positive(user)?,
        system_seconds: positive(kernel)?,
        voluntary_switches: voluntary.parse().ok()?,
        involuntary_switches: involuntary.parse().ok()?,
        peak_bytes: peak.parse().ok()?,
    };
    let round = round.parse::<usize>().ok()?.checked_sub(1)?;
    Some(SavedRun { system: system.into(), threads: threads.parse().ok()?, round, stats })
}

#[cfg(test)]
mod tests {
    use super::super::study::simulated;
    use super::super::system::MeasuredSystem;
    use super::*;

    fn options(folder: &Path) -> ScalingOptions {
        let input = folder.join("text");
        fs::write(&input, "a b\n").unwrap();
        let system = |name: &str| MeasuredSystem {
            name: name.into(),
            workload: Workload::Command("cat".into()),
            options: Vec::new(),
        };
        ScalingOptions {
            systems: vec![system("a"), system("b")],
            input,
            counts: Vec::new(),
            output: folder.into(),
            repeat: 3,
            seconds: 5.0,
            overwrite: false,
        }
    }

    fn describe(options: &ScalingOptions) -> StudyDescription {
        StudyDescription::new(options, &Topology::uniform(1, 4, 2)).unwrap()
    }

    fn simulate() -> ScalingStudy {
        let rates = [(1, 123.4, 0.017), (4, 456.7, 0.5)];
        simulated::study(Topology::uniform(1, 4, 2), &[("a", &rates), ("b", &rates)])
    }

    #[test]
    fn runs_come_back_as_they_were() {
        let study = simulate();
        let runs = parse_runs(&study.runs_csv()).unwrap();
        assert_eq!(runs.len(), 2 * 2 * 3);
        for run in runs {
            let system = study.systems.iter().find(|system| system.name == run.system).unwrap();
            let point = system.points.iter().find(|point| point.threads == run.threads).unwrap();
            assert_eq!(point.runs[&run.round], run.stats);
        }
    }

    #[test]
    fn damaged_runs_have_a_place() {
        let csv = simulate().runs_csv();
        assert!(parse_runs("").unwrap_err().contains("line 1"));
        assert!(parse_runs(&csv.replace("system,", "")).unwrap_err().contains("line 1"));
        let (start, _) = csv.split_at(csv.len() - 4);
        let cut = parse_runs(start.rsplit_once(',').unwrap().0).unwrap_err();
        assert!(cut.contains("line 13: not a run"), "{cut}");
        for (from, to) in
            [("\na,1,1,", "\na,1,0,"), (",2.000000\n", ",0.000000\n"), (",5242880,", ",NaN,")]
        {
            let damaged = csv.replacen(from, to, 1);
            assert_ne!(damaged, csv);
            assert!(parse_runs(&damaged).unwrap_err().contains("line 2"), "{from} {to}");
        }
    }

    proptest::proptest! {
        /// A damaged file gives runs or an error, and never runs that cannot be drawn.
        #[test]
        fn damaged_files_are_rejected_or_drawable(place in 0usize..2000, byte: u8, cut in 0usize..2000) {
            let mut bytes = simulate().runs_csv().into_bytes();
            let (length, place) = (bytes.len(), place % bytes.len());
            bytes[place] = byte;
            bytes.truncate(length - cut % length);
            if let Ok(runs) = parse_runs(&String::from_utf8_lossy(&bytes)) {
                for run in runs {
                    proptest::prop_assert!(run.stats.words_per_second().is_finite());
                }
            }
        }
    }

    #[test]
    fn only_runs_of_the_same_study_are_continued() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let options = options(folder);
        assert_eq!(describe(&options).read_runs(folder).unwrap(), []);
        simulate().write_runs(folder).unwrap();
        let error =
            |options: &ScalingOptions| describe(options).read_runs(folder).unwrap_err().to_string();
        let unknown = error(&options);
        assert!(unknown.contains("without study.json") && unknown.contains("--overwrite"));
        describe(&options).write(folder).unwrap();
        assert_eq!(describe(&options).read_runs(folder).unwrap().len(), 12);

        // More threads, rounds and systems continue it.
        let mut more = ScalingOptions { counts: vec![8], repeat: 9, ..options.clone() };
        more.systems.insert(0, MeasuredSystem { name: "c".into(), ..more.systems[0].clone() });
        assert_eq!(describe(&more).read_runs(folder).unwrap().len(), 12);

        let longer = error(&ScalingOptions { seconds: 6.0, ..options.clone() });
        assert!(longer.contains("its seconds is 5.0, now it is 6.0"), "{longer}");
        let mut fewer = options.clone();
        fewer.systems.pop();
        assert!(error(&fewer).contains("it has the system b, which is not given now"));
        let mut other = options.clone();
        other.systems[1].workload = Workload::Command("tac".into());
        let other = error(&other);
        assert!(other.contains("its b is [\"command\",\"cat\",[]], now it is"), "{other}");
        let machine = StudyDescription::new(&options, &Topology::uniform(1, 8, 2)).unwrap();
        assert!(machine.read_runs(folder).unwrap_err().to_string().contains("its processors is"));
        fs::write(&options.input, "a b c\n").unwrap();
        assert!(error(&options).contains("its text is"));

        fs::write(folder.join("study.json"), "{").unwrap();
        assert!(error(&options).contains("study.json beside it is damaged"));
    }
}
