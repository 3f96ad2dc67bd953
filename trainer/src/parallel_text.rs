//! Parallel text with annotations of its pairs: several files with one line per pair, or one file
//! with tab-separated fields.

use std::path::{Path, PathBuf};

use miriam_textio::ParallelLines;

use crate::data::{InvalidField, WeightScope};
use crate::error::{Error, Result};

/// A field of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The source.
    Source,
    /// The target.
    Target,
    /// The word alignment.
    Alignment,
    /// The weight or weights.
    Weights,
}

/// A file and the fields of its lines: one field, or several separated by tabs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFile {
    /// Its path; `-` for standard input.
    pub path: PathBuf,
    /// The fields of a line.
    pub fields: Vec<Field>,
}

/// The files of a parallel text, or of the text of a language model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParallelFiles {
    /// All files; together they have a source and a target, or a target alone.
    pub files: Vec<FieldFile>,
    /// The units that weights belong to, if there are any.
    pub weight_scope: WeightScope,
    /// Whether lines are tokens of the vocabulary, which are not segmented.
    pub is_tokenized: bool,
}

impl ParallelFiles {
    /// Creates a parallel text of one file per side.
    pub fn pair([source, target]: [PathBuf; 2]) -> Self {
        let source = FieldFile { path: source, fields: vec![Field::Source] };
        let mut pair = ParallelFiles::text(target);
        pair.files.insert(0, source);
        pair
    }

    /// Creates the text of a language model, which is its target.
    pub fn text(path: PathBuf) -> Self {
        ParallelFiles {
            files: vec![FieldFile { path, fields: vec![Field::Target] }],
            weight_scope: WeightScope::default(),
            is_tokenized: false,
        }
    }

    /// Whether there is a source.
    pub fn has_source(&self) -> bool {
        self.files.iter().any(|file| file.fields.contains(&Field::Source))
    }

    /// Returns the paths of all files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }

    /// Returns the paths of all files, for messages.
    pub fn describe(&self) -> String {
        let paths: Vec<String> = self.paths().map(|path| path.display().to_string()).collect();
        paths.join(" and ")
    }

    /// Whether one of the files is standard input.
    pub fn reads_stdin(&self) -> bool {
        self.paths().any(|path| path.as_os_str() == "-")
    }

    /// Returns the files of source and target, or the file of the target if there is no source.
    /// Returns `None` if a side is a tab-separated field or standard input.
    pub fn sides(&self) -> Option<Vec<PathBuf>> {
        let text = |field| {
            let file = self.files.iter().find(|file| file.fields == [field])?;
            (file.path.as_os_str() != "-").then(|| file.path.clone())
        };
        let source = if self.has_source() { Some(text(Field::Source)?) } else { None };
        Some(source.into_iter().chain([text(Field::Target)?]).collect())
    }
}

/// Reader of a parallel text, line by line.
pub(crate) struct ParallelText {
    files: ParallelLines,
    /// The fields of the lines of each file.
    fields: Vec<Vec<Field>>,
    texts: [Option<Vec<u8>>; 4],
    /// For each file, the lines that are not UTF-8: the number of the first one, and their count.
    not_utf8: Vec<(u64, u64)>,
}

impl ParallelText {
    pub fn open(files: &ParallelFiles) -> Result<Self> {
        let paths: Vec<&Path> = files.paths().collect();
        let fields: Vec<Vec<Field>> = files.files.iter().map(|file| file.fields.clone()).collect();
        let mut texts = [const { None }; 4];
        for &field in fields.iter().flatten() {
            texts[field as usize] = Some(Vec::new());
        }
        let not_utf8 = vec![(0, 0); paths.len()];
        Ok(ParallelText { files: ParallelLines::open(&paths)?, fields, texts, not_utf8 })
    }

