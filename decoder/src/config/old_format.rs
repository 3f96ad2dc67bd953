//! Old-format inis, from before there were feature lines (`docs/spec/phrase-decoding.md` 1.11).
//! They have a section for each type of model, and another for its weights.
//!
//! They are rewritten to feature and weight lines, in the order in which Moses2 creates
//! the features; all later steps see one format only. Weights are rounded to six
//! significant digits, as in Moses2, because scores depend on it. Where Moses2 silently
//! drops a model or a weight, there is an error or a warning here.

use std::path::Path;

use miriam_textio::number;

use super::Parameters;
use crate::Result;

/// The known sections of the old format, with their short names on the command line. Some of them
/// are rejected, because they belong to features that are not available.
const SECTIONS: &[(&str, &str)] = &[
    ("distortion-file", ""),
    ("generation-file", ""),
    ("lmodel-file", ""),
    ("ttable-file", ""),
    ("ttable-limit", ""),
    ("weight-d", "d"),
    ("weight-generation", "g"),
    ("weight-i", "I"),
    ("weight-l", "lm"),
    ("weight-lr", "lr"),
    ("weight-p", ""),
    ("weight-t", "tm"),
    ("weight-u", "u"),
    ("weight-w", "w"),
    ("input-scores", ""),
    ("lmodel-oov-feature", ""),
];

/// Sections of the old format, each with the key of feature lines that replaces it in the new
/// format. Moses accepts these sections in inis of the new format, where they have no effect.
const KEY_SECTIONS: [(&str, &str); 2] =
    [("ttable-limit", "table-limit"), ("lmodel-oov-feature", "oov-feature")];

/// Returns the long name of the section of the old format with the long or short name `name`.
pub(super) fn long_name(name: &str) -> Option<&'static str> {
    SECTIONS
        .iter()
        .find(|&&(long, short): &&(&str, &str)| {
            long == name || (!short.is_empty() && short == name)
        })
        .map(|&(long, _)| long)
}

/// Whether `name` is a section of the old format.
pub(super) fn is_section(name: &str) -> bool {
    SECTIONS.iter().any(|&(section, _)| section == name)
}

/// Converts sections of the old format; leaves the new format unchanged.
pub(super) fn convert(ini: &Path, parameters: &mut Parameters) -> Result<()> {
    let new = ["feature", "weight"].into_iter().find(|name| parameters.get(name).is_some());
    if new.is_some() {
        remove_key_sections(ini, parameters);
    }
    let old = SECTIONS.iter().find(|(name, _)| parameters.get(name).is_some());
    match (old, new) {
        (None, _) => Ok(()),
        (Some((old, _)), Some(new)) => {
            let reason = format!(
                "a section of the old format together with [{new}] of the new one; put the model into \
                 [feature] and its weights into [weight]"
            );
            Err(parameters.invalid_value(ini, old, reason))
        }
        (Some(_), None) => {
            let mut conversion = Conversion { ini, parameters, features: vec![], weights: vec![] };
            conversion.run()?;
            let Conversion { features, weights, .. } = conversion;
            *parameters.values_mut("feature") = features;
            *parameters.values_mut("weight") = weights;
            Ok(())
        }
    }
}

/// Removes the sections that have no effect together with `[feature]`, and warns about each.
fn remove_key_sections(ini: &Path, parameters: &mut Parameters) {
    for (section, key) in KEY_SECTIONS {
        if parameters.remove(section) {
            tracing::warn!(
                "{}, [{section}]: it has no effect together with [feature], as in Moses; give \
                 {key}= in a feature line instead (or -feature-overwrite \"NAME {key}=...\")",
                ini.display()
            );
        }
    }
}

struct Conversion<'a> {
    ini: &'a Path,
    parameters: &'a Parameters,
    features: Vec<String>,
    weights: Vec<String>,
}

