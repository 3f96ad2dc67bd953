//! Beam search with a language model against a naive reference, over random models, n-gram and
//! neural.

use std::fmt::Write;
use std::sync::Arc;

use miriam_lmcpu::{LanguageModel, State};
use miriam_nmt::batch::{BatchingOptions, Job};
use miriam_nmt::search::{DecodingSemantics, Fusion, FusionModel, SearchOptions, TokenTexts};
use miriam_storage::LoadMethod;
use miriam_textio::NoProgress;

use super::random::{RandomModel, RandomSession, Xorshift, log_sum_exp};
use super::{assert_near, random_options, random_request, reference, translate_jobs};

/// The size of the vocabulary, so small that each token is a candidate of each row, as in the
/// reference.
const VOCABULARY_SIZE: usize = 8;

/// A language model that scores whole texts, without any state.
pub trait LmReference {
    /// Returns the natural log-probability of the words that `next` completes after `tokens`; if
    /// `ends`, of the words that the end of the sentence completes, and of that end.
    fn score_next(&self, tokens: &[u32], next: u32, ends: bool) -> f32;

    /// Returns the weight of the model.
    fn weight(&self) -> f32;
}

/// An n-gram model that scores the words of whole texts, one query after another.
struct WordScorer {
    lm: Arc<dyn LanguageModel>,
    texts: Vec<String>,
    weight: f32,
}

/// A model of tokens that computes the whole prefix again for each token.
struct TokenScorer {
    model: RandomModel,
    weight: f32,
}

impl LmReference for TokenScorer {
    fn score_next(&self, tokens: &[u32], next: u32, ends: bool) -> f32 {
        let logits = self.model.logits(&[], tokens);
        let token = if ends { 0 } else { next };
        logits[token as usize] - log_sum_exp(&logits)
    }

    fn weight(&self) -> f32 {
        self.weight
    }
}

impl LmReference for WordScorer {
    fn weight(&self) -> f32 {
        self.weight
    }

    fn score_next(&self, tokens: &[u32], next: u32, ends: bool) -> f32 {
        let mut text: String = tokens.iter().map(|&token| &*self.texts[token as usize]).collect();
        let known = complete_words(&text).len();
        if ends {
            text.push(' ');
        } else {
            text.push_str(&self.texts[next as usize]);
        }
        let words = complete_words(&text);
        let ids = words.iter().map(|word| self.lm.word_id(word.as_bytes()));
        let ids = ids.chain(ends.then_some(self.lm.end_of_sentence()));
        let (mut state, mut after) = (self.lm.begin_state(), State::EMPTY);
        let mut sum = 0.0;
        for (at, id) in ids.enumerate() {
            let (log10, _) = self.lm.score(&state, id, &mut after);
            state = after;
            if at >= known {
                sum += (log10.0 * std::f32::consts::LN_10).max(-100.0);
            }
        }
        sum
    }
}

/// Returns the words of a text that are followed by a space.
fn complete_words(text: &str) -> Vec<&str> {
    let end = text.rfind(' ').map_or(0, |at| at + 1);
    text[..end].split(' ').filter(|word| !word.is_empty()).collect()
}

/// Returns a random bigram model over `words`.
fn random_lm(numbers: &mut Xorshift, words: &[String]) -> Arc<dyn LanguageModel> {
    let mut score = || -(numbers.below(30) as f32) / 8.0;
    let mut unigrams = String::new();
    let special = ["<unk>".to_owned(), "<s>".into(), "</s>".into()];
    let all: Vec<&String> = special.iter().chain(words).collect();
    for word in &all {
        writeln!(unigrams, "{}\t{word}\t{}", score(), score()).unwrap();
    }
    let mut bigrams = String::new();
    let mut count = 0;
    for (at, first) in all.iter().enumerate().skip(1) {
        for (other, second) in all.iter().enumerate().skip(2) {
            if first.as_str() != "</s>" && (at * 7 + other * 3) % 5 < 2 {
                writeln!(bigrams, "{}\t{first} {second}", score()).unwrap();
                count += 1;
            }
        }
    }
    let arpa = format!(
        "\\data\\\nngram 1={}\nngram 2={count}\n\n\\1-grams:\n{unigrams}\n\\2-grams:\n{bigrams}\n\\end\\\n",
        all.len()
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), arpa).unwrap();
    miriam_lmcpu::open(file.path(), LoadMethod::Lazy, &NoProgress).unwrap()
}

