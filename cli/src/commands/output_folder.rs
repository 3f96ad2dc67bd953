//! Folder of outputs, one for each input. An output gets its name only when it is complete, so
//! existing outputs are skipped, and a stopped run can be repeated.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use miriam_textio::is_same_file;

/// A folder of outputs.
pub struct OutputFolder<'p>(&'p Path);

/// Inputs that are read as one text, and the output for this text.
pub struct TextWithOutput {
    pub inputs: Vec<PathBuf>,
    pub output: PathBuf,
}

impl<'p> OutputFolder<'p> {
    /// Returns the folder `output` if it is an existing folder or its name ends in a slash.
    pub fn at(output: &'p Path) -> Option<Self> {
        let has_slash = output.as_os_str().as_encoded_bytes().ends_with(b"/");
        (has_slash || output.is_dir()).then_some(OutputFolder(output))
    }

    /// Returns each of `inputs` whose output is not complete, with this output, and the number of
    /// the other inputs, which are skipped. A missing folder is created.
    ///
    /// # Errors
    /// If the folder cannot be created, an input has no file name, two inputs have the same one, or
    /// an input would be overwritten.
    pub fn plan(&self, inputs: &[PathBuf]) -> anyhow::Result<(Vec<TextWithOutput>, usize)> {
        let folder = self.0.display();
        fs::create_dir_all(self.0).with_context(|| format!("{folder}: cannot create it"))?;
        let (mut texts, mut num_skipped) = (Vec::new(), 0);
        let mut input_by_name: BTreeMap<&std::ffi::OsStr, &Path> = BTreeMap::new();
        for input in inputs {
            let name = input.file_name().filter(|name| *name != "-");
            let Some(name) = name else {
                bail!(
                    "{}: it has no name for its output in the folder {folder}; give files, or a \
                     file to write",
                    miriam_textio::display_name(input)
                );
            };
            if let Some(other) = input_by_name.insert(name, input) {
                let (other, input) = (other.display(), input.display());
                bail!("{other} and {input} would have the same output in the folder {folder}");
            }
            let output = self.0.join(name);
            if is_same_file(input, &output) {
                bail!("{}: it is also the output; write to another folder", input.display());
            }
            if output.is_file() {
                num_skipped += 1;
                warn_if_newer(input, &output);
                continue;
            }
            texts.push(TextWithOutput { inputs: vec![input.clone()], output });
        }
        Ok((texts, num_skipped))
    }
}

fn warn_if_newer(input: &Path, output: &Path) {
    fn changed(path: &Path) -> Option<std::time::SystemTime> {
        path.metadata().and_then(|found| found.modified()).ok()
    }
    if changed(input).zip(changed(output)).is_some_and(|(input, output)| input > output) {
        let (input, output) = (input.display(), output.display());
        tracing::warn!(
            "{input} is newer than {output}, which is kept; remove it to write it again"
        );
    }
}
