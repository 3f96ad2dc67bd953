//! Tests of the division of a corpus into updates (given batches, batches that fit a memory, joined
//! and divided batches) and of the computed memory.

use miriam_nmt::architecture::Architecture;
use miriam_nmt::checkpoint::Checkpoint;
use miriam_storage::LoadMethod;
use miriam_trainer::TrainableModel;
use miriam_trainer::dropout::Dropout;
use miriam_trainer::kernels::Fast;
use miriam_trainer::tape::LossOptions;
use miriam_trainer::train_from_text::Summary;
use miriam_trainer::training::MemoryUse;

use crate::architectures::{all, random_sentences};
use crate::workplace::{TARGET, Workplace, hash};

/// The content of a file of batches for the seven pairs; the third line of the corpus is left out.
const BATCHES: &str = "0 1\n3\n\n4 5\n6\n\n7 0\n\n1 3 4\n";
/// The same batches with pairs of updates joined.
const JOINED: &str = "0 1\n3\n4 5\n6\n\n7 0\n1 3 4\n";

const DROPOUT: (&str, &[&str]) = ("transformer-dropout", &["0.1"]);

/// Returns the arrays of the optimiser's file, without the state.
fn optimizer(place: &Workplace, model: &str) -> Vec<(String, Vec<u32>)> {
    let path = place.path(&format!("{model}.npz.optimizer.npz"));
    let checkpoint = Checkpoint::open(&path, LoadMethod::Lazy).unwrap();
    let arrays = checkpoint.names().filter(|name| !name.starts_with("miriam:"));
    let bits = |name: &str| -> Vec<u32> {
        checkpoint.get(name).unwrap().values().iter().map(|x| x.to_bits()).collect()
    };
    arrays.map(|name| (name.to_owned(), bits(name))).collect()
}

#[test]
fn given_batches_do_not_depend_on_workers() {
    let place = Workplace::new();
    let file = place.write("batches", BATCHES);
    let mut all = Vec::new();
    for workers in ["1", "2", "3", "4", "8"] {
        let options = [
            ("batches", &[&file[..]][..]),
            ("workers", &[workers]),
            ("after-batches", &["50"]),
            ("exponential-smoothing", &["0.1"]),
            DROPOUT,
        ];
        let (model, _) = place.train(workers, &options).unwrap();
        all.push((model, optimizer(&place, workers)));
    }
    assert!(all.iter().all(|one| *one == all[0]));
}

#[test]
fn a_delay_joins_updates_of_a_file() {
    let place = Workplace::new();
    let train = |name: &str, text: &str, delay: &str, updates: &str| {
        let file = place.write(&format!("{name}.batches"), text);
        let options = [
            ("batches", &[&file[..]][..]),
            ("optimizer-delay", &[delay]),
            ("after-batches", &[updates]),
            DROPOUT,
        ];
        let (model, _) = place.train(name, &options).unwrap();
        (model, optimizer(&place, name))
    };
    let joined = train("joined", JOINED, "1", "50");
    assert!(train("delayed", BATCHES, "2", "50") == joined);
    assert!(train("apart", BATCHES, "1", "50") != joined);
}

#[test]
fn given_batches_are_part_of_a_training() {
    let place = Workplace::new();
    let file = place.write("batches", BATCHES);
    let batches = ("batches", &[&file[..]][..]);
    let whole = place.train("whole", &[batches, ("after-batches", &["11"])]).unwrap();
    // The training is stopped within the second epoch of four updates, and after it.
    for updates in ["6", "8", "11"] {
        place.train("parts", &[batches, ("after-batches", &[updates])]).unwrap();
    }
    assert_eq!(hash(&place.path("parts.npz")), whole.0);
    let progress = std::fs::read_to_string(place.path("parts.npz.progress.yml")).unwrap();
    assert!(progress.starts_with("epochs: 3\nbatches: 11\nbatches-epoch: 3\n"), "{progress}");
    place.write("batches", JOINED);
    let error = place.train("parts", &[batches, ("after-batches", &["12"])]).unwrap_err();
    assert!(error.contains("--batches, as a hash"), "{error}");
    let error = place.train("parts", &[("after-batches", &["12"])]).unwrap_err();
    assert!(error.contains("now it is none"), "{error}");
    place.write("batches", "0\n2\n");
    let error = place.train("new", &[batches]).unwrap_err();
    assert!(error.contains("batches, line 2") && error.contains("\"2\""), "{error}");
}

