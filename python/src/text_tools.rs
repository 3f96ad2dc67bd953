//! `miriam.text`: text tools for single lines, and for many lines on all processors.

use std::path::{Path, PathBuf};

use miriam_textio::Output;
use miriam_textproc::sentencepiece::Encoding;
use miriam_textproc::{
    BpeCodes, BpeScratch, NonbreakingPrefixes, ProtectedPatterns, TruecaseModel, TruecaseTrainer,
};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::errors::os_error;
use crate::interrupt::run_interruptible;
use crate::lm::thread_count;
use crate::open::on_own_threads;
use crate::pickle::{Arguments, NewArguments, absolute_path};
use crate::text::{Lines, without_line_end};
use crate::warning::warn_if_unknown_language;

/// The number of lines between two checks for cancellation.
const PART_LINES: usize = 256;

/// Applies a tool to a line without its line end, and returns the output as a string.
fn change_line(line: &[u8], change: impl Fn(&[u8], &mut Vec<u8>)) -> String {
    let line = without_line_end(line);
    let mut out = Vec::with_capacity(line.len() + line.len() / 4);
    change(line, &mut out);
    into_string(out)
}

fn into_string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Applies a tool to many lines on `threads` threads (0: all).
fn map_lines<T: Send>(
    lines: &Bound<'_, PyAny>,
    threads: usize,
    map: impl Fn(&[u8]) -> T + Sync + Send,
) -> PyResult<Vec<T>> {
    let text = Lines::new(lines)?;
    let slices = text.slices()?;
    let slices = &slices[..];
    let threads = thread_count(threads)?;
    let mapped = run_interruptible(lines.py(), |stop| {
        on_own_threads(threads, || {
            let parts = slices.par_chunks(PART_LINES).flat_map_iter(|part| {
                if stop.is_cancelled() {
                    Vec::new()
                } else {
                    part.iter().map(|line| map(line)).collect::<Vec<T>>()
                }
            });
            parts.collect::<Vec<T>>()
        })
    })?;
    mapped.map_err(PyRuntimeError::new_err)
}

fn change_lines(
    lines: &Bound<'_, PyAny>,
    threads: usize,
    change: impl Fn(&[u8], &mut Vec<u8>) + Sync + Send,
) -> PyResult<Vec<String>> {
    map_lines(lines, threads, |line| change_line(line, &change))
}

fn prefixes(path: Option<&Path>) -> PyResult<Option<NonbreakingPrefixes>> {
    path.map(|path| NonbreakingPrefixes::read(path).map_err(os_error)).transpose()
}

/// Moses' tokeniser.
#[pyclass(frozen, module = "miriam.text")]
pub struct Tokenizer {
    tool: miriam_textproc::Tokenizer,
    arguments: NewArguments,
}

#[pymethods]
impl Tokenizer {
    /// Returns a tokeniser for `language`. `aggressive` splits words at hyphens, `escape` writes
    /// entities, `skip_markup` keeps lines of only markup. The files contain nonbreaking prefixes
    /// and protected patterns in Moses' format.
    #[new]
    #[pyo3(signature = (language="en", *, aggressive=false, escape=true, skip_markup=false,
                        nonbreaking_prefixes=None, protected=None))]
    fn new(
        py: Python<'_>,
        language: &str,
        aggressive: bool,
        escape: bool,
        skip_markup: bool,
        nonbreaking_prefixes: Option<PathBuf>,
        protected: Option<PathBuf>,
    ) -> PyResult<Self> {
        let mut tokenizer = miriam_textproc::Tokenizer::new(language)
            .aggressive(aggressive)
            .escape(escape)
            .skip_markup(skip_markup);
        match prefixes(nonbreaking_prefixes.as_deref())? {
            Some(prefixes) => tokenizer = tokenizer.with_nonbreaking_prefixes(prefixes),
            None => warn_if_unknown_language(py, language)?,
        }
        if let Some(file) = &protected {
            let patterns = ProtectedPatterns::read(file).map_err(os_error)?;
            tokenizer = tokenizer.with_protected_patterns(patterns);
        }
        let [nonbreaking_prefixes, protected] =
            [nonbreaking_prefixes, protected].map(|path| path.as_deref().map(absolute_path));
        let keywords = [
            ("aggressive", aggressive.into_bound_py_any(py)?),
            ("escape", escape.into_bound_py_any(py)?),
            ("skip_markup", skip_markup.into_bound_py_any(py)?),
            ("nonbreaking_prefixes", nonbreaking_prefixes.into_bound_py_any(py)?),
            ("protected", protected.into_bound_py_any(py)?),
        ];
        let arguments = NewArguments::new(py, language, &keywords)?;
        Ok(Tokenizer { tool: tokenizer, arguments })
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<Arguments<'py>> {
        self.arguments.to_python(py)
    }

    /// Returns the tokens of a line, separated by spaces.
    fn tokenize(&self, line: &str) -> String {
        change_line(line.as_bytes(), |line, out| self.tool.tokenize(line, out))
    }

    /// Applies `tokenize` to many lines.
    #[pyo3(signature = (lines, *, threads=0))]
    fn tokenize_many(&self, lines: &Bound<'_, PyAny>, threads: usize) -> PyResult<Vec<String>> {
        change_lines(lines, threads, |line, out| self.tool.tokenize(line, out))
    }
}

