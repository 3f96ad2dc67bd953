//! Each protocol, as its clients write it.

use serde_json::json;

use super::client::{Server, in_parallel};
use super::{lines, toy, translate};

/// Returns an XML-RPC call with one struct; the values of `members` are XML.
fn call(members: &[(&str, String)]) -> String {
    let members = members
        .iter()
        .map(|(name, value)| format!("<member><name>{name}</name><value>{value}</value></member>"));
    format!(
        "<?xml version=\"1.0\"?><methodCall><methodName>translate</methodName><params><param>\
         <value><struct>{}</struct></value></param></params></methodCall>",
        members.collect::<String>()
    )
}

/// Returns the value of the member `text` of a response.
fn text(response: &str) -> &str {
    let start = "<name>text</name><value><string>";
    let rest =
        &response[response.find(start).unwrap_or_else(|| panic!("{response}")) + start.len()..];
    &rest[..rest.find("</string>").unwrap()]
}

#[test]
fn xml_rpc_gives_the_lines_of_the_command_line() {
    let lines = lines(60);
    let plain = translate(&lines, &[]);
    let marked = translate(&lines, &["-report-segmentation"]);
    let server = Server::start(&["--model", &toy()]);
    for clients in [1, 8] {
        for (align, expected) in [(false, &plain), (true, &marked)] {
            let found = in_parallel(clients, lines.len(), |number| {
                let line = format!("<string>{}</string>", lines[number].replace('&', "&amp;"));
                let flag = format!("<string>{align}</string>");
                let body = call(&[("text", line), ("align", flag)]);
                let response = server.post("/RPC2", "text/xml", body.as_bytes());
                assert_eq!(response.status, 200);
                assert_eq!(response.header("content-type"), "text/xml; charset=utf-8");
                assert_eq!(response.header("access-control-allow-origin"), "*");
                text(&response.text()).replace("&amp;", "&")
            });
            assert_eq!(&found, expected, "{clients} clients, align {align}");
        }
    }
}

#[test]
fn xml_rpc_faults_have_the_codes_of_xmlrpc_c() {
    let server = Server::start(&["--model", &toy()]);
    let text = ("text", "<string>the house</string>".to_owned());
    let method = |name: &str| {
        format!("<methodCall><methodName>{name}</methodName><params></params></methodCall>")
    };
    for (body, code, reason) in [
        (call(&[]), -503, "Missing source text"),
        (call(&[("text", "<i4>3</i4>".into())]), -501, "the text is not a string"),
        (call(&[text.clone(), ("weights", "x".into())]), -503, "weights is not available"),
        (
            call(&[text.clone(), ("nbest", "<i4>100000</i4>".into())]),
            -503,
            "nbest: give a number up to 100",
        ),
        (
            call(&[text.clone(), ("search-algorithm", "cube".into())]),
            -503,
            "search-algorithm: expected Stack, which the configuration of model toy sets",
        ),
        (call(&[text.clone(), ("time-out", "soon".into())]), -503, "time-out: expected seconds"),
        (method("optimize"), -506, "Method 'optimize' not defined"),
        ("<methodCall>".into(), -503, ""),
        ("no XML".into(), -503, ""),
    ] {
        for path in ["/RPC2", "/"] {
            let response = server.post(path, "text/xml", body.as_bytes());
            assert_eq!(response.status, 200, "{body}");
            let found = response.text();
            assert!(found.contains("<fault>") && found.contains(reason), "{found}");
            assert!(found.contains(&format!("<i4>{code}</i4>")), "{found}");
        }
    }
    let closed = server.post("/RPC2", "text/xml", method("close_session").as_bytes()).text();
    assert!(closed.contains("Session closed"), "{closed}");
    assert_eq!(server.get("/RPC2").status, 405);
    assert_eq!(server.post("/RPC3", "text/xml", b"").status, 404);
}

