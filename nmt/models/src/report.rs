//! The report of `miriam nmt info` on a model bundle, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;

use miriam_kernels::Cpu;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use crate::architecture::{Architecture, AutoregressionConfig, Dialect, Model, PreNormKeys};
use crate::checkpoint::DType;
use crate::languages::LanguageStyle;
use crate::model_bundle::{ModelBundle, ShortlistGenerator, TokenizerPair};
use crate::segmentation::Segmentation;
use crate::vocabulary::Vocabulary;

/// A summary of a model bundle.
pub struct Report {
    format: String,
    models: Vec<ModelDescription>,
    /// Name and value of each line on vocabularies, shortlist and settings.
    bundle_lines: Vec<(&'static str, String)>,
    /// Remarks on what is unusual or missing.
    notes: Vec<String>,
}

struct ModelDescription {
    lines: Vec<(&'static str, String)>,
    parameters: u64,
    tensors: usize,
    bytes: u64,
    elements: BTreeMap<DType, u64>,
    shapes: Vec<(String, String, Vec<usize>)>,
}

impl Report {
    /// Returns the summary of `bundle`.
    pub fn new(bundle: &ModelBundle) -> Self {
        let models = bundle.models.iter().map(ModelDescription::new).collect();
        let (bundle_lines, mut notes) = (describe_bundle(bundle), Vec::new());
        for model in &bundle.models {
            notes.extend(model_notes(model));
        }
        if bundle.tokenizers.is_none() {
            notes.push(
                "no vocabularies were found beside the model; name them with --vocabs".into(),
            );
        }
        if bundle.models.len() > 1 {
            notes.push(format!("an ensemble of {} models", bundle.models.len()));
        }
        Report { format: bundle.format.clone(), models, bundle_lines, notes }
    }

    /// Returns the report as text: one name and value per line. The line `instructions here`
    /// describes this machine, not the bundle: the CPU instructions that translation uses.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(text, "{name:<22} {value}");
        };
        line("format", &self.format);
        for model in &self.models {
            for (name, value) in &model.lines {
                line(name, value);
            }
            line("parameters", &model.parameters.to_string());
            let elements = model.elements.iter();
            let elements: Vec<String> =
                elements.map(|(element, count)| format!("{count} {}", element.name())).collect();
            line("stored as", &elements.join(", "));
            line("bytes", &model.bytes.to_string());
        }
        for (name, value) in &self.bundle_lines {
            line(name, value);
        }
        line("instructions here", &Cpu::describe_detected());
        for note in &self.notes {
            line("note", note);
        }
        text
    }

    /// Returns the names, data types and shapes of all tensors, one line each.
    pub fn to_tensor_list(&self) -> String {
        let mut text = String::new();
        for (name, element, shape) in self.models.iter().flat_map(|model| &model.shapes) {
            let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
            let _ = writeln!(text, "{name:<40} {element:<5} {}", shape.join(" x "));
        }
        text
    }

    /// Returns the report with all tensors as one JSON object and a line end.
    pub fn to_json(&self) -> String {
        fn lines(lines: &[(&str, String)]) -> JsonObject<String> {
            let pairs = lines.iter();
            JsonObject(pairs.map(|(name, v)| (json_key(name), v.clone())).collect())
        }
        let models = self.models.iter().map(|model| {
            let elements = model.elements.iter();
            let shapes = model.shapes.iter();
            JsonModel {
                lines: lines(&model.lines),
                parameters: model.parameters,
                tensors: model.tensors,
                bytes: model.bytes,
                elements: JsonObject(elements.map(|(d, &n)| (d.name().to_owned(), n)).collect()),
                shapes: JsonObject(
                    shapes
                        .map(|(name, element, shape)| (name.clone(), JsonTensor { element, shape }))
                        .collect(),
                ),
            }
        });
        let report = JsonReport {
            format: &self.format,
            models: models.collect(),
            words: lines(&self.bundle_lines),
            notes: &self.notes,
        };
        let mut json = Vec::new();
        report
            .serialize(&mut Serializer::with_formatter(&mut json, ShapeFormatter::default()))
            .expect("memory does not fail");
        json.push(b'\n');
        String::from_utf8(json).expect("JSON is UTF-8")
    }
}

/// Returns the key of a line in JSON: its name with underscores.
fn json_key(name: &str) -> String {
    name.replace([' ', '-'], "_")
}

/// A JSON object whose entries keep their order.
struct JsonObject<T>(Vec<(String, T)>);

impl<T: Serialize> Serialize for JsonObject<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[derive(Serialize)]
struct JsonReport<'a> {
    format: &'a str,
    models: Vec<JsonModel<'a>>,
    words: JsonObject<String>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct JsonModel<'a> {
    #[serde(flatten)]
    lines: JsonObject<String>,
    parameters: u64,
    tensors: usize,
    bytes: u64,
    elements: JsonObject<u64>,
    shapes: JsonObject<JsonTensor<'a>>,
}

