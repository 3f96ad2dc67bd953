//! Translation of texts: language detection, cutting into sentences, and joining the translations.
//! Tags of HTML come around the words that are aligned to the words in them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use miriam_textproc::{
    AlignedTranslation, DetectedLanguage, Document, DocumentCutter, DocumentFormat, Interrupted,
    LanguageDetector, LinkedText, Links, SentenceSplitter, Split,
};

use crate::app::{App, Translated, best_text};
use crate::background;
use crate::engine::{Hypothesis, RequestOptions, Sentence, SentenceResult};
use crate::models::{Registry, Route, languages};
use crate::refusal::{Refusal, RouteError};

/// A translated text.
#[derive(Default)]
pub(crate) struct TranslatedText {
    /// The best translation.
    pub text: String,
    /// Other translations, best first, without duplicates of each other or of the best one.
    pub alternatives: Vec<String>,
    /// The sentences of the source.
    pub source: Vec<String>,
    /// The results of these sentences.
    pub results: Vec<SentenceResult>,
}

/// A text with the language that it was translated from.
pub(crate) struct TextFromLanguage {
    /// The language, given or detected.
    pub language: DetectedLanguage,
    pub text: TranslatedText,
}

impl TranslatedText {
    /// Returns a text that is its own translation.
    fn unchanged(text: &str) -> Self {
        TranslatedText { text: text.to_owned(), ..TranslatedText::default() }
    }

    /// Returns the translations of the sentences.
    pub fn targets(&self) -> Vec<String> {
        self.results.iter().map(|result| best_text(result).into_owned()).collect()
    }
}

/// How the languages of several texts are detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detection {
    /// Each text by itself.
    Each,
    /// Each text by itself, among the source languages of the models, not their target languages.
    Sources,
    /// Like [`Detection::Each`], but a short text gets the language of all texts together if it can
    /// be in this language.
    Batch,
}

/// The languages between which texts are translated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestedLanguages<'a> {
    /// The language of the texts; `None` if it is detected.
    pub from: Option<&'a str>,
    /// The language of the translations.
    pub to: &'a str,
    /// How the language of the texts is detected.
    pub detection: Detection,
}

/// The largest number of characters of a text that is short for [`Detection::Batch`].
const MAX_SHORT_TEXT: usize = 40;

/// The confidence, from 0 to 100, below which a detected language without a route to the target
/// gives way to one with a route.
const UNSURE: f64 = 50.0;

impl Registry {
    /// Whether a text in the language `from` can be translated to the language `to`, or need not
    /// be.
    fn reaches(&self, from: &str, to: &str) -> bool {
        self.is_same_language(from, to) || self.route(None, Some(from), Some(to)).is_ok()
    }

