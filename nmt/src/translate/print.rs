//! Printer of translations: the best one or an n-best list in Marian's format, with alignments and
//! scores.

use std::io::Write;

use miriam_textio::number::{push_general, push_general_f32};

use super::Translator;
use super::options::OutputOptions;
use super::tokenizer::{Pieces, Tokenizer};
use crate::search::{Translation, alignment, unknown};
use miriam_nmt_models::AlignmentFormat;

/// A translation with the score that each model gives it.
pub(super) struct ScoredTranslation {
    pub translation: Translation,
    /// The log-probability by each model, if n-best lists of an ensemble need it; otherwise only
    /// the log-probability of the translation.
    pub model_scores: Vec<f32>,
}

/// Appends the lines of sentence `id`, counted from 0. `found` must not be empty: callers without
/// a translation pass [`empty_translation`]. N-best lists have the score of each model as `F0` and
/// so on, and the score of a language model in the search as `LM0`.
pub(super) fn write_translations(
    id: u64,
    source: &Pieces,
    found: &[ScoredTranslation],
    target: &Tokenizer,
    options: &OutputOptions,
    out: &mut Vec<u8>,
) {
    let wanted = if options.n_best { found } else { &found[..1] };
    for ScoredTranslation { translation, model_scores: by_model } in wanted {
        if options.n_best {
            write!(out, "{id} ||| ").expect("memory does not fail");
        }
        write_text(translation, source, target, options, out);
        if let Some(form) = options.alignment {
            out.extend_from_slice(b" ||| ");
            push_alignment(&translation.alignment, form, out);
        }
        if options.word_scores {
            out.extend_from_slice(b" ||| WordScores=");
            push_word_scores(&translation.token_scores, out);
        }
        if options.n_best {
            out.extend_from_slice(b" |||");
            for (number, score) in by_model.iter().enumerate() {
                write!(out, " F{number}= ").expect("memory does not fail");
                push_general_f32(out, *score);
            }
            if let Some(score) = translation.lm_log_probability {
                out.extend_from_slice(b" LM0= ");
                push_general_f32(out, score);
            }
            out.extend_from_slice(b" ||| ");
            push_general_f32(out, translation.score);
        }
        out.push(b'\n');
    }
}

impl Translator {
    /// Returns the translation of an empty sentence.
    pub(super) fn empty_translation(&self) -> ScoredTranslation {
        empty_translation(self.models.count(), self.has_language_model())
    }
}

/// Returns the translation of an empty sentence by `models` models: `</s>` with probability 1, also
/// for the language model of the search if `has_lm`, and aligned with `</s>`.
fn empty_translation(models: usize, has_lm: bool) -> ScoredTranslation {
    let translation = Translation {
        token_scores: vec![0.0],
        lm_log_probability: has_lm.then_some(0.0),
        alignment: vec![vec![1.0]],
        ..Translation::default()
    };
    ScoredTranslation { translation, model_scores: vec![0.0; models] }
}

/// Appends the text of a translation.
pub(super) fn write_text(
    translation: &Translation,
    source: &Pieces,
    target: &Tokenizer,
    options: &OutputOptions,
    out: &mut Vec<u8>,
) {
    target.decode(&translation.tokens, replacement(translation, source, target, options), out);
}

/// Returns the string that each token of a translation adds to its text. As in [`write_text`],
/// unknown words may be replaced, and special tokens add nothing.
pub(super) fn written_pieces<'a>(
    translation: &Translation,
    source: &'a Pieces,
    target: &'a Tokenizer,
    options: &OutputOptions,
) -> impl Iterator<Item = &'a [u8]> {
    let replacement = replacement(translation, source, target, options);
    translation.tokens.iter().enumerate().map(move |(position, &id)| {
        let piece = target.text_piece(id);
        piece.map(|piece| replacement(position).unwrap_or(piece)).unwrap_or_default()
    })
}

/// Returns the pieces of the source that replace unknown tokens of a translation, by position.
fn replacement<'a>(
    translation: &Translation,
    source: &'a Pieces,
    target: &Tokenizer,
    options: &OutputOptions,
) -> impl Fn(usize) -> Option<&'a [u8]> {
    let replacements = if options.replace_unknowns {
        unknown::replacements(translation, target.vocabulary.unk_id(), source.len())
    } else {
        Vec::new()
    };
    move |position| {
        let found = replacements.binary_search_by_key(&position, |(position, _)| *position).ok()?;
        source.get(replacements[found].1)
    }
}

