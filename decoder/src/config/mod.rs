//! Configurations: the checked description of a system from moses.ini and the command line.
//!
//! Reading has three steps, each with a type of its own. [`Parameters`] are names with raw values,
//! as Moses2 reads and overrides them. [`Settings`] are the typed search and output options.
//! [`FeatureSpec`]s are the feature lines with their weights.

mod arguments;
mod cpu_affinity;
mod feature_lines;
mod feature_overrides;
mod feature_types;
mod ini;
mod input_settings;
mod mapping;
mod old_format;
mod output_options;
mod rescoring;
mod server_settings;
mod settings;
mod settings_reader;
mod supported_parameters;
mod unsupported_options;
mod weights;

use std::path::{Path, PathBuf};

use miriam_storage::paths::with_suffix;

pub use input_settings::InputSettings;
pub use mapping::{DecodingGraphBackoff, DecodingStep};
pub use output_options::{NBestOptions, OutputOptions};
pub use rescoring::{MAX_CANDIDATES, NeuralModelSpec, RescoringModel, RescoringModelKind};
pub use server_settings::ServerSettings;
pub use settings::{SearchAlgorithm, Settings};
pub use supported_parameters::{ParameterInfo, options_help, supported_parameters};

use crate::features::{FeatureKind, FeatureSpec, PhraseTableSpec, ReorderingSpec};
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
    /// The number of its first values that are from the command line; `None` if the command line
    /// does not have it.
    num_overridden: Option<usize>,
}

impl Parameters {
    /// Returns the values of `name`; `None` if it was not given.
    pub fn get(&self, name: &str) -> Option<&[String]> {
        self.list.iter().find(|p| p.name == name).map(|p| &p.values[..])
    }

    /// Returns names and values, in the order of first appearance.
    fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.list.iter().map(|p| (&p.name[..], &p.values[..]))
    }

    fn values_mut(&mut self, name: &str) -> &mut Vec<String> {
        let at = match self.list.iter().position(|p| p.name == name) {
            Some(at) => at,
            None => {
                let (name, values) = (name.to_owned(), Vec::new());
                self.list.push(Parameter { name, values, num_overridden: None });
                self.list.len() - 1
            }
        };
        &mut self.list[at].values
    }

    /// Removes `name`; returns whether it was there.
    fn remove(&mut self, name: &str) -> bool {
        let count = self.list.len();
        self.list.retain(|p| p.name != name);
        self.list.len() < count
    }

    /// Records that the first `count` values of `name` are from the command line.
    fn mark_overridden(&mut self, name: &str, count: usize) {
        self.values_mut(name);
        let named = self.list.iter_mut().filter(|p| p.name == name);
        named.for_each(|p| p.num_overridden = Some(count));
    }

    /// Whether the command line gave `name`.
    fn is_overridden(&self, name: &str) -> bool {
        self.list.iter().any(|p| p.name == name && p.num_overridden.is_some())
    }

    /// Returns the number of values of `name` that are from the command line.
    fn num_overridden(&self, name: &str) -> usize {
        let parameter = self.list.iter().find(|p| p.name == name);
        parameter.and_then(|p| p.num_overridden).unwrap_or(0)
    }

    /// Returns an error about the value of `name` that says where it was given.
    fn invalid_value(&self, ini: &Path, name: &str, reason: impl Into<String>) -> Error {
        if self.is_overridden(name) {
            Error::usage(format!("-{name}: {}", reason.into()))
        } else {
            Error::section(ini, name, reason)
        }
    }
}

