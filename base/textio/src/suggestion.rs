//! Suggestions for misspelt names, and shortened text for messages.

use std::borrow::Cow;

/// The minimum similarity (Jaro-Winkler) of a misspelt name.
const LEAST_SIMILARITY: f64 = 0.88;
/// The maximum number of characters of a compared name; the time of a comparison grows with its
/// square.
const MAX_NAME_CHARS: usize = 64;
/// The maximum number of characters of a text in a message.
const MAX_SHOWN_CHARS: usize = 80;

/// Returns the word of `known` that `name` most probably means, if any is similar enough. Case,
/// dashes and underscores are ignored: `nbest-list` means `n-best-list`.
pub fn suggest_name<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if name.chars().nth(MAX_NAME_CHARS).is_some() {
        return None;
    }
    let name = letters(name);
    let similar = known.into_iter().map(|known| {
        let similarity = strsim::jaro_winkler(&name, &letters(known));
        (similarity, known)
    });
    let most = similar.max_by(|(a, _), (b, _)| a.total_cmp(b));
    most.filter(|(similarity, _)| *similarity > LEAST_SIMILARITY).map(|(_, known)| known)
}

fn letters(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}

/// Shortens a long text from a file or command line to its beginning, for a message.
pub fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        None => text.into(),
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], text.len()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_recognized() {
        let known = ["n-best-list", "stack", "threads", "mini-batch"];
        assert_eq!(suggest_name("nbest-list", known), Some("n-best-list"));
        assert_eq!(suggest_name("stck", known), Some("stack"));
        assert_eq!(suggest_name("Mini_Batch", known), Some("mini-batch"));
        assert_eq!(suggest_name("beam", known), None);
        assert_eq!(suggest_name(&"stack".repeat(200_000), known), None);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shorten("short"), "short");
        let long = "ä".repeat(100);
        assert_eq!(shorten(&long), format!("{}... (200 bytes)", "ä".repeat(80)));
    }
}
