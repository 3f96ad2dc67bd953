//! HTML and texts in unknown languages, by each protocol that has them.

use serde_json::{Value, json};

use super::client::Server;
use super::{lines, output, toy, toy_neural};
use crate::common::{lossy_text, miriam, project_root, run_with_input};

/// A page whose tags are around words, sentences and nothing.
const PAGE: &str = "<!DOCTYPE html>\n<p class=\"a\">The <b>red</b> house is <i>big</i> . \
    Where &amp; why ?<br>\n<img src=x> the small <a href=\"?a&b\"><em>dog</em> reads</a> . </p>\n\
    <script>if (a < b) { translate() }</script><!-- a comment --> \n\
    <span translate=\"no\">the house</span>\n";

/// Returns the translation of the page by the command line.
fn expected(is_neural: bool) -> String {
    let page = print_page(PAGE, is_neural);
    // Tags are kept, and what is not text is unchanged.
    for copied in ["<b>", "</a>", "<!DOCTYPE html>", "{ translate() }", "<!-- a comment -->"] {
        assert!(page.contains(copied), "{page}");
    }
    page
}

/// Returns the translation of a page by the command line.
fn print_page(page: &str, is_neural: bool) -> String {
    let mut command = miriam();
    if is_neural {
        command.args(["nmt", "translate", "--quiet", "--no-tuner-file", "--html"]);
        command.args(["--source-language", "en", "-m"]);
        command.arg(project_root().join("examples/toy-neural/decoder.yml"));
    } else {
        command.args(["translate", "-quiet", "-html", "--source-language", "en", "-f"]);
        command.arg(project_root().join("examples/toy/moses.ini"));
    }
    let found = run_with_input(&mut command, page.as_bytes());
    assert!(found.status.success(), "{}", lossy_text(&found.stderr));
    lossy_text(&found.stdout)
}

/// Returns the text of a page without its tags and without white space.
fn bare(page: &str) -> String {
    let parts = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<String>().split_whitespace().collect()
}

/// Returns a page of the test set of the toy, with a paragraph for each line and links of `size`
/// words.
fn linked_page(size: usize) -> String {
    let text = std::fs::read_to_string(project_root().join("examples/toy/test.en")).unwrap();
    let link = |words: &[&str]| format!("<a href=\"u\">{}</a>", words.join(" "));
    let paragraph = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let links: Vec<String> = words.chunks(size).map(link).collect();
        format!("<p>{}</p>\n", links.join(" "))
    };
    text.lines().map(paragraph).collect()
}

/// No link of a page is empty, even where the translation has fewer words than links; and tags do
/// not change its text.
#[test]
fn links_are_never_empty() {
    let text = std::fs::read_to_string(project_root().join("examples/toy/test.en")).unwrap();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (model, is_neural) in [(toy(), false), (toy_neural(), true)] {
        let server = Server::start(&["--model", &model]);
        let translated = if is_neural {
            super::nmt_translate(&lines, &[])
        } else {
            super::translate(&lines, &[])
        };
        for (size, count) in [(1, 426), (2, 225)] {
            let page = linked_page(size);
            assert_eq!(page.matches("<a ").count(), count);
            let found = print_page(&page, is_neural);
            assert_eq!(found.matches("<a href=\"u\">").count(), count);
            assert_eq!(found.matches("<a href=\"u\"></a>").count(), 0, "{found}");
            assert_eq!(bare(&found), bare(&translated.join("")));
            let body = json!({"text": page, "format": "html"});
            let ours = server.post_json("/v1/translate", &body).json();
            assert_eq!(ours["results"][0]["text"], found.as_str());
        }
    }
}

