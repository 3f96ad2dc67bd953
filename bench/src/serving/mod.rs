//! Latency and throughput of a translation server, asked as its clients ask it.
//!
//! In an open loop requests come when they come, at random and independent of each other, and
//! a latency begins when its request should have been sent: a server that stands still for a
//! second is charged for all who would have come in it. In a closed loop a number of clients
//! each send the next request after a response, which finds the highest throughput.

mod client;
mod protocol;
mod report;
mod schedule;
mod usage;

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use miriam_textio::Output;

use crate::error::{Error, Result, cannot};
use crate::input::read_text;

use client::Connection;
pub use protocol::Protocol;
use protocol::RequestBytes;
use report::LoadStudy;
use schedule::poisson_arrivals;
use usage::ProcessUsage;

/// Connections of an open loop at most: requests that come while all of them wait are sent
/// later, and their latency counts from when they came.
const MAX_OPEN_CONNECTIONS: usize = 256;

/// How long a response may take.
const MAX_RESPONSE: Duration = Duration::from_secs(120);

/// How requests come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// At random times, this many per second on average.
    Open(f64),
    /// From this many clients, each after its previous response.
    Closed(usize),
}

/// What is measured.
#[derive(Clone, Debug)]
pub struct ServingOptions {
    /// `http://HOST:PORT` of the server.
    pub url: String,
    /// The protocol that is spoken.
    pub protocol: Protocol,
    /// The model, where several are served.
    pub model: Option<String>,
    /// The key of a server that needs one.
    pub key: Option<String>,
    /// The languages, source and target, where the protocol or the model needs them.
    pub languages: [Option<String>; 2],
    /// How requests come.
    pub arrivals: Arrivals,
    /// How long they come.
    pub seconds: f64,
    /// The number of requests after which no more come.
    pub max_requests: Option<usize>,
    /// The text: one line per request, repeated when it ends.
    pub input: PathBuf,
    /// The folder to write to.
    pub output: PathBuf,
    /// The process of the server, whose memory and processor time are recorded.
    pub pid: Option<u32>,
    /// The seed of arrivals.
    pub seed: u64,
    /// Whether a server of another machine may be asked.
    pub allow_remote: bool,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// A response with an HTTP status, or 200 for a message of a websocket.
    Status(u16),
    /// A fault of XML-RPC.
    Fault,
    /// The connection broke, or no response came in time.
    Failed,
}

/// A request that was sent; times in seconds since the first could be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// When it should have been sent.
    pub(crate) intended: f64,
    /// When it was.
    pub(crate) sent: f64,
    /// When its response was there.
    pub(crate) done: f64,
    pub(crate) outcome: Outcome,
}

/// Asks the server, writes `requests.csv` (every request), `seconds.csv` (every second) and
/// `latency.svg`, and prints a summary.
///
/// # Errors
/// The server is on another machine and may not be asked, does not answer the first request, or a
/// file cannot be read or written.
pub fn run(options: &ServingOptions, out: &mut dyn Write) -> Result<()> {
    let address = resolve(&options.url, options.allow_remote)?;
    let text = read_text(&options.input)?;
    let lines = text.split(|&byte| byte == b'\n').map(|line| String::from_utf8_lossy(line));
    let lines: Vec<String> =
        lines.filter(|line| !line.trim().is_empty()).map(|line| line.into_owned()).collect();
    if lines.is_empty() {
        return Err(Error::no_words(&options.input));
    }
    let requests = options.protocol.requests(&lines, options, &address)?;
    fs::create_dir_all(&options.output).map_err(cannot("make this folder", &options.output))?;
    check_first(&address, &requests)?;
    let (samples, seconds) = measure(options, &address, &requests)?;
    let study = LoadStudy::new(options, samples, seconds);
    fn write(name: &str, text: String, options: &ServingOptions) -> Result<(), Error> {
        Ok::<_, Error>(Output::write_file(&options.output.join(name), text.as_bytes())?)
    }
    write("requests.csv", study.requests_csv(), options)?;
    write("seconds.csv", study.seconds_csv(), options)?;
    write("latency.svg", study.chart().to_svg(), options)?;
    Ok(out.write_all(study.summary().as_bytes())?)
}

