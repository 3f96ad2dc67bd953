//! Tests of the parallel loops.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use super::*;

/// Numbers of items around the boundaries of tasks.
const COUNTS: [usize; 6] =
    [0, 1, ITEMS_PER_TASK - 1, ITEMS_PER_TASK, ITEMS_PER_TASK + 1, 5 * ITEMS_PER_TASK + 7];

/// Runs `test` on one thread and on four.
fn on_threads(test: impl Fn() + Sync) {
    for threads in [1, 4] {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&test);
    }
}

#[test]
fn each_task_runs_once() {
    on_threads(|| {
        for count in COUNTS {
            let runs: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(0)).collect();
            for_each_task(count, &|at| {
                runs[at].fetch_add(1, Ordering::Relaxed);
            });
            assert!(runs.iter().all(|runs| runs.load(Ordering::Relaxed) == 1), "{count}");
        }
    });
}

#[test]
fn results_are_in_order() {
    on_threads(|| {
        let words: Vec<String> = (0..300).map(|i| i.to_string()).collect();
        assert_eq!(map_tasks(300, &|at| at.to_string()), words);
        let doubled = map_items(words, &|at, word| format!("{word}{at}"));
        assert_eq!(doubled[123], "123123");
        assert_eq!(doubled.len(), 300);
        assert!(map_tasks(0, &|at| at).is_empty());
        for count in COUNTS {
            assert_eq!(map(count, |at| 3 * at), (0..count).map(|at| 3 * at).collect::<Vec<_>>());
        }
    });
}

#[test]
fn chunks_are_disjoint_and_know_where_they_begin() {
    on_threads(|| {
        let mut items = vec![0; 1_001];
        fill_chunks(&mut items, 10, &|first, items| {
            assert_eq!(items.len(), if first == 1_000 { 1 } else { 10 });
            (first..).zip(items).for_each(|(at, item)| *item += at);
        });
        assert_eq!(items, (0..1_001).collect::<Vec<_>>());
        fill_chunks(&mut [0u8; 0], 10, &|_, _| panic!("there is no chunk"));
    });
}

#[test]
fn searches_agree_with_sequential_ones() {
    on_threads(|| {
        for total in COUNTS {
            let is_wanted = |at: usize| at.is_multiple_of(97) && at > 0;
            let expected: Vec<usize> = (0..total).filter(|&at| is_wanted(at)).collect();
            assert_eq!(positions(total, is_wanted), expected);
            assert_eq!(count(total, is_wanted), expected.len());
            assert_eq!(any(total, is_wanted), !expected.is_empty());
            assert_eq!(any(total, |at| at + 1 == total), total > 0);
            assert!(!any(total, |at| at == total));
            let seen = AtomicUsize::new(0);
            for_each_range(total, &|range| {
                seen.fetch_add(range.len(), Ordering::Relaxed);
            });
            assert_eq!(seen.into_inner(), total);
        }
    });
}

#[test]
fn both_of_a_pair_run() {
    on_threads(|| {
        let mut left = 0;
        let moved = String::from("right");
        let (a, b) = join(
            || {
                left = 7;
                "left"
            },
            move || moved,
        );
        assert_eq!((a, &b[..], left), ("left", "right", 7));
    });
}

#[test]
fn workspaces_are_used_again() {
    on_threads(|| {
        let (workspaces, made) = (Workspaces::<Vec<usize>>::default(), AtomicUsize::new(0));
        let tasks = map_tasks(1_000, &|at| {
            workspaces.with(|workspace| {
                made.fetch_add(usize::from(workspace.is_empty()), Ordering::Relaxed);
                workspace.push(at);
                at
            })
        });
        assert_eq!(tasks, (0..1_000).collect::<Vec<_>>());
        assert!(made.into_inner() <= rayon::current_num_threads());
        let mut left = workspaces.idle.into_inner().unwrap().concat();
        left.sort_unstable();
        assert_eq!(left, tasks);
    });
}

#[test]
fn numbered_keys_are_sorted_by_key_and_number() {
    let mut keys = vec![(2, 1), (1, 9), (2, 0), (1, 3)];
    sort_numbered_keys(&mut keys);
    assert_eq!(keys, [(1, 3), (1, 9), (2, 0), (2, 1)]);
}

#[test]
fn panics_reach_the_caller() {
    on_threads(|| {
        let message = |run: &dyn Fn()| {
            let caught = catch_unwind(AssertUnwindSafe(run)).expect_err("it panics");
            caught.downcast_ref::<&str>().map(ToString::to_string)
        };
        let expected = Some("task 17".to_owned());
        let panicking = |at: usize| {
            if at == 17 {
                panic!("task 17");
            }
        };
        assert_eq!(message(&|| for_each_task(40, &panicking)), expected);
        assert_eq!(message(&|| drop(map_tasks(40, &panicking))), expected);
        assert_eq!(message(&|| drop(map_items(vec![0; 40], &|at, _| panicking(at)))), expected);
        assert_eq!(message(&|| drop(map(40, panicking))), expected);
        assert_eq!(message(&|| assert_eq!(join(|| (), || panicking(17)), ((), ()))), expected);
        assert_eq!(message(&|| assert_eq!(join(|| panicking(17), || ()), ((), ()))), expected);
    });
}
