//! Translation as a sequence of operations (operation sequence model,
//! `docs/spec/phrase-decoding.md` 3.6; Durrani et al. 2011), as Moses2 implements it.
//!
//! A phrase pair with its word alignment is an [`OperationProgram`]: the groups of linked words
//! (cepts) that it translates one after another, the target words that it deletes and the source
//! words that it inserts. The program is run from a [`Cursor`], which holds the position of the
//! last source word and the gaps that were left. It gives the operations of the phrase itself, and
//! the gaps and jumps between them. The names of operations are words of the operation model, an
//! n-gram model.
//!
//! Moses' names follow the direction of training and look exchanged here: a target
//! word without link is "deleted" (`_DEL_`), a source word without link "inserted"
//! (`_INS_`).

use miriam_lmcpu::{LanguageModel, LmWord};

/// The operations that name no words, as words of the operation model.
pub(super) struct FixedOperations {
    insert_gap: LmWord,
    jump_forward: LmWord,
    continue_cept: LmWord,
    /// Jumps back to the n-th open gap, counted from the right.
    jump_back: Vec<LmWord>,
}

/// The number of operations that jump back: a sentence has at most one gap per word.
const MAX_JUMPS: usize = crate::sentence::MAX_SENTENCE_WORDS + 1;
/// The name of the target of an unknown word.
pub(crate) const UNKNOWN_TARGET: &[u8] = b"_TRANS_SLF_";
/// The separator of words on one side of a cept.
const CEPT_WORD_SEPARATOR: &[u8] = b"^_^";
/// The distance to the left within which Moses looks for a gap to jump back to.
const MAX_GAP_DISTANCE: i32 = 1172;

impl FixedOperations {
    /// Looks the operations up in `model`.
    pub(super) fn new(model: &dyn LanguageModel) -> Self {
        FixedOperations {
            insert_gap: model.word_id(b"_INS_GAP_"),
            jump_forward: model.word_id(b"_JMP_FWD_"),
            continue_cept: model.word_id(b"_CONT_CEPT_"),
            jump_back: (0..MAX_JUMPS)
                .map(|n| model.word_id(format!("_JMP_BCK_{n}").as_bytes()))
                .collect(),
        }
    }

    fn jump_back(&self, n: usize) -> LmWord {
        self.jump_back.get(n).copied().unwrap_or(LmWord::UNKNOWN)
    }
}

/// One instruction of a phrase pair. Source positions are counted from the start of the phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instruction {
    /// A target word without link.
    Delete(LmWord),
    /// Goes to this source word and translates the cept that begins there.
    Translate(u32, LmWord),
    /// Goes to this source word, which belongs to the cept before.
    Continue(u32),
    /// Goes to this source word, which has no link.
    Insert(u32),
}

/// The instructions of a phrase pair, in buffers that are reused.
#[derive(Clone, Debug, Default)]
pub(super) struct OperationProgram {
    instructions: Vec<Instruction>,
    /// For each source word, the operation that inserts the word, if it has no link.
    insertions: Vec<Option<LmWord>>,
}

impl OperationProgram {
    /// Compiles the pair `source`, `target` with links `points` (source, target); points outside
    /// the pair are ignored.
    pub(super) fn compile(
        &mut self,
        model: &dyn LanguageModel,
        source: &[&[u8]],
        target: &[&[u8]],
        points: impl Iterator<Item = (u16, u16)>,
    ) {
        self.instructions.clear();
        self.insertions.clear();
        let points: Vec<(usize, usize)> = points
            .filter(|&(s, t)| (s as usize) < source.len() && (t as usize) < target.len())
            .map(|(s, t)| (s.into(), t.into()))
            .collect();
        self.insertions.extend(source.iter().enumerate().map(|(i, word)| {
            let linked = points.iter().any(|p| p.0 == i);
            (!linked).then(|| model.word_id(&[b"_INS_", *word].concat()))
        }));
        let unlinked: Vec<bool> =
            (0..target.len()).map(|i| !points.iter().any(|p| p.1 == i)).collect();
        // Target words of earlier cepts that do not directly follow the other words of their cept.
        let mut done = vec![false; target.len() + 1];
        if self.insertions.first().is_some_and(Option::is_some) {
            self.instructions.push(Instruction::Insert(0));
        }
        self.delete_unlinked(model, target, &unlinked, &done, 0);
        for (from, to) in find_cepts(&points) {
            let operation = match to[..] {
                [only] if target[only] == UNKNOWN_TARGET => UNKNOWN_TARGET.to_vec(),
                _ => {
                    fn side(words: &[&[u8]], at: &[usize]) -> Vec<u8> {
                        at.iter().map(|&i| words[i]).collect::<Vec<_>>().join(CEPT_WORD_SEPARATOR)
                    }
                    [b"_TRANS_", &side(target, &to)[..], b"_TO_", &side(source, &from)].concat()
                }
            };
            let mut last = to[0];
            for &word in &to[1..] {
                if word == last + 1 {
                    last = word;
                } else {
                    done[word] = true;
                }
            }
            self.instructions
                .push(Instruction::Translate(from[0] as u32, model.word_id(&operation)));
            self.instructions
                .extend(from[1..].iter().map(|&word| Instruction::Continue(word as u32)));
            self.delete_unlinked(model, target, &unlinked, &done, next_target_word(&done, last));
        }
    }