    /// Detects the languages of texts among all that are served, or among the source languages
    /// with [`Detection::Sources`]. With a target `to`, a language without a route to it gives way
    /// to one with a route if its confidence is below [`UNSURE`], or always with
    /// [`Detection::Sources`]. If no language is found, as for a text without letters, the text is
    /// English with a confidence of 0. If English has no route, it is in the first source language
    /// with one, or else in the first of all.
    ///
    /// # Errors
    /// If `should_stop` returns true.
    fn detect(
        &self,
        texts: &[String],
        to: Option<&str>,
        detection: Detection,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Vec<DetectedLanguage>, Interrupted> {
        let sources = self.sources();
        let english = sources.iter().find(|code| code.eq_ignore_ascii_case("en"));
        // Routes are looked up once per language, not per text.
        let reached = RefCell::new(HashMap::new());
        let reaches = |code: &str, to: &str| {
            let found = reached.borrow().get(code).copied();
            found.unwrap_or_else(|| {
                let found = self.reaches(code, to);
                reached.borrow_mut().insert(code.to_owned(), found);
                found
            })
        };
        let is_possible = |code: &&&str| to.is_none_or(|to| reaches(code, to));
        let possible = english.filter(is_possible).or_else(|| sources.iter().find(is_possible));
        let default = possible.or(sources.first()).copied().unwrap_or_default();
        let languages = if detection == Detection::Sources { sources } else { self.languages() };
        let detector = LanguageDetector::new(languages.iter().copied());
        let detect = |text: &str| {
            let found = detector.detect(text)?;
            let Some(to) = to.filter(|to| !reaches(&found.code, to)) else {
                return Some(found);
            };
            let possible = languages.iter().copied().filter(|from| reaches(from, to));
            let other = if found.confidence < UNSURE || detection == Detection::Sources {
                LanguageDetector::new(possible).detect(text)
            } else {
                None
            };
            other.or(Some(found))
        };
        let whole = match detection {
            Detection::Batch if texts.len() > 1 => detect(&texts.join("\n")),
            _ => None,
        };
        let mut all = Vec::with_capacity(texts.len());
        for text in texts {
            if should_stop() {
                return Err(Interrupted);
            }
            let is_short = text.chars().nth(MAX_SHORT_TEXT).is_none();
            let shared =
                whole.as_ref().filter(|whole| is_short && can_be_in_language(text, &whole.code));
            let found = shared.cloned().or_else(|| detect(text));
            all.push(
                found.unwrap_or_else(|| DetectedLanguage {
                    code: default.to_owned(),
                    confidence: 0.0,
                }),
            );
        }
        Ok(all)
    }

    /// Whether two codes mean the same language among those that are served.
    fn is_same_language(&self, one: &str, other: &str) -> bool {
        let served: Vec<&str> = self.sources().into_iter().chain(self.targets()).collect();
        let language = languages::find(one, served.iter().copied());
        language.is_some() && language == languages::find(other, served.iter().copied())
    }
}

/// Whether a text can be in the language `code`, because it has no letters or letters of its
/// script.
fn can_be_in_language(text: &str, code: &str) -> bool {
    !text.chars().any(char::is_alphabetic) || LanguageDetector::new([code]).detect(text).is_some()
}

/// Returns a page without its tags, whose English names would mislead detection. Running text is
/// returned unchanged.
fn visible_text(
    text: &str,
    format: &DocumentFormat,
    should_stop: &dyn Fn() -> bool,
) -> Result<String, Interrupted> {
    let format = match format {
        DocumentFormat::Text(_) => return Ok(text.to_owned()),
        DocumentFormat::Html(_) => DocumentFormat::Html(Split::Lines),
        DocumentFormat::Markup(_, rules) => DocumentFormat::Markup(Split::Lines, Arc::clone(rules)),
    };
    let splitter = SentenceSplitter::new("");
    let cutter = DocumentCutter::new(format, &splitter).until(should_stop);
    let page = cutter.cut(text.as_bytes(), |_| 0)?;
    let blocks: Vec<&[u8]> = page.sentences().collect();
    Ok(String::from_utf8_lossy(&blocks.join(&b' ')).into_owned())
}

impl App {
    /// Translates running texts for a protocol that cannot report errors of single sentences.
    ///
    /// # Errors
    /// If a sentence has no translation, for example because it is too long for the model.
    pub(crate) async fn translate_texts(
        &self,
        route: &Route,
        texts: &[String],
        format: &DocumentFormat,
        options: RequestOptions,
        deadline: Instant,
    ) -> Result<Vec<TranslatedText>, Refusal> {
        let (texts, ..) =
            self.translate_texts_with_errors(route, texts, format, options, deadline).await?;
        refuse_untranslated(texts.iter().flat_map(|text| &text.results))?;
        Ok(texts)
    }

