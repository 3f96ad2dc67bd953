//! Replacement of unknown tokens of a translation by source words.

use super::Translation;
use super::alignment::argmax;

/// Returns, for each unknown token of `translation`, its position and the position of the source
/// token with the highest attention. `source_words` is the length of the source without `</s>`,
/// which is never a replacement. Unknown tokens without an alignment are left out.
pub fn replacements(
    translation: &Translation,
    unknown: u32,
    source_words: usize,
) -> Vec<(usize, usize)> {
    let rows = translation.tokens.iter().zip(&translation.alignment).enumerate();
    let unknown = rows.filter(|(_, (word, _))| **word == unknown);
    unknown
        .filter_map(|(place, (_, weights)): (usize, (&u32, &Vec<f32>))| {
            let words = &weights[..weights.len().min(source_words)];
            argmax(words).map(|source| (place, source))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_eos_is_never_a_replacement() {
        let translation = Translation {
            tokens: vec![1, 7, 1],
            alignment: vec![vec![0.2, 0.3, 0.5], vec![1.0, 0.0, 0.0], vec![0.6, 0.4, 0.0]],
            ..Translation::default()
        };
        assert_eq!(replacements(&translation, 1, 2), [(0, 1), (2, 0)]);
        assert_eq!(replacements(&translation, 1, 0), []);
        assert_eq!(replacements(&translation, 9, 2), []);
    }
}
