//! Readers of a training run's files of text: vocabularies, corpora, the validation set.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_nmt::translate::{Tokenizer, TokenizerScratch};
use miriam_nmt::{BoundaryTokens, Segmentation, TokenizerPair, Vocabulary};
use miriam_storage::hash::hash64;
use miriam_textio::Progress;

use crate::data::{
    CaseAugmentation, LengthLimit, PairAnnotations, ParallelCorpus, parse_alignment, parse_weights,
};
use crate::error::{Error, Result};
use crate::parallel_text::{Field, ParallelFiles, ParallelText};
use crate::training::ValidationSet;

/// Opens vocabularies, source first: SentencePiece models (`.spm`, `.model`) segment text as well;
/// other vocabularies expect segmented text. `sizes` limits the numbers of their words; 0 keeps all
/// words.
///
/// # Errors
/// If a file cannot be read or is not a vocabulary.
pub fn open_vocabularies(paths: &[PathBuf; 2], sizes: [usize; 2]) -> Result<TokenizerPair> {
    fn open(
        side: usize,
        paths: &[PathBuf; 2],
        sizes: &[usize; 2],
    ) -> Result<(Arc<Vocabulary>, Segmentation), crate::Error> {
        let path = &paths[side];
        let (vocabulary, pieces) = Vocabulary::open_with_segmentation(path)?;
        let segmentation = pieces.map_or(Segmentation::Presegmented, Segmentation::SentencePiece);
        let vocabulary = match sizes[side] {
            0 => vocabulary,
            size if size < vocabulary.len() => vocabulary.truncated(size, "--dim-vocabs")?,
            _ => vocabulary,
        };
        Ok((Arc::new(vocabulary), segmentation))
    }
    let (source, source_segmentation) = open(0, paths, &sizes)?;
    let (target, target_segmentation) = if paths[0] == paths[1] && sizes[0] == sizes[1] {
        (Arc::clone(&source), source_segmentation.clone())
    } else {
        open(1, paths, &sizes)?
    };
    Ok(TokenizerPair {
        target_prefix: Vec::new(),
        vocabularies: [source, target],
        segmentation: [source_segmentation, target_segmentation],
        source_boundary_tokens: BoundaryTokens::default(),
    })
}

/// Returns a fingerprint of the words of both vocabularies.
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

/// Reads parallel text and segments it. `right_to_left` reverses both sides. Lines whose case
/// changes lose their links, because the links belong to the pieces of the old text. Calls `warn`
/// for each file that is not UTF-8.
///
/// # Errors
/// If a file cannot be read, has fewer lines than another, or has invalid lines;
/// [`Error::Cancelled`] if `progress` is cancelled.
pub fn read_corpus(
    files: &ParallelFiles,
    tokenizers: &TokenizerPair,
    limit: LengthLimit,
    right_to_left: bool,
    cases: CaseAugmentation,
    progress: &dyn Progress,
    warn: &mut dyn FnMut(&str),
) -> Result<ParallelCorpus> {
    let reading = Reading { limit, right_to_left, cases, keeps_empty_sides: false };
    read_pairs(files, tokenizers, reading, progress, warn, |_| {})
}

/// Reads a validation set. Long sentences are cropped, and empty sentences count, as in Marian.
/// Calls `warn` for each file that is not UTF-8.
///
/// # Errors
/// If a file cannot be read, has fewer lines than another, or has invalid lines;
/// [`Error::Cancelled`] if `progress` is cancelled.
pub fn read_validation_set(
    files: &ParallelFiles,
    tokenizers: &TokenizerPair,
    max_length: usize,
    right_to_left: bool,
    progress: &dyn Progress,
    warn: &mut dyn FnMut(&str),
) -> Result<ValidationSet> {
    let limit = LengthLimit { tokens: max_length, crops: true };
    let (mut source_text, mut references) = (Vec::new(), Vec::new());
    let cases = CaseAugmentation::default();
    let reading = Reading { limit, right_to_left, cases, keeps_empty_sides: true };
    let corpus = read_pairs(files, tokenizers, reading, progress, warn, |[source, target]| {
        source_text.extend_from_slice(source);
        source_text.push(b'\n');
        references.push(String::from_utf8_lossy(target).into_owned());
    })?;
    let (tokenizers, is_tokenized) = (tokenizers.clone(), files.is_tokenized);
    Ok(ValidationSet { corpus, source_text, references, is_tokenized, tokenizers })
}