/// Moses' detokeniser.
#[pyclass(frozen, module = "miriam.text")]
pub struct Detokenizer {
    tool: miriam_textproc::Detokenizer,
    arguments: NewArguments,
}

#[pymethods]
impl Detokenizer {
    /// Returns a detokeniser for `language`; with `capitalize`, lines begin with a capital letter.
    #[new]
    #[pyo3(signature = (language="en", *, capitalize=false))]
    fn new(py: Python<'_>, language: &str, capitalize: bool) -> PyResult<Self> {
        let keywords = [("capitalize", capitalize.into_bound_py_any(py)?)];
        Ok(Detokenizer {
            tool: miriam_textproc::Detokenizer::new(language).capitalize(capitalize),
            arguments: NewArguments::new(py, language, &keywords)?,
        })
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<Arguments<'py>> {
        self.arguments.to_python(py)
    }

    /// Returns the text of tokens that are separated by spaces.
    fn detokenize(&self, line: &str) -> String {
        change_line(line.as_bytes(), |line, out| self.tool.detokenize(line, out))
    }

    /// Applies `detokenize` to many lines.
    #[pyo3(signature = (lines, *, threads=0))]
    fn detokenize_many(&self, lines: &Bound<'_, PyAny>, threads: usize) -> PyResult<Vec<String>> {
        change_lines(lines, threads, |line, out| self.tool.detokenize(line, out))
    }
}

/// Moses' normaliser of punctuation.
#[pyclass(frozen, module = "miriam.text")]
pub struct PunctuationNormalizer {
    tool: miriam_textproc::PunctuationNormalizer,
    arguments: NewArguments,
}

#[pymethods]
impl PunctuationNormalizer {
    /// Returns a normaliser for `language`.
    #[new]
    #[pyo3(signature = (language="en"))]
    fn new(py: Python<'_>, language: &str) -> PyResult<Self> {
        Ok(PunctuationNormalizer {
            tool: miriam_textproc::PunctuationNormalizer::new(language),
            arguments: NewArguments::new(py, language, &[])?,
        })
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<Arguments<'py>> {
        self.arguments.to_python(py)
    }

    /// Returns a line with uniform quotation marks, dashes and spaces.
    fn normalize(&self, line: &str) -> String {
        change_line(line.as_bytes(), |line, out| self.tool.normalize(line, out))
    }

    /// Applies `normalize` to many lines.
    #[pyo3(signature = (lines, *, threads=0))]
    fn normalize_many(&self, lines: &Bound<'_, PyAny>, threads: usize) -> PyResult<Vec<String>> {
        change_lines(lines, threads, |line, out| self.tool.normalize(line, out))
    }
}

/// Moses' truecaser.
#[pyclass(frozen, module = "miriam.text")]
pub struct Truecaser {
    model: TruecaseModel,
    arguments: NewArguments,
}

