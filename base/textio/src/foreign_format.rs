//! Detection of tables and archives among text inputs, by their first bytes.

/// A format that is not text.
struct ForeignFormat {
    name: &'static str,
    /// The first bytes of its files.
    magic: &'static [u8],
    /// The advice in messages.
    remedy: &'static str,
}

const FOREIGN_FORMATS: [ForeignFormat; 6] = [
    ForeignFormat {
        name: "a Parquet file",
        magic: b"PAR1",
        remedy: "write it as JSON lines first, as DuckDB does: \
                 duckdb -c \"copy (from 'FILE') to '/dev/stdout' (format json)\" | ...",
    },
    ForeignFormat {
        name: "an Arrow file",
        magic: b"ARROW1\0\0",
        remedy: "write it as JSON lines first, with pandas for Python: \
                 pandas.read_feather(FILE).to_json(OUT, orient='records', lines=True)",
    },
    ForeignFormat {
        name: "an Avro file",
        magic: b"Obj\x01",
        remedy: "write it as JSON lines first (avro-tools tojson FILE)",
    },
    ForeignFormat {
        name: "compressed by lz4",
        magic: &[0x04, 0x22, 0x4d, 0x18],
        remedy: "decompress it (lz4 -dc FILE | ...); gzip, zstd, bzip2 and xz are read as they are",
    },
    ForeignFormat {
        name: "compressed by snappy",
        magic: b"\xff\x06\0\0sNaPpY",
        remedy: "decompress it first; gzip, zstd, bzip2 and xz are read as they are",
    },
    ForeignFormat {
        name: "a 7z archive",
        magic: b"7z\xbc\xaf\x27\x1c",
        remedy: "unpack it (7z x -so FILE | ...); gzip, zstd, bzip2 and xz are read as they are",
    },
];

/// Returns the format of a file that begins with `start`, and advice, if the file is known not to
/// be text. Text may begin with the same letters, but contains no control characters such as zeros.
pub(crate) fn describe_foreign_format(start: &[u8]) -> Option<String> {
    let found = FOREIGN_FORMATS.iter().find(|format| start.starts_with(format.magic))?;
    let has_controls = start.iter().any(|&byte| byte < b'\t');
    has_controls.then(|| format!("it is {}, not text; {}", found.name, found.remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_archives_are_recognized() {
        for (start, name) in [
            (&b"PAR1\x15\x04\x15\0"[..], "Parquet"),
            (b"ARROW1\0\0\xff", "Arrow"),
            (b"Obj\x01\x04\x14avro.codec", "Avro"),
            (b"\x04\x22\x4d\x18\x64", "lz4"),
            (b"\xff\x06\0\0sNaPpY\x01", "snappy"),
            (b"7z\xbc\xaf\x27\x1c\0\x04", "7z"),
        ] {
            let described = describe_foreign_format(start).unwrap();
            assert!(described.contains(name) && described.contains("not text; "), "{described}");
        }
        for text in ["PAR1 of three\n", "7z", "Obj\n", "ARROW1 \n", ""] {
            assert_eq!(describe_foreign_format(text.as_bytes()), None, "{text}");
        }
    }
}
