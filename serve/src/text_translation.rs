//! Translating texts: cutting them, finding out their language, and joining what their sentences
//! become, tags of HTML around the words that are aligned with theirs.

use std::time::{Duration, Instant};

use miriam_textproc::{DetectedLanguage, locate_tokens};

use crate::app::{App, Refusal, best_text};
use crate::engine::{Hypothesis, RequestOptions, Sentence, SentenceResult};
use crate::models::{Registry, Route, RouteError, languages};
use crate::running_text::{Link, LinkedText, SegmentedText, Split, TextFormat};

/// A translated text.
pub(crate) struct TranslatedText {
    /// The best translation.
    pub text: String,
    /// Others, best first, none twice.
    pub alternatives: Vec<String>,
    /// The sentences of the source.
    pub source: Vec<String>,
    /// Their results.
    pub results: Vec<SentenceResult>,
}

/// A text with the language that it was translated from.
pub(crate) struct TextFromLanguage {
    /// The language, as it was given or found out.
    pub language: DetectedLanguage,
    pub text: TranslatedText,
}

impl TranslatedText {
    /// A text that is its own translation.
    fn unchanged(text: &str) -> Self {
        let (alternatives, source, results) = Default::default();
        TranslatedText { text: text.to_owned(), alternatives, source, results }
    }

    /// The translations of its sentences.
    pub fn targets(&self) -> Vec<String> {
        self.results.iter().map(|result| best_text(result).into_owned()).collect()
    }

    /// What went wrong with a sentence that has no translation.
    pub fn malformed(&self) -> Option<&str> {
        let mut errors = self.results.iter().flat_map(|result| &result.errors);
        errors.find(|error| error.kind == "malformed").map(|error| &*error.reason)
    }
}

impl Registry {
    /// The likeliest language of `text` among those that are served, or the first of them where
    /// nothing is known.
    ///
    /// # Errors
    /// If none is served.
    pub(crate) fn detect(
        &self,
        text: &str,
        format: TextFormat,
    ) -> Result<DetectedLanguage, RouteError> {
        let sources = self.sources();
        let first = sources.first().ok_or_else(|| RouteError::NoLanguage("auto".into()))?;
        let unknown = DetectedLanguage { code: (*first).to_owned(), confidence: 0.0 };
        let detector = miriam_textproc::LanguageDetector::new(sources);
        let found = match format {
            TextFormat::Plain(_) => detector.detect(text),
            // The names of tags are English.
            TextFormat::Html(_) => {
                let page = SegmentedText::new(text, TextFormat::Html(Split::Lines), "");
                let blocks: Vec<&[u8]> = page.sentences().collect();
                detector.detect(&String::from_utf8_lossy(&blocks.join(&b' ')))
            }
        };
        Ok(found.unwrap_or(unknown))
    }

    /// Whether two codes are of one language among those that are served.
    fn is_same_language(&self, one: &str, other: &str) -> bool {
        let find = |code: &str| {
            let served = self.sources().into_iter().chain(self.targets());
            languages::find(code, served).map(str::to_owned)
        };
        find(one).is_some() && find(one) == find(other)
    }
}