/// Calls may set the width of their search, and share the model with calls that do not.
#[test]
fn searches_are_as_wide_as_a_call_says() {
    let lines = lines(40);
    let plain = translate(&lines, &[]);
    let narrow = translate(&lines, &["-s", "1", "-cube-pruning-pop-limit", "1", "-b", "0.9"]);
    assert_ne!(plain, narrow);
    let server = Server::start(&["--model", &toy()]);
    let found = in_parallel(8, lines.len(), |number| {
        let line = ("text", format!("<string>{}</string>", lines[number].replace('&', "&amp;")));
        if number % 3 == 0 {
            let body = json!({"text": lines[number], "raw": false,
                "options": {"stack_size": 1, "pop_limit": 1, "beam_threshold": 0.9}});
            let found = server.post_json("/v1/translate", &body).json();
            return found["results"][0]["translations"][0]["text"].as_str().unwrap().to_owned();
        }
        let mut members = vec![line];
        if number % 3 == 1 {
            members.push(("stack", "<i4>1</i4>".into()));
            members.push(("cube-pruning-pop-limit", "<string>1</string>".into()));
            members.push(("beam-threshold", "<double>0.9</double>".into()));
            members.push(("search-algorithm", "normal".into()));
            members.push(("time-out", "60".into()));
        }
        let response = server.post("/RPC2", "text/xml", call(&members).as_bytes());
        text(&response.text()).replace("&amp;", "&")
    });
    for (number, found) in found.iter().enumerate() {
        let expected = if number % 3 == 2 { &plain } else { &narrow };
        assert_eq!(found, &expected[number], "line {number}");
    }
    for (options, detail) in [
        (json!({"stack_size": 0}), "a stack_size from 1 to 5000"),
        (json!({"pop_limit": 5001}), "a pop_limit from 1 to 5000"),
        (json!({"beam_threshold": 1.5}), "a beam_threshold from 0 to 1"),
    ] {
        let response = server.post_json("/v1/translate", &json!({"text": "a", "options": options}));
        assert_eq!(response.status, 400);
        assert!(response.json()["detail"].as_str().unwrap().contains(detail));
    }
}

#[test]
fn our_own_protocol_names_what_is_wrong() {
    let server = Server::start(&["--model", &toy(), "--model", &super::toy_neural()]);
    for (body, status, detail) in [
        (json!({}), 400, "text is missing"),
        (json!({"text": "a", "modle": "b"}), 400, "unknown field `modle`"),
        (json!({"text": "a", "model": "b"}), 404, "there is no model \"b\""),
        (json!({"text": "a", "from": "xx", "to": "es"}), 404, "xx is not supported"),
        (json!({"text": "a\nb"}), 400, "text 0 has more than one line; set split"),
        (json!({"text": "a", "n_best": 0}), 400, "n_best is 0"),
        (json!({"text": "a", "model": "toy", "word_scores": true}), 400, "for neural models"),
        (json!({"text": "a", "model": "toy", "prefix": "b"}), 400, "for neural models"),
        (json!({"text": "a", "model": "neural", "graph": true}), 400, "for phrase-based models"),
        (json!({"text": "a", "model": "neural", "n_best": 9}), 400, "the beam size, 4"),
        (
            json!({"text": "a", "model": "neural", "options": {"stack_size": 9}}),
            400,
            "for phrase-based models",
        ),
    ] {
        let response = server.post_json("/v1/translate", &body);
        assert_eq!(response.status, status, "{body}");
        assert_eq!(response.header("content-type"), "application/problem+json");
        let problem = response.json();
        assert_eq!(problem["status"], status);
        let found = problem["detail"].as_str().unwrap();
        assert!(found.contains(detail), "{body}: {found}");
    }
    assert_eq!(server.get("/v1/translate").status, 405);
    assert_eq!(server.get("/v1/nothing").status, 404);
    let models = server.get("/v1/models").json();
    let names: Vec<_> =
        models["models"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["toy", "neural"]);
}

#[test]
fn running_text_keeps_its_white_space() {
    let server = Server::start(&["--model", &super::toy_neural()]);
    let sentences = ["the red house is big .", "the small dog reads ."].map(str::to_owned);
    let expected = super::nmt_translate(&sentences, &[]);
    // The splitter begins no sentence with a lower-case letter, so a blank line separates the
    // sentences.
    let text = format!("  {}\n\n\t{} \n", sentences[0], sentences[1]);
    let response = server.post_json("/v1/translate", &json!({"text": text, "split": true}));
    let found = &response.json()["results"][0];
    let joined = format!("  {}\n\n\t{} \n", expected[0], expected[1]);
    assert_eq!(found["text"], joined, "{found}");
    assert_eq!(found["sentences"].as_array().unwrap().len(), 2);
    let split =
        server.post_json("/v1/split", &json!({"language": "en", "text": "It is. Mr. X is."}));
    assert_eq!(split.json()["results"], json!([["It is.", "Mr. X is."]]));
    let tokens =
        server.post_json("/v1/tokenize", &json!({"language": "en", "text": ["It's here."]}));
    assert_eq!(tokens.json()["results"], json!(["It &apos;s here ."]));
    let text =
        server.post_json("/v1/detokenize", &json!({"language": "en", "text": "It &apos;s here ."}));
    assert_eq!(text.json()["results"], json!(["It's here."]));
}