impl Conversion<'_> {
    fn run(&mut self) -> Result<()> {
        for name in ["generation-file", "weight-generation"] {
            if self.parameters.get(name).is_some() {
                return self.fail(name, "generation steps are not available");
            }
        }
        for name in ["weight-i", "input-scores"] {
            if self.parameters.get(name).is_some() {
                let reason = "input scores belong to lattices and confusion networks, which are \
                              not available";
                return self.fail(name, reason);
            }
        }
        if self.parameters.get("weight-lr").is_some() {
            let reason = "put reordering weights into [weight-d], after the weight of the distance";
            return self.fail("weight-lr", reason);
        }
        self.convert_language_models()?;
        self.convert_reordering()?;
        self.convert_penalty("weight-p", "PhrasePenalty")?;
        self.convert_penalty("weight-w", "WordPenalty")?;
        if self.parameters.get("weight-w").is_none() {
            return self.fail("weight-w", "the section is missing: the weight of the word penalty");
        }
        self.convert_penalty("weight-u", "UnknownWordPenalty")?;
        if self.parameters.get("weight-u").is_none() {
            self.features.push("UnknownWordPenalty".into());
        }
        self.convert_tables()
    }

    /// Converts the lines `type factor order path`, with one weight each, or two if the model's
    /// unknown words are counted too.
    fn convert_language_models(&mut self) -> Result<()> {
        let mut weights = SectionWeights::new(self, "weight-l")?;
        let oov_features = self.oov_features()?;
        let models = self.values("lmodel-file");
        let surplus = oov_features.len().saturating_sub(models.len());
        self.warn_of_surplus("lmodel-oov-feature", surplus, "values");
        let mut counts: [(&str, usize); 3] = [("SRILM", 0), ("IRSTLM", 0), ("KENLM", 0)];
        for (i, line) in models.iter().enumerate() {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let [kind, factor, order, path] = fields[..] else {
                let reason = format!("{line:?} is not of the form `8 0 5 lm.arpa`");
                return self.fail("lmodel-file", reason);
            };
            let (kind, load) = match kind {
                "0" => (0, ""),
                "1" => (1, ""),
                "8" => (2, "lazyken=0 "),
                "9" => (2, "lazyken=1 "),
                _ => {
                    let reason = format!(
                        "{line:?}: type {kind} is not available; 8 and 9 are KenLM, 0 (SRILM) and \
                         1 (IRSTLM) are opened as ARPA"
                    );
                    return self.fail("lmodel-file", reason);
                }
            };
            let (number, oov) = match oov_features.get(i) {
                Some(true) => (2, "oov-feature=1 "),
                _ => (1, ""),
            };
            let (name, count) = &mut counts[kind];
            self.features.push(format!(
                "{name} factor={factor} order={order} num-features={number} {load}{oov}path={path}"
            ));
            self.weights.push(format!("{name}{count}={}", weights.take(self, number, line)?));
            *count += 1;
        }
        weights.finish(self);
        Ok(())
    }

    /// Returns for each language model whether it has a second weight, for unknown words.
    fn oov_features(&self) -> Result<Vec<bool>> {
        const NAME: &str = "lmodel-oov-feature";
        self.words(NAME)
            .iter()
            .map(|text| match &text[..] {
                "0" => Ok(false),
                "1" => Ok(true),
                _ => self.fail(NAME, format!("{text:?}: give 0 or 1 for each language model")),
            })
            .collect()
    }

    /// Converts the weight of distortion, then the lines `factors type number path` of reordering
    /// models, each with `number` weights.
    fn convert_reordering(&mut self) -> Result<()> {
        let mut weights = SectionWeights::new(self, "weight-d")?;
        if weights.is_given {
            self.features.push("Distortion".into());
            self.weights.push(format!("Distortion0={}", weights.take(self, 1, "the distance")?));
        }
        for (i, line) in self.values("distortion-file").iter().enumerate() {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let parsed = match fields[..] {
                [factors, kind, number, path] => factors
                    .split_once('-')
                    .zip(number.parse().ok())
                    .map(|(f, n)| (f, kind, n, path)),
                _ => None,
            };
            let Some(((input, output), kind, number, path)) = parsed else {
                let reason =
                    format!("{line:?} is not of the form `0-0 msd-bidirectional-fe 6 FILE`");
                return self.fail("distortion-file", reason);
            };
            self.features.push(format!(
                "LexicalReordering type={kind} input-factor={input} output-factor={output} \
                 num-features={number} path={path}"
            ));
            let weights = weights.take(self, number, line)?;
            self.weights.push(format!("LexicalReordering{i}={weights}"));
        }
        weights.finish(self);
        Ok(())
    }

    /// Converts a feature with one weight, if the weight is given.
    fn convert_penalty(&mut self, section: &str, feature: &str) -> Result<()> {
        let mut weights = SectionWeights::new(self, section)?;
        if weights.is_given {
            self.features.push(feature.to_owned());
            self.weights.push(format!("{feature}0={}", weights.take(self, 1, feature)?));
        }
        weights.finish(self);
        Ok(())
    }

    /// Converts the lines `type input-factors output-factors number path`, with `number` weights
    /// each.
    fn convert_tables(&mut self) -> Result<()> {
        let mut weights = SectionWeights::new(self, "weight-t")?;
        let lines = self.values("ttable-file");
        let limits = self.words("ttable-limit");
        // A single limit applies to all tables.
        if limits.len() > 1 && limits.len() < lines.len() {
            let reason = format!("{} limits for {} tables", limits.len(), lines.len());
            return self.fail("ttable-limit", reason);
        }
        self.warn_of_surplus("ttable-limit", limits.len().saturating_sub(lines.len()), "limits");
        for (i, line) in lines.iter().enumerate() {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let [kind, input, output, number, path, ..] = fields[..] else {
                let reason = format!("{line:?} is not of the form `0 0 0 4 phrase-table.gz`");
                return self.fail("ttable-file", reason);
            };
            let unavailable = match kind {
                "0" | "6" => None,
                "1" => Some("a binary table of Moses 1"),
                "2" => Some("an on-disk table"),
                "8" | "14" => Some("a suffix-array table"),
                "12" => Some("a compact table"),
                "15" => Some("a cache-based table"),
                _ => Some("unknown"),
            };
            if let Some(what) = unavailable {
                let reason = format!(
                    "{line:?}: type {kind} is {what}, which is not available; use type 0 with the \
                     text table, or ProbingPT in a [feature] line"
                );
                return self.fail("ttable-file", reason);
            }
            let Ok(number) = number.parse::<usize>() else {
                return self.fail("ttable-file", format!("{line:?}: {number:?} is not a number"));
            };
            let limit = match limits.get(i).or(limits.first()) {
                Some(limit) => format!(" table-limit={limit}"),
                None => String::new(),
            };
            self.features.push(format!(
                "PhraseDictionaryMemory input-factor={input} output-factor={output} path={path} \
                 num-features={number}{limit}"
            ));
            let weights = weights.take(self, number, line)?;
            self.weights.push(format!("PhraseDictionaryMemory{i}={weights}"));
        }
        weights.finish(self);
        Ok(())
    }

    fn values(&self, name: &str) -> Vec<String> {
        self.parameters.get(name).unwrap_or_default().to_vec()
    }

    /// Returns the values of `name`: one per line, or several separated by blanks.
    fn words(&self, name: &str) -> Vec<String> {
        let values = self.parameters.get(name).unwrap_or_default().iter();
        values.flat_map(|value| value.split_ascii_whitespace()).map(str::to_owned).collect()
    }

    fn fail<T>(&self, name: &str, reason: impl Into<String>) -> Result<T> {
        Err(self.parameters.invalid_value(self.ini, name, reason))
    }

    /// Warns about `count` values of the section `name`, called `what`, that no model uses.
    fn warn_of_surplus(&self, name: &str, count: usize, what: &str) {
        if count > 0 {
            tracing::warn!(
                "{}, [{name}]: {count} superfluous {what} are ignored",
                self.ini.display()
            );
        }
    }
}

