//! What elements of HTML mean for translation, by their names, and which end tag belongs to
//! which start tag.

use super::tokens::{Token, TokenKind};

/// Elements before and after which a line breaks, and those of the head: their tags end a
/// sentence. All others, also unknown ones, are inline, as in browsers.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "audio",
    "blockquote",
    "body",
    "br",
    "button",
    "canvas",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "meta",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "pre",
    "search",
    "section",
    "select",
    "summary",
    "table",
    "tbody",
    "td",
    "template",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
    "video",
];

/// Elements without content and end tag.
const VOID: &[&str] = &[
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input",
    "link", "meta", "param", "source", "track", "wbr",
];

/// Elements whose content is no language, or not to be changed.
const UNTRANSLATED: &[&str] = &[
    "code",
    "iframe",
    "kbd",
    "math",
    "noembed",
    "noframes",
    "object",
    "plaintext",
    "samp",
    "script",
    "style",
    "svg",
    "textarea",
    "var",
    "xmp",
];

/// Elements of which nothing is shown where they are.
const INVISIBLE: &[&str] = &["area", "base", "param", "script", "source", "style", "track", "wbr"];

/// Elements whose content is no markup.
const RAW_TEXT: &[&str] =
    &["iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp"];

/// Elements that the next one of their kind ends.
const IMPLIED_END: &[&str] = &["dd", "dt", "li", "option", "p", "td", "th", "tr"];

fn is_in(list: &[&str], name: &[u8]) -> bool {
    list.iter().any(|known| known.as_bytes() == name)
}

pub(super) fn is_block(name: &[u8]) -> bool {
    is_in(BLOCKS, name)
}

pub(super) fn is_void(name: &[u8]) -> bool {
    is_in(VOID, name)
}

pub(super) fn is_untranslated(name: &[u8]) -> bool {
    is_in(UNTRANSLATED, name)
}

pub(super) fn is_visible(name: &[u8]) -> bool {
    !is_in(INVISIBLE, name)
}

/// Elements in which white space is shown as it is.
pub(super) fn is_preformatted(name: &[u8]) -> bool {
    matches!(name, b"pre" | b"listing")
}

pub(super) fn is_raw_text(name: &[u8]) -> bool {
    is_in(RAW_TEXT, name)
}

/// Of those whose content is no markup, the ones with text in it.
pub(super) fn is_escapable_raw_text(name: &[u8]) -> bool {
    matches!(name, b"textarea" | b"title")
}

/// What the partner of a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementEnd {
    /// The token with this number is the other tag of the element.
    Tag(usize),
    /// A start tag whose element ends before the token with this number, without an end tag.
    Implied(usize),
    /// A tag without a partner, or a token that is no tag.
    None,
}

/// The partner of each token. Pairs are nested: a start tag whose element ends inside another
/// has no partner.
pub(super) fn match_tags(tokens: &[Token]) -> Vec<ElementEnd> {
    let mut ends = vec![ElementEnd::None; tokens.len()];
    // Open elements, and how many of each name there are, so that stray end tags cost nothing.
    let mut open: Vec<(usize, &[u8])> = Vec::new();
    let mut counts: hashbrown::HashMap<&[u8], usize> = hashbrown::HashMap::new();
    for (number, token) in tokens.iter().enumerate() {
        match &token.kind {
            TokenKind::Start(tag) => {
                let name = &tag.name[..];
                let again = open.last().filter(|(_, last)| *last == name);
                if let (Some(&(last, _)), true) = (again, is_in(IMPLIED_END, name)) {
                    ends[last] = ElementEnd::Implied(number);
                    open.pop();
                    *counts.entry(name).or_default() -= 1;
                }
                if !is_void(name) && !tag.is_self_closing {
                    open.push((number, name));
                    *counts.entry(name).or_default() += 1;
                }
            }
            TokenKind::End(name) => {
                let count = counts.entry(&name[..]).or_default();
                if *count == 0 {
                    continue;
                }
                *count -= 1;
                while let Some((start, other)) = open.pop() {
                    if *other == **name {
                        ends[start] = ElementEnd::Tag(number);
                        ends[number] = ElementEnd::Tag(start);
                        break;
                    }
                    ends[start] = ElementEnd::Implied(number);
                    *counts.entry(other).or_default() -= 1;
                }
            }
            TokenKind::Text | TokenKind::Other => {}
        }
    }
    for (start, _) in open {
        ends[start] = ElementEnd::Implied(tokens.len());
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokenize;
    use super::*;

    fn ends(html: &str) -> Vec<ElementEnd> {
        match_tags(&tokenize(html.as_bytes()))
    }

    #[test]
    fn tags_are_matched_as_they_are_nested() {
        use ElementEnd::{Implied, None, Tag};
        assert_eq!(ends("<b><i></i></b>"), [Tag(3), Tag(2), Tag(1), Tag(0)]);
        // An element that ends inside another has no end tag of its own.
        assert_eq!(ends("<b><i></b></i>"), [Tag(2), Implied(2), Tag(0), None]);
        assert_eq!(
            ends("<p>a<p>b</div><br></br>")[..5],
            [Implied(2), None, Implied(7), None, None]
        );
        assert_eq!(ends("<x/></x>"), [None, None]);
    }
}
