//! The page for people, as a browser gets it.

use serde_json::json;

use super::client::Server;
use super::toy_neural;

#[test]
fn the_page_is_served_with_its_files_and_can_be_left_out() {
    let server = Server::start(&["--model", &toy_neural()]);
    let page = server.get("/");
    assert_eq!(page.status, 200);
    assert!(page.header("content-type").starts_with("text/html"), "{page:?}");
    assert!(page.header("content-security-policy").contains("default-src 'self'"));
    let html = page.text();
    for file in ["style.css", "app.js"] {
        assert!(html.contains(file), "{file}");
        let found = server.get(&format!("/{file}"));
        assert_eq!((found.status, found.header("x-content-type-options")), (200, "nosniff"));
        assert!(!found.body.is_empty());
    }
    assert_eq!(server.get("/favicon.ico").status, 204);
    // The requests that the page makes.
    let models = server.get("/v1/models").json();
    assert!(models.to_string().contains("neural"), "{models}");
    let asked = json!({"text": ["maría paints a door ."], "split": true, "n_best": 2,
        "alignment": true, "word_scores": true});
    let found = server.post_json("/v1/translate", &asked).json();
    let sentence = &found["results"][0]["sentences"][0];
    assert_eq!(sentence["translations"].as_array().map(Vec::len), Some(2), "{found}");
    assert!(sentence["translations"][0]["alignment"].is_array(), "{found}");

    let server = Server::start(&["--model", &toy_neural(), "--no-page"]);
    assert_eq!(server.get("/").status, 404);
}

/// A refused request counts against the quota of its key, so the page must know the limit.
#[test]
fn the_page_is_told_the_limit_of_search_graphs() {
    let (_folder, server) = super::faults::with_limits("graph-words = 3", &super::toy());
    assert_eq!(server.get("/v1/models").json()["limits"], json!({"graph_words": 3}));
}
