//! Running text into sentences.
//!
//! Boundaries are those of Unicode (UAX #29), which know the ends of sentences in all
//! scripts; some of them are joined again, by the rules of Moses' `split-sentences.perl`:
//! a full stop after an abbreviation, an initial, an acronym or the number of a list ends nothing,
//! nor does any mark before lower case. Moses' script alone finds no ends in scripts without
//! capitals, Unicode's rules alone end sentences after `Mr.` and after opening quotes.
//!
//! The work is linear in the text: each boundary looks at the word before it and at the brackets
//! and spaces around it, and no two boundaries at the same ones.

use std::ops::Range;

use unicode_script::{Script, UnicodeScript};

use crate::NonbreakingPrefixes;
use crate::characters::{CharClass, char_indices, first_char, first_class, is_unspaced, last_char};
use crate::interruption::{Checkpoint, Interrupted};
use crate::nonbreaking_prefixes::PrefixScope;
use crate::open_quotes::{OpenQuotes, Side};
use crate::sentence_breaks::{BreakClass, SentenceBreaks};

/// Splits the paragraphs of a language into sentences.
///
/// # Examples
/// ```
/// use miriam_textproc::SentenceSplitter;
///
/// let text = "Mr. Smith came at 5 p.m. on Monday.  He left (early!) again.";
/// let sentences = SentenceSplitter::new("en").split(text.as_bytes());
/// let sentences: Vec<&str> = sentences.into_iter().map(|range| &text[range]).collect();
/// assert_eq!(
///     sentences,
///     ["Mr. Smith came at 5 p.m. on Monday.", "He left (early!) again."]
/// );
/// ```
#[derive(Clone, Debug)]
pub struct SentenceSplitter {
    prefixes: NonbreakingPrefixes,
}

impl SentenceSplitter {
    /// A splitter with the abbreviations of `language`, named by two letters; with those of
    /// English where none are built in, as in Moses.
    pub fn new(language: &str) -> Self {
        let prefixes = NonbreakingPrefixes::for_language(language)
            .or_else(|| NonbreakingPrefixes::for_language("en"));
        Self::with_prefixes(prefixes.unwrap_or_default())
    }

    /// A splitter with abbreviations of one's own.
    pub fn with_prefixes(prefixes: NonbreakingPrefixes) -> Self {
        SentenceSplitter { prefixes }
    }

    /// The byte ranges of the sentences of a paragraph, in order. What lies between them, and
    /// before the first and after the last, is white space, so that a text can be put
    /// together again from its translated sentences. The characters that end paragraphs
    /// (line feeds among them) end sentences too.
    pub fn split(&self, text: &[u8]) -> Vec<Range<usize>> {
        self.split_until(text, &|| false).unwrap_or_default()
    }

