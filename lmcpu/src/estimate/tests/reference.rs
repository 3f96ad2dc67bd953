//! A slow reference estimator with maps from n-grams to counts, written from
//! `ngram-lm.md` 3, with which the fast one is compared.

#![allow(clippy::needless_range_loop, reason = "orders and counts are numbered as on paper")]

use std::collections::{BTreeMap, BTreeSet, HashMap};

use miriam_textio::number::push_shortest_f32;

use crate::estimate::EstimateOptions;
use crate::kenlm::word_hash;

/// An n-gram, last word first, so that maps keep suffix order.
type Ngram = Vec<u32>;

const BOS: u32 = 1;
const EOS: u32 = 2;

/// Returns the ARPA text of a model, or `None` if discounts cannot be computed.
pub fn reference_arpa(
    options: &EstimateOptions,
    text: &str,
    limit: Option<&[&str]>,
) -> Option<String> {
    let n = options.order;
    let mut words = vec!["<unk>", "<s>", "</s>"];
    let mut raw: BTreeMap<Ngram, u64> = BTreeMap::new();
    for line in text.lines() {
        let mut sentence = vec![BOS; n - 1];
        for word in line.split([' ', '\t', '\r', '\0']).filter(|word| !word.is_empty()) {
            let known = words.iter().position(|other| *other == word);
            if known.is_some_and(|id| id < 3) {
                continue;
            }
            sentence.push(known.unwrap_or(words.len()) as u32);
            if known.is_none() {
                words.push(word);
            }
        }
        sentence.push(EOS);
        for ngram in sentence.windows(n) {
            *raw.entry(ngram.iter().rev().copied().collect()).or_default() += 1;
        }
    }
    let last = raw.keys().next_back()?.clone();

    // By order: raw and adjusted counts.
    let mut counts: Vec<BTreeMap<Ngram, (u64, u64)>> = vec![BTreeMap::new(); n + 1];
    for k in 1..=n {
        let mut neighbours: BTreeMap<Ngram, BTreeSet<u32>> = BTreeMap::new();
        for (ngram, count) in &raw {
            if ngram[..k - 1].contains(&BOS) {
                continue;
            }
            let end = ngram[..k].to_vec();
            counts[k].entry(end.clone()).or_default().0 += count;
            if k < n {
                neighbours.entry(end).or_default().insert(ngram[k]);
            }
        }
        for (ngram, (raw, adjusted)) in &mut counts[k] {
            let counted = k == n || ngram[k - 1] == BOS;
            *adjusted = if counted { *raw } else { neighbours[ngram].len() as u64 };
        }
    }
    counts[1].insert(vec![0], (0, 0));
    counts[1].insert(vec![BOS], (0, 0));

    fn threshold(k: usize, options: &EstimateOptions) -> u64 {
        let thresholds = &options.prune;
        thresholds.get(k - 1).or(thresholds.last()).copied().unwrap_or(0)
    }
    fn outside(id: u32, limit: &Option<&[&str]>, words: &[&str]) -> bool {
        id > EOS && limit.is_some_and(|limit| !limit.contains(&words[id as usize]))
    }
    let pruned = |ngram: &Ngram, raw: u64| {
        let marker = ngram.len() == 1 && ngram[0] <= EOS;
        !marker
            && (raw <= threshold(ngram.len(), options)
                || ngram.iter().any(|&id| outside(id, &limit, &words)))
    };

    let mut discounts = vec![[0.0f32; 4]];
    for k in 1..=n {
        let mut seen = [0u64; 5];
        for (ngram, &(raw, adjusted)) in &counts[k] {
            let quirk = k < n && last[..k] == ngram[..];
            let adjusted = if quirk { raw } else { adjusted };
            if adjusted < 5 {
                seen[adjusted as usize] += 1;
            }
        }
        let y = seen[1] as f32 / (seen[1] as f64 + 2.0 * seen[2] as f64) as f32;
        let mut found = [0.0; 4];
        let mut good = true;
        for j in 1..4 {
            let d = j as f32 - (j + 1) as f32 * y * seen[j + 1] as f32 / seen[j] as f32;
            good &= seen[j] > 0 && d >= 0.0 && d <= j as f32;
            found[j] = d;
        }
        if !good {
            let [one, two, more] = options.discount_fallback?;
            found = [0.0, one, two, more];
        }
        discounts.push(found);
    }
    fn discount(k: usize, adjusted: u64, discounts: &[[f32; 4]]) -> f32 {
        discounts[k][adjusted.min(3) as usize]
    }
    fn add(a: f32, b: f32, c: f32, options: &EstimateOptions) -> f32 {
        if options.fused_multiply_add { b.mul_add(c, a) } else { a + b * c }
    }

    // By context, newest word first: the denominator and gamma.
    let mut contexts: HashMap<(usize, Ngram), (f32, f32)> = HashMap::new();
    for k in 1..=n {
        let mut groups: HashMap<Ngram, Vec<(u64, bool)>> = HashMap::new();
        for (ngram, &(raw, adjusted)) in &counts[k] {
            groups.entry(ngram[1..].to_vec()).or_default().push((adjusted, pruned(ngram, raw)));
        }
        for (context, group) in groups {
            let denominator = group.iter().map(|(count, _)| count).sum::<u64>() as f32;
            let norm: u64 =
                group.iter().filter(|(_, pruned)| *pruned).map(|(count, _)| count).sum();
            let mut gamma = 0.0;
            for j in 1..4 {
                let number = group
                    .iter()
                    .filter(|&&(count, pruned): &&(u64, bool)| !pruned && count.min(3) == j as u64)
                    .count() as f32;
                gamma = add(gamma, discounts[k][j], number, options);
            }
            gamma += norm as f32;
            contexts.insert((k, context), (denominator, gamma / denominator));
        }
    }

    let kept: Vec<Vec<(&Ngram, u64)>> = counts
        .iter()
        .map(|all| all.iter().filter(|(ngram, (raw, _))| !pruned(ngram, *raw)))
        .map(|kept| kept.map(|(ngram, (_, adjusted))| (ngram, *adjusted)).collect())
        .collect();
    let v = options.vocab_pad.max(kept[1].len() as u64 - 1);
    let mut probability: HashMap<&[u32], f32> = HashMap::new();
    probability.insert(&[], (1.0 / f64::from(v as f32)) as f32);
    // The number of each word in the output.
    let numbers: Vec<u32> = if options.renumber {
        let mut hashed: Vec<(u64, usize)> =
            (1..words.len()).map(|id| (word_hash(words[id].as_bytes()), id)).collect();
        hashed.sort_unstable();
        fn rank(id: usize, hashed: &[(u64, usize)]) -> usize {
            hashed.iter().position(|&(_, other)| other == id).map_or(0, |i| i + 1)
        }
        (0..words.len()).map(|id| rank(id, &hashed) as u32).collect()
    } else {
        (0..words.len() as u32).collect()
    };
    // By n-gram: its backoffs divided by the backoffs of its contexts, for collapsed values.
    let mut factors: HashMap<&[u32], f32> = HashMap::new();
    let mut arpa = String::from("\\data\\\n");
    for k in 1..=n {
        arpa += &format!("ngram {k}={}\n", kept[k].len());
    }
    for k in 1..=n {
        arpa += &format!("\n\\{k}-grams:\n");
        let mut lines = BTreeMap::new();
        for &(ngram, adjusted) in &kept[k] {
            let (denominator, gamma) = contexts[&(k, ngram[1..].to_vec())];
            let mut own = (adjusted as f32 - discount(k, adjusted, &discounts)) / denominator;
            let mut weight = gamma;
            if k == 1 {
                if !options.interpolate_unigrams {
                    weight = 0.0;
                }
                match ngram[0] {
                    0 => own = if options.interpolate_unigrams { 0.0 } else { gamma },
                    BOS => (own, weight) = (1.0, 0.0),
                    _ => {}
                }
            }
            let p = add(own, weight, probability[&ngram[..k - 1]], options);
            probability.insert(ngram, p);
            let backoff = contexts.get(&(k + 1, ngram.clone())).map_or(1.0, |(_, gamma)| *gamma);
            let factor = match factors.get(&ngram[..k - 1]) {
                Some(shorter) => shorter / gamma * backoff,
                None => backoff,
            };
            factors.insert(ngram, factor);
            let values = if options.collapse_values {
                [(p * factor).log10(), 0.0]
            } else {
                [p.log10().min(0.0), backoff.log10()]
            };
            let mut line = Vec::new();
            push_shortest_f32(&mut line, values[0]);
            line.push(b'\t');
            let text: Vec<&str> = ngram.iter().rev().map(|&id| words[id as usize]).collect();
            line.extend_from_slice(text.join(" ").as_bytes());
            if k < n {
                line.push(b'\t');
                push_shortest_f32(&mut line, values[1]);
            }
            line.push(b'\n');
            lines.insert(ngram.iter().map(|&id| numbers[id as usize]).collect::<Ngram>(), line);
        }
        let lines = lines.into_values().map(|line| String::from_utf8(line).expect("text"));
        arpa.extend(lines);
    }
    Some(arpa + "\n\\end\\\n")
}
