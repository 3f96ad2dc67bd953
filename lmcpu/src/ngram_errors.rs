//! Errors of builders about one n-gram of a source.

use crate::arpa::{DUPLICATE_REMEDY, Section};
use crate::level_source::join_words;
use crate::{Error, NgramSource};

/// Creates the error for two n-grams of `section` that a table cannot both hold: the same n-gram
/// twice, or, once in millions of models, two with the same hash.
pub(crate) fn duplicate_error(
    section: &Section,
    first: usize,
    second: usize,
    source: &dyn NgramSource,
) -> Error {
    let (order, ngram) = (section.order, section.ngram(second));
    let reason = match (section.ngram(first) == ngram, section.line(first)) {
        (true, 0) => format!("this {order}-gram is listed twice"),
        (true, line) => {
            let reason = format!("this {order}-gram is on line {line} already; {DUPLICATE_REMEDY}");
            return match source.ngram_error(section, second, reason) {
                Error::Text(error) => Error::Duplicate(error),
                other => other,
            };
        }
        // The file itself is valid.
        (false, 0) => {
            let ngram = join_words(source.vocabulary(), ngram);
            let reason = format!(
                "\"{ngram}\": this {order}-gram has the same 64-bit hash as another; build a trie \
                 instead"
            );
            return Error::Unsupported { file: source.name().to_owned(), reason };
        }
        (false, line) => format!(
            "this {order}-gram has the same 64-bit hash as that on line {line}; build a trie \
             instead"
        ),
    };
    source.ngram_error(section, second, reason)
}

/// Creates the error for the n-gram `index` of `section`, whose context (all words but the newest)
/// the source does not list.
pub(crate) fn missing_context_error(
    section: &Section,
    index: usize,
    source: &dyn NgramSource,
) -> Error {
    let (order, shorter) = (section.order, section.order - 1);
    let context = join_words(source.vocabulary(), &section.ngram(index)[..shorter]);
    let mut reason = format!(
        "the context of this {order}-gram, \"{context}\", is not among the {shorter}-grams"
    );
    // Builders check contexts. So a source without lines, which is a binary file, is damaged.
    if section.line(index) > 0 {
        reason += "; a model needs the context of every n-gram, so write the model again without \
                   pruning contexts";
    }
    source.ngram_error(section, index, reason)
}
