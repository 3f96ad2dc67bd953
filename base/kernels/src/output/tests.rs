//! The best words against a sort of all.

use super::*;
use crate::testing::Numbers;

/// Sorted by logit, then id; and the logarithm of the sum of exponentials.
fn by_sorting(row: &[f32], bias: &[f32], ids: Ids, most: usize) -> (Vec<Candidate>, f64) {
    let mut all: Vec<Candidate> = (0..row.len())
        .map(|column| Candidate { id: ids.at(column), logit: row[column] + bias[column] })
        .collect();
    let sum: f64 = all.iter().map(|candidate| f64::from(candidate.logit).exp()).sum();
    all.retain(|candidate| candidate.logit > f32::NEG_INFINITY);
    all.sort_by(|a, b| b.logit.total_cmp(&a.logit).then(a.id.cmp(&b.id)));
    all.truncate(most);
    (all, sum.ln())
}

#[test]
fn the_best_are_those_of_a_sort() {
    let mut numbers = Numbers::new(11);
    for cpu in Cpu::all() {
        for (length, most) in
            [(1, 1), (3, 5), (16, 1), (255, 6), (300, 12), (5000, 6), (2048, 1), (70, 0)]
        {
            let mut row = numbers.floats(length, 15.0);
            // Coarse, so that many are equal.
            row.iter_mut().for_each(|x| *x = x.round());
            row[length / 2] = f32::NEG_INFINITY;
            let bias: Vec<f32> = (0..length).map(|_| numbers.whole(-3, 3) as f32).collect();
            let list: Vec<u32> = (0..length as u32).map(|at| 3 * at + 7).collect();
            for ids in [Ids::From(5), Ids::List(&list)] {
                let (expected, log_sum) = by_sorting(&row, &bias, ids, most);
                let mut best = [Best::new(most, true)];
                take(cpu, Mat::new(&row, 1, length), Some(&bias), ids, &mut best);
                assert_eq!(best[0].candidates(), expected, "{} {length} {most}", cpu.name());
                if length > 1 {
                    let apart = f64::from(best[0].log_normaliser()) - log_sum;
                    assert!(apart.abs() < 3e-6, "{apart}");
                }
                let mut greedy = [Best::new(most, false)];
                take(cpu, Mat::new(&row, 1, length), Some(&bias), ids, &mut greedy);
                assert_eq!(greedy[0].candidates(), expected);
            }
        }
    }
}

#[test]
fn what_is_no_number_breaks_its_row_with_and_without_the_sum() {
    let mut numbers = Numbers::new(13);
    for cpu in Cpu::all() {
        for length in [1, 15, 16, 300, 1000] {
            for place in [0, length / 2, length - 1] {
                for normalise in [false, true] {
                    let mut row = numbers.floats(length, 9.0);
                    let broken = |row: &[f32]| {
                        let mut best = [Best::new(2, normalise)];
                        take(cpu, Mat::new(row, 1, length), None, Ids::From(0), &mut best);
                        best[0].is_broken()
                    };
                    row[place] = f32::NEG_INFINITY;
                    assert!(!broken(&row), "{length} {place} {normalise}");
                    for wrong in [f32::NAN, f32::INFINITY] {
                        row[place] = wrong;
                        assert!(broken(&row), "{} {length} {place} {normalise}", cpu.name());
                        let mut mean = Best::new(2, normalise);
                        take_scores(cpu, &row, Ids::From(0), &mut mean);
                        assert!(mean.is_broken());
                    }
                }
            }
        }
    }
}

#[test]
fn rows_in_parts_and_in_company_give_the_same_bits() {
    let mut numbers = Numbers::new(12);
    let (rows, length) = (3, 1500);
    let logits = numbers.floats(rows * length, 9.0);
    let logits = Mat::new(&logits, rows, length);
    for cpu in Cpu::all() {
        let mut whole = vec![Best::new(7, true); rows];
        take(cpu, logits, None, Ids::From(0), &mut whole);
        for (row, whole) in whole.iter().enumerate() {
            let mut parts = [Best::new(7, true)];
            parts[0].clear();
            for from in (0..length).step_by(2 * BLOCK) {
                let part = logits.row_range(row..row + 1);
                let part = part.column_range(from..length.min(from + 2 * BLOCK));
                take(cpu, part, None, Ids::From(from as u32), &mut parts);
            }
            assert_eq!(parts[0].candidates(), whole.candidates());
            assert_eq!(parts[0].log_normaliser().to_bits(), whole.log_normaliser().to_bits());
        }
    }
}

#[test]
fn large_logits_and_late_maxima_do_not_overflow() {
    for cpu in Cpu::all() {
        let row: Vec<f32> = (0..1024).map(|at| at as f32 * 10.0).collect();
        let mut best = [Best::new(2, true)];
        take(cpu, Mat::new(&row, 1, row.len()), None, Ids::From(0), &mut best);
        assert_eq!(best[0].candidates()[0], Candidate { id: 1023, logit: 10_230.0 });
        // ln(1 + e^-10 + ...) = 4.5e-5, less than half a unit of 10,230.
        assert_eq!(best[0].log_normaliser(), 10_230.0);
        let nothing = [f32::NEG_INFINITY, f32::NAN];
        let mut best = [Best::new(2, false)];
        take(cpu, Mat::new(&nothing, 1, 2), None, Ids::From(0), &mut best);
        assert!(best[0].candidates().is_empty());
    }
}

#[test]
fn scores_need_no_normaliser_and_lists_serve_again() {
    let scores = [-2.0, -0.5, f32::NEG_INFINITY, -0.5];
    for cpu in Cpu::all() {
        let mut best = Best::new(1, false);
        best.reset(2, true);
        take_scores(cpu, &scores, Ids::From(4), &mut best);
        let expected = [Candidate { id: 5, logit: -0.5 }, Candidate { id: 7, logit: -0.5 }];
        assert_eq!(best.candidates(), expected);
        assert_eq!(best.log_normaliser(), 0.0);
        best.reset(1, true);
        take(cpu, Mat::new(&[3.0], 1, 1), None, Ids::From(0), std::slice::from_mut(&mut best));
        assert_eq!(best.candidates(), [Candidate { id: 0, logit: 3.0 }]);
        assert_eq!(best.log_normaliser(), 3.0);
    }
}
