//! Opening and checking the file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use miriam_storage::dictionary::{Dictionary, StringPool};
use miriam_storage::{Bytes, Container, Load};

use super::{
    ELEMENTS, KIND, MORE, Metadata, More, ORDERS, PLAIN, Record, SIDES, VERSION, VERSION_PLAIN,
    WordsMetadata, packed,
};
use crate::Result;
use crate::architecture::Model;
use crate::checkpoint::{Element, Multipliers, Order, Tensor, Window};
use crate::package::{Candidates, Package, Words};
use crate::segmentation::{CodesFile, PieceModel, Segmentation};
use crate::settings::Settings;
use crate::shortlist::Shortlist;
use crate::vocabulary::Vocabulary;

/// Opens the file at `path`, in time that does not grow with its weights.
pub fn open(path: &Path) -> Result<Package> {
    from_container(&Container::open_any(path, Load::Lazy)?)
}

/// Checks what opening does not, beside checksums: that every word is found under its id
/// and that all weights are numbers.
pub fn verify(container: &Container) -> Result<()> {
    let package = from_container(container)?;
    let metadata: Metadata = container.metadata()?;
    if let Some(words) = &metadata.words {
        for name in SIDES.into_iter().take(if words.shared { 1 } else { 2 }) {
            Dictionary::open(container, name)?.verify().map_err(|id| {
                container.damaged(name, format!("word {id} is not found under its id"))
            })?;
        }
    }
    for (name, tensor) in package.models.iter().flat_map(Model::parameters) {
        if let Some(value) = tensor.values().iter().find(|value| !value.is_finite()) {
            return Err(container.damaged(name, format!("a weight is {value}")).into());
        }
    }
    Ok(())
}

/// A container whose first page has been checked; it must be of this kind and version.
pub fn from_container(container: &Container) -> Result<Package> {
    let version = match container.kind_version() {
        VERSION_PLAIN => VERSION_PLAIN,
        _ => VERSION,
    };
    let container = container.clone().expect(KIND, version)?;
    let metadata: Metadata = container.metadata()?;
    metadata.architecture.check().map_err(|reason| container.damaged("metadata", reason))?;
    let more = more(&container)?;
    let words = match &metadata.words {
        Some(words) => Some(open_words(&container, words, &more)?),
        None => None,
    };
    let tables = metadata.architecture.tables();
    if let Some(Words { vocabularies: [source, target], .. }) = &words
        && [source.len(), target.len()] != [tables.source_words, tables.target_words]
    {
        let reason = format!(
            "vocabularies of {} and {} words for tables of {} and {} rows",
            source.len(),
            target.len(),
            tables.source_words,
            tables.target_words
        );
        return Err(container.damaged("metadata", reason).into());
    }
    let candidates = match (metadata.shortlist_first, &words) {
        (Some(first), Some(words)) => {
            let offsets = container.section::<u64>("shortlist.offsets")?;
            let translations = container.section::<u32>("shortlist.words")?;
            let first = usize::try_from(first).unwrap_or(usize::MAX);
            let [source, target] = &words.vocabularies;
            let list = Shortlist::from_parts(first, &offsets, &translations, source, target);
            let wrong = || container.damaged("shortlist.offsets", "it does not fit the words");
            Some(Candidates::Shortlist(list.ok_or_else(wrong)?))
        }
        _ => None,
    };
    let tensors = open_tensors(&container)?;
    let multipliers = metadata.activation_multipliers.into_iter().collect();
    let stored = if version == VERSION { Some(packed::open(&container)?) } else { None };
    let (architecture, path) = (metadata.architecture, container.path());
    let model = Model::with_stored(architecture, tensors, multipliers, stored, path)?;
    let defaults = metadata.defaults;
    Ok(Package {
        path: container.path().to_owned(),
        format: format!("miriam, from: {}", metadata.origin),
        files: Vec::new(),
        models: vec![model],
        words,
        candidates,
        settings: Settings {
            beam_size: defaults.beam_size.and_then(|n| usize::try_from(n).ok()),
            normalize: defaults.normalize,
            word_penalty: defaults.word_penalty,
            max_length_factor: defaults.max_length_factor,
            mini_batch: more.mini_batch.and_then(|n| usize::try_from(n).ok()),
            maxi_batch: more.maxi_batch.and_then(|n| usize::try_from(n).ok()),
            weights: more.weight.into_iter().collect(),
            ..Settings::default()
        },
    })
}

/// What files have beside their metadata, if they have.
fn more(container: &Container) -> Result<More> {
    if !container.sections().iter().any(|section| section.name == MORE) {
        return Ok(More::default());
    }
    let text = container.section::<u8>(MORE)?;
    serde_json::from_slice(&text).map_err(|e| container.damaged(MORE, e.to_string()).into())
}