    /// As [`SentenceSplitter::split`], for texts that may be long: `should_stop` is asked now and
    /// then.
    ///
    /// # Errors
    /// If it says so.
    pub fn split_until(
        &self,
        text: &[u8],
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Range<usize>>, Interrupted> {
        let mut checkpoint = Checkpoint::new(should_stop);
        let mut sentences = Vec::new();
        let mut start = text.len() - trim_start(text).len();
        let mut quotes = QuoteTracker { text, passed: 0, open: OpenQuotes::default() };
        let mut breaks = SentenceBreaks::new(text);
        while let Some(end) = breaks.next() {
            checkpoint.pass(end)?;
            if end <= start {
                continue;
            }
            let boundary = Boundary::find(text, start..end, breaks.references(), &mut quotes);
            let is_paragraph_end = end == text.len() || ends_paragraph(&text[..end]);
            let sentence_end = if is_paragraph_end {
                // All of it: an opening bracket at the end has nothing that it could belong to.
                boundary.visible
            } else if !self.ends_sentence(text, start, &boundary) {
                continue;
            } else if boundary.end == boundary.visible
                && let closing @ 1.. = quotes.spaced_closing_len(end)
            {
                end + closing
            } else {
                boundary.end
            };
            sentences.push(start..sentence_end);
            start = text.len() - trim_start(&text[sentence_end..]).len();
            if is_paragraph_end {
                quotes = QuoteTracker { text, passed: end, open: OpenQuotes::default() };
            }
        }
        Ok(sentences)
    }

    /// Whether the sentence that begins at `start` ends at a boundary.
    fn ends_sentence(&self, text: &[u8], start: usize, boundary: &Boundary) -> bool {
        let body = &text[start..boundary.mark_end];
        let mark = last_char(body).and_then(|symbol| symbol.character);
        if !mark.is_some_and(is_western_mark) {
            return true;
        }
        let after = &text[boundary.end..];
        let next = next_letter(after);
        let next_class = next.map(BreakClass::from_char);
        let is_closed = boundary.closing_end > boundary.mark_end;
        if !boundary.is_spaced {
            // "Yahoo!Inc" is a word, but scripts without spaces use these marks too, and between
            // two quotations no space is needed.
            let is_between_brackets = is_closed && boundary.has_opening;
            let begins = matches!(next_class, Some(BreakClass::Uppercase | BreakClass::Letter));
            return next.is_some_and(is_unspaced) || is_between_brackets && begins;
        }
        if next_class == Some(BreakClass::Lowercase) {
            return false;
        }
        // Only a full stop is ambiguous, and neither before quotes nor as an ellipsis.
        if is_closed || boundary.has_reference || !body.ends_with(b".") || body.ends_with(b"..") {
            return true;
        }
        !self.keeps_full_stop(&body[..body.len() - 1], after)
    }

    /// Whether the full stop after `sentence` belongs to its last word.
    fn keeps_full_stop(&self, sentence: &[u8], after: &[u8]) -> bool {
        let is_space = |c| CharClass::from_char(c).intersects(CharClass::SPACE);
        let word = &sentence[trim_end_matching(sentence, |c| !is_space(c)).len()..];
        if is_acronym(word) || (word.len() == sentence.len() && is_list_item(word)) {
            return true;
        }
        let before = trim_end_matching(word, |c| !is_word_character(c));
        if before.len() < word.len() {
            return false;
        }
        let prefix = &word[trim_end_matching(word, is_word_character).len()..];
        match self.prefixes.get(prefix) {
            Some(PrefixScope::Anywhere) => true,
            Some(PrefixScope::BeforeNumber) => {
                trim_start(after).first().is_some_and(u8::is_ascii_digit)
            }
            None => is_initial(prefix),
        }
    }
}

/// A boundary of Unicode's with what is before it: `word.`, `”`, `“`, spaces.
struct Boundary {
    /// Where the mark that ends the sentence ends.
    mark_end: usize,
    /// Where the brackets and quotation marks end that belong to the sentence.
    closing_end: usize,
    /// Whether an opening bracket follows these at once.
    has_opening: bool,
    /// Whether reference marks end the sentence.
    has_reference: bool,
    /// Where all that belongs to the sentence ends.
    end: usize,
    /// Where the white space before the boundary begins.
    visible: usize,
    /// Whether white space follows the sentence.
    is_spaced: bool,
}

impl Boundary {
    /// Looks at the end of `pending`, a part of `text`; `references` are the reference marks that came
    /// last.
    fn find(
        text: &[u8],
        pending: Range<usize>,
        references: Range<usize>,
        quotes: &mut QuoteTracker<'_>,
    ) -> Self {
        let Range { start, end } = pending;
        let visible = start + trim_end(&text[start..end]).len();
        let has_reference = references.end == visible && references.start > start;
        let inner_end = if has_reference { references.start } else { visible };
        let mark_end = start + trim_end_matching(&text[start..inner_end], is_bracket).len();
        let mut closing_end = mark_end;
        while let Some(symbol) = first_char(&text[closing_end..inner_end]) {
            quotes.pass_until(closing_end);
            if symbol.character.and_then(|c| quotes.open.side(c)) == Some(Side::Opening) {
                break;
            }
            closing_end += symbol.byte_len;
        }
        let has_opening = closing_end < inner_end;
        let sentence_end = if has_opening { closing_end } else { visible };
        Boundary {
            mark_end,
            closing_end,
            has_opening,
            has_reference,
            end: sentence_end,
            visible,
            is_spaced: first_class(&text[sentence_end..]).intersects(CharClass::SPACE),
        }
    }
}

/// The quotation marks that are open in a text up to a place.
struct QuoteTracker<'t> {
    text: &'t [u8],
    passed: usize,
    open: OpenQuotes,
}

