//! Tests of containers: round trips, the golden file, and damaged files.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::{Bytes, Error, LoadMethod};

const KIND: FileKind = FileKind::new("sample");

#[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
struct Meta {
    n: u32,
    name: String,
}

fn write_to(mut writer: ContainerWriter) -> Option<Bytes> {
    writer.write_metadata(&Meta { n: 3, name: "toy".into() }).unwrap();
    writer.write_section("numbers", &[1u32, 2, 3]).unwrap();
    let mut section = writer.begin_section("letters", 1, 0).unwrap();
    section.write(b"miriam ").unwrap();
    section.write(b"sang").unwrap();
    section.finish().unwrap();
    writer.write_section::<u64>("empty", &[]).unwrap();
    writer.finish().unwrap()
}

fn sample() -> Bytes {
    write_to(ContainerWriter::in_memory(Path::new("sample"), KIND, 7).unwrap()).unwrap()
}

fn open(bytes: &[u8]) -> crate::Result<Container> {
    Container::from_bytes(Bytes::copy_from(bytes), Path::new("sample"))?.expect_kind(KIND, 7)
}

#[test]
fn written_sections_are_read_back() {
    let container = open(&sample()).unwrap();
    assert_eq!(container.metadata::<Meta>().unwrap(), Meta { n: 3, name: "toy".into() });
    assert_eq!(&container.section::<u32>("numbers").unwrap()[..], [1, 2, 3]);
    assert_eq!(&container.section::<u8>("letters").unwrap()[..], b"miriam sang");
    assert!(container.section::<u64>("empty").unwrap().is_empty());
    assert!(container.section::<u64>("numbers").is_err(), "another item size");
    assert!(container.section::<u64>("absent").is_err());
    container.verify().unwrap();
}

#[test]
fn file_and_memory_hold_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample");
    assert!(write_to(ContainerWriter::create(&path, KIND, 7).unwrap()).is_none());
    assert_eq!(std::fs::read(&path).unwrap(), &sample()[..]);
    assert!(Container::is_container(&path));
    Container::open(&path, KIND, 7, LoadMethod::Populate).unwrap().verify().unwrap();
}

/// A file of the first writer of format version 1 must stay readable, and writing the same content
/// must give the same bytes.
#[test]
fn golden_file_of_version_1() {
    let golden = include_bytes!("../../testdata/container-v1.miriam");
    let container = open(golden).unwrap();
    container.verify().unwrap();
    assert_eq!(&container.section::<u32>("numbers").unwrap()[..], [1, 2, 3]);
    assert_eq!(&sample()[..], golden);
}

#[test]
fn errors_name_another_kind_or_version() {
    let bytes = sample();
    let parse = || Container::from_bytes(bytes.clone(), Path::new("sample")).unwrap();
    assert!(matches!(parse().expect_kind(FileKind::new("other"), 7), Err(Error::WrongKind { .. })));
    assert!(matches!(parse().expect_kind(KIND, 8), Err(Error::WrongKindVersion { .. })));
    let mut newer = bytes.to_vec();
    newer[8] = 2;
    assert!(matches!(open(&newer), Err(Error::FormatVersion { found: 2, .. })));
    assert!(matches!(open(b"\\data\\\nngram 1=3\n"), Err(Error::NotAModel { .. })));
    assert!(matches!(open(b""), Err(Error::NotAModel { .. })));
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = sample();
    for end in 0..bytes.len() {
        assert!(open(&bytes[..end]).is_err(), "cut at {end}");
    }
    assert!(open(&[&bytes[..], b"x"].concat()).is_err(), "one byte more");
}

#[test]
fn every_flipped_bit_of_header_and_table_is_an_error() {
    let bytes = sample();
    let table_end = 64 + 64 * open(&bytes).unwrap().sections().len();
    for position in 0..table_end {
        for bit in 0..8 {
            let mut copy = bytes.to_vec();
            copy[position] ^= 1 << bit;
            assert!(open(&copy).is_err(), "byte {position} bit {bit}");
        }
    }
}

#[test]
fn verify_finds_every_flipped_byte() {
    let bytes = sample();
    for position in 0..bytes.len() {
        let mut copy = bytes.to_vec();
        copy[position] ^= 0x41;
        assert!(open(&copy).and_then(|c| c.verify()).is_err(), "byte {position}");
    }
}

proptest! {
    /// An invalid table with matching checksums gives an error, or views inside the file.
    #[test]
    fn wrong_tables_never_panic(position in 64usize..320, value in any::<u8>(), second in 64usize..320, other in any::<u8>()) {
        use zerocopy::IntoBytes;
        let mut bytes = sample().to_vec();
        bytes[position] = value;
        bytes[second] = other;
        let (mut header, _) = <header::Header as zerocopy::FromBytes>::read_from_prefix(&bytes).unwrap();
        header.table_checksum = crate::hash::hash64(&bytes[64..320]).into();
        header.header_checksum = header.checksum().into();
        bytes[..64].copy_from_slice(header.as_bytes());
        if let Ok(container) = open(&bytes) {
            for section in container.sections() {
                let _ = container.section::<u8>(&section.name);
                let _ = container.section::<u32>(&section.name);
            }
            let _ = container.metadata::<Meta>();
            let _ = container.verify();
        }
    }

    #[test]
    fn any_bytes_are_rejected(bytes in proptest::collection::vec(any::<u8>(), 0..6000)) {
        prop_assert!(open(&bytes).is_err());
    }
}