impl App {
    /// Translates running texts. `options` are those of each sentence; several translations of
    /// a sentence become alternatives of its text.
    pub(crate) async fn translate_texts(
        &self,
        route: &Route,
        texts: &[String],
        format: TextFormat,
        options: RequestOptions,
        deadline: Instant,
    ) -> Result<(Vec<TranslatedText>, Duration, Duration), Refusal> {
        let language = route.from.clone().unwrap_or_default();
        let limit = route.models.first().and_then(|model| model.sentence_limit());
        let cut = |text: &String| match limit {
            None => SegmentedText::new(text, format, &language),
            Some((most, counter)) => {
                let length = |text: &[u8]| counter.count_tokens(text);
                SegmentedText::within(text, format, &language, most, &length)
            }
        };
        let cut: Vec<SegmentedText> = texts.iter().map(cut).collect();
        let all = cut.iter().flat_map(SegmentedText::sentences);
        let sentence = |text: &[u8]| Sentence { text: text.to_vec(), ..Sentence::default() };
        let sentences = all.map(sentence).collect();
        let has_tags = cut.iter().any(|text| text.needs_links().any(|needs| needs));
        let options =
            RequestOptions { raw: true, alignment: options.alignment || has_tags, ..options };
        let translated = self.translate(route, sentences, options, deadline).await?;
        let mut results = translated.sentences.into_iter();
        let mut pivots = translated.pivots.into_iter();
        let tags: Vec<&str> = route
            .models
            .iter()
            .map(|model| model.configuration.prefix_token.as_deref().unwrap_or_default())
            .collect();
        let texts = cut.into_iter().map(|text| {
            let count = text.sentences().count();
            let results: Vec<SentenceResult> = results.by_ref().take(count).collect();
            let pivots: Vec<SentenceResult> = pivots.by_ref().take(count).collect();
            join_text(&text, results, &pivots, &tags)
        });
        let texts = texts.collect();
        Ok((texts, translated.queued, translated.searched))
    }

    /// Translates texts to the language `to`, each from the language `from` or, without one,
    /// from the language that it is in; a text in the language `to` stays as it is.
    pub(crate) async fn translate_between(
        &self,
        texts: &[String],
        format: TextFormat,
        (from, to): (Option<&str>, &str),
        options: impl Fn(&Route) -> RequestOptions,
        deadline: Instant,
    ) -> Result<Vec<TextFromLanguage>, Refusal> {
        let registry = self.registry();
        let languages: Vec<DetectedLanguage> = match from {
            None => texts
                .iter()
                .map(|text| registry.detect(text, format))
                .collect::<Result<_, RouteError>>()?,
            Some(from) => {
                let given = DetectedLanguage { code: from.to_owned(), confidence: 100.0 };
                vec![given; texts.len()]
            }
        };
        let mut results = Vec::with_capacity(texts.len());
        // Texts of one language in a row are translated together.
        let mut rest = texts;
        for alike in languages.chunk_by(|one, other| one.code == other.code) {
            let (now, later) = rest.split_at(alike.len());
            rest = later;
            let from = &alike[0].code;
            if registry.is_same_language(from, to) {
                results.extend(now.iter().map(|text| TranslatedText::unchanged(text)));
                continue;
            }
            let route = registry.route(None, Some(from), Some(to))?;
            let options = options(&route);
            results.extend(self.translate_texts(&route, now, format, options, deadline).await?.0);
        }
        let together = languages.into_iter().zip(results);
        Ok(together.map(|(language, text)| TextFromLanguage { language, text }).collect())
    }
}

/// The text of the best translations of its sentences, and of the second best ones, and so on.
/// `pivots` are the sentences in the pivot language, if there is one; `tags` are the tokens that
/// each model puts before its sentences.
fn join_text(
    cut: &SegmentedText,
    results: Vec<SentenceResult>,
    pivots: &[SentenceResult],
    tags: &[&str],
) -> TranslatedText {
    let ranks = results.iter().map(|result| result.translations.len()).max().unwrap_or(1).max(1);
    let ranked = |rank: usize| {
        let sentences = cut.sentences().zip(cut.needs_links()).zip(&results).enumerate();
        let texts = sentences.map(|(number, ((sentence, needs_links), result))| {
            let last = result.translations.len().saturating_sub(1);
            let Some(found) = result.translations.get(rank.min(last)) else {
                return LinkedText::default();
            };
            let text = String::from_utf8_lossy(&found.text).trim_end().as_bytes().to_vec();
            let mut links = Vec::new();
            if needs_links {
                let tag = |step: usize| tags.get(step).copied().unwrap_or_default();
                links = match pivots
                    .get(number)
                    .and_then(|pivot| Some((pivot, pivot.translations.first()?)))
                {
                    None => find_links(sentence, result, found, &text, tag(0)),
                    Some((pivot, between)) => {
                        let first = find_links(sentence, pivot, between, &between.text, tag(0));
                        let second = find_links(&between.text, result, found, &text, tag(1));
                        compose(&first, &second)
                    }
                };
            }
            LinkedText { text, links }
        });
        cut.join(&texts.collect::<Vec<LinkedText>>())
    };
    let text = ranked(0);
    let mut alternatives: Vec<String> = Vec::new();
    for other in (1..ranks).map(ranked) {
        if other != text && !alternatives.contains(&other) {
            alternatives.push(other);
        }
    }
    let source = cut.sentences().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    TranslatedText { text, alternatives, source: source.collect(), results }
}