/// Words that a reader sees apart are not joined in the translation, and what is between them stays
/// there.
#[test]
fn elements_beside_each_other_are_apart() {
    for is_neural in [false, true] {
        let [house, dog] = ["the house", "the dog"].map(|text| {
            let page = print_page(text, is_neural);
            page.trim_end().to_owned()
        });
        assert!(house.starts_with("la casa") && dog.starts_with("el perro"), "{house}, {dog}");
        for page in [
            "<nav><a href=\"1\">H</a><a href=\"2\">D</a></nav>",
            "<label>H</label><input name=\"a\"><label>D</label>",
            "<ul><li>H</li><li>D</li></ul>",
            "<button>H</button><button>D</button>",
            "<select><option>H<option>D</select>",
            "<tr><td>H</td><td>D</td></tr>",
            "H<br>D<textarea>the house</textarea>H",
            "H<iframe src=a></iframe>D",
        ] {
            let fill = |h: &str, d: &str| page.replace('H', h).replace('D', d);
            let found = print_page(&fill("the house", "the dog"), is_neural);
            assert_eq!(found, fill(&house, &dog), "{page}");
        }
        for (page, copied) in [
            ("<p>the house<sup>1</sup> is big .</p>", "casa<sup>1</sup> "),
            ("<p>the house<sup>[1]</sup> is big .</p>", "casa<sup>[1]</sup> "),
            ("<p>the house<img src=a>the dog</p>", "<img src=a>"),
            ("<p>the house<svg>x</svg>the dog</p>", "<svg>x</svg>"),
            ("<p>the house<script>x</script>the dog</p>", "<script>x</script>"),
        ] {
            let found = print_page(page, is_neural);
            assert!(found.contains(copied), "{found}");
            // A word that is glued to another one is unknown, and copied.
            assert!(!found.contains("house"), "{found}");
        }
        let found = print_page("<p>the <b>h</b>ouse</p>", is_neural);
        assert!(found.contains("casa</b>") && !found.contains("ouse"), "{found}");
    }
}

#[test]
fn pages_are_those_of_the_command_line() {
    for (model, is_neural) in [(toy(), false), (toy_neural(), true)] {
        let expected = expected(is_neural);
        let server = Server::start(&["--model", &model]);
        let body = json!({"q": [PAGE, "the <b>house</b>"], "source": "en", "target": "es",
                          "format": "html"});
        let libre = server.post_json("/translate", &body).json();
        assert_eq!(libre["translatedText"][0], expected.as_str());
        assert!(libre["translatedText"][1].as_str().unwrap().contains("<b>"), "{libre}");
        let body = json!({"q": PAGE, "source": "auto", "target": "es", "format": "html",
                          "alternatives": 1});
        let libre = server.post_json("/translate", &body).json();
        assert_eq!(libre["translatedText"], expected.as_str());
        let other = libre["alternatives"][0].as_str().unwrap();
        assert!(other != expected && other.contains("</em>"), "{other}");
        let body = json!({"text": [PAGE], "target_lang": "ES", "tag_handling": "html"});
        let deepl = server.post_json("/v2/translate", &body).json();
        assert_eq!(deepl["translations"][0]["text"], expected.as_str());
        let body = json!({"text": PAGE, "format": "html"});
        let ours = server.post_json("/v1/translate", &body).json();
        assert_eq!(ours["results"][0]["text"], expected.as_str());
        let sources: Vec<String> = ours["results"][0]["sentences"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["source"].as_array().unwrap().len().to_string())
            .collect();
        assert_eq!(sources.len(), 3, "{ours}");
    }
}

/// Tags follow the word alignments through the pivot language. Here each word is unknown, so it is
/// its own translation.
#[test]
fn tags_go_through_a_pivot_language() {
    let ini = project_root().join("examples/toy/moses.ini");
    let model = |name: &str, pair: &str| format!("{name}={},{pair}", ini.display());
    let (first, second) = (model("one", "from=en,to=es"), model("two", "from=es,to=fr"));
    let server = Server::start(&["--model", &first, "--model", &second, "--pivot", "es"]);
    let page = "xyzzy <b>plugh</b> <i>frotz</i> gnusto";
    let body = json!({"text": page, "format": "html", "from": "en", "to": "fr"});
    let found = server.post_json("/v1/translate", &body).json();
    assert_eq!(found["results"][0]["text"], page, "{found}");
}

