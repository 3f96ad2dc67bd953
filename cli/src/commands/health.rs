//! `miriam health`: asks a server whether it is ready. Containers that have nothing but the
//! binary ask with it.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;

/// How long a server may take for each step.
const TIMEOUT: Duration = Duration::from_secs(5);
/// What is read of a response: its first line.
const MAX_STATUS_LINE: u64 = 256;

/// Ask a server whether it is ready: status 0 if it is, 1 if not
///
/// Example: miriam health http://127.0.0.1:8080/readyz
#[derive(Args)]
pub struct Arguments {
    /// What to get, by HTTP; the answer of a server that is ready has status 200
    #[arg(default_value = "http://127.0.0.1:8080/readyz")]
    url: String,
}

pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let url = &arguments.url;
    let Some(rest) = url.strip_prefix("http://") else {
        bail!("{url}: give an address that begins with http://");
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = if path.is_empty() { "/readyz" } else { path };
    let with_port = if host.rsplit(']').next().unwrap_or(host).contains(':') {
        host.to_owned()
    } else {
        format!("{host}:80")
    };
    let status = get_status(&with_port, host, path).with_context(|| url.clone())?;
    if status != "200" {
        bail!("{url}: status {status}");
    }
    Ok(())
}

/// The status of the response to a GET request.
fn get_status(address: &str, host: &str, path: &str) -> anyhow::Result<String> {
    let address = address.to_socket_addrs()?.next().context("the name has no address")?;
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)
        .context("no answer; is miriam serve running there?")?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    // In one piece: a server may answer and close once it has read something.
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut text = Vec::new();
    stream.take(MAX_STATUS_LINE).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let status = text.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
    Ok(status.context("the answer is no HTTP/1.1")?.to_owned())
}
