//! Functions that open and check model files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use miriam_storage::dictionary::{Dictionary, StringPool};
use miriam_storage::{Bytes, Container, LoadMethod};

use super::packed_weights::size;
use super::{
    DTYPES, EXTENSIONS_SECTION, Extensions, FORMAT_PREFIX, KIND, LATER_MODELS, Metadata,
    PACKING_COLUMNS, PACKING_NONE, SIDES, STORAGE_ORDERS, TensorRecord, VERSION_COLUMNS,
    VERSION_PACKED, VERSION_PLAIN, VocabularyMetadata, packed_weights,
};
use crate::Result;
use crate::architecture::{Architecture, Model};
use crate::checkpoint::{DType, OwnedBytes, PackedColumns, QuantMultipliers, StorageOrder, Tensor};
use crate::decoder_config::{DecoderConfig, DecodingSemantics};
use crate::model_bundle::{BoundaryTokens, ModelBundle, ShortlistGenerator, TokenizerPair};
use crate::packed::{MappedMatrix, is_transposed};
use crate::segmentation::{BpeCodesFile, Segmentation, SentencePieceModel};
use crate::shortlist::Shortlist;
use crate::vocabulary::Vocabulary;

/// Opens the file at `path` in time that does not grow with its weights.
///
/// # Errors
/// If the file cannot be read, is damaged, or is of another kind or version.
pub fn open(path: &Path) -> Result<ModelBundle> {
    from_container(&Container::open_any(path, LoadMethod::Lazy)?)
}

/// Checks what opening does not check, except for checksums: that every token is found under its
/// id, and that all weights are finite.
///
/// # Errors
/// If a part is damaged; the error names the first such part.
pub fn verify(container: &Container) -> Result<()> {
    let bundle = from_container(container)?;
    let metadata: Metadata = container.metadata()?;
    if let Some(words) = &metadata.vocabularies {
        for name in SIDES.into_iter().take(if words.shared { 1 } else { 2 }) {
            Dictionary::open(container, name)?.verify().map_err(|id| {
                container.damaged(name, format!("word {id} is not found under its id"))
            })?;
        }
    }
    bundle.models.iter().try_for_each(|model| model.check_finite(container.path()))
}

/// Opens the model file in a container.
///
/// # Errors
/// If the container is of another kind or version, or a part of it is damaged.
pub fn from_container(container: &Container) -> Result<ModelBundle> {
    let version = match container.kind_version() {
        known @ VERSION_PLAIN..=VERSION_COLUMNS => known,
        // Rejected by `expect_kind`.
        _ => VERSION_COLUMNS,
    };
    let is_packed =
        [VERSION_PACKED, VERSION_PACKED + LATER_MODELS, VERSION_COLUMNS].contains(&version);
    let container = container.clone().expect_kind(KIND, version)?;
    let mut metadata: Metadata = container.metadata()?;
    let extensions = read_extensions(&container)?;
    if let (Architecture::Transformer(transformer), Some(heads)) =
        (&mut metadata.architecture, extensions.alignment_heads)
    {
        transformer.alignment_heads = heads;
    }
    metadata.architecture.validate().map_err(|reason| container.damaged("metadata", reason))?;
    let tokenizers = match &metadata.vocabularies {
        Some(vocabularies) => Some(open_tokenizers(&container, vocabularies, &extensions)?),
        None => None,
    };
    let tables = metadata.architecture.embeddings();
    if let Some(TokenizerPair { vocabularies: [source, target], .. }) = &tokenizers
        && [source.len(), target.len()] != [tables.source_vocab_size, tables.target_vocab_size]
    {
        let reason = format!(
            "the vocabularies have {} and {} words, but the tables {} and {} rows",
            source.len(),
            target.len(),
            tables.source_vocab_size,
            tables.target_vocab_size
        );
        return Err(container.damaged("metadata", reason).into());
    }
    let shortlist_generator = match (metadata.shortlist_first, &tokenizers) {
        (Some(first), Some(tokenizers)) => {
            let offsets = container.section::<u64>("shortlist.offsets")?;
            let translations = container.section::<u32>("shortlist.words")?;
            let first = usize::try_from(first).unwrap_or(usize::MAX);
            let [source, target] = &tokenizers.vocabularies;
            let is_shared = !extensions.shortlist_omits_source && source.has_same_ids(target);
            let sides = [&**source, &**target];
            let list = Shortlist::from_parts(first, &offsets, &translations, sides, is_shared);
            Some(ShortlistGenerator::Shortlist(list.ok_or_else(|| {
                container.damaged("shortlist.offsets", "it does not fit the vocabularies")
            })?))
        }
        _ => None,
    };
    let packed = if is_packed { Some(packed_weights::open(&container)?) } else { None };
    let tensors = open_tensors(&container, packed.as_ref().map(|packed| &packed.matrices))?;
    let multipliers = metadata.activation_multipliers.into_iter().collect();
    let (architecture, path) = (metadata.architecture, container.path());
    let model = Model::with_packed(architecture, tensors, multipliers, packed, path)?;
    let defaults = metadata.defaults;
    Ok(ModelBundle {
        path: container.path().to_owned(),
        format: format!("{FORMAT_PREFIX}{}", metadata.origin),
        semantics: origin_semantics(&metadata.origin),
        files: vec![container.path().to_owned()],
        models: vec![model],
        tokenizers,
        shortlist_generator,
        shortlist_path: None,
        is_for_browsers: extensions.is_for_browsers,
        settings: DecoderConfig {
            beam_size: defaults.beam_size.and_then(|n| usize::try_from(n).ok()),
            normalize: defaults.normalize,
            word_penalty: defaults.word_penalty,
            max_length_factor: defaults.max_length_factor,
            mini_batch: extensions.mini_batch.and_then(|n| usize::try_from(n).ok()),
            maxi_batch: extensions.maxi_batch.and_then(|n| usize::try_from(n).ok()),
            weights: extensions.weight.into_iter().collect(),
            ..extensions.decoder.into_config()
        },
    })
}

