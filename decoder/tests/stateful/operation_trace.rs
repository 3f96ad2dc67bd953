//! The operations (generate, gap, jump) of a derivation in the operation sequence model, by their
//! definitions.

use std::collections::{BTreeMap, BTreeSet};

use crate::AppliedPhrase;

/// A derivation as operations.
#[derive(Default)]
pub struct OperationTrace {
    pub operations: Vec<String>,
    position: i32,
    end: i32,
    /// Gaps by position; true while open.
    gap_is_open: BTreeMap<i32, bool>,
    covered: BTreeSet<i32>,
    length: i32,
    pub gap_width: i32,
    pub gaps: i32,
    pub open_gaps: i32,
    pub insertions: i32,
}

/// The treatment of a source word.
enum SourceOperation<'a> {
    Translate(String),
    Continue,
    Insert(&'a str),
}

impl OperationTrace {
    pub fn from_derivation(source: &[&str], derivation: &[AppliedPhrase<'_>]) -> OperationTrace {
        let mut trace = OperationTrace { length: source.len() as i32, ..OperationTrace::default() };
        let none = BTreeSet::new();
        for phrase in derivation {
            let (target, links) = match phrase.pair {
                Some(pair) => (&pair.target[..], &pair.links),
                None => (&["_TRANS_SLF_"][..], &none),
            };
            trace.apply_phrase(
                &source[phrase.start..phrase.end],
                phrase.start as i32,
                target,
                links,
            );
        }
        trace
    }

    fn apply_phrase(
        &mut self,
        source: &[&str],
        start: i32,
        target: &[&str],
        links: &BTreeSet<(usize, usize)>,
    ) {
        let inserted: BTreeMap<i32, &str> = (0..source.len())
            .filter(|&s| links.iter().all(|l| l.0 != s))
            .map(|s| (start + s as i32, source[s]))
            .collect();
        let deleted: BTreeSet<usize> =
            (0..target.len()).filter(|&t| links.iter().all(|l| l.1 != t)).collect();
        if let Some(word) = inserted.get(&start) {
            self.visit(start, SourceOperation::Insert(word), &inserted);
        }
        let mut apart = BTreeSet::new();
        self.delete(0, target, &deleted, &apart);
        let mut listed: BTreeSet<usize> = BTreeSet::new();
        for first in 0..target.len() {
            if deleted.contains(&first) || listed.contains(&first) {
                continue;
            }
            // The words that links connect with `first`, extended until nothing is added.
            let (mut from, mut to) = (BTreeSet::new(), BTreeSet::from([first]));
            for _ in 0..links.len() + 1 {
                from.extend(links.iter().filter(|l| to.contains(&l.1)).map(|l| l.0));
                to.extend(links.iter().filter(|l| from.contains(&l.0)).map(|l| l.1));
            }
            listed.extend(&to);
            let mut run = first;
            for &t in to.iter().skip(1) {
                if t == run + 1 {
                    run = t;
                } else {
                    apart.insert(t);
                }
            }
            let side = |words: &[&str], at: &BTreeSet<usize>| {
                at.iter().map(|&i| words[i]).collect::<Vec<_>>().join("^_^")
            };
            let name = format!("_TRANS_{}_TO_{}", side(target, &to), side(source, &from));
            for (i, &s) in from.iter().enumerate() {
                let event = if i == 0 {
                    SourceOperation::Translate(name.clone())
                } else {
                    SourceOperation::Continue
                };
                self.visit(start + s as i32, event, &inserted);
            }
            let after = (run + 1..).find(|t| !apart.contains(t)).unwrap();
            self.delete(after, target, &deleted, &apart);
        }
    }

    fn delete(
        &mut self,
        at: usize,
        target: &[&str],
        deleted: &BTreeSet<usize>,
        apart: &BTreeSet<usize>,
    ) {
        if deleted.contains(&at) {
            self.operations.push(format!("_DEL_{}", target[at]));
            let after = (at + 1..).find(|t| !apart.contains(t)).unwrap();
            self.delete(after, target, deleted, apart);
        }
    }

    fn visit(&mut self, to: i32, event: SourceOperation<'_>, inserted: &BTreeMap<i32, &str>) {
        let open = |trace: &OperationTrace| {
            !trace.covered.contains(&trace.position) && trace.position < trace.length
        };
        let mut gap = false;
        if self.position < to {
            if open(self) {
                self.insert_gap();
                gap = true;
            }
            if self.position == self.end {
                self.position = to;
            } else {
                self.operations.push("_JMP_FWD_".into());
                self.position = self.end;
            }
        }
        if to < self.position {
            if self.position < self.end && open(self) {
                self.insert_gap();
                gap = true;
            }
            let from_right: Vec<i32> =
                self.gap_is_open.iter().rev().filter(|g| *g.1).map(|g| *g.0).collect();
            let nth = from_right.iter().position(|&g| g <= to).expect("a gap was left");
            self.operations.push(format!("_JMP_BCK_{}", nth + 1));
            self.position = from_right[nth];
            if self.position == to {
                self.gap_is_open.insert(to, false);
            }
        }
        if self.position < to {
            self.insert_gap();
            gap = true;
            self.position = to;
        }
        let first_open = (0..).find(|p| !self.covered.contains(p)).unwrap();
        match event {
            SourceOperation::Continue => self.operations.push("_CONT_CEPT_".into()),
            SourceOperation::Translate(name) => {
                self.operations.push(name);
                self.gap_width += self.position - first_open;
            }
            SourceOperation::Insert(word) => {
                self.operations.push(format!("_INS_{word}"));
                self.gap_width += self.position - first_open;
                self.insertions += 1;
            }
        }
        self.covered.insert(self.position);
        self.position += 1;
        self.end = self.end.max(self.position);
        self.gaps += i32::from(gap);
        self.open_gaps += self.gap_is_open.values().filter(|&&open| open).count() as i32;
        if let Some(word) = inserted.get(&self.position).filter(|_| open(self)) {
            self.visit(self.position, SourceOperation::Insert(word), inserted);
        }
    }

    fn insert_gap(&mut self) {
        self.operations.push("_INS_GAP_".into());
        self.gap_is_open.insert(self.position, true);
    }
}
