use miriam_layout::Load;
use miriam_layout::{Container, ContainerWriter};
use miriam_lmcpu::sorted::SortedModel;
use miriam_lmcpu::trie::{TrieModel, write_trie};

use super::check::{Material, Models, check};
use super::cpu::{Sequences, Way};
use super::memory::Buffer;
use super::queries;
use super::reads::Reads;
use crate::format::NodeWidth;
use crate::synthetic::{Likeness, Recipe, Text, random_ngrams};
use crate::{Error, GlmModel, GlmOptions, KIND, VERSION, write_glm};

fn made() -> SortedModel {
    Recipe { ngrams: 60_000, order: 4, seed: 5 }.model()
}

fn glm(model: SortedModel, layout: GlmOptions) -> GlmModel {
    let name = std::path::Path::new("made");
    let writer = ContainerWriter::in_memory(name, KIND, VERSION).unwrap();
    let bytes = write_glm(model, &layout, writer).unwrap().unwrap();
    GlmModel::from_container(&Container::from_bytes(bytes, name).unwrap()).unwrap()
}

fn trie(model: SortedModel) -> TrieModel {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trie");
    write_trie(model, &path, None).unwrap();
    TrieModel::open(&path, Load::HugePages).unwrap()
}

fn layouts() -> Vec<GlmOptions> {
    let widths = [NodeWidth::Keys8, NodeWidth::Keys16, NodeWidth::Keys32];
    let hashed = [0, 2, 4].into_iter();
    hashed.flat_map(|hashed| widths.map(|width| GlmOptions { width, hashed })).collect()
}

fn text(model: &SortedModel) -> Text {
    let mut text = Text::sample(model, Likeness::Training, 6_000, 1);
    text.append(&Text::sample(model, Likeness::HeldOut, 6_000, 1), 12_000);
    text
}

fn material(model: &SortedModel) -> Material {
    let random = random_ngrams(model, model.counts.len(), 10_000, 2);
    Material { random, text: text(model), batches: vec![1, 33, 1_000] }
}

#[test]
fn equal_models_pass_and_a_single_bit_is_found() {
    let model = made();
    let material = material(&model);
    let other = trie(model.clone());
    let run = |model: SortedModel| {
        let begin = model.begin;
        let twin = glm(model, GlmOptions::default());
        let models = Models { twin: &twin, other: &other, other_name: "trie", begin, device: None };
        let mut told = Vec::new();
        check(&models, &material, &mut |line| told.push(line.to_owned())).map(|()| told)
    };
    let told = run(model.clone()).unwrap();
    assert_eq!(told.len(), 7, "{told:?}");
    assert!(told[0].contains("10000 compared") && told[6].contains("perplexity"), "{told:?}");
    // An n-gram that the text has.
    let ngram = &queries::ngrams(&material.text, model.begin, 4)[40..44];
    let mut wrong = model;
    let at = wrong.levels.node(ngram).unwrap() as usize;
    let log10 = &mut wrong.levels.levels[3].log10[at];
    *log10 = f32::from_bits(log10.to_bits() + 1);
    let Err(Error::Different { detail, .. }) = run(wrong) else { panic!("nothing was found") };
    assert!(detail.contains("4 matched, but expected"), "{detail}");
}

#[test]
fn both_ways_of_the_cpu_and_all_threads_agree() {
    let model = made();
    let material = material(&model);
    let twin = glm(model.clone(), GlmOptions::default());
    use miriam_lmcpu::LanguageModel as _;
    let all = [
        Sequences::ngrams(&material.random, 4),
        Sequences::sentences(&material.text, twin.begin_state()),
    ];
    for sequences in all {
        let scores = sequences.score(&twin, Way::Single);
        assert_eq!(scores, sequences.score(&twin, Way::Batch));
        assert_eq!(scores.len(), sequences.queries(0..sequences.len()));
        let batches = sequences.batches(500);
        assert_eq!(batches.first().unwrap().start, 0);
        assert_eq!(batches.last().unwrap().end, sequences.len());
        assert!(batches.windows(2).all(|pair| pair[0].end == pair[1].start));
        let sums = [1, 2].map(|threads| sequences.run(&twin, Way::Batch, &batches, threads));
        assert!((sums[0] / sums[1] - 1.0).abs() < 1e-9 && sums[0] < 0.0, "{sums:?}");
    }
}

/// Every walk finds what the model finds: what it counts is what a search needs.
#[test]
fn reads_are_those_of_a_search_that_finds_what_is_there() {
    let model = made();
    let text = text(&model);
    let ngrams = queries::ngrams(&text, model.begin, 4);
    let matches = text.matches(&model);
    for layout in layouts() {
        let twin = glm(model.clone(), layout);
        assert_eq!(super::reads::matches(&twin, &ngrams), matches, "{layout:?}");
        let (explicit, sentences) =
            (Reads::of_ngrams(&twin, &ngrams), Reads::of_text(&twin, &text, model.begin));
        assert_eq!((explicit.queries, sentences.queries), (12_000, 12_000));
        for reads in [explicit, sentences] {
            let [ones, twos, fours] = reads.requests;
            assert!(reads.sectors >= ones + 2 * twos + 3 * fours);
            assert!(reads.sectors <= ones + 2 * twos + 4 * fours);
            // Ceilings are harmonic: twice the rates, twice the queries.
            let ceiling = reads.ceiling([4e9, 2e9, 1e9]);
            assert!((reads.ceiling([8e9, 4e9, 2e9]) / ceiling - 2.0).abs() < 1e-9);
        }
        assert!(explicit.sectors > sentences.sectors, "there are two walks");
        if layout.hashed == 4 {
            // One entry, then a bucket of two sectors for each order, more where
            // buckets overflow.
            let lookups: u64 = (1..4).map(|n| matches[n - 1..].iter().sum::<u64>()).sum();
            let words = sentences.queries + text.ends.len() as u64;
            let without_overflow = words + 2 * lookups;
            assert!(sentences.sectors <= without_overflow * 5 / 4, "{sentences:?}");
        }
    }
    // Small nodes read fewer bytes of keys a node, and large ones fewer nodes.
    let sectors = |width| {
        let twin = glm(model.clone(), GlmOptions { width, hashed: 0 });
        Reads::of_text(&twin, &text, model.begin)
    };
    let (narrow, wide) = (sectors(NodeWidth::Keys8), sectors(NodeWidth::Keys32));
    assert!(narrow.requests[0] > wide.requests[0] && narrow.requests[2] < wide.requests[2]);
}

#[test]
fn memory_is_read_on_any_number_of_threads() {
    let buffer = Buffer::new(1 << 16);
    for (sector, threads) in [(32, 1), (64, 2), (128, 3)] {
        buffer.read(sector, 50_000, threads);
    }
    Buffer::new(0).read(128, 10, 1);
}
