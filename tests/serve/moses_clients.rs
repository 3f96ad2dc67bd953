//! The calls of the sample clients that come with Moses, as their libraries write them, and the
//! members that Moses takes.

use super::client::Server;
use super::{lines, toy, toy_neural, translate};

/// Returns a call of `translate` with a struct of these members, each a name and a value in XML.
pub fn call(members: &[(&str, &str)]) -> String {
    let members: String = members
        .iter()
        .map(|(name, value)| format!("<member><name>{name}</name><value>{value}</value></member>"))
        .collect();
    method("translate", &format!("<param><value><struct>{members}</struct></value></param>"))
}

fn method(name: &str, parameters: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<methodCall><methodName>{name}</methodName>\
         <params>{parameters}</params></methodCall>"
    )
}

/// Returns the text between two marks.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let start = text.find(before).unwrap_or_else(|| panic!("{before} in {text}")) + before.len();
    &text[start..start + text[start..].find(after).unwrap()]
}

#[test]
fn sample_clients_are_answered_as_by_moses() {
    let line = lines(1).remove(0);
    let marked = translate(std::slice::from_ref(&line), &["-report-segmentation"]).remove(0);
    let plain = translate(std::slice::from_ref(&line), &[]).remove(0);
    let server = Server::start(&["--model", &toy()]);
    let clients = [
        // client.perl and client-stdin.perl: XMLRPC::Lite.
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><methodCall><methodName>translate</methodName>\
             <params><param><value><struct><member><name>report-all-factors</name><value><string>true\
             </string></value></member><member><name>align</name><value><string>true</string></value>\
             </member><member><name>text</name><value><string>{line}</string></value></member>\
             </struct></value></param></params></methodCall>"
        ),
        // client.py: xmlrpclib.
        format!(
            "<?xml version='1.0'?>\n<methodCall>\n<methodName>translate</methodName>\n<params>\n\
             <param>\n<value><struct>\n<member>\n<name>text</name>\n<value><string>{line}</string>\
             </value>\n</member>\n<member>\n<name>align</name>\n<value><string>true</string></value>\n\
             </member>\n<member>\n<name>report-all-factors</name>\n<value><string>true</string>\
             </value>\n</member>\n</struct></value>\n</param>\n</params>\n</methodCall>\n"
        ),
        // SampleClient.java and Translation-web: Apache's library leaves the type of strings out.
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><methodCall><methodName>translate</methodName>\
             <params><param><value><struct><member><name>report-all-factors</name><value>true</value>\
             </member><member><name>text</name><value>{line}</value></member><member><name>align\
             </name><value>true</value></member></struct></value></param></params></methodCall>"
        ),
    ];
    for body in clients {
        let response = server.post("/RPC2", "text/xml", body.as_bytes()).text();
        assert!(!response.contains("<fault>"), "{body}: {response}");
        assert_eq!(between(&response, "<name>text</name><value><string>", "</string>"), marked);
        for position in ["tgt-start", "src-start", "src-end"] {
            assert!(
                response.contains(&format!("<name>{position}</name><value><i4>")),
                "{response}"
            );
        }
    }
    // moses-client.py and client_multimodel.py send the line with its line feed. The older web
    // pages set members to false, and `nbest` to 0.
    let with_end = format!("<string>{line}\n</string>");
    let text = format!("<string>{line}</string>");
    let quiet: [&[(&str, &str)]; 3] = [
        &[("text", &with_end)],
        &[("text", &text), ("align", "false"), ("report-all-factors", "<string>false</string>")],
        &[
            ("text", &text),
            ("nbest", "<int>0</int>"),
            ("nbest-size", "<int>10</int>"),
            ("lambda", "<array><data/></array>"),
        ],
    ];
    for members in quiet {
        let response = server.post("/RPC2", "text/xml", call(members).as_bytes()).text();
        assert!(!response.contains("<fault>"), "{members:?}: {response}");
        let found = between(&response, "<name>text</name><value><string>", "</string>");
        assert_eq!(found, plain, "{members:?}");
    }
    // sgclient_weightUpdate.perl: Frontier::Client, after a method that changes weights.
    let graph = [("text", &*text), ("id", "<i4>0</i4>"), ("sg", "<string>true</string>")];
    let response = server.post("/RPC2", "text/xml", call(&graph).as_bytes()).text();
    for member in ["sg", "hyp", "stack", "forward", "fscore", "cover-start"] {
        assert!(response.contains(&format!("<name>{member}</name>")), "{member}: {response}");
    }
}

