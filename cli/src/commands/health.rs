//! `miriam health`: asks a server whether it is ready. It serves as the health check of
//! containers that contain only the binary.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;

/// The time limit for a connection to an address, and for the response.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum number of bytes read from a response.
const MAX_RESPONSE: usize = 64 << 10;
/// The default path.
const PATH: &str = "/readyz";

/// Ask a server whether it is ready: status 0 if it is, 1 if not
///
/// Example: miriam health http://127.0.0.1:8080/readyz
#[derive(Args)]
pub struct Arguments {
    /// The server, http://HOST:PORT or HOST:PORT, with or without a path, or unix:PATH; a server
    /// that is ready responds with status 200
    #[arg(default_value = "http://127.0.0.1:8080/readyz", value_name = "ADDRESS")]
    url: String,
}

/// The address of a server, and the path of the request.
#[derive(Debug, PartialEq)]
enum Target {
    Tcp { address: String, host: String, path: String },
    Unix(String),
}

impl Target {
    fn parse(url: &str) -> anyhow::Result<Self> {
        if let Some(path) = url.strip_prefix("unix:") {
            // The path may also be given as a URL: unix:///run/miriam.sock.
            let path = path.strip_prefix("//").unwrap_or(path);
            if path.is_empty() {
                bail!(
                    "{url}: the path of the socket is missing; give unix:/run/miriam/miriam.sock"
                );
            }
            return Ok(Target::Unix(path.to_owned()));
        }
        let rest = url.strip_prefix("http://").unwrap_or(url);
        if rest.contains("://") {
            bail!(
                "{url}: expected http://HOST:PORT, HOST:PORT or unix:PATH; https is not supported"
            );
        }
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if host.is_empty() {
            bail!("{url}: expected http://HOST:PORT, HOST:PORT or unix:PATH");
        }
        let path = if path.len() <= 1 { PATH } else { path };
        let has_port = host.rsplit(']').next().unwrap_or(host).contains(':');
        let address = if has_port { host.to_owned() } else { format!("{host}:80") };
        Ok(Target::Tcp { address, host: host.to_owned(), path: path.to_owned() })
    }
}

pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let url = &arguments.url;
    let answer = match Target::parse(url)? {
        Target::Tcp { address, host, path } => {
            connect(&address).and_then(|stream| get(stream, &host, &path))
        }
        Target::Unix(path) => connect_unix(&path).and_then(|stream| get(stream, "localhost", PATH)),
    };
    let answer = answer.with_context(|| url.clone())?;
    let status = answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
    let status = status.with_context(|| format!("{url}: the response is not HTTP/1.1"))?;
    if status != "200" {
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.trim()).unwrap_or_default();
        bail!("{}", format!("{url}: status {status} {body}").trim_end());
    }
    Ok(())
}

const NO_ANSWER: &str = "no answer; is miriam serve running there?";

fn connect(address: &str) -> anyhow::Result<TcpStream> {
    let stream = connect_to_any(address.to_socket_addrs()?)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(stream)
}

/// Connects to the first of the addresses of a name that accepts a connection: `localhost` is often
/// both `::1` and `127.0.0.1`.
fn connect_to_any(addresses: impl Iterator<Item = SocketAddr>) -> anyhow::Result<TcpStream> {
    let mut failure = None;
    for address in addresses {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = Some(error),
        }
    }
    Err(failure.context("the name has no address")?).context(NO_ANSWER)
}

fn connect_unix(path: &str) -> anyhow::Result<UnixStream> {
    let stream = UnixStream::connect(path).context(NO_ANSWER)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(stream)
}

/// Sends a GET request, and returns the response.
fn get(mut stream: impl Read + Write, host: &str, path: &str) -> anyhow::Result<String> {
    // The request is sent in one piece, because a server may respond and close the connection after
    // it has read a part.
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    read_response(stream, TIMEOUT)
}

/// Reads a response, which must be complete within `limit`, even if each of its bytes arrives in
/// time. The read timeout of `stream` should not be longer.
fn read_response(mut stream: impl Read, limit: Duration) -> anyhow::Result<String> {
    let began = Instant::now();
    let (mut text, mut part) = (Vec::new(), [0; 4096]);
    while text.len() < MAX_RESPONSE {
        let read = stream.read(&mut part);
        // The kind of the error of a timeout depends on the system.
        let is_over = read.as_ref().is_err_and(|error| {
            matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
        });
        if is_over || began.elapsed() >= limit {
            bail!("no complete response within {} s", limit.as_secs());
        }
        match read {
            Ok(0) => break,
            Ok(count) => text.extend_from_slice(&part[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// A server that sends a byte from time to time, for ever.
    #[test]
    fn a_slow_response_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            while client.write_all(b"H").is_ok() {
                thread::sleep(Duration::from_millis(50));
            }
        });
        let stream = TcpStream::connect(address).unwrap();
        let error = read_response(stream, Duration::from_secs(1)).unwrap_err().to_string();
        assert_eq!(error, "no complete response within 1 s");
    }

    #[test]
    fn a_silent_server_is_reported() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let limit = Duration::from_secs(1);
        stream.set_read_timeout(Some(limit)).unwrap();
        let error = read_response(stream, limit).unwrap_err().to_string();
        assert_eq!(error, "no complete response within 1 s");
    }

    #[test]
    fn every_address_of_a_name_is_tried() {
        let [open, closed] = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let [first, second] = [&closed, &open].map(|listener| listener.local_addr().unwrap());
        drop(closed);
        let stream = connect_to_any([first, second].into_iter()).unwrap();
        assert_eq!(stream.peer_addr().unwrap(), second);
        let error = connect_to_any([first].into_iter()).unwrap_err().to_string();
        assert_eq!(error, NO_ANSWER);
        let error = connect_to_any([].into_iter()).unwrap_err().to_string();
        assert_eq!(error, "the name has no address");
    }

    #[test]
    fn addresses_in_all_forms_are_parsed() {
        let tcp = |address: &str, host: &str, path: &str| {
            let [address, host, path] = [address, host, path].map(str::to_owned);
            Target::Tcp { address, host, path }
        };
        for (url, expected) in [
            ("http://127.0.0.1:8080/readyz", tcp("127.0.0.1:8080", "127.0.0.1:8080", "/readyz")),
            ("127.0.0.1:8080", tcp("127.0.0.1:8080", "127.0.0.1:8080", "/readyz")),
            ("localhost/health", tcp("localhost:80", "localhost", "/health")),
            ("http://[::1]:8080/", tcp("[::1]:8080", "[::1]:8080", "/readyz")),
            ("[::1]", tcp("[::1]:80", "[::1]", "/readyz")),
            ("unix:/run/miriam.sock", Target::Unix("/run/miriam.sock".into())),
            ("unix:///run/miriam.sock", Target::Unix("/run/miriam.sock".into())),
        ] {
            assert_eq!(Target::parse(url).unwrap(), expected, "{url}");
        }
        for wrong in ["https://a", "ftp://a", "", "/readyz", "unix:", "http://"] {
            assert!(Target::parse(wrong).is_err(), "{wrong}");
        }
    }
}
