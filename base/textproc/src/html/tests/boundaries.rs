//! Tests of word and sentence boundaries in HTML: links, visible elements, tags inside words,
//! reference marks, no-break spaces, and parts that are not translated.

use super::*;

/// Returns the sentences of a page, and the page with each sentence as its own translation.
fn cut_and_join(page: &str) -> (Vec<String>, String) {
    let text = html(page.as_bytes());
    let links = identity_links(&text);
    let aligned = text.sentences().zip(&links).map(|(text, links)| AlignedTranslation {
        text,
        links,
        attention: &[],
    });
    let joined = String::from_utf8(text.join(aligned)).unwrap();
    let all = text.sentences().map(|sentence| String::from_utf8_lossy(sentence).into_owned());
    (all.collect(), joined)
}

/// Checks the sentences of each page, and that the page is unchanged if every sentence is its own
/// translation.
fn check(cases: &[(&str, &[&str])]) {
    for (page, expected) in cases {
        let (found, joined) = cut_and_join(page);
        assert_eq!(found, *expected, "{page}");
        assert_eq!(joined, *page);
    }
}

#[test]
fn adjacent_links_and_controls_end_sentences() {
    check(&[
        (
            "<nav><a href=\"1\">the house</a><a href=\"2\">the dog</a></nav>",
            &["the house", "the dog"],
        ),
        // Links also end sentences if other tags, comments or scripts are between them.
        ("<span><a>one</a></span><span><a>two</a></span>", &["one", "two"]),
        ("<b><a><i>one</i></a><!-- x --><a>two</a></b>", &["one", "two"]),
        ("<a>The end.</a><a>The start</a>", &["The end.", "The start"]),
        // Links do not end a sentence inside a word, in scripts without spaces, as reference marks,
        // or with a space between them.
        ("the <a>bus</a>es and <a>dog</a><b>s</b>", &["the buses and dogs"]),
        ("<a>我</a><a>喜欢</a><a>红色</a>", &["我喜欢红色"]),
        ("it ended<a>[1]</a><a>[2]</a> here", &["it ended[1][2] here"]),
        ("<a>one</a> <a>two</a>", &["one two"]),
        // Labels, visible controls and other blocks end sentences.
        (
            "<label>the house</label><input name=\"a\"><label>the dog</label>",
            &["the house", "the dog"],
        ),
        ("the house<input type=radio>the dog", &["the house", "the dog"]),
        ("the house<input type=hidden name=a> is big", &["the house is big"]),
        ("<button>one</button><button>two</button>", &["one", "two"]),
        ("<select><option>one<option>two</select>three", &["one", "two", "three"]),
        ("one<textarea>two</textarea>three", &["one", "three"]),
        ("one<iframe src=a>two</iframe>three", &["one", "three"]),
        (
            "<ul><li>one</li><li>two</li></ul><table><tr><td>x<th>y</table>",
            &["one", "two", "x", "y"],
        ),
        ("<dl><dt>one<dd>two</dl>three<br>four<hr>five", &["one", "two", "three", "four", "five"]),
        ("one<noscript>two</noscript>three", &["one", "two", "three"]),
        ("<x-item>one</x-item><x-item>two</x-item>", &["one", "two"]),
    ]);
}

#[test]
fn visible_elements_separate_words() {
    check(&[
        ("the house<img src=a>the dog", &["the house the dog"]),
        ("the house<img src=a><img src=b> the dog", &["the house the dog"]),
        ("the house<svg><text>x</text></svg>the dog", &["the house the dog"]),
        ("the house.<img src=a>The dog", &["the house.", "The dog"]),
        ("the house<picture><source src=a><img src=b></picture>the dog", &["the house the dog"]),
        ("press<code>x</code>now", &["press now"]),
        ("press<span translate=no>x</span>now", &["press now"]),
        ("hello<my-icon/>world", &["hello world"]),
        ("the house<img>, the dog", &["the house, the dog"]),
        ("房子<img>狗", &["房子狗"]),
    ]);
    // Scripts and custom elements never occur inside a word, so a space is added next to them. A
    // custom element that closes itself (`<my-icon/>`) is visible like an image and needs no space.
    let (found, joined) = cut_and_join("the house<script>a < b</script>the dog");
    assert_eq!(found, ["the house the dog"]);
    assert_eq!(joined, "the house<script>a < b</script> the dog");
    let (found, joined) = cut_and_join("hello<my-icon></my-icon>world<x-y>now</x-y>");
    assert_eq!(found, ["hello world now"]);
    assert_eq!(joined, "hello<my-icon></my-icon> world <x-y>now</x-y>");
}

