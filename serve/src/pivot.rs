//! Two models in a row, through a pivot language: their results are joined to those of one model
//! from the client's language to the target language.

use std::time::Instant;

use miriam_textproc::{Interrupted, TokenLinks};

use crate::background;
use crate::engine::{Hypothesis, RequestOptions, Sentence, SentenceResult};
use crate::models::Route;
use crate::refusal::Refusal;

/// Rejects options whose results would be about the pivot language, if there are two models.
///
/// # Errors
/// If `route` has two models, and the search graph or the translation options of the second one are
/// wanted, or output lines although it prints alignments in them.
pub(crate) fn check_options(route: &Route, options: &RequestOptions) -> Result<(), Refusal> {
    let [_, model] = &route.models[..] else { return Ok(()) };
    let prints_alignment =
        model.translator.as_ref().is_some_and(|translator| translator.prints_alignment());
    let unsupported = [
        (options.graph, "have no search graph"),
        (options.translation_options, "have no translation options"),
        (
            options.lines && prints_alignment,
            "print no alignment; remove `alignment` from the configuration of the second one",
        ),
    ];
    match unsupported.into_iter().find(|(is_wanted, _)| *is_wanted) {
        Some((_, what)) => Err(Refusal::Invalid(format!("two models in a row {what}"))),
        None => Ok(()),
    }
}

/// Takes prefixes and constraints out of the sentences for two models in a row, because they are in
/// the target language. Returns sentences for the second model that have nothing else; none if
/// there is only one model.
pub(crate) fn take_forced(route: &Route, sentences: &mut [Sentence]) -> Vec<Sentence> {
    if route.models.len() < 2 {
        return Vec::new();
    }
    let forced = sentences.iter_mut().map(|sentence| Sentence {
        prefix: std::mem::take(&mut sentence.prefix),
        constraints: std::mem::take(&mut sentence.constraints),
        ..Sentence::default()
    });
    forced.collect()
}

/// Returns `results`, the translations of the first model's translations `pivots`, as translations
/// of the first model's sentences. `tag` is the token that the second model puts before its
/// sentences, or empty; with `None` the results have no links.
pub(crate) async fn join_results(
    pivots: Vec<SentenceResult>,
    results: Vec<SentenceResult>,
    tag: Option<String>,
    deadline: Instant,
) -> Result<Vec<SentenceResult>, Refusal> {
    let translations = results.iter().flat_map(|result| &result.translations);
    let bytes: usize =
        if tag.is_some() { translations.map(|found| found.text.len()).sum() } else { 0 };
    let deadline = background::joining_deadline(deadline);
    let joining = background::run_on_text(bytes, deadline, move |should_stop| {
        let pairs = pivots.into_iter().zip(results);
        pairs
            .map(|(pivot, result)| {
                if should_stop() {
                    return Err(Interrupted);
                }
                Ok(join(pivot, result, tag.as_deref()))
            })
            .collect()
    });
    joining.await
}

/// Joins the results of both models for a sentence, with the errors of both. `tag` is as in
/// [`join_results`].
fn join(pivot: SentenceResult, mut result: SentenceResult, tag: Option<&str>) -> SentenceResult {
    if pivot.fatal_error().is_some() {
        // The second model translated an empty text, so its translation means nothing.
        let translations = vec![Hypothesis::default()];
        return SentenceResult {
            source: pivot.source,
            translations,
            errors: pivot.errors,
            ..result
        };
    }
    result.errors.splice(0..0, pivot.errors);
    fn tokens(tokens: &[Vec<u8>]) -> impl Iterator<Item = &[u8]> {
        tokens.iter().map(Vec::as_slice)
    }
    let between = pivot.translations.into_iter().next().unwrap_or_default();
    let first = between.links();
    let num_tags = tag.map_or(0, |tag| result.num_tags(tag));
    let source = std::mem::replace(&mut result.source, pivot.source);
    for found in &mut result.translations {
        let mut links = TokenLinks::default();
        if tag.is_some() {
            let source = (tokens(&source), num_tags);
            links = first.then(&found.links(), &between.text, tokens(&between.tokens), source);
        }
        found.alignment = links.points().iter().map(|&(s, t)| (s as u32, t as u32)).collect();
        found.attention.clear();
        found.phrases.clear();
        found.pivot_links = Some(links);
    }
    result
}