#[pymethods]
impl Truecaser {
    /// Reads the model at `path`, in Moses' format.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let model = TruecaseModel::read(&path).map_err(os_error)?;
        Truecaser::from_model(py, model, &path)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<Arguments<'py>> {
        self.arguments.to_python(py)
    }

    /// Counts the casings of words in tokenised lines, writes a model to the file `model` like
    /// `miriam truecase --train`, and returns its truecaser. With `use_first_token`, first words of
    /// sentences count too if they have no capital letter.
    #[staticmethod]
    #[pyo3(signature = (lines, model, *, use_first_token=false))]
    fn train(
        py: Python<'_>,
        lines: &Bound<'_, PyAny>,
        model: PathBuf,
        use_first_token: bool,
    ) -> PyResult<Self> {
        let lines = Lines::new(lines)?;
        let slices = lines.slices()?;
        let slices = &slices[..];
        let text = run_interruptible(py, |stop| {
            let mut trainer = TruecaseTrainer::new(use_first_token);
            for part in slices.chunks(PART_LINES).take_while(|_| !stop.is_cancelled()) {
                part.iter().for_each(|line| trainer.add_line(line));
            }
            let mut text = Vec::new();
            trainer.write_model(&mut text);
            text
        })?;
        Output::write_file(&model, &text).map_err(os_error)?;
        let name = model.display().to_string();
        let truecase_model = TruecaseModel::from_text(&text, &name).map_err(os_error)?;
        Truecaser::from_model(py, truecase_model, &model)
    }

    /// Returns the truecased tokens of a line; with `caseless`, all tokens are changed, for text
    /// without casing.
    #[pyo3(signature = (line, *, caseless=false))]
    fn truecase(&self, line: &str, caseless: bool) -> String {
        change_line(line.as_bytes(), |line, out| self.change(line, caseless, out))
    }

    /// Applies `truecase` to many lines.
    #[pyo3(signature = (lines, *, caseless=false, threads=0))]
    fn truecase_many(
        &self,
        lines: &Bound<'_, PyAny>,
        caseless: bool,
        threads: usize,
    ) -> PyResult<Vec<String>> {
        change_lines(lines, threads, |line, out| self.change(line, caseless, out))
    }
}

impl Truecaser {
    /// Returns the truecaser of a model that is in the file `path`.
    fn from_model(py: Python<'_>, model: TruecaseModel, path: &Path) -> PyResult<Self> {
        Ok(Truecaser { model, arguments: NewArguments::new(py, absolute_path(path), &[])? })
    }

    fn change(&self, line: &[u8], caseless: bool, out: &mut Vec<u8>) {
        if caseless {
            self.model.truecase_caseless(line, out)
        } else {
            self.model.truecase(line, out)
        }
    }
}

/// Returns a line with a capital letter at the beginning of each sentence.
#[pyfunction]
pub fn detruecase(line: &str) -> String {
    change_line(line.as_bytes(), miriam_textproc::detruecase)
}

/// A splitter of running text into sentences.
#[pyclass(frozen, module = "miriam.text")]
pub struct SentenceSplitter {
    tool: miriam_textproc::SentenceSplitter,
    arguments: NewArguments,
}

#[pymethods]
impl SentenceSplitter {
    /// Returns a splitter for `language`, or with the nonbreaking prefixes of a file.
    #[new]
    #[pyo3(signature = (language="en", *, nonbreaking_prefixes=None))]
    fn new(
        py: Python<'_>,
        language: &str,
        nonbreaking_prefixes: Option<PathBuf>,
    ) -> PyResult<Self> {
        let tool = match prefixes(nonbreaking_prefixes.as_deref())? {
            Some(prefixes) => miriam_textproc::SentenceSplitter::with_prefixes(language, prefixes),
            None => {
                warn_if_unknown_language(py, language)?;
                miriam_textproc::SentenceSplitter::new(language)
            }
        };
        let nonbreaking_prefixes = nonbreaking_prefixes.as_deref().map(absolute_path);
        let keywords = [("nonbreaking_prefixes", nonbreaking_prefixes.into_bound_py_any(py)?)];
        let arguments = NewArguments::new(py, language, &keywords)?;
        Ok(SentenceSplitter { tool, arguments })
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<Arguments<'py>> {
        self.arguments.to_python(py)
    }

    /// Returns the sentences of a text; none continues on the next line.
    fn split(&self, text: &str) -> Vec<String> {
        self.sentences(text.as_bytes())
    }

    /// Applies `split` to many texts.
    #[pyo3(signature = (texts, *, threads=0))]
    fn split_many(&self, texts: &Bound<'_, PyAny>, threads: usize) -> PyResult<Vec<Vec<String>>> {
        map_lines(texts, threads, |text| self.sentences(text))
    }
}

impl SentenceSplitter {
    fn sentences(&self, text: &[u8]) -> Vec<String> {
        let lines = text.split(|&byte| byte == b'\n');
        let sentences = lines.flat_map(|line| {
            let ranges = self.tool.split(line).into_iter();
            ranges.map(|range| into_string(line[range].to_vec()))
        });
        sentences.collect()
    }
}

/// Byte pair encoding with codes in subword-nmt's format.
#[pyclass(frozen, module = "miriam.text")]
pub struct Bpe {
    codes: BpeCodes,
    separator: String,
    arguments: NewArguments,
}