#[test]
fn tags_inside_words_do_not_separate_them() {
    check(&[
        ("<b>h</b>ouse", &["house"]),
        ("un<b>believ</b>able <i>t</i><u>hing</u>", &["unbelievable thing"]),
        ("H<sub>2</sub>O and CO<sub>2</sub>", &["H2O and CO2"]),
        ("10<sup>6</sup> km<sup>2</sup> of x<sub>max</sub>", &["106 km2 of xmax"]),
        ("the 1<sup>st</sup> <sup>14</sup>C", &["the 1st 14C"]),
        ("house<wbr>hold", &["household"]),
        ("un<!-- here -->believable", &["unbelievable"]),
        ("<span>the ho</span><span>use is big</span>", &["the house is big"]),
    ]);
}

#[test]
fn reference_marks_are_not_part_of_words() {
    check(&[
        ("<p>the house<sup>1</sup> is big .</p>", &["the house is big ."]),
        ("the house<sup><a href=\"#1\">[1]</a></sup>, the dog", &["the house, the dog"]),
        ("it is big.<sup>1</sup> The dog", &["it is big.", "The dog"]),
        ("in 1990<sup>2</sup> it was", &["in 1990 it was"]),
        ("Miriam<sup>TM</sup> is", &["Miriam is"]),
        ("<sup>1</sup> See the house", &["See the house"]),
        ("the house<a href=\"#1\"><sup>1</sup></a> is big", &["the house is big"]),
    ]);
    let (found, joined) =
        cut_and_join("the house<sup>1</sup>and the house<sup>citation needed</sup>");
    assert_eq!(found, ["the house and the house citation needed"]);
    assert_eq!(joined, "the house<sup>1</sup> and the house <sup>citation needed</sup>");
}

#[test]
fn marks_stay_with_their_words() {
    for (page, translation, links, expected) in [
        (
            "<p>the red house<sup>1</sup> is big</p>",
            "la casa roja es grande",
            "0-0 1-2 2-1 3-3 4-4",
            "<p>la casa<sup>1</sup> roja es grande</p>",
        ),
        (
            "the house<a href=\"#1\"><sup>1</sup></a> is big",
            "es grande la casa",
            "0-2 1-3 2-0 3-1",
            "es grande la casa<a href=\"#1\"><sup>1</sup></a>",
        ),
        (
            "<ruby>漢字<rp>(</rp><rt>kanji</rt><rp>)</rp></ruby>",
            "Chinese characters",
            "0-0 0-1",
            "<ruby>Chinese characters<rp>(</rp><rt>kanji</rt><rp>)</rp></ruby>",
        ),
        ("water is H<sub>2</sub>O", "H2O es agua", "0-2 1-1 2-0", "H<sub>2</sub>O es agua"),
        ("the house<img>the dog", "la casa el perro", "0-0 1-1 2-2 3-3", "la casa<img>el perro"),
    ] {
        assert_eq!(translate(page, &[(translation, links)]), expected, "{page}");
    }
}

#[test]
fn no_break_spaces_become_spaces() {
    let (found, joined) = cut_and_join("&nbsp;the&nbsp;house is\u{a0}10&#160;km\u{202f}!&nbsp;");
    assert_eq!(found, ["the house is 10 km !"]);
    assert_eq!(joined, "&nbsp;the house is 10 km !&nbsp;");
}

#[test]
fn attributes_are_copied() {
    check(&[(
        "<p title=\"the house > the dog\" data-x='<b>'>one <img alt=\"the dog\">two</p>",
        &["one two"],
    )]);
}

#[test]
fn translate_yes_inside_translate_no_is_translated() {
    check(&[
        ("<p translate=no>one <b translate=yes>two</b> three</p>", &["two"]),
        ("<div class=notranslate>one<p translate=\"\">two</p>three</div>four", &["two", "four"]),
        (
            "a <x translate=no>b <x translate=yes>c <x translate=no>d <x translate=yes>e</x> f</x> \
             g</x> h</x> i",
            &["a", "c", "e", "g", "i"],
        ),
        ("a <span translate=no>b</span> c", &["a c"]),
        ("<table><tr translate=no><td>a<td translate=yes>b<td>c<tr><td>d</table>", &["b", "d"]),
        ("<p translate=no>one<div>two</div>", &["two"]),
        ("use <code translate=yes>one two</code> now", &["use one two now"]),
        (
            "<script translate=yes>one</script><code>two <i translate=yes>three</i></code>",
            &["three"],
        ),
        ("<div translate=no><pre>a\n<b translate=yes>b\nc</b></pre></div>", &["b", "c"]),
        ("<x translate=no translate=yes>one</x> <p translate=yes>two</p>", &["two"]),
        ("<html translate=no><body>one<p translate=yes>two", &["two"]),
    ]);
}
