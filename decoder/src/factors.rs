//! Words of several factors, `surface|lemma|tag` (`docs/spec/phrase-decoding.md` 2.1, 3.1).
//!
//! A word of the vocabulary is the whole factored word: its factors, ordered by their numbers and
//! joined by the delimiter. An absent factor is empty: `|NN` has a tag and no surface.
//!
//! A table or model uses some of the factors. Its form of a word is found by splitting the word's
//! bytes. This is done once for the target words of the models, when they are loaded, and
//! for the words of each sentence when it is read. The search compares ids of whole words and does
//! not know about factors. Where all models use factor 0 alone there is no [`FactorScheme`], and a
//! word is its surface.

use std::borrow::Cow;

/// The highest number a factor may have; Moses stops at 3.
pub(crate) const MAX_FACTOR: usize = 15;

/// The way in which words are split into factors and printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactorSettings {
    /// The separator of factors; empty if words are never split.
    pub delimiter: String,
    /// The factors of the columns of an input word; `None` for 0, 1, 2 and so on.
    pub input: Option<Vec<usize>>,
    /// The factors that are printed.
    pub output: Vec<usize>,
    /// The separator in the output.
    pub output_delimiter: String,
    /// Whether all factors are printed.
    pub report_all_factors: bool,
    /// The factor of input words that holds the entity of a placeholder, which is printed.
    pub placeholder_factor: Option<usize>,
}

impl Default for FactorSettings {
    fn default() -> Self {
        FactorSettings {
            delimiter: "|".into(),
            input: None,
            output: vec![0],
            output_delimiter: "|".into(),
            report_all_factors: false,
            placeholder_factor: None,
        }
    }
}

/// The way in which words of a system are split into factors, and the factors that its models need.
#[derive(Clone, Debug)]
pub(crate) struct FactorScheme {
    settings: FactorSettings,
    /// The factors that input words must have, each with the feature or option that needs it.
    required_in_source: Vec<(usize, String)>,
    /// The same for target words.
    required_in_target: Vec<(usize, String)>,
}

/// A factor that a word lacks, and what needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MissingFactor<'a> {
    /// The factor's number.
    pub(crate) factor: usize,
    /// The feature or option that needs it.
    pub(crate) needed_by: &'a str,
}

impl std::fmt::Display for MissingFactor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "has no factor {}, which {} needs", self.factor, self.needed_by)
    }
}

impl FactorScheme {
    /// Returns the scheme of `settings`; `source` and `target` are the factors that the models use,
    /// with the models' names.
    pub(crate) fn new(
        settings: &FactorSettings,
        source: Vec<(usize, String)>,
        target: Vec<(usize, String)>,
    ) -> Self {
        let mut scheme = FactorScheme {
            settings: settings.clone(),
            required_in_source: source,
            required_in_target: target,
        };
        // The factor of placeholders is not required: only placeholders have it.
        let input = settings.input.iter().flatten();
        for &factor in input.filter(|&&factor| settings.placeholder_factor != Some(factor)) {
            scheme.required_in_source.push((factor, "input-factors".to_owned()));
        }
        for &factor in &settings.output {
            scheme.required_in_target.push((factor, "output-factors".to_owned()));
        }
        scheme
    }