/// Which bytes of `text`, the translation `found` of `sentence`, come from which bytes of it.
fn find_links(
    sentence: &[u8],
    result: &SentenceResult,
    found: &Hypothesis,
    text: &[u8],
    tag: &str,
) -> Vec<Link> {
    // A token that a model puts before its sentences is in no sentence.
    let num_tags = usize::from(
        !tag.is_empty() && result.source.first().is_some_and(|first| first == tag.as_bytes()),
    );
    let source = locate_tokens(sentence, result.source[num_tags..].iter().map(Vec::as_slice));
    let target = locate_tokens(text, found.tokens.iter().map(Vec::as_slice));
    let points = alignment_points(found);
    let link = |(s, t): (u32, u32)| {
        let s = (s as usize).checked_sub(num_tags)?;
        Some((source.get(s)?.clone(), target.get(t as usize)?.clone()))
    };
    points.into_iter().filter_map(link).collect()
}

/// The links of words; in a phrase without any all words are aligned.
fn alignment_points(found: &Hypothesis) -> Vec<(u32, u32)> {
    let mut points = found.alignment.clone();
    for phrase in &found.phrases {
        let targets = phrase.target.0..=phrase.target.1;
        if !found.alignment.iter().any(|&(_, t)| targets.contains(&i64::from(t))) {
            let sources = phrase.source.0..=phrase.source.1;
            points.extend(sources.flat_map(|s| targets.clone().map(move |t| (s, t as u32))));
        }
    }
    points
}

/// The links over a text in between: those of bytes that meet there.
fn compose(first: &[Link], second: &[Link]) -> Vec<Link> {
    let meet = |one: &std::ops::Range<usize>, other: &std::ops::Range<usize>| {
        one.start.max(other.start) < one.end.min(other.end)
    };
    let of_first = |(source, between): &Link| {
        let matching = second.iter().filter(|(other, _)| meet(between, other));
        matching.map(|(_, target)| (source.clone(), target.clone())).collect::<Vec<Link>>()
    };
    let mut links: Vec<Link> = first.iter().flat_map(of_first).collect();
    links.sort_by_key(|(source, target)| (source.start, target.start));
    links.dedup();
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Phrase;

    #[test]
    fn links_go_through_a_text_in_between() {
        let first = [(0..3, 4..7), (4..7, 0..3)];
        let second = [(0..3, 8..9), (4..7, 0..2), (2..5, 20..21)];
        let all = [(0..3, 0..2), (0..3, 20..21), (4..7, 8..9), (4..7, 20..21)];
        assert_eq!(compose(&first, &second), all);
    }

    #[test]
    fn words_of_a_phrase_without_links_are_all_linked() {
        let phrase = |source, target| Phrase { source, target };
        let found = Hypothesis {
            alignment: vec![(0, 0)],
            phrases: vec![phrase((0, 0), (0, 0)), phrase((1, 2), (1, 1)), phrase((3, 3), (2, 1))],
            ..Hypothesis::default()
        };
        assert_eq!(alignment_points(&found), [(0, 0), (1, 1), (2, 1)]);
        let result = SentenceResult {
            source: [">>fr<<", "a", "bc"].map(Into::into).into(),
            ..SentenceResult::default()
        };
        let found = Hypothesis {
            tokens: vec!["x".into(), "y".into()],
            alignment: vec![(0, 0), (1, 1), (2, 0)],
            ..Hypothesis::default()
        };
        let links = find_links(b"a bc", &result, &found, b"x y", ">>fr<<");
        assert_eq!(links, [(0..1, 2..3), (2..4, 0..1)]);
    }
}
