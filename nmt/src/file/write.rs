//! Writing the file.

use std::path::Path;
use std::sync::Arc;

use miriam_storage::dictionary::{Dictionary, StringPool};
use miriam_storage::zerocopy::IntoBytes;
use miriam_storage::{Bytes, ContainerWriter};
use miriam_textio::Progress;

use super::{
    ALIGNMENT, Defaults, ELEMENTS, KIND, MORE, Metadata, More, ORDERS, PLAIN, Record, SIDES,
    VERSION, VERSION_PLAIN, WordsMetadata, packed,
};
use crate::architecture::Model;
use crate::checkpoint::{Element, Multipliers, Order, Tensor};
use crate::engine::Precision;
use crate::network;
use crate::package::{Candidates, Package, Words};
use crate::segmentation::Segmentation;
use crate::{Error, Result};

/// Writes `package`, which must be one model with vocabularies, to the file `output`.
/// Returns what the file leaves out.
///
/// With a precision, what products multiply with is packed for it, which opens at once and
/// serves no other; else all parameters stay plain numbers.
pub fn write(
    package: &Package,
    precision: Option<Precision>,
    output: &Path,
    progress: &dyn Progress,
) -> Result<Vec<String>> {
    let [model] = &package.models[..] else {
        let reason = format!(
            "{} models vote here; convert each by itself and name them together",
            package.models.len()
        );
        return Err(Error::unsupported(&package.path, reason));
    };
    // What is packed already cannot become plain again.
    let precision = precision.or(model.precision());
    let version = if precision.is_some() { VERSION } else { VERSION_PLAIN };
    let mut writer = ContainerWriter::create(output, KIND, version)?;
    let left_out = write_to(&mut writer, package, model, precision, progress)?;
    writer.finish()?;
    Ok(left_out)
}

pub(super) fn write_to(
    writer: &mut ContainerWriter,
    package: &Package,
    model: &Model,
    precision: Option<Precision>,
    progress: &dyn Progress,
) -> Result<Vec<String>> {
    let mut left_out = Vec::new();
    let shortlist = match &package.candidates {
        Some(Candidates::Shortlist(list)) => Some(list),
        Some(Candidates::VocabularyMap(_)) => {
            left_out.push("the map of n-grams to target words (vmap.txt)".into());
            None
        }
        None => None,
    };
    let multipliers = model.activation_multipliers();
    let settings = &package.settings;
    writer.metadata(&Metadata {
        architecture: model.architecture().clone(),
        origin: package.format.clone(),
        words: package.words.as_ref().map(words_metadata),
        shortlist_first: shortlist.map(|list| list.first() as u64),
        activation_multipliers: multipliers.iter().map(|(name, &m)| (name.clone(), m)).collect(),
        defaults: Defaults {
            beam_size: settings.beam_size.map(|n| n as u64),
            normalize: settings.normalize,
            word_penalty: settings.word_penalty,
            max_length_factor: settings.max_length_factor,
        },
    })?;
    let more = More {
        mini_batch: settings.mini_batch.map(|n| n as u64),
        maxi_batch: settings.maxi_batch.map(|n| n as u64),
        weight: settings.weights.first().copied(),
        codes: package.words.as_ref().map(codes).unwrap_or_default(),
    };
    if more != More::default() {
        let text = serde_json::to_vec(&more).expect("numbers have a form in JSON");
        writer.section(MORE, &text[..])?;
    }
    if let Some(words) = &package.words {
        write_words(writer, words)?;
    }
    if let Some(list) = shortlist {
        let (offsets, translations) = list.parts();
        writer.section("shortlist.offsets", offsets)?;
        writer.section("shortlist.words", translations)?;
    }
    match precision {
        None => write_tensors(writer, &model.parameters().collect::<Vec<_>>(), progress)?,
        Some(precision) => {
            let recording = network::recording(model, &package.path, precision)?;
            let plain = model.parameters().filter(|(name, _)| recording.plain.contains(*name));
            write_tensors(writer, &plain.collect::<Vec<_>>(), progress)?;
            packed::write(writer, &recording, precision, progress)?;
        }
    }
    left_out
        .extend(model.unused().iter().map(|name| format!("{name}, which decoding does not use")));
    Ok(left_out)
}