    /// Translates running texts. `options` apply to each sentence. Several translations of a
    /// sentence become alternatives of its text. Sentences may have errors in place of a
    /// translation. Also returns the time in the queue and the time of the search.
    pub(crate) async fn translate_texts_with_errors(
        &self,
        route: &Route,
        texts: &[String],
        format: &DocumentFormat,
        options: RequestOptions,
        deadline: Instant,
    ) -> Result<(Vec<TranslatedText>, Duration, Duration), Refusal> {
        let bytes = background::text_work(texts);
        let (models, own, format) = (route.clone(), texts.to_vec(), format.clone());
        let cutting = background::run_on_text(bytes, deadline, move |should_stop| {
            cut_texts(&models, &own, &format, should_stop)
        });
        let cut = cutting.await?;
        let all = cut.iter().flat_map(Document::sentences);
        let sentences =
            all.map(|text| Sentence { text: text.to_vec(), ..Sentence::default() }).collect();
        let has_tags = cut.iter().any(|text| text.needs_links().any(|needs| needs));
        let options =
            RequestOptions { raw: true, alignment: options.alignment || has_tags, ..options };
        let translated = self.translate(route, sentences, options, deadline).await?;
        let Translated { sentences, queued, searched } = translated;
        let first = route.models.first();
        let tag = first.and_then(|model| model.configuration.prefix_token.clone());
        let tag = tag.unwrap_or_default();
        let deadline = background::joining_deadline(deadline);
        let joining = background::run_on_text(bytes, deadline, move |should_stop| {
            join_texts(&cut, sentences, &tag, should_stop)
        });
        Ok((joining.await?, queued, searched))
    }

    /// Detects the languages of texts among those that are served; `to` is the language of the
    /// translations, if it is known.
    pub(crate) async fn detect(
        &self,
        texts: &[String],
        format: &DocumentFormat,
        to: Option<&str>,
        detection: Detection,
        deadline: Instant,
    ) -> Result<Vec<DetectedLanguage>, Refusal> {
        let registry = self.registry();
        if registry.sources().is_empty() {
            return Err(RouteError::NoLanguage("auto".into()).into());
        }
        let (own, format, to) = (texts.to_vec(), format.clone(), to.map(str::to_owned));
        let detecting =
            background::run_on_text(background::text_work(texts), deadline, move |should_stop| {
                let visible = own.iter().map(|text| visible_text(text, &format, should_stop));
                let visible = visible.collect::<Result<Vec<String>, Interrupted>>()?;
                registry.detect(&visible, to.as_deref(), detection, should_stop)
            });
        detecting.await
    }

    /// Translates texts between `languages`. A text that is in the target language stays unchanged.
    pub(crate) async fn translate_between(
        &self,
        texts: &[String],
        format: &DocumentFormat,
        languages: RequestedLanguages<'_>,
        options: impl Fn(&Route) -> RequestOptions,
        deadline: Instant,
    ) -> Result<Vec<TextFromLanguage>, Refusal> {
        let RequestedLanguages { from, to, detection } = languages;
        let registry = self.registry();
        let detected: Vec<DetectedLanguage> = match from {
            None => self.detect(texts, format, Some(to), detection, deadline).await?,
            Some(from) => {
                let given = DetectedLanguage { code: from.to_owned(), confidence: 100.0 };
                vec![given; texts.len()]
            }
        };
        // Texts of the same language are translated together, wherever they are.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by(|&one, &other| detected[one].code.cmp(&detected[other].code));
        let mut translated: Vec<Option<TranslatedText>> = texts.iter().map(|_| None).collect();
        for group in order.chunk_by(|&one, &other| detected[one].code == detected[other].code) {
            let from = &detected[group[0]].code;
            if registry.is_same_language(from, to) {
                for &index in group {
                    translated[index] = Some(TranslatedText::unchanged(&texts[index]));
                }
                continue;
            }
            let route = registry.route(None, Some(from), Some(to))?;
            let own: Vec<String> = group.iter().map(|&index| texts[index].clone()).collect();
            let options = options(&route);
            let found = self.translate_texts(&route, &own, format, options, deadline).await?;
            for (&index, text) in group.iter().zip(found) {
                translated[index] = Some(text);
            }
        }
        let results = detected.into_iter().zip(translated).map(|(language, text)| {
            TextFromLanguage { language, text: text.expect("each text is in a group") }
        });
        Ok(results.collect())
    }
}

/// Returns a refusal if a result has an error in place of a translation.
pub(crate) fn refuse_untranslated<'r>(
    results: impl IntoIterator<Item = &'r SentenceResult>,
) -> Result<(), Refusal> {
    match results.into_iter().find_map(SentenceResult::fatal_error) {
        Some(error) => Err(Refusal::Invalid(error.reason.clone())),
        None => Ok(()),
    }
}

