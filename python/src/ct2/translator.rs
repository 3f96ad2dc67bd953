//! The class `Translator`.

use std::path::PathBuf;
use std::sync::{Arc, RwLock};
use std::time::Instant;

use miriam_nmt::packed::{Precision, SelectedPrecision};
use miriam_nmt::translate::pool::{
    DecodingOptions, Pending, ScoringExample, TextFormat, TranslatorPool,
};
use miriam_nmt::translate::{TranslationOptions, Translator as NeuralTranslator};
use miriam_nmt::{DeviceSet, ModelBundle, language_code};
use miriam_storage::Bytes;
use miriam_textproc::SentenceSplitter;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::arguments::{
    batch_limits, compute_type_name, count, devices, end_ids, optional_path, parse_compute_type,
    path, read_files, refuse, select_compute_type, suppressed_sequences, vocabulary_paths,
};
use super::calls::{
    check_lengths, ids_or_later_error, no_signal, observer, read_examples, read_ids, stored_tuner,
    submit, wait_or_cancel,
};
use super::language_model::LanguageModelArguments;
use super::results::{
    AsyncScoringResult, AsyncTexts, AsyncTranslationResult, Loaded, ScoringCall, TranslationCall,
    exception,
};
use super::text_arguments::{decoding_settings, translator_for_languages};
use crate::errors::value_error;
use crate::interrupt::{INTERVAL, run_interruptible};
use crate::text::{text_list, truth};
use crate::warning::{warn, warn_if_unknown_language};

/// The default number of batches that may wait per thread of a translator.
const BATCHES_PER_THREAD: usize = 4;

/// A translator.
#[pyclass(subclass, module = "miriam.ct2")]
pub struct Translator {
    path: PathBuf,
    /// The files of the model, if they are in memory.
    files: Option<Vec<(String, Bytes)>>,
    /// The vocabularies of source and target, in place of those that would be found.
    vocabularies: Option<[PathBuf; 2]>,
    precision: Option<Precision>,
    devices: DeviceSet,
    /// The number of device indices; each has `inter_threads` threads.
    num_devices: usize,
    language_model: Option<LanguageModelArguments>,
    inter_threads: usize,
    max_queued_batches: usize,
    compute_type: &'static str,
    /// `None` while the model is unloaded.
    loaded: RwLock<Option<Arc<Loaded>>>,
}

impl Translator {
    /// Opens and loads the model; warns of settings in its folder that have no effect.
    fn open(&self, py: Python<'_>) -> PyResult<Arc<Loaded>> {
        type Opened = (Arc<Loaded>, Option<String>);
        let outcome = run_interruptible(py, |stop| -> Result<Opened, String> {
            let bundle = match &self.files {
                Some(files) => ModelBundle::from_files(&self.path, files.iter().cloned()),
                None if !self.path.exists() => {
                    let path = self.path.display();
                    return Err(format!("unable to open file or folder {path}: it does not exist"));
                }
                None => {
                    let paths = self.vocabularies.as_ref();
                    let vocabularies = paths.map(|paths| paths.each_ref().map(PathBuf::as_path));
                    ModelBundle::open(&self.path, vocabularies)
                }
            };
            let bundle = bundle.map_err(|error| error.to_string())?;
            let warning = bundle.settings_warning();
            let mut options = TranslationOptions::for_bundle(&bundle, None);
            let placed = options.set_devices(self.devices.clone());
            placed.map_err(|error| error.to_string())?;
            if let Some(precision) = self.precision {
                options.precision = precision;
            }
            if let Some(lm) = &self.language_model {
                lm.set_weight(&mut options);
            }
            let compute_type = compute_type_name(options.precision);
            let tuner = Arc::new(stored_tuner());
            let translator = NeuralTranslator::new(bundle, options, &tuner);
            let mut translator = translator.map_err(|error| error.to_string())?;
            if let Some(lm) = &self.language_model {
                lm.open(&mut translator, &tuner, stop)?;
            }
            let pool =
                TranslatorPool::new(Arc::new(translator), self.threads(), self.max_queued_batches);
            Ok((Arc::new(Loaded::new(pool, compute_type)), warning))
        })?;
        let (loaded, warning) = outcome.map_err(PyRuntimeError::new_err)?;
        if let Some(warning) = warning {
            warn(py, &format!("{}: {warning}", self.path.display()), 1)?;
        }
        Ok(loaded)
    }