    /// Deletes the unlinked words from `at` on, except those in `done`.
    fn delete_unlinked(
        &mut self,
        model: &dyn LanguageModel,
        target: &[&[u8]],
        unlinked: &[bool],
        done: &[bool],
        mut at: usize,
    ) {
        while unlinked.get(at) == Some(&true) {
            let operation = [b"_DEL_", target[at]].concat();
            self.instructions.push(Instruction::Delete(model.word_id(&operation)));
            at = next_target_word(done, at);
        }
    }

    /// Runs the program from `cursor` for the phrase at source position `start`
    /// and appends its operations to `operations`. `covered` are the positions translated before
    /// the phrase; the positions of the phrase are added.
    pub(super) fn run(
        &self,
        fixed: &FixedOperations,
        start: u32,
        covered: &mut [bool],
        cursor: &mut Cursor,
        operations: &mut Vec<LmWord>,
    ) -> OperationCounts {
        let first_gap = covered.iter().position(|&c| !c).unwrap_or(covered.len());
        let mut run = ProgramRun {
            fixed,
            covered,
            first_gap,
            cursor,
            operations,
            counts: OperationCounts::default(),
        };
        for &step in &self.instructions {
            match step {
                Instruction::Delete(operation) => run.operations.push(operation),
                Instruction::Translate(at, operation) => {
                    run.move_to(start + at);
                    run.operations.push(operation);
                    run.add_gap_width();
                    run.cover_word();
                    self.insert_unlinked(&mut run, start);
                }
                Instruction::Continue(at) => {
                    run.move_to(start + at);
                    run.operations.push(fixed.continue_cept);
                    run.cover_word();
                    self.insert_unlinked(&mut run, start);
                }
                Instruction::Insert(at) => {
                    run.move_to(start + at);
                    self.insert_unlinked(&mut run, start);
                }
            }
        }
        run.counts
    }

    /// Inserts the source words without links from the cursor on.
    fn insert_unlinked(&self, run: &mut ProgramRun<'_>, start: u32) {
        while let Some(at) = run.cursor.position.checked_sub_unsigned(start)
            && let Some(&Some(operation)) =
                usize::try_from(at).ok().and_then(|i| self.insertions.get(i))
            && run.is_open(run.cursor.position)
        {
            run.operations.push(operation);
            run.add_gap_width();
            run.counts.insertions += 1;
            run.cover_word();
        }
    }
}

/// Returns the next target word that is not done.
fn next_target_word(done: &[bool], at: usize) -> usize {
    let mut next = at + 1;
    while done.get(next) == Some(&true) {
        next += 1;
    }
    next
}

/// Returns the groups of linked words, source and target sides sorted, in the order of their first
/// target words.
fn find_cepts(points: &[(usize, usize)]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut cepts: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for &(s, t) in points {
        let mut merged = (vec![s], vec![t]);
        cepts.retain_mut(|(from, to)| {
            let touches = from.contains(&s) || to.contains(&t);
            if touches {
                merged.0.append(from);
                merged.1.append(to);
            }
            !touches
        });
        cepts.push(merged);
    }
    for (from, to) in &mut cepts {
        for side in [from, to] {
            side.sort_unstable();
            side.dedup();
        }
    }
    cepts.sort_unstable_by_key(|(_, to)| to[0]);
    cepts
}

/// A source position that was jumped over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    /// The position; -1 where Moses finds no gap to jump back to.
    pub(super) position: i32,
    /// Whether it has been filled by a jump back.
    pub(super) filled: bool,
}

/// The position of an operation sequence in the source.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The position after the last source word.
    pub(super) position: i32,
    /// The position after the rightmost source word so far.
    pub(super) end: i32,
    /// All gaps so far, by position.
    pub(super) gaps: Vec<Gap>,
}