/// Cuts texts for the models of `route`.
fn cut_texts(
    route: &Route,
    texts: &[String],
    format: &DocumentFormat,
    should_stop: &dyn Fn() -> bool,
) -> Result<Vec<Document>, Interrupted> {
    let first = route.models.first();
    let language = plain_code(route.from.as_deref().unwrap_or_default());
    let splitter = match first.and_then(|model| model.prefixes.as_ref()) {
        Some(prefixes) => SentenceSplitter::with_prefixes(&language, prefixes.clone()),
        None => SentenceSplitter::new(&language),
    };
    let cutter =
        DocumentCutter::new(format.clone(), &splitter).copying_numbers().until(should_stop);
    match first.and_then(|model| model.sentence_limit()) {
        None => texts.iter().map(|text| cutter.cut(text.as_bytes(), |_| 0)).collect(),
        Some((most, counter)) => {
            let cutter = cutter.within(most);
            texts
                .iter()
                .map(|text| cutter.cut(text.as_bytes(), |text: &[u8]| counter.count_tokens(text)))
                .collect()
        }
    }
}

/// Returns the code of a language in two letters, or in lower case if there is no such code.
pub(crate) fn plain_code(language: &str) -> String {
    miriam_nmt::language_code(language).unwrap_or_else(|| language.to_lowercase())
}

/// Joins the translations of the sentences of each text, which follow each other in `results`;
/// `tag` is that of [`join_text`].
fn join_texts(
    cut: &[Document],
    results: Vec<SentenceResult>,
    tag: &str,
    should_stop: &dyn Fn() -> bool,
) -> Result<Vec<TranslatedText>, Interrupted> {
    let mut results = results.into_iter();
    cut.iter()
        .map(|text| {
            if should_stop() {
                return Err(Interrupted);
            }
            let count = text.sentences().count();
            let results: Vec<SentenceResult> = results.by_ref().take(count).collect();
            Ok(join_text(text, results, tag))
        })
        .collect()
}

/// Joins the best translations of the sentences to a text, then the second best ones, and so on.
/// `tag` is the token that the model puts before its sentences, or empty.
fn join_text(cut: &Document, results: Vec<SentenceResult>, tag: &str) -> TranslatedText {
    let ranks = results.iter().map(|result| result.translations.len()).max().unwrap_or(1).max(1);
    let ranked = |rank: usize| {
        let sentences = cut.sentences().zip(cut.needs_links()).zip(&results);
        let texts = sentences.map(|((sentence, needs_links), result)| {
            let last = result.translations.len().saturating_sub(1);
            let Some(found) = result.translations.get(rank.min(last)) else {
                return LinkedText::default();
            };
            let text = String::from_utf8_lossy(&found.text).trim_end().as_bytes().to_vec();
            let mut links = Links::default();
            if needs_links {
                links = find_links(sentence, result, found, &text, tag);
            }
            LinkedText { text, links }
        });
        let texts: Vec<LinkedText> = texts.collect();
        let joined = cut.join(texts.iter().map(AlignedTranslation::from));
        String::from_utf8_lossy(&joined).into_owned()
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

/// Returns the links between the bytes of `sentence` and the bytes of `text`, which is the text of
/// its translation `found`. `tag` is the token that the model puts before the sentence, or empty.
fn find_links(
    sentence: &[u8],
    result: &SentenceResult,
    found: &Hypothesis,
    text: &[u8],
    tag: &str,
) -> Links {
    let source = (sentence, result.source.iter().map(Vec::as_slice));
    let target = (text, found.tokens.iter().map(Vec::as_slice));
    found.links().locate(source, result.num_tags(tag), target)
}
