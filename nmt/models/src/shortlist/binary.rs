//! The binary format: a header of six `u64` (magic, checksum of the rest, first, best, number
//! of offsets, number of translations), the offsets as `u64`, the translations as `u32`. Marian's
//! converter writes it, and bergamot and Firefox read no other.

use std::path::Path;

use super::{Shortlist, ShortlistOptions, vocabulary_mismatch};
use crate::vocabulary::Vocabulary;
use crate::{Error, Result};

const MAGIC: u64 = 0xf11a_48d5_0134_17f5;
/// Bytes of the header.
const HEADER_LEN: usize = 48;
/// The checksum covers the bytes from here on.
const CHECKSUM_START: usize = 16;

/// Whether `bytes` begin with the magic number of a binary shortlist.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|&start| u64::from_le_bytes(start) == MAGIC)
}

pub fn read(
    bytes: &[u8],
    path: &Path,
    source: &Vocabulary,
    target: &Vocabulary,
) -> Result<Shortlist> {
    let header = bytes.first_chunk::<HEADER_LEN>().ok_or_else(|| {
        let reason = format!("the file ends at byte {}, within the header", bytes.len());
        Error::damaged(path, "header", reason)
    })?;
    let mut numbers = [0; HEADER_LEN / 8];
    for (number, &bytes) in numbers.iter_mut().zip(header.as_chunks::<8>().0) {
        *number = u64::from_le_bytes(bytes);
    }
    let [magic, checksum, first, _best, offsets, translations] = numbers;
    if magic != MAGIC {
        return Err(Error::damaged(path, "header", "not a binary shortlist"));
    }
    fn length(count: u64, size: usize) -> Option<usize> {
        usize::try_from(count).ok().and_then(|count| count.checked_mul(size))
    }
    let sizes = length(offsets, 8).zip(length(translations, 4));
    let file_length = sizes.and_then(|(a, b)| a.checked_add(b)?.checked_add(HEADER_LEN));
    let Some((offsets_length, _)) = sizes.filter(|_| file_length == Some(bytes.len())) else {
        let reason = format!(
            "{offsets} offsets and {translations} translations are declared, the file has {} \
             bytes",
            bytes.len()
        );
        return Err(Error::damaged(path, "header", reason));
    };
    let found = combined_hash(&bytes[CHECKSUM_START..]);
    if found != checksum {
        let reason = format!("expected the checksum {checksum:#x}, found {found:#x}");
        return Err(Error::damaged(path, "header", reason));
    }
    let (offsets, translations) = bytes[HEADER_LEN..].split_at(offsets_length);
    let offsets: Vec<u64> =
        offsets.as_chunks::<8>().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect();
    let translations: Vec<u32> =
        translations.as_chunks::<4>().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect();
    let ascending = offsets.is_sorted()
        && offsets.first() == Some(&0)
        && offsets.last() == Some(&(translations.len() as u64));
    if !ascending {
        return Err(Error::damaged(path, "offsets", "they do not span the translations"));
    }
    if offsets.len() != source.len() + 1 {
        let (has, words) = (offsets.len() - 1, source.len());
        let reason = format!("it has {has} source words, the vocabulary has {words}");
        return Err(vocabulary_mismatch(path, reason));
    }
    if let Some(id) = translations.iter().find(|&&id| id as usize >= target.len()) {
        let reason =
            format!("target word {id} is out of range, the vocabulary has {}", target.len());
        return Err(vocabulary_mismatch(path, reason));
    }
    Ok(Shortlist {
        first: usize::try_from(first).unwrap_or(usize::MAX).min(target.len()),
        offsets,
        translations,
        target_vocab_size: target.len(),
        is_shared: source.is_shared_with(target),
    })
}

/// Returns the file of a shortlist that was pruned with `options`.
pub fn write(list: &Shortlist, options: ShortlistOptions) -> Vec<u8> {
    let (offsets, translations) = list.as_parts();
    // Marian writes the number of frequent tokens as it is given, even if it exceeds the
    // vocabulary.
    let counts = [options.first, options.best, offsets.len(), translations.len()];
    let mut rest: Vec<u8> = counts.iter().flat_map(|&n| (n as u64).to_le_bytes()).collect();
    rest.extend(offsets.iter().flat_map(|offset| offset.to_le_bytes()));
    rest.extend(translations.iter().flat_map(|id| id.to_le_bytes()));
    let checksum = combined_hash(&rest);
    [&MAGIC.to_le_bytes()[..], &checksum.to_le_bytes(), &rest].concat()
}

/// Returns Marian's checksum: the `u64` combined one after another as `boost::hash_combine` does.
fn combined_hash(bytes: &[u8]) -> u64 {
    bytes.as_chunks::<8>().0.iter().fold(0, |hash: u64, &number| {
        let number = u64::from_le_bytes(number).wrapping_add(0x9e37_79b9);
        hash ^ number.wrapping_add(hash << 6).wrapping_add(hash >> 2)
    })
}