#[derive(Serialize)]
struct JsonTensor<'a> {
    element: &'a str,
    shape: &'a [usize],
}

/// Compact JSON with a space after the commas of shapes.
#[derive(Default)]
struct ShapeFormatter {
    /// The number of objects that are open.
    depth: usize,
}

impl Formatter for ShapeFormatter {
    fn begin_object<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        out.write_all(b"{")
    }

    fn end_object<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        out.write_all(b"}")
    }

    fn begin_array_value<W: io::Write + ?Sized>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> io::Result<()> {
        // The objects around a shape: report, model, shapes, tensor.
        const TENSOR_DEPTH: usize = 4;
        out.write_all(if first {
            b""
        } else if self.depth == TENSOR_DEPTH {
            b", "
        } else {
            b","
        })
    }
}

impl ModelDescription {
    fn new(model: &Model) -> Self {
        let mut description = ModelDescription {
            lines: model.architecture().describe(),
            parameters: 0,
            tensors: 0,
            bytes: 0,
            elements: BTreeMap::new(),
            shapes: Vec::new(),
        };
        for (name, tensor) in model.parameters() {
            let count = tensor.numel() as u64;
            description.parameters += count;
            description.tensors += 1;
            description.bytes += tensor.byte_len() as u64;
            *description.elements.entry(tensor.dtype()).or_default() += count;
            let element = tensor.dtype().name().to_owned();
            description.shapes.push((name.to_owned(), element, tensor.shape().to_vec()));
        }
        if let Some(precision) = model.precision() {
            // Packed tensors have padding and scales, so parameters are counted by the
            // architecture.
            description.lines.push(("weights", format!("packed as {}", precision.name())));
            let needed = model.architecture().parameters().into_iter();
            description.parameters =
                needed.map(|needed| (needed.shape[0] * needed.shape[1]) as u64).sum();
        }
        description
    }
}

fn describe_bundle(bundle: &ModelBundle) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(tokenizers) = &bundle.tokenizers {
        let [source, target] = &tokenizers.vocabularies;
        fn describe(vocabulary: &Vocabulary) -> String {
            let (eos_id, unk_id) = (vocabulary.eos_id(), vocabulary.unk_id());
            let [eos, unk] = [eos_id, unk_id]
                .map(|id| String::from_utf8_lossy(vocabulary.word(id).unwrap_or_default()));
            format!("{} words, {eos} {eos_id}, {unk} {unk_id}", vocabulary.len())
        }
        if source.has_same_ids(target) {
            lines.push(("vocabulary", describe(source)));
        } else {
            lines.push(("source vocabulary", describe(source)));
            lines.push(("target vocabulary", describe(target)));
        }
        for (name, segmentation) in
            ["source text", "target text"].into_iter().zip(&tokenizers.segmentation)
        {
            lines.push((name, describe_segmentation(segmentation)));
        }
        let first_words =
            source.iter().filter(|w| w.starts_with(b">>") && w.ends_with(b"<<")).count();
        if first_words > 0 {
            let advice = format!("{first_words} words such as >>deu<< choose the target language");
            lines.push(("first word", advice));
        }
        if let Some(languages) = bundle.languages() {
            let options = match languages.style {
                LanguageStyle::BothSides => "--from and --to",
                LanguageStyle::TargetBeforeSource => "--to",
            };
            let count = languages.tokens.len();
            lines.push(("languages", format!("{count}, for {options}: {}", languages.list())));
        }
    }
    match &bundle.shortlist_generator {
        Some(list @ ShortlistGenerator::Shortlist(_)) => {
            lines.push(("shortlist", describe_shortlist(list)));
        }
        Some(map) => lines.push(("vocabulary map", describe_shortlist(map))),
        None => {}
    }
    let settings = &bundle.settings;
    if let Some(beam) = settings.beam_size {
        lines.push(("beam", beam.to_string()));
    }
    if let Some(normalize) = settings.normalize {
        lines.push(("normalise", normalize.to_string()));
    }
    lines
}

fn describe_segmentation(segmentation: &Segmentation) -> String {
    match segmentation {
        Segmentation::Presegmented => "tokenised already".into(),
        Segmentation::SentencePiece(pieces) => format!(
            "SentencePiece, {:?}, {} pieces{}",
            pieces.model.model_type(),
            pieces.model.len(),
            if pieces.model.has_byte_fallback() { ", byte fallback" } else { "" }
        ),
        Segmentation::Bpe(file) => {
            let words = file.words.as_ref().map(|words| format!(", {words}"));
            let codes = file.codes.num_merges();
            format!("byte pair encoding, {codes} codes{}", words.unwrap_or_default())
        }
    }
}