#[test]
fn a_part_of_a_batch_is_an_update() {
    let place = Workplace::new();
    let train = |name: &str, sizes: [&str; 2], delay: &str| {
        let [size, maxi] = sizes;
        let options =
            [("mini-batch", &[size][..]), ("maxi-batch", &[maxi]), ("optimizer-delay", &[delay])];
        place.train(name, &options).unwrap().0
    };
    // An update is a third of six sentences, in maxi-batches of twelve.
    assert_eq!(train("third", ["6", "2"], "0.33"), train("two", ["2", "6"], "1"));
    assert_ne!(train("six", ["6", "2"], "1"), hash(&place.path("two.npz")));
    for wrong in ["0.4", "1.5", "0", "-1", "x"] {
        let error = place.train("wrong", &[("optimizer-delay", &[wrong])]).unwrap_err();
        assert!(error.contains("--optimizer-delay"), "{error}");
    }
}

#[test]
fn texts_that_are_not_utf8_are_warned_of() {
    let place = Workplace::new();
    let mut target = TARGET.as_bytes().to_vec();
    (target[0], target[4]) = (0xe4, 0xff);
    std::fs::write(place.path("latin"), target).unwrap();
    let files = ["source", "latin"].map(|name| place.text(name));
    let files = [&files[0][..], &files[1][..]];
    let run = place.run("latin", &[("train-sets", &files)], false).unwrap();
    let [warning] = &run.warnings[..] else { panic!("{:?}", run.warnings) };
    assert!(warning.contains("latin, line 1: not UTF-8 (such lines: 1)"), "{warning}");
}

#[test]
fn batches_fit_the_memory_that_is_asked_for() {
    let place = Workplace::new();
    let lengths = |name: &str, workspace: &str| -> Vec<u64> {
        let options = [
            ("mini-batch-fit", &["true"][..]),
            ("workspace", &[workspace]),
            ("disp-freq", &["1"]),
            ("after-epochs", &["1"]),
            ("after-batches", &["0"]),
        ];
        let run = place.run(name, &options, false).unwrap();
        assert!(run.warnings.is_empty(), "{:?}", run.warnings);
        let words = run.log.iter().filter_map(|line| line.split_once(" @ "));
        words.map(|(_, after)| after.split(' ').next().unwrap().parse().unwrap()).collect()
    };
    // Of the seven pairs, all fit into one batch, or each is alone.
    let all = lengths("large", "10");
    assert_eq!(all.len(), 1);
    let alone = lengths("small", "0.0001");
    assert_eq!((alone.len(), alone.iter().sum::<u64>()), (7, all[0]));
    let some = lengths("middle", "0.02");
    assert!((2..7).contains(&some.len()) && some.iter().sum::<u64>() == all[0], "{some:?}");
    let run = place.run("plain", &[("workspace", &["9000"])], false).unwrap();
    assert!(run.warnings[0].contains("--workspace has no effect"), "{:?}", run.warnings);
    let both = [("mini-batch-fit", &["true"][..]), ("mini-batch-words", &["30"])];
    let run = place.run("both", &both, false).unwrap();
    assert!(run.warnings[0].contains("--mini-batch-words has no effect"), "{:?}", run.warnings);
    // The memory that Marian leaves free on a GPU means nothing here.
    let options = [("mini-batch-fit", &["true"][..]), ("workspace", &["-4000"])];
    let run = place.run("free", &options, false).unwrap();
    assert!(run.warnings[0].contains("--workspace -4000"), "{:?}", run.warnings);
    let error = place.train("much", &[options[0], ("workspace", &["1e12"])]);
    assert!(error.unwrap_err().contains("--workspace: expected the megabytes"));
}