/// Every response has what the options of the system request.
#[test]
fn options_of_the_system_hold_for_all_calls() {
    let line = lines(1).remove(0);
    let marked = translate(std::slice::from_ref(&line), &["-report-segmentation"]).remove(0);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("serve.toml");
    let ini = crate::common::project_root().join("examples/toy/moses.ini");
    let configuration = format!(
        "[[model]]\nname = \"toy\"\npath = {ini:?}\n\
         options = [\"-report-segmentation\", \"-print-alignment-info\"]\n"
    );
    std::fs::write(&path, configuration).unwrap();
    let server = Server::start(&["--config", path.to_str().unwrap()]);
    let text = format!("<string>{line}</string>");
    let body = call(&[("text", &text), ("nbest", "<int>2</int>")]);
    let response = server.post("/RPC2", "text/xml", body.as_bytes()).text();
    for name in ["text", "hyp"] {
        let before = format!("<name>{name}</name><value><string>");
        assert_eq!(between(&response, &before, "</string>"), marked);
    }
    for name in ["align", "word-align"] {
        assert_eq!(response.matches(&format!("<name>{name}</name>")).count(), 3, "{response}");
    }
}

/// Options of the server may be given in each form of an option, and in the ini.
#[test]
fn the_server_of_one_system_is_configured_like_a_system() {
    let ini = crate::common::project_root().join("examples/toy/moses.ini");
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("requests");
    let text = std::fs::read_to_string(&ini).unwrap();
    let sections = format!("[server]\n1\n[server-port]\n0\n[server-log]\n{}\n", log.display());
    let own = folder.path().join("moses.ini");
    let toy = ini.parent().unwrap().display().to_string();
    std::fs::write(&own, sections + &text.replace("path=", &format!("path={toy}/"))).unwrap();
    let [ini, own] = [ini, own].map(|path| path.to_str().unwrap().to_owned());
    let line = lines(1).remove(0);
    let given: [&[&str]; 3] = [
        &["-f", &ini, "--server=true", "--server-port=0"],
        &["-f", &ini, "-server", "true", "-listen", "127.0.0.1:0", "-serial"],
        &["-f", &own],
    ];
    for options in given {
        let mut command = crate::common::miriam();
        command.arg("translate").args(options);
        let server = Server::start_by(&mut command);
        server.wait_until_ready();
        let body = call(&[("text", &format!("<string>{line}</string>"))]);
        let response = server.post("/RPC2", "text/xml", body.as_bytes()).text();
        assert!(response.contains("<name>text</name>"), "{options:?}: {response}");
    }
    assert!(!std::fs::read(&log).unwrap().is_empty());
    for (options, expected) in [
        (&["-server", "-server-port", "99999"][..], "give a number from 0 to 65535"),
        (&["-server", "-listen", "127.0.0.1:0", "-server-port", "1"], "have ports"),
        (&["-server", "-split"], "each request to a server gives its own"),
    ] {
        let mut command = crate::common::miriam();
        command.args(["translate", "-f", &ini]).args(options);
        let message = crate::common::run_to_usage_error(&mut command);
        assert!(message.contains(expected), "{options:?}: {message}");
    }
}