#[pymethods]
impl Bpe {
    /// Reads the codes at `path`; `separator` follows subwords that do not end a word.
    #[new]
    #[pyo3(signature = (path, *, separator="@@"))]
    fn new(py: Python<'_>, path: PathBuf, separator: &str) -> PyResult<Self> {
        let text = std::fs::read(&path)
            .map_err(|error| PyOSError::new_err(format!("{}: {error}", path.display())))?;
        let name = path.display().to_string();
        let codes = BpeCodes::from_text(&text, &name).map_err(os_error)?;
        let keywords = [("separator", separator.into_bound_py_any(py)?)];
        let arguments = NewArguments::new(py, absolute_path(&path), &keywords)?;
        Ok(Bpe { codes, separator: separator.to_owned(), arguments })
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<Arguments<'py>> {
        self.arguments.to_python(py)
    }

    /// Returns the subwords of a line, separated by spaces. Words are separated by spaces alone, as
    /// in subword-nmt.
    fn segment(&self, line: &str) -> String {
        change_line(line.as_bytes(), |line, out| self.write_subwords(line, out))
    }

    /// Applies `segment` to many lines.
    #[pyo3(signature = (lines, *, threads=0))]
    fn segment_many(&self, lines: &Bound<'_, PyAny>, threads: usize) -> PyResult<Vec<String>> {
        change_lines(lines, threads, |line, out| self.write_subwords(line, out))
    }

    /// Joins subwords to words.
    fn join(&self, line: &str) -> PyResult<String> {
        if self.separator.is_empty() {
            let message = "subwords without a separator cannot be joined to words";
            return Err(PyValueError::new_err(message));
        }
        let line = line.trim_end_matches(['\r', '\n']);
        let joined = line.replace(&format!("{} ", self.separator), "");
        Ok(joined.strip_suffix(&self.separator).map(str::to_owned).unwrap_or(joined))
    }
}

impl Bpe {
    fn write_subwords(&self, line: &[u8], out: &mut Vec<u8>) {
        let mut scratch = BpeScratch::default();
        for word in miriam_textio::fields::split_at_spaces(line) {
            self.codes.segment_word(word, &mut scratch, |part, more| {
                if !out.is_empty() {
                    out.push(b' ');
                }
                out.extend_from_slice(part);
                out.extend_from_slice(if more { self.separator.as_bytes() } else { b"" });
            });
        }
    }
}

/// A SentencePiece model.
#[pyclass(frozen, module = "miriam.text")]
pub struct SentencePiece {
    model: miriam_textproc::SentencePiece,
    arguments: NewArguments,
}

#[pymethods]
impl SentencePiece {
    /// Reads the model at `path`.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let model = miriam_textproc::SentencePiece::open(&path).map_err(os_error)?;
        let arguments = NewArguments::new(py, absolute_path(&path), &[])?;
        Ok(SentencePiece { model, arguments })
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<Arguments<'py>> {
        self.arguments.to_python(py)
    }

    fn __len__(&self) -> usize {
        self.model.len()
    }

    /// Returns the pieces of a line.
    fn encode(&self, line: &str) -> Vec<String> {
        self.pieces(line.as_bytes())
    }

    /// Applies `encode` to many lines.
    #[pyo3(signature = (lines, *, threads=0))]
    fn encode_many(&self, lines: &Bound<'_, PyAny>, threads: usize) -> PyResult<Vec<Vec<String>>> {
        map_lines(lines, threads, |line| self.pieces(line))
    }

    /// Returns the ids of the pieces of a line.
    fn encode_ids(&self, line: &str) -> Vec<u32> {
        let mut encoding = Encoding::new();
        self.model.encode(without_line_end(line.as_bytes()), &mut encoding);
        encoding.ids().to_vec()
    }

    /// Returns the text of pieces.
    fn decode(&self, pieces: Vec<String>) -> String {
        let mut text = Vec::new();
        self.model.decode_pieces(pieces.iter().map(String::as_bytes), &mut text);
        into_string(text)
    }

    /// Returns the text of ids of pieces.
    fn decode_ids(&self, ids: Vec<u32>) -> PyResult<String> {
        let count = self.model.len();
        if let Some(id) = ids.iter().find(|&&id| id as usize >= count) {
            let message = format!("id {id} is out of range: the model has {count} pieces");
            return Err(PyValueError::new_err(message));
        }
        let mut text = Vec::new();
        self.model.decode(&ids, &mut text);
        Ok(into_string(text))
    }
}

impl SentencePiece {
    fn pieces(&self, line: &[u8]) -> Vec<String> {
        let mut encoding = Encoding::new();
        self.model.encode(without_line_end(line), &mut encoding);
        let pieces = self.model.pieces(&encoding);
        pieces.map(|piece| String::from_utf8_lossy(piece).into_owned()).collect()
    }
}
