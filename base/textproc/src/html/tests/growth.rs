//! Tests that the number of steps grows linearly with the document.

use super::*;
use crate::steps::taken_by;

/// Counts the steps of cutting a document and of joining it with translations of equal length,
/// aligned word by word.
fn count_steps(document: &str, rules: &MarkupRules) -> usize {
    // Splitting is not counted here; a part ends at the first space after 200 bytes.
    let mut split = |text: &[u8]| {
        let mut parts = Vec::new();
        let mut start = 0;
        for (at, _) in text.iter().enumerate().filter(|(_, byte)| **byte == b' ') {
            if at - start >= 200 {
                parts.push(start..at);
                start = at + 1;
            }
        }
        parts.push(start..text.len());
        Ok(parts)
    };
    taken_by(|| {
        let text = Document::from(find_segments(document.as_bytes(), rules, &mut split).unwrap());
        let links = identity_links(&text);
        let aligned = text.sentences().zip(&links).map(|(text, links)| AlignedTranslation {
            text,
            links,
            attention: &[],
        });
        text.join(aligned);
    })
}

/// A beginning, a part and an end. Each document consists of the beginning, many copies of the
/// part, and the end.
const PARTS: [(&str, &str, &str); 26] = [
    ("", "<b>", "a"),
    ("", "<p>", "a"),
    ("", "<b>a ", ""),
    ("", "</b>", "a"),
    ("a", "</p>", ""),
    ("", "<b></i>", "a"),
    ("", "<", ""),
    ("", "< ", "a"),
    ("", "<a<", ""),
    ("", "&", ""),
    ("", "&amp", ""),
    ("", "&amp;a", ""),
    ("<p title=\"", "a ", "\">a</p>"),
    ("<p ", "a=b ", ">a</p>"),
    ("<p title='", "a ", "a"),
    ("", "<!-- a -->", "a"),
    ("", "<!--", "a"),
    ("<!--", "-", "->"),
    ("", "<![CDATA[a", ""),
    ("", "<script>a</script>", "a"),
    ("", "<a href=u>a</a> ", ""),
    ("", "<a>a</a>", ""),
    ("", "a<sup>1</sup><sub>b c</sub>", ""),
    ("", "<x translate=no>a<x translate=yes>b", ""),
    ("", "<li>a<td>b", ""),
    ("", "a<img>", ""),
];

#[test]
fn twice_the_input_takes_twice_the_steps() {
    for (before, part, after) in PARTS {
        for rules in [MarkupRules::html(), MarkupRules::xml()] {
            let document = |count: usize| format!("{before}{}{after}", part.repeat(count));
            let [once, twice] =
                [4000, 8000].map(|count| count_steps(&document(count), &rules).max(1));
            assert!(
                twice as f64 <= 2.3 * once as f64 + 1000.0,
                "{before}{part}{after}: {once} steps, then {twice}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Twice the input takes about twice the steps for random sequences of parts, too.
    #[test]
    fn steps_of_random_parts_grow_linearly(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "<b>", "</b>", "<a href=u>", "</a>", "word ", "<", "&", "<!--x-->", "<i>", "</i>",
                "<p>", "<sup>1</sup>", "<x translate=no>", "<x translate=yes>", "</x>", "<td>",
                "<img>", "。", "x=\"", "\">", "<pre>", "\n",
            ]),
            1..8,
        ),
    ) {
        let part = parts.concat();
        let [once, twice] =
            [600, 1200].map(|count| count_steps(&part.repeat(count), &MarkupRules::html()).max(1));
        prop_assert!(twice as f64 <= 2.5 * once as f64 + 4000.0, "{part}: {once}, then {twice}");
    }

    /// The steps of a sentence with many hyperlinks grow linearly with its words.
    #[test]
    fn steps_of_hyperlinks_grow_linearly(count in 1200usize..1300) {
        let steps_of = |count: usize| {
            let page = "<a href=u>a</a> ".repeat(count);
            taken_by(|| {
                let text = cut(DocumentFormat::Html(Split::Lines), page.as_bytes(), usize::MAX);
                text.join(text.sentences().map(AlignedTranslation::from));
            })
        };
        let [once, twice] = [count, 2 * count].map(steps_of);
        prop_assert!(twice <= 3 * once, "{once}, then {twice}");
    }
}
