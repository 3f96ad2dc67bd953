//! Weights packed for GEMM in the layout of the engine, opened without reading them.
//!
//! A matrix here is the right-hand side of one GEMM: several parameters side by side if layers
//! compute them together. If packing rounds a parameter, the file may also store it as a tensor:
//! for other precisions, or as a table of embeddings.

use std::collections::BTreeMap;
use std::ops::Range;

use miriam_kernels::pack::{Layout, Line};
use miriam_storage::dictionary::StringPool;
use miriam_storage::zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};
use miriam_storage::{Container, ContainerWriter, View};
use miriam_textio::Progress;

use crate::Result;
use crate::packed::{MappedMatrix, PackedMatrices, PackedParts, Precision};

/// The record of a packed matrix.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[zerocopy(crate = "miriam_storage::zerocopy")]
#[repr(C)]
struct PackedRecord {
    depth: u64,
    columns: u64,
    /// Index in `packed.lines`.
    first_line: u64,
    lines: u64,
    /// Index in `packed.scales`.
    first_scale: u64,
    scales: u64,
    /// Index in `packed.corrections`.
    first_correction: u64,
    corrections: u64,
    /// The largest Euclidean norm of an accumulation run of any column, for 16 bits.
    norm: u32,
    reserved: u32,
}

/// Returns the layouts of a precision with their versions, as text.
fn layout_signature(precision: Precision) -> String {
    fn text(layout: Layout) -> String {
        format!("{}/{}", layout.name(), layout.version())
    }
    let [encoder, others] = ["encoder", ""].map(|name| precision.layout(name));
    if encoder == others {
        text(others)
    } else {
        format!("{}, encoder {}", text(others), text(encoder))
    }
}

/// Writes the packed weights of all layers, by their keys.
pub(super) fn write(
    writer: &mut ContainerWriter,
    packed: &BTreeMap<&str, PackedParts<'_>>,
    precision: Precision,
    progress: &dyn Progress,
) -> Result<()> {
    writer.write_section("packed.layout", layout_signature(precision).as_bytes())?;
    StringPool::write(writer, "packed", packed.keys().map(|key| key.as_bytes()))?;
    let (mut records, mut scales, mut corrections) = (Vec::new(), Vec::new(), Vec::new());
    let mut lines = 0;
    for parts in packed.values() {
        records.push(PackedRecord {
            depth: parts.depth as u64,
            columns: parts.columns as u64,
            first_line: lines,
            lines: parts.lines.len() as u64,
            first_scale: scales.len() as u64,
            scales: parts.scales.len() as u64,
            first_correction: corrections.len() as u64,
            corrections: parts.corrections.len() as u64,
            norm: parts.norm,
            reserved: 0,
        });
        lines += parts.lines.len() as u64;
        scales.extend_from_slice(parts.scales);
        corrections.extend_from_slice(parts.corrections);
    }
    writer.write_section("packed.table", &records)?;
    writer.write_section("packed.scales", &scales)?;
    writer.write_section("packed.corrections", &corrections)?;
    let bytes = lines * size_of::<Line>() as u64;
    let task = progress.task("writing packed weights", Some(bytes));
    let mut section = writer.begin_section("packed.lines", size_of::<Line>(), bytes)?;
    for parts in packed.values() {
        section.write(parts.lines.as_bytes())?;
        task.set_position(section.len());
    }
    Ok(section.finish()?)
}

/// Returns the matrix that a record describes.
fn map_matrix(
    record: &PackedRecord,
    layout: Layout,
    lines: &View<Line>,
    scales: &[f32],
    corrections: &[i32],
) -> Result<MappedMatrix, String> {
    let scale_range = range(record.first_scale, record.scales, scales.len())?;
    let correction_range = range(record.first_correction, record.corrections, corrections.len())?;
    let stored = MappedMatrix {
        range: range(record.first_line, record.lines, lines.len())?,
        lines: lines.clone(),
        scales: scales[scale_range].into(),
        corrections: corrections[correction_range].into(),
        norm: record.norm,
        layout,
        depth: size(record.depth)?,
        columns: size(record.columns)?,
    };
    stored.view()?;
    Ok(stored)
}

/// Converts a number of the file to a size.
pub(super) fn size(number: u64) -> Result<usize, String> {
    usize::try_from(number).map_err(|_| "it is too large".to_owned())
}

/// Returns the range of `count` elements from `first` on in a section of `total`.
fn range(first: u64, count: u64, total: usize) -> Result<Range<usize>, String> {
    let (first, count) = (size(first)?, size(count)?);
    let end = first.checked_add(count).filter(|&end| end <= total);
    Ok(first..end.ok_or("it exceeds its sections")?)
}

/// Returns the precision that the matrices of a file are packed for, and the matrices by name.
pub(super) fn open(container: &Container) -> Result<PackedMatrices> {
    let name = container.section::<u8>("packed.layout")?;
    let mut precisions = Precision::ALL.into_iter();
    let precision = precisions.find(|p| layout_signature(*p).as_bytes() == &name[..]);
    let precision = precision.ok_or_else(|| {
        let reason = format!(
            "weights are packed as {}, which is not supported; convert the original model again",
            String::from_utf8_lossy(&name[..name.len().min(80)])
        );
        container.damaged("packed.layout", reason)
    })?;
    let names = StringPool::open(container, "packed")?;
    let records = container.section::<PackedRecord>("packed.table")?;
    let scales = container.section::<f32>("packed.scales")?;
    let corrections = container.section::<i32>("packed.corrections")?;
    let lines = container.section::<Line>("packed.lines")?;
    if names.len() != records.len() {
        let reason = format!("{} names for {} matrices", names.len(), records.len());
        return Err(container.damaged("packed.table", reason).into());
    }
    let mut matrices = BTreeMap::new();
    for (id, record) in records.iter().enumerate() {
        let name = names.get(id as u32).unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        let layout = precision.layout(&name);
        let stored = map_matrix(record, layout, &lines, &scales, &corrections)
            .map_err(|reason| container.damaged(&name, reason))?;
        if matrices.insert(name.clone(), stored).is_some() {
            return Err(container.damaged(&name, "it occurs twice").into());
        }
    }
    Ok(PackedMatrices { precision, matrices })
}
