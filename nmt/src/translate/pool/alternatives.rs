//! Alternatives at a position: the most probable tokens after a prefix, each with the best
//! translation that continues it.
//!
//! First, one step of search finds the tokens. Then each token ends the prefix of a search of its
//! own. As in CTranslate2, only a continuation's own tokens count for its score and for
//! repetitions; the minimum and maximum lengths include the prefix.

use std::collections::BTreeMap;

use super::active_job::ActiveJob;
use super::{AlternativesOptions, TranslationTask};
use crate::batch::{BatchingOptions, Job, JobSource, translate_batches};
use crate::search::{GeneratedToken, PrefixRole, Request, SearchOptions, Translation};
use crate::{Error, Result};
use miriam_nmt_network::network::Session;

/// Translates jobs whose task asks for alternatives.
pub(super) fn translate(session: &mut dyn Session, task: &TranslationTask, jobs: Vec<ActiveJob>) {
    let Some(alternatives) = task.alternatives else { return };
    for job in jobs {
        let result = find_alternatives(session, task, alternatives, &job);
        if job.is_wanted() {
            job.finish(result);
        }
    }
}

fn find_alternatives(
    session: &mut dyn Session,
    task: &TranslationTask,
    AlternativesOptions { count, min_probability }: AlternativesOptions,
    job: &ActiveJob,
) -> Result<Vec<Translation>> {
    let search = &task.search;
    let most = search.max_length.max(1);
    let next_tokens = SearchOptions {
        beam_size: count,
        n_best: count,
        patience: 1.0,
        length_penalty: 0.0,
        coverage_penalty: 0.0,
        max_new_tokens: 1,
        // Forbids the end: an alternative has at least one token.
        min_length: usize::MAX,
        sampling: None,
        report_tokens: false,
        prefix_role: PrefixRole::Context,
        ..search.clone()
    };
    let mut found = run(session, task, &next_tokens, vec![job.request.clone()], job)?;
    let mut found = found.remove(&0).unwrap_or_default();
    let prefix_length = job.request.prefix.len();
    if prefix_length >= most {
        // The maximum length leaves no room for a token.
        let only = found.into_iter().next().unwrap_or_default();
        return Ok(vec![only; count]);
    }
    fn score_of(found: &Translation) -> f32 {
        found.token_scores.last().copied().unwrap_or(0.0)
    }
    found.retain(|found| score_of(found).exp() >= min_probability);
    if prefix_length + 1 >= most {
        return Ok(found);
    }
    let continuation =
        SearchOptions { n_best: 1, prefix_role: PrefixRole::Context, ..search.clone() };
    let requests = found.iter().map(|found| {
        let mut request = job.request.clone();
        request.prefix.clone_from(&found.tokens);
        request
    });
    let requests = requests.collect();
    let mut continued = run(session, task, &continuation, requests, job)?;
    Ok((0..)
        .zip(&found)
        .map(|(number, first)| {
            let best = continued.remove(&number).and_then(|found| found.into_iter().next());
            let mut best = best.unwrap_or_default();
            best.score += score_of(first);
            best
        })
        .collect())
}

/// Translates requests. Returns their results by index.
fn run(
    session: &mut dyn Session,
    task: &TranslationTask,
    search: &SearchOptions,
    requests: Vec<Request>,
    owner: &ActiveJob,
) -> Result<BTreeMap<u64, Vec<Translation>>> {
    let jobs = (0..).zip(requests).map(|(id, request)| Job { id, request }).collect();
    let mut source = Requests { jobs: Some(jobs), owner, results: BTreeMap::new() };
    translate_batches(session, search, &BatchingOptions::from_queue(task.limits), &mut source)?;
    if !owner.is_wanted() {
        return Err(Error::Untranslatable { reason: "it was cancelled".into() });
    }
    Ok(source.results)
}

/// The requests of one sentence. Each is a continuation of an alternative.
struct Requests<'a> {
    jobs: Option<Vec<Job>>,
    owner: &'a ActiveJob,
    results: BTreeMap<u64, Vec<Translation>>,
}

impl JobSource for Requests<'_> {
    fn next_jobs(&mut self) -> Result<Option<Vec<Job>>> {
        Ok(self.jobs.take())
    }

    fn is_wanted(&mut self, _: u64) -> bool {
        self.owner.is_wanted()
    }

    /// Reports the tokens after the alternative, from step 0, as in CTranslate2.
    fn token(&mut self, id: u64, token: GeneratedToken) -> bool {
        let ActiveJob { call, index, request, .. } = self.owner;
        let (Some(observer), Some(step)) =
            (&call.task.observer, token.step.checked_sub(request.prefix.len() + 1))
        else {
            return false;
        };
        observer(*index, GeneratedToken { step, sample_index: id as u32, ..token })
    }

    fn finish(&mut self, id: u64, result: Result<Vec<Translation>>) -> Result<()> {
        self.results.insert(id, result?);
        Ok(())
    }
}
