//! Tokens of HTML and XML: tags, text and the rest, as byte ranges.
//!
//! Unlike in libraries for HTML, every byte of the input belongs to exactly one token, so that
//! untranslated parts can be copied. The code follows the parts of HTML's standard (13.2.5) that
//! decide where tokens end: quotes in tags, comments, and elements whose content is not markup.
//! There are two differences: a script ends at the first end tag, even if a comment in the script
//! contains it, and a CDATA section ends at `]]>` everywhere, not only in SVG and MathML. Text may
//! have any encoding that contains ASCII.

use std::ops::Range;

use super::elements;
use crate::steps;

/// The language of a document's markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Syntax {
    /// HTML: names are not case-sensitive, and the content of some elements is not markup.
    #[default]
    Html,
    /// XML: names are case-sensitive, and all elements are treated alike.
    Xml,
}

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// Its byte range in the document.
    pub(super) range: Range<usize>,
    /// Whether it consists of white space.
    pub(super) is_blank: bool,
}

impl Token {
    fn new(kind: TokenKind, range: Range<usize>, html: &[u8]) -> Self {
        let is_blank = html[range.clone()].iter().all(u8::is_ascii_whitespace);
        Token { kind, range, is_blank }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Text, with character references.
    Text,
    /// A start tag.
    Start(StartTag),
    /// The end tag of the element with this name.
    End(Box<[u8]>),
    /// A comment, a declaration, the content of a script, or malformed markup.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StartTag {
    /// The element's name; in HTML in lower case.
    pub(super) name: Box<[u8]>,
    /// Whether the tag ends with `/>`.
    pub(super) is_self_closing: bool,
    /// Whether the element's attributes request translation or forbid it; `None` if neither.
    pub(super) translate: Option<bool>,
    /// Whether its attribute `type` is `hidden`.
    pub(super) is_hidden: bool,
}

/// Returns the tokens of a document. Their ranges follow one another and cover all of it.
pub(super) fn tokenize(html: &[u8], syntax: Syntax) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < html.len() {
        let (kind, end) = next_token(html, at, syntax);
        let raw_text_element = match &kind {
            TokenKind::Start(tag) if syntax == Syntax::Html && elements::is_raw_text(&tag.name) => {
                Some(tag.name.clone())
            }
            _ => None,
        };
        tokens.push(Token::new(kind, at..end, html));
        at = end;
        if let Some(name) = raw_text_element {
            let end = find_raw_text_end(html, at, &name).unwrap_or(html.len());
            steps::count(end - at);
            if at < end {
                let is_text = elements::is_escapable_raw_text(&name);
                let kind = if is_text { TokenKind::Text } else { TokenKind::Other };
                tokens.push(Token::new(kind, at..end, html));
            }
            at = end;
        }
    }
    tokens
}

/// Returns the token that begins at `at`, and its end.
fn next_token(html: &[u8], at: usize, syntax: Syntax) -> (TokenKind, usize) {
    let rest = &html[at..];
    match rest {
        [b'<', b'!', b'-', b'-', ..] => (TokenKind::Other, comment_end(html, at)),
        [b'<', b'!', b'[', b'C', b'D', b'A', b'T', b'A', b'[', ..] => {
            other_until(html, at, b"]]>", 9)
        }
        _ if syntax == Syntax::Xml && rest.starts_with(b"<!DOCTYPE") => {
            (TokenKind::Other, doctype_end(html, at))
        }
        [b'<', b'/', b'>', ..] => (TokenKind::Other, at + 3),
        [b'<', b'?', ..] if syntax == Syntax::Xml => other_until(html, at, b"?>", 2),
        [b'<', b'!' | b'?', ..] => other_until(html, at, b">", 2),
        [b'<', b'/', letter, ..] if opens_name(*letter, syntax) => {
            let name = tag_name(&rest[2..]);
            match scan_attributes(html, at + 2 + name.len(), |_, _| ()) {
                Some((end, _)) => (TokenKind::End(fold_name(name, syntax)), end),
                None => (TokenKind::Other, html.len()),
            }
        }
        [b'<', b'/', _, ..] => other_until(html, at, b">", 2),
        [b'<', letter, ..] if opens_name(*letter, syntax) => start_tag(html, at, syntax),
        _ => {
            // A `<` that does not begin a tag is text.
            let mut end = 1;
            while let Some(next) = memchr::memchr(b'<', &rest[end..]) {
                end += next;
                if rest
                    .get(end + 1)
                    .is_some_and(|byte| opens_name(*byte, syntax) || b"!/?".contains(byte))
                {
                    steps::count(end);
                    return (TokenKind::Text, at + end);
                }
                end += 1;
            }
            steps::count(rest.len());
            (TokenKind::Text, html.len())
        }
    }
}

