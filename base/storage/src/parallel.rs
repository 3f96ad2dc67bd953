//! Parallel loops that are compiled once for the whole program.
//!
//! Rayon's iterators are generic over every step of a loop, so that each loop has its own copy of
//! the machinery that divides and steals work: two to four thousand lines of intermediate code
//! before optimisation, many times the loop itself. Here, work consists of numbered tasks behind
//! one `dyn Fn(usize)`, whose machinery is compiled once; a loop adds only its body and a few
//! lines. That reduces compile time and the size of programs, and costs one indirect call per task.
//! A task should take some microseconds or more, so lists are cut into chunks
//! ([`ITEMS_PER_TASK`]).
//!
//! All functions run on rayon's current threads. A panic in a task reaches the caller after all
//! started tasks have ended. Results are in order and do not depend on the number of threads.
//!
//! ```
//! use miriam_storage::parallel;
//!
//! let squares = parallel::map(1_000, |i| i * i);
//! assert_eq!(squares[31], 961);
//! assert_eq!(parallel::count(1_000, |i| squares[i] % 2 == 0), 500);
//! ```

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

/// The number of items per task of [`map`], [`any`], [`count`] and [`positions`]: small enough that
/// a list of a hundred thousand keeps many threads busy, large enough to make the cost of a task
/// negligible.
pub const ITEMS_PER_TASK: usize = 1 << 12;

/// Calls `task` with each number below `count`, once.
#[inline(never)]
pub fn for_each_task(count: usize, task: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(task);
}

/// Returns the results of `task` for the numbers below `count`, in order.
pub fn map_tasks<R: Send>(count: usize, task: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    let mut results: Vec<Mutex<Option<R>>> = Vec::new();
    results.resize_with(count, Mutex::default);
    for_each_task(count, &|at| {
        let result = task(at);
        *lock(&results[at]) = Some(result);
    });
    let results = results.into_iter();
    results
        .map(|result| taken(result.into_inner().unwrap_or_else(PoisonError::into_inner)))
        .collect()
}

/// Returns the results of `task` for each of `items` with its index, in order. Items may be
/// borrowed mutably, such as chunks of a list that tasks fill.
pub fn map_items<I: Send, R: Send>(items: Vec<I>, task: &(dyn Fn(usize, I) -> R + Sync)) -> Vec<R> {
    let items: Vec<Mutex<Option<I>>> =
        items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    map_tasks(items.len(), &|at| {
        let item = taken(lock(&items[at]).take());
        task(at, item)
    })
}

/// Works like [`map_items`], without results.
pub fn for_each_item<I: Send>(items: Vec<I>, task: &(dyn Fn(usize, I) + Sync)) {
    map_items(items, task);
}

/// Calls `task` with each chunk of `chunk` items (the last may be shorter) and the index of its
/// first item. Panics if `chunk` is 0.
pub fn fill_chunks<T: Send>(
    items: &mut [T],
    chunk: usize,
    task: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    for_each_item(items.chunks_mut(chunk).collect(), &|at, items| task(at * chunk, items));
}

/// Returns the values of `value` for the numbers below `count`, in order.
pub fn map<T: Copy + Default + Send>(count: usize, value: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut values = vec![T::default(); count];
    fill_chunks(&mut values, ITEMS_PER_TASK, &|first, values| {
        for (at, into) in (first..).zip(values) {
            *into = value(at);
        }
    });
    values
}

/// Whether `is_wanted` is true for a number below `count`. Tasks that have not begun when one is
/// found are skipped.
pub fn any(count: usize, is_wanted: impl Fn(usize) -> bool + Sync) -> bool {
    let found = AtomicBool::new(false);
    for_each_range(count, &|mut range| {
        if !found.load(Ordering::Relaxed) && range.any(&is_wanted) {
            found.store(true, Ordering::Relaxed);
        }
    });
    found.into_inner()
}

/// Counts the wanted numbers below `count`.
pub fn count(count: usize, is_wanted: impl Fn(usize) -> bool + Sync) -> usize {
    let total = AtomicUsize::new(0);
    for_each_range(count, &|range| {
        let wanted = range.filter(|&at| is_wanted(at)).count();
        total.fetch_add(wanted, Ordering::Relaxed);
    });
    total.into_inner()
}

/// Returns the numbers below `count` that are wanted, in order.
pub fn positions(count: usize, is_wanted: impl Fn(usize) -> bool + Sync) -> Vec<usize> {
    let tasks = count.div_ceil(ITEMS_PER_TASK);
    let found = map_tasks(tasks, &|task| {
        task_range(task, count).filter(|&at| is_wanted(at)).collect::<Vec<usize>>()
    });
    found.concat()
}

/// Calls `task` with consecutive ranges that cover the numbers below `count`.
pub fn for_each_range(count: usize, task: &(dyn Fn(Range<usize>) + Sync)) {
    for_each_task(count.div_ceil(ITEMS_PER_TASK), &|at| task(task_range(at, count)));
}

/// Runs both functions, in parallel if a thread is free, and returns their results.
pub fn join<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut first, mut second) = (Some(first), Some(second));
    let (mut a, mut b) = (None, None);
    join_tasks(&mut || a = first.take().map(|run| run()), &mut || {
        b = second.take().map(|run| run());
    });
    (taken(a), taken(b))
}

/// Workspaces of tasks, one per running task, so that later tasks reuse the memory of earlier ones.
#[derive(Default)]
pub struct Workspaces<W> {
    idle: Mutex<Vec<W>>,
}

impl<W: Default> Workspaces<W> {
    /// Returns the result of `run` with a new workspace, or with a used one in the state in which
    /// an earlier task left it.
    pub fn with<R>(&self, run: impl FnOnce(&mut W) -> R) -> R {
        let idle = lock(&self.idle).pop();
        let mut workspace = idle.unwrap_or_default();
        let result = run(&mut workspace);
        lock(&self.idle).push(workspace);
        result
    }
}

/// Sorts pairs of a key and a number.
#[inline(never)]
pub fn sort_numbered_keys(keys: &mut [(u64, u64)]) {
    keys.par_sort_unstable();
}

#[inline(never)]
fn join_tasks(first: &mut (dyn FnMut() + Send), second: &mut (dyn FnMut() + Send)) {
    rayon::join(first, second);
}

fn task_range(task: usize, count: usize) -> Range<usize> {
    task * ITEMS_PER_TASK..((task + 1) * ITEMS_PER_TASK).min(count)
}

/// Locks a slot. Locks are held only briefly, and never while a task may panic.
fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

fn taken<T>(slot: Option<T>) -> T {
    slot.expect("each task runs once, and a panic in one is passed on before results are taken")
}

#[cfg(test)]
mod tests;
