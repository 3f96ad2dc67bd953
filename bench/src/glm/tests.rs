use std::path::Path;

use miriam_glm::device::{PAD, SENTENCE_START, ScoreBuffers, SentenceSum};
use miriam_glm::format::NodeWidth;
use miriam_glm::{GlmModel, GlmOptions, KIND, VERSION, write_glm};
use miriam_lmcpu::sorted::SortedModel;
use miriam_lmcpu::trie::{TrieModel, write_trie};
use miriam_lmcpu::{LanguageModel, LmWord};
use miriam_storage::{Container, ContainerWriter, LoadMethod};

use super::comparison::{BatchScorer, CheckData, GlmResult, Models, compare_models};
use super::queries;
use super::random_reads::ReadBuffer;
use super::read_counts::ReadCounts;
use crate::Error;
use crate::lm::sequences::{ScoringMode, Sequences};
use crate::synthetic::{SyntheticOptions, Text, TextKind, random_ngrams};

fn synthetic_model() -> SortedModel {
    SyntheticOptions { ngrams: 60_000, order: 4, seed: 5 }.generate_model()
}

fn glm(model: SortedModel, layout: GlmOptions) -> GlmModel {
    let name = Path::new("made");
    let writer = ContainerWriter::in_memory(name, KIND, VERSION).unwrap();
    let bytes = write_glm(model, &layout, writer).unwrap().unwrap();
    GlmModel::from_container(&Container::from_bytes(bytes, name).unwrap()).unwrap()
}

fn trie(model: SortedModel) -> TrieModel {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trie");
    write_trie(model, &path, None).unwrap();
    TrieModel::open(&path, LoadMethod::HugePages).unwrap()
}

fn layouts() -> Vec<GlmOptions> {
    let widths = [NodeWidth::Keys8, NodeWidth::Keys16, NodeWidth::Keys32];
    let hashed = [0, 2, 4].into_iter();
    hashed
        .flat_map(|hashed| {
            widths.map(|width| GlmOptions { node_width: width, max_hashed_order: hashed })
        })
        .collect()
}

fn text(model: &SortedModel) -> Text {
    let mut text = Text::sample(model, TextKind::Training, 6_000, 1);
    text.append(&Text::sample(model, TextKind::HeldOut, 6_000, 1), 12_000);
    text
}

fn check_data(model: &SortedModel) -> CheckData {
    let random = random_ngrams(model, model.counts.len(), 10_000, 2);
    CheckData { random_ngrams: random, text: text(model), batch_sizes: vec![1, 33, 1_000] }
}

#[test]
fn equal_models_pass_and_a_single_bit_is_found() {
    let model = synthetic_model();
    let data = check_data(&model);
    let other = trie(model.clone());
    let compare = |model: SortedModel| {
        let begin = model.bos_id;
        let cpu_model = glm(model, GlmOptions::default());
        let models = Models {
            cpu_model: &cpu_model,
            reference: &other,
            reference_name: "trie",
            bos_id: begin,
            device: None,
        };
        let mut lines = Vec::new();
        compare_models(&models, &data, &mut |line| lines.push(line.to_owned())).map(|()| lines)
    };
    let lines = compare(model.clone()).unwrap();
    assert_eq!(lines.len(), 7, "{lines:?}");
    assert!(lines[0].contains("10000 compared") && lines[6].contains("perplexity"), "{lines:?}");
    // An n-gram of the text.
    let ngram = &queries::ngrams(&data.text, model.bos_id, 4)[40..44];
    let mut wrong = model;
    let at = wrong.trie.node(ngram).unwrap() as usize;
    let log10 = &mut wrong.trie.levels[3].log10[at];
    *log10 = f32::from_bits(log10.to_bits() + 1);
    let Err(Error::Mismatch { detail, .. }) = compare(wrong) else {
        panic!("no difference was found")
    };
    assert!(detail.contains("4 matched, but expected"), "{detail}");
}

/// A simple replacement of the device, which scores each query from its whole context.
struct NaiveScorer<'m> {
    model: &'m TrieModel,
    /// The number of the query, over all calls, that gets a wrong score.
    wrong_query: Option<usize>,
    num_queries: std::cell::Cell<usize>,
}

