//! Pairs of start tags and end tags.

use super::elements::{is_ended_by, is_void};
use super::tokens::{Syntax, Token, TokenKind};
use crate::steps;

/// The partner of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementEnd {
    /// The other tag of the element, as the index of its token.
    Tag(usize),
    /// The end of an element of HTML without an end tag: the index of the token before which it
    /// ends.
    Implied(usize),
    /// No partner, or not a tag.
    None,
}

/// Returns the partner of each token. Pairs are nested, so a start tag without an end tag before
/// the end of an outer element has no partner. In HTML its element ends with the outer one. In XML
/// nothing says where it ends, so it has no content, as `<br>` in HTML.
pub(super) fn match_tags(tokens: &[Token], syntax: Syntax) -> Vec<ElementEnd> {
    let is_html = syntax == Syntax::Html;
    let mut ends = vec![ElementEnd::None; tokens.len()];
    // Open elements, and their number per name, so that stray end tags need no search.
    let mut open: Vec<(usize, &[u8])> = Vec::new();
    let mut counts: hashbrown::HashMap<&[u8], usize> = hashbrown::HashMap::new();
    for (number, token) in tokens.iter().enumerate() {
        match &token.kind {
            TokenKind::Start(tag) => {
                let name = &tag.name[..];
                while let Some(&(last, other)) = open.last()
                    && is_html
                    && is_ended_by(other, name)
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
                    if is_html {
                        ends[start] = ElementEnd::Implied(number);
                    }
                    *counts.entry(other).or_default() -= 1;
                }
            }
            TokenKind::Text | TokenKind::Other => {}
        }
    }
    if is_html {
        for (start, _) in open {
            ends[start] = ElementEnd::Implied(tokens.len());
        }
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
        // An element that is open where an outer one ends has no end tag.
        assert_eq!(ends("<b><i></b></i>"), [Tag(2), Implied(2), Tag(0), None]);
        assert_eq!(
            ends("<p>a<p>b</div><br></br>")[..5],
            [Implied(2), None, Implied(7), None, None]
        );
        assert_eq!(ends("<x/></x>"), [None, None]);
        // A row ends the cell and the row before it, a block ends a paragraph, and an annotation
        // ends another annotation.
        assert_eq!(ends("<tr><td>a<tr>")[..3], [Implied(3), Implied(3), None]);
        assert_eq!(ends("<p>a<div></div>")[0], Implied(2));
        assert_eq!(ends("<p><b><p>")[0], Implied(3));
        assert_eq!(
            ends("<ruby>a<rp>(<rt>b<rp>)</ruby>")[2..7],
            [Implied(4), None, Implied(6), None, Implied(8)]
        );
        // In XML all elements are alike, and none ends without an end tag.
        let tokens = tokenize(b"<p>a<p>b<i></p><br></br>", Syntax::Xml);
        let xml = match_tags(&tokens, Syntax::Xml);
        assert_eq!(xml, [None, None, Tag(5), None, None, Tag(2), Tag(7), Tag(6)]);
    }
}