/// The weights of a section, handed out in order.
struct SectionWeights {
    section: String,
    is_given: bool,
    values: std::vec::IntoIter<f32>,
}

impl SectionWeights {
    fn new(conversion: &Conversion<'_>, section: &str) -> Result<Self> {
        let mut values = Vec::new();
        for text in conversion.words(section) {
            match text.parse::<f32>() {
                Ok(weight) if weight.is_finite() => values.push(weight),
                _ => return conversion.fail(section, format!("{text:?} is not a number")),
            }
        }
        let is_given = conversion.parameters.get(section).is_some();
        Ok(SectionWeights { section: section.to_owned(), is_given, values: values.into_iter() })
    }

    /// Returns the next `number` weights in the form of a weight line.
    fn take(&mut self, conversion: &Conversion<'_>, number: usize, what: &str) -> Result<String> {
        let mut text = Vec::new();
        for _ in 0..number {
            let Some(weight) = self.values.next() else {
                let reason = format!("too few weights: {what} needs {number}");
                return conversion.fail(&self.section, reason);
            };
            text.push(b' ');
            number::push_general(&mut text, f64::from(weight));
        }
        Ok(String::from_utf8(text).expect("numbers are ASCII"))
    }

    /// Warns about unused weights, unlike Moses2.
    fn finish(self, conversion: &Conversion<'_>) {
        conversion.warn_of_surplus(&self.section, self.values.len(), "weights");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(sections: &[(&str, &[&str])]) -> Parameters {
        let mut parameters = Parameters::default();
        for (name, values) in sections {
            parameters.values_mut(name).extend(values.iter().map(|v| (*v).to_owned()));
        }
        parameters
    }

    const ALL: &[(&str, &[&str])] = &[
        ("ttable-file", &["0 0 0 2 pt", "6 0 0 1 glue"]),
        ("ttable-limit", &["7"]),
        ("weight-t", &["0.1", "0.2", "0.3"]),
        ("lmodel-file", &["8 0 5 a.arpa", "1 0 3 b.blm", "9 0 4 c"]),
        ("weight-l", &["0.123456789", "0.5", "1e-7"]),
        ("distortion-file", &["0-0 msd-bidirectional-fe 3 ro"]),
        ("weight-d", &["0.6", "1", "2", "3"]),
        ("weight-w", &["-1"]),
        ("weight-p", &["0.2"]),
        ("weight-u", &["0.9"]),
    ];

    /// The order and the digits are those of Moses2's conversion.
    #[test]
    fn every_section_becomes_its_lines() {
        let mut parameters = parameters(ALL);
        convert(Path::new("ini"), &mut parameters).unwrap();
        assert_eq!(
            parameters.get("feature").unwrap(),
            [
                "KENLM factor=0 order=5 num-features=1 lazyken=0 path=a.arpa",
                "IRSTLM factor=0 order=3 num-features=1 path=b.blm",
                "KENLM factor=0 order=4 num-features=1 lazyken=1 path=c",
                "Distortion",
                "LexicalReordering type=msd-bidirectional-fe input-factor=0 output-factor=0 \
                 num-features=3 path=ro",
                "PhrasePenalty",
                "WordPenalty",
                "UnknownWordPenalty",
                "PhraseDictionaryMemory input-factor=0 output-factor=0 path=pt num-features=2 \
                 table-limit=7",
                "PhraseDictionaryMemory input-factor=0 output-factor=0 path=glue num-features=1 \
                 table-limit=7",
            ]
        );
        assert_eq!(
            parameters.get("weight").unwrap(),
            [
                "KENLM0= 0.123457",
                "IRSTLM0= 0.5",
                "KENLM1= 1e-07",
                "Distortion0= 0.6",
                "LexicalReordering0= 1 2 3",
                "PhrasePenalty0= 0.2",
                "WordPenalty0= -1",
                "UnknownWordPenalty0= 0.9",
                "PhraseDictionaryMemory0= 0.1 0.2",
                "PhraseDictionaryMemory1= 0.3",
            ]
        );
    }

    #[test]
    fn complaints_name_the_section() {
        let message = |section: &str, values: &[&str]| {
            let mut parameters = parameters(ALL);
            *parameters.values_mut(section) = values.iter().map(|v| (*v).to_owned()).collect();
            convert(Path::new("ini"), &mut parameters).unwrap_err().to_string()
        };
        for (section, values, named) in [
            ("weight-t", &["0.1"][..], "[weight-t]: too few"),
            ("weight-l", &["a"], "[weight-l]"),
            ("weight-d", &[], "[weight-d]"),
            ("ttable-file", &["12 0 0 3 pt"], "compact"),
            ("ttable-file", &["0 0 3 pt"], "[ttable-file]"),
            ("ttable-file", &["0 0 0 x pt"], "[ttable-file]"),
            ("lmodel-file", &["5 0 3 lm"], "type 5"),
            ("lmodel-file", &["8 0 lm"], "[lmodel-file]"),
            ("distortion-file", &["0 msd 3 ro"], "[distortion-file]"),
            ("generation-file", &["0 1 2 gen"], "generation"),
            ("weight-i", &["1"], "lattices"),
            ("weight-lr", &["1"], "[weight-d]"),
            ("feature", &["WordPenalty"], "old format"),
            ("lmodel-oov-feature", &["2"], "[lmodel-oov-feature]"),
        ] {
            let message = message(section, values);
            assert!(message.contains(named), "{section}: {message}");
        }
        let mut two = parameters(ALL);
        two.values_mut("ttable-file").push("0 0 0 1 third".into());
        two.values_mut("ttable-limit").push("8".into());
        let message = convert(Path::new("ini"), &mut two).unwrap_err().to_string();
        assert!(message.contains("2 limits for 3 tables"), "{message}");
    }

    /// As in Moses, a model whose unknown words are counted too has two weights.
    #[test]
    fn unknown_words_of_language_models_have_a_weight_of_their_own() {
        let mut parameters = parameters(ALL);
        parameters.values_mut("lmodel-oov-feature").push("0 1".into());
        *parameters.values_mut("weight-l") = vec!["0.1 0.2".into(), "0.3".into(), "0.4".into()];
        convert(Path::new("ini"), &mut parameters).unwrap();
        let features = parameters.get("feature").unwrap();
        assert_eq!(features[1], "IRSTLM factor=0 order=3 num-features=2 oov-feature=1 path=b.blm");
        assert!(features[0].contains("num-features=1"), "{features:?}");
        let weights = parameters.get("weight").unwrap();
        assert_eq!(weights[..3], ["KENLM0= 0.1", "IRSTLM0= 0.2 0.3", "KENLM1= 0.4"]);
    }

    /// As in Moses, an ini with `[feature]` may have the sections [`KEY_SECTIONS`], but no other
    /// section of the old format.
    #[test]
    fn sections_of_keys_have_no_effect_together_with_features() {
        let mut parameters = parameters(&[
            ("feature", &["WordPenalty"]),
            ("ttable-limit", &["20"]),
            ("lmodel-oov-feature", &["1"]),
        ]);
        convert(Path::new("ini"), &mut parameters).unwrap();
        assert_eq!(parameters.get("feature").unwrap(), ["WordPenalty"]);
        assert!(parameters.get("ttable-limit").is_none());
        parameters.values_mut("ttable-file").push("0 0 0 1 pt".into());
        assert!(convert(Path::new("ini"), &mut parameters).is_err());
    }

    #[test]
    fn the_new_format_is_left_alone() {
        let mut parameters = parameters(&[("feature", &["WordPenalty"])]);
        convert(Path::new("ini"), &mut parameters).unwrap();
        assert_eq!(parameters.get("feature").unwrap(), ["WordPenalty"]);
        assert!(parameters.get("weight").is_none());
    }
}