/// Returns the token from `at` to the end of the first `mark` after its first `skipped` bytes.
fn other_until(html: &[u8], at: usize, mark: &[u8], skipped: usize) -> (TokenKind, usize) {
    let end = find_after(html, at + skipped, mark).unwrap_or(html.len());
    (TokenKind::Other, end)
}

/// Finds the end of the first `pattern` from `from` on.
fn find_after(html: &[u8], from: usize, pattern: &[u8]) -> Option<usize> {
    let from = from.min(html.len());
    let found = memchr::memmem::find(&html[from..], pattern).map(|at| from + at + pattern.len());
    steps::count(found.unwrap_or(html.len()) - from);
    found
}

/// Whether a name may begin with `byte`.
fn opens_name(byte: u8, syntax: Syntax) -> bool {
    byte.is_ascii_alphabetic()
        || syntax == Syntax::Xml && (matches!(byte, b'_' | b':') || !byte.is_ascii())
}

/// Returns a name in the form used for comparison.
pub(super) fn fold_name(name: &[u8], syntax: Syntax) -> Box<[u8]> {
    match syntax {
        Syntax::Html => name.to_ascii_lowercase().into(),
        Syntax::Xml => name.into(),
    }
}

/// Finds the end of the XML document type declaration that begins at `at`. It may have other
/// declarations in brackets.
fn doctype_end(html: &[u8], at: usize) -> usize {
    let (mut at, mut is_in_brackets) = (at + 2, false);
    loop {
        let next = position_from(html, at, |byte| b"\"'<>[]".contains(&byte));
        at = match &html[next..] {
            [] => return html.len(),
            [b'>', ..] if !is_in_brackets => return next + 1,
            [b'<', b'!', b'-', b'-', ..] => comment_end(html, next),
            [b'<', b'?', ..] => find_after(html, next + 2, b"?>").unwrap_or(html.len()),
            [quote @ (b'"' | b'\''), ..] => {
                find_after(html, next + 1, &[*quote]).unwrap_or(html.len())
            }
            [byte, ..] => {
                is_in_brackets = *byte == b'[' || is_in_brackets && *byte != b']';
                next + 1
            }
        };
    }
}

/// Finds the end of the comment that begins at `at`.
fn comment_end(html: &[u8], at: usize) -> usize {
    let inside = &html[at + 4..];
    // `<!-->` and `<!--->` are whole comments.
    for whole in [&b">"[..], b"->"] {
        if inside.starts_with(whole) {
            return at + 4 + whole.len();
        }
    }
    let mut from = at + 4;
    while let Some(dashes) = find_after(html, from, b"--") {
        match html[dashes..] {
            [b'>', ..] => return dashes + 1,
            [b'!', b'>', ..] => return dashes + 2,
            // The second dash may begin `-->`.
            _ => from = dashes - 1,
        }
    }
    html.len()
}

fn start_tag(html: &[u8], at: usize, syntax: Syntax) -> (TokenKind, usize) {
    let name = tag_name(&html[at + 1..]);
    let (mut translate, mut has_notranslate_class) = (None, false);
    // As in browsers, the first of several attributes with the same name counts.
    let (mut has_translate, mut is_hidden) = (false, None);
    let scanned = scan_attributes(html, at + 1 + name.len(), |attribute, value| {
        if attribute.eq_ignore_ascii_case(b"translate") && !has_translate {
            has_translate = true;
            if value.eq_ignore_ascii_case(b"no") {
                translate = Some(false);
            } else if value.is_empty() || value.eq_ignore_ascii_case(b"yes") {
                translate = Some(true);
            }
        } else if attribute.eq_ignore_ascii_case(b"class") {
            let mut classes = value.split(u8::is_ascii_whitespace);
            has_notranslate_class |= classes.any(|class| class == b"notranslate");
        } else if attribute.eq_ignore_ascii_case(b"type") {
            is_hidden.get_or_insert(value.eq_ignore_ascii_case(b"hidden"));
        }
    });
    // The document may end inside the tag.
    let Some((end, is_self_closing)) = scanned else { return (TokenKind::Other, html.len()) };
    let name = fold_name(name, syntax);
    let translate = if has_notranslate_class { Some(false) } else { translate };
    let is_hidden = is_hidden == Some(true);
    (TokenKind::Start(StartTag { name, is_self_closing, translate, is_hidden }), end)
}

