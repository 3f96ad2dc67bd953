//! Files of other formats that are given as ARPA text, recognised by their first bytes.

/// The first bytes of KenLM's binary files, of all versions.
pub(crate) const KENLM_MAGIC: &[u8] = b"mmap lm http://kheafield.com/code";

/// The first bytes of a file, with its format and what to do to get ARPA text or the file itself.
const FORMATS: &[(&[u8], &str)] = &[
    (b"blmt", "an IRSTLM binary file; write ARPA with its compile-lm --text=yes"),
    (b"Qblmt", "a quantised IRSTLM binary file; write ARPA with its compile-lm --text=yes"),
    (b"iARPA", "an IRSTLM iARPA file; write ARPA with its compile-lm --text=yes"),
    (b"qARPA", "a quantised IRSTLM file; write ARPA with its compile-lm --text=yes"),
    (
        b"LMINTERPOLATION",
        "a list of models that IRSTLM interpolates; give one of them, or interpolate them to ARPA \
         first",
    ),
    (
        b"SRILM_BINARY_",
        "an SRILM binary file; write ARPA with its ngram -lm FILE -write-lm FILE.arpa",
    ),
    (
        KENLM_MAGIC,
        "a KenLM binary file, compressed or from a pipe; give it as a file of its own, \
         decompressed",
    ),
    (
        b"\x8fmiriam",
        "a model file of Miriam, compressed or from a pipe; give it as a file of its own, \
         decompressed",
    ),
    (
        b"version https://git-lfs.github.com/spec/",
        "a Git LFS pointer in place of the file; fetch the file with git lfs pull",
    ),
    (b"PK\x03\x04", "a zip archive; unpack it and give the file in it"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it and give the file in it"),
    (b"Rar!\x1a\x07", "a RAR archive; unpack it and give the file in it"),
    (b"\x04\x22\x4d\x18", "an lz4 file; decompress it (unlz4)"),
    (b"LZIP", "an lzip file; decompress it (lzip -d)"),
    (b"\x1f\x9d", "a file of compress; decompress it (uncompress)"),
    (
        b"\xd6\xfd\xb2\x7e",
        "an OpenFst transducer, such as Kaldi's G.fst; give the ARPA file it was made from",
    ),
    (b"\0B<ConstArpaLm>", "Kaldi's ConstArpaLm; give the ARPA file it was made from"),
    (b"Trie Language Model", "a Sphinx binary model; write ARPA with sphinx_lm_convert -ofmt arpa"),
    (
        b"\x11\0\0\0Darpa Trigram LM",
        "a Sphinx DMP model; write ARPA with sphinx_lm_convert -ofmt arpa",
    ),
    (b"\xac\xed\0\x05", "a serialised Java object, such as a BerkeleyLM model; give its ARPA file"),
    (b"<!DOCTYPE", "a web page in place of the file; download the file itself"),
    (b"<!doctype", "a web page in place of the file; download the file itself"),
    (b"<html", "a web page in place of the file; download the file itself"),
    (b"\xff\xfe", "UTF-16 text; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)"),
    (b"\xfe\xff", "UTF-16 text; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)"),
];

/// The place of a tar archive's mark in its first block.
const TAR_MARK: std::ops::Range<usize> = 257..262;

/// Returns the format of a file that starts with `start`, and what to do, if it is a known one.
pub(super) fn describe(start: &[u8]) -> Option<&'static str> {
    if start.get(TAR_MARK) == Some(b"ustar") {
        return Some("a tar archive; unpack it and give the file in it");
    }
    FORMATS.iter().find(|(magic, _)| start.starts_with(magic)).map(|&(_, format)| format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_formats_are_named_with_a_remedy() {
        let mut tar = b"model/lm.arpa".to_vec();
        tar.resize(257, 0);
        tar.extend_from_slice(b"ustar  ");
        let cases: [(&[u8], &str); 8] = [
            (b"Qblmt 3 10 20 30", "compile-lm --text=yes"),
            (b"blmtI 3", "compile-lm"),
            (b"SRILM_BINARY_NGRAM_002", "ngram -lm FILE -write-lm"),
            (b"version https://git-lfs.github.com/spec/v1", "git lfs pull"),
            (b"PK\x03\x04\x14\0\0\0", "unpack it"),
            (&tar, "tar archive"),
            (b"\xd6\xfd\xb2\x7e\x06\0", "OpenFst"),
            (b"<!DOCTYPE html>", "web page"),
        ];
        for (start, expected) in cases {
            let found = describe(start).unwrap_or_default();
            assert!(found.contains(expected), "{start:?}: {found}");
        }
        for start in [&b"\\data\\"[..], b"", b"PKI in Frage", b"version 2 of a model"] {
            assert_eq!(describe(start), None, "{start:?}");
        }
    }
}
