//! Saved runs of a study, from which the same command resumes it.
//!
//! `runs.csv` has the runs, and `study.json` describes their study: the program, the machine, the
//! text, the duration of a measurement and the systems. Runs with different descriptions are not
//! mixed, and are overwritten only on request.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::ScalingOptions;
use super::run_stats::RunStats;
use super::study::ScalingStudy;
use super::system::Workload;
use super::topology::{Topology, count_noun};
use super::write_file;
use crate::description::{describe_file, describe_program, find_difference};
use crate::error::{Error, Result, cannot};

const RUNS: &str = "runs.csv";
/// The file that says what a study measures.
pub const DESCRIPTION: &str = "study.json";
const SYSTEMS: &str = "systems";

const HEADING: &str = "system,threads,round,words_per_second,user_seconds,system_seconds,\
                       voluntary_switches,involuntary_switches,peak_bytes,words,wall_seconds";

/// A run with its place in the study.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedRun {
    pub system: String,
    pub threads: usize,
    /// The round, counted from 0.
    pub round: usize,
    pub stats: RunStats,
}

/// The description of a study that decides whether its runs may be continued. The numbers of
/// threads and of rounds are not in it: a study may grow.
pub struct StudyDescription {
    content: Map<String, Value>,
    /// The number of CPUs that this process may use, and so the largest number of threads of a run.
    num_cpus: usize,
}

impl StudyDescription {
    /// Describes the study of `options` on this machine.
    ///
    /// # Errors
    /// If the text, a model or this program cannot be found.
    pub fn new(options: &ScalingOptions, topology: &Topology) -> Result<Self> {
        let mut systems = Map::new();
        for system in &options.systems {
            let kind = system.workload.kind();
            let description = match &system.workload {
                Workload::Phrase(path) | Workload::Neural(path) | Workload::LanguageModel(path) => {
                    json!({ kind: describe_file(path)?, "options": system.options })
                }
                Workload::Command(command) => json!({ kind: command }),
            };
            systems.insert(system.name.clone(), description);
        }
        let mut content = describe_program()?;
        content.insert("processors".into(), topology.to_string().into());
        content.insert("text".into(), describe_file(&options.input)?);
        content.insert("seconds".into(), options.seconds.into());
        content.insert(SYSTEMS.into(), systems.into());
        Ok(StudyDescription { content, num_cpus: topology.cpu_order().len() })
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
        let saved = parse_runs(&String::from_utf8_lossy(&csv), self.num_cpus);
        // A study that was killed before its first run has no runs to continue or to lose.
        if saved.as_ref().is_ok_and(Vec::is_empty) {
            return Ok(Vec::new());
        }
        self.check(text.as_deref()).and(saved).map_err(|reason| {
            Error::unmeasurable(format!(
                "{}: {reason}; give -o another folder, or --overwrite to measure again",
                runs.display()
            ))
        })
    }

    /// Checks that the saved description matches this one. Without a saved one, the check fails.
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
        let text = serde_json::to_string_pretty(&self.content).expect("keys are strings");
        write_file(folder, DESCRIPTION, &format!("{text}\n"))
    }

    /// Returns the first difference of a saved description, if it has any. A system that the saved
    /// description lacks is not a difference.
    fn difference(&self, saved: &Map<String, Value>) -> Option<String> {
        for (key, ours) in self.content.iter().filter(|(key, _)| *key != SYSTEMS) {
            let difference = find_difference(key, saved.get(key).unwrap_or(&Value::Null), ours);
            if difference.is_some() {
                return difference;
            }
        }
        let ours = self.content.get(SYSTEMS).and_then(Value::as_object)?;
        let Some(theirs) = saved.get(SYSTEMS).and_then(Value::as_object) else {
            return Some("it has no systems".into());
        };
        for (name, system) in theirs {
            let Some(now) = ours.get(name) else {
                return Some(format!("it has the system {name}, which is not given now"));
            };
            let difference = find_difference(name, system, now);
            if difference.is_some() {
                return difference;
            }
        }
        None
    }
}

impl ScalingStudy {
    /// Returns a CSV table with a line for each run, by system and number of threads, in the order
    /// of the rounds.
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
/// If the heading differs, or a line is not a run with 1 to `num_cpus` threads; the error names the
/// line.
pub fn parse_runs(text: &str, num_cpus: usize) -> Result<Vec<SavedRun>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADING) {
        return Err("line 1: expected the heading of runs".into());
    }
    lines
        .zip(2..)
        .map(|(line, number)| {
            let Some(run) = parse_run(line) else {
                return Err(format!("line {number}: not a run: {line:?}"));
            };
            if !(1..=num_cpus).contains(&run.threads) {
                return Err(format!(
                    "line {number}: a run with {}, expected 1 to {num_cpus}, the CPUs that this \
                     process may use",
                    count_noun(run.threads, "thread")
                ));
            }
            Ok(run)
        })
        .collect()
}