/// Returns the address of a URL; of this machine alone unless others may be asked.
fn resolve(url: &str, allow_remote: bool) -> Result<SocketAddr> {
    fn wrong(reason: &str, url: &str) -> Error {
        Error::unmeasurable(format!("{url}: {reason}"))
    }
    let host = url.strip_prefix("http://").unwrap_or(url).trim_end_matches('/');
    if host.contains('/') || host.is_empty() {
        return Err(wrong("give http://HOST:PORT, without a path", url));
    }
    let mut addresses = host.to_socket_addrs().map_err(|error| wrong(&error.to_string(), url))?;
    let address = addresses.next().ok_or_else(|| wrong("the host has no address", url))?;
    if !address.ip().is_loopback() && !allow_remote {
        let reason = "this is another machine, which this load could take down; if it is yours, \
                      say --yes-remote";
        return Err(wrong(reason, url));
    }
    Ok(address)
}

/// A first request, outside of the measurement: it says what is wrong.
fn check_first(address: &SocketAddr, requests: &RequestBytes) -> Result<()> {
    let mut connection = Connection::new(*address, requests.handshake.clone());
    let (outcome, body) = connection.exchange(&requests.all[0], MAX_RESPONSE);
    match outcome {
        Outcome::Status(200) => Ok(()),
        outcome => {
            let said = String::from_utf8_lossy(&body[..body.len().min(400)]).into_owned();
            let reason =
                format!("{address}: the first request: {}: {said}", report::label(outcome));
            Err(Error::unmeasurable(reason.trim_end_matches([' ', ':', '\n'])))
        }
    }
}

/// Sends requests from separate threads; returns them, and the use of the server's process in
/// each second.
fn measure(
    options: &ServingOptions,
    address: &SocketAddr,
    requests: &RequestBytes,
) -> Result<(Vec<Sample>, Vec<ProcessUsage>)> {
    let most = options.max_requests.unwrap_or(usize::MAX);
    let (arrivals, clients) = match options.arrivals {
        Arrivals::Open(rate) => {
            let arrivals = poisson_arrivals(rate, options.seconds, options.seed);
            let arrivals: Vec<f64> = arrivals.take(most).collect();
            let clients = MAX_OPEN_CONNECTIONS.min(arrivals.len().max(1));
            (Some(arrivals), clients)
        }
        Arrivals::Closed(clients) => (None, clients.max(1)),
    };
    let next = AtomicUsize::new(0);
    let is_done = AtomicBool::new(false);
    let started = Instant::now();
    let client = || {
        let mut connection = Connection::new(*address, requests.handshake.clone());
        let mut samples = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let intended = match &arrivals {
                Some(arrivals) => match arrivals.get(number) {
                    Some(&time) => {
                        let early = time - started.elapsed().as_secs_f64();
                        if early > 0.0 {
                            thread::sleep(Duration::from_secs_f64(early));
                        }
                        time
                    }
                    None => return samples,
                },
                None => {
                    let now = started.elapsed().as_secs_f64();
                    if now >= options.seconds || number >= most {
                        return samples;
                    }
                    now
                }
            };
            let sent = started.elapsed().as_secs_f64();
            let request = &requests.all[number % requests.all.len()];
            let (outcome, _) = connection.exchange(request, MAX_RESPONSE);
            let done = started.elapsed().as_secs_f64();
            samples.push(Sample { intended, sent, done, outcome });
        }
    };
    let (samples, seconds) = thread::scope(|scope| {
        let watcher = scope.spawn(|| match options.pid {
            Some(pid) => usage::watch(pid, &is_done),
            None => Ok(Vec::new()),
        });
        let clients: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        let all = clients.into_iter().map(|client| client.join().unwrap_or_default());
        let samples: Vec<Sample> = all.flatten().collect();
        is_done.store(true, Ordering::Relaxed);
        (samples, watcher.join())
    });
    fn stopped() -> Error {
        Error::unmeasurable("the thread that watches the server stopped")
    }
    let seconds = seconds.map_err(|_| stopped())??;
    Ok((samples, seconds))
}

#[cfg(test)]
mod tests;
