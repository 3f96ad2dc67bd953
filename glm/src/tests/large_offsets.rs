//! N-grams at large offsets, from 4 to nearly 64 GiB, in a sparse file.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

use miriam_lmcpu::HeadMetadata;
use miriam_storage::btree::{NO_KEY, StaticBTree, Unit};
use miriam_storage::dictionary::Dictionary;
use miriam_storage::hash::hash64;
use miriam_storage::zerocopy::IntoBytes;

use super::*;
use crate::format::{BlockShape, Entry, GPU_CACHE_LINE, UNIT_BYTES};
use crate::model::{LevelMetadata, Metadata};

/// First units of blocks: at 4 GiB, past 16 GiB, across 2^31 units, at 48 GiB, and the last block
/// that 32 bits address.
const FAR_UNITS: [u64; 5] =
    [1 << 28, (1 << 30) + 8, (1 << 31) - 24_000, 3 << 30, (1 << 32) - 50_000];
const CHILDREN: u32 = 40_000;
const WORDS: u32 = CHILDREN + 100;

/// Returns the log10 p of a bigram, from its words.
fn bigram_log10(older: u32, newer: u32) -> f32 {
    -((older * 7 + newer) as f32) / 1000.0
}

/// Writes the bigrams of `newer` as a tree at `first`: every word except the first hundred precedes
/// it. Each bigram has an only child, which its entry holds.
fn write_tree(order_2: u64, first: u64, newer: u32, width: NodeWidth, file: &std::fs::File) {
    let tree = StaticBTree { node_keys: width.keys() as u64, count: u64::from(CHILDREN) };
    let shape = BlockShape::new(tree.count, width, false);
    let mut keys = vec![Unit([NO_KEY; 4]); shape.keys as usize];
    let mut entries = vec![Unit([0; 4]); shape.entries as usize];
    for (position, older) in tree.in_order_positions().zip(100..WORDS) {
        let position = position as usize;
        keys[position / 4].0[position % 4] = older;
        let log10 = (bigram_log10(older, newer).to_bits() & !Entry::SINGLE) | Entry::SINGLE;
        // The child is a trigram whose first word is 1 and whose log10 p is twice the bigram's.
        let child = (bigram_log10(older, newer) * 2.0).to_bits();
        entries[position] = Unit([log10, 0, child, 1]);
    }
    file.write_all_at(keys.as_bytes(), order_2 + first * UNIT_BYTES as u64).unwrap();
    file.write_all_at(entries.as_bytes(), order_2 + (first + shape.keys) * UNIT_BYTES as u64)
        .unwrap();
}

/// Extends the last section of the container to `length` bytes, and returns its offset.
fn extend_last_section(file: &std::fs::File, length: u64) -> u64 {
    let mut page = vec![0; 4096];
    file.read_exact_at(&mut page, 0).unwrap();
    let sections = u32::from_le_bytes(page[12..16].try_into().unwrap()) as usize;
    let entry = 64 * sections;
    let offset = u64::from_le_bytes(page[entry + 24..entry + 32].try_into().unwrap());
    page[entry + 32..entry + 40].copy_from_slice(&length.to_le_bytes());
    page[40..48].copy_from_slice(&(offset + length).to_le_bytes());
    let table = hash64(&page[64..64 + 64 * sections]);
    page[48..56].copy_from_slice(&table.to_le_bytes());
    let header = hash64(&page[..56]);
    page[56..64].copy_from_slice(&header.to_le_bytes());
    file.write_all_at(&page, 0).unwrap();
    file.set_len(offset + length).unwrap();
    offset
}

#[test]
fn blocks_past_16_gib_are_found() {
    for width in WIDTHS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("far.glm");
        let mut writer = ContainerWriter::create(&path, KIND, VERSION).unwrap();
        let bigrams = FAR_UNITS.len() as u64 * u64::from(CHILDREN);
        let level = LevelMetadata { entries: bigrams, blanks: 0 };
        let counts = vec![u64::from(WORDS), bigrams, bigrams];
        writer
            .write_metadata(&Metadata {
                order: 3,
                counts,
                node_width: width.keys() as u32,
                max_hashed_order: 0,
                levels: vec![level, level],
                head: HeadMetadata {
                    bos_id: 1,
                    eos_id: 2,
                    has_unknown: true,
                    minimization_is_closed: true,
                },
            })
            .unwrap();
        let words: Vec<String> = (0..WORDS).map(|id| format!("w{id}")).collect();
        Dictionary::write(&mut writer, "words", words.iter().map(|w| w.as_bytes())).unwrap();
        let mut unigrams = vec![Entry { log10: 0, backoff: 0, first: 0, count: 0 }; WORDS as usize];
        for (newer, first) in (10..).zip(FAR_UNITS) {
            unigrams[newer] = Entry { first: first as u32, count: CHILDREN, ..unigrams[newer] };
        }
        writer.write_section("order-1", &unigrams).unwrap();
        writer.write_section::<u32>("blanks", &[]).unwrap();
        writer.write_section::<Unit>("order-3", &[]).unwrap();
        writer.write_section::<Unit>("order-2", &[]).unwrap();
        writer.finish().unwrap();
        let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let order_2 = extend_last_section(&file, (1 << 32) * UNIT_BYTES as u64);
        for (newer, first) in (10..).zip(FAR_UNITS) {
            assert_eq!(first % GPU_CACHE_LINE, 0);
            write_tree(order_2, first, newer, width, &file);
        }
        let model: &dyn LanguageModel = &GlmModel::open(&path, LoadMethod::Lazy).unwrap();
        let (mut states, mut requests, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        for newer in 10..10 + FAR_UNITS.len() as u32 {
            for older in (90..WORDS).step_by(977).chain([100, WORDS - 1]) {
                let mut state = State::EMPTY;
                for oldest in [1, 2] {
                    state.entries_mut()[..2]
                        .copy_from_slice(&[(LmWord(older), 0.0), (LmWord(oldest), 0.0)]);
                    state.set_len(2);
                    requests.push(Request { state: states.len() as u32, word: LmWord(newer) });
                    states.push(state);
                    expected.push(match older {
                        0..100 => (0.0, 1),
                        _ if oldest == 2 => (bigram_log10(older, newer), 2),
                        _ => (bigram_log10(older, newer) * 2.0, 3),
                    });
                }
            }
        }
        let mut results = vec![ScoreResult::default(); requests.len()];
        model.score_batch(&states, &requests, &mut results);
        let results = results.iter().map(|result| (result.log10.0, result.ngram_length));
        assert_eq!(results.collect::<Vec<_>>(), expected);
    }
}