fn parse_run(line: &str) -> Option<SavedRun> {
    fn not_negative(text: &str) -> Option<f64> {
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
        wall_seconds: not_negative(wall).filter(|&wall| wall >= 1e-6)?,
        user_seconds: not_negative(user)?,
        system_seconds: not_negative(kernel)?,
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
    fn saved_runs_are_read_back() {
        let study = simulate();
        let runs = parse_runs(&study.runs_csv(), 8).unwrap();
        assert_eq!(runs.len(), 2 * 2 * 3);
        for run in runs {
            let system = study.systems.iter().find(|system| system.name == run.system).unwrap();
            let point = system.points.iter().find(|point| point.threads == run.threads).unwrap();
            assert_eq!(point.runs[&run.round], run.stats);
        }
    }

    #[test]
    fn damaged_runs_are_rejected_with_their_line() {
        let csv = simulate().runs_csv();
        let parse_runs = |text: &str| parse_runs(text, 8);
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
        assert!(parse_runs(&csv.replace("\na,4,", "\na,8,")).is_ok());
        for (threads, shown) in [("0", "0 threads"), ("9", "9 threads")] {
            let damaged = csv.replace("\na,4,", &format!("\na,{threads},"));
            let error = parse_runs(&damaged).unwrap_err();
            assert!(
                error.contains(&format!("line 5: a run with {shown}, expected 1 to 8")),
                "{error}"
            );
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
            if let Ok(runs) = parse_runs(&String::from_utf8_lossy(&bytes), 8) {
                for run in runs {
                    proptest::prop_assert!((1..=8).contains(&run.threads));
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

        // A command with more threads, rounds and systems continues the study.
        let mut more = ScalingOptions { counts: vec![8], repeat: 9, ..options.clone() };
        more.systems.insert(0, MeasuredSystem { name: "c".into(), ..more.systems[0].clone() });
        assert_eq!(describe(&more).read_runs(folder).unwrap().len(), 12);

        let longer = error(&ScalingOptions { seconds: 6.0, ..options.clone() });
        assert!(longer.contains("seconds: was 5.0, is now 6.0"), "{longer}");
        let mut fewer = options.clone();
        fewer.systems.pop();
        assert!(error(&fewer).contains("it has the system b, which is not given now"));
        let mut other = options.clone();
        other.systems[1].workload = Workload::Command("tac".into());
        let other = error(&other);
        assert!(other.contains("b command: was \"cat\", is now \"tac\""), "{other}");
        let machine = StudyDescription::new(&options, &Topology::uniform(1, 8, 2)).unwrap();
        assert!(machine.read_runs(folder).unwrap_err().to_string().contains("processors: was"));
        let description = fs::read_to_string(folder.join(DESCRIPTION)).unwrap();
        for key in ["version", "program"] {
            let mut saved: Value = serde_json::from_str(&description).unwrap();
            match key {
                "program" => saved[key]["bytes"] = json!(1),
                _ => saved[key] = json!("0.0"),
            }
            fs::write(folder.join(DESCRIPTION), saved.to_string()).unwrap();
            let error = error(&options);
            let expected = if key == "program" { "program \"/" } else { "version: was \"0.0\"" };
            assert!(error.contains(expected), "{error}");
            assert_eq!(error.contains("\" has changed"), key == "program", "{error}");
        }
        fs::write(folder.join(DESCRIPTION), description).unwrap();
        fs::write(&options.input, "a b c\n").unwrap();
        let changed = error(&options);
        assert!(changed.contains("text \"/") && changed.contains("\" has changed"), "{changed}");
        let moved = folder.join("moved");
        fs::rename(&options.input, &moved).unwrap();
        let moved = error(&ScalingOptions { input: moved, ..options.clone() });
        assert!(moved.contains("text: was \"/") && moved.contains("/moved\""), "{moved}");
        fs::write(&options.input, "a b c\n").unwrap();

        fs::write(folder.join("study.json"), "{").unwrap();
        assert!(error(&options).contains("study.json beside it is damaged"));

        // If there are no runs, a damaged description does not matter.
        ScalingStudy::new(Topology::uniform(1, 4, 2), &[], &[]).write_runs(folder).unwrap();
        assert_eq!(describe(&options).read_runs(folder).unwrap(), []);
    }

    /// A text or a model that is written again with the same length is another one.
    #[test]
    fn files_that_were_written_again_differ() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut options = options(folder);
        let (ini, model) = (folder.join("moses.ini"), folder.join("model"));
        fs::create_dir(&model).unwrap();
        let weights = model.join("weights.npz");
        for file in [&ini, &weights] {
            fs::write(file, "1").unwrap();
        }
        options.systems[0].workload = Workload::Phrase(ini.clone());
        options.systems[1].workload = Workload::Neural(model.clone());
        describe(&options).write(folder).unwrap();
        simulate().write_runs(folder).unwrap();
        let read = || describe(&options).read_runs(folder);
        assert_eq!(read().unwrap().len(), 12);
        for (file, what) in [
            (&options.input, "text \"/"),
            (&ini, "a phrase \"/"),
            (&weights, "b nmt files weights.npz has changed"),
        ] {
            let modified = file.metadata().unwrap().modified().unwrap();
            let set = |time| fs::File::options().write(true).open(file).unwrap().set_modified(time);
            set(modified + std::time::Duration::from_millis(5)).unwrap();
            let error = read().unwrap_err().to_string();
            assert!(error.contains(what) && error.contains(" has changed"), "{error}");
            set(modified).unwrap();
            assert_eq!(read().unwrap().len(), 12);
        }
        fs::write(model.join("vocabulary"), "2").unwrap();
        let error = read().unwrap_err().to_string();
        assert!(error.contains("b nmt files vocabulary: was missing, is now"), "{error}");
    }
}