/// Returns the rules of decoding of the program that a model was converted from. The metadata names
/// that program by the description of its format only, so these names are part of the file format.
fn origin_semantics(origin: &str) -> DecodingSemantics {
    if ["CTranslate2", "Hugging Face"].iter().any(|name| origin.contains(name)) {
        DecodingSemantics::CTranslate2
    } else {
        DecodingSemantics::Marian
    }
}

/// Reads the extensions of the metadata; returns the defaults if the file has none.
fn read_extensions(container: &Container) -> Result<Extensions> {
    if !container.sections().iter().any(|section| section.name == EXTENSIONS_SECTION) {
        return Ok(Extensions::default());
    }
    let text = container.section::<u8>(EXTENSIONS_SECTION)?;
    serde_json::from_slice(&text)
        .map_err(|e| container.damaged(EXTENSIONS_SECTION, e.to_string()).into())
}

fn open_vocabulary(
    container: &Container,
    metadata: &VocabularyMetadata,
    side: usize,
) -> Result<Vocabulary> {
    let section = SIDES[if metadata.shared { 0 } else { side }];
    let words = Dictionary::open(container, section)?;
    let (end, unknown) = (metadata.eos_ids[side], metadata.unk_ids[side]);
    if [end, unknown].iter().any(|&id| id as usize >= words.len()) {
        let reason = "the id of EOS or of the unknown token is out of range";
        return Err(container.damaged(section, reason).into());
    }
    let name = format!("{} ({})", container.path().display(), SIDES[side]);
    Ok(Vocabulary::from_mapped(words, name, end, unknown))
}

fn open_tokenizers(
    container: &Container,
    metadata: &VocabularyMetadata,
    extensions: &Extensions,
) -> Result<TokenizerPair> {
    let source = Arc::new(open_vocabulary(container, metadata, 0)?);
    let is_shared = metadata.shared && !extensions.has_separate_vocabularies;
    let have_same_tokens =
        [metadata.eos_ids, metadata.unk_ids].iter().all(|[source, target]| source == target);
    let target = if is_shared && have_same_tokens {
        Arc::clone(&source)
    } else {
        Arc::new(open_vocabulary(container, metadata, 1)?)
    };
    let mut models: [Option<SentencePieceModel>; 2] = [None, None];
    let mut segmentation = [Segmentation::Presegmented, Segmentation::Presegmented];
    for (side, section) in metadata.sentencepiece_sections.iter().enumerate() {
        let Some(section) = *section else { continue };
        let section = section as usize;
        let name = SIDES.get(section).filter(|_| section <= side);
        let name = name.ok_or_else(|| {
            container.damaged("metadata", "invalid section of a SentencePiece model")
        })?;
        if models[section].is_none() {
            let bytes = container.section::<u8>(&format!("{name}.spm"))?;
            let place = format!("{} ({name}.spm)", container.path().display());
            models[section] =
                Some(SentencePieceModel::from_bytes(Bytes::copy_from(&bytes), place)?);
        }
        if let Some(model) = &models[section] {
            segmentation[side] = Segmentation::SentencePiece(model.clone());
        }
    }
    for (side, section) in extensions.codes.iter().enumerate() {
        let Some(section) = *section else { continue };
        let name = SIDES.get(section as usize).filter(|_| section as usize <= side);
        let name =
            name.ok_or_else(|| container.damaged("metadata", "invalid section of BPE codes"))?;
        let codes = match &segmentation[0] {
            Segmentation::Bpe(codes) if section == 0 => codes.clone(),
            _ => {
                let bytes = container.section::<u8>(&format!("{name}.bpe"))?;
                let place = format!("{} ({name}.bpe)", container.path().display());
                BpeCodesFile::from_bytes(Bytes::copy_from(&bytes), &place)?
            }
        };
        segmentation[side] = Segmentation::Bpe(codes.with_words(extensions.words[side].clone()));
    }
    let source_boundary_tokens = BoundaryTokens {
        bos_id: extensions.source_bos,
        has_eos: !extensions.omits_source_eos,
        eos_after_tokens: extensions.eos_after_tokens,
        marker_id: extensions.source_marker,
    };
    let BoundaryTokens { bos_id, marker_id, .. } = source_boundary_tokens;
    if bos_id.into_iter().chain(marker_id).any(|id| id as usize >= source.len()) {
        let reason = "the token that sources begin with is out of range";
        return Err(container.damaged(EXTENSIONS_SECTION, reason).into());
    }
    let target_prefix = extensions.target_prefix.clone();
    if target_prefix.iter().any(|&id| id as usize >= target.len()) {
        let reason = "a token that translations begin with is out of range";
        return Err(container.damaged(EXTENSIONS_SECTION, reason).into());
    }
    Ok(TokenizerPair {
        vocabularies: [source, target],
        segmentation,
        source_boundary_tokens,
        target_prefix,
    })
}

