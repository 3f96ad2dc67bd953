//! Errors of builders about one n-gram of a source.

use crate::arpa::Section;
use crate::level_source::join_words;
use crate::{Error, NgramSource};

/// Two n-grams of `section` that a table cannot hold both: the same n-gram twice, or,
/// once in millions of models, two with the same hash.
pub(crate) fn duplicate_error(
    section: &Section,
    first: usize,
    second: usize,
    source: &dyn NgramSource,
) -> Error {
    let order = section.order;
    let reason = match (section.ngram(first) == section.ngram(second), section.line(first)) {
        (true, 0) => format!("this {order}-gram is there twice"),
        (true, line) => format!(
            "this {order}-gram is on line {line} already; remove one of the two, or pass \
             --duplicates keep-first"
        ),
        (false, 0) => {
            format!("this {order}-gram has the same 64-bit hash as another; build a trie instead")
        }
        (false, line) => format!(
            "this {order}-gram has the same 64-bit hash as that on line {line}; build a trie \
             instead"
        ),
    };
    source.ngram_error(section, second, reason)
}

/// The n-gram `index` of `section`, whose context (all words but the newest) the source
/// does not list.
pub(crate) fn missing_context_error(
    section: &Section,
    index: usize,
    source: &dyn NgramSource,
) -> Error {
    let (order, shorter) = (section.order, section.order - 1);
    let context = join_words(source.vocabulary(), &section.ngram(index)[..shorter]);
    let reason = format!(
        "the context of this {order}-gram, \"{context}\", is not among the {shorter}-grams; a model \
         needs the context of every n-gram, so write the model again without pruning contexts"
    );
    source.ngram_error(section, index, reason)
}
