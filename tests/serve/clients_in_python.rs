//! Clients that were written for other servers, unmodified.

use std::process::Command;

use super::client::Server;
use super::{lines, toy, toy_neural, translate};
use crate::common::{lossy_text, report_skip};

/// Returns the Python that has the clients, if there is one: `MIRIAM_CLIENTS_PYTHON`, or `python3`.
fn python(modules: &[&str]) -> Option<Command> {
    let name = std::env::var("MIRIAM_CLIENTS_PYTHON").unwrap_or_else(|_| "python3".into());
    for module in modules {
        let found = Command::new(&name).args(["-c", &format!("import {module}")]).output();
        if !found.is_ok_and(|output| output.status.success()) {
            report_skip(&format!("{name} has no module {module} (MIRIAM_CLIENTS_PYTHON)"));
            return None;
        }
    }
    Some(Command::new(name))
}

/// Runs a script with arguments, which must succeed; returns what it printed.
fn run(mut python: Command, script: &str, arguments: &[&str]) -> String {
    let output = python.args(["-c", script]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", lossy_text(&output.stderr));
    lossy_text(&output.stdout)
}

/// All parts of responses, faults, several calls in one, and eight processes at once.
#[test]
fn xmlrpc_client() {
    let Some(command) = python(&["xmlrpc.client"]) else { return };
    let server = Server::start(&["--model", &toy()]);
    let script = r#"
import multiprocessing, sys, xmlrpc.client
url, lines = sys.argv[1], sys.argv[2].split("\n")

def translate(line):
    with xmlrpc.client.ServerProxy(url) as proxy:
        return proxy.translate({"text": line})["text"]

if __name__ == "__main__":
    proxy = xmlrpc.client.ServerProxy(url)
    assert "translate" in proxy.system.listMethods()
    assert proxy.system.methodHelp("translate") == "Does translation"
    full = proxy.translate({"text": lines[0], "align": True, "word-align": "true", "nbest": 3,
                            "add-score-breakdown": 1, "sg": "1", "no-ReportSegmentation": True,
                            "session-id": 7, "unknown-member": "is ignored"})
    assert sorted(full) == ["align", "nbest", "session-id", "sg", "text", "word-align"], full.keys()
    assert full["session-id"] == 7 and full["text"] == translate(lines[0])
    words = full["text"].split()
    assert [e["tgt-start"] for e in full["align"]][0] == 0
    assert full["align"][-1]["tgt-end"] == len(words) - 1
    covered = sorted(i for e in full["align"] for i in range(e["src-start"], e["src-end"] + 1))
    assert covered == list(range(len(lines[0].split()))), covered
    assert all(set(e) == {"source-word", "target-word"} for e in full["word-align"])
    best = full["nbest"][0]
    assert best["hyp"] == full["text"] and len(full["nbest"]) == 3
    assert best["fvals"].split()[0].endswith("=") and isinstance(best["totalScore"], float)
    values = [v for dense, sparse in best["scores"].values() for v in dense]
    shown = [float(v) for v in best["fvals"].split() if not v.endswith("=")]
    assert len(values) == len(shown) and all(abs(a - b) < 1e-4 * max(1, abs(a)) for a, b in zip(values, shown))
    nodes = {n["hyp"]: n for n in full["sg"]}
    assert nodes[0]["stack"] == 0 and "back" not in nodes[0]
    node, out = nodes[0], []
    while node["forward"] != -1.0:
        node = nodes[int(node["forward"])]
        out += node["out"].split()
    assert out == words, (out, words)
    assert abs(nodes[0]["fscore"] - node["score"]) < 1e-3
    for bad, code in [({}, -503), ({"text": "a", "weights": "x"}, -503), ({"text": "a", "stack": 0}, -503), ({"text": 3}, -501)]:
        try:
            proxy.translate(bad)
            raise SystemExit("no fault for %r" % bad)
        except xmlrpc.client.Fault as fault:
            assert fault.faultCode == code, fault
    listed = proxy.translate({"text": lines[0], "topt": True})["topt"]
    assert all(set(o) == {"phrase", "fscore", "start", "end", "scores", "labelledScores"} for o in listed)
    spans = {(o["start"], o["end"]) for o in listed}
    assert {(i, i) for i in range(len(lines[0].split()))} <= spans, spans
    for entry, span in zip(full["align"], ((e["src-start"], e["src-end"]) for e in full["align"])):
        phrase = " ".join(words[entry["tgt-start"]:entry["tgt-end"] + 1])
        assert any(o["phrase"] == phrase and (o["start"], o["end"]) == span for o in listed)
    for option in listed:
        labelled = [v for dense, sparse in option["labelledScores"].values() for v in dense]
        assert labelled and option["fscore"] < 0
        left = list(option["scores"])
        for value in labelled:
            left.remove(value)
        # The penalty of unknown words has no tuned weight, and no label.
        assert len(left) == 1, left
    one = proxy.translate({"text": lines[0], "nbest": 1, "add-score-breakdown": True})["nbest"]
    assert len(one) == 1 and one[0]["scores"] == best["scores"], one
    try:
        proxy.updater({"source": "a"})
        raise SystemExit("no fault")
    except xmlrpc.client.Fault as fault:
        assert fault.faultCode == -506, fault
    calls = xmlrpc.client.MultiCall(proxy)
    for line in lines[:5]:
        calls.translate({"text": line})
    assert [r["text"] for r in calls()] == [translate(line) for line in lines[:5]]
    odd = "gr\u00f6\u00dfe \U0001f600 <a> & \u4e2d"
    assert proxy.translate({"text": odd})["text"].split() == odd.split()
    with multiprocessing.Pool(8) as pool:
        print("\n".join(pool.map(translate, lines)))
"#;
    let lines = lines(64);
    let url = format!("http://{}/RPC2", server.address);
    let printed = run(command, script, &[&url, &lines.join("\n")]);
    let expected = translate(&lines, &[]);
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    let neural = Server::start(&["--model", &toy_neural()]);
    let Some(command) = python(&["xmlrpc.client"]) else { return };
    let script = "
import sys, xmlrpc.client
proxy = xmlrpc.client.ServerProxy(sys.argv[1])
found = proxy.translate({'text': 'the red house', 'align': True, 'nbest': 99})
assert len(found['nbest']) == 4 and found['nbest'][0]['hyp'] == found['text'], found
assert all(e['tgt-start'] == e['tgt-end'] for e in found['align'])
";
    run(command, script, &[&format!("http://{}/", neural.address)]);
}

/// Returns the JSON of lines, as an argument of a script.
fn as_argument(lines: &[String]) -> String {
    serde_json::json!(lines).to_string()
}

#[test]
fn libretranslatepy_translates_as_the_command() {
    let Some(command) = python(&["libretranslatepy"]) else { return };
    let server = Server::start(&["--model", &toy()]);
    let script = r#"
import json, sys, urllib.error
from libretranslatepy import LibreTranslateAPI
lines = json.loads(sys.argv[2])
api = LibreTranslateAPI("http://" + sys.argv[1])
assert api.languages() == [{"code": "en", "name": "English", "targets": ["en", "es"]},
                           {"code": "es", "name": "Spanish", "targets": ["es"]}]
assert api.detect("Hello")[0]["language"] == "en"
with_key = LibreTranslateAPI("http://" + sys.argv[1] + "/", api_key="any")
assert with_key.translate(lines[0], "auto", "es", timeout=20) == api.translate(lines[0])
try:
    api.translate("a", "en", "zz")
    raise SystemExit("no error")
except urllib.error.HTTPError as error:
    assert json.load(error)["error"] == "zz is not supported"
print("\n".join(api.translate(line, "en", "es") for line in lines))
"#;
    let lines = lines(20);
    let printed = run(command, script, &[&server.address, &as_argument(&lines)]);
    let expected = translate(&lines, &[]);
    let expected: Vec<&str> = expected.iter().map(|line| line.trim_end()).collect();
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn deep_translator() {
    let Some(command) = python(&["deep_translator"]) else { return };
    let server = Server::start(&["--model", &toy()]);
    let script = r#"
import json, sys
from deep_translator import LibreTranslator
url = "http://" + sys.argv[1] + "/"
translator = LibreTranslator(source="en", target="es", base_url=url, custom_url=url, api_key="any")
for line in json.loads(sys.argv[2]):
    print(translator.translate(line))
"#;
    let lines = lines(20);
    let printed = run(command, script, &[&server.address, &as_argument(&lines)]);
    let expected = translate(&lines, &[]);
    let expected: Vec<&str> = expected.iter().map(|line| line.trim_end()).collect();
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn the_library_of_deepl_translates_as_the_command() {
    let Some(command) = python(&["deepl"]) else { return };
    let server = Server::start(&["--model", &toy_neural()]);
    let script = r#"
import json, sys, deepl
translator = deepl.Translator("any", server_url="http://" + sys.argv[1])
lines = json.loads(sys.argv[2])
results = translator.translate_text(lines, source_lang="EN", target_lang="ES")
assert all(result.detected_source_lang == "EN" for result in results)
assert [result.billed_characters for result in results] == [len(line) for line in lines]
assert translator.translate_text(lines[0], target_lang="ES").text == results[0].text
assert [(one.code, one.name) for one in translator.get_target_languages()] == [("ES", "Spanish")]
assert [one.code for one in translator.get_source_languages()] == ["EN"]
usage = translator.get_usage()
assert usage.character.count >= sum(map(len, lines)) and not usage.any_limit_reached
try:
    translator.translate_text("a", source_lang="DE", target_lang="ES")
    raise SystemExit("no error")
except deepl.DeepLException as error:
    assert "DE is not supported" in str(error), error
print("\n".join(result.text for result in results))
"#;
    let lines = lines(20);
    let printed = run(command, script, &[&server.address, &as_argument(&lines)]);
    assert_eq!(printed.lines().collect::<Vec<_>>(), super::nmt_translate(&lines, &[]));
}

/// Markup with all parameters that the client has for it, and lists of what the server lacks.
#[test]
fn deepl_with_markup_and_glossaries() {
    let Some(command) = python(&["deepl"]) else { return };
    let server = Server::start(&["--model", &toy()]);
    let script = r#"
import sys, deepl
client = getattr(deepl, "DeepLClient", deepl.Translator)("any", server_url="http://" + sys.argv[1])

def translate(text, **options):
    return client.translate_text(text, source_lang="EN", target_lang="ES", **options).text

unit = "<unit><source>the house</source><target>the dog</target></unit>"
assert translate(unit, tag_handling="xml") == "<unit><source>la casa</source><target>el perro</target></unit>"
plain = translate(unit, tag_handling="xml", outline_detection=False)
assert plain.count("<source>") == plain.count("</target>") == 1, plain
split = translate(unit, tag_handling="xml", outline_detection=False, splitting_tags=["source", "target"])
assert split == "<unit><source>la casa</source><target>el perro</target></unit>", split
joined = translate("<s>the</s><s> house</s>", tag_handling="xml", non_splitting_tags="s")
assert joined.replace("<s>", "").replace("</s>", "").split() == ["la", "casa"], joined
kept = translate("the house <x>the &amp; dog</x>", tag_handling="xml", ignore_tags="x,y")
assert kept == "la casa <x>the &amp; dog</x>", kept
html = translate('<p>the <b>house</b></p><p translate="no">the dog</p>', tag_handling="html",
                 split_sentences="nonewlines", preserve_formatting=True, context="toys")
assert html == '<p>la <b>casa</b></p><p translate="no">the dog</p>', html

assert client.get_glossary_languages() == [] and client.list_glossaries() == []
for ask in [lambda: client.get_glossary("x"), lambda: client.get_glossary_entries("x"),
            lambda: client.delete_glossary("x")]:
    try:
        ask()
        raise SystemExit("no error")
    except deepl.GlossaryNotFoundException:
        pass
for ask in [lambda: client.create_glossary("a", "EN", "ES", {"house": "casa"}),
            lambda: client.translate_text("a", source_lang="EN", target_lang="ES", glossary="x"),
            lambda: translate("a", ignore_tags="x")]:
    try:
        ask()
        raise SystemExit("no error")
    except deepl.DeepLException:
        pass
if hasattr(client, "list_multilingual_glossaries"):
    assert client.list_multilingual_glossaries() == []
if hasattr(client, "get_all_style_rules"):
    assert client.get_all_style_rules() == []
if hasattr(client, "list_translation_memories"):
    assert client.list_translation_memories() == []
"#;
    run(command, script, &[&server.address]);
}

#[test]
fn websockets_translate_as_the_command() {
    let Some(command) = python(&["websockets"]) else { return };
    let server = Server::start(&["--model", &toy_neural()]);
    let script = r#"
import asyncio, json, sys, websockets
lines = json.loads(sys.argv[2])

async def one(part):
    async with websockets.connect("ws://%s/translate" % sys.argv[1]) as socket:
        answers = []
        for line in part:
            await socket.send(line)
            answers.append((await socket.recv()).rstrip("\n"))
        return answers

async def main():
    # Eight connections at once.
    parts = await asyncio.gather(*(one(lines[i::8]) for i in range(8)))
    for i in range(len(lines)):
        print(parts[i % 8][i // 8])

asyncio.run(main())
"#;
    let lines = lines(40);
    let printed = run(command, script, &[&server.address, &as_argument(&lines)]);
    assert_eq!(printed.lines().collect::<Vec<_>>(), super::nmt_translate(&lines, &[]));
}
