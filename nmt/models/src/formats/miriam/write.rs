//! Writer of model files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use miriam_storage::dictionary::{Dictionary, StringPool};
use miriam_storage::zerocopy::IntoBytes;
use miriam_storage::{Bytes, ContainerWriter};
use miriam_textio::Progress;

use super::{
    ALIGNMENT, DTYPES, EXTENSIONS_SECTION, Extensions, FORMAT_PREFIX, KIND, LATER_MODELS, Metadata,
    PACKING_COLUMNS, PACKING_NONE, SIDES, STORAGE_ORDERS, SearchDefaults, StoredDecoderConfig,
    TensorRecord, VERSION_COLUMNS, VERSION_PACKED, VocabularyMetadata, packed_weights,
};
use crate::architecture::{Architecture, Model};
use crate::checkpoint::{DType, QuantMultipliers, StorageOrder, Tensor};
use crate::model_bundle::{BoundaryTokens, ModelBundle, ShortlistGenerator, TokenizerPair};
use crate::packed::{PackedParts, Precision};
use crate::segmentation::{Segmentation, WordRules};
use crate::{Error, Result};

/// Weights as a file stores them.
pub struct StoredWeights<'a> {
    /// The only precision that the file serves; `None` if it serves all.
    pub only_precision: Option<Precision>,
    /// The precision that matrices are packed for.
    pub packed_as: Precision,
    /// The packed matrices, by their keys.
    pub packed: BTreeMap<&'a str, PackedParts<'a>>,
    /// The parameters that get a record of their own. Those in `columns` are stored only in a
    /// packed matrix, the others as tensors.
    pub parameters: Vec<(&'a str, &'a Tensor)>,
    /// The columns of packed matrices from which parameters can be read exactly, by the names of
    /// the parameters.
    pub columns: BTreeMap<String, LosslessColumns>,
}

/// The columns of a packed matrix that hold a parameter exactly. How many there are follows from
/// the shape of the parameter.
pub struct LosslessColumns {
    /// The index of the matrix in [`StoredWeights::packed`].
    pub matrix: u64,
    /// The index of the first column.
    pub first: u64,
}

/// Writes `bundle`, whose only model is `model`, with the `weights` of the model to the file
/// `output`. Returns descriptions of the parts that the file leaves out.
///
/// # Errors
/// If the file cannot be written, a tensor cannot be stored, or a token has several ids.
pub fn write(
    bundle: &ModelBundle,
    model: &Model,
    weights: &StoredWeights<'_>,
    output: &Path,
    progress: &dyn Progress,
) -> Result<Vec<String>> {
    let mut version = VERSION_PACKED;
    let fits_first_versions = match model.architecture() {
        Architecture::Transformer(transformer) => transformer.is_of_first_versions(),
        _ => true,
    };
    let has_special_tokens = bundle.tokenizers.as_ref().is_some_and(|tokenizers| {
        let BoundaryTokens { bos_id, has_eos, .. } = tokenizers.source_boundary_tokens;
        bos_id.is_some() || !has_eos || !tokenizers.target_prefix.is_empty()
    });
    if !fits_first_versions || has_special_tokens {
        version += LATER_MODELS;
    }
    if weights.only_precision.is_none() || !weights.columns.is_empty() {
        version = VERSION_COLUMNS;
    }
    let mut writer = ContainerWriter::create(output, KIND, version)?;
    let omitted = write_to(&mut writer, bundle, model, weights, progress)?;
    writer.finish()?;
    Ok(omitted)
}

