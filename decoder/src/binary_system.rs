//! Binary tables for a whole system: a folder with a binary table for each text phrase table of an
//! ini, and a new ini that names these tables. Where possible, the tables hold the scores of a
//! reordering model too.

use std::fs;
use std::path::{Path, PathBuf};

use miriam_probingpt::{BuildOptions, BuildReport, build_file};
use miriam_textio::{Output, Progress, is_same_file};

use crate::features::PhraseTableFormat;
use crate::ini_text::IniText;
use crate::markup::XmlInputMode;
use crate::preparation_copy::PreparationCopy;
use crate::{Configuration, Error, Result};

/// The name of the ini in the folder.
const INI_NAME: &str = "moses.ini";

/// The files that were written.
#[derive(Clone, Debug)]
pub struct BinarySystem {
    /// The new ini.
    pub ini: PathBuf,
    /// The tables, in the order of the ini.
    pub tables: Vec<BuiltTable>,
    /// The names of the reordering models that stay text: all with a text table whose scores were
    /// not built into the phrase tables.
    pub text_reordering: Vec<String>,
}

/// A table that was built.
#[derive(Clone, Debug)]
pub struct BuiltTable {
    /// The name of its feature.
    pub feature: String,
    /// The file.
    pub file: PathBuf,
    /// Counts of its entries.
    pub report: BuildReport,
}

/// Builds a binary table in `folder` for each text phrase table of `configuration`, and writes an
/// ini that names them, `folder/moses.ini`. An ini of the old format is converted, and relative
/// paths become absolute. `options` apply to all tables, but the files and the number of scores of
/// a table come from `configuration`.
///
/// The scores of the first reordering model with a text table are built into the phrase tables, if
/// all phrase tables are text tables with the factors of the model. This requires that phrases come
/// from tables only, not from markup or from phrase tables in the input, and that known words are
/// not copied.
///
/// # Errors
///
/// Fails if no table is text, a table cannot be built, a file cannot be read or written, or a file
/// of another system or the ini of `configuration` would be replaced.
///
/// # Examples
///
/// ```
/// use miriam_decoder::{Configuration, build_binary_system};
/// # use miriam_probingpt::BuildOptions;
/// # use miriam_textio::NoProgress;
/// # let folder = tempfile::tempdir()?;
/// # let ini = folder.path().join("moses.ini");
/// # std::fs::write(folder.path().join("phrase-table"), "haus ||| house ||| 0.5\n")?;
/// # std::fs::write(
/// #     &ini,
/// #     "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\n\
/// #      PhraseDictionaryMemory name=Table num-features=1 path=phrase-table\n\
/// #      [weight]\nUnknownWordPenalty0= 1\nTable= 1\n",
/// # )?;
/// let configuration = Configuration::from_ini(&ini)?;
/// let output = folder.path().join("binary");
/// let built =
///     build_binary_system(&configuration, &output, &BuildOptions::default(), &NoProgress)?;
/// assert_eq!(built.tables[0].report.entries, 1);
/// let text = std::fs::read_to_string(output.join("moses.ini"))?;
/// assert!(text.contains("ProbingPT name=Table num-features=1 path=${INI}/phrase-table.miriam"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn build_binary_system(
    configuration: &Configuration,
    folder: &Path,
    options: &BuildOptions,
    progress: &dyn Progress,
) -> Result<BinarySystem> {
    let mut tables = configuration
        .phrase_tables()
        .filter(|(_, _, spec)| spec.format == PhraseTableFormat::Text)
        .peekable();
    if tables.peek().is_none() {
        let reason = "no feature has a text table (PhraseDictionaryMemory), so there is nothing to \
                      build";
        return Err(Error::configuration(configuration.ini.display().to_string(), reason));
    }
    fs::create_dir_all(folder)
        .map_err(|e| miriam_textio::Error::io(&folder.display().to_string(), "make", e))?;
    let ini = folder.join(INI_NAME);
    if is_same_file(&configuration.ini, &ini) {
        let reason = "the new ini would replace this one; give another folder";
        return Err(Error::configuration(ini.display().to_string(), reason));
    }
    let preparation_copy = PreparationCopy::plan(configuration, &ini)?;
    if let Some(copy) = &preparation_copy {
        copy.check_targets()?;
    }
    let text = IniText::read(configuration)?.for_folder_of(&ini, configuration)?;
    let reordering = integrated_reordering(configuration);
    let mut built: Vec<(usize, BuiltTable)> = Vec::new();
    for (number, feature, spec) in tables {
        let name = table_name(&spec.path, |name| {
            built.iter().any(|(_, table)| table.file.ends_with(name))
        });
        let file = folder.join(name);
        let options = BuildOptions {
            phrase_table: configuration.resolve_path(&spec.path),
            reordering: reordering.map(|(_, path)| configuration.resolve_path(path)),
            num_scores: Some(feature.num_components),
            ..options.clone()
        };
        let report = build_file(&options, &file, progress)?;
        built.push((number, BuiltTable { feature: feature.name.clone(), file, report }));
    }
    let change = |number: usize, line: &str| {
        if let Some((_, table)) = built.iter().find(|(built, _)| *built == number) {
            return binary_table_line(line, table);
        }
        match reordering {
            Some((integrated, _)) if integrated == number => integrated_line(line),
            _ => line.to_owned(),
        }
    };
    let text = text.change_features(change, |name, key| {
        let integrated = reordering.map(|(number, _)| &configuration.features[number].name);
        let has_new_path = integrated.is_some_and(|integrated| integrated == name)
            || built.iter().any(|(_, table)| table.feature == name);
        key == "path" && has_new_path
    });
    if let Some(copy) = preparation_copy {
        copy.write()?;
    }
    let mut output = Output::create_atomic(&ini)?;
    output.write(&text.into_bytes())?;
    output.finish()?;
    let text_reordering = configuration
        .reordering_tables()
        .filter(|(number, ..)| reordering.is_none_or(|(integrated, _)| integrated != *number))
        .map(|(_, feature, ..)| feature.name.clone())
        .collect();
    let tables = built.into_iter().map(|(_, table)| table).collect();
    Ok(BinarySystem { ini, tables, text_reordering })
}

