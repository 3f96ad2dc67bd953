//! Embeddings against arithmetic.

use super::*;
use crate::pack::{Source, WeightsF32, WeightsI8, WeightsI16};

#[test]
fn waves_are_marians_or_ctranslate2s() {
    // Width 4: frequencies 1 and 1/10000 in Marian, 1 and 1/100 in CTranslate2.
    for (waves, slow) in [(Waves::Marian, 1e-4f64), (Waves::CTranslate2, 1e-2)] {
        let mut out = vec![9.0; 3 * 4];
        sinusoids(waves, MatMut::new(&mut out, 3, 4));
        for position in 0..3 {
            let t = position as f64;
            let expected = [t.sin(), (slow * t).sin(), t.cos(), (slow * t).cos()];
            for (found, expected) in out[4 * position..].iter().zip(expected) {
                assert!((f64::from(*found) - expected).abs() < 1e-7);
            }
        }
    }
}

#[test]
fn vectors_are_scaled_and_marked() {
    let table: Vec<f32> = (0..5 * 3).map(|at| at as f32 - 4.0).collect();
    let marks = [0.0, 0.0, 0.0, 0.25, 0.5, 0.75];
    let rows = Mat::new(&table, 5, 3);
    let source = Source::outputs_by_inputs(rows);
    let f = WeightsF32::pack(source).unwrap();
    let s = WeightsI16::quantise(source).unwrap();
    let b = WeightsI8::quantise(source).unwrap();
    let all = [
        (Embeddings::Rows(rows), 0.0),
        (Embeddings::F32(f.view()), 0.0),
        (Embeddings::I16(s.view()), 2.0 * 10.0 / 16_382.0 + 1e-5),
        (Embeddings::I8(b.view()), 2.0 * 10.0 / 254.0 + 1e-5),
    ];
    for (embeddings, most) in all {
        assert_eq!((embeddings.words(), embeddings.width()), (5, 3));
        let mut out = [0.0; 9];
        let positions = Some((Mat::new(&marks, 2, 3), &[1u32, 0, 1][..]));
        embed(embeddings, &[Some(4), Some(0), None], 2.0, positions, MatMut::new(&mut out, 3, 3));
        let expected = [16.25, 18.5, 20.75, -8.0, -6.0, -4.0, 0.25, 0.5, 0.75];
        for (found, expected) in out.iter().zip(expected) {
            assert!((found - expected).abs() <= most, "{out:?}");
        }
    }
}
