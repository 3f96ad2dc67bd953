//! Tests that the tuner chooses the fastest alternative, caches it, and rejects invalid files.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

const SHAPE: OperationShape = OperationShape { operation: "test", rows: 3, depth: 64, columns: 48 };

/// Runs until the choice is made, where alternative `fast` is the fast one.
fn tune(tuner: &Autotuner, shape: OperationShape, fast: usize) {
    for _ in 0..3 * TRIALS_PER_ALTERNATIVE {
        tuner.run(shape, 3, |choice| {
            if choice != fast {
                std::thread::sleep(Duration::from_micros(200));
            }
        });
    }
}

#[test]
fn the_fastest_is_chosen_and_cached() {
    let folder = std::env::temp_dir().join(format!("miriam-tuner-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("choices.json");
    let cpu = Cpu::detect();
    let tuner = Autotuner::load(cpu, &path).expect("a missing file is not an error");
    tune(&tuner, SHAPE, 2);
    tune(&tuner, OperationShape { rows: 17, ..SHAPE }, 1);
    assert_eq!(tuner.run(SHAPE, 3, |choice| choice), 2);
    // 17 and 32 rows are one bucket, 16 is another.
    assert_eq!(tuner.run(OperationShape { rows: 32, ..SHAPE }, 3, |choice| choice), 1);
    assert_eq!(tuner.run(OperationShape { rows: 16, ..SHAPE }, 3, |choice| choice), 0);
    tuner.save(&path).unwrap();

    let again = Autotuner::load(cpu, &path).unwrap();
    assert_eq!(again.run(SHAPE, 3, |choice| choice), 2);
    assert_eq!((again.cached_count(), again.new_choices().len()), (2, 0));
    // A program that has fewer alternatives measures again.
    let newer = Autotuner::load(cpu, &path).unwrap();
    assert_eq!(newer.run(SHAPE, 2, |choice| choice), 0);
    (0..2 * TRIALS_PER_ALTERNATIVE).for_each(|_| newer.run(SHAPE, 2, |_| ()));
    assert!(newer.new_choices().contains_key("test 3x64x48"));
    // Choices of another machine are kept and not used.
    let other = Autotuner::load(Cpu::plain(), &path).unwrap();
    if cpu != Cpu::plain() {
        assert_eq!(other.run(SHAPE, 3, |choice| choice), 0);
    }
    other.save(&path).unwrap();
    assert_eq!(Autotuner::load(cpu, &path).unwrap().run(SHAPE, 3, |choice| choice), 2);

    std::fs::write(&path, "not choices").unwrap();
    let error = Autotuner::load(cpu, &path).err().expect("rejected").to_string();
    assert!(error.contains("choices.json") && error.contains("remove it"), "{error}");
    assert!(tuner.save(&path).is_err(), "a file that is not a cache is not overwritten");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn threads_share_their_trials() {
    let tuner = Autotuner::new(Cpu::detect());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| tune(&tuner, SHAPE, 1));
        }
    });
    assert_eq!(tuner.new_choices().get("test 3x64x48"), Some(&1));
}

proptest! {
    #[test]
    fn any_bytes_are_a_cache_or_rejected(text in any::<Vec<u8>>()) {
        let _ = parse_cache(&text);
    }

    #[test]
    fn anything_like_a_cache_is_read_or_rejected(
        version in any::<u32>(), name in ".*", shape in ".*", choice in any::<i64>(),
    ) {
        let text = serde_json::json!({"version": version, "machines": {name: {shape: choice}}});
        let parsed = parse_cache(text.to_string().as_bytes());
        prop_assert_eq!(parsed.is_ok(), version == VERSION && choice >= 0);
    }
}
