//! The saved state of asynchronous training without parameters and optimiser: named vectors, and
//! JSON in which floats are stored as bits.

use serde::{Deserialize, Serialize};

use super::shard::ParameterShard;
use super::worker::{AsyncWorker, Message};
use crate::kernels::{BiasCorrections, Kernels};
use crate::trainable_model::TrainableModel;
use crate::update::UpdateReport;

/// The saved state of shards, workers and their driver.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AsyncSnapshot {
    /// Counts and the driver's state.
    pub json: Vec<u8>,
    /// Vectors by name; empty vectors are left out.
    pub vectors: Vec<(String, Vec<f32>)>,
}

#[derive(Serialize, Deserialize)]
struct SavedShard {
    bias_corrections: [u64; 2],
    average_updates: u64,
    pushes: u64,
    owner_batches: u64,
    buffered: usize,
    buffered_words: u64,
}

#[derive(Serialize, Deserialize)]
struct SavedWorker {
    batches: u64,
    waiting: usize,
    pushes: u64,
    seen: Vec<u64>,
    sent: Vec<u32>,
    /// The bits of the pushed values.
    sent_values: Vec<u32>,
    message: Message,
    local_corrections: [u64; 2],
    sums: [u64; 5],
    is_skipped: bool,
    sentences: usize,
    target_tokens: usize,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    shards: Vec<SavedShard>,
    workers: Vec<SavedWorker>,
    /// The driver's state: the clock and the batches of the simulator; empty for threads.
    driver: String,
}