/// Appends an alignment: `0-0 1-2`, or for each token its weights with commas between.
pub(crate) fn push_alignment(rows: &[Vec<f32>], form: AlignmentFormat, out: &mut Vec<u8>) {
    match form {
        AlignmentFormat::Hard(threshold) => {
            for (number, (source, target)) in
                alignment::to_hard_alignment(rows, threshold).iter().enumerate()
            {
                let space = if number > 0 { " " } else { "" };
                write!(out, "{space}{source}-{target}").expect("memory does not fail");
            }
        }
        AlignmentFormat::Soft => {
            for (number, row) in rows.iter().enumerate() {
                if number > 0 {
                    out.push(b' ');
                }
                for (place, weight) in row.iter().enumerate() {
                    if place > 0 {
                        out.push(b',');
                    }
                    push_general(out, f64::from(*weight));
                }
            }
        }
    }
}

/// Appends scores of tokens, a space before each.
pub(crate) fn push_word_scores(scores: &[f32], out: &mut Vec<u8>) {
    for score in scores {
        write!(out, " {score:.5}").expect("memory does not fail");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translate::TokenizerScratch;
    use miriam_nmt_models::Segmentation;
    use miriam_nmt_models::Vocabulary;
    use std::path::Path;
    use std::sync::Arc;

    fn side() -> Tokenizer {
        let words = b"</s>\n<unk>\na\nb\n";
        Tokenizer {
            vocabulary: Arc::new(Vocabulary::parse(words, Path::new("v.txt")).unwrap()),
            segmentation: Segmentation::Presegmented,
            boundary_tokens: Default::default(),
            input_is_tokenized: false,
            output_as_pieces: false,
            special_ids: Default::default(),
            needs_language_tag: false,
            reads_backwards: false,
        }
    }

    fn found() -> ScoredTranslation {
        let translation = Translation {
            tokens: vec![3, 1],
            token_scores: vec![-0.5, -1.25, -0.125],
            log_probability: -1.875,
            lm_log_probability: None,
            score: -0.625,
            alignment: vec![vec![0.75, 0.25], vec![0.5, 0.5], vec![0.0, 1.0]],
            end_token: Some(0),
        };
        ScoredTranslation { translation, model_scores: vec![-1.5, -0.375] }
    }

    fn printed(options: OutputOptions, found: &[ScoredTranslation]) -> String {
        let side = side();
        let source = side.encode(b"zz", &mut TokenizerScratch::default());
        let mut out = Vec::new();
        write_translations(7, &source, found, &side, &options, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn written_pieces_are_those_of_the_text() {
        let source = side().encode(b"zz", &mut TokenizerScratch::default());
        let written = |target: &Tokenizer, options: &OutputOptions| -> Vec<String> {
            let translation = found().translation;
            let pieces: Vec<String> = written_pieces(&translation, &source, target, options)
                .map(|piece| String::from_utf8(piece.to_vec()).unwrap())
                .collect();
            let mut text = Vec::new();
            write_text(&translation, &source, target, options, &mut text);
            assert_eq!(pieces.join(" ").trim().as_bytes(), text);
            pieces
        };
        let replaces = OutputOptions { replace_unknowns: true, ..OutputOptions::default() };
        assert_eq!(written(&side(), &OutputOptions::default()), ["b", "<unk>"]);
        assert_eq!(written(&side(), &replaces), ["b", "zz"]);
        let special = Tokenizer { special_ids: [3].into(), ..side() };
        assert_eq!(written(&special, &replaces), ["", "zz"]);
    }

    #[test]
    fn one_best_lines() {
        assert_eq!(printed(OutputOptions::default(), &[found(), found()]), "b <unk>\n");
        let all = OutputOptions {
            alignment: Some(AlignmentFormat::Hard(1.0)),
            word_scores: true,
            replace_unknowns: true,
            ..OutputOptions::default()
        };
        let expected = "b zz ||| 0-0 0-1 1-2 ||| WordScores= -0.50000 -1.25000 -0.12500\n";
        assert_eq!(printed(all, &[found()]), expected);
        let soft = OutputOptions { alignment: Some(AlignmentFormat::Soft), ..Default::default() };
        assert_eq!(printed(soft, &[found()]), "b <unk> ||| 0.75,0.25 0.5,0.5 0,1\n");
    }

    #[test]
    fn n_best_lists_in_marian_format() {
        let list = OutputOptions { n_best: true, ..OutputOptions::default() };
        let line = "7 ||| b <unk> ||| F0= -1.5 F1= -0.375 ||| -0.625\n";
        assert_eq!(printed(list, &[found(), found()]), line.repeat(2));
        assert_eq!(printed(list, &[empty_translation(2, false)]), "7 |||  ||| F0= 0 F1= 0 ||| 0\n");
        let with_lm = empty_translation(1, true);
        assert_eq!(printed(list, &[with_lm]), "7 |||  ||| F0= 0 LM0= 0 ||| 0\n");
        let hard = Some(AlignmentFormat::Hard(0.2));
        let more = OutputOptions { alignment: hard, word_scores: true, ..list };
        let nothing = printed(more, &[empty_translation(1, false)]);
        assert_eq!(nothing, "7 |||  ||| 0-0 ||| WordScores= 0.00000 ||| F0= 0 ||| 0\n");
    }
}
