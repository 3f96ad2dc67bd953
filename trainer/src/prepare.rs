//! From files of text to what a training reads: vocabularies, corpora, the validation set.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_nmt::translate::{Tokenizer, TokenizerScratch};
use miriam_nmt::{Segmentation, SentencePieceModel, TokenizerPair, Vocabulary};
use miriam_storage::hash::hash64;
use miriam_textio::{Input, Lines, Progress};

use crate::data::{LengthLimit, ParallelCorpus};
use crate::error::{Error, Result};
use crate::training::ValidationSet;

/// Opens vocabularies, source first: SentencePiece models (`.spm`) segment text as well, others
/// take text that is segmented already. `sizes` cuts them; 0 for all.
///
/// # Errors
/// If a file cannot be read or is no vocabulary.
pub fn open_vocabularies(paths: &[PathBuf; 2], sizes: [usize; 2]) -> Result<TokenizerPair> {
    let open = |side: usize| -> Result<(Arc<Vocabulary>, Segmentation)> {
        let path = &paths[side];
        let (vocabulary, segmentation) = match path.extension().and_then(|e| e.to_str()) {
            Some("spm") => {
                let model = SentencePieceModel::open(path)?;
                let vocabulary = Vocabulary::from_sentencepiece(&model.model, path)?;
                (vocabulary, Segmentation::SentencePiece(model))
            }
            _ => (Vocabulary::open(path)?, Segmentation::Presegmented),
        };
        let vocabulary = match sizes[side] {
            0 => vocabulary,
            size if size < vocabulary.len() => vocabulary.truncated(size, "--dim-vocabs")?,
            _ => vocabulary,
        };
        Ok((Arc::new(vocabulary), segmentation))
    };
    let (source, source_segmentation) = open(0)?;
    let (target, target_segmentation) = if paths[0] == paths[1] && sizes[0] == sizes[1] {
        (Arc::clone(&source), source_segmentation.clone())
    } else {
        open(1)?
    };
    Ok(TokenizerPair {
        vocabularies: [source, target],
        segmentation: [source_segmentation, target_segmentation],
    })
}

/// A fingerprint of the words of both vocabularies.
pub fn fingerprint(tokenizers: &TokenizerPair) -> u64 {
    let mut all = Vec::new();
    for vocabulary in &tokenizers.vocabularies {
        for word in vocabulary.iter() {
            all.extend_from_slice(word);
            all.push(b'\n');
        }
        all.push(b'\n');
    }
    hash64(&all)
}

/// Reads parallel text and segments it. `right_to_left` reverses targets.
///
/// # Errors
/// If a file cannot be read, or one has more lines than the other.
pub fn read_corpus(
    paths: &[PathBuf; 2],
    tokenizers: &TokenizerPair,
    limit: LengthLimit,
    right_to_left: bool,
    progress: &dyn Progress,
) -> Result<ParallelCorpus> {
    let mut corpus = ParallelCorpus::default();
    let mut text = ParallelText::open(paths)?;
    let sides = [0, 1].map(|side| Tokenizer::new(tokenizers, side));
    let eos = [0, 1].map(|side| tokenizers.vocabularies[side].eos_id());
    let mut scratch = TokenizerScratch::default();
    let task = progress.task("reading", None);
    while let Some([source, target]) = text.next()? {
        let source = sides[0].encode(source, &mut scratch).ids;
        let mut target = sides[1].encode(target, &mut scratch).ids;
        if right_to_left {
            target.reverse();
        }
        corpus.push([&source, &target], eos, limit);
        task.advance(1);
    }
    Ok(corpus)
}

/// Reads a validation set; long sentences are cut.
///
/// # Errors
/// Those of [`read_corpus`].
pub fn read_validation_set(
    paths: &[PathBuf; 2],
    tokenizers: &TokenizerPair,
    max_length: usize,
    right_to_left: bool,
    progress: &dyn Progress,
) -> Result<ValidationSet> {
    let limit = LengthLimit { tokens: max_length, crops: true };
    let corpus = read_corpus(paths, tokenizers, limit, right_to_left, progress)?;
    let mut text = ParallelText::open(paths)?;
    let (mut source_text, mut references) = (Vec::new(), Vec::new());
    while let Some([source, target]) = text.next()? {
        source_text.extend_from_slice(source);
        source_text.push(b'\n');
        references.push(String::from_utf8_lossy(target).into_owned());
    }
    Ok(ValidationSet { corpus, source_text, references, tokenizers: tokenizers.clone() })
}

/// Whether two files have the same number of lines.
///
/// # Errors
/// If a file cannot be read, or one has more lines than the other.
pub fn check_lines(paths: &[PathBuf; 2]) -> Result<()> {
    let mut text = ParallelText::open(paths)?;
    while text.next()?.is_some() {}
    Ok(())
}

/// Two files, line by line.
struct ParallelText {
    sides: [Lines; 2],
    lines: [Vec<u8>; 2],
    names: [String; 2],
    count: u64,
}

impl ParallelText {
    fn open(paths: &[PathBuf; 2]) -> Result<Self> {
        let open = |path: &Path| Ok::<_, Error>(Lines::in_background(Input::open(path)?));
        let sides = [open(&paths[0])?, open(&paths[1])?];
        let names = paths.each_ref().map(|path| path.display().to_string());
        Ok(ParallelText { sides, lines: Default::default(), names, count: 0 })
    }

    /// The next pair of lines.
    fn next(&mut self) -> Result<Option<[&[u8]; 2]>> {
        let mut is_there = [false; 2];
        let sides = self.sides.iter_mut().zip(&mut self.lines).zip(&mut is_there);
        for ((side, kept), is_there) in sides {
            kept.clear();
            if let Some(line) = side.next()? {
                kept.extend_from_slice(line.bytes);
                *is_there = true;
            }
        }
        match is_there {
            [false, false] => Ok(None),
            [true, true] => {
                self.count += 1;
                Ok(Some(self.lines.each_ref().map(Vec::as_slice)))
            }
            [more, _] => {
                let (long, short) = if more { (0, 1) } else { (1, 0) };
                Err(Error::config(format!(
                    "{}: it has {} lines, {} has more; a line of each must be a pair",
                    self.names[short], self.count, self.names[long]
                )))
            }
        }
    }
}