/// Checks that all files have the same number of lines. Checks nothing if one of them is standard
/// input or a pipe, which can be read only once.
///
/// # Errors
/// If a file cannot be read, has fewer lines than another, or has a line with the wrong number of
/// tab-separated fields; [`Error::Cancelled`] if `progress` is cancelled.
pub fn check_lines(files: &ParallelFiles, progress: &dyn Progress) -> Result<()> {
    if !files.paths().all(Path::is_file) {
        return Ok(());
    }
    let mut text = ParallelText::open(files)?;
    while text.advance()? {
        if progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
    }
    Ok(())
}

/// Options for reading pairs.
#[derive(Clone, Copy)]
struct Reading {
    limit: LengthLimit,
    right_to_left: bool,
    cases: CaseAugmentation,
    keeps_empty_sides: bool,
}

/// Reads parallel text and calls `visit` with the text of each pair.
fn read_pairs(
    files: &ParallelFiles,
    tokenizers: &TokenizerPair,
    Reading { limit, right_to_left, cases, keeps_empty_sides }: Reading,
    progress: &dyn Progress,
    warn: &mut dyn FnMut(&str),
    mut visit: impl FnMut([&[u8]; 2]),
) -> Result<ParallelCorpus> {
    let has_source = files.has_source();
    let mut corpus =
        if has_source { ParallelCorpus::default() } else { ParallelCorpus::monolingual() };
    if keeps_empty_sides {
        corpus = corpus.with_empty_sides();
    }
    let mut text = ParallelText::open(files)?;
    let sides = [0, 1].map(|side| {
        let mut tokenizer = Tokenizer::new(tokenizers, side);
        tokenizer.input_is_tokenized = files.is_tokenized;
        tokenizer
    });
    let eos = [0, 1].map(|side| tokenizers.vocabularies[side].eos_id());
    let mut scratch = TokenizerScratch::default();
    let task = progress.task("reading", None);
    while text.advance()? {
        let lines = [Field::Source, Field::Target].map(|side| text.text(side).unwrap_or_default());
        visit(lines);
        let changed = cases.apply(corpus.counts().lines, lines);
        let lines = changed.as_ref().map_or(lines, |sides| [&sides[0][..], &sides[1]]);
        let mut source = sides[0].encode(lines[0], &mut scratch).ids;
        let mut target = sides[1].encode(lines[1], &mut scratch).ids;
        let lengths = [source.len(), target.len()];
        let links = text.text(Field::Alignment).map(|line| match changed {
            None => parse_alignment(line, lengths),
            Some(_) => Ok(Vec::new()),
        });
        let mut links = links.transpose().map_err(|wrong| text.invalid(Field::Alignment, wrong))?;
        let weights = text
            .text(Field::Weights)
            .map(|line| parse_weights(line, files.weight_scope, target.len()));
        let mut weights =
            weights.transpose().map_err(|wrong| text.invalid(Field::Weights, wrong))?;
        if right_to_left {
            // As in Marian, both sides are reversed, after their ends are cropped.
            let kept = lengths.map(|length| {
                if limit.crops { length.min(limit.tokens.saturating_sub(1)) } else { length }
            });
            source[..kept[0]].reverse();
            target[..kept[1]].reverse();
            for (target, source) in links.iter_mut().flatten() {
                for (position, kept) in [(source, kept[0]), (target, kept[1])] {
                    if let Some(mirrored) = (kept as u32).checked_sub(1 + *position) {
                        *position = mirrored;
                    }
                }
            }
            // The weight of `</s>` stays last.
            if let Some((_, token_weights)) = weights.as_mut().and_then(|all| all.split_last_mut())
            {
                let kept = kept[1].min(token_weights.len());
                token_weights[..kept].reverse();
            }
        }
        let annotations = PairAnnotations { links: links.as_deref(), weights: weights.as_deref() };
        corpus.push_annotated([&source, &target], eos, limit, annotations);
        task.advance(1);
        if task.is_cancelled() {
            return Err(Error::Cancelled);
        }
    }
    text.warnings().for_each(|warning| warn(&warning));
    Ok(corpus)
}
