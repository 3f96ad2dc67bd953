//! Requests of many clients share batches and translators, which does not change a byte of the
//! responses.

use serde_json::{Value, json};

use super::client::{Server, in_parallel};
use super::{lines, nmt_translate, toy, toy_neural, translate};
use crate::common::{lossy_text, miriam, run};
use crate::rescored_translation::{MODELS, WEIGHTS, write_ini};

fn v1(server: &Server, body: &Value) -> Value {
    let response = server.post_json("/v1/translate", body);
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()
}

fn best(response: &Value) -> String {
    response["results"][0]["translations"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn neural_translations_do_not_depend_on_other_clients() {
    let lines = lines(48);
    let expected = nmt_translate(&lines, &[]);
    let wider = nmt_translate(&lines, &["--n-best", "6", "-b", "6", "--alignment"]);
    let server = Server::start(&["--model", &toy_neural()]);
    for clients in [1, 8, 24] {
        // Every third request wants a list of a wider beam: another class of batches.
        let found = in_parallel(clients, lines.len(), |number| {
            let mut body = json!({"text": lines[number]});
            if number % 3 == 0 {
                body["n_best"] = json!(6);
                body["alignment"] = json!(true);
                body["options"] = json!({"beam_size": 6});
            }
            v1(&server, &body)
        });
        for (number, response) in found.iter().enumerate() {
            if number % 3 != 0 {
                assert_eq!(best(response), expected[number], "{clients} clients, line {number}");
                continue;
            }
            let list = response["results"][0]["translations"].as_array().unwrap();
            assert_eq!(list.len(), 6);
            for (rank, entry) in list.iter().enumerate() {
                let line: Vec<&str> = wider[6 * number + rank].split(" ||| ").collect();
                assert_eq!(entry["text"], line[1], "{clients} clients, line {number}");
                // The command line aligns the end of the sentence too.
                let length = |tokens: &Value| tokens.as_array().unwrap().len();
                let ends = [length(&response["results"][0]["source"]), length(&entry["tokens"])];
                let word_links = line[2].split(' ').filter(|link| {
                    let (source, target) = link.split_once('-').unwrap();
                    let [source, target]: [usize; 2] = [source, target].map(|n| n.parse().unwrap());
                    source < ends[0] && target < ends[1]
                });
                let links = entry["alignment"].as_array().unwrap();
                let links = links.iter().map(|link| format!("{}-{}", link[0], link[1]));
                assert_eq!(links.collect::<Vec<_>>(), word_links.collect::<Vec<_>>());
            }
        }
    }
    assert_eq!(server.metric("miriam_sentences_total", "outcome=\"ok\"") as usize, 3 * 48 + 1);
}

#[test]
fn lines_of_one_request_are_translated_together_and_in_order() {
    let lines = lines(40);
    let server = Server::start(&["--model", &toy_neural(), "--model", &toy()]);
    let texts = |model: &str, raw: bool| -> Vec<String> {
        let response = v1(&server, &json!({"model": model, "text": lines, "raw": raw}));
        let results = response["results"].as_array().unwrap();
        let text = |one: &Value| one["translations"][0]["text"].as_str().unwrap().to_owned();
        results.iter().map(text).collect()
    };
    assert_eq!(texts("neural", true), nmt_translate(&lines, &[]));
    assert_eq!(texts("toy", false), translate(&lines, &[]));
    let batches = server.metric("miriam_batch_sentences_count", "neural");
    assert!(batches < 40.0, "{batches} batches of 40 sentences");
}

#[test]
fn phrases_lists_and_graphs_are_those_of_the_command_line() {
    let lines = lines(20);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (list, graph, links) = (file("list"), file("graph"), file("links"));
    let options = [
        "-n-best-list",
        &list,
        "5",
        "-output-search-graph",
        &graph,
        "-alignment-output-file",
        &links,
    ];
    let best_lines = translate(&lines, &options);
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    let (list, graphs, links) = (read(&list), read(&graph), read(&links));
    let server = Server::start(&["--model", &toy()]);
    let found = in_parallel(4, lines.len(), |number| {
        let body = json!({"text": lines[number], "raw": false, "n_best": 5, "alignment": true,
                          "segmentation": true, "graph": true});
        v1(&server, &body)["results"][0].clone()
    });
    for (number, result) in found.iter().enumerate() {
        let translations = result["translations"].as_array().unwrap();
        assert_eq!(translations[0]["text"], best_lines[number].as_str());
        let own = links.lines().nth(number).unwrap().trim();
        let pairs = translations[0]["alignment"].as_array().unwrap().iter();
        let pairs: Vec<String> = pairs.map(|pair| format!("{}-{}", pair[0], pair[1])).collect();
        assert_eq!(pairs.join(" "), own);
        // The list of the command line has one entry more.
        let entries = list.lines().filter(|line| line.starts_with(&format!("{number} ||| ")));
        for (entry, line) in translations.iter().zip(entries) {
            let fields: Vec<&str> = line.split(" ||| ").collect();
            let words = entry["text"].as_str().unwrap().trim_end();
            assert_eq!(words, fields[1].trim_end());
            let total: f32 = fields.last().unwrap().trim().parse().unwrap();
            let score = entry["score"].as_f64().unwrap() as f32;
            assert!((score - total).abs() <= 1e-5 * total.abs(), "{score} {total}");
            // The field `LM0= -12.5 ...` has as many values as the object by name.
            let words = fields[2].split_whitespace();
            let named = words.clone().filter(|word| word.ends_with('=')).count();
            let values = words.count() - named;
            let features = entry["features"].as_object().unwrap();
            let counted: usize = features.values().map(|list| list.as_array().unwrap().len()).sum();
            assert_eq!((features.len(), counted), (named, values));
        }
        let mut expected: Value =
            serde_json::from_str(graphs.lines().nth(number).unwrap()).unwrap();
        expected["id"] = json!(0);
        assert_eq!(result["graph"], expected);
        let phrases = translations[0]["phrases"].as_array().unwrap();
        let joined: Vec<&str> = phrases.iter().map(|one| one["text"].as_str().unwrap()).collect();
        assert_eq!(joined.join(" "), best_lines[number].trim_end());
    }
}

/// Models of `[rescore]` choose the same translations, with the same lists, as on the command line.
#[test]
fn rescored_translations_are_those_of_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let [ini, input, list] = ["moses.ini", "input", "list"].map(|name| folder.path().join(name));
    write_ini(&ini, MODELS, WEIGHTS);
    let lines = lines(30);
    std::fs::write(&input, lines.join("\n") + "\n").unwrap();
    let mut command = miriam();
    command.args(["translate", "-quiet", "-f"]).arg(&ini).arg("-i").arg(&input);
    let best = lossy_text(&run(command.arg("-n-best-list").arg(&list).args(["4", "distinct"])));
    let best: Vec<&str> = best.lines().collect();
    let list = std::fs::read_to_string(&list).unwrap();
    let server = Server::start(&["--model", &format!("m={}", ini.display())]);
    let found = in_parallel(4, lines.len(), |number| {
        let body = json!({"text": lines[number], "n_best": 5});
        v1(&server, &body)["results"][0]["translations"].clone()
    });
    assert_ne!(translate(&lines, &[]), best, "the models change translations");
    let mut entries = list.lines();
    for (translations, best) in found.iter().zip(best) {
        assert_eq!(translations[0]["text"], best.trim_end());
        for translation in translations.as_array().unwrap() {
            let entry: Vec<&str> = entries.next().unwrap().split(" ||| ").collect();
            assert_eq!(translation["text"], entry[1].trim_end());
            let values = |name: &str| -> f64 {
                let (_, rest) = entry[2].split_once(&format!("{name}= ")).unwrap();
                rest.split(' ').next().unwrap().parse().unwrap()
            };
            for name in ["Neural0", "Reverse0", "Again"] {
                let value = translation["features"][name][0].as_f64().unwrap();
                assert!((value - values(name)).abs() < 1e-4 * (1.0 + value.abs()), "{entry:?}");
            }
        }
    }
    assert_eq!(entries.next(), None);
}

/// A system over real text, if the data are there.
#[test]
fn a_real_system_gives_the_lines_of_the_command_line() {
    let Some(data) = crate::common::shared_data("m30k-de-en") else { return };
    let ini = data.join("text.ini");
    let name = ini.to_str().unwrap();
    let text = crate::common::read_decompressed(&data.join("corpus/test.de.gz"));
    let text = crate::common::lossy_text(&text);
    let lines: Vec<String> = text.lines().take(100).map(str::to_owned).collect();
    let limits = ["-search-algorithm", "1", "-cube-pruning-pop-limit", "200", "-s", "200"];
    let mut command = crate::common::miriam();
    command.args(["translate", "-quiet", "-f", name]).args(limits);
    let expected = super::output(&mut command, &lines);
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("serve.toml");
    let toml = format!(
        "[[model]]\nname = \"m30k\"\npath = {name:?}\nfrom = [\"de\"]\nto = [\"en\"]\n\
         options = {limits:?}\n"
    );
    std::fs::write(&config, toml).unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    for clients in [1, 8] {
        let found = in_parallel(clients, lines.len(), |number| {
            best(&v1(&server, &json!({"text": lines[number], "raw": false})))
        });
        assert_eq!(found, expected, "{clients} clients");
    }
}
