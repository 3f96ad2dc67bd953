//! Tests of XML: elements that end sentences, by the outline of the document or by names that a
//! client gives.

use std::sync::Arc;

use super::*;
use crate::Interrupted;

fn cut(document: &str, rules: &MarkupRules) -> (Vec<String>, String) {
    let format = DocumentFormat::Markup(Split::Sentences, Arc::new(rules.clone()));
    let text = super::cut(format, document.as_bytes(), usize::MAX);
    let joined = text.join(text.sentences().map(AlignedTranslation::from));
    let all = text.sentences().map(|sentence| String::from_utf8_lossy(sentence).into_owned());
    (all.collect(), String::from_utf8(joined).unwrap())
}

fn sentences(document: &str, rules: &MarkupRules) -> Vec<String> {
    cut(document, rules).0
}

#[test]
fn elements_whose_parents_have_no_text_are_units() {
    let xml = MarkupRules::xml();
    for (document, expected) in [
        (
            "<trans-unit id=\"1\"><source>the red house is big .</source><target>the dog .</target></trans-unit>",
            &["the red house is big .", "the dog ."][..],
        ),
        (
            "<d><t>A title</t><c><par>One. Two.</par><par>Three</par></c></d>",
            &["A title", "One.", "Two.", "Three"],
        ),
        // Elements next to text are inside sentences, with their content.
        ("<p>the <b>red</b> house</p>", &["the red house"]),
        ("<p>the <g><x/><b>red</b></g> house</p><q>b</q>", &["the red house", "b"]),
        ("un<b>believ</b>able", &["unbelievable"]),
        ("the<x id=\"3\"/>house <x id=\"1\"></x>is", &["the house is"]),
        // Names are case-sensitive and have no meaning: no element is code, a line break or a
        // script.
        ("<code>One</code><SCRIPT>Two <B>big</B></SCRIPT>", &["One", "Two big"]),
        (
            "<?xml version=\"1.0\"?>\n<r>\n <s>One</s>\n <s translate=\"no\">Two</s>\n</r>\n",
            &["One"],
        ),
        ("Intro<par>One</par><par>Two</par>", &["IntroOne", "Two"]),
    ] {
        let (found, joined) = cut(document, &xml);
        assert_eq!(found, expected, "{document}");
        // Without its spaces, the document keeps its length.
        let strip = |text: &str| text.replace(' ', "");
        assert_eq!(strip(&joined).len(), strip(document).len(), "{joined}");
    }
    // Only five characters have names in XML.
    assert_eq!(
        cut("<a>One &amp; &lt;two&gt;&#160;x</a>", &xml).1,
        "<a>One &amp; &lt;two&gt; x</a>"
    );
}

/// An element without an end tag is empty: the text after it is not its content, and is translated.
#[test]
fn elements_without_an_end_tag_are_empty() {
    let xml = MarkupRules::xml();
    let document =
        "<doc><p>the house is red .</p><p>the red house <br> the house is big .</p></doc>";
    for (document, expected) in [
        (document, &["the house is red .", "the red house the house is big ."][..]),
        ("<a>the house", &["the house"]),
        ("<p>a<br>b</p>", &["a b"]),
        ("<a><b>the house</a></b>", &["the house"]),
        ("<p>One. <img src=\"x\">Two.</p>", &["One.", "Two."]),
        ("<p>One.<p>Two.", &["One.", "Two."]),
    ] {
        let (found, joined) = cut(document, &xml);
        assert_eq!(found, expected, "{document}");
        let strip = |text: &str| text.replace(' ', "");
        assert_eq!(strip(&joined).len(), strip(document).len(), "{joined}");
    }
    // If such an element is copied, the text after its tag is still translated.
    let rules = MarkupRules::xml().ignoring(["x"]);
    assert_eq!(sentences("<p>press <x id=\"1\"> twice</p>", &rules), ["press twice"]);
    assert_eq!(sentences("<p><x translate=\"no\">one</p><p>two</p>", &xml), ["one", "two"]);
}

