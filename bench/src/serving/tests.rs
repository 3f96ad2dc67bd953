//! Load tests of minimal servers with known response times.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Mutex;

use super::*;

/// Starts a server that handles one request at a time: it waits for `time`, then sends `answer`.
fn server(time: Duration, answer: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        // The lock is held while a request waits for its answer.
        let turn: &'static Mutex<()> = Box::leak(Box::default());
        for stream in listener.incoming() {
            thread::spawn(move || serve(stream.unwrap(), turn, time, answer));
        }
    });
    address
}

/// Answers the requests of one connection until the client closes it.
fn serve(stream: TcpStream, turn: &Mutex<()>, time: Duration, answer: &str) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        assert!(String::from_utf8(body).unwrap().contains("line"));
        let held = turn.lock().unwrap();
        thread::sleep(time);
        drop(held);
        stream.get_mut().write_all(answer.as_bytes()).unwrap();
    }
}

const GOOD: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

fn options(folder: &std::path::Path, address: SocketAddr, arrivals: Arrivals) -> ServingOptions {
    let input = folder.join("text");
    std::fs::write(&input, "line 1\n\nline \"2\"\n").unwrap();
    ServingOptions {
        url: format!("http://{address}"),
        protocol: Protocol::V1,
        model: None,
        key: None,
        languages: [None, None],
        arrivals,
        seconds: 1.0,
        max_requests: None,
        input,
        output: folder.join("out"),
        pid: Some(std::process::id()),
        seed: 1,
        allow_remote: false,
    }
}

/// Returns the rows of an output file as numbers, without its header; words become NaN. In
/// `requests.csv`, the first columns are the intended time of sending, the time of sending and the
/// end.
fn read_rows(folder: &std::path::Path, name: &str) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(folder.join("out").join(name)).unwrap();
    let rows = text.lines().skip(1);
    rows.map(|row| row.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect()).collect()
}

#[test]
fn a_closed_loop_waits_for_each_answer() {
    let folder = tempfile::tempdir().unwrap();
    let address = server(Duration::from_millis(20), GOOD);
    let mut options = options(folder.path(), address, Arrivals::Closed(3));
    options.max_requests = Some(12);
    let mut out = Vec::new();
    run(&options, &mut out).unwrap();
    let summary = String::from_utf8(out).unwrap();
    assert!(summary.contains("requests   12 in") && summary.contains("200 12"), "{summary}");
    let rows = read_rows(folder.path(), "requests.csv");
    assert_eq!(rows.len(), 12);
    // The server answers one request at a time. With three clients, the largest number of requests
    // under way is three.
    let end = rows.iter().map(|row| row[2]).fold(0.0, f64::max);
    assert!(end >= 12.0 * 0.02, "{end}");
    let under_way = |time: f64| rows.iter().filter(|row| row[1] <= time && time < row[2]).count();
    let max_under_way = rows.iter().map(|row| under_way(row[1])).max();
    assert_eq!(max_under_way, Some(3));
    let seconds = read_rows(folder.path(), "seconds.csv");
    assert_eq!(seconds.iter().map(|row| row[2]).sum::<f64>(), 12.0);
    assert!(seconds[0][5] > 0.0, "the memory of the process");
    let chart = std::fs::read_to_string(folder.path().join("out/latency.svg")).unwrap();
    roxmltree::Document::parse(&chart).unwrap();
}

/// A server that needs 20 ms per request gets one every 10 ms on average. Requests wait, and their
/// latency counts from the intended time of sending, as in Lindley's recursion.
#[test]
fn an_open_loop_measures_from_the_intended_time_of_sending() {
    let folder = tempfile::tempdir().unwrap();
    let service = 0.02;
    let address = server(Duration::from_secs_f64(service), GOOD);
    let options = options(folder.path(), address, Arrivals::Open(100.0));
    run(&options, &mut Vec::new()).unwrap();
    let mut rows = read_rows(folder.path(), "requests.csv");
    rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let arrivals: Vec<f64> = poisson_arrivals(100.0, 1.0, 1).collect();
    assert_eq!(rows.len(), arrivals.len());
    let mut server_is_free_at = 0.0f64;
    for arrival in &arrivals {
        server_is_free_at = server_is_free_at.max(*arrival) + service;
    }
    let last = rows.iter().map(|row| row[2]).fold(0.0, f64::max);
    assert!(last >= server_is_free_at - 0.01, "{last} {server_is_free_at}");
    let mean = rows.iter().map(|row| row[2] - row[0]).sum::<f64>() / rows.len() as f64;
    assert!(mean > 0.2, "the last requests wait about a second, the mean is half of it: {mean}");
}

#[test]
fn unusable_servers_options_and_texts_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let busy = "HTTP/1.1 503 Busy\r\ncontent-length: 4\r\n\r\nbusy";
    let address = server(Duration::ZERO, busy);
    let mut options = options(folder.path(), address, Arrivals::Closed(1));
    let failing = |options: &ServingOptions| run(options, &mut Vec::new()).unwrap_err().to_string();
    assert!(failing(&options).ends_with("the first request: 503: busy"), "{}", failing(&options));
    options.url = "http://192.0.2.1:80".into();
    assert!(failing(&options).contains("--yes-remote"));
    options.url = "http://127.0.0.1:1/v1".into();
    assert!(failing(&options).contains("without a path"));
    options.url = format!("http://{address}");
    options.protocol = Protocol::Libre;
    assert!(failing(&options).contains("--from"));
    std::fs::write(&options.input, "\n\n").unwrap();
    assert!(failing(&options).contains("no line with words"));
}

#[test]
fn every_address_of_a_name_is_tried() {
    let [open, closed] = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let [first, second] = [&closed, &open].map(|listener| listener.local_addr().unwrap());
    drop(closed);
    assert_eq!(find_answering(&[first, second]), Some(second));
    assert_eq!(find_answering(&[first]), Some(first));
    assert_eq!(find_answering(&[]), None);
}

#[test]
fn an_xml_rpc_fault_is_not_a_good_response() {
    let folder = tempfile::tempdir().unwrap();
    let fault = "HTTP/1.1 200 OK\r\nContent-Type: text/xml; charset=utf-8\r\ncontent-length: 15\r\n\
                 \r\n<fault></fault>";
    let address = server(Duration::ZERO, fault);
    let mut options = options(folder.path(), address, Arrivals::Closed(1));
    options.protocol = Protocol::XmlRpc;
    let error = run(&options, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("the first request: fault"), "{error}");
}