impl AsyncSnapshot {
    /// Takes a snapshot of shards and workers, none of which may be in a step. `driver` is the
    /// driver's state as text.
    pub fn take<'a, K: Kernels<Real = f32>>(
        shards: impl Iterator<Item = &'a ParameterShard<f32>>,
        workers: &[&AsyncWorker<K>],
        driver: String,
    ) -> Self {
        let mut vectors = Vec::new();
        let mut saved = Saved { shards: Vec::new(), workers: Vec::new(), driver };
        for (number, shard) in shards.enumerate() {
            if shard.buffered > 0 && !shard.buffer.is_empty() {
                vectors.push((format!("shard{number}:buffer"), shard.buffer.clone()));
            }
            saved.shards.push(SavedShard {
                bias_corrections: shard.state.bias_corrections.0.map(f64::to_bits),
                average_updates: shard.state.average_updates,
                pushes: shard.pushes,
                owner_batches: shard.owner_batches,
                buffered: shard.buffered,
                buffered_words: shard.buffered_words,
            });
        }
        for worker in workers {
            let (counts, report) = (&worker.counts, &worker.report);
            for (name, vector) in vectors_of(worker) {
                if !vector.is_empty() {
                    vectors.push((format!("worker{}:{name}", worker.number), vector.to_vec()));
                }
            }
            saved.workers.push(SavedWorker {
                batches: counts.batches,
                waiting: counts.waiting,
                pushes: counts.pushes,
                seen: counts.seen.clone(),
                sent: worker.sent.indices.clone(),
                sent_values: worker.sent.values.iter().map(|x| x.to_bits()).collect(),
                message: worker.message,
                is_skipped: report.is_skipped,
                local_corrections: worker.local.bias_corrections.0.map(f64::to_bits),
                sums: [
                    report.loss,
                    report.loss_count,
                    report.cross_entropy,
                    report.gradient_norm,
                    worker.scale,
                ]
                .map(f64::to_bits),
                sentences: report.sentences,
                target_tokens: report.target_tokens,
            });
        }
        AsyncSnapshot { json: serde_json::to_vec(&saved).expect("plain data is JSON"), vectors }
    }

    /// Restores shards and workers. Returns the driver's state, or `None` if the number of workers
    /// differs: then all workers begin at the saved parameters.
    ///
    /// # Errors
    /// If the snapshot is damaged.
    pub fn restore<K: Kernels<Real = f32>>(
        mut self,
        shards: &mut [&mut ParameterShard<f32>],
        workers: &mut [AsyncWorker<K>],
        model: &TrainableModel<K>,
    ) -> Result<Option<String>, String> {
        let saved: Saved = serde_json::from_slice(&self.json).map_err(|e| e.to_string())?;
        if saved.workers.len() != workers.len() || saved.shards.len() != shards.len() {
            return Ok(None);
        }
        let mut take = |name: String, len: usize| {
            let place = self.vectors.iter().position(|(known, _)| *known == name);
            let vector = place.map(|place| self.vectors.swap_remove(place).1).unwrap_or_default();
            let fits = vector.is_empty() || vector.len() == len;
            if fits { Ok(vector) } else { Err(format!("{name} has {} numbers", vector.len())) }
        };
        for (number, (shard, saved)) in shards.iter_mut().zip(saved.shards).enumerate() {
            shard.state.bias_corrections =
                BiasCorrections(saved.bias_corrections.map(f64::from_bits));
            shard.state.average_updates = saved.average_updates;
            shard.pushes = saved.pushes;
            shard.owner_batches = saved.owner_batches;
            (shard.buffered, shard.buffered_words) = (saved.buffered, saved.buffered_words);
            shard.buffer = take(format!("shard{number}:buffer"), shard.values.len())?;
            // A small model has shards without parameters.
            if shard.buffered > 0 && shard.buffer.len() != shard.values.len() {
                return Err(format!("shard{number}:buffer is missing"));
            }
        }
        for (worker, saved) in workers.iter_mut().zip(saved.workers) {
            if saved.seen.len() != worker.counts.seen.len() {
                return Err("a worker's counts do not match".into());
            }
            let len = worker.accumulated.len();
            let mut vector = |name: &str, into: &mut Vec<f32>| {
                let found = take(format!("worker{}:{name}", worker.number), len)?;
                if found.len() == into.len() {
                    *into = found;
                }
                Ok::<(), String>(())
            };
            let mut copy = worker.copy.values().to_vec();
            vector("copy", &mut copy)?;
            vector("accumulated", &mut worker.accumulated)?;
            vector("residual", &mut worker.residual)?;
            vector("velocity", &mut worker.velocity)?;
            vector("local-first", &mut worker.local.first)?;
            vector("local-second", &mut worker.local.second)?;
            worker.set_copy(model, &copy);
            worker.local.bias_corrections =
                BiasCorrections(saved.local_corrections.map(f64::from_bits));
            if saved.sent.len() != saved.sent_values.len()
                || saved.sent.iter().any(|&index| index as usize >= len)
            {
                return Err("a worker's pushed values do not match".into());
            }
            worker.sent.values = saved.sent_values.into_iter().map(f32::from_bits).collect();
            worker.sent.indices = saved.sent;
            worker.message = saved.message;
            worker.counts.batches = saved.batches;
            worker.counts.waiting = saved.waiting;
            worker.counts.pushes = saved.pushes;
            worker.counts.seen = saved.seen;
            let [loss, loss_count, cross_entropy, gradient_norm, scale] =
                saved.sums.map(f64::from_bits);
            worker.scale = scale;
            worker.report = UpdateReport {
                loss,
                loss_count,
                cross_entropy,
                sentences: saved.sentences,
                target_tokens: saved.target_tokens,
                gradient_norm,
                is_skipped: saved.is_skipped,
            };
        }
        Ok(Some(saved.driver))
    }
}

fn vectors_of<K: Kernels<Real = f32>>(worker: &AsyncWorker<K>) -> [(&'static str, &[f32]); 6] {
    let waits = worker.counts.waiting > 0;
    [
        ("copy", worker.copy.values()),
        ("accumulated", if waits { &worker.accumulated } else { &[] }),
        ("residual", &worker.residual),
        ("velocity", &worker.velocity),
        ("local-first", &worker.local.first),
        ("local-second", &worker.local.second),
    ]
}
