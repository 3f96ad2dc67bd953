//! Tests of pages with translations and expected tags, and properties of all pages.

mod boundaries;
mod claimed_words;
mod growth;
mod xml;

use std::ops::Range;

use proptest::prelude::*;

use super::tokens::{Syntax, Token, TokenKind, tokenize};
use super::*;
use crate::{
    AlignedTranslation, Document, DocumentCutter, DocumentFormat, SentenceSplitter, Split,
};

/// Cuts a page into sentences of at most `limit` bytes.
fn cut(format: DocumentFormat, page: &[u8], limit: usize) -> Document {
    let splitter = SentenceSplitter::new("en");
    DocumentCutter::new(format, &splitter).within(limit).cut(page, <[u8]>::len).unwrap()
}

fn html(page: &[u8]) -> Document {
    Document::html(page, &SentenceSplitter::new("en"))
}

/// Returns, for each sentence, a link from each word to itself.
fn identity_links(document: &Document) -> Vec<Vec<(Range<usize>, Range<usize>)>> {
    let links = document.sentences().map(|sentence| {
        let words = super::word_links::words(sentence);
        words.into_iter().map(|word| (word.clone(), word)).collect()
    });
    links.collect()
}

/// Returns the byte ranges of the words between spaces.
fn word_ranges(text: &str) -> Vec<Range<usize>> {
    let start = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    let words = text.split(' ').filter(|word| !word.is_empty());
    words.map(|word| start(word)..start(word) + word.len()).collect()
}

/// Returns the page with translations. Each translation comes with the links of its words, such as
/// `0-0 1-2`.
fn translate(page: &str, translations: &[(&str, &str)]) -> String {
    let document = html(page.as_bytes());
    let sentences: Vec<&str> =
        document.sentences().map(|sentence| str::from_utf8(sentence).unwrap()).collect();
    assert_eq!(sentences.len(), translations.len(), "{sentences:?}");
    let links: Vec<Vec<_>> = sentences
        .iter()
        .zip(translations)
        .map(|(sentence, (translation, links))| {
            let [source, target] = [*sentence, *translation].map(word_ranges);
            let parse_link = |link: &str| {
                let (i, j) = link.split_once('-').unwrap();
                let [i, j] = [i, j].map(|index| index.parse::<usize>().unwrap());
                (source[i].clone(), target[j].clone())
            };
            links.split_whitespace().map(parse_link).collect()
        })
        .collect();
    let aligned = translations.iter().zip(&links).map(|((text, _), links)| AlignedTranslation {
        text: text.as_bytes(),
        links,
        ..AlignedTranslation::default()
    });
    String::from_utf8(document.join(aligned)).unwrap()
}

#[test]
fn with_split_lines_each_block_is_one_sentence() {
    let page = b"<h1> One. <b>Two!</b>\n</h1> Three? Four.<br>\n<hr>";
    let document = cut(DocumentFormat::Html(Split::Lines), page, usize::MAX);
    let blocks: Vec<&[u8]> = document.sentences().collect();
    assert_eq!(blocks, [&b"One. Two!"[..], b"Three? Four."]);
    let word_links = [(0..4, 0..4), (5..9, 5..9)];
    let whole_link = [(0..12, 0..12)];
    let same = [
        AlignedTranslation { text: b"One. Two!", links: &word_links, attention: &[] },
        AlignedTranslation { text: b"Three? Four.", links: &whole_link, attention: &[] },
    ];
    assert_eq!(document.join(same), page);
}

#[test]
fn tags_follow_the_words_that_they_enclose() {
    let cases = [
        ("the <b>red</b> house", "la casa roja", "0-0 1-2 2-1", "la casa <b>roja</b>"),
        // A word from outside the element may come between words of the element; it then gets the
        // tag, too.
        ("<b>the red</b> house", "la casa roja", "0-0 1-2 2-1", "<b>la casa roja</b>"),
        (
            "<b>the red</b> <i>house</i>",
            "la casa roja",
            "0-0 1-2 2-1",
            "<b>la</b> <i>casa</i> roja",
        ),
        ("<b>the red house</b>", "la casa roja", "0-0 1-2 2-1", "<b>la casa roja</b>"),
        // An element keeps its inner elements.
        (
            "a <a href='x'><b>red</b> <i>big</i></a> house",
            "una casa grande roja",
            "0-0 1-3 2-2 3-1",
            "una casa <a href='x'><i>grande</i> <b>roja</b></a>",
        ),
        // A word without links belongs to an element only if it is between two words of the
        // element.
        ("<b>not here</b> but", "no está aquí pero", "0-0 1-2 2-3", "<b>no está aquí</b> pero"),
        ("one <b>two</b> three", "uno dos x tres", "0-0 1-1 2-3", "uno <b>dos</b> x tres"),
        // An element whose words have no links gets the nearest word.
        ("one <b>two</b> three", "uno tres", "0-0 2-1", "uno <b>tres</b>"),
        // One wrong link does not stretch a tag over the sentence.
        (
            "<b>a b</b> c d e f g",
            "A B C D E F G",
            "0-0 1-1 2-2 3-3 4-4 5-5 0-6",
            "<b>A B</b> C D E F G",
        ),
        ("un<b>believ</b>able thing", "cosa increíble", "0-1 1-0", "cosa <b>increíble</b>"),
        ("press <img src=a> now", "ahora pulse", "0-1 1-0", "ahora pulse <img src=a>"),
        ("use <code>x &lt; y</code> here", "aquí usa", "0-1 1-0", "aquí usa <code>x &lt; y</code>"),
        ("press <img> now", "pulse ya .", "0-0 1-1", "pulse <img> ya ."),
        ("a<!-- c --> b", "x y", "0-0 1-1", "x<!-- c --> y"),
    ];
    for (page, translation, links, expected) in cases {
        assert_eq!(translate(page, &[(translation, links)]), expected, "{page}");
    }
}

