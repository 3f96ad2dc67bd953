//! Progress of a study in target words: it advances during each training run, because a run takes
//! hours.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use miriam_textio::{Progress, ProgressTask};
use miriam_trainer::training::TRAINING_TASK;

/// The progress of a study, whose training runs have equal lengths.
pub struct StudyProgress<'p> {
    task: ProgressTask<'p>,
    /// The target words of a training run.
    run_words: u64,
    /// The words that each training run has done.
    done: Mutex<Vec<u64>>,
}

/// The progress of a training run.
pub struct RunProgress<'s> {
    study: &'s StudyProgress<'s>,
    number: usize,
    /// Whether the current task is the training and not, for example, the reading of texts.
    is_training: AtomicBool,
}

impl<'p> StudyProgress<'p> {
    /// Begins a study of `runs` training runs.
    pub fn begin(progress: &'p dyn Progress, runs: usize, run_words: u64) -> Self {
        let task = progress.task("training", Some(runs as u64 * run_words));
        StudyProgress { task, run_words, done: Mutex::new(vec![0; runs]) }
    }

    /// Returns the progress of a training run.
    pub fn run(&self, number: usize) -> RunProgress<'_> {
        RunProgress { study: self, number, is_training: AtomicBool::new(false) }
    }

    /// Moves a training run to `words`; `is_timed` if this process has trained on the new words.
    fn move_to(&self, number: usize, words: u64, is_timed: bool) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let new = words.min(self.run_words).saturating_sub(done[number]);
        done[number] += new;
        match new {
            0 => {}
            _ if is_timed => self.task.advance(new),
            _ => self.task.skip(new),
        }
    }
}

impl RunProgress<'_> {
    /// Ends the training run. Words that are left count as skipped: the run stopped early, or an
    /// earlier study trained on them.
    pub fn finish(&self) {
        self.study.move_to(self.number, self.study.run_words, false);
    }

    fn move_to(&self, words: u64, is_timed: bool) {
        if self.is_training.load(Ordering::Relaxed) {
            self.study.move_to(self.number, words, is_timed);
        }
    }
}

impl Progress for RunProgress<'_> {
    fn begin(&self, name: &str, _total: Option<u64>) {
        self.is_training.store(name == TRAINING_TASK, Ordering::Relaxed);
    }

    fn set_position(&self, done: u64) {
        self.move_to(done, true);
    }

    fn skip_to(&self, done: u64) {
        self.move_to(done, false);
    }

    fn end(&self) {
        self.is_training.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Record(Mutex<Vec<(&'static str, u64)>>);

    impl Record {
        fn add(&self, what: &'static str, units: u64) {
            self.0.lock().unwrap().push((what, units));
        }
    }

    impl Progress for Record {
        fn begin(&self, _name: &str, total: Option<u64>) {
            self.add("total", total.unwrap());
        }
        fn set_position(&self, done: u64) {
            self.add("done", done);
        }
        fn skip_to(&self, done: u64) {
            self.add("skipped", done);
        }
        fn end(&self) {
            self.add("end", 0);
        }
    }

    #[test]
    fn words_of_all_training_runs_are_counted() {
        let record = Record::default();
        let study = StudyProgress::begin(&record, 3, 100);
        let runs = [0, 1, 2].map(|number| study.run(number));
        let [first, second, third]: [&dyn Progress; 3] = [&runs[0], &runs[1], &runs[2]];
        first.task("reading", Some(900)).advance(900);
        let training = first.task(TRAINING_TASK, Some(100));
        training.skip(40);
        let other = second.task(TRAINING_TASK, Some(100));
        other.advance(30);
        training.advance(20);
        // The last batch has more words than are asked for.
        other.advance(80);
        drop(other);
        runs[1].finish();
        drop(training);
        // The first run has stopped early.
        runs[0].finish();
        assert!(!third.is_cancelled());
        // An earlier study has trained the third run.
        runs[2].finish();
        drop(study);
        let expected = [
            ("total", 300),
            ("skipped", 40),
            ("done", 70),
            ("done", 90),
            ("done", 160),
            ("skipped", 200),
            ("skipped", 300),
            ("end", 0),
        ];
        assert_eq!(*record.0.lock().unwrap(), expected);
    }
}
