//! Rest costs: the probabilities that a bottom-up parser charges for words while it does not know
//! the words before them (`ngram-lm.md` 2.4). The rest cost of an n-gram comes from a model of its
//! own order.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_storage::LoadMethod;
use miriam_textio::{Input, Progress, display_name};

use crate::arpa::ArpaReader;
use crate::{
    ArpaOptions, Error, LanguageModel, LmWord, MAX_ORDER, MissingMarkerPolicy, NgramSource,
    OpenOptions, Result, open,
};

/// The models of lower orders.
pub(super) struct RestCosts {
    /// By word id: log10 p of the model of order 1.
    unigrams: Vec<f32>,
    /// From order 2.
    models: Vec<LowerModel>,
}

struct LowerModel {
    model: Arc<dyn LanguageModel>,
    /// By word id in the model that is built: the id in this model.
    ids: Vec<LmWord>,
}

fn wrong(path: &Path, reason: String) -> Error {
    Error::Unsupported { file: display_name(path), reason }
}

impl RestCosts {
    /// Opens the models in `files`, one for each order of `source` but the last, from 1. The first
    /// is ARPA text.
    ///
    /// # Errors
    ///
    /// If the number of files is wrong, or if a file cannot be read, has another order or lacks
    /// words of `source`.
    pub fn open(
        files: &[PathBuf],
        source: &dyn NgramSource,
        arpa: ArpaOptions,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let order = source.order();
        let [first, others @ ..] = files else {
            let reason = "name models for rest costs".to_owned();
            return Err(Error::InvalidOptions { reason });
        };
        if files.len() != order - 1 {
            let reason = format!(
                "{} models for rest costs; a model of order {order} takes {}, of orders 1 to {}",
                files.len(),
                order - 1,
                order - 1
            );
            return Err(Error::InvalidOptions { reason });
        }
        let unigrams = read_unigrams(first, source, arpa, progress)?;
        let mut models = Vec::new();
        for (order, path) in (2..).zip(others) {
            let model = open(path, OpenOptions { load: LoadMethod::Lazy, arpa }, progress)?;
            if model.order() != order {
                let reason = format!(
                    "a model of order {}; model number {order} for rest costs must have order \
                     {order}",
                    model.order()
                );
                return Err(wrong(path, reason));
            }
            let words = source.vocabulary().iter();
            let ids = words.map(|word| model.word_id(word)).collect();
            models.push(LowerModel { model, ids });
        }
        Ok(RestCosts { unigrams, models })
    }

    /// Returns log10 of the rest cost of `ngram`, which is shorter than the longest.
    pub fn cost(&self, ngram: &[u32]) -> f32 {
        let [context @ .., newest] = ngram else { return 0.0 };
        if context.is_empty() {
            return self.unigrams[*newest as usize];
        }
        let LowerModel { model, ids } = &self.models[context.len() - 1];
        let mut newest_first = [LmWord::UNKNOWN; MAX_ORDER];
        for (id, &word) in newest_first.iter_mut().zip(context.iter().rev()) {
            *id = ids[word as usize];
        }
        model.score_after(&newest_first[..context.len()], ids[*newest as usize]).0.0
    }
}

/// Returns the probabilities of the words of `source` in the ARPA file at `path`.
fn read_unigrams(
    path: &Path,
    source: &dyn NgramSource,
    arpa: ArpaOptions,
    progress: &dyn Progress,
) -> Result<Vec<f32>> {
    // Only probabilities are used, so markers may be missing if the model that is built has none.
    let options = ArpaOptions { missing_markers: MissingMarkerPolicy::Unknown, ..arpa };
    let reader = ArpaReader::open(Input::open(path)?, options, progress)?;
    if reader.order() != 1 {
        let reason = format!(
            "a model of order {}; the first model for rest costs must have order 1",
            reader.order()
        );
        return Err(wrong(path, reason));
    }
    let words = source.vocabulary().iter();
    words
        .map(|word| match reader.vocabulary().find(word) {
            Some(id) => Ok(reader.unigrams()[id.index()].log10),
            None => {
                let reason = format!(
                    "the word \"{}\" is missing; models for rest costs have the same words",
                    String::from_utf8_lossy(word)
                );
                Err(wrong(path, reason))
            }
        })
        .collect()
}