impl QuoteTracker<'_> {
    /// Goes on to `place`.
    fn pass_until(&mut self, place: usize) {
        if place > self.passed {
            let text = &self.text[self.passed..place];
            for character in char_indices(text).filter_map(|(_, symbol)| symbol.character) {
                self.open.pass(character);
            }
            self.passed = place;
        }
    }

    /// The length of closing quotes and brackets between spaces at `place`: `« Où ? » Il part.`
    fn spaced_closing_len(&mut self, place: usize) -> usize {
        self.pass_until(place);
        let text = &self.text[place..];
        let mut open = self.open;
        let mut end = 0;
        while let Some(symbol) = first_char(&text[end..]) {
            // An apostrophe closes nothing after a space.
            let closing =
                symbol.character.filter(|&c| c != '\'' && open.side(c) == Some(Side::Closing));
            let Some(character) = closing else { break };
            open.pass(character);
            end += symbol.byte_len;
        }
        let is_followed_by_text =
            !text[end..].is_empty() && !first_class(&text[end..]).intersects(CharClass::SPACE);
        if is_followed_by_text { 0 } else { end }
    }
}

/// Whether a text ends with a character that ends paragraphs.
fn ends_paragraph(text: &[u8]) -> bool {
    let last = last_char(text).and_then(|symbol| symbol.character);
    last.is_some_and(|character| BreakClass::from_char(character) == BreakClass::Separator)
}

/// Whether a character is a bracket or a quotation mark.
fn is_bracket(character: char) -> bool {
    BreakClass::from_char(character) == BreakClass::Bracket
}

/// Marks that end sentences in scripts with spaces; those of other scripts end sentences
/// wherever they are.
fn is_western_mark(character: char) -> bool {
    matches!(character, '.' | '!' | '?' | '…' | '‥' | '‼' | '⁇' | '⁈' | '⁉')
}

/// Quotes, brackets and inverted marks before the first word of a sentence.
fn is_opening(character: char) -> bool {
    matches!(character, '¿' | '¡') || is_bracket(character)
}

/// The first character of the next sentence that is neither space nor an opening quote.
fn next_letter(text: &[u8]) -> Option<char> {
    char_indices(text)
        .map(|(_, symbol)| symbol.character.unwrap_or('\u{1}'))
        .find(|&c| !is_opening(c) && !CharClass::from_char(c).intersects(CharClass::SPACE))
}

/// The characters of words in Moses' rule of abbreviations.
fn is_word_character(character: char) -> bool {
    matches!(character, '.' | '-')
        || CharClass::from_char(character).intersects(CharClass::ALPHANUMERIC)
}

/// Whether a word without its last full stop ends as an acronym: a full stop, then capitals.
fn is_acronym(word: &[u8]) -> bool {
    let is_capital = |c: char| c == '-' || c.is_uppercase();
    let before = trim_end_matching(word, is_capital);
    before.len() < word.len() && before.ends_with(b".")
}

/// Whether a word without its full stop is an initial: a single capital letter of any script, or a
/// letter of a script without capitals that has spaces between words. Two letters count where they
/// are one sound that names begin with: `Дж. Р. Р. Толкин`.
fn is_initial(word: &[u8]) -> bool {
    let Some(first) = first_char(word) else { return false };
    let Some(letter) = first.character else { return false };
    let rest = &word[first.byte_len..];
    let is_mark = |c: char| BreakClass::from_char(c) == BreakClass::Extension;
    let is_alone = char_indices(rest).all(|(_, symbol)| symbol.character.is_some_and(is_mark));
    match BreakClass::from_char(letter) {
        BreakClass::Uppercase => is_alone || matches!(std::str::from_utf8(word), Ok("Дж" | "Дз")),
        BreakClass::Letter => {
            rest.is_empty() && !is_unspaced(letter) && letter.script() != Script::Hangul
        }
        _ => false,
    }
}

