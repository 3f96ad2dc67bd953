//! A simulated machine for asynchronous training (`docs/spec/training.md` A.9): one thread does the
//! work of many, on a simulated clock.
//!
//! Events are ordered by time, then by worker, then by creation, so a simulation gives the same
//! bytes every time. The time of a batch depends on its words. A transfer to or from another
//! worker's shard takes a latency plus time for its bytes; each shard has one transfer at a time,
//! as under a lock. Access to a worker's own shard takes no time, but waits for transfers of the
//! shard that began before.

use serde::{Deserialize, Serialize};

use crate::random::RandomStream;

/// A machine, as its TOML file describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The number of workers; each has a shard.
    pub workers: usize,
    /// Seconds per target token.
    pub seconds_per_word: f64,
    /// Additional seconds per batch.
    #[serde(default)]
    pub seconds_per_batch: f64,
    /// Seconds before a transfer begins.
    #[serde(default)]
    pub latency: f64,
    /// Bytes per second of a transfer; without it transfers take only the latency.
    pub bandwidth: Option<f64>,
    /// The standard deviation of the logarithm of a batch's time.
    #[serde(default)]
    pub noise: f64,
    /// The seed of that noise.
    #[serde(default)]
    pub seed: u64,
}

impl Machine {
    /// Parses a description.
    ///
    /// # Errors
    /// If a field is unknown or a value invalid.
    pub fn parse(text: &str) -> Result<Self, String> {
        let machine: Machine = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            format!("line {line}: {}", error.message().replace('\n', "; "))
        })?;
        let numbers = [
            ("seconds_per_word", machine.seconds_per_word),
            ("seconds_per_batch", machine.seconds_per_batch),
            ("latency", machine.latency),
            ("noise", machine.noise),
        ];
        if let Some((name, number)) = numbers.iter().find(|(_, x)| !(0.0..=1e9).contains(x)) {
            return Err(format!("{name} = {number}: expected a number from 0 to 1e9"));
        }
        if machine.bandwidth.is_some_and(|bandwidth| bandwidth.is_nan() || bandwidth <= 0.0) {
            return Err("bandwidth: expected bytes per second above 0".into());
        }
        if !(1..=4096).contains(&machine.workers) {
            return Err(format!("workers = {}: expected 1 to 4096", machine.workers));
        }
        Ok(machine)
    }

    /// Returns the seconds that the worker's nth batch takes.
    fn compute_seconds(&self, worker: usize, batch: u64, words: u64) -> f64 {
        let seconds = self.seconds_per_word * words as f64 + self.seconds_per_batch;
        if self.noise == 0.0 {
            return seconds;
        }
        let key = [self.seed as u32, (self.seed >> 32) as u32];
        let batch = [batch as u32, (batch >> 32) as u32];
        let mut stream = RandomStream::new(key, [worker as u32, batch[0], batch[1]]);
        let mut unit = || f64::from(stream.next_unit());
        // The Box-Muller transform; the first number is above 0.
        let (radius, angle) = ((-2.0 * (1.0 - unit()).ln()).sqrt(), std::f64::consts::TAU * unit());
        seconds * (self.noise * radius * angle.cos()).exp()
    }

    fn transfer_seconds(&self, bytes: u64) -> f64 {
        self.latency + self.bandwidth.map_or(0.0, |bandwidth| bytes as f64 / bandwidth)
    }
}

/// The actions of workers, in simulated time.
pub trait Work {
    /// Errors of the work.
    type Error;

    /// Whether a worker fetches before its next batch.
    fn needs_fetch(&self, worker: usize) -> bool;
    /// Returns the size in bytes of the fetch of a shard.
    fn fetch_bytes(&self, worker: usize, shard: usize) -> u64;
    /// Fetches a shard.
    fn fetch(&mut self, worker: usize, shard: usize);
    /// Begins a batch. Returns its target tokens, or `None` if the worker stops.
    ///
    /// # Errors
    /// If the work fails.
    fn begin(&mut self, worker: usize) -> Result<Option<u64>, Self::Error>;
    /// Ends a batch. Returns whether a push follows.
    ///
    /// # Errors
    /// If the work fails.
    fn compute(&mut self, worker: usize) -> Result<bool, Self::Error>;
    /// Whether the batch that a worker computes must be finished although no further batch begins.
    fn needs_batch(&self, worker: usize) -> bool;
    /// Prepares a worker's last push, with the gradients that still wait for more batches. Returns
    /// whether there are any.
    fn begin_last_push(&mut self, worker: usize) -> bool;
    /// Returns the size in bytes of the push to a shard.
    fn push_bytes(&self, worker: usize, shard: usize) -> u64;
    /// Pushes to a shard. Returns the staleness.
    fn push(&mut self, worker: usize, shard: usize) -> u64;
    /// Ends a push to all shards.
    ///
    /// # Errors
    /// If the work fails.
    fn end_push(&mut self, push: PushRecord) -> Result<(), Self::Error>;
}