/// A configuration: the ini file, overridden by the command line (`docs/spec/phrase-decoding.md`
/// 1).
///
/// # Examples
///
/// ```
/// use miriam_decoder::{Configuration, FeatureKind};
///
/// let ini = tempfile::NamedTempFile::new()?;
/// let lines = "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\nWordPenalty\n\
///              PhraseDictionaryMemory name=Table num-features=1 path=phrase-table\n\
///              [weight]\nUnknownWordPenalty0= 1\nWordPenalty0= -0.5\nTable= 0.25\n";
/// std::fs::write(ini.path(), lines)?;
/// let path = ini.path().display().to_string();
/// let tokens = |options: &[&str]| -> Vec<String> {
///     ["-f", &path].iter().chain(options).map(|token| token.to_string()).collect()
/// };
/// let configuration = Configuration::from_command_line(&tokens(&["-s", "50"]))?;
/// assert_eq!(configuration.settings.stack_size, 50);
/// assert!(matches!(configuration.features[2].kind, FeatureKind::PhraseTable(_)));
/// let weights = "UnknownWordPenalty0 UNTUNEABLE\nWordPenalty0= -0.5\nTable= 0.25\n";
/// assert_eq!(configuration.weight_lines(), weights);
///
/// // An unknown option is an error that names the option.
/// let error = Configuration::from_command_line(&tokens(&["-stak", "50"])).unwrap_err();
/// assert!(error.to_string().contains("-stak"), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The ini file, whose folder is the second place where relative paths are looked up.
    pub ini: PathBuf,
    /// Search and output options.
    pub settings: Settings,
    /// The feature functions in the order of the ini, with weights.
    pub features: Vec<FeatureSpec>,
    /// The decoding steps in order.
    pub mapping: Vec<DecodingStep>,
    /// The models that score the n-best list of each sentence, with weights.
    pub rescoring: Vec<RescoringModel>,
    /// The weights of each feature in rescored n-best lists; `None` if the weights of the search
    /// apply there too.
    pub list_weights: Option<Vec<Vec<f32>>>,
}

impl Configuration {
    /// Reads the command line `tokens` (without program and subcommand) and the ini file
    /// named by `-f`, which may also name the folder of a moses.ini.
    ///
    /// # Errors
    ///
    /// If an option is unknown, a value is invalid, or the ini file has an error.
    pub fn from_command_line(tokens: &[String]) -> Result<Self> {
        Self::from_command_line_or(tokens, &[])
    }

    /// Works like [`Configuration::from_command_line`]. `defaults` are names and values of options.
    /// A default applies if neither the command line nor the ini gives the option a value.
    ///
    /// # Errors
    ///
    /// Those of [`Configuration::from_command_line`].
    pub fn from_command_line_or(tokens: &[String], defaults: &[(&str, &str)]) -> Result<Self> {
        let command_line = arguments::parse(tokens)?;
        let ini = match command_line.get("config") {
            Some([file]) => ini::locate(PathBuf::from(file))?,
            Some([]) | None => {
                return Err(Error::usage("the configuration is missing: -f moses.ini"));
            }
            Some([_, stray, ..]) => {
                let reason = format!("-f takes one file; what is {stray:?}? Input is -i FILE");
                return Err(Error::usage(reason));
            }
        };
        Self::from_parsed(ini, command_line, defaults)
    }

    /// Reads the ini file at `path`, or the moses.ini of the folder at `path`, without a command
    /// line.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or a section, feature or weight is wrong.
    pub fn from_ini(path: &Path) -> Result<Self> {
        Self::from_ini_and_options(path, &[])
    }

    /// Works like [`Configuration::from_ini`]. `options` are as on a command line and override
    /// values of the file. The name of the file may have any bytes.
    ///
    /// # Errors
    ///
    /// Those of [`Configuration::from_command_line`].
    pub fn from_ini_and_options(path: &Path, options: &[String]) -> Result<Self> {
        Self::from_ini_and_options_or(path, options, &[])
    }

    /// Works like [`Configuration::from_ini_and_options`], with the `defaults` of
    /// [`Configuration::from_command_line_or`].
    ///
    /// # Errors
    ///
    /// Those of [`Configuration::from_command_line`].
    pub fn from_ini_and_options_or(
        path: &Path,
        options: &[String],
        defaults: &[(&str, &str)],
    ) -> Result<Self> {
        let options = arguments::parse(options)?;
        if options.get("config").is_some() {
            let reason =
                format!("-f: the ini is {} already; leave out one of them", path.display());
            return Err(Error::usage(reason));
        }
        Self::from_parsed(ini::locate(path.to_owned())?, options, defaults)
    }

    /// Reads `ini`, overridden by the options of a command line.
    fn from_parsed(
        ini: PathBuf,
        command_line: Parameters,
        defaults: &[(&str, &str)],
    ) -> Result<Self> {
        let mut parameters = ini::read(&ini)?;
        arguments::override_with(&mut parameters, command_line);
        for (name, value) in defaults {
            let values = parameters.values_mut(name);
            if values.is_empty() {
                values.push((*value).to_owned());
            }
        }
        Self::from_parameters(ini, parameters)
    }