#[test]
fn small_micro_batches_give_the_same_gradients() {
    let place = Workplace::new();
    let train = |name: &str, megabytes: &str| {
        let options = [
            ("granule-megabytes", &[megabytes][..]),
            ("disp-freq", &["1"]),
            ("optimizer", &["sgd"]),
        ];
        let run = place.run(name, &options, false).unwrap();
        let costs = run.log.iter().filter_map(|line| line.split_once("Cost "));
        let cost =
            |(_, after): (&str, &str)| -> f64 { after.split(' ').next().unwrap().parse().unwrap() };
        costs.map(cost).collect::<Vec<f64>>()
    };
    let (whole, cut) = (train("whole", "0"), train("cut", "0.0001"));
    assert_eq!(whole.len(), 4);
    for (whole, cut) in whole.iter().zip(&cut) {
        assert!((whole / cut - 1.0).abs() < 1e-7, "{whole} {cut}");
    }
    let [whole, cut] = ["whole", "cut"].map(|name| optimizer(&place, name));
    assert!(whole != cut, "sums have another order");
    for ((name, whole), (_, cut)) in whole.iter().zip(&cut) {
        let number = |bits: &u32| f64::from(f32::from_bits(*bits));
        let squares = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>();
        let differences = whole.iter().zip(cut).map(|(a, b)| number(a) - number(b));
        let relative = squares(&mut { differences }) / squares(&mut whole.iter().map(number));
        assert!(relative.sqrt() < 1e-6, "{name}: {relative}");
    }
}

#[test]
fn memory_is_counted_without_training() {
    let place = Workplace::new();
    let memory = |more: &[(&str, &[&str])]| {
        let run = place.run("counted", more, true).unwrap();
        let Summary::Memory(memory) = run.summary else { panic!("a count") };
        assert!(memory.program > 0 || !cfg!(target_os = "linux"));
        // The memory of the process changes between calls, so it is not compared.
        MemoryUse { program: 0, ..memory }
    };
    let plain = memory(&[]);
    let names = std::fs::read_dir(&place.folder).unwrap();
    let written = |name: std::ffi::OsString| name.to_string_lossy().contains("counted");
    assert!(!names.map(|entry| entry.unwrap().file_name()).any(written));
    // Adam has two vectors; the average is a third one.
    let smoothed = memory(&[("exponential-smoothing", &["0.1"])]);
    assert_eq!(2 * smoothed.optimizer, 3 * plain.optimizer);
    assert_eq!(plain.parameters, smoothed.parameters);
    let two = memory(&[("workers", &["2"])]);
    let gradients = two.gradients - plain.gradients;
    assert_eq!(two.total() - plain.total(), plain.micro_batch + gradients);
    // The second worker has only the vector of its tape.
    assert!(gradients >= plain.parameters / 3, "{two:?}");
    // Seven pairs: 25 source and 21 target tokens with </s>, an end per side and a line number per
    // pair.
    assert_eq!(plain.corpus, 4 * (25 + 21) + 8 * 14 + 4 * 7);
    let table = plain.table();
    assert!(table.ends_with("MB\n") && table.contains(&format!("{:>16} bytes", plain.total())));
    let small = memory(&[("granule-words", &["4"])]);
    assert!(small.micro_batch < plain.micro_batch);
    let limited = memory(&[("granule-megabytes", &["0.01"])]);
    assert!(limited.micro_batch < plain.micro_batch);
}

/// The sum of the memory of single sentences, by which batches and micro-batches are closed, is
/// near the memory of the sentences together. For transformers, whose sentences are independent,
/// the sum is not less.
#[test]
fn sentences_together_take_no_more_than_apart() {
    let lengths: Vec<usize> = (0..24).map(|index| 1 + index * 7 % 31).collect();
    let mut other = lengths.clone();
    other.reverse();
    let (sources, targets) = (random_sentences(&lengths, 1), random_sentences(&other, 2));
    let [sources, targets] =
        [&sources, &targets].map(|side| side.iter().map(Vec::as_slice).collect::<Vec<_>>());
    for (name, architecture) in all() {
        let is_transformer = matches!(architecture, Architecture::Transformer(_));
        let model = TrainableModel::<Fast>::new(architecture).unwrap();
        let mut tape = model.tape(Fast::default());
        let mut measure = |sources: &[&[u32]], targets: &[&[u32]]| {
            let size = tape.measure(Dropout::default(), |tape| {
                model.loss(tape, sources, targets, LossOptions::default()).map(|_| ())
            });
            let size = size.unwrap();
            size.values + size.gradients
        };
        let together = measure(&sources, &targets);
        let apart: usize = sources
            .iter()
            .zip(&targets)
            .map(|(source, target)| {
                measure(std::slice::from_ref(source), std::slice::from_ref(target))
            })
            .sum();
        let is_near = apart * 9 <= together * 10 && together * 9 <= apart * 10;
        let is_less = together <= apart || !is_transformer;
        assert!(is_near && is_less, "{name}: {together} together, {apart} apart");
    }
}