/// A log record of a push.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PushRecord {
    /// The worker that has pushed.
    pub worker: usize,
    /// The simulated time at which the push ended, in seconds.
    pub seconds: f64,
    /// The number of other workers' pushes between this worker's fetch and its push, summed over
    /// shards.
    pub staleness: u64,
    /// The number of bytes that the fetch and the push moved between workers.
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    Ready,
    Fetched(usize),
    Computed,
    Pushed(usize),
}

/// An event. Its time is stored as the bits of a non-negative `f64`, which sort like the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Event {
    time: u64,
    worker: usize,
    order: u64,
    kind: Kind,
}

/// The clock of a simulation with its future events; part of the saved state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    events: Vec<Event>,
    /// The time at which each shard's transfers are done, as the bits of an `f64`.
    shards_free: Vec<u64>,
    workers: Vec<WorkerClock>,
    order: u64,
    now: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct WorkerClock {
    batches: u64,
    /// The number of shards that the current fetch or push has not done yet.
    missing: usize,
    staleness: u64,
    bytes: u64,
}

impl Clock {
    /// Creates a clock on which all workers begin at time 0.
    pub fn new(workers: usize) -> Self {
        let mut clock = Clock {
            events: Vec::new(),
            shards_free: vec![0; workers],
            workers: vec![WorkerClock::default(); workers],
            order: 0,
            now: 0,
        };
        (0..workers).for_each(|worker| clock.add(0.0, worker, Kind::Ready));
        clock
    }

    /// Returns the number of workers.
    pub fn num_workers(&self) -> usize {
        self.workers.len()
    }

    /// Returns the simulated seconds so far.
    pub fn seconds(&self) -> f64 {
        f64::from_bits(self.now)
    }

    fn add(&mut self, time: f64, worker: usize, kind: Kind) {
        self.order += 1;
        self.events.push(Event { time: time.to_bits(), worker, order: self.order, kind });
    }

    /// Schedules a transfer with each shard.
    fn transfer(
        &mut self,
        machine: &Machine,
        worker: usize,
        bytes: impl Fn(usize) -> u64,
        kind: fn(usize) -> Kind,
    ) {
        let now = self.seconds();
        self.workers[worker].missing = self.workers.len();
        for shard in 0..self.workers.len() {
            let begin = now.max(f64::from_bits(self.shards_free[shard]));
            let end = if shard == worker {
                begin
            } else {
                let bytes = bytes(shard);
                self.workers[worker].bytes += bytes;
                begin + machine.transfer_seconds(bytes)
            };
            self.shards_free[shard] = end.to_bits();
            self.add(end, worker, kind(shard));
        }
    }

    fn is_last(&mut self, worker: usize) -> bool {
        self.workers[worker].missing -= 1;
        self.workers[worker].missing == 0
    }

    /// Handles the next event. Returns whether there was one.
    ///
    /// # Errors
    /// If the work fails.
    pub fn step<W: Work>(&mut self, machine: &Machine, work: &mut W) -> Result<bool, W::Error> {
        let events = self.events.iter().enumerate();
        let next = events.min_by_key(|(_, e)| (e.time, e.worker, e.order)).map(|(place, _)| place);
        let Some(place) = next else { return Ok(false) };
        let Event { time, worker, kind, .. } = self.events.swap_remove(place);
        self.now = time;
        let begins = match kind {
            Kind::Ready if work.needs_fetch(worker) => {
                self.transfer(
                    machine,
                    worker,
                    |shard| work.fetch_bytes(worker, shard),
                    Kind::Fetched,
                );
                false
            }
            Kind::Ready => true,
            Kind::Fetched(shard) => {
                work.fetch(worker, shard);
                self.is_last(worker)
            }
            Kind::Computed => {
                if work.compute(worker)? {
                    self.transfer(
                        machine,
                        worker,
                        |shard| work.push_bytes(worker, shard),
                        Kind::Pushed,
                    );
                } else {
                    self.add(f64::from_bits(time), worker, Kind::Ready);
                }
                false
            }
            Kind::Pushed(shard) => {
                self.workers[worker].staleness += work.push(worker, shard);
                if self.is_last(worker) {
                    self.add(f64::from_bits(time), worker, Kind::Ready);
                    let WorkerClock { staleness, bytes, .. } = self.workers[worker];
                    (self.workers[worker].staleness, self.workers[worker].bytes) = (0, 0);
                    let seconds = f64::from_bits(time);
                    work.end_push(PushRecord { worker, seconds, staleness, bytes })?;
                }
                false
            }
        };
        if begins && let Some(words) = work.begin(worker)? {
            let batch = self.workers[worker].batches;
            self.workers[worker].batches += 1;
            let end = f64::from_bits(time) + machine.compute_seconds(worker, batch, words);
            self.add(end, worker, Kind::Computed);
        }
        Ok(true)
    }

