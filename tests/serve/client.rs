//! A server under test, and a small client of HTTP/1.1 whose responses keep their heads as they
//! were sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::miriam;

/// The time limit of each wait for a server.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A server of the binary under test, which is killed at the end.
pub struct Server {
    pub child: Child,
    /// `127.0.0.1:PORT`.
    pub address: String,
}

/// A response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Response {
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the value of a header, empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        let value_start = |line: &'_ str| -> Option<usize> {
            let (known, _) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then_some(known.len() + 1)
        };
        self.head
            .lines()
            .find_map(|line| Some(line[value_start(line)?..].trim()))
            .unwrap_or_default()
    }
}

impl Server {
    /// Starts a server with these options, and waits until it is ready.
    pub fn start(options: &[&str]) -> Self {
        let mut command = miriam();
        command.args(["serve", "--threads", "2", "--listen", "127.0.0.1:0"]).args(options);
        let server = Server::start_by(&mut command);
        server.wait_until_ready();
        server
    }

    /// Starts a server by a command that prints its address.
    pub fn start_by(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://");
        let address = address.unwrap_or_else(|| panic!("it printed {line:?}")).to_owned();
        Server { child, address }
    }

    pub fn wait_until_ready(&self) {
        let began = Instant::now();
        while self.get("/readyz").status != 200 {
            assert!(began.elapsed() < PATIENCE, "{}", self.get("/readyz").text());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn get(&self, path: &str) -> Response {
        Client::connect(&self.address).request("GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, media_type: &str, body: &[u8]) -> Response {
        let mut client = Client::connect(&self.address);
        client.request("POST", path, &[("Content-Type", media_type)], body)
    }

    pub fn post_json(&self, path: &str, value: &serde_json::Value) -> Response {
        self.post(path, "application/json", value.to_string().as_bytes())
    }

    /// Sends a signal, by name.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap();
        assert!(status.success());
    }

    /// Returns the sum of the measurements whose names begin with `name` and whose lines contain
    /// `labels`.
    pub fn metric(&self, name: &str, labels: &str) -> f64 {
        let page = self.get("/metrics").text();
        let matching = page.lines().filter(|line| line.starts_with(name) && line.contains(labels));
        matching.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum()
    }

    /// Waits until `is_so` holds; panics with `what` if it takes too long.
    pub fn wait_for(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            assert!(began.elapsed() < PATIENCE, "waited for {what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection that stays open between requests.
pub struct Client(pub BufReader<TcpStream>);

impl Client {
    pub fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client(BufReader::new(stream))
    }

    pub fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Response {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("Content-Length: {}\r\n\r\n", body.len());
        let stream = self.0.get_mut();
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        self.response()
    }

    /// Reads a response.
    pub fn response(&mut self) -> Response {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.0.read_line(&mut head).unwrap() > 0, "the server closed: {head:?}");
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut response = Response { status, head, body: Vec::new() };
        if response.header("transfer-encoding") == "chunked" {
            while let Some(chunk) = self.chunk() {
                response.body.extend(chunk);
            }
        } else {
            let length = response.header("content-length").parse().unwrap_or(0);
            response.body.resize(length, 0);
            self.0.read_exact(&mut response.body).unwrap();
        }
        response
    }

    /// Reads the next chunk of a body; the last one, which is empty, gives `None`.
    pub fn chunk(&mut self) -> Option<Vec<u8>> {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        let size = usize::from_str_radix(line.trim(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        self.0.read_exact(&mut chunk).unwrap();
        chunk.truncate(size);
        (size > 0).then_some(chunk)
    }
}

/// Runs `work` for the numbers of `0..count` on `clients` threads, to which the numbers are dealt
/// in turn. Returns the results by number.
pub fn in_parallel<T: Send>(
    clients: usize,
    count: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..clients)
            .map(|client| {
                scope.spawn(move || {
                    let numbers = (client..count).step_by(clients);
                    numbers.map(|number| (number, work(number))).collect::<Vec<_>>()
                })
            })
            .collect();
        for thread in threads {
            for (number, result) in thread.join().unwrap() {
                results[number] = Some(result);
            }
        }
    });
    results.into_iter().map(Option::unwrap).collect()
}
