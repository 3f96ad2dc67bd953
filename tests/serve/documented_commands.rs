//! The commands of `docs/serve.md`, with the server that the page starts.

use std::process::Command;

use super::client::Server;
use crate::common::{lossy_text, miriam, project_root, report_skip};

#[test]
fn commands_of_the_page_print_what_it_shows() {
    for program in ["curl", "python3"] {
        if Command::new(program).arg("--version").output().is_err() {
            return report_skip(&format!("{program} is not there"));
        }
    }
    let page = std::fs::read_to_string(project_root().join("docs/serve.md")).unwrap();
    let mut server: Option<Server> = None;
    let mut run = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap().replace("\\\n", "");
        for part in block.split("$ ").skip(1) {
            let (command, expected) = part.split_once('\n').unwrap();
            let Some(server) = &server else {
                let options = command.strip_prefix("miriam ").expect("the page starts a server");
                let mut command = miriam();
                command.args(options.split_whitespace()).args(["--listen", "127.0.0.1:0"]);
                let started = Server::start_by(command.current_dir(project_root()));
                started.wait_until_ready();
                assert_eq!(expected, "listening on http://127.0.0.1:8080\n");
                server = Some(started);
                continue;
            };
            let asked = command.replace("127.0.0.1:8080", &server.address);
            let output = Command::new("bash").args(["-ec", &asked]).output().unwrap();
            let printed = lossy_text(&output.stdout);
            assert_eq!(printed.trim_end(), expected.trim_end(), "{command}");
            run += 1;
        }
    }
    assert!(run >= 5, "{run} commands were run");
}