#[test]
fn markup_without_preparation_is_refused() {
    let server = Server::start(&["--model", &toy()]);
    let body = json!({"text": "a", "format": "html", "raw": false});
    assert_eq!(server.post_json("/v1/translate", &body).status, 400);
}

/// Texts of up to 40 characters are too short for detection: they get the language of all texts of
/// the request.
#[test]
fn short_texts_of_a_request_have_its_language() {
    let ini = project_root().join("examples/toy/moses.ini");
    let german = format!("german={},from=de,to=es", ini.display());
    let server = Server::start(&["--model", &toy(), "--model", &german]);
    let english = "The red house is big and the small dog reads the old green book. ".repeat(4);
    let short = "Das ist unser rotes Haus und unser Hund.";
    assert_eq!(short.chars().count(), 40);
    let detected = |texts: &[&str]| -> Vec<Value> {
        let body = json!({"q": texts, "source": "auto", "target": "es"});
        let found = server.post_json("/translate", &body).json();
        let all = found["detectedLanguage"].as_array().cloned().unwrap_or_default();
        all.iter().map(|one| one["language"].clone()).collect()
    };
    assert_eq!(detected(&[&english, short]), ["en", "en"]);
    assert_eq!(detected(&[&english, &format!("{short}.")]), ["en", "de"]);
    assert_eq!(detected(&[short]), ["de"]);
}

/// Two models whose languages are told apart by their script and their words.
#[test]
fn languages_are_detected() {
    let ini = project_root().join("examples/toy/moses.ini");
    let russian = format!("russian={},from=ru,to=es", ini.display());
    let server = Server::start(&["--model", &toy(), "--model", &russian]);
    let english = "The red house is big and the small dog reads the old green book.";
    let texts = [english, "Все люди рождаются свободными.", "Todos los hombres nacen libres."];
    let sources = |response: Value, name: &str| -> Vec<String> {
        let all = response["translations"].as_array().cloned().unwrap_or_default();
        all.iter().map(|one| one[name].as_str().unwrap().to_owned()).collect()
    };
    let body = json!({"text": texts[..2], "target_lang": "ES"});
    let found = server.post_json("/v2/translate", &body).json();
    assert_eq!(sources(found.clone(), "detected_source_language"), ["EN", "RU"], "{found}");
    // An attribute in English does not make a page English.
    let page = "<p class=\"the english description of it\">Все люди рождаются свободными.</p>";
    let body = json!({"text": [page], "target_lang": "ES", "tag_handling": "html"});
    let found = server.post_json("/v2/translate", &body).json();
    assert_eq!(sources(found, "detected_source_language"), ["RU"]);
    let body = json!({"text": [english], "source_lang": "EN", "target_lang": "ES"});
    let found = server.post_json("/v2/translate", &body).json();
    let mut command = miriam();
    command.args(["translate", "-quiet", "-f"]).arg(&ini);
    let expected = output(&mut command, &[english.to_owned()]);
    assert_eq!(found["translations"][0]["text"], expected[0].trim_end());
    let body = json!({"q": lines(1)[0], "source": "auto", "target": "es"});
    let found = server.post_json("/translate", &body).json();
    assert_eq!(found["detectedLanguage"]["language"], "en");
    let mut socket = super::websockets::Socket::open(&server, "/opus");
    for (text, language) in [(texts[0], "en"), (texts[1], "ru")] {
        let asked = json!({"text": text, "source": "detect", "target": "es"}).to_string();
        let found: Value = serde_json::from_str(&socket.ask(&asked)).unwrap();
        assert_eq!(found["source"], language, "{found}");
    }
}