/// A sentence of more tokens than the model takes is translated in parts, as on the command line.
#[test]
fn long_sentences_are_translated_in_parts() {
    let server = Server::start(&["--model", &super::toy_neural()]);
    let long = ["the red house is big and"; 900].join(" ");
    let text = format!("The house is red. {long}");
    let expected = super::nmt_translate(
        std::slice::from_ref(&text),
        &["--split", "--source-language", "en", "--no-tuner-file"],
    );
    let body = json!({"q": text, "source": "en", "target": "es"});
    let found = server.post_json("/translate", &body).json();
    assert_eq!(found["translatedText"], expected[0], "{found}");
    let line = super::nmt_translate(std::slice::from_ref(&long), &[]);
    let found = server.post_json("/translator/translate", &json!([{"src": long}])).json();
    assert_eq!(found[0][0]["tgt"], line[0]);
}

#[test]
fn given_translations_have_the_scores_of_the_command_line() {
    let sources = lines(12);
    let targets = super::nmt_translate(&sources, &[]);
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, lines: &[String]| {
        let file = folder.path().join(name);
        std::fs::write(&file, lines.join("\n") + "\n").unwrap();
        file
    };
    let mut command = crate::common::miriam();
    command.args(["nmt", "score", "--quiet", "-m"]);
    command.arg(crate::common::project_root().join("examples/toy-neural/decoder.yml"));
    command.arg("--source").arg(write("source", &sources));
    command.arg("--target").arg(write("target", &targets));
    let printed = crate::common::run(&mut command);
    let printed: Vec<f64> =
        crate::common::lossy_text(&printed).lines().map(|line| line.parse().unwrap()).collect();
    let server = Server::start(&["--model", &super::toy_neural(), "--model", &toy()]);
    let scores = |found: &serde_json::Value| -> Vec<f64> {
        let results = found["results"].as_array().unwrap();
        results.iter().map(|one| one["log_probability"].as_f64().unwrap()).collect()
    };
    // Pairs are scored one per request while other translations run, then all in one request. The
    // command prints six digits, so its scores are compared with a tolerance.
    let single = in_parallel(8, 12, |number| {
        let body = json!({"source": sources[number], "target": targets[number]});
        server.post_json("/v1/translate", &json!({"text": sources[number]}));
        scores(&server.post_json("/v1/score", &body).json())[0]
    });
    let body = json!({"source": sources, "target": targets, "word_scores": true});
    let all = server.post_json("/v1/score", &body).json();
    assert_eq!(scores(&all), single);
    for ((found, expected), result) in
        single.iter().zip(&printed).zip(all["results"].as_array().unwrap())
    {
        assert!((found - expected).abs() <= 1e-5 * expected.abs(), "{found} {expected}");
        let words = result["word_scores"].as_array().unwrap();
        assert_eq!(result["tokens"], words.len());
        let sum: f64 = words.iter().map(|score| score.as_f64().unwrap()).sum();
        assert!((sum - found).abs() < 1e-4, "{sum} {found}");
    }
    let body = json!({"source": ["a", "b"], "target": "c"});
    assert_eq!(server.post_json("/v1/score", &body).status, 400);
    let body = json!({"source": "a", "target": "c", "model": "toy"});
    assert_eq!(server.post_json("/v1/score", &body).status, 400);
}

