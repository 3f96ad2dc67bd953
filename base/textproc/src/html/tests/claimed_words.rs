//! Tests of the words of the translation that elements get if the alignment does not link them.

use super::*;

fn join(
    page: &str,
    text: &str,
    links: &[(Range<usize>, Range<usize>)],
    attention: &[(Range<usize>, Range<usize>, f32)],
) -> String {
    let found = html(page.as_bytes());
    let translation = AlignedTranslation { text: text.as_bytes(), links, attention };
    String::from_utf8(found.join([translation])).unwrap()
}

#[test]
fn an_element_without_links_gets_the_word_that_attends_to_it_most() {
    // "two" has no link; "dos", linked with "three", attends to "two" more than "uno" does.
    let links = [(0..3, 0..3), (8..13, 4..7), (8..13, 8..12)];
    let attention = [(4..7, 0..3, 0.1), (4..7, 4..7, 0.4), (8..13, 4..7, 0.6), (8..13, 8..12, 0.9)];
    let page = "one <a>two</a> <a>three</a>";
    assert_eq!(join(page, "uno dos tres", &links, &attention), "uno <a>dos</a> <a>tres</a>");
    // The word with most attention is the only linked word of another element, so the word with the
    // second most is taken.
    let links = [(0..3, 0..3), (8..13, 4..7)];
    let attention = [(4..7, 4..7, 0.5), (4..7, 0..3, 0.3)];
    assert_eq!(join(page, "uno dos", &links, &attention), "<a>uno</a> <a>dos</a>");
}

#[test]
fn hyperlinks_aligned_with_one_word_get_a_word_each() {
    for (page, translation, links, expected) in [
        (
            "<a>the</a> <a>red</a> <a>house</a>",
            "la casa roja",
            "0-0 1-2 2-0 2-1",
            "<a>la</a> <a>casa</a> <a>roja</a>",
        ),
        // Two hyperlinks are aligned with the same word.
        (
            "<a>in</a> <a>front</a> <a>of</a>",
            "delante de la",
            "0-0 1-0 2-1",
            "<a>delante</a> <a>de</a> <a>la</a>",
        ),
        // An element of punctuation prefers punctuation of the translation.
        (
            "<a>no</a> <a>house</a> <a>.</a>",
            "una casa grande.",
            "1-1",
            "<a>una</a> <a>casa</a> grande<a>.</a>",
        ),
        // Elements with inner elements get enough words for all.
        (
            "<i><a>one</a> <a>two</a></i> <i><a>three</a> <a>four</a></i>",
            "a b c d",
            "0-0 1-3 2-1 3-2",
            "<i><a>a</a> <a>b</a></i> <i><a>c</a> <a>d</a></i>",
        ),
        (
            "<i><a>one</a> <a>two</a> <a>three</a></i> <b>four</b>",
            "a b c d",
            "0-0 1-3 2-1 3-2",
            "<i><a>a</a> <a>b</a> <a>c</a></i> <b>d</b>",
        ),
    ] {
        let found = translate(page, &[(translation, links)]);
        assert_eq!(found.matches("<a></a>").count(), 0, "{found}");
        assert_eq!(found, expected, "{page}");
    }
}

#[test]
fn hyperlinks_share_words_if_there_are_too_few() {
    assert_eq!(translate("<a>there</a> <a>are</a>", &[("hay", "0-0 1-0")]), "<a>h</a><a>ay</a>");
    assert_eq!(
        translate("<a>do</a> <a>you</a> <a>have</a> it", &[("tienes eso", "0-0 1-0 2-0 3-1")]),
        "<a>tie</a><a>nes</a> <a>eso</a>"
    );
    // Words are divided only between graphemes, and only for hyperlinks.
    assert_eq!(
        translate("<a>x</a> <a>y</a> <a>z</a>", &[("e\u{301}o", "0-0")]),
        "<a>e\u{301}</a><a>o</a><a></a>"
    );
    assert_eq!(translate("<b>there</b> <i>are</i>", &[("hay", "0-0 1-0")]), "<b>hay</b><i></i>");
}

/// Generates pages of one sentence with hyperlinks, some of them in other elements.
fn linked_pages() -> impl Strategy<Value = String> {
    let word = prop_oneof![4 => "[a-c]{1,4}", 1 => Just(",".to_owned())];
    let link = (word, any::<bool>()).prop_map(|(word, is_link)| {
        if is_link { format!("<a>{word}</a> ") } else { format!("{word} ") }
    });
    let node = link.prop_recursive(3, 12, 4, |inner| {
        (proptest::sample::select(vec!["b", "i"]), proptest::collection::vec(inner, 1..4))
            .prop_map(|(tag, inside)| format!("<{tag}>{}</{tag}> ", inside.concat()))
    });
    proptest::collection::vec(node, 1..6).prop_map(|nodes| nodes.concat())
}

proptest! {
    /// With any links, no element with text is empty while there are enough words.
    #[test]
    fn no_element_is_empty_while_there_are_words(
        page in linked_pages(),
        extra in 0usize..6,
        links in proptest::collection::vec((any::<u16>(), any::<u16>()), 0..12),
        attention in proptest::collection::vec((any::<u16>(), any::<u16>(), 0f32..1.0), 0..12),
    ) {
        let text = html(page.as_bytes());
        let sentences: Vec<&[u8]> = text.sentences().collect();
        prop_assume!(sentences.len() == 1);
        let sentence = String::from_utf8(sentences[0].to_vec()).unwrap();
        let num_leaves = page.matches("<").count();
        let words = ["uno", "dos", ".", "tres"];
        let translation: Vec<&str> =
            (0..=num_leaves + extra).map(|number| words[number % words.len()]).collect();
        let translation = translation.join(" ");
        let [source, target] = [&sentence, &translation].map(|text| word_ranges(text));
        let place = |s: u16, t: u16| {
            (source[s as usize % source.len()].clone(), target[t as usize % target.len()].clone())
        };
        let links: Vec<_> = links.into_iter().map(|(s, t)| place(s, t)).collect();
        let attention: Vec<_> = attention
            .into_iter()
            .map(|(s, t, weight)| {
                let (s, t) = place(s, t);
                (s, t, weight)
            })
            .collect();
        let joined = join(&page, &translation, &links, &attention);
        prop_assert!(is_balanced(joined.as_bytes()), "{}", joined);
        let is_mark = |page: &str| page.contains(">,</a>");
        // A hyperlink around only a comma is copied at an end of the page.
        if !is_mark(&page) {
            for name in ["a", "b", "i"] {
                prop_assert!(!joined.contains(&format!("<{name}></{name}>")), "{page}\n{joined}");
            }
        }
        let bare = |page: &str| page.split('<').map(|part| part.split_once('>').map_or(part, |(_, rest)| rest)).collect::<String>();
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(squeezed(&bare(&joined)), squeezed(&translation));
    }
}