fn write_to(
    writer: &mut ContainerWriter,
    bundle: &ModelBundle,
    model: &Model,
    weights: &StoredWeights<'_>,
    progress: &dyn Progress,
) -> Result<Vec<String>> {
    let mut omitted = Vec::new();
    let shortlist = match &bundle.shortlist_generator {
        Some(ShortlistGenerator::Shortlist(list)) => Some(list),
        Some(ShortlistGenerator::VocabularyMap(_)) => {
            omitted.push("the map of n-grams to target words (vmap.txt)".into());
            None
        }
        None => None,
    };
    let multipliers = model.activation_multipliers();
    let settings = &bundle.settings;
    let tokenizers = bundle.tokenizers.as_ref();
    let boundary = tokenizers.map(|pair| pair.source_boundary_tokens).unwrap_or_default();
    let have_same_ids =
        tokenizers.is_some_and(|TokenizerPair { vocabularies: [source, target], .. }| {
            source.has_same_ids(target)
        });
    // A model file that is converted again keeps its origin.
    let origin = bundle.format.strip_prefix(FORMAT_PREFIX).unwrap_or(&bundle.format);
    writer.write_metadata(&Metadata {
        architecture: model.architecture().clone(),
        origin: origin.to_owned(),
        vocabularies: tokenizers.map(vocabulary_metadata),
        shortlist_first: shortlist.map(|list| list.first() as u64),
        activation_multipliers: multipliers.iter().map(|(name, &m)| (name.clone(), m)).collect(),
        defaults: SearchDefaults {
            beam_size: settings.beam_size.map(|n| n as u64),
            normalize: settings.normalize,
            word_penalty: settings.word_penalty,
            max_length_factor: settings.max_length_factor,
        },
    })?;
    let extensions = Extensions {
        mini_batch: settings.mini_batch.map(|n| n as u64),
        maxi_batch: settings.maxi_batch.map(|n| n as u64),
        weight: settings.weights.first().copied(),
        codes: tokenizers.map(bpe_sections).unwrap_or_default(),
        words: tokenizers.map(word_rules).unwrap_or_default(),
        is_for_browsers: bundle.is_for_browsers,
        source_bos: boundary.bos_id,
        omits_source_eos: !boundary.has_eos,
        eos_after_tokens: boundary.eos_after_tokens,
        source_marker: boundary.marker_id,
        target_prefix: tokenizers.map(|pair| pair.target_prefix.clone()).unwrap_or_default(),
        alignment_heads: match model.architecture() {
            Architecture::Transformer(transformer) => {
                Some(transformer.alignment_heads).filter(|&heads| heads != 1)
            }
            _ => None,
        },
        shortlist_omits_source: have_same_ids && shortlist.is_some_and(|list| !list.is_shared()),
        has_separate_vocabularies: have_same_ids
            && tokenizers.is_some_and(
                |TokenizerPair { vocabularies: [source, target], .. }| {
                    source.name() != target.name()
                },
            ),
        decoder: StoredDecoderConfig::new(settings),
    };
    if extensions != Extensions::default() {
        let text = serde_json::to_vec(&extensions).expect("settings have a form in JSON");
        writer.write_section(EXTENSIONS_SECTION, &text[..])?;
    }
    if let Some(tokenizers) = tokenizers {
        write_tokenizers(writer, tokenizers)?;
    }
    if let Some(list) = shortlist {
        let (offsets, translations) = list.as_parts();
        writer.write_section("shortlist.offsets", offsets)?;
        writer.write_section("shortlist.words", translations)?;
    }
    write_tensors(writer, &weights.parameters, &weights.columns, progress)?;
    packed_weights::write(writer, &weights.packed, weights.packed_as, progress)?;
    let unused = model.unused_tensors().iter();
    omitted.extend(unused.map(|name| format!("{name}, which decoding does not use")));
    Ok(omitted)
}

fn vocabulary_metadata(tokenizers: &TokenizerPair) -> VocabularyMetadata {
    let [source, target] = &tokenizers.vocabularies;
    VocabularyMetadata {
        shared: Arc::ptr_eq(source, target) || source.has_same_ids(target),
        eos_ids: [source.eos_id(), target.eos_id()],
        unk_ids: [source.unk_id(), target.unk_id()],
        sentencepiece_sections: sentencepiece_sections(tokenizers),
    }
}

/// Returns, for each side, the side whose section has its SentencePiece model.
fn sentencepiece_sections(tokenizers: &TokenizerPair) -> [Option<u32>; 2] {
    shared_sections(tokenizers.segmentation.each_ref().map(|side| match side {
        Segmentation::SentencePiece(model) => Some(model.bytes.clone()),
        _ => None,
    }))
}

/// Returns, for each side, the side whose section has its BPE codes.
fn bpe_sections(tokenizers: &TokenizerPair) -> [Option<u32>; 2] {
    shared_sections(tokenizers.segmentation.each_ref().map(|side| match side {
        Segmentation::Bpe(file) => Some(file.bytes.clone()),
        _ => None,
    }))
}

/// Returns the rules by which text of each side is split into words before BPE.
fn word_rules(tokenizers: &TokenizerPair) -> [Option<WordRules>; 2] {
    tokenizers.segmentation.each_ref().map(|side| match side {
        Segmentation::Bpe(file) => file.words.as_ref().map(|words| words.rules().clone()),
        _ => None,
    })
}

/// Returns, for each side, the side whose section has its file. If both files are equal, only the
/// source has a section.
fn shared_sections(files: [Option<Bytes>; 2]) -> [Option<u32>; 2] {
    let [source, target] = &files;
    let same = matches!((source, target), (Some(one), Some(other)) if one[..] == other[..]);
    [source.as_ref().map(|_| 0), target.as_ref().map(|_| if same { 0 } else { 1 })]
}