#[test]
fn without_links_each_element_gets_a_word_and_the_largest_the_rest() {
    assert_eq!(translate("see the <a href=x>page</a>", &[("mira", "")]), "<a href=x>mira</a>");
    assert_eq!(translate("<i>a</i> <b>c d</b>", &[("x y", "")]), "<i>x</i> <b>y</b>");
    assert_eq!(translate("a <i>b</i> <b>c d e</b>", &[("x y z", "")]), "<i>x</i> <b>y z</b>");
}

#[test]
fn elements_continue_across_sentences() {
    let page = "<p>One <b>two. Three. Four</b> five.</p>";
    let translations = [("uno dos.", "0-0 1-1"), ("tres.", "0-0"), ("cinco cuatro.", "0-1 1-0")];
    // "cuatro", which belongs to the element, comes after "cinco".
    let expected = "<p>uno <b>dos. tres. cinco cuatro.</b></p>";
    assert_eq!(translate(page, &translations), expected);
    let page = "<b>One. </b><i>Two</i> three.";
    let translations = [("Uno.", ""), ("Dos tres.", "0-0 1-1")];
    assert_eq!(translate(page, &translations), "<b>Uno. </b><i>Dos</i> tres.");
}

#[test]
fn everything_else_is_copied() {
    let page = "\u{feff}<!DOCTYPE html>\n<html lang=en><head><title>A &amp; b</title>\n\
                <style>p { a: '</b>' }</style><script>\"<p>x</p>\"</script></head>\n<body>\n\
                <!-- one\n two -->\n <h1 data-x=\"1 > 0\" >  Good \n day </h1>\n\
                <p translate=no>one <b>two</b></p><p class='notranslate x'>three\n<p>| • |</p>\n\
                <pre>\n  one  two\n    three\n</pre>\n<textarea>four</textarea></body></html>\n";
    let found = translate(page, &[("x", ""), ("Buenos &<", ""), ("uno", ""), ("tres", "")]);
    let expected = page
        .replace("A &amp; b", "x")
        .replace("Good \n day", "Buenos &amp;&lt;")
        .replace("  one  two\n    three", "  uno\n    tres");
    assert_eq!(found, expected);
}

#[test]
fn text_is_decoded_collapsed_and_split_at_breaks() {
    let sentences = |page: &str| {
        let document = html(page.as_bytes());
        let all =
            document.sentences().map(|sentence| String::from_utf8_lossy(sentence).into_owned());
        all.collect::<Vec<_>>()
    };
    assert_eq!(
        sentences("a&nbsp;b \n\t <b> c</b> &lt;d&gt; &#233;<br>e<div>f</div>g <x-y>h</x-y>. I."),
        ["a b c <d> é", "e", "f", "g h.", "I."]
    );
    // A cell of digits alone, such as the last one, is not translated.
    assert_eq!(
        sentences("<ul><li>one<li>two</ul><tr><td>c<td>4 d<td>5"),
        ["one", "two", "c", "4 d"]
    );
    assert!(sentences(" <p> </p>&nbsp; — <hr>").is_empty());
}

#[test]
fn sentences_over_the_limit_are_split() {
    let page = b"<p>One, <b>two</b>, three.</p>";
    let document = cut(DocumentFormat::Html(Split::Sentences), page, 10);
    let sentences: Vec<&[u8]> = document.sentences().collect();
    assert_eq!(sentences, [&b"One, two,"[..], b"three."]);
}

/// Returns the tags and comments of a page, sorted, to compare pages whose words were reordered.
fn sorted_markup(page: &[u8]) -> Vec<Vec<u8>> {
    let is_text = |token: &Token| token.kind == TokenKind::Text;
    let tokens = tokenize(page, Syntax::Html).into_iter().filter(|token| !is_text(token));
    let mut all: Vec<Vec<u8>> = tokens.map(|token| page[token.range].to_vec()).collect();
    all.sort();
    all
}

