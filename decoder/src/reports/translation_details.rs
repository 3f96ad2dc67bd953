//! The origin of each phrase of a translation, in Moses 1's form
//! (`-translation-details`), which other scripts parse.

use std::io::Write;

use crate::Result;
use crate::decoded_sentence::DecodedSentence;
use crate::n_best::NBest;
use crate::output::{OutputFormat, TranslatedPhrase};

impl DecodedSentence<'_> {
    /// Appends the block of the sentence, whose first word is at `offset` in the line;
    /// `n_best` computes its values.
    pub(super) fn push_translation_details(
        self,
        n_best: &mut NBest,
        out: &mut Vec<u8>,
        offset: u32,
    ) -> Result<()> {
        out.extend_from_slice(b"\nTRANSLATION HYPOTHESIS DETAILS:\n");
        let (mut sources, mut targets) = (Vec::new(), Vec::new());
        let mut dropped = Vec::new();
        let mut position = 0;
        for TranslatedPhrase { source: place, words, alignment } in self.best_phrases(offset)? {
            let span = (place.start - offset) as usize..(place.end - offset) as usize;
            write!(out, "         SOURCE: [{}..{}]", place.start, place.end - 1)
                .expect("memory does not fail");
            let first = out.len();
            for &word in &self.sentence.ids()[span] {
                out.push(b' ');
                out.extend_from_slice(self.sentence.word(word, &self.system.models));
            }
            if words.is_empty() {
                dropped.extend_from_slice(b"\tdropped=");
                dropped.extend_from_slice(&out[first + 1..]);
                dropped.push(b'\n');
            }
            out.extend_from_slice(b"\n  TRANSLATED AS:");
            for word in &words {
                out.push(b' ');
                out.extend_from_slice(word);
            }
            if words.is_empty() {
                out.extend_from_slice(b" <EPSILON>");
            }
            out.extend_from_slice(b"\n  WORD ALIGNED: ");
            for (s, t) in &alignment {
                write!(out, "{s}-{t} ").expect("memory does not fail");
            }
            out.push(b'\n');
            if words.is_empty() {
                write!(sources, " del({})", place.start).expect("memory does not fail");
                push_positions(&mut sources, b'-', place.start + 1..place.end);
            } else {
                push_positions(&mut sources, b' ', place.start..place.end);
                push_positions(&mut targets, b' ', position..position + words.len() as u32);
            }
            position += words.len() as u32;
        }
        out.extend_from_slice(b"\nSOURCE/TARGET SPANS:\n  SOURCE:");
        out.extend_from_slice(&sources);
        out.extend_from_slice(b"\n  TARGET:");
        out.extend_from_slice(&targets);
        out.extend_from_slice(b"\n\n");
        if !dropped.is_empty() {
            out.extend_from_slice(b"\nWORDS/PHRASES DROPPED:\n");
            out.extend_from_slice(&dropped);
        }
        let mut values = Vec::new();
        n_best.add_best_values(self, &mut values)?;
        out.extend_from_slice(b"\nSCORES (UNWEIGHTED/WEIGHTED): core=(");
        for (i, &value) in values.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            OutputFormat::push_number(out, value);
        }
        out.extend_from_slice(b")  weighted(TODO)\n");
        Ok(())
    }
}

/// Appends all positions, joined by dashes, with `before` in front of the first.
fn push_positions(out: &mut Vec<u8>, before: u8, positions: std::ops::Range<u32>) {
    for (i, position) in positions.enumerate() {
        out.push(if i == 0 { before } else { b'-' });
        write!(out, "{position}").expect("memory does not fail");
    }
}