    /// Advances to the next pair. Returns whether there is one.
    ///
    /// # Errors
    /// If a file cannot be read, has fewer lines than another, or has a line with the wrong number
    /// of fields.
    pub fn advance(&mut self) -> Result<bool> {
        let ParallelText { files, fields, texts, not_utf8 } = self;
        files.next(|file, name, line| {
            if std::str::from_utf8(line.bytes).is_err() {
                let (first, count) = &mut not_utf8[file];
                if *count == 0 {
                    *first = line.number;
                }
                *count += 1;
            }
            // Marian drops the CR of a line end too.
            let bytes = line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes);
            let fields = &fields[file];
            if fields.len() > 1 {
                let found = 1 + bytes.iter().filter(|byte| **byte == b'\t').count();
                if found != fields.len() {
                    let reason = format!(
                        "expected {} tab-separated fields per line, found {found}",
                        fields.len()
                    );
                    let error = miriam_textio::Error::format(name, line.number, None, reason);
                    return Err(error.into());
                }
            }
            for (&field, text) in
                fields.iter().zip(bytes.split(|byte| *byte == b'\t' && fields.len() > 1))
            {
                let into = texts[field as usize].get_or_insert_default();
                into.clear();
                into.extend_from_slice(text);
            }
            Ok(())
        })
    }

    /// Returns a field of the pair, or `None` if no file has it.
    pub fn text(&self, field: Field) -> Option<&[u8]> {
        self.texts[field as usize].as_deref()
    }

    /// Returns a warning for each file in which a line that was read is not UTF-8.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let files = self.files.names().iter().zip(&self.not_utf8);
        files.filter(|(_, (_, count))| *count > 0).map(|(name, (first, count))| {
            format!(
                "{name}, line {first}: not UTF-8 (such lines: {count}); convert the text, for \
                 example with iconv"
            )
        })
    }

    /// Returns the error for a field that does not match its pair. In tab-separated text the error
    /// has the number of the tab-separated field.
    pub fn invalid(&self, field: Field, (number, reason): InvalidField) -> Error {
        let mut files = self.files.names().iter().zip(&self.fields);
        let (name, number) = files
            .find_map(|(name, fields)| {
                let index = fields.iter().position(|known| *known == field)?;
                Some((&name[..], if fields.len() > 1 { index + 1 } else { number }))
            })
            .unwrap_or(("", number));
        let number = (number > 0).then_some(number);
        miriam_textio::Error::format(name, self.files.num_read(), number, reason).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_from_one_file_or_several() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let all = [Field::Source, Field::Target, Field::Alignment];
        let tsv = |text: &str| ParallelFiles {
            files: vec![FieldFile { path: write("tsv", text), fields: all.to_vec() }],
            weight_scope: WeightScope::Sentence,
            is_tokenized: false,
        };
        let several = ParallelFiles {
            files: vec![
                FieldFile { path: write("target", "x\ny z\n"), fields: vec![Field::Target] },
                FieldFile { path: write("source", "a\tb\nc\n"), fields: vec![Field::Source] },
                FieldFile { path: write("links", "0-0\n\n"), fields: vec![Field::Alignment] },
            ],
            weight_scope: WeightScope::Sentence,
            is_tokenized: false,
        };
        let read = |files: &ParallelFiles| -> Result<Vec<Vec<String>>> {
            let mut text = ParallelText::open(files)?;
            let mut pairs = Vec::new();
            while text.advance()? {
                assert_eq!(text.text(Field::Weights), None);
                let field = |field| String::from_utf8(text.text(field).unwrap().to_vec()).unwrap();
                pairs.push(all.map(field).to_vec());
            }
            Ok(pairs)
        };
        assert_eq!(read(&several).unwrap(), [["a\tb", "x", "0-0"], ["c", "y z", ""]]);
        assert_eq!(read(&tsv("a\tx\t0-0\nc\ty z\t\n")).unwrap()[1], ["c", "y z", ""]);
        assert_eq!(read(&tsv("a\tx\t0-0\r\n")).unwrap(), [["a", "x", "0-0"]]);
        let error = read(&tsv("a\tx\t0-0\nc\ty z\n")).unwrap_err().to_string();
        assert!(error.contains("tsv, line 2") && error.contains("found 2"), "{error}");
        assert!(read(&tsv("a\tx\t0-0\t0\n")).is_err());
        assert!(tsv("").sides().is_none() && several.sides().is_some());
        write("links", "0-0\n");
        let error = read(&several).unwrap_err().to_string();
        assert!(error.contains("links has 1:") && error.contains("target has 2 lines"), "{error}");
    }
}
