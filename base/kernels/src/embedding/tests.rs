//! Embeddings compared with arithmetic.

use super::*;

#[test]
fn sinusoids_match_marian_and_ctranslate2() {
    // Width 4: frequencies 1 and 1/10000 in Marian, 1 and 1/100 in CTranslate2.
    for (kind, frequency) in [(SinusoidKind::Marian, 1e-4f64), (SinusoidKind::CTranslate2, 1e-2)] {
        let mut out = vec![9.0; 3 * 4];
        fill_sinusoids(kind, MatMut::new(&mut out, 3, 4));
        for position in 0..3 {
            let t = position as f64;
            let expected = [t.sin(), (frequency * t).sin(), t.cos(), (frequency * t).cos()];
            for (found, expected) in out[4 * position..].iter().zip(expected) {
                assert!((f64::from(*found) - expected).abs() < 1e-7);
            }
        }
    }
}

#[test]
fn embeddings_are_scaled_and_positions_added() {
    let table: Vec<f32> = (0..5 * 3).map(|at| at as f32 - 4.0).collect();
    let encodings = [0.0, 0.0, 0.0, 0.25, 0.5, 0.75];
    let table = row_lookup(MatRef::new(&table, 5, 3));
    let encodings = row_lookup(MatRef::new(&encodings, 2, 3));
    let mut out = [0.0; 9];
    let positional: Option<(EmbeddingLookup, &[u32])> = Some((&encodings, &[1, 0, 1]));
    let into = MatMut::new(&mut out, 3, 3);
    embed(&table, &[Some(4), Some(0), None], 2.0, positional, into, &mut vec![7.0; 9]);
    assert_eq!(out, [16.25, 18.5, 20.75, -8.0, -6.0, -4.0, 0.25, 0.5, 0.75]);
}