/// Returns the number and the path of the reordering model whose scores are built into the phrase
/// tables. `None` if there is no such model, or if its table is needed for other phrases too:
/// phrases of binary tables, of tables with other factors, or of the input, and copied words.
fn integrated_reordering(configuration: &Configuration) -> Option<(usize, &str)> {
    let settings = &configuration.settings;
    let input = &settings.input_format;
    let has_markup = !matches!(input.markup, XmlInputMode::PassThrough | XmlInputMode::Ignore);
    if has_markup || input.has_sentence_table || settings.copy_known_words {
        return None;
    }
    let (number, _, spec, path) = configuration.reordering_tables().next()?;
    let all_fit = configuration.phrase_tables().all(|(.., table)| {
        table.format == PhraseTableFormat::Text
            && table.input_factors == spec.input_factors
            && table.output_factors.as_deref().unwrap_or(&[0]) == spec.output_factors
    });
    all_fit.then_some((number, path))
}

/// Returns a free name for the binary file of the text table at `path`.
fn table_name(path: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let name = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or("phrase-table");
    let stem = [".gz", ".zst", ".bz2", ".xz"].iter().find_map(|end| name.strip_suffix(end));
    let stem = stem.unwrap_or(name);
    let numbered = (2..).map(|number| format!("{stem}-{number}.miriam"));
    let mut names = std::iter::once(format!("{stem}.miriam")).chain(numbered);
    names.find(|name| !is_taken(name)).expect("there are numbers enough")
}

/// Converts the feature line of a text table to a feature line of the binary `table`. The feature
/// keeps its name, because its weights are listed under the name.
fn binary_table_line(line: &str, table: &BuiltTable) -> String {
    let file = table.file.file_name().unwrap_or_default().to_string_lossy();
    let mut tokens = line.split_ascii_whitespace();
    let mut new = vec!["ProbingPT".to_owned()];
    if !line.split_ascii_whitespace().any(|token| token.starts_with("name=")) {
        new.push(format!("name={}", table.feature));
    }
    tokens.next();
    new.extend(replace_path(tokens, &format!("path=${{INI}}/{file}")));
    new.join(" ")
}

/// Converts the feature line of a reordering model whose scores are now in the phrase tables.
fn integrated_line(line: &str) -> String {
    replace_path(line.split_ascii_whitespace(), "property-index=0").join(" ")
}

/// Returns the tokens of a feature line with `new` in place of its path, or at the end if
/// `[feature-overwrite]` has the path.
fn replace_path<'l>(tokens: impl Iterator<Item = &'l str>, new: &str) -> Vec<String> {
    let mut tokens: Vec<String> = tokens.map(str::to_owned).collect();
    match tokens.iter_mut().find(|token| token.starts_with("path=")) {
        Some(path) => new.clone_into(path),
        None => tokens.push(new.to_owned()),
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_other_keys() {
        let report = BuildReport::default();
        let file = PathBuf::from("folder/pt.miriam");
        let table = BuiltTable { feature: "PhraseDictionaryMemory0".into(), file, report };
        assert_eq!(
            binary_table_line(
                "PhraseDictionaryMemory num-features=4\tpath=pt.gz table-limit=9",
                &table
            ),
            "ProbingPT name=PhraseDictionaryMemory0 num-features=4 path=${INI}/pt.miriam table-limit=9"
        );
        assert_eq!(
            binary_table_line("PhraseDictionaryMemory path=/m/pt.gz name=T", &table),
            "ProbingPT path=${INI}/pt.miriam name=T"
        );
        assert_eq!(
            integrated_line("LexicalReordering type=msd path=ro num-features=3"),
            "LexicalReordering type=msd property-index=0 num-features=3"
        );
        assert_eq!(
            integrated_line("LexicalReordering a=b"),
            "LexicalReordering a=b property-index=0"
        );
    }

    #[test]
    fn tables_of_one_name_get_numbers() {
        assert_eq!(table_name("a/pt.gz", |_| false), "pt.miriam");
        assert_eq!(table_name("pt", |name| name == "pt.miriam"), "pt-2.miriam");
    }
}