    /// Returns the number of threads that translate: `inter_threads` per device.
    fn threads(&self) -> usize {
        self.inter_threads.saturating_mul(self.num_devices)
    }

    fn state(&self) -> Option<Arc<Loaded>> {
        self.loaded.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    fn set_state(&self, state: Option<Arc<Loaded>>) {
        let mut loaded = self.loaded.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        *loaded = state;
    }

    fn loaded(&self) -> PyResult<Arc<Loaded>> {
        let message = if self.path.as_os_str().is_empty() {
            "the model is not loaded: a subclass must call Translator.__init__(model_path)"
        } else {
            "the model is unloaded: call load_model() first"
        };
        self.state().ok_or_else(|| PyRuntimeError::new_err(message))
    }
}

#[pymethods]
impl Translator {
    /// Creates an unloaded translator, whatever the arguments: `__init__` of a subclass may have
    /// others.
    #[new]
    #[pyo3(signature = (*_arguments, **_keywords),
           text_signature = "(model_path, device='cpu', *, device_index=0, \
                             compute_type='default', inter_threads=1, intra_threads=0, \
                             max_queued_batches=0, flash_attention=False, \
                             tensor_parallel=False, files=None, vocabs=None, lm=None, \
                             lm_weight=None, lm_pieces=False)")]
    fn new(_arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> Self {
        Translator {
            path: PathBuf::new(),
            files: None,
            vocabularies: None,
            precision: None,
            devices: DeviceSet::Cpu,
            num_devices: 1,
            language_model: None,
            inter_threads: 1,
            max_queued_batches: BATCHES_PER_THREAD,
            compute_type: "default",
            loaded: RwLock::new(None),
        }
    }

    /// Loads the model at `model_path`: a folder of CTranslate2, or any other model that
    /// `miriam nmt` reads.
    #[pyo3(signature = (model_path, device="cpu", *, device_index=None,
                        compute_type=None, inter_threads=1, intra_threads=0,
                        max_queued_batches=0, flash_attention=false, tensor_parallel=false,
                        files=None, vocabs=None, lm=None, lm_weight=None, lm_pieces=false))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments of Python")]
    fn __init__(
        slf: &Bound<'_, Self>,
        #[pyo3(from_py_with = path)] model_path: PathBuf,
        device: &str,
        device_index: Option<&Bound<'_, PyAny>>,
        compute_type: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = count)] inter_threads: usize,
        #[pyo3(from_py_with = count)] intra_threads: usize,
        max_queued_batches: i64,
        #[pyo3(from_py_with = truth)] flash_attention: bool,
        #[pyo3(from_py_with = truth)] tensor_parallel: bool,
        files: Option<&Bound<'_, PyAny>>,
        vocabs: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = optional_path)] lm: Option<PathBuf>,
        lm_weight: Option<f32>,
        #[pyo3(from_py_with = truth)] lm_pieces: bool,
    ) -> PyResult<()> {
        let py = slf.py();
        let (devices, num_devices) = devices(device, device_index)?;
        let name = match compute_type {
            Some(value) => select_compute_type(value, &devices)?,
            None => "default".into(),
        };
        let SelectedPrecision { precision, warning } = parse_compute_type(&name, &devices)?;
        if let Some(warning) = warning {
            warn(py, &warning, 1)?;
        }
        for (is_set, name) in
            [(flash_attention, "flash_attention"), (tensor_parallel, "tensor_parallel")]
        {
            if is_set {
                let message = format!("{name} is not supported; leave it out");
                return Err(PyValueError::new_err(message));
            }
        }
        if inter_threads == 0 {
            return Err(PyValueError::new_err("inter_threads must be greater than 0"));
        }
        let max_queued_batches = match max_queued_batches {
            0 => inter_threads.saturating_mul(num_devices).saturating_mul(BATCHES_PER_THREAD),
            most => usize::try_from(most).unwrap_or(usize::MAX),
        };
        if intra_threads > 1 {
            let message = "intra_threads has no effect: a batch is translated by one thread; give \
                           inter_threads";
            warn(py, message, 1)?;
        }
        let files = files.map(read_files).transpose()?;
        let vocabularies = vocabs.map(vocabulary_paths).transpose()?;
        if files.is_some() && vocabularies.is_some() {
            let message = "vocabs cannot be used with files, which contain the vocabularies";
            return Err(PyValueError::new_err(message));
        }
        let mut translator = Translator {
            path: model_path,
            files,
            vocabularies,
            precision,
            devices,
            num_devices,
            language_model: LanguageModelArguments::from_keywords(lm, lm_weight, lm_pieces)?,
            inter_threads,
            max_queued_batches,
            compute_type: "default",
            loaded: RwLock::new(None),
        };
        let loaded = translator.open(py)?;
        translator.compute_type = loaded.compute_type;
        translator.set_state(Some(loaded));
        *slf.try_borrow_mut()? = translator;
        Ok(())
    }

    /// The device: `cpu` or `cuda`.
    #[getter]
    fn device(&self) -> &'static str {
        if self.devices.is_cuda() { "cuda" } else { "cpu" }
    }

    /// The indices of the devices.
    #[getter]
    fn device_index(&self) -> Vec<u32> {
        match &self.devices {
            DeviceSet::Cuda(numbers) => numbers.clone(),
            DeviceSet::Cpu | DeviceSet::Auto => vec![0; self.num_devices],
        }
    }

    /// The compute type of the loaded weights.
    #[getter]
    fn compute_type(&self) -> &'static str {
        self.compute_type
    }

    /// The number of threads that translate.
    #[getter]
    fn num_translators(&self) -> usize {
        self.threads()
    }

    /// The number of batches that wait.
    #[getter]
    fn num_queued_batches(&self) -> usize {
        self.state().map_or(0, |loaded| loaded.pool.num_queued_batches())
    }

    /// The number of batches that wait or are being processed.
    #[getter]
    fn num_active_batches(&self) -> usize {
        self.state().map_or(0, |loaded| loaded.pool.num_active_batches())
    }

    /// Always false.
    #[getter]
    fn tensor_parallel(&self) -> bool {
        false
    }

    /// Whether the model is loaded.
    #[getter]
    fn model_is_loaded(&self) -> bool {
        self.state().is_some()
    }

    /// Frees the memory of the model, unless batches are waiting or being processed. `to_cpu` keeps
    /// the model in main memory, which means that nothing is freed.
    #[pyo3(signature = (to_cpu=false))]
    fn unload_model(&self, #[pyo3(from_py_with = truth)] to_cpu: bool) {
        if !to_cpu && self.num_active_batches() == 0 {
            self.set_state(None);
        }
    }

    /// Loads the model again after `unload_model`.
    #[pyo3(signature = (keep_cache=false))]
    fn load_model(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = truth)] keep_cache: bool,
    ) -> PyResult<()> {
        // `unload_model` does not move the model, so there is no cached copy to keep.
        let _ = keep_cache;
        if self.state().is_none() {
            self.set_state(Some(self.open(py)?));
        }
        Ok(())
    }

    /// Translates a batch of tokenised sentences.
    #[pyo3(signature = (source, target_prefix=None, *, max_batch_size=0, batch_type="examples",
                        asynchronous=false, beam_size=2, patience=1.0, num_hypotheses=1,
                        length_penalty=1.0, coverage_penalty=0.0, repetition_penalty=1.0,
                        no_repeat_ngram_size=0, disable_unk=false, suppress_sequences=None,
                        end_token=None, return_end_token=false, prefix_bias_beta=0.0,
                        max_input_length=1024, max_decoding_length=256, min_decoding_length=1,
                        use_vmap=false, return_scores=false, return_logits_vocab=false,
                        return_attention=false, return_alternatives=false,
                        min_alternative_expansion_prob=0.0, sampling_topk=1, sampling_topp=1.0,
                        sampling_temperature=1.0, replace_unknowns=false, callback=None,
                        _may_wait=true))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments of Python")]
    fn translate_batch<'py>(
        &self,
        py: Python<'py>,
        source: &Bound<'py, PyAny>,
        target_prefix: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = count)] max_batch_size: usize,
        batch_type: &str,
        #[pyo3(from_py_with = truth)] asynchronous: bool,
        #[pyo3(from_py_with = count)] beam_size: usize,
        patience: f32,
        #[pyo3(from_py_with = count)] num_hypotheses: usize,
        length_penalty: f32,
        coverage_penalty: f32,
        repetition_penalty: f32,
        #[pyo3(from_py_with = count)] no_repeat_ngram_size: usize,
        #[pyo3(from_py_with = truth)] disable_unk: bool,
        suppress_sequences: Option<&Bound<'py, PyAny>>,
        end_token: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = truth)] return_end_token: bool,
        prefix_bias_beta: f32,
        #[pyo3(from_py_with = count)] max_input_length: usize,
        #[pyo3(from_py_with = count)] max_decoding_length: usize,
        #[pyo3(from_py_with = count)] min_decoding_length: usize,
        #[pyo3(from_py_with = truth)] use_vmap: bool,
        #[pyo3(from_py_with = truth)] return_scores: bool,
        #[pyo3(from_py_with = truth)] return_logits_vocab: bool,
        #[pyo3(from_py_with = truth)] return_attention: bool,
        #[pyo3(from_py_with = truth)] return_alternatives: bool,
        min_alternative_expansion_prob: f32,
        #[pyo3(from_py_with = count)] sampling_topk: usize,
        sampling_topp: f32,
        sampling_temperature: f32,
        #[pyo3(from_py_with = truth)] replace_unknowns: bool,
        callback: Option<Py<PyAny>>,
        _may_wait: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        refuse(return_logits_vocab, "return_logits_vocab")?;
        let limits = batch_limits(max_batch_size, batch_type)?;
        let loaded = self.loaded()?;
        let target = loaded.target_vocabulary();
        let (suppressed, ends) =
            (suppressed_sequences(suppress_sequences, target), end_ids(end_token, target));
        let mut invalid = None;
        let mut options = DecodingOptions {
            beam_size,
            patience,
            num_hypotheses,
            length_penalty,
            coverage_penalty,
            repetition_penalty,
            no_repeat_ngram_size,
            disable_unk,
            suppress_sequences: ids_or_later_error(py, suppressed, asynchronous, &mut invalid)?,
            end_tokens: ids_or_later_error(py, ends, asynchronous, &mut invalid)?,
            prefix_bias_beta,
            max_decoding_length,
            min_decoding_length,
            use_vmap,
            return_scores,
            return_attention,
            return_alternatives,
            min_alternative_expansion_prob,
            sampling_topk,
            sampling_topp,
            sampling_temperature,
            seed: 0,
            replace_unknowns,
            report_tokens: callback.is_some(),
            report_scores: callback.is_some() && return_scores,
        };
        if options.is_sampling() {
            options.seed = super::next_seed();
        }
        let (examples, sources) = read_examples(source, target_prefix, &loaded, replace_unknowns)?;
        let checked = loaded.pool.translator().check_examples(&examples, max_input_length);
        let invalid = invalid.or(checked.err());
        let raised = Arc::default();
        let mut call = TranslationCall {
            loaded: Arc::clone(&loaded),
            pending: Arc::new(Pending::new(0)),
            examples,
            sources,
            options,
            max_input_length,
            keep_end: return_end_token,
            raised: Arc::clone(&raised),
        };
        match invalid.map_or_else(|| call.options.validate(), Err) {
            Err(error) if asynchronous => {
                call.pending = Arc::new(Pending::failed(call.examples.len(), &error));
            }
            Err(error) if !call.examples.is_empty() => return Err(exception(error)),
            Err(_) => return Ok(PyList::empty(py)),
            Ok(()) => {
                let observer = callback.map(|callback| {
                    observer(callback, &loaded, return_scores, Arc::clone(&raised))
                });
                call.pending = submit(py, &call, limits, observer, _may_wait)?;
            }
        }
        let call = Arc::new(call);
        let indices = 0..call.examples.len();
        if asynchronous {
            let results = indices.map(|index| {
                Bound::new(py, AsyncTranslationResult { call: Arc::clone(&call), index })
            });
            return PyList::new(py, results.collect::<PyResult<Vec<_>>>()?);
        }
        wait_or_cancel(py, &call.pending)?;
        let results = indices.map(|index| Bound::new(py, call.wait(py, index)?));
        PyList::new(py, results.collect::<PyResult<Vec<_>>>()?)
    }

    /// Scores given translations of tokenised sentences.
    #[pyo3(signature = (source, target, *, max_batch_size=0, batch_type="examples",
                        max_input_length=1024, offset=0, asynchronous=false))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments of Python")]
    fn score_batch<'py>(
        &self,
        py: Python<'py>,
        source: &Bound<'py, PyAny>,
        target: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = count)] max_batch_size: usize,
        batch_type: &str,
        #[pyo3(from_py_with = count)] max_input_length: usize,
        #[pyo3(from_py_with = count)] offset: usize,
        #[pyo3(from_py_with = truth)] asynchronous: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let limits = batch_limits(max_batch_size, batch_type)?;
        let loaded = self.loaded()?;
        let sources = read_ids(source, "source", loaded.source_vocabulary())?;
        let targets = read_ids(target, "target", loaded.target_vocabulary())?;
        check_lengths(sources.len(), targets.len(), "target")?;
        let pairs = sources.into_iter().zip(targets);
        let examples: Vec<ScoringExample> =
            pairs.map(|(source, target)| ScoringExample { source, target }).collect();
        let translator = loaded.pool.translator();
        let mut interrupted = None;
        let pending = match translator.check_scoring_examples(&examples, max_input_length) {
            Err(error) if asynchronous => Arc::new(Pending::failed(examples.len(), &error)),
            Err(error) => return Err(exception(error)),
            Ok(()) => py.detach(|| {
                let requests = examples
                    .iter()
                    .map(|example| translator.prepare_score(example, max_input_length))
                    .collect();
                loaded.pool.score(limits, requests, Some(&mut || no_signal(&mut interrupted)))
            }),
        };
        interrupted.map_or(Ok(()), Err)?;
        let call = Arc::new(ScoringCall { loaded, pending, examples, max_input_length, offset });
        let indices = 0..call.examples.len();
        if asynchronous {
            let results = indices
                .map(|index| Bound::new(py, AsyncScoringResult { call: Arc::clone(&call), index }));
            return PyList::new(py, results.collect::<PyResult<Vec<_>>>()?);
        }
        wait_or_cancel(py, &call.pending)?;
        let results = indices.map(|index| Bound::new(py, call.wait(py, index)?));
        PyList::new(py, results.collect::<PyResult<Vec<_>>>()?)
    }

    /// Translates texts with the model's own tokenisation and the default options of `miriam nmt
    /// translate`. Each text is one sentence; with `split` it is running text, and with `html` a
    /// page, whose markup is kept. `source_language` and `target_language` are for multilingual
    /// models, in any common spelling; the former also selects the abbreviations that do not end
    /// sentences (English by default). Further keyword arguments are decoding options of the
    /// command line, such as `no_repeat_ngram_size=2`.
    #[pyo3(signature = (texts, *, split=false, html=false, source_language=None,
                        target_language=None, beam_size=None, max_batch_size=0,
                        batch_type="examples", **decoding))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments of Python")]
    fn translate_texts(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text_list)] texts: Vec<String>,
        #[pyo3(from_py_with = truth)] split: bool,
        #[pyo3(from_py_with = truth)] html: bool,
        source_language: Option<&str>,
        target_language: Option<&str>,
        beam_size: Option<usize>,
        #[pyo3(from_py_with = count)] max_batch_size: usize,
        batch_type: &str,
        decoding: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<String>> {
        let texts = self._submit_texts(
            py,
            texts,
            split,
            html,
            source_language,
            target_language,
            beam_size,
            max_batch_size,
            batch_type,
            true,
            decoding,
        )?;
        wait_or_cancel(py, &texts.pending)?;
        texts.result(py)
    }

    /// Does the same as `translate_texts` without waiting for the results.
    #[pyo3(signature = (texts, *, split=false, html=false, source_language=None,
                        target_language=None, beam_size=None, max_batch_size=0,
                        batch_type="examples", _may_wait=true, **decoding))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments of Python")]
    fn _submit_texts(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text_list)] texts: Vec<String>,
        #[pyo3(from_py_with = truth)] split: bool,
        #[pyo3(from_py_with = truth)] html: bool,
        source_language: Option<&str>,
        target_language: Option<&str>,
        beam_size: Option<usize>,
        #[pyo3(from_py_with = count)] max_batch_size: usize,
        batch_type: &str,
        _may_wait: bool,
        decoding: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<AsyncTexts> {
        let format = match (split, html) {
            (false, false) => TextFormat::Sentence,
            (true, false) => TextFormat::Running,
            (false, true) => TextFormat::Html,
            (true, true) => {
                let message = "split is for running text and html for pages; give only one of them";
                return Err(PyValueError::new_err(message));
            }
        };
        if beam_size == Some(0) {
            return Err(PyValueError::new_err("beam_size must be greater than 0"));
        }
        let limits = batch_limits(max_batch_size, batch_type)?;
        let loaded = self.loaded()?;
        let translator =
            translator_for_languages(&loaded, &texts, source_language, target_language)?;
        let settings = decoding.map(decoding_settings).transpose()?.unwrap_or_default();
        let translator = translator.with_settings(&settings).map_err(value_error)?;
        let language = source_language.and_then(language_code);
        let language = language.as_deref().or(source_language).unwrap_or("en");
        if format != TextFormat::Sentence {
            warn_if_unknown_language(py, language)?;
        }
        let (batch, pending) = py.detach(|| -> PyResult<_> {
            let splitter = SentenceSplitter::new(language);
            let mut interrupted = None;
            let mut last_check = Instant::now();
            let texts = texts.iter().map(String::as_bytes).take_while(|_| {
                if last_check.elapsed() < INTERVAL {
                    return true;
                }
                last_check = Instant::now();
                no_signal(&mut interrupted)
            });
            let batch = translator.cut_texts(texts, format, &splitter);
            if let Some(error) = interrupted.take() {
                return Err(error);
            }
            let mut task = translator.text_task(beam_size, format, limits);
            if task.search.sampling.is_some() && settings.seed.is_none() {
                task.search.seed = super::next_seed();
            }
            let mut no_signal = || no_signal(&mut interrupted);
            let is_wanted = _may_wait.then_some(&mut no_signal as &mut dyn FnMut() -> bool);
            let pending = loaded.pool.translate(task, batch.requests(), is_wanted);
            interrupted.map_or(Ok((batch, pending)), Err)
        })?;
        Ok(AsyncTexts { translator, batch, pending })
    }

    fn __repr__(&self) -> String {
        format!("Translator({:?}, compute_type={:?})", self.path.display(), self.compute_type)
    }
}