    /// Returns the non-empty factors of a word as written in a file or a line.
    fn columns<'a>(&'a self, written: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        FactorSplit { rest: Some(written), delimiter: self.delimiter() }.filter(|f| !f.is_empty())
    }

    /// Returns the factor of input words that holds the entity of a placeholder.
    pub(crate) fn placeholder_factor(&self) -> Option<usize> {
        self.settings.placeholder_factor
    }

    fn delimiter(&self) -> &[u8] {
        self.settings.delimiter.as_bytes()
    }

    /// Stores the word written as `written` into `word`: column i is factor `order[i]`,
    /// or factor i without an order. Columns beyond the order are left out. A word of
    /// delimiters alone is its own surface.
    pub(crate) fn parse_word(&self, written: &[u8], order: Option<&[usize]>, word: &mut Vec<u8>) {
        word.clear();
        let mut factors: [&[u8]; MAX_FACTOR + 1] = [&[]; MAX_FACTOR + 1];
        let mut any = false;
        for (i, column) in self.columns(written).enumerate() {
            let factor = match order {
                Some(order) => order.get(i).copied(),
                None => Some(i),
            };
            if let Some(slot) = factor.and_then(|f| factors.get_mut(f)) {
                *slot = column;
                any = true;
            }
        }
        if !any {
            word.extend_from_slice(written);
            return;
        }
        self.join_factors(&factors, word);
    }

    /// Appends factors in order, without trailing absent ones.
    fn join_factors(&self, factors: &[&[u8]], word: &mut Vec<u8>) {
        let len = factors.iter().rposition(|f| !f.is_empty()).map_or(0, |last| last + 1);
        for (i, factor) in factors[..len].iter().enumerate() {
            if i > 0 {
                word.extend_from_slice(self.delimiter());
            }
            word.extend_from_slice(factor);
        }
    }

    /// Returns factor `number` of a word of the vocabulary; `None` if it is absent.
    pub(crate) fn factor<'a>(&'a self, word: &'a [u8], number: usize) -> Option<&'a [u8]> {
        let factor = FactorSplit { rest: Some(word), delimiter: self.delimiter() }.nth(number);
        factor.filter(|f| !f.is_empty())
    }

    /// Stores into `written` the form of `word` in a file whose columns are the factors `order`.
    /// Returns false if the word lacks one of these factors.
    pub(crate) fn project(&self, word: &[u8], order: &[usize], written: &mut Vec<u8>) -> bool {
        written.clear();
        for (i, &number) in order.iter().enumerate() {
            if i > 0 {
                written.extend_from_slice(self.delimiter());
            }
            match self.factor(word, number) {
                Some(factor) => written.extend_from_slice(factor),
                None => return false,
            }
        }
        true
    }

    /// Stores into `reduced` the word with only the factors `kept`.
    pub(crate) fn retain_factors(&self, word: &[u8], kept: &[usize], reduced: &mut Vec<u8>) {
        reduced.clear();
        let mut factors: [&[u8]; MAX_FACTOR + 1] = [&[]; MAX_FACTOR + 1];
        for &number in kept {
            factors[number] = self.factor(word, number).unwrap_or_default();
        }
        self.join_factors(&factors, reduced);
    }

    /// Removes factor `number` from `word` and returns it if it was present.
    pub(crate) fn remove_factor(&self, word: &mut Vec<u8>, number: usize) -> Option<Vec<u8>> {
        let taken = self.factor(word, number)?.to_vec();
        let kept: Vec<usize> = (0..=MAX_FACTOR).filter(|&f| f != number).collect();
        let mut rest = Vec::new();
        self.retain_factors(word, &kept, &mut rest);
        *word = rest;
        Some(taken)
    }

    /// Stores the input word `token` into `word`. Returns whether the token has more columns than
    /// input words have; the excess columns are left out.
    pub(crate) fn parse_input_word(&self, token: &[u8], word: &mut Vec<u8>) -> bool {
        let order = self.settings.input.as_deref();
        self.parse_word(token, order, word);
        self.columns(token).nth(order.map_or(MAX_FACTOR + 1, <[usize]>::len)).is_some()
    }

    /// Returns the factor of placeholders and the factors of the columns of the input, if the
    /// factor is not among them, so that no word can have it.
    pub(crate) fn unlisted_placeholder_factor(&self) -> Option<(usize, &[usize])> {
        let (factor, listed) = (self.settings.placeholder_factor?, self.settings.input.as_deref()?);
        (!listed.contains(&factor)).then_some((factor, listed))
    }

    /// Returns the first factor that `word` lacks although words of the input must have it.
    pub(crate) fn missing_in_source(&self, word: &[u8]) -> Option<MissingFactor<'_>> {
        self.first_missing(&self.required_in_source, word)
    }

    /// Returns the first factor that `word` lacks although target words must have it.
    pub(crate) fn missing_in_target(&self, word: &[u8]) -> Option<MissingFactor<'_>> {
        self.first_missing(&self.required_in_target, word)
    }

    fn first_missing<'a>(
        &'a self,
        needed: &'a [(usize, String)],
        word: &[u8],
    ) -> Option<MissingFactor<'a>> {
        let lacking = needed.iter().find(|(number, _)| self.factor(word, *number).is_none());
        lacking.map(|(factor, needed_by)| MissingFactor { factor: *factor, needed_by })
    }

    /// Returns `word` with `prefix` and `suffix` around its surface.
    pub(crate) fn mark_unknown(&self, word: &[u8], prefix: &[u8], suffix: &[u8]) -> Vec<u8> {
        let length = self.factor(word, 0).map_or(0, <[u8]>::len);
        [prefix, &word[..length], suffix, &word[length..]].concat()
    }

    /// Returns the word as it is printed: the output factors, or all of its factors. A factor that
    /// an unknown word lacks is `UNK`, as Moses prints it.
    pub(crate) fn output_form<'a>(&'a self, word: &'a [u8]) -> Cow<'a, [u8]> {
        let FactorSettings { output, output_delimiter, report_all_factors: report_all, .. } =
            &self.settings;
        let mut text = Vec::new();
        let mut push = |factor: &[u8]| {
            if !text.is_empty() {
                text.extend_from_slice(output_delimiter.as_bytes());
            }
            text.extend_from_slice(factor);
        };
        match (report_all, &output[..]) {
            (true, _) => self.columns(word).for_each(push),
            (false, [only]) => {
                return Cow::Borrowed(self.factor(word, *only).unwrap_or(b"UNK"));
            }
            (false, several) => {
                several.iter().for_each(|&f| push(self.factor(word, f).unwrap_or(b"UNK")));
            }
        }
        // A word of delimiters alone has no factors.
        if text.is_empty() { Cow::Borrowed(word) } else { Cow::Owned(text) }
    }
}

/// The parts between delimiters; the whole text if the delimiter is empty.
struct FactorSplit<'a> {
    rest: Option<&'a [u8]>,
    delimiter: &'a [u8],
}

