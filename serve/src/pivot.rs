//! Two models in a row, through a pivot language: their results become those of one model, which
//! translates the sentences of the client.

use std::time::Instant;

use miriam_textproc::{Interrupted, TokenLinks};

use crate::background;
use crate::engine::{Hypothesis, RequestOptions, Sentence, SentenceResult};
use crate::models::Route;
use crate::refusal::Refusal;

/// Refuses what two models in a row do not have, because it would belong to the pivot language.
///
/// # Errors
/// If `route` has two models, and the search graph, the translation options or a printed alignment
/// of the second one is wanted.
pub(crate) fn check_options(route: &Route, options: &RequestOptions) -> Result<(), Refusal> {
    let [_, model] = &route.models[..] else { return Ok(()) };
    let prints_alignment = model.translator.as_ref().is_some_and(|one| one.prints_alignment());
    let lacking = [
        (options.graph, "have no search graph"),
        (options.translation_options, "have no translation options"),
        (
            options.lines && prints_alignment,
            "print no alignment; leave it out of the second one's file",
        ),
    ];
    match lacking.into_iter().find(|(is_wanted, _)| *is_wanted) {
        Some((_, what)) => Err(Refusal::Invalid(format!("two models in a row {what}"))),
        None => Ok(()),
    }
}

/// Takes prefixes and constraints from the sentences of two models in a row. Clients give them in
/// the target language, so they are for the second model.
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

/// Returns `results`, the translations of `pivots`, as translations of the first model's sentences.
/// With `has_links` they have links. `tag` is the token that the second model puts before its
/// sentences, or empty.
pub(crate) async fn join_results(
    pivots: Vec<SentenceResult>,
    results: Vec<SentenceResult>,
    (has_links, tag): (bool, String),
    deadline: Instant,
) -> Result<Vec<SentenceResult>, Refusal> {
    let translations = results.iter().flat_map(|result| &result.translations);
    let bytes: usize = if has_links { translations.map(|found| found.text.len()).sum() } else { 0 };
    let deadline = background::joining_deadline(deadline);
    let joining = background::run_on_text(bytes, deadline, move |should_stop| {
        let pairs = pivots.into_iter().zip(results);
        pairs
            .map(|(pivot, result)| {
                if should_stop() {
                    return Err(Interrupted);
                }
                Ok(join(pivot, result, has_links.then_some(&*tag)))
            })
            .collect()
    });
    Ok(joining.await?)
}

/// Returns the result of a sentence, with the errors of both models. Without `tag` it has no links.
fn join(pivot: SentenceResult, mut result: SentenceResult, tag: Option<&str>) -> SentenceResult {
    if pivot.fatal_error().is_some() {
        // The second model translated an empty sentence.
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
