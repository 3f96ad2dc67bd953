//! Folders of Firefox and other browsers (`neural.md` 1.5): a configuration, a model such as
//! `model.deen.intgemm.alphas.bin`, and its files. These are the vocabulary `vocab.deen.spm`, or
//! `srcvocab.deen.spm` and `trgvocab.deen.spm`, and the shortlist `lex.50.50.deen.s2t.bin`. Each
//! file may be compressed.
//!
//! A folder may have models of several directions: files named after another language pair do not
//! belong to the model.

use std::path::{Path, PathBuf};

use super::files;
use crate::{Error, Result, compressed};

/// Whether `folder` has the configuration of a model that was packed for browsers. Such folders are
/// read like others of Marian's family.
pub fn is_folder(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    find_configuration(folder, &names.collect::<Vec<String>>()).is_some()
}

/// Finds the decoder configuration of a folder with the files `names`.
pub fn find_configuration(folder: &Path, names: &[String]) -> Option<PathBuf> {
    let mut all = names.iter().filter(|name| name.starts_with("config.") && name.ends_with(".yml"));
    let usual = folder.join("config.intgemm8bitalpha.yml");
    if usual.is_file() {
        return Some(usual);
    }
    all.next().filter(|_| all.next().is_none()).map(|only| folder.join(only))
}

/// The vocabularies and the shortlist of a model. An error counts only if the user neither names the
/// file nor does without it.
pub struct FirefoxFiles {
    pub vocabularies: Result<Option<[PathBuf; 2]>>,
    pub shortlist: Result<Option<PathBuf>>,
}

/// Finds the vocabularies and the shortlist in the folder of `model`.
///
/// # Errors
/// If the folder cannot be listed.
pub fn find_beside(model: &Path) -> Result<FirefoxFiles> {
    let folder = model.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let names = files::file_names(folder)?;
    let model_name = model.file_name().unwrap_or_default().to_string_lossy();
    Ok(find_among(&names, &model_name, folder))
}

fn find_among(names: &[String], model: &str, folder: &Path) -> FirefoxFiles {
    let pair = language_pair(model);
    // Both directions of a pair may share a vocabulary, which is then named after one of them.
    let reversed = pair.filter(|pair| pair.len() == 4 && pair.is_ascii());
    let reversed = reversed.map(|pair| format!("{}{}", &pair[2..], &pair[..2]));
    let only = |prefix: &str, suffixes: &[&str]| -> Result<Option<PathBuf>> {
        let all = names.iter().map(String::as_str).filter(|name: &&str| {
            let plain = compressed::plain_path(Path::new(name)).display().to_string();
            let rest = plain.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.'));
            rest && suffixes.iter().any(|suffix| plain.ends_with(suffix))
        });
        let all = compressed::without_duplicates(all);
        fn has_pair(name: &str, pair: &Option<&str>) -> bool {
            pair.is_some_and(|pair| name.split('.').any(|p| p == pair))
        }
        let (others, all): (Vec<&str>, Vec<&str>) = all.into_iter().partition(|name| {
            pair.is_some_and(|pair| names_another_pair(name, pair)) && !has_pair(name, &pair)
        });
        let pair_files: Vec<&str> =
            all.iter().copied().filter(|name| has_pair(name, &pair)).collect();
        let mut reversed_files = others.clone();
        reversed_files.retain(|name| prefix == "vocab" && has_pair(name, &reversed.as_deref()));
        let candidates = [pair_files, all, reversed_files];
        let candidates = candidates.into_iter().find(|names| !names.is_empty());
        match &candidates.unwrap_or_default()[..] {
            [] if prefix == "vocab" && !others.is_empty() => {
                let others = others.join(", ");
                let reason = format!(
                    "{others}: the language pair differs from that of {model}; if it belongs to the \
                 model all the same, name it with --vocabs"
                );
                Err(Error::unsupported(&folder.join(model), reason))
            }
            [] => Ok(None),
            [one] => Ok(Some(folder.join(one))),
            several => {
                let reason = format!(
                    "{} could each belong to it; name one with {}",
                    several.join(", "),
                    if prefix == "lex" { "--shortlist" } else { "--vocabs" }
                );
                Err(Error::unsupported(&folder.join(model), reason))
            }
        }
    };
    const PIECES: [&str; 2] = [".spm", ".model"];
    let find_vocabularies = || {
        Ok(match (only("srcvocab", &PIECES)?, only("trgvocab", &PIECES)?) {
            (Some(source), Some(target)) => Some([source, target]),
            _ => only("vocab", &PIECES)?.map(|both| [both.clone(), both]),
        })
    };
    FirefoxFiles { vocabularies: find_vocabularies(), shortlist: only("lex", &[".s2t.bin"]) }
}

/// Returns `deen` of `model.deen.intgemm.alphas.bin`.
fn language_pair(model: &str) -> Option<&str> {
    let mut parts = model.split('.');
    let pair = parts.next().filter(|part| part.starts_with("model")).and(parts.next())?;
    let is_kind = pair.starts_with("intgemm") || pair == "bin" || parts.next().is_none();
    (!is_kind).then_some(pair)
}

