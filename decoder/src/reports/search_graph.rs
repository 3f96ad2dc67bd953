//! The search graph as JSON lines: one object a line of input, with every
//! hypothesis from which a complete translation can be reached, so that tools can
//! read it without a parser of their own.
//!
//! Keys of a line: `id`, the line's number; `pieces`, usually one, several for a
//! line that is translated in pieces. Of a piece: `first`, the position of its
//! first word in the line; `words`, how many it has; `hypotheses`. Of a
//! hypothesis: `id` (0 is the initial one, within the piece); `back`, the one
//! it extends; `span`, first and last source position of its last phrase, in the
//! line; `text`, the phrase's target words; `score`, the model score so far;
//! `future`, the score with the estimate of the rest; `recombined`, the hypothesis
//! it lost to, for those that lost; `complete`, true where nothing is left to
//! translate. The initial hypothesis has neither `back`, `span` nor `text`.
//!
//! JSON is UTF-8: bytes that are not become U+FFFD.

use std::io::Write;

use miriam_textio::number::push_shortest_f32;

use crate::search::{Hypothesis, HypothesisId, Search};
use crate::translator::Translator;

/// The object of one line of input, while it grows.
pub(super) struct GraphLine {
    json: Vec<u8>,
    pieces: usize,
    /// Scratch: which hypotheses lead to a translation and what they lost to.
    connected: Vec<Connection>,
    open: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Connection {
    None,
    Kept,
    LostTo(u32),
}

impl GraphLine {
    /// The object of line number `id`.
    pub(super) fn new(id: i64) -> Self {
        let json = format!("{{\"id\":{id},\"pieces\":[").into_bytes();
        GraphLine { json, pieces: 0, connected: Vec::new(), open: Vec::new() }
    }

    /// Appends the object with a line end.
    pub(super) fn finish(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.json);
        out.extend_from_slice(b"]}\n");
    }

    /// Finds what leads to a complete translation.
    fn connect(&mut self, search: &dyn Search) {
        let hypotheses = search.hypotheses();
        self.connected.clear();
        self.connected.resize(hypotheses.len(), Connection::None);
        self.open.clear();
        for id in search.complete() {
            self.reach(id, Connection::Kept);
        }
        while let Some(id) = self.open.pop() {
            let hypothesis = &hypotheses[id as usize];
            if !hypothesis.is_initial() {
                self.reach(hypothesis.previous.0, Connection::Kept);
            }
            if let Some(lattice) = search.lattice() {
                for loser in lattice.losers(HypothesisId(id)) {
                    self.reach(loser, Connection::LostTo(id));
                }
            }
        }
    }

    fn reach(&mut self, id: u32, how: Connection) {
        let connection = &mut self.connected[id as usize];
        if *connection == Connection::None {
            *connection = how;
            self.open.push(id);
        }
    }
}

impl Translator<'_> {
    /// Adds the graph of the piece decoded last, whose first word stands at
    /// `offset` in the line.
    pub(super) fn push_graph(&self, line: &mut GraphLine, offset: u32) {
        if line.pieces > 0 {
            line.json.push(b',');
        }
        line.pieces += 1;
        let words = self.sentence.len();
        write!(line.json, "{{\"first\":{offset},\"words\":{words},\"hypotheses\":[")
            .expect("memory does not fail");
        if words == 0 {
            // Nothing was searched: the initial hypothesis is complete.
            line.connected.clear();
            self.push_hypothesis(line, 0, &Hypothesis::initial(0), offset, true);
        } else {
            line.connect(&*self.search);
            let complete = self.search.complete();
            let mut first = true;
            for (id, hypothesis) in self.search.hypotheses().iter().enumerate() {
                if line.connected[id] == Connection::None {
                    continue;
                }
                if !std::mem::take(&mut first) {
                    line.json.push(b',');
                }
                let id = id as u32;
                let is_complete = match line.connected[id as usize] {
                    Connection::LostTo(winner) => complete.contains(&winner),
                    _ => complete.contains(&id),
                };
                self.push_hypothesis(line, id, hypothesis, offset, is_complete);
            }
        }
        line.json.extend_from_slice(b"]}");
    }

    fn push_hypothesis(
        &self,
        line: &mut GraphLine,
        id: u32,
        hypothesis: &Hypothesis,
        offset: u32,
        complete: bool,
    ) {
        let json = &mut line.json;
        write!(json, "{{\"id\":{id}").expect("memory does not fail");
        if !hypothesis.is_initial() {
            let span = hypothesis.span.shifted(offset);
            write!(
                json,
                ",\"back\":{},\"span\":[{},{}],\"text\":\"",
                hypothesis.previous.0,
                span.start,
                span.end - 1
            )
            .expect("memory does not fail");
            // A hypothesis that cannot be printed is part of the graph like another.
            let mut is_first = true;
            self.printed_words().of_any(hypothesis.option, hypothesis.span, |word| {
                if !std::mem::take(&mut is_first) {
                    json.push(b' ');
                }
                push_escaped(json, word);
            });
            json.push(b'"');
        }
        for (key, score) in [("score", hypothesis.total), ("future", hypothesis.future)] {
            write!(json, ",\"{key}\":").expect("memory does not fail");
            match score.is_finite() {
                true => push_shortest_f32(json, score),
                // JSON has no infinities.
                false => json.extend_from_slice(b"null"),
            }
        }
        if let Some(Connection::LostTo(winner)) = line.connected.get(id as usize) {
            write!(json, ",\"recombined\":{winner}").expect("memory does not fail");
        }
        if complete {
            json.extend_from_slice(b",\"complete\":true");
        }
        json.push(b'}');
    }
}

/// Appends `text` as it stands inside a JSON string.
fn push_escaped(json: &mut Vec<u8>, text: &[u8]) {
    for letter in String::from_utf8_lossy(text).chars() {
        match letter {
            '"' => json.extend_from_slice(b"\\\""),
            '\\' => json.extend_from_slice(b"\\\\"),
            '\0'..='\x1f' => {
                write!(json, "\\u{:04x}", letter as u32).expect("memory does not fail");
            }
            _ => json.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::push_escaped;

    #[test]
    fn strings_are_json() {
        let mut json = Vec::new();
        push_escaped(&mut json, b"a\"b\\c\x01\xe4 \xc3\xa4");
        assert_eq!(json, "a\\\"b\\\\c\\u0001\u{fffd} ä".as_bytes());
    }
}
