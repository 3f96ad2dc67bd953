//! Top-k compared with a sort of all logits.

use super::*;
use crate::testing::TestRng;

/// Returns the candidates sorted by logit, then id; and the logarithm of the sum of exponentials.
fn by_sorting(row: &[f32], bias: &[f32], ids: ColumnIds, most: usize) -> (Vec<TokenLogit>, f64) {
    let mut all: Vec<TokenLogit> = (0..row.len())
        .map(|column| TokenLogit { id: ids.id(column), logit: row[column] + bias[column] })
        .collect();
    let sum: f64 = all.iter().map(|candidate| f64::from(candidate.logit).exp()).sum();
    all.retain(|candidate| candidate.logit > f32::NEG_INFINITY);
    all.sort_by(|a, b| b.logit.total_cmp(&a.logit).then(a.id.cmp(&b.id)));
    all.truncate(most);
    (all, sum.ln())
}

#[test]
fn topk_equals_a_sort() {
    let mut numbers = TestRng::new(11);
    for cpu in Cpu::all() {
        for (length, most) in
            [(1, 1), (3, 5), (16, 1), (255, 6), (300, 12), (5000, 6), (2048, 1), (70, 0)]
        {
            let mut row = numbers.floats(length, 15.0);
            // Coarse numbers, so that many are equal.
            row.iter_mut().for_each(|x| *x = x.round());
            row[length / 2] = f32::NEG_INFINITY;
            let bias: Vec<f32> = (0..length).map(|_| numbers.integer(-3, 3) as f32).collect();
            let list: Vec<u32> = (0..length as u32).map(|at| 3 * at + 7).collect();
            for ids in [ColumnIds::Consecutive(5), ColumnIds::Shortlist(&list)] {
                let (expected, log_sum) = by_sorting(&row, &bias, ids, most);
                let mut best = [TopK::new(most, true)];
                update_topk(cpu, MatRef::new(&row, 1, length), Some(&bias), ids, &mut best);
                assert_eq!(best[0].candidates(), expected, "{} {length} {most}", cpu.name());
                if length > 1 {
                    let error = f64::from(best[0].log_normalizer()) - log_sum;
                    assert!(error.abs() < 3e-6, "{error}");
                }
                let mut greedy = [TopK::new(most, false)];
                update_topk(cpu, MatRef::new(&row, 1, length), Some(&bias), ids, &mut greedy);
                assert_eq!(greedy[0].candidates(), expected);
            }
        }
    }
}

#[test]
fn non_finite_logits_are_reported_with_and_without_the_sum() {
    let mut numbers = TestRng::new(13);
    for cpu in Cpu::all() {
        for length in [1, 15, 16, 300, 1000] {
            for place in [0, length / 2, length - 1] {
                for normalize in [false, true] {
                    let mut row = numbers.floats(length, 9.0);
                    let broken = |row: &[f32]| {
                        let mut best = [TopK::new(2, normalize)];
                        update_topk(
                            cpu,
                            MatRef::new(row, 1, length),
                            None,
                            ColumnIds::Consecutive(0),
                            &mut best,
                        );
                        best[0].has_non_finite()
                    };
                    row[place] = f32::NEG_INFINITY;
                    assert!(!broken(&row), "{length} {place} {normalize}");
                    for wrong in [f32::NAN, f32::INFINITY] {
                        row[place] = wrong;
                        assert!(broken(&row), "{} {length} {place} {normalize}", cpu.name());
                        let mut mean = TopK::new(2, normalize);
                        update_topk_from_scores(cpu, &row, ColumnIds::Consecutive(0), &mut mean);
                        assert!(mean.has_non_finite());
                    }
                }
            }
        }
    }
}

#[test]
fn rows_in_parts_and_in_batches_give_the_same_bits() {
    let mut numbers = TestRng::new(12);
    let (rows, length) = (3, 1500);
    let logits = numbers.floats(rows * length, 9.0);
    let logits = MatRef::new(&logits, rows, length);
    for cpu in Cpu::all() {
        let mut whole = vec![TopK::new(7, true); rows];
        update_topk(cpu, logits, None, ColumnIds::Consecutive(0), &mut whole);
        for (row, whole) in whole.iter().enumerate() {
            let mut parts = [TopK::new(7, true)];
            parts[0].clear();
            for from in (0..length).step_by(2 * TOPK_BLOCK) {
                let part = logits.row_range(row..row + 1);
                let part = part.column_range(from..length.min(from + 2 * TOPK_BLOCK));
                update_topk(cpu, part, None, ColumnIds::Consecutive(from as u32), &mut parts);
            }
            assert_eq!(parts[0].candidates(), whole.candidates());
            assert_eq!(parts[0].log_normalizer().to_bits(), whole.log_normalizer().to_bits());
        }
    }
}

#[test]
fn large_logits_and_late_maxima_do_not_overflow() {
    for cpu in Cpu::all() {
        let row: Vec<f32> = (0..1024).map(|at| at as f32 * 10.0).collect();
        let mut best = [TopK::new(2, true)];
        update_topk(
            cpu,
            MatRef::new(&row, 1, row.len()),
            None,
            ColumnIds::Consecutive(0),
            &mut best,
        );
        assert_eq!(best[0].candidates()[0], TokenLogit { id: 1023, logit: 10_230.0 });
        // ln(1 + e^-10 + ...) = 4.5e-5, less than half a unit in the last place of
        // 10,230.
        assert_eq!(best[0].log_normalizer(), 10_230.0);
        let nothing = [f32::NEG_INFINITY, f32::NAN];
        let mut best = [TopK::new(2, false)];
        update_topk(cpu, MatRef::new(&nothing, 1, 2), None, ColumnIds::Consecutive(0), &mut best);
        assert!(best[0].candidates().is_empty());
    }
}

#[test]
fn scores_need_no_normalizer_and_lists_are_reused() {
    let scores = [-2.0, -0.5, f32::NEG_INFINITY, -0.5];
    for cpu in Cpu::all() {
        let mut best = TopK::new(1, false);
        best.reset(2, true);
        update_topk_from_scores(cpu, &scores, ColumnIds::Consecutive(4), &mut best);
        let expected = [TokenLogit { id: 5, logit: -0.5 }, TokenLogit { id: 7, logit: -0.5 }];
        assert_eq!(best.candidates(), expected);
        assert_eq!(best.log_normalizer(), 0.0);
        best.reset(1, true);
        update_topk(
            cpu,
            MatRef::new(&[3.0], 1, 1),
            None,
            ColumnIds::Consecutive(0),
            std::slice::from_mut(&mut best),
        );
        assert_eq!(best.candidates(), [TokenLogit { id: 0, logit: 3.0 }]);
        assert_eq!(best.log_normalizer(), 3.0);
    }
}