#[test]
fn json_lines_are_answered_in_order() {
    let lines = lines(300);
    let expected = translate(&lines, &[]);
    let server = Server::start(&["--model", &toy()]);
    let request = |line| json!({"text": line, "raw": false}).to_string() + "\n";
    let mut body: String = lines.iter().map(request).collect();
    body += "{\"text\": 7}\n \r\n\"the\n\"the house\"";
    let found =
        server.post("/v1/translate?stream=1", "application/x-ndjson", body.as_bytes()).text();
    let found = found.lines().map(|line| serde_json::from_str(line).unwrap());
    let found: Vec<serde_json::Value> = found.collect();
    assert_eq!(found.len(), lines.len() + 4);
    for (number, (line, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(line["line"], number + 1);
        assert_eq!(line["results"][0]["translations"][0]["text"], expected.as_str());
    }
    for (offset, reason) in [(0, "text"), (1, "the line is empty"), (2, "at line 1 column")] {
        let error = &found[lines.len() + offset]["error"];
        assert_eq!(error["status"], 400);
        assert!(error["detail"].as_str().unwrap().contains(reason), "{error}");
    }
    assert_eq!(found[lines.len() + 3]["results"].as_array().unwrap().len(), 1);
}

#[test]
fn language_models_score_as_the_command_line_does() {
    let model = crate::common::project_root().join("examples/toy/lm.arpa");
    let lines = ["la casa roja es grande .", "perro xyz", ""].map(str::to_owned);
    let mut command = crate::common::miriam();
    command.args(["lm", "perplexity", "--quiet", "--per-line"]).arg(&model);
    let printed = super::output(&mut command, &lines);
    let server = Server::start(&["--model", &toy(), "--model", &format!("lm={}", model.display())]);
    let found = server.post_json("/v1/perplexity", &json!({"text": lines})).json();
    for (result, line) in found["results"].as_array().unwrap().iter().zip(printed) {
        let fields: Vec<&str> = line.split('\t').collect();
        let numbers = ["log10", "tokens", "oov"].map(|name| result[name].to_string());
        assert_eq!(numbers, [fields[0], fields[1], fields[2]], "{line}");
    }
    let mut command = crate::common::miriam();
    command.args(["lm", "next", "--quiet", "--top", "3"]).arg(&model);
    let printed = super::output(&mut command, &["la casa".to_owned()]).remove(0);
    let body = json!({"text": "la casa", "top": 3});
    let found = server.post_json("/v1/next", &body).json()["results"][0].clone();
    let words = found.as_array().unwrap().iter();
    let words: Vec<String> =
        words.map(|one| format!("{}\t{}", one["word"].as_str().unwrap(), one["log10"])).collect();
    assert_eq!(words.join("\t"), printed);
    assert_eq!(server.post_json("/v1/translate", &json!({"text": "a", "model": "lm"})).status, 404);
}

#[test]
fn libretranslate_gives_the_translations_of_the_command() {
    let lines = lines(40);
    let expected: Vec<String> =
        translate(&lines, &[]).iter().map(|line| line.trim_end().to_owned()).collect();
    let server = Server::start(&["--model", &toy()]);
    let ask = |body: serde_json::Value| server.post_json("/translate", &body);
    for clients in [1, 8] {
        let found = in_parallel(clients, lines.len(), |number| {
            let body = json!({"q": lines[number], "source": "en", "target": "es"});
            ask(body).json()["translatedText"].as_str().unwrap().to_owned()
        });
        assert_eq!(found, expected);
    }
    let all = ask(json!({"q": lines, "source": "EN", "target": "es", "format": "text"}));
    assert_eq!(all.json()["translatedText"], json!(expected));
    assert_eq!(all.header("access-control-allow-origin"), "*");
    let others = ask(json!({"q": lines[0], "source": "auto", "target": "es", "alternatives": "2"}));
    let others = others.json();
    assert_eq!(others["translatedText"], expected[0]);
    assert_eq!(others["detectedLanguage"]["language"], "en");
    let list = others["alternatives"].as_array().unwrap();
    assert_eq!(list.len(), 2);
    assert!(list[0] != others["translatedText"] && list[0] != list[1]);
    // The parameters may also come in a form, in a multipart form, or in the query of a POST.
    let query = "q=the+house&source=en&target=es";
    let form = "application/x-www-form-urlencoded";
    let house = ask(json!({"q": "the house", "source": "en", "target": "es"})).text();
    assert_eq!(server.post("/translate", form, query.as_bytes()).text(), house);
    assert_eq!(server.post(&format!("/translate?{query}"), "", b"").text(), house);
    let part = |name: &str, value: &str| {
        format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let parts =
        part("q", "the house") + &part("source", "en") + &part("target", "es") + "--x--\r\n";
    let multipart = "multipart/form-data; boundary=x";
    assert_eq!(server.post("/translate", multipart, parts.as_bytes()).text(), house);
    let same = ask(json!({"q": " as it is ", "source": "es", "target": "es"}));
    assert_eq!(same.json(), json!({"translatedText": " as it is "}));
    for (body, status, error) in [
        (json!([]), 400, "Invalid JSON format"),
        (json!({}), 400, "Invalid request: missing q parameter"),
        (json!({"q": "a"}), 400, "Invalid request: missing source parameter"),
        (json!({"q": "a", "source": "en"}), 400, "Invalid request: missing target parameter"),
        (json!({"q": "a", "source": "zz", "target": "es"}), 400, "zz is not supported"),
        (json!({"q": "a", "source": "en", "target": "zz"}), 400, "zz is not supported"),
        (
            json!({"q": "a", "source": "en", "target": "es", "format": "odt"}),
            400,
            "odt format is not supported",
        ),
        (
            json!({"q": "a", "source": "en", "target": "es", "alternatives": "x"}),
            400,
            "Invalid request: alternatives parameter is not a number",
        ),
        (
            json!({"q": "a", "source": "en", "target": "es", "alternatives": 11}),
            400,
            "Invalid request: alternatives parameter must be <= 10",
        ),
    ] {
        let response = ask(body.clone());
        assert_eq!(response.status, status, "{body}");
        assert_eq!(response.json(), json!({"error": error}), "{body}");
    }
    let languages = server.get("/languages").json();
    let spanish = json!({"code": "es", "name": "Spanish", "targets": ["es"]});
    let english = json!({"code": "en", "name": "English", "targets": ["en", "es"]});
    assert_eq!(languages, json!([english, spanish]), "also one that is only a target");
    // Other codes of the same languages are accepted too.
    for (source, target) in [("eng", "spa"), ("en_Latn", "es-MX"), ("en-GB", "ES")] {
        let body = json!({"q": "the house", "source": source, "target": target});
        assert_eq!(ask(body).text(), house, "{source} {target}");
    }
    let backwards = ask(json!({"q": "la casa", "source": "es", "target": "en"}));
    let error = "English (en) is not available as a target language from Spanish (es)";
    assert_eq!((backwards.status, backwards.json()), (400, json!({"error": error})));
    assert_eq!(server.post("/detect", form, b"q=Hello").json()[0]["language"], "en");
    assert_eq!(server.get("/detect").status, 405);
    assert_eq!(server.get("/health").json(), json!({"status": "ok"}));
    assert_eq!(server.get("/frontend/settings").json()["charLimit"], -1);
    assert!(server.get("/spec").json()["paths"]["/translate"].is_object());
    let suggest = server.post("/suggest", form, b"");
    assert_eq!(
        (suggest.status, suggest.json()),
        (403, json!({"error": "Suggestions are disabled on this server."}))
    );
}

#[test]
fn translation_through_a_pivot_language() {
    let lines = lines(20);
    // The second model is the toy again, served as if it translated from Spanish to French.
    let ini = crate::common::project_root().join("examples/toy/moses.ini");
    let second = format!("second={},from=es,to=fr", ini.display());
    let server = Server::start(&["--model", &toy(), "--model", &second, "--pivot", "es"]);
    let step = translate(&lines, &[]);
    let expected =
        translate(&step.iter().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>(), &[]);
    let body = json!({"text": lines, "from": "en", "to": "fr"});
    let found = server.post_json("/v1/translate", &body).json();
    assert_eq!(found["model"], "toy@1+second@2");
    let texts = found["results"].as_array().unwrap().iter();
    let texts: Vec<&str> =
        texts.map(|one| one["translations"][0]["text"].as_str().unwrap()).collect();
    let expected: Vec<&str> = expected.iter().map(|line| line.trim_end()).collect();
    assert_eq!(texts, expected);
    let languages = server.get("/languages").json();
    assert_eq!(languages[0]["targets"], json!(["en", "es", "fr"]));
    let body = json!({"q": "a", "source": "fr", "target": "es"});
    assert_eq!(
        server.post_json("/translate", &body).json(),
        json!({"error": "Spanish (es) is not available as a target language from French (fr)"})
    );
    let body = json!({"text": "a", "from": "es", "to": "es"});
    assert_eq!(server.post_json("/v1/translate", &body).status, 404);
}

#[test]
fn opennmt_gives_the_translations_of_the_command() {
    let lines = lines(30);
    let expected = super::nmt_translate(&lines, &[]);
    let server = Server::start(&["--model", &super::toy_neural(), "--model", &toy()]);
    let ask = |body: serde_json::Value| {
        let response = server.post("/translator/translate", "", body.to_string().as_bytes());
        assert_eq!(response.status, 200);
        response.json()
    };
    let inputs: Vec<_> = lines.iter().map(|line| json!({"src": format!(" {line} ")})).collect();
    let found = ask(json!(inputs));
    for (number, result) in found[0].as_array().unwrap().iter().enumerate() {
        assert_eq!(result["tgt"], format!(" {} ", expected[number]));
        assert_eq!((&result["n_best"], &result["src"]), (&json!(1), &inputs[number]["src"]));
        assert!(result["pred_score"].as_f64().unwrap() < 0.0);
    }
    let phrase = translate(&lines[..1], &[])[0].trim_end().to_owned();
    for id in [json!(1), json!("toy")] {
        assert_eq!(ask(json!([{"src": lines[0], "id": id}]))[0][0]["tgt"], phrase);
    }
    let error = ask(json!([{"src": "a", "id": 7}]));
    assert_eq!(error, json!({"error": "No such model '7'", "status": "error"}));
    assert_eq!(ask(json!([{"id": 0}]))["status"], "error");
    let models = server.get("/translator/models").json();
    assert_eq!(
        models[1],
        json!({"model_id": 1, "opt": {}, "models": ["toy"], "loaded": true, "timeout": -1})
    );
    assert_eq!(server.get("/translator/health").json(), json!({"status": "ok"}));
    assert_eq!(server.post("/translator/unload_model/0", "", b"").status, 404);
}

#[test]
fn opus_mt_and_opus_cat() {
    let lines = lines(10);
    let expected = super::nmt_translate(&lines, &[]);
    let server = Server::start(&["--model", &super::toy_neural()]);
    for (line, expected) in lines.iter().zip(&expected) {
        let body = json!({"from": "en", "to": "es", "source": line});
        let found = server.post_json("/api/translate", &body).json();
        assert_eq!(found, json!({"translation": expected}));
        let query: String = line.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let parameters =
            format!("tokenCode=&input={query}&srcLangCode=en&trgLangCode=es&modelTag=");
        let get = |name: &str| server.get(&format!("/MtRestService/{name}?{parameters}"));
        let found = get("TranslateJson").json();
        assert_eq!(
            (&found["translation"], &found["Translation"]),
            (&json!(expected), &json!(expected))
        );
        let tokens = found["SegmentedTranslation"].as_array().unwrap();
        let joined: String = tokens.iter().map(|token| token.as_str().unwrap()).collect();
        assert_eq!(joined.replace('\u{2581}', " ").trim(), expected);
        assert_eq!(get("Translate").json(), json!(expected));
        assert_eq!(get("TranslateStream").text(), *expected);
    }
    let pair =
        server.post_json("/api/translate", &json!({"from": "en", "to": "xx", "source": "a"}));
    assert_eq!(pair.status, 200);
    assert_eq!(pair.json(), json!({"error": "Language pair en-xx not suppported"}));
    assert_eq!(server.get("/api/languages").json(), json!({"languages": {"en": ["es"]}}));
    assert_eq!(server.get("/api/ready").status, 204);
    assert_eq!(server.get("/MtRestService/ListSupportedLanguagePairs").json(), json!(["en-es"]));
    let wrong = server.get("/MtRestService/TranslateJson?input=a&srcLangCode=xx&trgLangCode=es");
    assert_eq!(wrong.status, 404);
    // Plug-ins differ in upper and lower case of path names, and send the content type of JSON
    // without a body.
    let mut client = super::client::Client::connect(&server.address);
    let json_type = [("Content-Type", "application/json")];
    let pairs = "/MTRestService/listSupportedLanguagePairs";
    assert_eq!(client.request("GET", pairs, &json_type, b"").json(), json!(["en-es"]));
    assert_eq!(server.get("/MTRestService/Other").status, 404);
}

#[test]
fn deepl_gives_the_translations_of_the_command() {
    let lines = lines(10);
    let expected = super::nmt_translate(&lines, &[]);
    let server = Server::start(&["--model", &super::toy_neural()]);
    let body = json!({"text": lines, "source_lang": "EN", "target_lang": "ES", "context": "toys"});
    let found = server.post_json("/v2/translate", &body).json();
    for (number, one) in found["translations"].as_array().unwrap().iter().enumerate() {
        assert_eq!(one["text"], expected[number]);
        assert_eq!(one["detected_source_language"], "EN");
        assert_eq!(one["billed_characters"], lines[number].chars().count());
    }
    let form = "text=the+house&text=the+dog&target_lang=ES&split_sentences=0";
    let found = server.post("/v2/translate", "application/x-www-form-urlencoded", form.as_bytes());
    assert_eq!(found.json()["translations"].as_array().unwrap().len(), 2);
    for (name, value) in [
        ("glossary_id", "x"),
        ("formality", "more"),
        ("tag_handling", "odt"),
        ("split_sentences", "7"),
        ("tag_handling_version", "v9"),
        ("model_type", "best"),
    ] {
        let mut body = json!({"text": ["a"], "target_lang": "ES"});
        body[name] = json!(value);
        let response = server.post_json("/v2/translate", &body);
        assert_eq!(response.status, 400, "{name}");
        assert!(response.json()["message"].is_string());
    }
    let mut client = super::client::Client::connect(&server.address);
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let targets = client.request("GET", "/v2/languages", &form, b"type=target").json();
    assert_eq!(
        targets,
        json!([{"language": "ES", "name": "Spanish", "supports_formality": false}])
    );
    assert_eq!(server.get("/v2/languages").json(), json!([{"language": "EN", "name": "English"}]));
    assert_eq!(server.get("/v2/languages?type=x").status, 400);
    // The server has no glossaries, style rules or translation memories: their lists are empty, and
    // a single glossary is not found.
    for (path, name) in [
        ("/v2/glossary-language-pairs", "supported_languages"),
        ("/v2/glossaries", "glossaries"),
        ("/v3/glossaries", "glossaries"),
        ("/v3/style_rules?page=0", "style_rules"),
        ("/v3/translation_memories", "translation_memories"),
    ] {
        assert_eq!(server.get(path).json(), json!({name: []}), "{path}");
    }
    let refused = server.post_json("/v2/glossaries", &json!({"name": "a"}));
    assert_eq!(refused.status, 405);
    assert_eq!(refused.json()["message"], "use GET: this list is always empty");
    // Texts that are not translated are not counted.
    let unknown = json!({"text": ["a"], "source_lang": "XX", "target_lang": "ES"});
    assert_eq!(server.post_json("/v2/translate", &unknown).status, 400);
    for path in ["/v2/glossaries/x", "/v2/glossaries/x/entries", "/v3/glossaries/x", "/v2/document"]
    {
        let response = server.get(path);
        assert_eq!(response.status, 404, "{path}");
        assert!(response.json()["message"].as_str().unwrap().starts_with("Not found"), "{path}");
    }
    let count = server.get("/v2/usage").json()["character_count"].as_u64().unwrap();
    let asked: usize = lines.iter().map(|line| line.chars().count()).sum();
    assert_eq!(count as usize, asked + "the house".len() + "the dog".len());
    let line_breaks = |split: &str| {
        let body = json!({"text": ["the\nhouse"], "target_lang": "ES", "split_sentences": split});
        let found = server.post_json("/v2/translate", &body).json();
        found["translations"][0]["text"].as_str().unwrap().matches('\n').count()
    };
    assert_eq!(["1", "nonewlines"].map(line_breaks), [1, 0]);
}

#[test]
fn protocols_can_be_left_out_and_origins_allowed() {
    let server =
        Server::start(&["--model", &toy(), "--apis", "v1,xmlrpc", "--cors", "https://a.example"]);
    assert_eq!(server.post_json("/translate", &json!({"q": "a"})).status, 404);
    assert_eq!(server.get("/v2/usage").status, 404);
    let mut client = super::client::Client::connect(&server.address);
    let mut origin = |origin: &str| {
        let response = client.request("GET", "/v1/models", &[("Origin", origin)], b"");
        response.header("access-control-allow-origin").to_owned()
    };
    assert_eq!(origin("https://a.example"), "https://a.example");
    assert_eq!(origin("https://b.example"), "");
    let preflight =
        client.request("OPTIONS", "/v1/translate", &[("Origin", "https://a.example")], b"");
    assert_eq!(preflight.status, 204);
    for name in ["Content-Type", "traceparent"] {
        assert!(preflight.header("access-control-allow-headers").contains(name), "{name}");
    }
    assert_eq!(preflight.header("access-control-max-age"), "86400");
    assert!(preflight.header("access-control-expose-headers").contains("Retry-After"));
    let id = client.request("GET", "/healthz", &[("X-Request-Id", "abc-1")], b"");
    assert_eq!(id.header("x-request-id"), "abc-1");
}
