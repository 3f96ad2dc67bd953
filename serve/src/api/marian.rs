//! The websocket of `marian-server`: lines in, lines out.

use std::sync::Arc;

use hyper::Request;
use hyper::body::Incoming;

use super::parse_route_query;
use crate::app::App;
use crate::config::ModelKind;
use crate::engine::{RequestOptions, Sentence};
use crate::http::forms::{Fields, field};
use crate::http::websocket::{self, Answerer};
use crate::http::{Response, bearer};
use crate::refusal::Refusal;
use crate::request_record::RequestRecord;
use crate::text_translation::refuse_untranslated;

/// The translator of a websocket's messages, by the model that the address names.
struct Lines {
    app: Arc<App>,
    query: Fields,
    key: Option<String>,
}

pub(super) fn open(
    app: &Arc<App>,
    request: Request<Incoming>,
    record: &Arc<RequestRecord>,
) -> Response {
    let query = match parse_route_query(request.uri().query().unwrap_or_default()) {
        Ok(query) => query,
        Err(reason) => return websocket::refuse_address(&reason),
    };
    let key = bearer(request.headers()).or(field(&query, "api_key")).map(str::to_owned);
    let limit = app.configuration.limits.body_bytes;
    websocket::open(request, limit, Lines { app: Arc::clone(app), query, key }, record)
}

impl Answerer for Lines {
    async fn answer(&self, message: String) -> Result<String, (u16, String)> {
        self.translate(&message).await.map_err(|refusal| close_code(&refusal))
    }
}

/// Returns the code with which a websocket is closed.
pub(super) fn close_code(refusal: &Refusal) -> (u16, String) {
    let code = match refusal {
        Refusal::Internal(_) | Refusal::Deadline => 1011,
        Refusal::Overloaded(_) | Refusal::TooMany(_) | Refusal::Unavailable => 1013,
        Refusal::Route(_) if refusal.retry_after().is_some() => 1013,
        _ => 1008,
    };
    (code, refusal.detail())
}

impl Lines {
    async fn translate(&self, message: &str) -> Result<String, Refusal> {
        self.app.admit(self.key.as_deref(), message.chars().count())?;
        let registry = self.app.registry();
        let [model, from, to] = ["model", "from", "to"].map(|name| field(&self.query, name));
        let route = registry.route(model, from, to)?;
        // The end of the last line does not begin another line.
        let text = message.strip_suffix('\n').unwrap_or(message);
        let sentences: Vec<Sentence> = text
            .split('\n')
            .map(|line| Sentence {
                text: line.strip_suffix('\r').unwrap_or(line).as_bytes().to_vec(),
                ..Sentence::default()
            })
            .collect();
        let is_neural = route.models.last().is_some_and(|model| model.kind == ModelKind::Neural);
        let options = RequestOptions { lines: is_neural, ..RequestOptions::default() };
        let deadline = self.app.deadline(None);
        let found = self.app.translate(&route, sentences, options, deadline).await?;
        refuse_untranslated(&found.sentences)?;
        let mut answer = String::new();
        for result in &found.sentences {
            if is_neural {
                answer.push_str(&String::from_utf8_lossy(&result.lines));
            } else {
                answer.push_str(crate::app::best_text(result).trim_end());
                answer.push('\n');
            }
        }
        Ok(answer)
    }
}