fn open_words(container: &Container, metadata: &WordsMetadata, more: &More) -> Result<Words> {
    let open = |side: usize| -> Result<Vocabulary> {
        let section = SIDES[if metadata.shared { 0 } else { side }];
        let words = Dictionary::open(container, section)?;
        let (end, unknown) = (metadata.ends[side], metadata.unknowns[side]);
        if [end, unknown].iter().any(|&id| id as usize >= words.len()) {
            let reason = "the end of a sentence or the unknown word is no word";
            return Err(container.damaged(section, reason).into());
        }
        let name = format!("{} ({})", container.path().display(), SIDES[side]);
        Ok(Vocabulary::mapped(words, name, end, unknown))
    };
    let source = Arc::new(open(0)?);
    let target = if metadata.shared && metadata.ends[0] == metadata.ends[1] {
        Arc::clone(&source)
    } else {
        Arc::new(open(1)?)
    };
    let mut models: [Option<PieceModel>; 2] = [None, None];
    let mut segmentation = [Segmentation::Pieces, Segmentation::Pieces];
    for (side, section) in metadata.pieces.iter().enumerate() {
        let Some(section) = *section else { continue };
        let section = section as usize;
        let name = SIDES.get(section).filter(|_| section <= side);
        let name = name.ok_or_else(|| container.damaged("metadata", "pieces of no side"))?;
        if models[section].is_none() {
            let bytes = container.section::<u8>(&format!("{name}.spm"))?;
            let place = format!("{} ({name}.spm)", container.path().display());
            models[section] = Some(PieceModel::from_bytes(Bytes::copy_from(&bytes), place)?);
        }
        if let Some(model) = &models[section] {
            segmentation[side] = Segmentation::SentencePiece(model.clone());
        }
    }
    for (side, section) in more.codes.iter().enumerate() {
        let Some(section) = *section else { continue };
        let name = SIDES.get(section as usize).filter(|_| section as usize <= side);
        let name = name.ok_or_else(|| container.damaged("metadata", "codes of no side"))?;
        segmentation[side] = match &segmentation[0] {
            Segmentation::Bpe(codes) if section == 0 => Segmentation::Bpe(codes.clone()),
            _ => {
                let bytes = container.section::<u8>(&format!("{name}.bpe"))?;
                let place = format!("{} ({name}.bpe)", container.path().display());
                Segmentation::Bpe(CodesFile::from_bytes(Bytes::copy_from(&bytes), &place)?)
            }
        };
    }
    Ok(Words { vocabularies: [source, target], segmentation })
}

fn open_tensors(container: &Container) -> Result<BTreeMap<String, Tensor>> {
    let names = StringPool::open(container, "tensors")?;
    let records = container.section::<Record>("tensors.table")?;
    let scales = container.section::<f32>("tensors.scales")?;
    let data = Window::new(container.section::<u8>("tensors.data")?);
    if names.len() != records.len() {
        let reason = format!("{} names for {} tensors", names.len(), records.len());
        return Err(container.damaged("tensors.table", reason).into());
    }
    let mut tensors = BTreeMap::new();
    for (id, record) in records.iter().enumerate() {
        let name = names.get(id as u32).unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        let tensor = tensor(record, &scales, &data);
        let tensor = tensor.map_err(|reason| container.damaged(&name, reason))?;
        if tensors.insert(name.clone(), tensor).is_some() {
            return Err(container.damaged(&name, "it is there twice").into());
        }
    }
    Ok(tensors)
}

fn tensor(record: &Record, scales: &[f32], data: &Window) -> Result<Tensor, String> {
    let size = |number: u64| usize::try_from(number).map_err(|_| "it is too large".to_owned());
    if record.packing != PLAIN {
        return Err(format!(
            "packed in a way, {}, that this program does not know",
            record.packing
        ));
    }
    let element = *ELEMENTS.get(record.element as usize).ok_or("its elements are not known")?;
    let order = *ORDERS.get(record.order as usize).ok_or("its order is not known")?;
    if element == Element::F32 && order != Order::Rows {
        return Err("floats lie in columns".into());
    }
    let data = data.part(size(record.start)?, size(record.length)?);
    let data = data.ok_or("it does not lie in the section of data")?;
    if !record.start.is_multiple_of(super::ALIGNMENT) {
        return Err("it is misaligned".into());
    }
    let shape = vec![size(record.rows)?, size(record.columns)?];
    let tensor = Tensor::new(shape, element, order, data)?;
    let (first, count) = (size(record.first_multiplier)?, size(record.multipliers)?);
    let scales = first.checked_add(count).and_then(|end| scales.get(first..end));
    match scales.ok_or("its multipliers do not lie in their section")? {
        [] => Ok(tensor),
        &[one] if tensor.runs() != 1 => tensor.with_multipliers(Multipliers::One(one)),
        all => tensor.with_multipliers(Multipliers::EachRun(all.into())),
    }
}