#[test]
fn beam_search_with_a_language_model_matches_reference() {
    let mut changed = 0;
    for seed in 0..600 {
        let mut numbers = Xorshift::new(seed);
        let mut options = random_options(&mut numbers);
        options.skip_cost = false;
        let exact = numbers.below(2) == 0;
        if exact {
            options.repetition_penalty = 1.0;
            options.semantics = DecodingSemantics::Marian;
        }
        let [over_pieces, spaces_follow] = [numbers.below(3) == 0, numbers.below(2) == 0];
        let texts: Vec<String> = (0..VOCABULARY_SIZE)
            .map(|token| {
                let name = format!("{}", (b'a' + token as u8) as char);
                match numbers.below(if over_pieces { 1 } else { 6 }) {
                    _ if token == 0 => String::new(),
                    0 if over_pieces => format!("{name} "),
                    0..=2 if spaces_follow => format!("{name} "),
                    0..=2 => format!(" {name}"),
                    3 => format!("{name} {name}{name}"),
                    _ => name,
                }
            })
            .collect();
        let mut words: Vec<String> = texts
            .iter()
            .map(|text| text.trim().to_owned())
            .filter(|word| !word.contains(' '))
            .collect();
        words.retain(|word| !word.is_empty());
        words.truncate(10);
        let pairs: Vec<String> =
            words.iter().zip(&words[1..]).map(|(a, b)| format!("{a}{b}")).collect();
        words.extend(pairs);
        let lm = random_lm(&mut numbers, &words);
        let model = if over_pieces {
            let pieces =
                texts.iter().map(|text| (!text.is_empty()).then(|| text.trim().as_bytes()));
            FusionModel::over_pieces(Arc::clone(&lm), pieces)
        } else {
            let texts: TokenTexts = texts.iter().map(|text| text.as_bytes().into()).collect();
            FusionModel::over_words(Arc::clone(&lm), texts)
        };
        let weight = numbers.choose(&[0.0, 0.25, 1.0]);
        options.fusion = Some(Fusion { model, weight });
        let scorer = WordScorer { lm, texts, weight };
        let random = RandomModel {
            seed,
            vocabulary_size: VOCABULARY_SIZE,
            logit_step: 0.0,
            eos_logit_bias: numbers.choose(&[0.0, 1.5]),
        };
        let request = random_request(&mut numbers, VOCABULARY_SIZE);
        let expected = reference::translate_with_lm(&random, &request, &options, Some(&scorer));
        let mut session = RandomSession::new(random);
        let jobs = [Job { id: 5, request: request.clone() }];
        let results = translate_jobs(&mut session, &options, &BatchingOptions::default(), &jobs);
        let case = format!("{seed}: {request:?} {options:?} {:?}", scorer.texts);
        match &results[&5] {
            Ok(found) => {
                assert_near(found, &expected, if exact { 0.0 } else { 3e-5 }, &case);
                let without = SearchOptions { fusion: None, ..options };
                let without = reference::translate(&random, &request, &without);
                changed += usize::from(without[0].tokens != found[0].tokens);
            }
            Err(_) => assert!(expected.is_empty(), "{case}: {expected:?}"),
        }
    }
    assert!(changed > 100, "{changed}");
}

/// In the language model, as in the translation model, the sentences of a batch begin, branch and
/// end at different steps.
#[test]
fn beam_search_with_a_neural_language_model_matches_reference() {
    let mut changed = 0;
    for seed in 0..300 {
        let mut numbers = Xorshift::new(seed);
        let mut options = random_options(&mut numbers);
        options.skip_cost = false;
        let exact = numbers.below(2) == 0;
        if exact {
            options.repetition_penalty = 1.0;
            options.semantics = DecodingSemantics::Marian;
        }
        let random = RandomModel {
            seed,
            vocabulary_size: VOCABULARY_SIZE,
            logit_step: 0.0,
            eos_logit_bias: numbers.choose(&[0.0, 1.5]),
        };
        let lm = RandomModel { seed: seed + 1000, eos_logit_bias: 0.0, ..random };
        let weight = numbers.choose(&[0.0, 0.25, 1.0, -0.5]);
        let model = FusionModel::neural(move || Ok(Box::new(RandomSession::new(lm))), 0);
        options.fusion = Some(Fusion { model, weight });
        let scorer = TokenScorer { model: lm, weight };
        let jobs: Vec<Job> = (0..5)
            .map(|id| Job { id, request: random_request(&mut numbers, VOCABULARY_SIZE) })
            .collect();
        let batching = BatchingOptions {
            max_sentences: 1 + numbers.below(4),
            top_up: numbers.below(2) == 0,
            ..BatchingOptions::default()
        };
        let mut session = RandomSession::new(random);
        let results = translate_jobs(&mut session, &options, &batching, &jobs);
        let without = SearchOptions { fusion: None, ..options.clone() };
        for Job { id, request } in &jobs {
            let expected = reference::translate_with_lm(&random, request, &options, Some(&scorer));
            let case = format!("{seed}: {request:?} {options:?}");
            match &results[id] {
                Ok(found) => {
                    assert_near(found, &expected, if exact { 0.0 } else { 3e-5 }, &case);
                    let without = reference::translate(&random, request, &without);
                    changed += usize::from(without[0].tokens != found[0].tokens);
                }
                Err(_) => assert!(expected.is_empty(), "{case}: {expected:?}"),
            }
        }
    }
    assert!(changed > 200, "{changed}");
}