/// Returns the name at the beginning of a tag's text.
fn tag_name(text: &[u8]) -> &[u8] {
    &text[..text.iter().position(|&byte| ends_name(byte)).unwrap_or(text.len())]
}

/// Whether a byte ends the name of an element.
fn ends_name(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>')
}

/// Calls `each` with the name and value of each attribute from `at` on. Returns the end of the tag
/// and whether the tag ends in `/>`; `None` if the document ends first.
fn scan_attributes(
    html: &[u8],
    mut at: usize,
    mut each: impl FnMut(&[u8], &[u8]),
) -> Option<(usize, bool)> {
    loop {
        let first = position_from(html, at, |byte| !byte.is_ascii_whitespace() && byte != b'/');
        if *html.get(first)? == b'>' {
            return Some((first + 1, html[at..first].ends_with(b"/")));
        }
        let name = first..position_from(html, first + 1, |byte| ends_name(byte) || byte == b'=');
        let next = position_from(html, name.end, |byte| !byte.is_ascii_whitespace());
        if html.get(next) != Some(&b'=') {
            each(&html[name.clone()], b"");
            at = name.end;
            continue;
        }
        let start = position_from(html, next + 1, |byte| !byte.is_ascii_whitespace());
        let (value, end) = match *html.get(start)? {
            quote @ (b'"' | b'\'') => {
                let end = position_from(html, start + 1, |byte| byte == quote);
                html.get(end)?;
                (start + 1..end, end + 1)
            }
            _ => {
                let end =
                    position_from(html, start, |byte| byte.is_ascii_whitespace() || byte == b'>');
                (start..end, end)
            }
        };
        each(&html[name], &html[value]);
        at = end;
    }
}

/// Returns the first position from `from` on at which `is_end` is true, or the end of the document.
fn position_from(html: &[u8], from: usize, is_end: impl Fn(u8) -> bool) -> usize {
    let found = html[from..].iter().position(|&byte| is_end(byte));
    let end = found.map_or(html.len(), |found| from + found);
    steps::count(end - from);
    end
}