fn words_metadata(words: &Words) -> WordsMetadata {
    let [source, target] = &words.vocabularies;
    let shared = Arc::ptr_eq(source, target) || source.same_words(target);
    let bytes = |side: &Segmentation| match side {
        Segmentation::SentencePiece(model) => Some(model.bytes.clone()),
        _ => None,
    };
    let pieces = sections(words.segmentation.each_ref().map(bytes));
    let vocabularies = &words.vocabularies;
    WordsMetadata {
        shared,
        ends: [vocabularies[0].end(), vocabularies[1].end()],
        unknowns: [vocabularies[0].unknown(), vocabularies[1].unknown()],
        pieces,
    }
}

/// The sides whose sections hold the codes of byte pair encoding of each side.
fn codes(words: &Words) -> [Option<u32>; 2] {
    sections(words.segmentation.each_ref().map(|side| match side {
        Segmentation::Bpe(file) => Some(file.bytes.clone()),
        _ => None,
    }))
}

/// The side whose section holds the file of each side: what both have is stored once.
fn sections(files: [Option<Bytes>; 2]) -> [Option<u32>; 2] {
    let [source, target] = &files;
    let same = matches!((source, target), (Some(one), Some(other)) if one[..] == other[..]);
    [source.as_ref().map(|_| 0), target.as_ref().map(|_| if same { 0 } else { 1 })]
}

fn write_words(writer: &mut ContainerWriter, words: &Words) -> Result<()> {
    let (metadata, codes) = (words_metadata(words), codes(words));
    let sides = if metadata.shared { 1 } else { 2 };
    for (name, vocabulary) in SIDES.into_iter().zip(&words.vocabularies).take(sides) {
        Dictionary::write(writer, name, vocabulary.iter())?;
    }
    for (side, segmentation) in words.segmentation.iter().enumerate() {
        match segmentation {
            Segmentation::SentencePiece(model) if metadata.pieces[side] == Some(side as u32) => {
                writer.section(&format!("{}.spm", SIDES[side]), &model.bytes[..])?;
            }
            Segmentation::Bpe(file) if codes[side] == Some(side as u32) => {
                writer.section(&format!("{}.bpe", SIDES[side]), &file.bytes[..])?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn write_tensors(
    writer: &mut ContainerWriter,
    parameters: &[(&str, &Tensor)],
    progress: &dyn Progress,
) -> Result<()> {
    let names = parameters.iter().map(|(name, _)| name.as_bytes());
    StringPool::write(writer, "tensors", names)?;
    let mut records = Vec::new();
    let mut multipliers: Vec<f32> = Vec::new();
    let mut end = 0u64;
    for &(name, tensor) in parameters {
        let element = stored_as(tensor);
        let (&[rows, columns], Some(number)) =
            (tensor.shape(), ELEMENTS.iter().position(|&known| known == element))
        else {
            let place = writer.path().to_owned();
            return Err(Error::mismatch(&place, name, format!("{tensor:?} cannot be stored")));
        };
        let is_float = element == Element::F32;
        let order = if is_float { Order::Rows } else { tensor.order() };
        let first_multiplier = multipliers.len() as u64;
        match tensor.multipliers().filter(|_| !is_float) {
            None => {}
            Some(Multipliers::One(multiplier)) => multipliers.push(*multiplier),
            Some(Multipliers::EachRun(all)) => multipliers.extend_from_slice(all),
        }
        let start = end.next_multiple_of(ALIGNMENT);
        let length = (tensor.count() * element.size()) as u64;
        end = start + length;
        records.push(Record {
            rows: rows as u64,
            columns: columns as u64,
            start,
            length,
            first_multiplier,
            multipliers: multipliers.len() as u64 - first_multiplier,
            element: number as u32,
            order: ORDERS.iter().position(|&known| known == order).unwrap_or(0) as u32,
            packing: PLAIN,
            zero: 0,
        });
    }
    writer.section("tensors.table", &records)?;
    writer.section("tensors.scales", &multipliers)?;
    progress.begin("writing", Some(end));
    let mut section = writer.begin_section("tensors.data", 1, end)?;
    for ((_, tensor), record) in parameters.iter().zip(&records) {
        let padding = record.start - section.len();
        section.write(&[0; ALIGNMENT as usize][..padding as usize])?;
        if stored_as(tensor) == Element::F32 {
            section.write(tensor.values().as_bytes())?;
        } else {
            section.write(tensor.bytes())?;
        }
        progress.reached(record.start + record.length);
    }
    section.finish()?;
    progress.end();
    Ok(())
}

/// Integers with a multiplier stay, everything else becomes f32.
fn stored_as(tensor: &Tensor) -> Element {
    match tensor.element() {
        element @ (Element::I8 | Element::I16 | Element::I32) if tensor.multipliers().is_some() => {
            element
        }
        _ => Element::F32,
    }
}
