//! What elements of HTML mean for translation, by their names, and which end tag belongs to
//! which start tag.

use super::tokens::{Syntax, Token, TokenKind};
use crate::steps;

/// Elements before and after which a line breaks, those of the head, and controls, which a
/// reader sees as boxes: their tags end a sentence. All others, also unknown ones, are inline, as
/// in browsers.
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
    "datalist",
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
    "iframe",
    "input",
    "label",
    "legend",
    "li",
    "link",
    "listing",
    "main",
    "menu",
    "meta",
    "nav",
    "noscript",
    "ol",
    "optgroup",
    "option",
    "p",
    "plaintext",
    "pre",
    "search",
    "section",
    "select",
    "summary",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
    "video",
    "xmp",
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

/// Of these the ones with text that an author may want translated nevertheless.
const TRANSLATABLE: &[&str] = &["code", "kbd", "samp", "var"];

/// Elements of which nothing is shown where they are.
const INVISIBLE: &[&str] = &["area", "base", "param", "script", "source", "style", "track", "wbr"];

/// Annotations above the text before them.
const ANNOTATIONS: &[&str] = &["rp", "rt", "rtc"];

/// Elements whose content is no markup.
const RAW_TEXT: &[&str] =
    &["iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp"];

/// Elements that the start tags of others end, where these have no end tag.
const IMPLIED_ENDS: &[(&[&str], &[&str])] = &[
    (&["li"], &["li"]),
    (&["dd", "dt"], &["dd", "dt"]),
    (&["option"], &["option", "optgroup"]),
    (&["optgroup"], &["optgroup"]),
    (&["td", "th"], &["td", "th", "tr", "tbody", "tfoot", "thead"]),
    (&["tr"], &["tr", "tbody", "tfoot", "thead"]),
    (&["tbody", "tfoot", "thead"], &["tbody", "tfoot", "thead"]),
    (&["rb", "rp", "rt"], &["rb", "rp", "rt", "rtc"]),
    (
        &["p"],
        &[
            "address",
            "article",
            "aside",
            "blockquote",
            "details",
            "dialog",
            "dir",
            "div",
            "dl",
            "fieldset",
            "figcaption",
            "figure",
            "footer",
            "form",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "header",
            "hgroup",
            "hr",
            "main",
            "menu",
            "nav",
            "ol",
            "p",
            "pre",
            "search",
            "section",
            "table",
            "ul",
        ],
    ),
];

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

/// Whether an element that is not translated by itself is where its attributes ask for it.
pub(super) fn is_translatable(name: &[u8]) -> bool {
    is_in(TRANSLATABLE, name)
}

pub(super) fn is_annotation(name: &[u8]) -> bool {
    is_in(ANNOTATIONS, name)
}

/// Whether an element is one that a page defines for itself.
pub(super) fn is_custom(name: &[u8]) -> bool {
    name.contains(&b'-')
}

/// Whether a start tag of `name` ends the element `open`.
fn ends_by_itself(open: &[u8], name: &[u8]) -> bool {
    IMPLIED_ENDS.iter().any(|(ended, by)| is_in(ended, open) && is_in(by, name))
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
pub(super) fn match_tags(tokens: &[Token], syntax: Syntax) -> Vec<ElementEnd> {
    let is_html = syntax == Syntax::Html;
    let mut ends = vec![ElementEnd::None; tokens.len()];
    // Open elements, and how many of each name there are, so that stray end tags cost nothing.
    let mut open: Vec<(usize, &[u8])> = Vec::new();
    let mut counts: hashbrown::HashMap<&[u8], usize> = hashbrown::HashMap::new();
    for (number, token) in tokens.iter().enumerate() {
        match &token.kind {
            TokenKind::Start(tag) => {
                let name = &tag.name[..];
                while let Some(&(last, other)) = open.last()
                    && is_html
                    && ends_by_itself(other, name)
                {
                    ends[last] = ElementEnd::Implied(number);
                    open.pop();
                    *counts.entry(other).or_default() -= 1;
                }
                let is_empty = is_html && is_void(name) || tag.is_self_closing;
                if !is_empty {
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
                    steps::count(1);
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
        match_tags(&tokenize(html.as_bytes(), Syntax::Html), Syntax::Html)
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
        // A row ends the cell and the row before it, a block a paragraph, an annotation another.
        assert_eq!(ends("<tr><td>a<tr>")[..3], [Implied(3), Implied(3), None]);
        assert_eq!(ends("<p>a<div></div>")[0], Implied(2));
        assert_eq!(ends("<p><b><p>")[0], Implied(3));
        assert_eq!(
            ends("<ruby>a<rp>(<rt>b<rp>)</ruby>")[2..7],
            [Implied(4), None, Implied(6), None, Implied(8)]
        );
        // In XML all elements are alike.
        let tokens = tokenize(b"<p>a<p>b</p><br></br>", Syntax::Xml);
        let xml = match_tags(&tokens, Syntax::Xml);
        assert_eq!(xml, [Implied(7), None, Tag(4), None, Tag(2), Tag(6), Tag(5)]);
    }
}