fn describe_shortlist(generator: &ShortlistGenerator) -> String {
    match generator {
        ShortlistGenerator::Shortlist(list) => {
            format!(
                "{} translations, and the {} most frequent words always",
                list.len(),
                list.first()
            )
        }
        ShortlistGenerator::VocabularyMap(map) => format!("{} n-grams", map.len()),
    }
}

impl ModelBundle {
    /// Returns the lines of a report on vocabularies, segmentation, boundary tokens and shortlist,
    /// with their files.
    pub fn describe_files(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        if let Some(TokenizerPair {
            vocabularies,
            segmentation,
            source_boundary_tokens,
            target_prefix,
        }) = &self.tokenizers
        {
            let names = ["source vocabulary", "target vocabulary"];
            for (name, vocabulary) in names.into_iter().zip(vocabularies) {
                lines.push((name, format!("{}, {} words", vocabulary.name(), vocabulary.len())));
            }
            let bos = source_boundary_tokens.bos_id.and_then(|id| vocabularies[0].word(id));
            let bos = bos.map(|bos| format!("begins with {}", String::from_utf8_lossy(bos)));
            let eos = (!source_boundary_tokens.has_eos).then(|| "no </s> is added".into());
            let marks: Vec<String> = bos.into_iter().chain(eos).collect();
            if !marks.is_empty() {
                lines.push(("a source", marks.join(", ")));
            }
            if !target_prefix.is_empty() {
                let words = target_prefix.iter().filter_map(|&id| vocabularies[1].word(id));
                let words: Vec<_> = words.map(String::from_utf8_lossy).collect();
                lines.push(("a translation", format!("begins with {}", words.join(" "))));
            }
            for (name, side) in ["source text", "target text"].into_iter().zip(segmentation) {
                let file = match side {
                    Segmentation::Presegmented => String::new(),
                    Segmentation::SentencePiece(model) => format!(", {}", model.name),
                    Segmentation::Bpe(codes) => format!(", {}", codes.name),
                };
                lines.push((name, describe_segmentation(side) + &file));
            }
        }
        let shortlist = match (&self.shortlist_generator, &self.shortlist_path) {
            (None, _) => "none".into(),
            (Some(list), None) => describe_shortlist(list),
            (Some(list), Some(path)) => format!("{}, {}", path.display(), describe_shortlist(list)),
        };
        lines.push(("shortlist", shortlist));
        lines
    }

    /// Returns a warning for users about settings of the model's folder that have no effect.
    pub fn settings_warning(&self) -> Option<String> {
        let keys = &self.settings.keys_without_effect;
        (!keys.is_empty()).then(|| format!("without effect here: {}", keys.join(" ")))
    }

    /// Returns a warning if source text would become unknown words, because the vocabulary has
    /// SentencePiece pieces and nothing segments text into them.
    pub fn segmentation_warning(&self) -> Option<String> {
        const SPACE: &[u8] = "\u{2581}".as_bytes();
        let TokenizerPair { vocabularies: [source, _], segmentation: [side, _], .. } =
            self.tokenizers.as_ref()?;
        let pieces = source.iter().filter(|word| word.starts_with(SPACE)).count();
        let needs_pieces = matches!(side, Segmentation::Presegmented) && pieces * 10 > source.len();
        needs_pieces.then(|| {
            format!(
                "{} has SentencePiece pieces, but no SentencePiece model was found to split text \
                 into them: give lines of pieces with --no-spm-encode, name the model as \
                 vocabulary (.spm, .model), or with -m the folder that has source.spm",
                source.name()
            )
        })
    }
}

fn model_notes(model: &Model) -> Vec<String> {
    let mut notes = Vec::new();
    if let Architecture::Transformer(transformer) = model.architecture() {
        let self_attention = transformer.autoregression == AutoregressionConfig::SelfAttention;
        if transformer.preprocess.has_norm()
            && (self_attention || transformer.encoder.depth > 0)
            && transformer.pre_norm_keys != PreNormKeys::Normalized
        {
            notes.push(
                "a pre-norm model: versions of Marian compute the keys and values of its attention \
                 from different inputs; choose one with --dialect"
                    .into(),
            );
        }
    }
    for name in model.unused_tensors() {
        notes.push(format!("{name} in the file is not used"));
    }
    let multipliers = model.activation_multipliers().len();
    if multipliers > 0 {
        notes.push(format!(
            "{multipliers} matrices come with fixed scales for quantising their inputs (alphas); \
             --precision i8-alphas uses them; otherwise each row of activations gets its own scale, which is more accurate"
        ));
    }
    notes
}

/// The dialects by their names on the command line.
pub const DIALECTS: [(&str, Dialect); 2] =
    [("marian", Dialect::Marian), ("browser", Dialect::Browser)];
