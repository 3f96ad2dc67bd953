//! Any bytes as a page of HTML and as running text, with translations and links made from the same
//! bytes: translations add no tags to a page, and running text is restored byte for byte.
#![no_main]

use std::ops::Range;

use libfuzzer_sys::fuzz_target;
use miriam_textproc::{
    AlignedTranslation, Document, DocumentCutter, DocumentFormat, SentenceSplitter, Split, locate_tokens,
};

/// Counts the places where a tag may begin: a `<` before a letter.
fn num_tags(page: &[u8]) -> usize {
    page.windows(2).filter(|pair| pair[0] == b'<' && pair[1].is_ascii_alphabetic()).count()
}

fuzz_target!(|bytes: &[u8]| {
    let splitter = SentenceSplitter::new("en");
    let text = Document::text(bytes, &splitter);
    assert_eq!(text.join(text.sentences().map(AlignedTranslation::from)), bytes);
    let format = DocumentFormat::Html(Split::Sentences);
    let page = DocumentCutter::new(format, &splitter).within(20).cut(bytes, <[u8]>::len);
    let page = page.expect("it does not stop");
    let link = |n: usize, length: usize| -> Range<usize> {
        let at = usize::from(bytes[n % bytes.len()]) % length.max(1);
        at..at + 1
    };
    let links: Vec<Vec<_>> = page
        .sentences()
        .enumerate()
        .map(|(n, sentence)| {
            let translated = &bytes[..bytes.len().min(n % 50 + 5)];
            let all = (0..n % 7).map(|k| (link(n + k, sentence.len()), link(k, translated.len())));
            all.collect()
        })
        .collect();
    let translations = links.iter().enumerate().map(|(n, links)| AlignedTranslation {
        text: &bytes[..bytes.len().min(n % 50 + 5)],
        links,
        attention: &[],
    });
    let joined = page.join(translations);
    // Text is escaped, so translations never form tags.
    assert!(num_tags(&joined) <= num_tags(bytes));
    let tokens: Vec<&[u8]> = bytes.split(|&byte| byte == b' ').collect();
    let ranges = locate_tokens(bytes, tokens.iter().copied());
    assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start));
});
