//! The search graph as JSON lines, so that tools can use any JSON parser. There is one object per
//! line of input, with every hypothesis from which a complete translation can be reached.
//!
//! Keys of a line: `id`, the line's number; `pieces`, usually one, several for a line that is
//! translated in parts.
//!
//! Keys of a piece: `first`, the position of its first word in the line; `words`, the number of its
//! words; `hypotheses`.
//!
//! Keys of a hypothesis:
//!
//! - `id`: its number within the piece; 0 is the initial hypothesis;
//! - `back`: the hypothesis that it extends;
//! - `span`: the first and last source position, in the line, of its last phrase;
//! - `text`: the target words of the phrase;
//! - `score`: the model score so far, or `null` if it is not finite;
//! - `future`: the score with the future cost, or `null` if it is not finite;
//! - `recombined`: the hypothesis into which it was recombined, if any;
//! - `complete`: true if all words are translated.
//!
//! The initial hypothesis has neither `back`, `span` nor `text`.
//!
//! Bytes that are not UTF-8 become U+FFFD.

use std::io::Write;

use miriam_textio::number::push_shortest_f32;

use crate::decoded_sentence::DecodedSentence;
use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::search::Search;

/// The JSON object of one line of input, under construction.
pub(crate) struct SearchGraphLine {
    json: Vec<u8>,
    pieces: usize,
    /// Scratch: for each hypothesis, whether it leads to a translation or was recombined, and into
    /// which one.
    connections: Vec<Connection>,
    frontier: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Connection {
    None,
    Connected,
    RecombinedInto(u32),
}

impl SearchGraphLine {
    /// Begins the object of line number `id`.
    pub(crate) fn new(id: i64) -> Self {
        let json = format!("{{\"id\":{id},\"pieces\":[").into_bytes();
        SearchGraphLine { json, pieces: 0, connections: Vec::new(), frontier: Vec::new() }
    }

    /// Appends the object with a line end.
    pub(crate) fn finish(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.json);
        out.extend_from_slice(b"]}\n");
    }

    /// Marks the hypotheses that lead to a complete translation.
    fn find_connected(&mut self, search: &dyn Search) {
        let hypotheses = search.hypotheses();
        self.connections.clear();
        self.connections.resize(hypotheses.len(), Connection::None);
        self.frontier.clear();
        for id in search.complete_hypotheses() {
            self.mark_reached(id, Connection::Connected);
        }
        while let Some(id) = self.frontier.pop() {
            let hypothesis = &hypotheses[id as usize];
            if !hypothesis.is_initial() {
                self.mark_reached(hypothesis.previous.0, Connection::Connected);
            }
            if let Some(lattice) = search.lattice() {
                for loser in lattice.recombined(HypothesisId(id)) {
                    self.mark_reached(loser, Connection::RecombinedInto(id));
                }
            }
        }
    }

    fn mark_reached(&mut self, id: u32, how: Connection) {
        let connection = &mut self.connections[id as usize];
        if *connection == Connection::None {
            *connection = how;
            self.frontier.push(id);
        }
    }
}

impl DecodedSentence<'_> {
    /// Adds the graph of the sentence, whose first word is at `offset` in the line.
    pub(crate) fn push_search_graph(self, line: &mut SearchGraphLine, offset: u32) {
        if line.pieces > 0 {
            line.json.push(b',');
        }
        line.pieces += 1;
        let words = self.sentence.len();
        write!(line.json, "{{\"first\":{offset},\"words\":{words},\"hypotheses\":[")
            .expect("memory does not fail");
        if words == 0 {
            // Nothing was searched: the initial hypothesis is complete.
            line.connections.clear();
            self.push_hypothesis(line, 0, &Hypothesis::initial(0), offset, true);
        } else {
            line.find_connected(self.search);
            let complete = self.search.complete_hypotheses();
            let mut first = true;
            for (id, hypothesis) in self.search.hypotheses().iter().enumerate() {
                if line.connections[id] == Connection::None {
                    continue;
                }
                if !std::mem::take(&mut first) {
                    line.json.push(b',');
                }
                let id = id as u32;
                let is_complete = match line.connections[id as usize] {
                    Connection::RecombinedInto(winner) => complete.contains(&winner),
                    _ => complete.contains(&id),
                };
                self.push_hypothesis(line, id, hypothesis, offset, is_complete);
            }
        }
        line.json.extend_from_slice(b"]}");
    }

    fn push_hypothesis(
        self,
        line: &mut SearchGraphLine,
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
            // A hypothesis whose words cannot be printed is part of the graph too.
            let mut is_first = true;
            self.surface_forms().for_each_word_lossy(hypothesis.option, hypothesis.span, |word| {
                if !std::mem::take(&mut is_first) {
                    json.push(b' ');
                }
                push_json_escaped(json, word);
            });
            json.push(b'"');
        }
        for (key, score) in [("score", hypothesis.total), ("future", hypothesis.future_score)] {
            write!(json, ",\"{key}\":").expect("memory does not fail");
            // JSON has no infinities.
            if score.is_finite() {
                push_shortest_f32(json, score)
            } else {
                json.extend_from_slice(b"null")
            }
        }
        if let Some(Connection::RecombinedInto(winner)) = line.connections.get(id as usize) {
            write!(json, ",\"recombined\":{winner}").expect("memory does not fail");
        }
        if complete {
            json.extend_from_slice(b",\"complete\":true");
        }
        json.push(b'}');
    }
}

/// Appends `text` escaped for a JSON string.
fn push_json_escaped(json: &mut Vec<u8>, text: &[u8]) {
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
    use super::push_json_escaped;

    #[test]
    fn strings_are_json() {
        let mut json = Vec::new();
        push_json_escaped(&mut json, b"a\"b\\c\x01\xe4 \xc3\xa4");
        assert_eq!(json, "a\\\"b\\\\c\\u0001\u{fffd} ä".as_bytes());
    }
}
