//! HTML into tokens: tags, text, and all else, as ranges of its bytes.
//!
//! A library would return names and attributes of its own; here every byte of the input belongs
//! to exactly one token, so that what is not translated can be copied. The states are those
//! that decide where tokens end in HTML's standard (13.2.5): quotes in tags, comments, and the
//! elements whose content is no markup. Of scripts only the end tag is looked for, not the
//! comments in which they may hide one. Text may have any encoding that contains ASCII.

use std::ops::Range;

use super::elements;

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// Its bytes.
    pub(super) range: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Text, with character references.
    Text,
    /// A start tag.
    Start(StartTag),
    /// The end tag of the element with this name, in lower case.
    End(Box<[u8]>),
    /// A comment, a declaration, the content of a script, or what is broken.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StartTag {
    /// The element's name, in lower case.
    pub(super) name: Box<[u8]>,
    /// Whether it ends as `/>`.
    pub(super) is_self_closing: bool,
    /// Whether its attributes say that the element is not to be translated.
    pub(super) is_notranslate: bool,
}

/// The tokens of a document. Their ranges follow one another and cover all of it.
pub(super) fn tokenize(html: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < html.len() {
        let (kind, end) = next_token(html, at);
        let raw = match &kind {
            TokenKind::Start(tag) if elements::is_raw_text(&tag.name) => Some(tag.name.clone()),
            _ => None,
        };
        tokens.push(Token { kind, range: at..end });
        at = end;
        if let Some(name) = raw {
            let end = find_end_tag(html, at, &name).unwrap_or(html.len());
            if at < end {
                let is_text = elements::is_escapable_raw_text(&name);
                let kind = if is_text { TokenKind::Text } else { TokenKind::Other };
                tokens.push(Token { kind, range: at..end });
            }
            at = end;
        }
    }
    tokens
}

/// The token that begins at `at`, and where it ends.
fn next_token(html: &[u8], at: usize) -> (TokenKind, usize) {
    let rest = &html[at..];
    let find = |what: &[u8], from: usize| {
        memchr::memmem::find(&rest[from..], what).map(|found| at + from + found + what.len())
    };
    match rest {
        [b'<', b'!', b'-', b'-', ..] => (TokenKind::Other, comment_end(html, at)),
        [b'<', b'!', b'[', b'C', b'D', b'A', b'T', b'A', b'[', ..] => {
            (TokenKind::Other, find(b"]]>", 9).unwrap_or(html.len()))
        }
        [b'<', b'/', b'>', ..] => (TokenKind::Other, at + 3),
        [b'<', b'!' | b'?', ..] => (TokenKind::Other, find(b">", 2).unwrap_or(html.len())),
        [b'<', b'/', letter, ..] if letter.is_ascii_alphabetic() => {
            let name = tag_name(&rest[2..]);
            match scan_attributes(html, at + 2 + name.len(), |_, _| ()) {
                Some((end, _)) => (TokenKind::End(name.to_ascii_lowercase().into()), end),
                None => (TokenKind::Other, html.len()),
            }
        }
        [b'<', b'/', _, ..] => (TokenKind::Other, find(b">", 2).unwrap_or(html.len())),
        [b'<', letter, ..] if letter.is_ascii_alphabetic() => start_tag(html, at),
        _ => {
            // A `<` that opens nothing is text.
            let mut end = 1;
            while let Some(next) = memchr::memchr(b'<', &rest[end..]) {
                end += next;
                let opens = |byte: &u8| byte.is_ascii_alphabetic() || b"!/?".contains(byte);
                if rest.get(end + 1).is_some_and(opens) {
                    return (TokenKind::Text, at + end);
                }
                end += 1;
            }
            (TokenKind::Text, html.len())
        }
    }
}

/// Where a comment ends that begins at `at`.
fn comment_end(html: &[u8], at: usize) -> usize {
    let inside = &html[at + 4..];
    // `<!-->` and `<!--->` are whole comments.
    for whole in [&b">"[..], b"->"] {
        if inside.starts_with(whole) {
            return at + 4 + whole.len();
        }
    }
    let ends = [&b"-->"[..], b"--!>"].map(|end| {
        memchr::memmem::find(inside, end).map_or(html.len(), |found| at + 4 + found + end.len())
    });
    ends[0].min(ends[1])
}

