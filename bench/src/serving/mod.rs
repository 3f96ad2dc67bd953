//! Load test of a translation server: latency and throughput.
//!
//! In an open loop, requests arrive at random times (a Poisson process), whether previous ones were
//! answered or not. Latency is measured from the intended arrival, so that a pause of the server
//! adds to the latency of all requests that arrive during the pause. In a closed loop, each of a
//! number of clients sends its next request after the previous response, which gives the highest
//! throughput.

mod client;
mod protocol;
mod report;
mod schedule;
mod usage;

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result, cannot};
use crate::input::read_text;
use crate::scaling::write_file;

use client::Connection;
pub use protocol::Protocol;
use protocol::RequestBytes;
use report::LoadStudy;
use schedule::poisson_arrivals;
use usage::ProcessUsage;

/// The maximal number of connections of an open loop. A request that arrives while all of them wait
/// is sent later, but its latency counts from its arrival.
const MAX_OPEN_CONNECTIONS: usize = 256;

/// The time limit for finding out whether an address accepts connections.
const MAX_CONNECT: Duration = Duration::from_secs(5);

/// The time limit for a response.
const MAX_RESPONSE: Duration = Duration::from_secs(120);

/// The arrival process of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// Random times, with this average number of requests per second.
    Open(f64),
    /// This number of clients, each of which sends a request after its previous response.
    Closed(usize),
}

/// Options of the load test.
#[derive(Clone, Debug)]
pub struct ServingOptions {
    /// `http://HOST:PORT` of the server.
    pub url: String,
    /// The protocol of the requests.
    pub protocol: Protocol,
    /// The name of the model, if the server has several.
    pub model: Option<String>,
    /// The API key, if the server requires one.
    pub key: Option<String>,
    /// The source and target languages, if the protocol or the model requires them.
    pub languages: [Option<String>; 2],
    /// The arrival process of requests.
    pub arrivals: Arrivals,
    /// The duration of the test in seconds.
    pub seconds: f64,
    /// The maximal number of requests.
    pub max_requests: Option<usize>,
    /// The text: one line per request, repeated when it ends.
    pub input: PathBuf,
    /// The folder to write to.
    pub output: PathBuf,
    /// The process id of the server, whose memory and CPU time are recorded.
    pub pid: Option<u32>,
    /// The seed of the arrival times.
    pub seed: u64,
    /// Whether the server may be on another machine.
    pub allow_remote: bool,
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// A response with this HTTP status; 200 for a message of a websocket.
    Status(u16),
    /// A fault of XML-RPC.
    Fault,
    /// The connection broke, or the response exceeded the time limit.
    Failed,
}

/// A request; times are in seconds since the start of the measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// The intended time of sending.
    pub(crate) intended: f64,
    /// The actual time of sending.
    pub(crate) sent: f64,
    /// The time at which the response was complete.
    pub(crate) done: f64,
    pub(crate) outcome: Outcome,
}

/// Sends requests to the server, writes `requests.csv` (a line per request), `seconds.csv` (a line
/// per second) and `latency.svg`, and prints a summary.
///
/// # Errors
/// If the URL is invalid, the server is on another machine and `allow_remote` is not set, the
/// protocol requires languages that are missing, the response to the first request is not a
/// success, there is no process `pid`, the text has no words, or a file cannot be read or written.
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
    write_file(&options.output, "requests.csv", &study.requests_csv())?;
    write_file(&options.output, "seconds.csv", &study.seconds_csv())?;
    write_file(&options.output, "latency.svg", &study.chart().to_svg())?;
    Ok(out.write_all(study.summary().as_bytes())?)
}

/// Returns the address of a URL, which must be on this machine unless `allow_remote` is set.
fn resolve(url: &str, allow_remote: bool) -> Result<SocketAddr> {
    fn wrong(reason: &str, url: &str) -> Error {
        Error::unmeasurable(format!("{url}: {reason}"))
    }
    let host = url.strip_prefix("http://").unwrap_or(url).trim_end_matches('/');
    if host.contains('/') || host.is_empty() {
        return Err(wrong("expected http://HOST:PORT, without a path", url));
    }
    let addresses = host.to_socket_addrs().map_err(|error| wrong(&error.to_string(), url))?;
    let addresses: Vec<SocketAddr> = addresses.collect();
    if addresses.iter().any(|address| !address.ip().is_loopback()) && !allow_remote {
        let reason = "this is another machine, which the load could take down; if it is yours, \
                      give --yes-remote";
        return Err(wrong(reason, url));
    }
    find_answering(&addresses).ok_or_else(|| wrong("the host has no address", url))
}

/// Returns the first address that accepts a connection, or the first one if none does: `localhost`
/// is often both `::1` and `127.0.0.1`.
fn find_answering(addresses: &[SocketAddr]) -> Option<SocketAddr> {
    let answering = addresses
        .iter()
        .filter(|_| addresses.len() > 1)
        .find(|address| TcpStream::connect_timeout(address, MAX_CONNECT).is_ok());
    answering.or(addresses.first()).copied()
}

/// Sends a request before the measurement, to report a wrong request or server at once.
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

/// Sends requests from several threads. Returns a sample of each request, and the resource usage of
/// the server's process in each second, which is empty without `pid`.
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
        // All clients end before the watcher does. One that panicked has no samples, without which
        // the counts would be wrong.
        let all: Vec<_> = clients.into_iter().map(|client| client.join()).collect();
        is_done.store(true, Ordering::Relaxed);
        (all.into_iter().collect::<thread::Result<Vec<_>>>(), watcher.join())
    });
    fn stopped(thread: &str) -> Error {
        Error::unmeasurable(format!("the thread that {thread} stopped"))
    }
    let samples = samples.map_err(|_| stopped("sends requests"))?;
    let seconds = seconds.map_err(|_| stopped("watches the server"))??;
    Ok((samples.into_iter().flatten().collect(), seconds))
}

#[cfg(test)]
mod tests;
