//! From moses.ini and the command line to a checked description of a system.
//!
//! Three steps, each a type: [`Parameters`] are names with raw values, as Moses2
//! reads and overrides them; [`Settings`] are the typed search and output
//! options; [`FeatureSpec`]s are the feature lines with their weights.

mod arguments;
mod feature_lines;
mod ini;
mod input;
mod known;
mod settings;
mod weights;

use std::path::{Path, PathBuf};

pub use feature_lines::{
    FeatureKind, FeatureSpec, LanguageModelSpec, ReorderingSource, ReorderingSpec, TableFormat,
    TableSpec,
};
pub use input::{FactorSettings, InputSettings};
pub use known::help;
pub use settings::{SearchAlgorithm, Settings};

use crate::{Error, Result};

/// Parameter names with their values, in the order of first appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters {
    list: Vec<Parameter>,
}

#[derive(Clone, Debug)]
struct Parameter {
    name: String,
    values: Vec<String>,
    /// Whether the command line had a say in it.
    overridden: bool,
}

impl Parameters {
    /// The values of `name`; nothing when it was not given at all.
    pub fn get(&self, name: &str) -> Option<&[String]> {
        self.list.iter().find(|p| p.name == name).map(|p| &p.values[..])
    }

    fn entry(&mut self, name: &str) -> &mut Vec<String> {
        let at = match self.list.iter().position(|p| p.name == name) {
            Some(at) => at,
            None => {
                let (name, values) = (name.to_owned(), Vec::new());
                self.list.push(Parameter { name, values, overridden: false });
                self.list.len() - 1
            }
        };
        &mut self.list[at].values
    }

    fn mark_overridden(&mut self, name: &str) {
        self.entry(name);
        self.list.iter_mut().filter(|p| p.name == name).for_each(|p| p.overridden = true);
    }

    /// A complaint about the value of `name`, naming where it was given.
    fn complain(&self, ini: &Path, name: &str, reason: impl Into<String>) -> Error {
        if self.list.iter().any(|p| p.name == name && p.overridden) {
            Error::usage(format!("-{name}: {}", reason.into()))
        } else {
            Error::section(ini, name, reason)
        }
    }
}

/// A whole configuration: what the ini file says, overridden by the command
/// line (`phrase-decoding.md` 1).
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The ini file, against whose folder relative paths are tried second.
    pub ini: PathBuf,
    /// Search and output options.
    pub settings: Settings,
    /// The feature functions in the order of the ini, with weights.
    pub features: Vec<FeatureSpec>,
    /// Which tables are consulted: indices into `features`.
    pub mapping: Vec<usize>,
}

impl Configuration {
    /// Reads the command line `tokens` (program and subcommand left out) and the
    /// ini file they name with `-f`.
    pub fn from_command_line(tokens: &[String]) -> Result<Self> {
        let command_line = arguments::parse(tokens)?;
        let ini = match command_line.get("config") {
            Some([file]) => PathBuf::from(file),
            Some([]) | None => {
                return Err(Error::usage("the configuration is missing: -f moses.ini"));
            }
            Some([_, stray, ..]) => {
                let reason = format!("-f takes one file; what is {stray:?}? Input is -i FILE");
                return Err(Error::usage(reason));
            }
        };
        let mut parameters = ini::read(&ini)?;
        arguments::override_with(&mut parameters, command_line);
        Self::from_parameters(ini, &parameters)
    }

    /// Reads the ini file at `path` and nothing else.
    pub fn from_ini(path: &Path) -> Result<Self> {
        Self::from_parameters(path.to_owned(), &ini::read(path)?)
    }

    fn from_parameters(ini: PathBuf, parameters: &Parameters) -> Result<Self> {
        let settings = Settings::new(&ini, parameters)?;
        let Some(lines) = parameters.get("feature") else {
            let reason = "no [feature] section; old-format configurations are not supported yet";
            return Err(Error::configuration(ini.display().to_string(), reason));
        };
        let mut features = feature_lines::parse(&ini, lines)?;
        weights::assign(&ini, parameters.get("weight").unwrap_or(&[]), &mut features)?;
        let mapping = mapping(&ini, parameters.get("mapping").unwrap_or(&[]), &features)?;
        Ok(Configuration { ini, settings, features, mapping })
    }

    /// Where the file called `path` is: as given, else in the ini's folder.
    pub fn locate(&self, path: &str) -> PathBuf {
        let given = PathBuf::from(path);
        if given.is_relative()
            && !given.exists()
            && let Some(folder) = self.ini.parent()
        {
            let beside = folder.join(&given);
            if beside.exists() {
                return beside;
            }
        }
        given
    }
}

/// The tables named by the mapping lines `T n` or `g T n`, n counting the tables
/// in the order of the ini without the unknown-word penalty (1.10).
fn mapping(ini: &Path, lines: &[String], features: &[FeatureSpec]) -> Result<Vec<usize>> {
    let fail = |reason: String| Err(Error::section(ini, "mapping", reason));
    let tables: Vec<usize> = (0..features.len())
        .filter(|&i| matches!(features[i].kind, FeatureKind::Table(_)))
        .collect();
    let mut mapped = Vec::new();
    for line in lines {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (step, number) = match fields[..] {
            [step, number] => (step, number),
            [graph, step, number] if graph.parse::<u32>().is_ok() => (step, number),
            _ => return fail(format!("{line:?} is not of the form `0 T 0`")),
        };
        match step {
            "T" => {}
            "G" => return fail("generation steps (G) are not supported".into()),
            _ => return fail(format!("step {step:?} in {line:?}; only T is supported")),
        }
        let table = number.parse::<usize>().ok().and_then(|n| tables.get(n));
        let Some(&table) = table else {
            return fail(format!(
                "{line:?} names a table that is not there; there are {}",
                tables.len()
            ));
        };
        if !mapped.contains(&table) {
            mapped.push(table);
        }
    }
    if mapped.is_empty() {
        return fail("no decoding step; write `0 T 0` for the first table".into());
    }
    mapped.sort_unstable();
    Ok(mapped)
}