    fn from_parameters(ini: PathBuf, mut parameters: Parameters) -> Result<Self> {
        unsupported_options::check(&ini, &parameters)?;
        old_format::convert(&ini, &mut parameters)?;
        let mut settings = Settings::new(&ini, &parameters)?;
        let edits = feature_overrides::collect_overrides(&ini, &settings, &parameters)?;
        let mut features = feature_lines::parse(&ini, &parameters, edits)?;
        for feature in &features {
            if let FeatureKind::UnknownWordPenalty(words) = &feature.kind {
                settings.drop_unknown = words.drop;
                settings.mark_unknown = words.affixes();
            }
        }
        let mut rescoring = rescoring::parse(&ini, &parameters, &features)?;
        let list_weights =
            weights::assign_weights(&ini, &parameters, &mut features, &mut rescoring)?;
        let mapping = mapping::parse_steps(&ini, &parameters, &features)?;
        Ok(Configuration { ini, settings, features, mapping, rescoring, list_weights })
    }

    /// Returns the phrase tables, with the numbers of their features.
    pub(crate) fn phrase_tables(
        &self,
    ) -> impl Iterator<Item = (usize, &FeatureSpec, &PhraseTableSpec)> {
        self.features.iter().enumerate().filter_map(|(number, feature)| match &feature.kind {
            FeatureKind::PhraseTable(spec) => Some((number, feature, spec)),
            _ => None,
        })
    }

    /// Returns the reordering models with their own tables: the number of each feature, the
    /// feature, its parameters, and the path of its table.
    pub(crate) fn reordering_tables(
        &self,
    ) -> impl Iterator<Item = (usize, &FeatureSpec, &ReorderingSpec, &str)> {
        self.features.iter().enumerate().filter_map(|(number, feature)| match &feature.kind {
            FeatureKind::LexicalReordering(spec) => Some((number, feature, spec, spec.path()?)),
            _ => None,
        })
    }

    /// Whether `name` is a section of the old format.
    pub(crate) fn is_section_of_old_format(name: &str) -> bool {
        old_format::is_section(name)
    }

    /// Converts an ini of the old format to the lines of `[feature]` and `[weight]`; returns `None`
    /// for one of the new format.
    pub(crate) fn lines_of_old_format(&self) -> Result<Option<[Vec<String>; 2]>> {
        let mut parameters = ini::read(&self.ini)?;
        if parameters.get("feature").is_some() {
            return Ok(None);
        }
        old_format::convert(&self.ini, &mut parameters)?;
        Ok(Some(
            ["feature", "weight"].map(|name| parameters.get(name).unwrap_or_default().to_vec()),
        ))
    }

    /// Returns the weights of all features, one feature per line, as Moses prints them:
    /// `Name= 0.5 0.2`, or `Name UNTUNEABLE`. If only some weights of a feature are tuned,
    /// `UNTUNEABLECOMPONENT` replaces each of the others.
    pub fn weight_lines(&self) -> String {
        weights::format_lines(&self.features, &self.rescoring, self.list_weights.as_deref())
    }

    /// Returns the paths of the ini and of every model that a feature or a line of `[rescore]`
    /// names.
    pub fn model_files(&self) -> impl Iterator<Item = PathBuf> {
        let named = self.features.iter().filter_map(|feature| feature.kind.model_path());
        let named = named.chain(self.rescoring.iter().map(|model| &model.path[..]));
        named.map(|path| self.resolve_path(path)).chain([self.ini.clone()])
    }

    /// Resolves a path of the ini: the path as given, or else the path in the ini's folder,
    /// whichever exists first. A path that begins with `${INI}/` is always in the ini's folder. A
    /// file that exists only compressed, as `PATH.gz`, `.zst`, `.bz2` or `.xz`, is found too, as
    /// Moses finds reordering tables. If nothing exists, returns the path as given.
    pub fn resolve_path(&self, path: &str) -> PathBuf {
        let folder = self.ini.parent().unwrap_or(Path::new(""));
        let (given, in_folder) = match path.strip_prefix("${INI}/") {
            Some(relative) => (folder.join(relative), None),
            None => (PathBuf::from(path), Some(folder.join(path))),
        };
        let candidates = [Some(&given), in_folder.as_ref()];
        let existing = ["", ".gz", ".zst", ".bz2", ".xz"].iter().find_map(|extension| {
            let candidates = candidates.into_iter().flatten();
            let mut candidates = candidates.map(|path| with_suffix(path, extension));
            candidates.find(|path| path.exists())
        });
        existing.unwrap_or(given)
    }
}