/// Finds the end of the content of the element `name`, which is not markup: the start of its end
/// tag.
fn find_raw_text_end(html: &[u8], from: usize, name: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(&html[from..], b"</").map(|found| from + found).find(|&at| {
        let rest = &html[at + 2..];
        rest.len() > name.len()
            && rest[..name.len()].eq_ignore_ascii_case(name)
            && ends_name(rest[name.len()])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns `T`, `S`, `E` or `O` for each token, with its bytes.
    fn shown(html: &str) -> Vec<(char, &str)> {
        let kind = |kind: &TokenKind| match kind {
            TokenKind::Text => 'T',
            TokenKind::Start(_) => 'S',
            TokenKind::End(_) => 'E',
            TokenKind::Other => 'O',
        };
        let tokens = tokenize(html.as_bytes(), Syntax::Html).into_iter();
        tokens.map(|token| (kind(&token.kind), &html[token.range])).collect()
    }

    #[test]
    fn documents_are_cut_as_browsers_cut_them() {
        let page = "<!DOCTYPE html><p title='a > b'>1 < 2</p ><!-- <b> -->&amp;<br/>";
        let expected = [
            ('O', "<!DOCTYPE html>"),
            ('S', "<p title='a > b'>"),
            ('T', "1 < 2"),
            ('E', "</p >"),
            ('O', "<!-- <b> -->"),
            ('T', "&amp;"),
            ('S', "<br/>"),
        ];
        assert_eq!(shown(page), expected);
        assert_eq!(
            shown("<script>if (a</b/.x) '</scripts>'</SCRIPT >x"),
            [
                ('S', "<script>"),
                ('O', "if (a</b/.x) '</scripts>'"),
                ('E', "</SCRIPT >"),
                ('T', "x")
            ]
        );
        assert_eq!(
            shown("<title>a <b> c</title>"),
            [('S', "<title>"), ('T', "a <b> c"), ('E', "</title>")]
        );
        assert_eq!(
            shown("<!-->a--><!--b--!>c"),
            [('O', "<!-->"), ('T', "a-->"), ('O', "<!--b--!>"), ('T', "c")]
        );
        assert_eq!(shown("</>a</ b>"), [('O', "</>"), ('T', "a"), ('O', "</ b>")]);
        assert_eq!(shown("a<b c='"), [('T', "a"), ('O', "<b c='")]);
        assert_eq!(shown("<![CDATA[a > b]]>c"), [('O', "<![CDATA[a > b]]>"), ('T', "c")]);
        assert_eq!(shown("a << b <"), [('T', "a << b <")]);
    }

    #[test]
    fn names_of_xml_have_a_case_and_no_meaning() {
        let page = b"<?xml version='1' a='>'?><script>a<B>b</B></script><\xc3\xa9/>";
        let kinds: Vec<TokenKind> =
            tokenize(page, Syntax::Xml).into_iter().map(|token| token.kind).collect();
        let TokenKind::Start(tag) = &kinds[3] else { panic!("{kinds:?}") };
        assert_eq!(&tag.name[..], b"B");
        assert_eq!((kinds.len(), &kinds[0]), (8, &TokenKind::Other));
        assert!(matches!(&kinds[7], TokenKind::Start(tag) if tag.is_self_closing));
    }

    #[test]
    fn a_document_type_of_xml_includes_its_declarations() {
        let doctype = "<!DOCTYPE r 'a>' [\n<!ENTITY a \"]>\"> <!-- it's ]> --> <?p ]> ?>\n]>";
        let page = format!("{doctype}<r>a</r>");
        let tokens = tokenize(page.as_bytes(), Syntax::Xml);
        assert_eq!((tokens.len(), &tokens[0].kind), (4, &TokenKind::Other));
        assert_eq!(tokens[0].range, 0..doctype.len());
        assert_eq!(tokenize(b"<!DOCTYPE r>a", Syntax::Xml).len(), 2);
        // Without its end, it is the rest of the document.
        assert_eq!(tokenize(b"<!DOCTYPE r [<r>a</r>", Syntax::Xml).len(), 1);
        // HTML has no such declarations.
        assert_eq!(shown("<!DOCTYPE r [>a"), [('O', "<!DOCTYPE r [>"), ('T', "a")]);
    }

    #[test]
    fn the_first_of_equal_attributes_counts() {
        let kind = |html: &str| tokenize(html.as_bytes(), Syntax::Html).remove(0).kind;
        for (html, expected) in [
            ("<input type=hidden type=text>", (true, None)),
            ("<input type=text TYPE=hidden translate=no translate=yes>", (false, Some(false))),
        ] {
            let TokenKind::Start(tag) = kind(html) else { panic!("{html}") };
            assert_eq!((tag.is_hidden, tag.translate), expected, "{html}");
        }
    }

    #[test]
    fn attributes_say_what_is_not_translated() {
        let translate = |html: &str| match &tokenize(html.as_bytes(), Syntax::Html)[0].kind {
            TokenKind::Start(tag) => tag.translate,
            _ => panic!("{html}"),
        };
        for (html, expected) in [
            ("<p TRANSLATE=No>", Some(false)),
            ("<p a=/ class='x notranslate'>", Some(false)),
            ("<p translate = \"no\" />", Some(false)),
            ("<p translate=yes class=notranslate>", Some(false)),
            ("<p translate=yes>", Some(true)),
            ("<p translate>", Some(true)),
            ("<p translate=\"\" class=a>", Some(true)),
            ("<p translate=maybe>", None),
            ("<p class=notranslates>", None),
            ("<p title='translate=no'>", None),
        ] {
            assert_eq!(translate(html), expected, "{html}");
        }
        let TokenKind::Start(tag) = &tokenize(b"<IMG src=a/>", Syntax::Html)[0].kind else {
            panic!()
        };
        assert_eq!((&tag.name[..], tag.is_self_closing), (&b"img"[..], false));
    }

    proptest! {
        #[test]
        fn tokens_cover_any_bytes(
            html in proptest::collection::vec(
                prop_oneof![
                    proptest::sample::select(vec![
                        "<", ">", "</", "<b ", "='", "\"", "<!--", "-->", "<script>", "</script>", "/",
                        "<title>", "a", " ", "<?", "]]>", "<![CDATA[", "<!DOCTYPE", "[",
                    ]).prop_map(|text| text.as_bytes().to_vec()),
                    any::<Vec<u8>>(),
                ],
                0..40,
            ),
            syntax in proptest::sample::select(vec![Syntax::Html, Syntax::Xml]),
        ) {
            let html = html.concat();
            let mut end = 0;
            for token in tokenize(&html, syntax) {
                prop_assert_eq!(token.range.start, end);
                prop_assert!(token.range.end > end);
                end = token.range.end;
            }
            prop_assert_eq!(end, html.len());
        }
    }
}