fn open_tensors(
    container: &Container,
    packed: Option<&BTreeMap<String, MappedMatrix>>,
) -> Result<BTreeMap<String, Tensor>> {
    // The matrices in the order of the file, which is the order of their names.
    let packed: Vec<_> = packed.into_iter().flatten().collect();
    let names = StringPool::open(container, "tensors")?;
    let records = container.section::<TensorRecord>("tensors.table")?;
    let scales = container.section::<f32>("tensors.scales")?;
    let data = OwnedBytes::new(container.section::<u8>("tensors.data")?);
    if names.len() != records.len() {
        let reason = format!("{} names for {} tensors", names.len(), records.len());
        return Err(container.damaged("tensors.table", reason).into());
    }
    let mut tensors = BTreeMap::new();
    for (id, record) in records.iter().enumerate() {
        let name = names.get(id as u32).unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        let tensor = open_tensor(record, &scales, &data, &packed);
        let tensor = tensor.map_err(|reason| container.damaged(&name, reason))?;
        if tensors.insert(name.clone(), tensor).is_some() {
            return Err(container.damaged(&name, "it occurs twice").into());
        }
    }
    Ok(tensors)
}

fn open_tensor(
    record: &TensorRecord,
    scales: &[f32],
    data: &OwnedBytes,
    packed: &[(&String, &MappedMatrix)],
) -> Result<Tensor, String> {
    let dtype = *DTYPES.get(record.dtype as usize).ok_or("its data type is not known")?;
    let order =
        *STORAGE_ORDERS.get(record.order as usize).ok_or("its storage order is not known")?;
    if dtype == DType::F32 && order != StorageOrder::RowMajor {
        return Err("floats in column-major order".into());
    }
    let shape = [size(record.rows)?, size(record.columns)?];
    let tensor = match record.packing {
        PACKING_NONE => {
            let data = data.slice(size(record.start)?, size(record.length)?);
            let data = data.ok_or("it exceeds the section of data")?;
            if !record.start.is_multiple_of(super::ALIGNMENT) {
                return Err("it is misaligned".into());
            }
            Tensor::new(shape.to_vec(), dtype, order, data)?
        }
        PACKING_COLUMNS => {
            let matrix = packed.get(size(record.length)?);
            let (key, matrix) = *matrix.ok_or("its packed matrix is missing")?;
            let is_table = is_transposed(key);
            let count = shape[if is_table { 0 } else { 1 }];
            let first = size(record.start)?;
            let columns = PackedColumns::new(matrix.clone(), first, count, is_table)?;
            let tensor = Tensor::from_packed(columns);
            if (tensor.shape(), tensor.dtype(), tensor.order()) != (&shape[..], dtype, order) {
                return Err(format!("the packed matrix {key} has {tensor:?} instead"));
            }
            tensor
        }
        other => {
            return Err(format!("unknown packing {other}"));
        }
    };
    let (first, count) = (size(record.first_multiplier)?, size(record.multipliers)?);
    let scales = first.checked_add(count).and_then(|end| scales.get(first..end));
    match scales.ok_or("its multipliers exceed their section")? {
        [] => Ok(tensor),
        &[one] if tensor.channels() != 1 => {
            tensor.with_multipliers(QuantMultipliers::PerTensor(one))
        }
        all => tensor.with_multipliers(QuantMultipliers::PerChannel(all.into())),
    }
}
