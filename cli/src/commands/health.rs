//! `miriam health`: asks a server whether it is ready. It is the health check of containers that
//! have no other program.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;

/// The time limit for all steps: finding the address of a name, connecting, and the response.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum number of bytes read from a response.
const MAX_RESPONSE: u64 = 64 << 10;
/// The path of a request to an address without one.
const DEFAULT_PATH: &str = "/readyz";
/// The message if the server cannot be reached.
const NO_ANSWER: &str = "no answer; is miriam serve running there?";

/// Ask a server whether it is ready: the exit status is 0 if it is, 1 if not
///
/// Example: miriam health http://127.0.0.1:8080/readyz
#[derive(Args)]
pub struct Arguments {
    /// The server: http://HOST:PORT or HOST:PORT, with or without the path of a page that responds
    /// with 200 if the server is ready [/readyz], or unix:PATH of its socket
    #[arg(default_value = "http://127.0.0.1:8080/readyz", value_name = "ADDRESS")]
    url: String,
}

/// The address of a server, and the path of the request.
#[derive(Debug, PartialEq)]
enum Target {
    /// `address` has a port; `host` is the value of the header `Host`.
    Tcp { address: String, host: String, path: String },
    /// The path of a socket. The path of the request is [`DEFAULT_PATH`].
    Unix(String),
}

impl Target {
    fn parse(url: &str) -> anyhow::Result<Self> {
        if let Some(path) = url.strip_prefix("unix:") {
            // The address may also be a URL: unix:///run/miriam.sock.
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
        let path = if path.len() <= 1 { DEFAULT_PATH } else { path };
        let has_port = host.rsplit(']').next().unwrap_or(host).contains(':');
        let address = if has_port { host.to_owned() } else { format!("{host}:80") };
        Ok(Target::Tcp { address, host: host.to_owned(), path: path.to_owned() })
    }
}

pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let url = &arguments.url;
    let answer = ask(Target::parse(url)?, TIMEOUT).with_context(|| url.clone())?;
    let status = answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
    let status = status.with_context(|| format!("{url}: the response is not HTTP/1.1"))?;
    if status != "200" {
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.trim()).unwrap_or_default();
        bail!("{}", format!("{url}: status {status} {body}").trim_end());
    }
    Ok(())
}

/// Returns the response of a server. Fails if it is not complete within `limit`, a limit for all
/// steps together.
fn ask(target: Target, limit: Duration) -> anyhow::Result<String> {
    let (sender, answer) = mpsc::channel();
    // Not all steps of the thread have time limits of their own; it ends with the program.
    thread::spawn(move || {
        let answer = match target {
            Target::Tcp { address, host, path } => TcpStream::connect(address)
                .context(NO_ANSWER)
                .and_then(|stream| get(stream, &host, &path)),
            Target::Unix(path) => UnixStream::connect(path)
                .context(NO_ANSWER)
                .and_then(|stream| get(stream, "localhost", DEFAULT_PATH)),
        };
        let _ = sender.send(answer);
    });
    answer
        .recv_timeout(limit)
        .with_context(|| format!("no complete response within {} s", limit.as_secs()))?
}

/// Sends a GET request, and returns the response, up to [`MAX_RESPONSE`] bytes.
fn get(mut stream: impl Read + Write, host: &str, path: &str) -> anyhow::Result<String> {
    // The request is sent in one piece, because a server may respond and close the connection after
    // it has read a part.
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut response = Vec::new();
    stream.take(MAX_RESPONSE).read_to_end(&mut response)?;
    Ok(String::from_utf8_lossy(&response).into_owned())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Instant;

    use super::*;

    fn ask_at(listener: &TcpListener) -> anyhow::Result<String> {
        let address = listener.local_addr().unwrap().to_string();
        let target = Target::Tcp { host: address.clone(), address, path: DEFAULT_PATH.into() };
        ask(target, Duration::from_secs(1))
    }

    /// The server sends a byte from time to time, for ever.
    #[test]
    fn a_slow_response_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.try_clone().unwrap();
        thread::spawn(move || {
            let (mut client, _) = server.accept().unwrap();
            while client.write_all(b"H").is_ok() {
                thread::sleep(Duration::from_millis(50));
            }
        });
        let error = ask_at(&listener).unwrap_err().to_string();
        assert_eq!(error, "no complete response within 1 s");
    }

    /// The system accepts the connection, but no program responds.
    #[test]
    fn a_silent_server_is_reported() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let began = Instant::now();
        let error = ask_at(&listener).unwrap_err().to_string();
        assert_eq!(error, "no complete response within 1 s");
        assert!(began.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_server_that_does_not_run_is_reported() {
        let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let target =
            Target::Tcp { host: unused.clone(), address: unused, path: DEFAULT_PATH.into() };
        let error = ask(target, Duration::from_secs(60)).unwrap_err().to_string();
        assert_eq!(error, NO_ANSWER);
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