#[test]
fn named_elements_split_or_do_not() {
    let plain = MarkupRules::xml().without_outline();
    let document = "<d><par>One two</par><par>three</par></d>";
    assert_eq!(sentences(document, &plain), ["One two three"]);
    assert_eq!(sentences(document, &plain.splitting(["par"])), ["One two", "three"]);
    let xml = MarkupRules::xml();
    assert_eq!(sentences(document, &xml), ["One two", "three"]);
    let firm = "<par>The firm said it had been </par><par> conducting it.</par>";
    assert_eq!(sentences(firm, &xml), ["The firm said it had been", "conducting it."]);
    let joined = xml.clone().non_splitting(["par"]);
    assert_eq!(sentences(firm, &joined), ["The firm said it had been conducting it."]);
    assert_eq!(sentences(document, &joined), ["One two three"]);
    assert_eq!(sentences("a <i>b</i> c", &xml.clone().splitting(["i"])), ["a", "b", "c"]);
    // The same holds for HTML, whose names are not case-sensitive.
    let html = MarkupRules::html().splitting(["I"]).non_splitting(["p"]).ignoring(["X"]);
    assert_eq!(sentences("<p>a</p> <p>b <i>c</i><x>d</x> e", &html), ["a b", "c", "e"]);
}

#[test]
fn ignored_elements_are_copied() {
    let rules = MarkupRules::xml().ignoring(["x", "keep"]);
    for (document, expected) in [
        (
            "Hello <x id=\"6\"></x>, you have <x id=\"20\">%d of</x> files",
            &["Hello , you have files"][..],
        ),
        ("the<x id=\"3\"></x>house", &["the house"]),
        ("<a>One</a><keep>Two <b translate=\"yes\">three</b></keep><a>Four</a>", &["One", "Four"]),
        ("<X>One</X>", &["One"]),
    ] {
        let (found, joined) = cut(document, &rules);
        assert_eq!(found, expected, "{document}");
        for copied in [
            "<x id=\"6\"></x>",
            "<x id=\"20\">%d of</x>",
            "<keep>Two <b translate=\"yes\">three</b></keep>",
        ] {
            assert_eq!(joined.contains(copied), document.contains(copied), "{joined}");
        }
    }
}

#[test]
fn cutting_may_be_interrupted() {
    let mut count = 0;
    let found = find_segments(b"<a>x</a><a>y</a><a>z</a>", &MarkupRules::xml(), &mut |_| {
        count += 1;
        if count < 2 { Ok(Vec::new()) } else { Err(Interrupted) }
    });
    assert_eq!((found.err(), count), (Some(Interrupted), 2));
}

proptest! {
    /// In any bytes, no tag is lost under any rules.
    #[test]
    fn any_bytes_are_a_document(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "<b>", "</b>", "<i>", "</i>", "<p>", "</p>", "a. ", "B", "&amp;", "&", "<", "<x/>",
                "<!--", "-->", "<x>", "</x>", "\n", "<b translate='no'>", "<i translate='yes'>",
                "你好。", "<![CDATA[", "]]>", "<?", "?>", "<sup>", "</sup>", "1", "<a>", "</a>",
                "<rt>", "</rt>", "<img>", "<td>", "<svg>", "</svg>", "\u{a0}",
            ]),
            0..40,
        ),
        is_xml in any::<bool>(),
        has_outline in any::<bool>(),
    ) {
        let document = parts.concat();
        let rules = if is_xml { MarkupRules::xml() } else { MarkupRules::html() };
        let rules = if has_outline { rules } else { rules.without_outline().splitting(["p"]) };
        let rules = rules.ignoring(["x"]).non_splitting(["i"]);
        let syntax = if is_xml { Syntax::Xml } else { Syntax::Html };
        let tags = |document: &str| {
            let tokens = tokenize(document.as_bytes(), syntax).into_iter();
            let tokens = tokens.filter(|token| token.kind != TokenKind::Text);
            let mut tags: Vec<String> =
                tokens.map(|token| document[token.range].to_owned()).collect();
            tags.sort();
            tags
        };
        let (_, joined) = cut(&document, &rules);
        prop_assert_eq!(tags(&joined), tags(&document));
    }
}