impl<'m> NaiveScorer<'m> {
    fn new(model: &'m TrieModel, wrong_query: Option<usize>) -> Self {
        NaiveScorer { model, wrong_query, num_queries: 0.into() }
    }

    fn score_query(&self, newest_first: &[u32], at: usize, answers: &mut ScoreBuffers<'_>) {
        let words: Vec<LmWord> = newest_first.iter().map(|&word| LmWord(word)).collect();
        let (log10, matched) = self.model.score_after(&words[1..], words[0]);
        let query = self.num_queries.replace(self.num_queries.get() + 1);
        answers.log10[at] = if self.wrong_query == Some(query) { -log10.0 } else { log10.0 };
        if let Some(lengths) = &mut answers.matched {
            lengths[at] = matched;
        }
    }
}

impl BatchScorer for NaiveScorer<'_> {
    fn score_ngrams(&self, queries: &[u32], mut answers: ScoreBuffers<'_>) -> GlmResult {
        for (at, ngram) in queries.chunks(LanguageModel::order(self.model)).enumerate() {
            let length = ngram.iter().position(|&word| word == PAD).unwrap_or(ngram.len());
            self.score_query(&ngram[..length], at, &mut answers);
        }
        Ok(())
    }

    fn score_tokens(&self, tokens: &[u32], mut answers: ScoreBuffers<'_>) -> GlmResult {
        let mut start = 0;
        for at in 0..tokens.len() {
            if tokens[at] & SENTENCE_START != 0 {
                start = at;
            }
            let left = tokens[start..=at].iter().rev().map(|token| token & !SENTENCE_START);
            let left: Vec<u32> = left.take(LanguageModel::order(self.model)).collect();
            self.score_query(&left, at, &mut answers);
        }
        Ok(())
    }

    fn sum_sentences(&self, tokens: &[u32], ends: &[usize], sums: &mut [SentenceSum]) -> GlmResult {
        let mut log10 = vec![0.0; tokens.len()];
        self.score_tokens(tokens, ScoreBuffers { log10: &mut log10, matched: None })?;
        let mut start = 0;
        for (&end, sum) in ends.iter().zip(sums) {
            sum.log10 = log10[start + 1..end].iter().fold(0.0, |sum, log10| sum + log10);
            sum.unknown = tokens[start + 1..end].iter().filter(|&&word| word == 0).count() as u32;
            start = end;
        }
        Ok(())
    }
}

/// A correct device passes, and a wrong score of any query in any batch is found.
#[test]
fn a_device_is_compared_in_batches_of_every_size() {
    let model = synthetic_model();
    let (mut data, other) = (check_data(&model), trie(model.clone()));
    // One size is larger than the number of queries.
    data.batch_sizes = vec![1, 31, 1_000, 25_000];
    data.text.words[70] = 0;
    let begin = model.bos_id;
    let cpu_model = glm(model, GlmOptions::default());
    let run = |wrong| {
        let device = NaiveScorer::new(&other, wrong);
        let models = Models {
            cpu_model: &cpu_model,
            reference: &other,
            reference_name: "trie",
            bos_id: begin,
            device: Some(&device),
        };
        let mut lines = Vec::new();
        let outcome = compare_models(&models, &data, &mut |line| lines.push(line.to_owned()));
        (outcome, lines, device.num_queries.get())
    };
    let (outcome, lines, num_queries) = run(None);
    outcome.unwrap();
    let device_lines: Vec<&String> =
        lines.iter().filter(|line| line.contains("device = CPU")).collect();
    assert_eq!(device_lines.len(), 4 + 4 + 1 + 4 + 1, "{lines:?}");
    assert!(device_lines[3].contains("25000 compared"), "{lines:?}");
    assert!(device_lines[10].contains(&format!("{} compared", 31 * 128)), "{lines:?}");
    assert!(device_lines[12].contains("12000 compared"), "{lines:?}");
    // Queries of all kinds; the last one is part of the sums of sentences.
    for wrong in [0, 128 + 31 * 5, 40_000, 100_000, num_queries - 12_500, num_queries - 1] {
        let (outcome, _, _) = run(Some(wrong));
        let Err(Error::Mismatch { what, .. }) = outcome else { panic!("{wrong} of {num_queries}") };
        assert!(what.contains("device = CPU"), "{what}");
    }
}

