//! The page for people: three files in the binary, which use `/v1` for everything.

use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, HeaderValue, IF_NONE_MATCH,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, StatusCode};

use super::wrong_method;
use crate::http::{Call, Response, respond};

/// A file of the page: path, media type, bytes.
type File = (&'static str, &'static str, &'static str);

const FILES: [File; 3] = [
    ("/", "text/html; charset=utf-8", include_str!("../../page/index.html")),
    ("/app.js", "text/javascript; charset=utf-8", include_str!("../../page/app.js")),
    ("/style.css", "text/css; charset=utf-8", include_str!("../../page/style.css")),
];

/// The icon, which browsers request from every server. The page has none.
const ICON: &str = "/favicon.ico";

/// The policy of the page: it loads nothing from elsewhere, and no other page may frame it.
const POLICY: HeaderValue = HeaderValue::from_static("default-src 'self'; frame-ancestors 'none'");

/// Whether `path` belongs to the page.
pub(super) fn has(path: &str) -> bool {
    path == ICON || FILES.iter().any(|(name, ..)| *name == path)
}

pub(super) fn answer(call: &Call) -> Response {
    if call.method != Method::GET {
        return wrong_method("GET");
    }
    let Some((_, media_type, text)) = FILES.iter().find(|(name, ..)| *name == call.path) else {
        return respond(StatusCode::NO_CONTENT, "", "");
    };
    let tag = format!("\"{:016x}\"", miriam_storage::hash::hash64(text.as_bytes()));
    let is_known = has_tag(call.header(IF_NONE_MATCH), &tag);
    let mut response = if is_known {
        respond(StatusCode::NOT_MODIFIED, "", "")
    } else {
        respond(StatusCode::OK, media_type, *text)
    };
    let headers = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    // A browser checks each time whether the server has another version.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Whether the header If-None-Match names `tag`. Weak tags count too: a proxy that compresses the
/// page makes its tag weak.
fn has_tag(header: &str, tag: &str) -> bool {
    let mut known = header.split(',').map(str::trim);
    known.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_tags_and_the_asterisk_are_known() {
        for known in ["\"a\"", "W/\"a\"", "*", "\"b\", W/\"a\""] {
            assert!(has_tag(known, "\"a\""), "{known}");
        }
        for other in ["", "\"b\"", "W/\"b\"", "a"] {
            assert!(!has_tag(other, "\"a\""), "{other}");
        }
    }

    #[test]
    fn the_page_is_small_and_loads_nothing_from_other_hosts() {
        let size: usize = FILES.iter().map(|(.., text)| text.len()).sum();
        assert!(size < 60 << 10, "{size} bytes");
        for (path, _, text) in FILES {
            for elsewhere in ["http:", "https:", "src=\"//", "@import"] {
                let named = text.replace("http://www.w3.org/", "");
                assert!(!named.contains(elsewhere), "{path} has {elsewhere}");
            }
        }
        let html = FILES[0].2;
        assert!(!html.contains(" style=") && !html.contains("<style"), "the policy forbids these");
    }
}