/// Whether a word without its full stop is the number of a list: `1`, `(iv)`, `b`.
fn is_list_item(word: &[u8]) -> bool {
    let number = word.strip_prefix(b"(").unwrap_or(word);
    let number = number.strip_suffix(b")").unwrap_or(number);
    let is_letter = matches!(number, [letter] if letter.is_ascii_alphabetic());
    let is_roman = number.iter().all(|byte| b"ivx".contains(byte));
    is_letter || !number.is_empty() && (is_roman || number.iter().all(u8::is_ascii_digit))
}

/// `text` without the characters at its end that `matches` accepts.
fn trim_end_matching(text: &[u8], matches: impl Fn(char) -> bool) -> &[u8] {
    let mut rest = text;
    while let Some(symbol) = last_char(rest) {
        if !symbol.character.is_some_and(&matches) {
            break;
        }
        rest = &rest[..rest.len() - symbol.byte_len];
    }
    rest
}

pub(crate) fn trim_end(text: &[u8]) -> &[u8] {
    trim_end_matching(text, |c| CharClass::from_char(c).intersects(CharClass::SPACE))
}

pub(crate) fn trim_start(text: &[u8]) -> &[u8] {
    let mut rest = text;
    while first_class(rest).intersects(CharClass::SPACE) {
        rest = &rest[first_char(rest).map_or(1, |symbol| symbol.byte_len)..];
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps;
    use proptest::prelude::*;

    fn split<'t>(language: &str, text: &'t str) -> Vec<&'t str> {
        let ranges = SentenceSplitter::new(language).split(text.as_bytes());
        ranges.into_iter().map(|range| &text[range]).collect()
    }

    /// The sentences are those of Moses' `split-sentences.perl -k -b -q -i -l LANGUAGE`.
    #[test]
    fn western_text_is_split_as_by_moses() {
        let cases: [(&str, &[&str]); 17] = [
            ("en", &["Dr. No met Mr. T. Smith.", "They talked."]),
            ("en", &["See No. 5 of the list.", "No.", "It is not there."]),
            ("en", &["He lives in the U.S. Army camp.", "Why?"]),
            ("en", &["“Stop!” she said.", "“Why?” he asked.", "“Because.”", "Then they left."]),
            ("en", &["Wait... what is it?", "Wait...", "What is it?"]),
            ("en", &["It costs 3.50 dollars.", "4.20 is too much."]),
            ("en", &["(It rained.)", "(Then it did not.)"]),
            ("en", &["He came (why?) at noon.", "\"Good,\" she said."]),
            ("en", &["1. The first thing is this.", "It is new."]),
            ("en", &["It ends at 5 p.m. and starts at 9 a.m. every day."]),
            ("en", &["One sentence without an end"]),
            ("de", &["Am 3. Oktober war z.B. Herr Dr. Maier da.", "Er ging um 5 Uhr."]),
            ("fr", &["M. Dupont est là.", "« Où ? » dit-il.", "Il part."]),
            ("fr", &["Il dit : \" Je veux mourir. \"", "« Où ? »", "Il part."]),
            ("es", &["El Sr. García vino.", "¿Por qué?", "¡No lo sé!"]),
            ("cs", &["Přišel např. Novák.", "Odešel brzy."]),
            ("en", &["Really?!", "Yes."]),
        ];
        for (language, sentences) in cases {
            assert_eq!(split(language, &sentences.join(" ")), sentences, "{language}");
        }
    }

    #[test]
    fn scripts_without_capitals_or_spaces_are_split() {
        let cases: [(&str, &str, &[&str]); 6] = [
            ("zh", "你好。你是谁？我是王。", &["你好。", "你是谁？", "我是王。"]),
            (
                "ja",
                "「行こう。」と彼は言った。雨だ!傘は?",
                &["「行こう。」", "と彼は言った。", "雨だ!", "傘は?"],
            ),
            ("hi", "यह एक घर है। वह बड़ा है।", &["यह एक घर है।", "वह बड़ा है।"]),
            ("ar", "أين أنت؟ أنا هنا. تعال!", &["أين أنت؟", "أنا هنا.", "تعال!"]),
            ("ko", "안녕하세요. 저는 학생입니다.", &["안녕하세요.", "저는 학생입니다."]),
            ("hy", "Բարև։ Ինչպե՞ս ես։", &["Բարև։", "Ինչպե՞ս ես։"]),
        ];
        for (language, text, sentences) in cases {
            assert_eq!(split(language, text), sentences, "{language}");
        }
    }

    /// Each case is its sentences; a `|` is where one ends without white space.
    #[track_caller]
    fn assert_split(language: &str, marked: &str) {
        let text = marked.replace('|', "");
        let mut expected: Vec<&str> = Vec::new();
        let mut rest = &text[..];
        for (number, part) in marked.split('|').enumerate() {
            let (own, after) = rest.split_at(part.len());
            rest = after;
            let own = if number == 0 { own.trim_start() } else { own };
            expected.push(own.trim());
        }
        assert_eq!(split(language, &text), expected);
    }

    #[test]
    fn opening_brackets_belong_to_what_follows() {
        for (language, marked) in [
            ("zh", "“真的吗？”|“是的。”"),
            ("zh", "你好吗？|（笑）我很好。"),
            ("zh", "看完了！|《西游记》很好。"),
            ("zh", "他说：“好。”|“不好。”|“走！”"),
            ("zh", "他说:\"好。\"|\"走吧。\"|我说:\"再见。\""),
            ("zh", "他走了。|【注】我们也走。"),
            ("zh", "他走了!|“我也走.”|“好.”"),
            ("ja", "「行こう。」|「うん。」"),
            ("ja", "行こう。|『本』を読む。|（笑）"),
            ("en", "Really?(yes) No."),
            ("en", "“Hi!”|“Bye!” |She left."),
            ("en", "It is f(x).(See below.) |Then stop."),
            ("de", "„Ja!“ |„Nein!“ |Er ging."),
            ("de", "»Ja!« |»Nein!« |Er ging."),
            ("fr", "« Oui ! » |« Non ! » |Il part."),
            ("pl", "„Tak!” |„Nie!” |Wyszedł."),
            ("sv", "”Ja!” |”Nej!” |Han gick."),
            ("en", "He is 5. |\"Good.\" |\"Yes.\" |She left."),
            ("th", "ไปไหม?|“ไป!”|“ดี”"),
        ] {
            assert_split(language, marked);
        }
    }

    #[test]
    fn reference_marks_belong_to_what_precedes() {
        for (language, marked) in [
            ("en", "It ended in 1990.[1] |The next began.[2]"),
            ("en", "It ended.[1][2] |The next began.[12, 13] |Why?[note 3] |So!"),
            ("en", "It ended.[citation needed] |The next began.¹ |And more.* |End."),
            ("en", "He said “no.”[4] |Then he left."),
            ("en", "It ended in 1990.[1] and went on."),
            ("en", "It ended. |[They] began."),
            ("zh", "它在1990年结束。[1]|下一个开始了。[2]"),
            ("zh", "它结束了。［3］|我很好。|[笑]"),
        ] {
            assert_split(language, marked);
        }
    }

    #[test]
    fn initials_end_no_sentence_in_any_script() {
        for (language, marked) in [
            ("ru", "А. С. Пушкин писал. |Он умер в 1837 году."),
            ("ru", "Это Л. Н. Толстой. |Дж. Р. Р. Толкин писал."),
            ("uk", "Т. Г. Шевченко писав. |Є. Петрушевич жив."),
            ("el", "Ο Κ. Π. Καβάφης έγραψε. |Η Ά. Παπαδοπούλου ήρθε;"),
            ("bg", "П. К. Яворов писа. |Той умря."),
            ("hy", "Հ. Թումանյան. |Նա գրել է:"),
            ("ka", "ი. ჭავჭავაძე წერდა. |ის მოკვდა."),
            ("he", "א. ב. יהושע כתב. |הוא מת."),
            ("ar", "ج. ر. تولكين كتب. |هو مات."),
            ("de", "Ö. Müller kam. |É. Zola ging."),
            ("en", "J. R. R. Tolkien wrote. |He died."),
            // A syllable is a word.
            ("ko", "네. |알겠습니다."),
            ("hi", "यह घर है. |वह बड़ा है."),
        ] {
            assert_split(language, marked);
        }
    }

    /// Texts in which a character, a word or a sentence comes again and again: what a client sends
    /// who wants to keep a server busy.
    const HOSTILE: [&str; 31] = [
        "J. R. R. ",
        "Smith, J. R., Doe, A. B., Roe, C. D., Poe, E. F., ",
        "The value of No. 5 is 3.5 and Mr. Smith of St. John ",
        "(",
        ")",
        ".(",
        ".)",
        "\"",
        "'",
        "“",
        ".”“",
        ".",
        ". ",
        ".\u{301}",
        "\u{301}",
        " ",
        "\n",
        "a",
        "A.",
        "Mr. ",
        "No. (",
        "1. ",
        "[1]",
        ".[1",
        "你好",
        "好。“",
        "! ",
        "https://example.com/a.b?c=d. ",
        "U.S. ",
        ". $",
        "\u{ff0e}\u{200b}",
    ];

    #[test]
    fn twice_the_text_takes_twice_the_steps() {
        let splitter = SentenceSplitter::new("en");
        let beginnings = ["", ".", "A. ", "No. ", "“.", "     "];
        for (unit, beginning) in HOSTILE.iter().flat_map(|u| beginnings.map(|b| (u, b))) {
            let steps = |count: usize| {
                let text = format!("{beginning}{} b.", unit.repeat(count));
                steps::taken_by(|| drop(splitter.split(text.as_bytes())))
            };
            let (once, twice) = (steps(2000), steps(4000));
            assert!(twice <= 2 * once + 200, "{beginning:?} {unit:?}: {once}, {twice}");
            assert!(twice <= 4000 * unit.len() * 20, "{beginning:?} {unit:?}: {twice}");
        }
    }

    #[test]
    fn a_text_is_given_up() {
        let text = "J. R. R. ".repeat(50_000);
        let asked = std::cell::Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > 3
        };
        let splitter = SentenceSplitter::new("en");
        assert_eq!(splitter.split_until(text.as_bytes(), &stop), Err(Interrupted));
        assert_eq!(asked.get(), 4);
        assert!(splitter.split_until(text.as_bytes(), &|| false).is_ok());
    }

    #[test]
    fn white_space_is_left_between_sentences() {
        let text = "  One.\t Two is\u{a0}here. \u{3000}Three\nFour  ";
        let ranges = SentenceSplitter::new("en").split(text.as_bytes());
        let sentences: Vec<&str> = ranges.into_iter().map(|range| &text[range]).collect();
        assert_eq!(sentences, ["One.", "Two is\u{a0}here.", "Three", "Four"]);
    }

    #[test]
    fn words_with_marks_are_not_split() {
        assert_eq!(split("en", "Yahoo!Inc and foo.Bar are names.").len(), 1);
        assert_eq!(split("en", "He asked why? and left.").len(), 1);
    }

    #[test]
    fn abbreviations_may_be_ones_own() {
        let text = b"See appx. B now. End.";
        let own = NonbreakingPrefixes::parse_moses(b"appx\n");
        assert_eq!(SentenceSplitter::with_prefixes(own).split(text).len(), 2);
        assert_eq!(SentenceSplitter::new("en").split(text).len(), 3);
    }

    proptest! {
        #[test]
        fn nothing_but_white_space_is_between_sentences(
            text in proptest::collection::vec(
                prop_oneof![
                    Just(b". ".to_vec()), Just(b"? ".to_vec()), Just(b"Mr.".to_vec()),
                    Just("。".into()), Just("”".into()), Just(b"A".to_vec()), Just(b"a".to_vec()),
                    Just(b"\n".to_vec()), Just(b"\xff".to_vec()), Just("\u{2029}".into()),
                    any::<Vec<u8>>(), any::<char>().prop_map(|c| c.to_string().into_bytes()),
                ],
                0..30,
            )
        ) {
            let text = text.concat();
            let mut rest = 0;
            let mut gaps = Vec::new();
            for sentence in SentenceSplitter::new("en").split(&text) {
                prop_assert!(rest <= sentence.start && sentence.start < sentence.end);
                let own = &text[sentence.clone()];
                prop_assert_eq!(trim_start(trim_end(own)), own);
                gaps.push(rest..sentence.start);
                rest = sentence.end;
            }
            gaps.push(rest..text.len());
            for gap in gaps {
                prop_assert!(crate::characters::is_blank(&text[gap]));
            }
        }
    }
}
