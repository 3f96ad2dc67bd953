//! `miriam bench serve` against a server, in each protocol.

use super::client::Server;
use super::{toy, toy_neural};
use crate::common::{lossy_text, miriam, project_root, run, run_to_error};

#[test]
fn loads_of_each_protocol_are_measured() {
    let lm = project_root().join("examples/toy/lm.arpa");
    let lm = format!("lm={}", lm.display());
    let server = Server::start(&["--model", &toy(), "--model", &toy_neural(), "--model", &lm]);
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://{}", server.address);
    let input = project_root().join("examples/toy/test.en");
    let pid = server.child.id().to_string();
    for (api, languages, load) in [
        ("v1", vec!["--model", "neural"], ["--rate", "30"]),
        ("libre", vec!["--from", "en", "--to", "es"], ["--clients", "3"]),
        ("xmlrpc", vec!["--model", "toy"], ["--clients", "2"]),
        ("marian", vec!["--model", "neural"], ["--clients", "2"]),
        ("perplexity", vec![], ["--rate", "60"]),
    ] {
        let output = folder.path().join(api);
        let mut command = miriam();
        command.args(["bench", "serve", &url, "--api", api, "--seconds", "1", "--pid", &pid]);
        command.arg("-i").arg(&input).arg("-o").arg(&output).args(languages).args(load);
        let summary = lossy_text(&run(&mut command));
        let counted = summary.lines().find(|line| line.starts_with("responses")).unwrap();
        assert!(counted.split_whitespace().count() == 3 && counted.contains(" 200 "), "{summary}");
        assert!(summary.contains("CPU time") && summary.contains("p99 "), "{summary}");
        let requests = std::fs::read_to_string(output.join("requests.csv")).unwrap();
        assert!(requests.lines().count() > 10, "{requests}");
        assert!(std::fs::read_to_string(output.join("latency.svg")).unwrap().contains("<svg"));
    }
    let asked = server.metric("miriam_requests_total", "api=\"xmlrpc\",status=\"200\"");
    let sent = std::fs::read_to_string(folder.path().join("xmlrpc/requests.csv")).unwrap();
    assert_eq!(asked as usize, sent.lines().count(), "a heading, and all requests but the first");
}

#[test]
fn another_machine_is_measured_only_with_yes_remote() {
    let input = project_root().join("examples/toy/test.en");
    let folder = tempfile::tempdir().unwrap();
    let mut command = miriam();
    command.args(["bench", "serve", "http://192.0.2.1:80", "--clients", "1", "-i"]);
    command.arg(&input).arg("-o").arg(folder.path());
    let message = run_to_error(&mut command);
    assert!(message.contains("--yes-remote"), "{message}");
}
