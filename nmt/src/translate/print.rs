//! Translations as lines: the best one, or a list in Marian's form, with alignments and
//! scores behind.

use std::io::Write;

use miriam_textio::number::{push_general, push_general_f32};

use super::options::{AlignmentForm, OutputOptions};
use super::text::{Pieces, Side};
use crate::search::{Translation, alignment, unknown};

/// A translation with the score that each model gives it.
pub(super) struct Scored {
    pub translation: Translation,
    /// As many as models; of one model alone the score is that of the translation.
    pub by_model: Vec<f32>,
}

/// Appends the lines of sentence `id`, counted from 0, which has translations or
/// [`nothing`].
pub(super) fn print(
    id: u64,
    source: &Pieces,
    found: &[Scored],
    target: &Side,
    options: &OutputOptions,
    out: &mut Vec<u8>,
) {
    let wanted = if options.n_best { found } else { &found[..1] };
    for Scored { translation, by_model } in wanted {
        if options.n_best {
            write!(out, "{id} ||| ").expect("memory does not fail");
        }
        text(translation, source, target, options, out);
        if let Some(form) = options.alignment {
            out.extend_from_slice(b" ||| ");
            push_alignment(&translation.alignment, form, out);
        }
        if options.word_scores {
            out.extend_from_slice(b" ||| WordScores=");
            push_word_scores(&translation.word_scores, out);
        }
        if options.n_best {
            out.extend_from_slice(b" |||");
            for (number, score) in by_model.iter().enumerate() {
                write!(out, " F{number}= ").expect("memory does not fail");
                push_general_f32(out, *score);
            }
            out.extend_from_slice(b" ||| ");
            push_general_f32(out, translation.score);
        }
        out.push(b'\n');
    }
}

/// The translation of nothing by so many models: `</s>`, which costs nothing and comes from
/// `</s>`.
pub(super) fn nothing(models: usize) -> Scored {
    let translation = Translation {
        word_scores: vec![0.0],
        alignment: vec![vec![1.0]],
        ..Translation::default()
    };
    Scored { translation, by_model: vec![0.0; models] }
}

fn text(
    translation: &Translation,
    source: &Pieces,
    target: &Side,
    options: &OutputOptions,
    out: &mut Vec<u8>,
) {
    let instead = if options.replace_unknowns {
        unknown::replacements(translation, target.vocabulary.unknown(), source.len())
    } else {
        Vec::new()
    };
    let instead = |place: usize| {
        let found = instead.binary_search_by_key(&place, |(place, _)| *place).ok()?;
        source.get(instead[found].1)
    };
    target.write(&translation.words, instead, out);
}

/// Appends an alignment: `0-0 1-2`, or for each word its weights with commas between.
pub(crate) fn push_alignment(rows: &[Vec<f32>], form: AlignmentForm, out: &mut Vec<u8>) {
    match form {
        AlignmentForm::Hard(threshold) => {
            for (number, (source, target)) in alignment::hard(rows, threshold).iter().enumerate() {
                let space = if number > 0 { " " } else { "" };
                write!(out, "{space}{source}-{target}").expect("memory does not fail");
            }
        }
        AlignmentForm::Soft => {
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

/// Appends scores of words, a space before each.
pub(crate) fn push_word_scores(scores: &[f32], out: &mut Vec<u8>) {
    for score in scores {
        write!(out, " {score:.5}").expect("memory does not fail");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segmentation::Segmentation;
    use crate::translate::Cutting;
    use crate::vocabulary::Vocabulary;
    use std::path::Path;
    use std::sync::Arc;

    fn side() -> Side {
        let words = b"</s>\n<unk>\na\nb\n";
        Side {
            vocabulary: Arc::new(Vocabulary::parse(words, Path::new("v.txt")).unwrap()),
            segmentation: Segmentation::Pieces,
            reads_pieces: false,
            writes_pieces: false,
        }
    }

    fn found() -> Scored {
        let translation = Translation {
            words: vec![3, 1],
            word_scores: vec![-0.5, -1.25, -0.125],
            log_probability: -1.875,
            score: -0.625,
            alignment: vec![vec![0.75, 0.25], vec![0.5, 0.5], vec![0.0, 1.0]],
        };
        Scored { translation, by_model: vec![-1.5, -0.375] }
    }

    fn printed(options: OutputOptions, found: &[Scored]) -> String {
        let side = side();
        let source = side.read(b"zz", &mut Cutting::default());
        let mut out = Vec::new();
        print(7, &source, found, &side, &options, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_of_the_best() {
        assert_eq!(printed(OutputOptions::default(), &[found(), found()]), "b <unk>\n");
        let all = OutputOptions {
            alignment: Some(AlignmentForm::Hard(1.0)),
            word_scores: true,
            replace_unknowns: true,
            ..OutputOptions::default()
        };
        let expected = "b zz ||| 0-0 0-1 1-2 ||| WordScores= -0.50000 -1.25000 -0.12500\n";
        assert_eq!(printed(all, &[found()]), expected);
        let soft = OutputOptions { alignment: Some(AlignmentForm::Soft), ..Default::default() };
        assert_eq!(printed(soft, &[found()]), "b <unk> ||| 0.75,0.25 0.5,0.5 0,1\n");
    }

    #[test]
    fn lists_in_the_form_of_marian() {
        let list = OutputOptions { n_best: true, ..OutputOptions::default() };
        let line = "7 ||| b <unk> ||| F0= -1.5 F1= -0.375 ||| -0.625\n";
        assert_eq!(printed(list, &[found(), found()]), line.repeat(2));
        assert_eq!(printed(list, &[nothing(2)]), "7 |||  ||| F0= 0 F1= 0 ||| 0\n");
        let hard = Some(AlignmentForm::Hard(0.2));
        let more = OutputOptions { alignment: hard, word_scores: true, ..list };
        let nothing = printed(more, &[nothing(1)]);
        assert_eq!(nothing, "7 |||  ||| 0-0 ||| WordScores= 0.00000 ||| F0= 0 ||| 0\n");
    }
}