impl<'a> Iterator for FactorSplit<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest.take()?;
        let found = match self.delimiter {
            [] => None,
            [byte] => memchr::memchr(*byte, rest),
            bytes => memchr::memmem::find(rest, bytes),
        };
        let Some(at) = found else { return Some(rest) };
        self.rest = Some(&rest[at + self.delimiter.len()..]);
        Some(&rest[..at])
    }
}

/// Parses a list of factors, `0,2`.
pub(crate) fn parse_factors(text: &str) -> Result<Vec<usize>, String> {
    let list = text.split(',').map(parse_factor).collect::<Result<Vec<usize>, _>>()?;
    match (1..list.len()).find(|&i| list[..i].contains(&list[i])) {
        Some(i) => Err(format!("factor {} is listed twice", list[i])),
        None => Ok(list),
    }
}

/// Parses the number of a factor.
pub(crate) fn parse_factor(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(factor) if factor <= MAX_FACTOR => Ok(factor),
        _ => Err(format!("{text:?} is not the number of a factor, 0 to {MAX_FACTOR}")),
    }
}

/// Returns factor 0 of a token: the text before its first bar. Empty factors are skipped; a token
/// of bars alone is its own surface.
pub(crate) fn surface(token: &[u8]) -> &[u8] {
    token.split(|&b| b == b'|').find(|factor| !factor.is_empty()).unwrap_or(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheme(delimiter: &str, output: &[usize]) -> FactorScheme {
        let settings = FactorSettings {
            delimiter: delimiter.into(),
            output: output.into(),
            output_delimiter: "/".into(),
            ..FactorSettings::default()
        };
        FactorScheme::new(&settings, vec![(0, "T".into()), (1, "M".into())], Vec::new())
    }

    fn placed(scheme: &FactorScheme, written: &str, order: Option<&[usize]>) -> String {
        let mut word = Vec::new();
        scheme.parse_word(written.as_bytes(), order, &mut word);
        String::from_utf8(word).unwrap()
    }

    #[test]
    fn columns_become_factors() {
        let bar = scheme("|", &[0]);
        assert_eq!(placed(&bar, "house|NN", None), "house|NN");
        assert_eq!(placed(&bar, "|house||NN|", None), "house|NN", "empty columns vanish");
        assert_eq!(placed(&bar, "NN", Some(&[1])), "|NN");
        assert_eq!(placed(&bar, "house|sg", Some(&[0, 2])), "house||sg");
        assert_eq!(placed(&bar, "sg|house", Some(&[2, 0])), "house||sg");
        assert_eq!(placed(&bar, "house|NN|sg", Some(&[0])), "house", "beyond the order");
        assert_eq!(placed(&bar, "||", None), "||");
        assert_eq!(placed(&scheme("_+", &[0]), "a|b_+c", None), "a|b_+c");
        assert_eq!(placed(&scheme("", &[0]), "a|b", None), "a|b");
    }

    #[test]
    fn factors_become_columns() {
        let bar = scheme("|", &[0]);
        let mut written = Vec::new();
        assert!(bar.project(b"house||sg", &[0, 2], &mut written));
        assert_eq!(written, b"house|sg");
        assert!(!bar.project(b"house||sg", &[0, 1], &mut written));
        assert!(!bar.project(b"house", &[1], &mut written));
        bar.retain_factors(b"house|NN|sg", &[1], &mut written);
        assert_eq!(written, b"|NN");
        let mut word = b"house|NN|sg".to_vec();
        assert_eq!(bar.remove_factor(&mut word, 1), Some(b"NN".to_vec()));
        assert_eq!(word, b"house||sg");
        assert_eq!(bar.remove_factor(&mut word, 3), None);
        assert_eq!(scheme("", &[0]).factor(b"a|b", 1), None);
    }

    #[test]
    fn missing_factors_are_named() {
        let bar = scheme("|", &[0]);
        assert_eq!(bar.missing_in_source(b"house|NN"), None);
        let missing = bar.missing_in_source(b"house").unwrap();
        assert_eq!(missing.to_string(), "has no factor 1, which M needs");
    }

    #[test]
    fn output_has_the_chosen_factors() {
        assert_eq!(*scheme("|", &[0]).output_form(b"house|NN"), *b"house");
        assert_eq!(*scheme("|", &[1, 0]).output_form(b"house|NN"), *b"NN/house");
        assert_eq!(*scheme("|", &[0, 1]).output_form(b"house"), *b"house/UNK");
        let mut all = scheme("|", &[0]);
        all.settings.report_all_factors = true;
        assert_eq!(*all.output_form(b"house||sg"), *b"house/sg");
        assert_eq!(*all.output_form(b"||"), *b"||");
        assert_eq!(all.mark_unknown(b"house|NN", b"<", b">"), b"<house>|NN");
    }

    #[test]
    fn surface_of_a_token() {
        assert_eq!(surface(b"house"), b"house");
        assert_eq!(surface(b"house|NN"), b"house");
        assert_eq!(surface(b"|house"), b"house");
        assert_eq!(surface(b"||"), b"||");
    }
}
