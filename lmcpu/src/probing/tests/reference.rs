//! A slow reference model: a map from n-grams to probabilities and backoffs, read from
//! ARPA text with string functions, scored exactly as `ngram-lm.md` 2.2 says.

use std::collections::HashMap;

use crate::State;

/// The values of an n-gram. Flags are fields here, not sign bits.
#[derive(Clone, Copy, Debug)]
struct ReferenceEntry {
    log10: f32,
    backoff: f32,
    /// Whether a longer n-gram begins with it.
    is_context: bool,
}

/// A model whose n-grams are lists of words, newest first.
pub struct ReferenceModel {
    order: usize,
    entries: HashMap<Vec<String>, ReferenceEntry>,
    pub words: Vec<String>,
}

/// The state after a word: its words, newest first, and their backoffs.
#[derive(Clone, Debug, Default)]
pub struct ReferenceState(pub Vec<(String, f32)>);

impl ReferenceModel {
    /// Reads a well-formed model; blanks are added for missing suffixes as KenLM does
    /// for probing models: one n-gram of the file after another.
    pub fn parse(arpa: &str) -> Self {
        Self::read(arpa, Self::insert)
    }

    /// Reads a well-formed model; blanks are added for missing suffixes as KenLM does
    /// for tries: after all n-grams.
    pub fn parse_as_trie(arpa: &str) -> Self {
        let mut model = Self::read(arpa, |model, words, log10, backoff| {
            model.entries.insert(words, ReferenceEntry { log10, backoff, is_context: false });
        });
        let mut blanks: Vec<Vec<String>> = model
            .entries
            .keys()
            .flat_map(|words| (1..words.len()).map(|n| words[..n].to_vec()))
            .filter(|words| !model.entries.contains_key(words))
            .collect();
        blanks.sort_by_key(Vec::len);
        for words in blanks {
            let n = words.len();
            let context = model.entries.get(&words[1..]).map_or(0.0, |entry| entry.backoff);
            let log10 = model.entries[&words[..n - 1]].log10 + context;
            model.entries.insert(words, ReferenceEntry { log10, backoff: 0.0, is_context: false });
        }
        let contexts: Vec<Vec<String>> =
            model.entries.keys().map(|words| words[1..].to_vec()).collect();
        for context in contexts {
            if let Some(entry) = model.entries.get_mut(&context) {
                entry.is_context = true;
            }
        }
        model
    }

    fn read(arpa: &str, insert: impl Fn(&mut Self, Vec<String>, f32, f32)) -> Self {
        let mut model =
            ReferenceModel { order: 0, entries: HashMap::new(), words: vec!["<unk>".into()] };
        for line in arpa.lines() {
            if let Some(order) = line.strip_prefix('\\').and_then(|l| l.strip_suffix("-grams:")) {
                model.order = order.parse().unwrap();
            } else if model.order > 0 && line.contains('\t') {
                let fields: Vec<&str> = line.split('\t').collect();
                let words: Vec<String> = fields[1].split(' ').rev().map(String::from).collect();
                let backoff = fields.get(2).map_or(0.0, |f| f.parse().unwrap());
                if words.len() == 1 && words[0] != "<unk>" {
                    model.words.push(words[0].clone());
                }
                insert(&mut model, words, fields[0].parse().unwrap(), backoff);
            }
        }
        model
    }

    fn insert(&mut self, words: Vec<String>, log10: f32, backoff: f32) {
        // Adds the missing suffixes that are longer than the longest present suffix.
        let present =
            (1..words.len()).rev().find(|&n| self.entries.contains_key(&words[..n])).unwrap_or(0);
        if present > 0 {
            let mut log10 = -self.entries[&words[..present]].log10.abs();
            for n in present..words.len() - 1 {
                if let Some(context) = self.entries.get_mut(&words[1..=n]) {
                    context.is_context = true;
                    log10 += context.backoff;
                }
                let blank = ReferenceEntry { log10, backoff: 0.0, is_context: false };
                self.entries.insert(words[..=n].to_vec(), blank);
            }
        }
        if words.len() > 1 {
            self.entries.get_mut(&words[1..]).expect("the context is there").is_context = true;
        }
        self.entries.insert(words, ReferenceEntry { log10, backoff, is_context: false });
    }

    pub fn begin(&self) -> ReferenceState {
        let begin = "<s>".to_string();
        let backoff = self.entries[std::slice::from_ref(&begin)].backoff;
        ReferenceState(vec![(begin, backoff)])
    }

    /// Returns log10, the matched length and the next state.
    pub fn score(&self, state: &ReferenceState, word: &str) -> (f32, usize, ReferenceState) {
        let known = [word.to_string()];
        let word = if self.entries.contains_key(&known[..]) { word } else { "<unk>" };
        let mut ngram = vec![word.to_string()];
        let mut next = ReferenceState::default();
        let mut log10 = 0.0;
        let mut matched = 0;
        let mut backoffs = Vec::new();
        for n in 1..=(state.0.len() + 1).min(self.order) {
            if n > 1 {
                ngram.push(state.0[n - 2].0.clone());
            }
            let Some(entry) = self.entries.get(&ngram) else { break };
            log10 = -entry.log10.abs();
            matched = n;
            backoffs.push(entry.backoff);
            if n < self.order && (entry.is_context || entry.backoff != 0.0) {
                next.0 = ngram.iter().cloned().zip(backoffs.iter().copied()).collect();
            }
        }
        for (_, backoff) in &state.0[(matched - 1).min(state.0.len())..] {
            log10 += backoff;
        }
        (log10, matched, next)
    }

    /// Whether each n-gram that a state keeps whole has a suffix that a state keeps whole.
    pub fn is_closed(&self) -> bool {
        let keeps = |words: &[String]| {
            self.entries.get(words).is_some_and(|e| e.is_context || e.backoff != 0.0)
        };
        self.entries.keys().all(|words| {
            words.len() == 1
                || words.len() == self.order
                || !keeps(words)
                || keeps(&words[..words.len() - 1])
        })
    }

    pub fn same_state(&self, state: &State, expected: &ReferenceState) -> bool {
        state.len() == expected.0.len()
            && state.entries().iter().zip(&expected.0).all(|(entry, (word, backoff))| {
                self.words[entry.0.0 as usize] == *word && entry.1 == *backoff
            })
    }
}
