//! Markup by DeepL's parameters: outlines, tags that split and tags that are copied.

use serde_json::{Value, json};

use super::client::Server;
use super::{toy, toy_neural};

/// Returns the translation of a text with parameters.
fn translate(server: &Server, text: &str, parameters: Value) -> String {
    let mut body = json!({"text": [text], "source_lang": "EN", "target_lang": "ES"});
    for (name, value) in parameters.as_object().unwrap() {
        body[name] = value.clone();
    }
    let found = server.post_json("/v2/translate", &body);
    assert_eq!(found.status, 200, "{}", found.text());
    found.json()["translations"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn elements_of_xml_are_units_unless_clients_say_otherwise() {
    for model in [toy(), toy_neural()] {
        let server = Server::start(&["--model", &model]);
        let plain = |text: &str| translate(&server, text, json!({}));
        let [house, dog] = ["the red house is big .", "the dog ."].map(plain);
        let document = "<trans-unit id=\"1\"><source>the red house is big .</source>\
                        <target>the dog .</target></trans-unit>";
        let expected = format!(
            "<trans-unit id=\"1\"><source>{house}</source><target>{dog}</target></trans-unit>"
        );
        assert_eq!(translate(&server, document, json!({"tag_handling": "xml"})), expected);
        // Without an outline, only the elements that are named split the text.
        let document = "<d><s>the house</s> <s>the dog</s></d>";
        for (parameters, is_split) in [
            (json!({}), true),
            (json!({"outline_detection": true}), true),
            (json!({"outline_detection": false}), false),
            (json!({"outline_detection": "0"}), false),
            (json!({"outline_detection": 0, "splitting_tags": "s,par"}), true),
            (json!({"outline_detection": false, "splitting_tags": ["par", "s"]}), true),
            (json!({"non_splitting_tags": ["s"]}), false),
            (json!({"split_sentences": "0"}), true),
        ] {
            let mut parameters = parameters;
            parameters["tag_handling"] = json!("xml");
            let found = translate(&server, document, parameters.clone());
            assert_eq!(found.matches("<s>").count(), 2, "{found}");
            let bare = found.replace("<d>", "").replace("</d>", "").replace("</s>", "");
            let bare = bare.replace("<s>", "");
            let expected = if is_split {
                format!("{} {}", plain("the house"), plain("the dog"))
            } else {
                plain("the house the dog")
            };
            assert_eq!(bare, expected, "{parameters}");
        }
        // Elements beside text are inside sentences.
        let found =
            translate(&server, "<p>the <b>red</b> house</p>", json!({"tag_handling": "xml"}));
        assert!(found.starts_with("<p>la casa <b>roja</b>"), "{found}");
    }
}

/// Editors send `<br>` as XML: text after it is translated too.
#[test]
fn text_after_elements_without_an_end_tag_is_translated() {
    let server = Server::start(&["--model", &toy()]);
    let xml = |text: &str| translate(&server, text, json!({"tag_handling": "xml"}));
    let house = translate(&server, "the house", json!({}));
    assert_eq!(xml("<a>the house"), format!("<a>{house}"));
    assert_eq!(xml("<a><b>the house</a></b>"), format!("<a><b>{house}</a></b>"));
    let found = xml("<doc><p>the red house <br> the house is big .</p></doc>");
    assert!(found.contains("<br>") && !found.contains("the"), "{found}");
}

#[test]
fn ignored_elements_come_back_as_they_were() {
    let server = Server::start(&["--model", &toy_neural()]);
    for handling in ["xml", "html"] {
        for tags in [json!("x,y"), json!(["x", "y"]), json!(["y, x"])] {
            let text = "the house <x id=\"10\">the dog &amp; %s</x> is big <y></y> .";
            let parameters = json!({"tag_handling": handling, "ignore_tags": tags});
            let found = translate(&server, text, parameters);
            assert!(found.contains("<x id=\"10\">the dog &amp; %s</x>"), "{found}");
            assert!(found.contains("<y></y>") && found.contains("la casa"), "{found}");
        }
    }
    // A form repeats the name of the parameter.
    let form = "text=%3Cx%3Ethe+dog%3C/x%3E+the+house&target_lang=ES&tag_handling=xml&\
                ignore_tags=y&ignore_tags=x";
    let found = server.post("/v2/translate", "application/x-www-form-urlencoded", form.as_bytes());
    let found = found.json()["translations"][0]["text"].as_str().unwrap().to_owned();
    let house = translate(&server, "the house", json!({}));
    assert_eq!(found, format!("<x>the dog</x> {house}"));
}

#[test]
fn parameters_that_would_have_no_effect_are_refused() {
    let server = Server::start(&["--model", &toy()]);
    for (name, value, handling) in [
        ("ignore_tags", json!(["x"]), Value::Null),
        ("splitting_tags", json!("x"), Value::Null),
        ("outline_detection", json!(false), Value::Null),
        ("outline_detection", json!(false), json!("html")),
        ("outline_detection", json!("maybe"), json!("xml")),
        ("ignore_tags", json!([1]), json!("xml")),
        ("style_id", json!("x"), json!("xml")),
        ("glossary_ids", json!(["x"]), json!("xml")),
        ("custom_instructions", json!(["be kind"]), Value::Null),
    ] {
        let mut body = json!({"text": ["a"], "target_lang": "ES", "tag_handling": handling});
        body[name] = value;
        let response = server.post_json("/v2/translate", &body);
        assert_eq!(response.status, 400, "{name}");
        assert!(response.json()["message"].as_str().unwrap().contains(name));
    }
    // Empty parameters have no effect.
    let body = json!({"text": ["the dog"], "target_lang": "ES", "ignore_tags": [],
                      "splitting_tags": null, "outline_detection": "", "glossary_id": ""});
    assert_eq!(server.post_json("/v2/translate", &body).status, 200);
}