/// Whether every start tag has an end tag, correctly nested.
fn is_balanced(page: &[u8]) -> bool {
    let mut open = Vec::new();
    tokenize(page, Syntax::Html).into_iter().all(|token| match token.kind {
        TokenKind::Start(tag) if elements::is_void(&tag.name) => true,
        TokenKind::Start(tag) => {
            open.push(tag.name);
            true
        }
        TokenKind::End(name) => open.pop() == Some(name),
        _ => true,
    }) && open.is_empty()
}

/// Generates balanced pages of words and elements.
fn pages() -> impl Strategy<Value = String> {
    let word = "[a-c]{1,3}[.!]?";
    let leaf = prop_oneof![
        6 => word.prop_map(|word| format!("{word} ")),
        1 => Just("<img> ".to_owned()),
        1 => Just("<!--c-->".to_owned()),
        1 => Just("<br>".to_owned()),
        1 => Just("<code>x y</code> ".to_owned()),
        1 => Just("Yes. ".to_owned()),
        1 => Just("你好。".to_owned()),
    ];
    let node = leaf.prop_recursive(4, 24, 5, |inner| {
        let tag = proptest::sample::select(vec!["b", "i", "a", "p", "x-y"]);
        (tag, proptest::collection::vec(inner, 0..5))
            .prop_map(|(tag, contents)| format!("<{tag}>{}</{tag}> ", contents.concat()))
    });
    proptest::collection::vec(node, 0..6).prop_map(|nodes| nodes.concat())
}

proptest! {
    /// With any translations and links, each tag occurs once and a balanced page stays balanced.
    #[test]
    fn no_tag_is_lost_and_nesting_stays(
        page in pages(),
        translations in proptest::collection::vec(("[a-c <&]{0,12}", any::<u64>()), 1..8),
    ) {
        let document = html(page.as_bytes());
        prop_assert!(is_balanced(page.as_bytes()));
        let mut links = Vec::new();
        for (number, sentence) in document.sentences().enumerate() {
            let (translation, seed) = &translations[number % translations.len()];
            let random = |n: u64, below: usize| {
                (seed.wrapping_mul(2 * n + 1).rotate_left(23) ^ n) as usize % below.max(1)
            };
            let link = |n: u64| {
                let (s, t) = (random(n, sentence.len()), random(n + 7, translation.len()));
                (s..s + 1, t..t + 1)
            };
            links.push((translation, (0..seed % 9).map(link).collect::<Vec<_>>()));
        }
        let aligned = links.iter().map(|(text, links)| {
            AlignedTranslation { text: text.as_bytes(), links, attention: &[] }
        });
        let joined = document.join(aligned);
        prop_assert_eq!(sorted_markup(&joined), sorted_markup(page.as_bytes()));
        prop_assert!(is_balanced(&joined), "{}", String::from_utf8_lossy(&joined));
    }

    /// A page whose sentences are their own translations is restored, except for white space.
    #[test]
    fn identical_translations_restore_the_page(page in pages()) {
        let document = html(page.as_bytes());
        let links: Vec<Vec<_>> = document
            .sentences()
            .map(|sentence| (0..sentence.len()).map(|at| (at..at + 1, at..at + 1)).collect())
            .collect();
        let aligned = document.sentences().zip(&links).map(|(text, links)| {
            AlignedTranslation { text, links, attention: &[] }
        });
        let squeezed = |page: &[u8]| {
            page.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect::<Vec<u8>>()
        };
        let joined = document.join(aligned);
        prop_assert_eq!(
            String::from_utf8(squeezed(&joined)).unwrap(),
            String::from_utf8(squeezed(page.as_bytes())).unwrap()
        );
    }

    /// Tries pages of any bytes, with identical translations.
    #[test]
    fn no_tag_is_lost_in_any_bytes(
        page in proptest::collection::vec(
            prop_oneof![
                proptest::sample::select(vec![
                    "<b>", "</b>", "<i>", "</i>", "<p>", "</p>", "a. ", "B ", "&amp;", "&", "<",
                    "<!--", "-->", "<script>", "</script>", "<img>", "<pre>", "\n", "</pre>",
                    "<code>", "</code>", "<x translate=no>", "</x>", "你好。", "<title>",
                ]).prop_map(|text| text.as_bytes().to_vec()),
                any::<Vec<u8>>(),
            ],
            0..40,
        ),
        limit in 1usize..30,
    ) {
        let page = page.concat();
        let document = cut(DocumentFormat::Html(Split::Sentences), &page, limit);
        let joined = document.join(document.sentences().map(AlignedTranslation::from));
        prop_assert_eq!(sorted_markup(&joined), sorted_markup(&page));
    }
}