/// Writes the vocabularies and the files of the segmentation. What both sides share is written
/// once.
fn write_tokenizers(writer: &mut ContainerWriter, tokenizers: &TokenizerPair) -> Result<()> {
    let (metadata, codes) = (vocabulary_metadata(tokenizers), bpe_sections(tokenizers));
    let sides = if metadata.shared { 1 } else { 2 };
    for (name, vocabulary) in SIDES.into_iter().zip(&tokenizers.vocabularies).take(sides) {
        if let Some(word) = vocabulary.repeated_word() {
            let word = String::from_utf8_lossy(word);
            let reason = format!(
                "the token {word:?} has several ids, which a model file cannot store; use the \
                 folder of the model without converting it"
            );
            return Err(Error::unsupported(Path::new(vocabulary.name()), reason));
        }
        Dictionary::write(writer, name, vocabulary.iter())?;
    }
    for (side, segmentation) in tokenizers.segmentation.iter().enumerate() {
        match segmentation {
            Segmentation::SentencePiece(model)
                if metadata.sentencepiece_sections[side] == Some(side as u32) =>
            {
                writer.write_section(&format!("{}.spm", SIDES[side]), &model.bytes[..])?;
            }
            Segmentation::Bpe(file) if codes[side] == Some(side as u32) => {
                writer.write_section(&format!("{}.bpe", SIDES[side]), &file.bytes[..])?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Writes a record for each of `parameters`, and the elements of those that are not in `packed`.
fn write_tensors(
    writer: &mut ContainerWriter,
    parameters: &[(&str, &Tensor)],
    packed: &BTreeMap<String, LosslessColumns>,
    progress: &dyn Progress,
) -> Result<()> {
    let names = parameters.iter().map(|(name, _)| name.as_bytes());
    StringPool::write(writer, "tensors", names)?;
    let mut records = Vec::new();
    let mut multipliers: Vec<f32> = Vec::new();
    let mut end = 0u64;
    for &(name, tensor) in parameters {
        let dtype = stored_dtype(tensor);
        let (&[rows, columns], Some(number)) =
            (tensor.shape(), DTYPES.iter().position(|&known| known == dtype))
        else {
            let place = writer.path().to_owned();
            return Err(Error::mismatch(&place, name, format!("{tensor:?} cannot be stored")));
        };
        let is_float = dtype == DType::F32;
        let order = if is_float { StorageOrder::RowMajor } else { tensor.order() };
        let first_multiplier = multipliers.len() as u64;
        match tensor.multipliers().filter(|_| !is_float) {
            None => {}
            Some(QuantMultipliers::PerTensor(multiplier)) => multipliers.push(*multiplier),
            Some(QuantMultipliers::PerChannel(all)) => multipliers.extend_from_slice(all),
        }
        let (packing, start, length) = match packed.get(name) {
            Some(columns) => (PACKING_COLUMNS, columns.first, columns.matrix),
            None => {
                let start = end.next_multiple_of(ALIGNMENT);
                let length = (tensor.numel() * dtype.size()) as u64;
                end = start + length;
                (PACKING_NONE, start, length)
            }
        };
        records.push(TensorRecord {
            rows: rows as u64,
            columns: columns as u64,
            start,
            length,
            first_multiplier,
            multipliers: multipliers.len() as u64 - first_multiplier,
            dtype: number as u32,
            order: STORAGE_ORDERS.iter().position(|&known| known == order).unwrap_or(0) as u32,
            packing,
            reserved: 0,
        });
    }
    writer.write_section("tensors.table", &records)?;
    writer.write_section("tensors.scales", &multipliers)?;
    let task = progress.task("writing", Some(end));
    let mut section = writer.begin_section("tensors.data", 1, end)?;
    let unpacked = parameters.iter().zip(&records).filter(|(_, one)| one.packing == PACKING_NONE);
    for ((_, tensor), record) in unpacked {
        let padding = record.start - section.len();
        section.write(&[0; ALIGNMENT as usize][..padding as usize])?;
        if stored_dtype(tensor) == DType::F32 {
            section.write(tensor.values().as_bytes())?;
        } else {
            section.write(tensor.bytes())?;
        }
        task.set_position(record.start + record.length);
    }
    Ok(section.finish()?)
}

/// Returns the type in which a tensor is stored: its own for integers with multipliers, else f32.
fn stored_dtype(tensor: &Tensor) -> DType {
    match tensor.dtype() {
        dtype @ (DType::I8 | DType::I16 | DType::I32) if tensor.multipliers().is_some() => dtype,
        _ => DType::F32,
    }
}
