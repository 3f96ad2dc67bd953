//! Content negotiation by the header `Accept` (RFC 9110, 12.5.1).

use hyper::header::{ACCEPT, HeaderMap};

/// A member of `Accept`: a range of media types with its weight.
#[derive(Clone, Copy)]
struct MediaRange<'h> {
    main_type: &'h str,
    subtype: &'h str,
    /// Thousandths.
    weight: u16,
}

/// How much a client wants a media type. Greater is more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Preference {
    weight: u16,
    /// 0 for `*/*`, 1 for `type/*`, 2 for `type/subtype`.
    specificity: u8,
}

/// Whether a client prefers `media_type` to `default`, the type that it gets without a header. Of
/// equal weights, a type that the header names is preferred to one of a range, and the first that
/// it names to later ones.
pub fn prefers(headers: &HeaderMap, media_type: &str, default: &str) -> bool {
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges: Vec<MediaRange> = values
        .flat_map(|value| split_outside_quotes(value, ','))
        .filter_map(MediaRange::parse)
        .collect();
    let Some((wanted, position)) = find_preference(&ranges, media_type) else { return false };
    if wanted.weight == 0 {
        return false;
    }
    match find_preference(&ranges, default) {
        None => true,
        Some((other, _)) if wanted != other => wanted > other,
        Some((_, other_position)) => position < other_position,
    }
}

/// Returns how much `media_type` is wanted by the most specific of `ranges` that has it, and the
/// position of that range.
fn find_preference(ranges: &[MediaRange], media_type: &str) -> Option<(Preference, usize)> {
    let (main_type, subtype) = media_type.split_once('/')?;
    let matching = ranges.iter().enumerate().filter_map(|(position, range)| {
        let specificity = range.match_type(main_type, subtype)?;
        Some((Preference { weight: range.weight, specificity }, position))
    });
    // Parameters are not compared, so a type may occur several times; its greatest weight counts.
    matching.reduce(|best, other| {
        let is_better = (other.0.specificity, other.0.weight) > (best.0.specificity, best.0.weight);
        if is_better { other } else { best }
    })
}

impl<'h> MediaRange<'h> {
    /// Parses a member. `None` for one that is malformed.
    fn parse(member: &'h str) -> Option<Self> {
        let mut parts = split_outside_quotes(member, ';').map(str::trim);
        let (main_type, subtype) = parts.next()?.split_once('/')?;
        let is_half_open = main_type == "*" && subtype != "*";
        if main_type.is_empty() || subtype.is_empty() || is_half_open {
            return None;
        }
        // What follows the weight are extensions, which no registered use has.
        let weight = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim_end().eq_ignore_ascii_case("q").then(|| value.trim_start())
        });
        let weight = weight.map_or(Some(1000), parse_weight)?;
        Some(MediaRange { main_type, subtype, weight })
    }

    /// Returns the specificity of the range if it has a media type.
    fn match_type(&self, main_type: &str, subtype: &str) -> Option<u8> {
        match (self.main_type, self.subtype) {
            ("*", _) => Some(0),
            (own, "*") => own.eq_ignore_ascii_case(main_type).then_some(1),
            (own, own_subtype) => (own.eq_ignore_ascii_case(main_type)
                && own_subtype.eq_ignore_ascii_case(subtype))
            .then_some(2),
        }
    }
}

/// Parses a weight, a number from 0 to 1 with at most three decimals, into thousandths.
fn parse_weight(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let decimals: u16 = format!("{decimals:0<3}").parse().ok()?;
    match whole {
        "0" => Some(decimals),
        "1" if decimals == 0 => Some(1000),
        _ => None,
    }
}

/// Splits `text` at each `separator` that is not in a quoted string.
fn split_outside_quotes(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.split(move |letter| {
        if is_escaped {
            is_escaped = false;
        } else if is_quoted && letter == '\\' {
            is_escaped = true;
        } else if letter == '"' {
            is_quoted = !is_quoted;
        }
        !is_quoted && letter == separator
    })
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn prefers_lines(values: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(ACCEPT, HeaderValue::from_str(value).unwrap());
        }
        prefers(&headers, "application/x-ndjson", "application/json")
    }

    #[test]
    fn weights_and_specific_types_decide() {
        for (value, is_preferred) in [
            ("application/x-ndjson", true),
            ("Application/X-NDJSON ; Q=0.001", true),
            ("application/x-ndjson;q=0", false),
            ("application/x-ndjson;q=0.000, */*", false),
            ("application/json, application/x-ndjson;q=0.5", false),
            ("application/json;q=0.4, application/x-ndjson;q=0.5", true),
            ("application/json;q=0.9, application/x-ndjson; q=1.000", true),
            ("application/x-ndjson, application/json", true),
            ("application/json, application/x-ndjson", false),
            // A type that is named is preferred to the others of a range.
            ("*/*, application/x-ndjson", true),
            ("application/json, text/plain, */*", false),
            ("application/json;q=0, */*", true),
            ("application/*;q=0.5, application/x-ndjson;q=0.1", false),
            ("*/*;q=0.1, application/*;q=0.5", false),
            ("*/*", false),
            ("", false),
            ("text/html", false),
            // Parameters, also with quoted separators.
            ("application/x-ndjson;charset=utf-8;q=0.5, application/json;q=0.2", true),
            ("text/plain;a=\"x, application/x-ndjson;\\\"\", application/json", false),
            ("text/plain;a=\"q=1\", application/x-ndjson;a=\"b,c\"", true),
            // Malformed members are ignored.
            ("application/x-ndjson;q=2, application/json;q=0.1", false),
            ("application/x-ndjson;q=0.1234", false),
            ("application/x-ndjson;q=1.001", false),
            ("application/x-ndjson;q=.5", false),
            ("ndjson, */x-ndjson, , application/, application/x-ndjson;q=0.1", true),
            ("application/x-ndjson-seq", false),
        ] {
            assert_eq!(prefers_lines(&[value]), is_preferred, "{value}");
        }
        assert!(!prefers_lines(&[]));
        assert!(prefers_lines(&["application/json;q=0.1", "application/x-ndjson;q=0.2"]));
    }
}