#[test]
fn members_for_a_single_call_are_accepted_if_they_change_nothing() {
    let server = Server::start(&["--model", &toy(), "--model", &toy_neural()]);
    let text = ("text", "<string>the house</string>");
    let ask = |path: &str, body: String| server.post(path, "text/xml", body.as_bytes()).text();
    for (name, value) in [
        ("report-all-factors", "<boolean>1</boolean>"),
        ("output-factors", "<string>0</string>"),
        ("factor-delimiter", "<string>|</string>"),
        ("output-factor-delimiter", "<string>|</string>"),
        ("xml-input", "<string>pass-through</string>"),
        ("max-phrase-length", "<int>20</int>"),
        ("stack-diversity", "<int>0</int>"),
        ("cube-pruning-diversity", "<int>0</int>"),
        ("cube-pruning-lazy-scoring", "<string>off</string>"),
        ("cube-pruning-deterministic-search", "<string>false</string>"),
        ("context", "<string/>"),
        ("search-algorithm", "<string>normal</string>"),
    ] {
        let response = ask("/RPC2", call(&[text, (name, value)]));
        assert!(!response.contains("<fault>"), "{name}: {response}");
    }
    for (name, value) in [
        ("xml-input", "<string>exclusive</string>"),
        ("max-phrase-length", "<int>3</int>"),
        ("stack-diversity", "<int>5</int>"),
        ("cube-pruning-diversity", "<int>100</int>"),
        ("cube-pruning-lazy-scoring", "<string>true</string>"),
        ("cube-pruning-deterministic-search", "<string>on</string>"),
        ("weights", "<string>LM0= 0.5</string>"),
        ("lambda", "<array><data><value><double>0.5</double></value></data></array>"),
        ("model_name", "<string>TranslationModel0</string>"),
        ("context", "<string>the dog</string>"),
        (
            "context-weights",
            "<struct><member><name>a</name><value><double>1</double></value></member></struct>",
        ),
        ("context-scope", "<string>a</string>"),
    ] {
        let response = ask("/RPC2", call(&[text, (name, value)]));
        let reason = between(&response, "<name>faultString</name><value><string>", "</string>");
        assert!(reason.starts_with(&format!("{name} is not available")), "{name}: {reason}");
    }
    // A neural model has no factors, so all of them are reported.
    let neural = ask("/RPC2?model=neural", call(&[text, ("report-all-factors", "true")]));
    assert!(!neural.contains("<fault>"), "{neural}");
    // Methods that are not available; a call with two parameters; a member that comes twice.
    let update = "<param><value><struct><member><name>source</name><value>a</value></member></struct></value></param>";
    for (name, parameters, reason) in [
        ("updater", update, "Method 'updater' not defined: tables do not change"),
        ("optimize", update, "Method 'optimize' not defined: weights are tuned by miriam tune"),
        ("setWeights", update, "Method 'setWeights' not defined: weights are those of"),
        ("translate_document", update, "Method 'translate_document' not defined<"),
        (
            "translate",
            "<param><value><struct></struct></value></param><param><value>a</value></param>",
            "one struct with a text is needed",
        ),
    ] {
        let response = ask("/RPC2", method(name, parameters));
        assert!(response.contains("<fault>") && response.contains(reason), "{response}");
    }
    let twice = ask("/RPC2", call(&[text, text]));
    assert!(
        twice.contains("the member &quot;text&quot; comes twice")
            || twice.contains("the member \"text\" comes twice"),
        "{twice}"
    );
    let twice = ask("/RPC2?model=toy&model=neural", call(&[text]));
    assert!(twice.contains("the query has \"model\" twice"), "{twice}");
    let closed = ask("/RPC2", method("close_session", "<param><value><struct/></value></param>"));
    assert!(closed.contains("Session closed"), "{closed}");
}

/// A system whose words have two factors prints the factors that its configuration names.
#[test]
fn factors_are_reported_as_the_configuration_says() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("table"), "a|x ||| b|y ||| 0.5\n").unwrap();
    let ini = |more: &str| {
        format!(
            "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\nDistortion\nPhraseDictionaryMemory \
             name=Table num-features=1 path=table input-factor=0,1 output-factor=0,1\n[weight]\n\
             UnknownWordPenalty0= 1\nDistortion0= 0.5\nTable= 1\n[input-factors]\n0\n1\n{more}"
        )
    };
    std::fs::write(at("one.ini"), ini("")).unwrap();
    std::fs::write(at("all.ini"), ini("[report-all-factors]\ntrue\n")).unwrap();
    let model = |name: &str| format!("{name}={}", at(&format!("{name}.ini")).display());
    let server = Server::start(&["--model", &model("one"), "--model", &model("all")]);
    let ask = |model: &str, reports: &str| {
        let body = call(&[("text", "a|x"), ("report-all-factors", reports)]);
        server.post(&format!("/RPC2?model={model}"), "text/xml", body.as_bytes()).text()
    };
    let text = |response: &str| {
        between(response, "<name>text</name><value><string>", "</string>").to_owned()
    };
    assert_eq!(text(&ask("one", "false")), "b ");
    assert_eq!(text(&ask("all", "true")), "b|y ");
    for (model, reports) in [("one", "true"), ("all", "false")] {
        let response = ask(model, reports);
        assert!(
            response.contains("report-all-factors is not available for a single call"),
            "{response}"
        );
    }
}
