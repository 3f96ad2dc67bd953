//! Copy of the preparation of raw text, for a new ini in another folder.
//!
//! The preparation is a file `preparation` beside the ini, and the files that it names: truecase
//! models and lists of nonbreaking prefixes. Without a copy beside the new ini, raw text would be
//! translated as if it were tokenised.

use std::fs;
use std::path::{Path, PathBuf};

use miriam_storage::partial_file::is_special;
use miriam_textio::Output;
use miriam_textproc::TextProcessorConfig;

use crate::config::Configuration;
use crate::{Error, Result};

/// The files of a copy, which are not written yet.
pub struct PreparationCopy {
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl PreparationCopy {
    /// Returns the files to be written next to `output`, a new ini for the system of
    /// `configuration`. Returns `None` if the system does not prepare raw text, or if `output` is
    /// in the same folder or is not a file.
    ///
    /// # Errors
    /// If a file cannot be read, or if the system does not prepare raw text, but a file next to
    /// `output` would make it do so.
    pub fn plan(configuration: &Configuration, output: &Path) -> Result<Option<Self>> {
        if output.as_os_str() == "-" || is_special(output) {
            return Ok(None);
        }
        let from = TextProcessorConfig::path_beside(&configuration.ini);
        let to = TextProcessorConfig::path_beside(output);
        let is_same =
            from.canonicalize().ok().is_some_and(|from| to.canonicalize().ok() == Some(from));
        if is_same {
            return Ok(None);
        }
        if !from.is_file() {
            return if to.is_file() { Err(foreign_file(&to)) } else { Ok(None) };
        }
        let folder = to.parent().unwrap_or(Path::new(""));
        // A copy must replace neither the new ini nor the new file `preparation`.
        let reserved = [output.file_name(), to.file_name()];
        let mut steps = TextProcessorConfig::read(&from)
            .map_err(|e| Error::configuration(from.display().to_string(), e.to_string()))?;
        let mut copies: Vec<(PathBuf, PathBuf)> = Vec::new();
        let mut files = Vec::new();
        for file in steps.files_mut() {
            let mut name = PathBuf::from(file.file_name().unwrap_or_default());
            // Files of two folders may have the same name, mostly those of source and target.
            while reserved.contains(&Some(name.as_os_str()))
                || copies.iter().any(|(original, copy)| *copy == name && original != file)
            {
                name = PathBuf::from(format!("target-{}", name.display()));
            }
            let content = fs::read(&*file)
                .map_err(|e| miriam_textio::Error::io(&file.display().to_string(), "read", e))?;
            files.push((folder.join(&name), content));
            copies.push((std::mem::replace(file, name.clone()), name));
        }
        files.push((to, steps.to_text().into_bytes()));
        Ok(Some(PreparationCopy { files }))
    }

    /// Checks that no file with other contents would be replaced.
    ///
    /// # Errors
    /// If such a file exists.
    pub fn check_targets(&self) -> Result<()> {
        let Some((path, _)) = self.files.iter().find(|(path, content): &&(PathBuf, Vec<u8>)| {
            fs::read(path).is_ok_and(|found| found != *content)
        }) else {
            return Ok(());
        };
        Err(foreign_file(path))
    }

    /// Writes the files.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn write(&self) -> Result<()> {
        for (path, content) in &self.files {
            // The bytes are written unchanged, even if the name is that of a compressed file.
            let mut file = Output::create_precompressed(path)?;
            file.write(content)?;
            file.finish()?;
        }
        Ok(())
    }
}

fn foreign_file(path: &Path) -> Error {
    let reason = "it belongs to another system, or to this one as it was before; write the ini \
                  into a folder of its own, or remove the file";
    Error::configuration(path.display().to_string(), reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_replace_neither_each_other_nor_the_ini() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new, models] = ["old", "new", "models"].map(|name| folder.path().join(name));
        for path in [&old, &new, &models] {
            fs::create_dir(path).unwrap();
        }
        let ini = "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\n\
                   PhraseDictionaryMemory name=Table num-features=1 path=phrase-table\n\
                   [weight]\nUnknownWordPenalty0= 1\nTable= 1\n";
        fs::write(old.join("moses.ini"), ini).unwrap();
        fs::write(old.join("phrase-table"), "haus ||| house ||| 0.5\n").unwrap();
        let steps = "tokenize de\nnonbreaking-prefixes ../models/preparation\n\
                     truecase ../models/moses.ini\ntarget-truecase truecase\n\
                     target-nonbreaking-prefixes ../models/truecase\n";
        fs::write(old.join("preparation"), steps).unwrap();
        fs::write(old.join("truecase"), "1").unwrap();
        for (name, text) in [("preparation", "2"), ("moses.ini", "3"), ("truecase", "4")] {
            fs::write(models.join(name), text).unwrap();
        }
        let configuration = Configuration::from_ini(&old.join("moses.ini")).unwrap();
        let output = new.join("moses.ini");
        let copy = PreparationCopy::plan(&configuration, &output).unwrap().unwrap();
        copy.check_targets().unwrap();
        copy.write().unwrap();
        assert!(!output.exists());
        let mut steps = TextProcessorConfig::read(&new.join("preparation")).unwrap();
        let mut texts: Vec<String> =
            steps.files_mut().map(|file| fs::read_to_string(file).unwrap()).collect();
        texts.sort();
        assert_eq!(texts, ["1", "2", "3", "4"]);
        copy.check_targets().unwrap();
        fs::write(new.join("truecase"), "5").unwrap();
        assert!(copy.check_targets().is_err());
    }
}