impl Clone for Cursor {
    fn clone(&self) -> Self {
        Cursor { position: self.position, end: self.end, gaps: self.gaps.clone() }
    }

    /// Copies `other` into memory that is already allocated.
    fn clone_from(&mut self, other: &Self) {
        (self.position, self.end) = (other.position, other.end);
        self.gaps.clone_from(&other.gaps);
    }
}

impl Cursor {
    /// Moves to the beginning.
    pub(super) fn reset(&mut self) {
        self.position = 0;
        self.end = 0;
        self.gaps.clear();
    }

    fn set_gap(&mut self, position: i32, filled: bool) {
        match self.gaps.binary_search_by_key(&position, |gap| gap.position) {
            Ok(at) => self.gaps[at].filled = filled,
            Err(at) => self.gaps.insert(at, Gap { position, filled }),
        }
    }

    fn num_open_gaps(&self) -> i32 {
        self.gaps.iter().filter(|gap| !gap.filled).count() as i32
    }

    /// Returns the open gap from which `target` is reached, and its number from the right: the gap
    /// at `target`, else the nearest one left of it; (-1, 0) if there is none within
    /// [`MAX_GAP_DISTANCE`].
    fn find_gap(&self, target: i32) -> (i32, usize) {
        let mut nearest = (-1, 0);
        for (number, gap) in self.gaps.iter().rev().filter(|gap| !gap.filled).enumerate() {
            // In this order, the first gap at the target or left of it is the nearest.
            if gap.position <= target {
                if target - gap.position < MAX_GAP_DISTANCE {
                    nearest = (gap.position, number + 1);
                }
                break;
            }
        }
        nearest
    }
}

/// The supporting features: counts over an operation sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OperationCounts {
    /// Distances from the first gap, summed over cepts and insertions.
    pub(super) gap_width: i32,
    /// The number of moves that left a gap.
    pub(super) gaps: i32,
    /// The number of open gaps, summed over source words.
    pub(super) open_gaps: i32,
    /// The number of source words without link.
    pub(super) insertions: i32,
}

/// A program being run.
struct ProgramRun<'a> {
    fixed: &'a FixedOperations,
    covered: &'a mut [bool],
    /// The first position that is not covered.
    first_gap: usize,
    cursor: &'a mut Cursor,
    operations: &'a mut Vec<LmWord>,
    counts: OperationCounts,
}

impl ProgramRun<'_> {
    fn is_open(&self, position: i32) -> bool {
        usize::try_from(position).ok().and_then(|p| self.covered.get(p)) == Some(&false)
    }

    /// Moves the cursor to the source word `target`, leaving gaps and jumping.
    fn move_to(&mut self, target: u32) {
        let target = target as i32;
        let mut left_gap = false;
        if self.cursor.position < target {
            if self.is_open(self.cursor.position) {
                left_gap = self.insert_gap();
            }
            if self.cursor.position == self.cursor.end {
                self.cursor.position = target;
            } else {
                self.operations.push(self.fixed.jump_forward);
                self.cursor.position = self.cursor.end;
            }
        }
        if target < self.cursor.position {
            if self.cursor.position < self.cursor.end && self.is_open(self.cursor.position) {
                left_gap = self.insert_gap();
            }
            let (position, number) = self.cursor.find_gap(target);
            self.operations.push(self.fixed.jump_back(number));
            self.cursor.position = position;
            if position == target {
                self.cursor.set_gap(position, true);
            }
        }
        if self.cursor.position < target {
            left_gap = self.insert_gap();
            self.cursor.position = target;
        }
        self.counts.gaps += i32::from(left_gap);
    }

    fn insert_gap(&mut self) -> bool {
        self.operations.push(self.fixed.insert_gap);
        self.cursor.set_gap(self.cursor.position, false);
        true
    }

    fn add_gap_width(&mut self) {
        self.counts.gap_width += self.cursor.position - self.first_gap as i32;
    }

    /// Covers the word at the cursor and moves the cursor past it.
    fn cover_word(&mut self) {
        if let Some(cell) =
            usize::try_from(self.cursor.position).ok().and_then(|p| self.covered.get_mut(p))
        {
            *cell = true;
        }
        while self.covered.get(self.first_gap) == Some(&true) {
            self.first_gap += 1;
        }
        self.cursor.position += 1;
        self.cursor.end = self.cursor.end.max(self.cursor.position);
        self.counts.open_gaps += self.cursor.num_open_gaps();
    }
}