fn start_tag(html: &[u8], at: usize) -> (TokenKind, usize) {
    let name = tag_name(&html[at + 1..]);
    let (mut is_notranslate, mut has_translate) = (false, false);
    let scanned = scan_attributes(html, at + 1 + name.len(), |attribute, value| {
        if attribute.eq_ignore_ascii_case(b"translate") && !has_translate {
            has_translate = true;
            is_notranslate |= value.eq_ignore_ascii_case(b"no");
        } else if attribute.eq_ignore_ascii_case(b"class") {
            let mut classes = value.split(u8::is_ascii_whitespace);
            is_notranslate |= classes.any(|class| class == b"notranslate");
        }
    });
    // The end of the document inside a tag.
    let Some((end, is_self_closing)) = scanned else { return (TokenKind::Other, html.len()) };
    let name = name.to_ascii_lowercase().into();
    (TokenKind::Start(StartTag { name, is_self_closing, is_notranslate }), end)
}

/// The name at the beginning of a tag's text.
fn tag_name(text: &[u8]) -> &[u8] {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
    &text[..text.iter().position(ends).unwrap_or(text.len())]
}

/// Calls `each` with the names and values of attributes from `at` on; returns where the tag ends
/// and whether it ends as `/>`, or nothing if the document ends first.
fn scan_attributes(
    html: &[u8],
    mut at: usize,
    mut each: impl FnMut(&[u8], &[u8]),
) -> Option<(usize, bool)> {
    let position = |from: usize, ends: &dyn Fn(u8) -> bool| {
        html[from..].iter().position(|&byte| ends(byte)).map_or(html.len(), |found| from + found)
    };
    let is_space = |byte: u8| byte.is_ascii_whitespace();
    loop {
        let first = position(at, &|byte| !is_space(byte) && byte != b'/');
        if *html.get(first)? == b'>' {
            return Some((first + 1, html[at..first].ends_with(b"/")));
        }
        let ends_name = |byte| is_space(byte) || matches!(byte, b'/' | b'>' | b'=');
        let name = first..position(first + 1, &ends_name);
        let next = position(name.end, &|byte| !is_space(byte));
        if html.get(next) != Some(&b'=') {
            each(&html[name.clone()], b"");
            at = name.end;
            continue;
        }
        let start = position(next + 1, &|byte| !is_space(byte));
        let (value, end) = match *html.get(start)? {
            quote @ (b'"' | b'\'') => {
                let end = position(start + 1, &|byte| byte == quote);
                html.get(end)?;
                (start + 1..end, end + 1)
            }
            _ => {
                let end = position(start, &|byte| is_space(byte) || byte == b'>');
                (start..end, end)
            }
        };
        each(&html[name], &html[value]);
        at = end;
    }
}

/// Where the end tag of the element `name`, whose content is no markup, begins.
fn find_end_tag(html: &[u8], from: usize, name: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(&html[from..], b"</").map(|found| from + found).find(|&at| {
        let rest = &html[at + 2..];
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
        rest.len() > name.len()
            && rest[..name.len()].eq_ignore_ascii_case(name)
            && ends(&rest[name.len()])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `T`, `S`, `E` or `O` for each token, with its bytes.
    fn shown(html: &str) -> Vec<(char, &str)> {
        let kind = |kind: &TokenKind| match kind {
            TokenKind::Text => 'T',
            TokenKind::Start(_) => 'S',
            TokenKind::End(_) => 'E',
            TokenKind::Other => 'O',
        };
        let tokens = tokenize(html.as_bytes()).into_iter();
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
    fn attributes_say_what_is_not_translated() {
        let notranslate = |html: &str| match &tokenize(html.as_bytes())[0].kind {
            TokenKind::Start(tag) => tag.is_notranslate,
            _ => panic!("{html}"),
        };
        for html in
            ["<p TRANSLATE=No>", "<p a=/ class='x notranslate'>", "<p translate = \"no\" />"]
        {
            assert!(notranslate(html), "{html}");
        }
        for html in ["<p translate=yes>", "<p class=notranslates>", "<p title='translate=no'>"] {
            assert!(!notranslate(html), "{html}");
        }
        let TokenKind::Start(tag) = &tokenize(b"<IMG src=a/>")[0].kind else { panic!() };
        assert_eq!((&tag.name[..], tag.is_self_closing), (&b"img"[..], false));
    }

    proptest! {
        #[test]
        fn tokens_cover_any_bytes(
            html in proptest::collection::vec(
                prop_oneof![
                    proptest::sample::select(vec![
                        "<", ">", "</", "<b ", "='", "\"", "<!--", "-->", "<script>", "</script>", "/",
                        "<title>", "a", " ", "<?", "]]>", "<![CDATA[",
                    ]).prop_map(|text| text.as_bytes().to_vec()),
                    any::<Vec<u8>>(),
                ],
                0..40,
            )
        ) {
            let html = html.concat();
            let mut end = 0;
            for token in tokenize(&html) {
                prop_assert_eq!(token.range.start, end);
                prop_assert!(token.range.end > end);
                end = token.range.end;
            }
            prop_assert_eq!(end, html.len());
        }
    }
}