#[test]
fn both_scoring_modes_and_all_threads_agree() {
    let model = synthetic_model();
    let data = check_data(&model);
    let cpu_model = glm(model.clone(), GlmOptions::default());
    let all = [
        Sequences::ngrams(&data.random_ngrams, 4),
        Sequences::sentences(&data.text, cpu_model.begin_state()),
    ];
    for sequences in all {
        let scores = sequences.score(&cpu_model, ScoringMode::Single);
        assert_eq!(scores, sequences.score(&cpu_model, ScoringMode::Batch));
        assert_eq!(scores.len(), sequences.num_queries(0..sequences.len()));
        let batches = sequences.batches(500);
        assert_eq!(batches.first().unwrap().start, 0);
        assert_eq!(batches.last().unwrap().end, sequences.len());
        assert!(batches.windows(2).all(|pair| pair[0].end == pair[1].start));
        let sums = [1, 2]
            .map(|threads| sequences.sum_scores(&cpu_model, ScoringMode::Batch, &batches, threads));
        assert!((sums[0] / sums[1] - 1.0).abs() < 1e-9 && sums[0] < 0.0, "{sums:?}");
    }
}

/// Each walk of the counts matches the same number of words as the model.
#[test]
fn read_counts_are_those_of_a_search_that_finds_every_ngram() {
    let model = synthetic_model();
    let text = text(&model);
    let ngrams = queries::ngrams(&text, model.bos_id, 4);
    let matches = text.match_length_counts(&model);
    for layout in layouts() {
        let cpu_model = glm(model.clone(), layout);
        assert_eq!(super::read_counts::count_matches(&cpu_model, &ngrams), matches, "{layout:?}");
        let (explicit, sentences) = (
            ReadCounts::for_ngrams(&cpu_model, &ngrams),
            ReadCounts::for_text(&cpu_model, &text, model.bos_id),
        );
        assert_eq!((explicit.queries, sentences.queries), (12_000, 12_000));
        for reads in [explicit, sentences] {
            let [ones, twos, fours] = reads.requests;
            assert!(reads.sectors >= ones + 2 * twos + 3 * fours);
            assert!(reads.sectors <= ones + 2 * twos + 4 * fours);
            // Twice the rates of all reads allow twice the queries.
            let ceiling = reads.ceiling([4e9, 2e9, 1e9]);
            assert!((reads.ceiling([8e9, 4e9, 2e9]) / ceiling - 2.0).abs() < 1e-9);
        }
        assert!(explicit.sectors > sentences.sectors, "an explicit query needs two walks");
        if layout.max_hashed_order == 4 {
            // A unigram is one sector; each longer match is a bucket of two sectors, more if the
            // bucket overflows.
            let lookups: u64 = (1..4).map(|n| matches[n - 1..].iter().sum::<u64>()).sum();
            let words = sentences.queries + text.ends.len() as u64;
            let without_overflow = words + 2 * lookups;
            assert!(sentences.sectors <= without_overflow * 5 / 4, "{sentences:?}");
        }
    }
    // A small node is a request for one sector, a large one for three or four.
    let sectors = |width| {
        let cpu_model = glm(model.clone(), GlmOptions { node_width: width, max_hashed_order: 0 });
        ReadCounts::for_text(&cpu_model, &text, model.bos_id)
    };
    let (narrow, wide) = (sectors(NodeWidth::Keys8), sectors(NodeWidth::Keys32));
    assert!(narrow.requests[0] > wide.requests[0] && narrow.requests[2] < wide.requests[2]);
}

#[test]
fn memory_is_read_on_any_number_of_threads() {
    let buffer = ReadBuffer::new(1 << 16);
    for (sector, threads) in [(32, 1), (64, 2), (128, 3)] {
        buffer.read_at_random(sector, 50_000, threads);
    }
    ReadBuffer::new(0).read_at_random(128, 10, 1);
}
