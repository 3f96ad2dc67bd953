//! The second half of a build: ranking ids, encoding records, writing the file.

use miriam_storage::dictionary::{Dictionary, StringPool};
use miriam_storage::{Bytes, ContainerWriter};
use miriam_textio::Progress;
use rayon::prelude::*;

use super::encoder::Encoder;
use super::index::{BucketTooLarge, IndexBuilder};
use super::plan::Plan;
use super::ranking::Ranking;
use super::records::{EncodedPartition, Rankings, encode_partition};
use crate::error::check_cancelled;
use crate::format::{
    ColumnEncoding, Metadata, NUM_ALIGNMENT_CLASSES, PARTITIONS, num_home_buckets, section,
};
use crate::{Error, Result};

/// Writes the dictionaries and rows of `encoders` and finishes the container. Returns the metadata,
/// and the bytes of the container if it was written to memory.
pub(crate) fn write_table(
    plan: &Plan,
    encoders: Vec<Encoder<'_>>,
    adjacent: bool,
    threads: usize,
    mut writer: ContainerWriter,
    progress: &dyn Progress,
) -> Result<(Metadata, Option<Bytes>)> {
    let task = progress.task("ranking", None);
    let rankings = rank_dictionaries(plan, &encoders);
    write_dictionaries(plan, &rankings, &encoders, &mut writer)?;
    drop(task);

    let task = progress.task("writing", Some(PARTITIONS as u64));
    let mut partitions: Vec<_> = encoders.into_iter().map(|encoder| encoder.partitions).collect();
    // The number of buckets depends on the number of sources, which is known when runs
    // have been merged. So partitions are encoded first and written afterwards. If rows of any
    // worker were spilled to a file, partitions are encoded twice instead of kept.
    let has_spilled = partitions.iter().any(|p| p.has_spilled());
    let mut total = EncodedPartition::default();
    let mut sources = 0;
    let mut bytes = 0;
    let mut longest = 0;
    let mut kept: Vec<EncodedPartition> = Vec::new();
    let parts: Vec<usize> = (0..PARTITIONS).collect();
    let mut encode_wave = |wave: &[usize]| -> Result<Vec<EncodedPartition>> {
        let rows = wave
            .iter()
            .map(|&part| {
                partitions
                    .iter_mut()
                    .map(|p| {
                        // A partition that is encoded twice is also read twice.
                        if has_spilled { p.read_partition(part) } else { p.take_partition(part) }
                    })
                    .collect::<Result<Vec<_>>>()
            })
            .collect::<Result<Vec<_>>>()?;
        if threads == 1 {
            return rows
                .iter()
                .map(|rows| encode_partition(plan, &rankings, rows, adjacent))
                .collect();
        }
        rows.par_iter().map(|rows| encode_partition(plan, &rankings, rows, adjacent)).collect()
    };
    for wave in parts.chunks(threads) {
        for mut part in encode_wave(wave)? {
            total.add_counts(&part);
            sources += part.records.len() as u64;
            bytes += part.bytes.len() as u64;
            longest = longest.max(part.bytes.len());
            if has_spilled {
                part.bytes = Vec::new();
                part.records = Vec::new();
            }
            kept.push(part);
        }
        task.set_position(kept.len() as u64 / 2);
        check_cancelled(progress)?;
    }
    let home_buckets = num_home_buckets(sources);
    let mut index = IndexBuilder::new(home_buckets);
    let path = writer.path().to_owned();
    let too_large = |BucketTooLarge| {
        Error::File(miriam_storage::Error::TooLarge {
            path: path.clone(),
            reason: "the translations of some source phrases take more than 2 GiB together; keep \
                     the best of each phrase with --prune"
                .into(),
        })
    };
    // The position of the section in the file is aligned according to `bytes`, so `bytes` must be
    // the same with and without spilling.
    let mut records = writer.begin_section(section::RECORDS, 1, bytes)?;
    let mut out = Vec::with_capacity(longest + longest / 8);
    for wave in parts.chunks(threads) {
        let encoded = if has_spilled {
            encode_wave(wave)?
        } else {
            wave.iter().map(|&part| std::mem::take(&mut kept[part])).collect()
        };
        for part in encoded {
            out.clear();
            index.push_partition(&part, &mut out).map_err(too_large)?;
            records.write(&out)?;
        }
        task.set_position((PARTITIONS + wave[0]) as u64 / 2);
        check_cancelled(progress)?;
    }
    out.clear();
    index.finish(&mut out).map_err(too_large)?;
    records.write(&out)?;
    records.finish()?;
    if index.record_bytes() >= 1 << 40 {
        return Err(Error::File(miriam_storage::Error::TooLarge {
            path: writer.path().to_owned(),
            reason: "more than 1 TiB of records".into(),
        }));
    }
    writer.write_section(section::INDEX, &index.buckets)?;
    let metadata = Metadata {
        entries: total.entries,
        sources,
        home_buckets,
        columns: plan.columns.clone(),
        num_reordering: plan.num_reordering as u32,
        has_alignment: rankings.has_alignment,
        has_counts: rankings.has_counts,
        has_extra: rankings.has_extra,
        max_source_length: total.max_source_length as u32,
        max_target_length: total.max_target_length as u32,
        max_targets: total.max_targets as u32,
        missing_reordering: total.missing_reordering,
    };
    writer.write_metadata(&metadata)?;
    let bytes = writer.finish()?;
    Ok((metadata, bytes))
}

