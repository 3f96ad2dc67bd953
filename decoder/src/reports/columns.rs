//! A translation as columns of a line: words, the source and target positions of its
//! phrases, and the word alignment, as Moses prints them.

use std::io::Write;

use miriam_textio::number::push_general_f32;

use crate::Result;
use crate::config::NBestOptions;
use crate::decoded_sentence::DecodedSentence;
use crate::features::FeatureComponents;
use crate::hypothesis::HypothesisId;
use crate::span::Span;

/// The columns of one translation, filled phrase by phrase.
#[derive(Default)]
pub(crate) struct OutputColumns {
    /// Words, each followed by a space.
    pub(crate) words: Vec<u8>,
    /// `0-1=0-2`, source and target positions of phrases, with a space before each pair.
    pub(crate) segmentation: Vec<u8>,
    /// `0-1`, source and target positions of words, with a space after each pair.
    pub(crate) alignment: Vec<u8>,
    /// The number of target words so far.
    target_position: u32,
    alignment_points: Vec<(u16, u16)>,
}

impl OutputColumns {
    /// Clears all columns for the next translation.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.segmentation.clear();
        self.alignment.clear();
        self.target_position = 0;
    }

    /// Adds the last phrase of the hypothesis `id` of `decoded`. `offset` is the position of the
    /// sentence's first word in the line. Segmentation and alignment are listed only if `aligned`.
    pub(crate) fn push_phrase(
        &mut self,
        decoded: DecodedSentence<'_>,
        id: HypothesisId,
        offset: u32,
        aligned: bool,
    ) -> Result<()> {
        let hypothesis = decoded.hypothesis(id);
        let words = &mut self.words;
        decoded.surface_forms().for_each_word(hypothesis.option, hypothesis.span, |word| {
            words.extend_from_slice(word);
            words.push(b' ');
        })?;
        if aligned {
            self.push_alignment(decoded, id, offset);
        }
        self.target_position += decoded.options.words(hypothesis.option).len() as u32;
        Ok(())
    }

    /// Adds the words of a translation without phrases, which translates the source words `source`.
    pub(crate) fn push_words(&mut self, words: &[Vec<u8>], source: Span, aligned: bool) {
        for word in words {
            self.words.extend_from_slice(word);
            self.words.push(b' ');
        }
        let length = words.len() as u32;
        let target = Span { start: self.target_position, end: self.target_position + length };
        if aligned {
            self.push_segment(source, target);
        }
        self.target_position = target.end;
    }

    /// Adds the source and target positions of a phrase.
    fn push_segment(&mut self, source: Span, target: Span) {
        let out = &mut self.segmentation;
        out.push(b' ');
        push_position_range(out, source);
        out.push(b'=');
        push_position_range(out, target);
    }

    fn push_alignment(&mut self, decoded: DecodedSentence<'_>, id: HypothesisId, offset: u32) {
        let hypothesis = decoded.hypothesis(id);
        let source = hypothesis.span.shifted(offset);
        let length = decoded.options.words(hypothesis.option).len() as u32;
        let target = Span { start: self.target_position, end: self.target_position + length };
        self.push_segment(source, target);
        decoded.collect_alignment(hypothesis.option, &mut self.alignment_points);
        for &(s, t) in &self.alignment_points {
            let (s, t) = (source.start + u32::from(s), target.start + u32::from(t));
            write!(self.alignment, "{s}-{t} ").expect("memory does not fail");
        }
    }
}

/// Appends the first and the last position, or the only one.
fn push_position_range(out: &mut Vec<u8>, span: Span) {
    write!(out, "{}", span.start).expect("memory does not fail");
    if span.start + 1 < span.end {
        write!(out, "-{}", span.end - 1).expect("memory does not fail");
    }
}

/// Appends the values of tuneable features. With `labels`, the values of a feature follow its name.
/// Each value is written by `number` and followed by a space.
pub(crate) fn push_feature_values(
    out: &mut Vec<u8>,
    features: &[FeatureComponents],
    values: &[f32],
    labels: bool,
    number: impl Fn(&mut Vec<u8>, f32),
) {
    for feature in features.iter().filter(|feature| feature.is_tuneable()) {
        if labels {
            out.extend_from_slice(feature.name.as_bytes());
            out.extend_from_slice(b"= ");
        }
        for component in feature.tuned_components() {
            number(out, values[component]);
            out.push(b' ');
        }
    }
}

/// Appends a line of an n-best list: the columns of Moses2, then the columns of Moses 1 that
/// `options` request.
pub(crate) fn push_n_best_line(
    out: &mut Vec<u8>,
    id: i64,
    columns: &OutputColumns,
    features: &[FeatureComponents],
    (values, total): (&[f32], f32),
    options: NBestOptions,
) {
    const BAR: &[u8] = b"||| ";
    write!(out, "{id} ").expect("memory does not fail");
    out.extend_from_slice(BAR);
    out.extend_from_slice(&columns.words);
    out.extend_from_slice(BAR);
    push_feature_values(out, features, values, options.labels, push_general_f32);
    out.extend_from_slice(BAR);
    push_general_f32(out, total);
    if options.segmentation {
        out.extend_from_slice(b" |||");
        out.extend_from_slice(&columns.segmentation);
    }
    if options.alignment {
        out.extend_from_slice(b" ||| ");
        out.extend_from_slice(&columns.alignment);
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feature(name: &str, range: std::ops::Range<usize>, tuneable: bool) -> FeatureComponents {
        let weights = vec![1.0; range.len()];
        let tuneable = vec![tuneable; range.len()];
        FeatureComponents { name: name.to_owned(), range, tuneable, weights }
    }

    /// The form of Moses' regression case `phrase.nbest-with-alignment`, with
    /// Moses2's spacing.
    #[test]
    fn n_best_lines() {
        let columns = OutputColumns {
            words: b"the small house ".to_vec(),
            segmentation: b" 0=0 1-2=1-2".to_vec(),
            alignment: b"0-0 1-1 2-2 ".to_vec(),
            ..OutputColumns::default()
        };
        let features = [
            feature("UnknownWordPenalty0", 0..1, false),
            feature("LM0", 1..2, true),
            feature("T", 2..4, true),
        ];
        let values = [-100.0, -12.5, -1e-10, 0.0];
        let line = |labels, segmentation, alignment| {
            let options =
                NBestOptions { size: 5, distinct: false, labels, segmentation, alignment };
            let mut out = Vec::new();
            push_n_best_line(&mut out, 3, &columns, &features, (&values, -549.8623), options);
            String::from_utf8(out).unwrap()
        };
        let plain = "3 ||| the small house ||| LM0= -12.5 T= -1e-10 0 ||| -549.862\n";
        assert_eq!(line(true, false, false), plain);
        let bare = "3 ||| the small house ||| -12.5 -1e-10 0 ||| -549.862";
        assert_eq!(line(false, true, true), format!("{bare} ||| 0=0 1-2=1-2 ||| 0-0 1-1 2-2 \n"));
        assert_eq!(line(false, false, true), format!("{bare} ||| 0-0 1-1 2-2 \n"));
    }

    #[test]
    fn spans_as_positions() {
        let mut out = Vec::new();
        push_position_range(&mut out, Span { start: 3, end: 4 });
        out.push(b' ');
        push_position_range(&mut out, Span { start: 0, end: 3 });
        out.push(b' ');
        push_position_range(&mut out, Span { start: 7, end: 7 });
        assert_eq!(out, b"3 0-2 7", "an empty phrase is at the position of the next one");
    }
}