/// Whether a part of a name such as `lex.50.50.fren.s2t.bin` is another language pair. It must
/// share a language with `pair`, because other four letters may be a word such as `base` or `tiny`.
fn names_another_pair(name: &str, pair: &str) -> bool {
    let (Some(from), Some(to)) = (pair.get(..2), pair.get(pair.len().saturating_sub(2)..)) else {
        return false;
    };
    name.split('.').skip(1).any(|part| {
        fn has(language: &str, part: &str) -> bool {
            part.starts_with(language) || part.ends_with(language)
        }
        part.len() == 4
            && part != pair
            && part.bytes().all(|byte| byte.is_ascii_lowercase())
            && (has(from, part) || has(to, part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vocabularies of source and target, and a shortlist.
    type Found = (Option<[PathBuf; 2]>, Option<PathBuf>);

    fn find(names: &[&str], model: &str) -> Result<Found> {
        let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
        let found = find_among(&names, model, Path::new("d"));
        Ok((found.vocabularies?, found.shortlist?))
    }

    fn files(source: &str, target: &str, shortlist: Option<&str>) -> Found {
        let path = |name: &str| Path::new("d").join(name);
        (Some([path(source), path(target)]), shortlist.map(path))
    }

    #[test]
    fn files_of_the_pair_of_languages_are_found() {
        let both = [
            "lex.50.50.deen.s2t.bin",
            "lex.50.50.ende.s2t.bin",
            "model.deen.intgemm.alphas.bin",
            "model.ende.intgemm.alphas.bin",
            "vocab.deen.spm",
            "vocab.ende.spm",
        ];
        let found = find(&both, "model.ende.intgemm.alphas.bin").unwrap();
        let list = Some("lex.50.50.ende.s2t.bin");
        assert_eq!(found, files("vocab.ende.spm", "vocab.ende.spm", list));
        let separate =
            ["srcvocab.enzh.spm.gz", "trgvocab.enzh.spm.gz", "lex.50.50.enzh.s2t.bin.gz"];
        let found = find(&separate, "model.enzh.intgemm.alphas.bin.gz").unwrap();
        assert_eq!(found, files(separate[0], separate[1], Some(separate[2])));
        // Students of browsermt: the names of the model and of the list have no pair.
        let student = ["lex.s2t.bin", "lex.s2t.gz", "model.intgemm.alphas.bin", "vocab.deen.spm"];
        let found = find(&student, "model.intgemm.alphas.bin").unwrap();
        assert_eq!(found, files("vocab.deen.spm", "vocab.deen.spm", Some("lex.s2t.bin")));
        // Plain and compressed: one file.
        let found = find(&["vocab.deen.spm", "vocab.deen.spm.zst"], "model.deen.intgemm.bin");
        assert_eq!(found.unwrap(), files("vocab.deen.spm", "vocab.deen.spm", None));
        assert_eq!(find(&["vocabulary.txt"], "m.bin").unwrap(), (None, None));
    }

    #[test]
    fn files_of_another_pair_are_not_taken() {
        let model = "model.deen.intgemm.alphas.bin";
        let error = find(&["lex.50.50.fren.s2t.bin", "vocab.fren.spm"], model).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(model) && error.contains("vocab.fren.spm"), "{error}");
        assert!(error.contains("--vocabs"), "{error}");
        let own = ["lex.50.50.ende.s2t.bin", "vocab.deen.spm", "vocab.ende.spm"];
        assert_eq!(find(&own, model).unwrap(), files(own[1], own[1], None));
        let joint = ["lex.50.50.s2t.bin", "vocab.joint.spm"];
        assert_eq!(find(&joint, model).unwrap(), files(joint[1], joint[1], Some(joint[0])));
        let separate = ["srcvocab.ende.spm", "trgvocab.ende.spm"];
        assert_eq!(find(&separate, model).unwrap(), (None, None));
    }

    #[test]
    fn a_vocabulary_of_the_other_direction_serves_both() {
        let shared = ["lex.50.50.deen.s2t.bin", "lex.50.50.ende.s2t.bin", "vocab.ende.spm"];
        let found = find(&shared, "model.deen.intgemm.alphas.bin").unwrap();
        assert_eq!(found, files(shared[2], shared[2], Some(shared[0])));
        let other = ["vocab.ende.spm", "vocab.fren.spm"];
        let found = find(&other, "model.deen.intgemm.alphas.bin").unwrap();
        assert_eq!(found, files(other[0], other[0], None));
    }

    #[test]
    fn ambiguous_vocabularies_are_reported() {
        let error = find(&["vocab.deen.spm", "vocab.ende.spm"], "model.bin").unwrap_err();
        let error = error.to_string();
        assert!(error.contains("d/model.bin") && error.contains("vocab.deen.spm"), "{error}");
        assert!(error.contains("--vocabs"), "{error}");
    }

    #[test]
    fn the_pair_is_the_second_part_of_a_name() {
        for (name, pair) in [
            ("model.deen.intgemm.alphas.bin", Some("deen")),
            ("model1.ende.intgemm8.bin.gz", Some("ende")),
            ("model.intgemm.alphas.bin", None),
            ("model.bin", None),
            ("model.bin.gz", None),
            ("tr-post.intgemm8.bin", None),
        ] {
            assert_eq!(language_pair(name), pair, "{name}");
        }
    }
}