impl EncodedPartition {
    fn add_counts(&mut self, part: &EncodedPartition) {
        self.entries += part.entries;
        self.missing_reordering += part.missing_reordering;
        self.max_source_length = self.max_source_length.max(part.max_source_length);
        self.max_target_length = self.max_target_length.max(part.max_target_length);
        self.max_targets = self.max_targets.max(part.max_targets);
    }
}

fn rank_dictionaries(plan: &Plan, encoders: &[Encoder<'_>]) -> Rankings {
    macro_rules! ranking {
        ($($field:tt)+) => {
            Ranking::new(&encoders.iter().map(|e| &e.$($field)+).collect::<Vec<_>>())
        };
    }
    let alignments = ranking!(alignments.texts);
    let mut alignment_classes = vec![0u32; NUM_ALIGNMENT_CLASSES + 1];
    for &(worker, id) in &alignments.order {
        alignment_classes[encoders[worker].alignments.texts.tag(id) as usize + 1] += 1;
    }
    for class in 0..NUM_ALIGNMENT_CLASSES {
        alignment_classes[class + 1] += alignment_classes[class];
    }
    let scores = plan
        .columns
        .iter()
        .enumerate()
        .map(|(k, column)| (*column != ColumnEncoding::Raw).then(|| ranking!(scores[k].texts)))
        .collect();
    let counts = ranking!(counts);
    let extra = ranking!(extra);
    fn has_text(ranking: &Ranking, text: &dyn Fn(usize, u32) -> bool) -> bool {
        ranking.order.iter().any(|&(worker, id)| text(worker, id))
    }
    Rankings {
        source_words: ranking!(source_words),
        target_words: ranking!(target_words),
        scores,
        reordering: ranking!(reordering.texts),
        has_alignment: has_text(&alignments, &|w, id| {
            !encoders[w].alignments.points(id).is_empty()
        }),
        has_counts: !plan.counts_in_codebooks
            && has_text(&counts, &|w, id| !encoders[w].counts.text(id).is_empty()),
        has_extra: has_text(&extra, &|w, id| !encoders[w].extra.text(id).is_empty()),
        alignments,
        alignment_classes,
        counts,
        extra,
    }
}

fn write_dictionaries(
    plan: &Plan,
    rankings: &Rankings,
    encoders: &[Encoder<'_>],
    writer: &mut ContainerWriter,
) -> Result<()> {
    let source = rankings.source_words.order.iter();
    let source = source.map(|&(worker, id)| encoders[worker].source_words.text(id));
    Dictionary::write(writer, section::SOURCE, source)?;
    let target = rankings.target_words.order.iter();
    let target = target.map(|&(worker, id)| encoders[worker].target_words.text(id));
    Dictionary::write(writer, section::TARGET, target)?;

    for (k, ranking) in rankings.scores.iter().enumerate() {
        let Some(ranking) = ranking else { continue };
        let values: Vec<f32> = ranking
            .order
            .iter()
            .map(|&(worker, id)| {
                plan.zero_policy.score(encoders[worker].scores[k].probabilities[id as usize])
            })
            .collect();
        writer.write_section(&section::values(k), &values)?;
        if plan.columns[k] == ColumnEncoding::CodedWithCounts {
            let counts = ranking.order.iter().map(|&(worker, id)| {
                let text = encoders[worker].scores[k].texts.text(id);
                // The counts follow the first space.
                let space = text.iter().position(|&b| b == b' ').unwrap_or(text.len() - 1);
                &text[space + 1..]
            });
            StringPool::write(writer, &section::counts(k), counts)?;
        }
    }

    let width = plan.num_reordering;
    let mut rows = vec![0f32; width];
    for &(worker, id) in &rankings.reordering.order {
        let start = id as usize * width;
        rows.extend_from_slice(&encoders[worker].reordering.values[start..start + width]);
    }
    writer.write_section(section::REORDERING, &rows)?;

    let mut offsets = vec![0u32];
    let mut points = Vec::new();
    for &(worker, id) in &rankings.alignments.order {
        points.extend_from_slice(encoders[worker].alignments.points(id));
        offsets.push(u32::try_from(points.len()).map_err(|_| {
            Error::File(miriam_storage::Error::TooLarge {
                path: writer.path().to_owned(),
                reason: "more than 4 GiB of alignment points".into(),
            })
        })?);
    }
    writer.write_section(section::ALIGNMENT_CLASSES, &rankings.alignment_classes)?;
    writer.write_section(section::ALIGNMENT_OFFSETS, &offsets)?;
    writer.write_section(section::ALIGNMENT_POINTS, &points)?;

    if rankings.has_counts {
        let texts = rankings.counts.order.iter();
        let texts = texts.map(|&(worker, id)| encoders[worker].counts.text(id));
        StringPool::write(writer, section::COUNTS, texts)?;
    }
    if rankings.has_extra {
        let texts = rankings.extra.order.iter();
        let texts = texts.map(|&(worker, id)| encoders[worker].extra.text(id));
        StringPool::write(writer, section::EXTRA, texts)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::path::Path;

    use miriam_textio::{Input, Lines, NoProgress};

    use super::super::entries::{EntryBlock, EntryReader};
    use super::super::plan::{PlanOptions, TableKind, ZeroScorePolicy};
    use super::*;
    use crate::format::{KIND, VERSION};

    /// Returns the file of a table that two workers encode, with these bounds on their buffers.
    fn build(bounds: [Option<(usize, &Path)>; 2]) -> Vec<u8> {
        let text: String = (0..40)
            .map(|n| format!("s{n} ||| t{n} ||| 0.5 0.4 0.3 0.2 ||| 0-0 ||| 1 1 1\n"))
            .collect();
        let input = Input::from_reader(Cursor::new(text), "table", None).unwrap();
        let mut reader = EntryReader::new(Lines::new(input), None).unwrap();
        let mut block = EntryBlock::default();
        while let Some(entry) = reader.next().unwrap() {
            block.push(&entry);
        }
        let options = PlanOptions {
            tables: TableKind::Phrases,
            table: "table".into(),
            reordering_table: String::new(),
            num_scores: None,
            num_reordering: None,
            prune: None,
            zero_policy: ZeroScorePolicy::Keep,
        };
        let plan = Plan::choose(options, &block, None).unwrap();
        let mut encoders = bounds.map(|bound| Encoder::new(&plan, bound));
        for (index, entry) in block.entries().enumerate() {
            encoders[index % 2].push(&entry).unwrap();
        }
        for encoder in &mut encoders {
            encoder.finish_run().unwrap();
        }
        let writer = ContainerWriter::in_memory(Path::new("table"), KIND, VERSION).unwrap();
        let (_, bytes) =
            write_table(&plan, encoders.into(), false, 1, writer, &NoProgress).unwrap();
        bytes.unwrap().to_vec()
    }

    #[test]
    fn no_row_is_lost_if_only_some_workers_spill() {
        let folder = tempfile::tempdir().unwrap();
        let [small, large] = [0, usize::MAX].map(|bytes| Some((bytes, folder.path())));
        let expected = build([None, None]);
        for bounds in [[small, large], [large, small], [small, small], [large, large]] {
            assert!(build(bounds) == expected, "{bounds:?}");
        }
    }
}