    /// Ends the simulation. Pushes that are under way are completed, and so are batches that the
    /// work needs. Then gradients that wait for more batches are pushed.
    ///
    /// # Errors
    /// If the work fails.
    pub fn finish<W: Work>(&mut self, machine: &Machine, work: &mut W) -> Result<(), W::Error> {
        self.events.retain(|event| match event.kind {
            Kind::Ready | Kind::Fetched(_) => false,
            Kind::Computed => work.needs_batch(event.worker),
            Kind::Pushed(_) => true,
        });
        self.drain(machine, work)?;
        for worker in 0..self.workers.len() {
            if work.begin_last_push(worker) {
                self.transfer(
                    machine,
                    worker,
                    |shard| work.push_bytes(worker, shard),
                    Kind::Pushed,
                );
            }
        }
        self.drain(machine, work)
    }

    /// Handles events until none is left, without beginning further batches.
    fn drain<W: Work>(&mut self, machine: &Machine, work: &mut W) -> Result<(), W::Error> {
        while !self.events.is_empty() {
            self.step(machine, work)?;
            self.events.retain(|event| matches!(event.kind, Kind::Computed | Kind::Pushed(_)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Work with batches of equal size and shards that count pushes.
    struct Counting {
        words: u64,
        delay: usize,
        bytes: u64,
        waiting: Vec<usize>,
        seen: Vec<Vec<u64>>,
        shards: Vec<u64>,
        records: Vec<PushRecord>,
        needs_batches: bool,
    }

    impl Counting {
        fn new(workers: usize, words: u64, delay: usize, bytes: u64) -> Self {
            Counting {
                words,
                delay,
                bytes,
                waiting: vec![0; workers],
                seen: vec![vec![0; workers]; workers],
                shards: vec![0; workers],
                records: Vec::new(),
                needs_batches: false,
            }
        }

        fn run(machine: &Machine, mut work: Self, pushes: usize) -> Vec<PushRecord> {
            let mut clock = Clock::new(machine.workers);
            while work.records.len() < pushes {
                let Ok(goes_on) = clock.step(machine, &mut work);
                assert!(goes_on);
            }
            work.records
        }
    }

    impl Work for Counting {
        type Error = Infallible;

        fn needs_fetch(&self, worker: usize) -> bool {
            self.waiting[worker] == 0
        }
        fn fetch_bytes(&self, _: usize, _: usize) -> u64 {
            self.bytes
        }
        fn fetch(&mut self, worker: usize, shard: usize) {
            self.seen[worker][shard] = self.shards[shard];
        }
        fn begin(&mut self, _: usize) -> Result<Option<u64>, Infallible> {
            Ok(Some(self.words))
        }
        fn compute(&mut self, worker: usize) -> Result<bool, Infallible> {
            self.waiting[worker] += 1;
            Ok(self.waiting[worker] == self.delay)
        }
        fn needs_batch(&self, _: usize) -> bool {
            self.needs_batches
        }
        fn begin_last_push(&mut self, worker: usize) -> bool {
            self.waiting[worker] > 0
        }
        fn push_bytes(&self, _: usize, _: usize) -> u64 {
            self.bytes
        }
        fn push(&mut self, worker: usize, shard: usize) -> u64 {
            let staleness = self.shards[shard] - self.seen[worker][shard];
            self.shards[shard] += 1;
            staleness
        }
        fn end_push(&mut self, push: PushRecord) -> Result<(), Infallible> {
            self.waiting[push.worker] = 0;
            self.records.push(push);
            Ok(())
        }
    }

    fn machine(workers: usize) -> Machine {
        Machine::parse(&format!("workers = {workers}\nseconds_per_word = 1e-3")).unwrap()
    }

    /// Between a worker's fetch and its push, each other worker pushes once to each shard.
    #[test]
    fn equal_batches_are_stale_by_all_others() {
        for workers in [1, 2, 3, 4, 8] {
            let work = Counting::new(workers, 1000, 1, 400);
            let records = Counting::run(&machine(workers), work, 800);
            let expected = (workers * (workers - 1)) as u64;
            for (number, record) in records.iter().enumerate().skip(workers) {
                assert_eq!(record.staleness, expected, "{workers} {number}");
            }
        }
    }

    /// For pushes of two, three and four batches, Bogoychev's thesis measures speedups of 1.10,
    /// 1.14 and 1.18 (tables 5.1 and 5.3). The last simulated speedup is 1.16.
    #[test]
    fn delays_save_transfers() {
        // A batch takes 0.85 s, and a fetch and a push together take 0.19 s.
        let machine =
            Machine { seconds_per_word: 0.85 / 10_449.0, bandwidth: Some(1e9), ..machine(4) };
        let speed = |delay: usize| {
            let records = Counting::run(&machine, Counting::new(4, 10_449, delay, 95_000_000), 800);
            let seconds = |number: usize| records[number].seconds;
            (10_449 * 400 * delay) as f64 / (seconds(700) - seconds(300))
        };
        let plain = speed(1);
        assert!((plain / 40_200.0 - 1.0).abs() < 0.01, "{plain}");
        for (delay, expected) in [(2, 1.10), (3, 1.14), (4, 1.16)] {
            let found = speed(delay) / plain;
            assert!((found / expected - 1.0).abs() < 0.01, "{delay}: {found}");
        }
    }

    /// A batch takes 1 s, a transfer 0.25 s, and a push has the gradients of three batches.
    #[test]
    fn the_end_pushes_what_is_computed() {
        let machine = Machine { bandwidth: Some(4.0), ..machine(2) };
        let records_after = |events: usize, needs_batches: bool| {
            let mut clock = Clock::new(2);
            let mut work = Counting { needs_batches, ..Counting::new(2, 1000, 3, 1) };
            for _ in 0..events {
                let Ok(goes_on) = clock.step(&machine, &mut work);
                assert!(goes_on);
            }
            let Ok(()) = clock.finish(&machine, &mut work);
            assert_eq!(work.waiting, [0, 0], "after {events} events");
            let records = work.records.into_iter();
            records.map(|push| (push.worker, push.seconds)).collect::<Vec<_>>()
        };
        // Each worker is ready and fetches two shards; both have begun a batch at 0.25 s.
        assert!(records_after(6, false).is_empty(), "their batches are given up");
        assert_eq!(records_after(6, true), [(0, 1.5), (1, 1.5)]);
        // One worker has computed its batch.
        assert_eq!(records_after(7, false), [(0, 1.5)]);
        assert_eq!(records_after(7, true), [(0, 1.5), (1, 1.5)]);
        // The first worker has begun its second batch, and the other has computed its first.
        assert_eq!(records_after(9, false), [(0, 1.5), (1, 1.5)]);
        // One worker has computed three batches and pushed to its own shard; the other has computed
        // two.
        assert_eq!(records_after(16, false), [(0, 3.5), (1, 3.75)]);
        assert_eq!(records_after(16, true), [(0, 3.5), (1, 3.5)]);
    }

    #[test]
    fn noise_depends_on_the_seed() {
        let times = |seed| {
            let machine = Machine { noise: 0.3, seed, ..machine(3) };
            Counting::run(&machine, Counting::new(3, 500, 2, 0), 50)
        };
        assert_eq!(times(1), times(1));
        assert_ne!(times(1), times(2));
        let mean = times(1).last().unwrap().seconds / (50.0 * 2.0 * 0.5 / 3.0);
        assert!((0.8..1.3).contains(&mean), "{mean}");
    }

    #[test]
    fn descriptions_are_checked() {
        for (text, expected) in [
            ("seconds_per_word = 1", "workers"),
            ("workers = 0\nseconds_per_word = 1", "workers = 0"),
            ("workers = 2\nseconds_per_word = -1", "seconds_per_word = -1"),
            ("workers = 2\nseconds_per_word = 1\nbandwith = 2", "line 3: unknown field `bandwith`"),
            ("workers = 2\nseconds_per_word = =", "line 2: "),
            ("workers = 2\nseconds_per_word = 1\nbandwidth = 0", "bandwidth"),
        ] {
            let error = Machine::parse(text).unwrap_err();
            assert!(error.contains(expected) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
