//! Tags in a line of text: their positions and the words between them.
//!
//! This is intentionally not an XML parser. A line is a fragment with any number of roots. Entities
//! are left as written (`&apos;` is a word to the models). Text need not be UTF-8, and the brackets
//! may differ from `<` and `>`. A bracket opens a tag if a name, `/`, `!` or `?` follows it
//! directly; any other bracket is part of the text. Comments and instructions are dropped, the text
//! of CDATA sections is kept unchanged.

use std::fmt;

use miriam_textio::fields;

/// The strings around a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brackets {
    /// The opening bracket, usually `<`.
    pub open: String,
    /// The closing bracket, usually `>`.
    pub close: String,
}

impl Default for Brackets {
    fn default() -> Self {
        Brackets { open: "<".into(), close: ">".into() }
    }
}

/// A parsed line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkedText<'a> {
    /// The words outside of tags; a tag ends a word.
    pub words: Vec<&'a [u8]>,
    /// The elements in the order of their opening tags.
    pub elements: Vec<Element<'a>>,
}

/// An element: a tag, or a pair of tags with the words between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// The name in the tag.
    pub name: &'a [u8],
    /// Names and values of attributes, as written, without the quotes.
    pub attributes: Vec<(&'a [u8], &'a [u8])>,
    /// The index of its first word.
    pub start: usize,
    /// The index after its last word.
    pub end: usize,
    /// The column of its opening bracket, in bytes from 1.
    pub column: usize,
}

impl<'a> Element<'a> {
    /// Returns the value of an attribute, or the first value if it is given more than once.
    pub fn attribute(&self, name: &str) -> Option<&'a [u8]> {
        let found = self.attributes.iter().find(|(given, _)| *given == name.as_bytes());
        found.map(|&(_, value)| value)
    }
}

/// An error in the markup of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkupError {
    /// The column, in bytes from 1.
    pub column: usize,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for MarkupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "markup, column {}: {}", self.column, self.reason)
    }
}

impl std::error::Error for MarkupError {}

impl<'a> MarkedText<'a> {
    /// Parses `line`.
    ///
    /// # Errors
    ///
    /// If a tag is incomplete, has a malformed attribute, closes an element that is not open, or is
    /// never closed.
    pub fn parse(line: &'a [u8], brackets: &Brackets) -> Result<Self, MarkupError> {
        let (open, close) = (brackets.open.as_bytes(), brackets.close.as_bytes());
        let mut reader = TagReader { line, position: 0, open, close };
        let mut text = MarkedText::default();
        let mut unclosed: Vec<usize> = Vec::new();
        loop {
            let (plain, tag) = reader.next_tag();
            text.words.extend(fields::split_words(plain));
            let Some(column) = tag else { break };
            match reader.parse_tag(column)? {
                Tag::Ignored => {}
                Tag::Text(plain) => text.words.extend(fields::split_words(plain)),
                Tag::Open { name, attributes, is_self_closing: empty } => {
                    let at = text.words.len();
                    if !empty {
                        unclosed.push(text.elements.len());
                    }
                    text.elements.push(Element { name, attributes, start: at, end: at, column });
                }
                Tag::Close { name } => {
                    let fail = |reason| Err(MarkupError { column, reason });
                    let closes = lossy_string(&[open, b"/", name, close]);
                    let Some(at) = unclosed.pop() else {
                        return fail(format!("{closes} closes an element that was never opened"));
                    };
                    let element = &mut text.elements[at];
                    if element.name != name {
                        let opened = lossy_string(&[open, element.name, close]);
                        let column = element.column;
                        return fail(format!("{closes} closes {opened} of column {column}"));
                    }
                    element.end = text.words.len();
                }
            }
        }
        match unclosed.pop() {
            None => Ok(text),
            Some(at) => {
                let Element { name, column, .. } = text.elements[at];
                let reason = format!("{} is never closed", lossy_string(&[open, name, close]));
                Err(MarkupError { column, reason })
            }
        }
    }
}

/// Returns the bytes as text for messages.
fn lossy_string(parts: &[&[u8]]) -> String {
    String::from_utf8_lossy(&parts.concat()).into_owned()
}

enum Tag<'a> {
    /// A comment or an instruction.
    Ignored,
    Text(&'a [u8]),
    Open {
        name: &'a [u8],
        attributes: Vec<(&'a [u8], &'a [u8])>,
        is_self_closing: bool,
    },
    Close {
        name: &'a [u8],
    },
}

/// Reader of the tags of a line, and its position in the line.
struct TagReader<'a, 'b> {
    line: &'a [u8],
    position: usize,
    open: &'b [u8],
    close: &'b [u8],
}

impl<'a> TagReader<'a, '_> {
    /// Returns the text up to the next tag, and the tag's column; the position is then after its
    /// opening bracket.
    fn next_tag(&mut self) -> (&'a [u8], Option<usize>) {
        let start = self.position;
        let mut from = start;
        while let Some(found) = memchr::memmem::find(&self.line[from..], self.open) {
            let bracket = from + found;
            let after = bracket + self.open.len();
            if self.line.get(after).is_some_and(|b| {
                b.is_ascii_alphabetic() || *b >= 0x80 || matches!(b, b'_' | b'/' | b'!' | b'?')
            }) {
                self.position = after;
                return (&self.line[start..bracket], Some(bracket + 1));
            }
            from = bracket + 1;
        }
        self.position = self.line.len();
        (&self.line[start..], None)
    }

    fn rest(&self) -> &'a [u8] {
        &self.line[self.position..]
    }

    /// Consumes `text` if it is next.
    fn consume(&mut self, text: &[u8]) -> bool {
        let there = self.rest().starts_with(text);
        if there {
            self.position += text.len();
        }
        there
    }

    fn skip_blanks(&mut self) {
        self.position += self.rest().iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    }

    /// Returns the bytes before `end`; the position moves after `end`.
    fn consume_until(&mut self, end: &[&[u8]]) -> Option<&'a [u8]> {
        let (rest, end) = (self.rest(), end.concat());
        let length = memchr::memmem::find(rest, &end)?;
        self.position += length + end.len();
        Some(&rest[..length])
    }

    /// Returns a name: up to a blank, a slash, an equals sign, a quote or the end of the tag.
    fn parse_name(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let length = (0..rest.len())
            .find(|i| {
                matches!(rest[*i], b' ' | b'\t' | b'/' | b'=' | b'"' | b'\'')
                    || rest[*i..].starts_with(self.close)
            })
            .unwrap_or(rest.len());
        self.position += length;
        &rest[..length]
    }

    /// Returns the tag whose opening bracket has been read.
    fn parse_tag(&mut self, column: usize) -> Result<Tag<'a>, MarkupError> {
        let cut = |what: &str| {
            let close = lossy_string(&[self.close]);
            Err(MarkupError { column, reason: format!("{what} that opens here has no {close}") })
        };
        if self.consume(b"!--") {
            return match self.consume_until(&[b"--", self.close]) {
                Some(_) => Ok(Tag::Ignored),
                None => cut("the comment"),
            };
        }
        if self.consume(b"![CDATA[") {
            return match self.consume_until(&[b"]]", self.close]) {
                Some(text) => Ok(Tag::Text(text)),
                None => cut("the CDATA section"),
            };
        }
        if self.consume(b"!") || self.consume(b"?") {
            return match self.consume_until(&[self.close]) {
                Some(_) => Ok(Tag::Ignored),
                None => cut("the instruction"),
            };
        }
        if self.consume(b"/") {
            self.skip_blanks();
            let name = self.parse_name();
            self.skip_blanks();
            return match (name, self.consume(self.close)) {
                (_, false) => cut("the tag"),
                ([], true) => {
                    let reason = "a closing tag without a name".into();
                    Err(MarkupError { column, reason })
                }
                (name, true) => Ok(Tag::Close { name }),
            };
        }
        let name = self.parse_name();
        let mut attributes = Vec::new();
        loop {
            self.skip_blanks();
            if self.consume(self.close) {
                return Ok(Tag::Open { name, attributes, is_self_closing: false });
            }
            let here = self.position + 1;
            if self.consume(b"/") {
                self.skip_blanks();
                if self.consume(self.close) {
                    return Ok(Tag::Open { name, attributes, is_self_closing: true });
                }
                let reason = "a slash that does not end the tag".into();
                return Err(MarkupError { column: here, reason });
            }
            if self.rest().is_empty() {
                return cut("the tag");
            }
            attributes.push(self.parse_attribute(here)?);
        }
    }

    /// Reads `name="value"`, in either kind of quotes.
    fn parse_attribute(&mut self, column: usize) -> Result<(&'a [u8], &'a [u8]), MarkupError> {
        let name = self.parse_name();
        self.skip_blanks();
        fn described(name: &[u8]) -> String {
            format!("attribute {:?}", String::from_utf8_lossy(name))
        }
        if name.is_empty() || !self.consume(b"=") {
            let reason = format!("{} is not of the form name=\"value\"", described(name));
            return Err(MarkupError { column, reason });
        }
        self.skip_blanks();
        let quote = match self.rest() {
            [quote @ (b'"' | b'\''), ..] => *quote,
            _ => {
                let reason = format!("{} has no value in quotes", described(name));
                return Err(MarkupError { column, reason });
            }
        };
        self.position += 1;
        match self.consume_until(&[&[quote]]) {
            Some(value) => Ok((name, value)),
            None => {
                let reason = format!("the value of {} is not closed", described(name));
                Err(MarkupError { column, reason })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(line: &str) -> Result<MarkedText<'_>, MarkupError> {
        MarkedText::parse(line.as_bytes(), &Brackets::default())
    }

    fn words(text: &MarkedText<'_>) -> String {
        text.words.iter().map(|w| String::from_utf8_lossy(w)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn elements_cover_their_words() {
        let text = parse("a <zone>b<x y='1' z = \"2 &lt; > 3\">c d</x></zone><wall/> e").unwrap();
        assert_eq!(words(&text), "a b c d e");
        let places: Vec<_> = text.elements.iter().map(|e| (e.name, e.start, e.end)).collect();
        assert_eq!(places, [(&b"zone"[..], 1, 4), (b"x", 2, 4), (b"wall", 4, 4)]);
        let x = &text.elements[1];
        assert_eq!(x.attribute("y"), Some(&b"1"[..]));
        assert_eq!(x.attribute("z"), Some(&b"2 &lt; > 3"[..]), "entities and brackets stay");
        assert_eq!(x.attribute("w"), None);
        assert_eq!((text.elements[0].column, x.column), (3, 10));
    }

    #[test]
    fn text_that_looks_like_a_tag() {
        for line in ["a < b > c", "3 <4", "a<", "<", "1<2 && 3>2", "<<", "&lt;b&gt;"] {
            let text = parse(line).unwrap();
            assert_eq!(words(&text), line);
            assert!(text.elements.is_empty(), "{line}");
        }
        let text = parse("a<!-- no <b> --><![CDATA[<x> &amp;]]><?no?>c").unwrap();
        assert_eq!(words(&text), "a <x> &amp; c");
        assert!(text.elements.is_empty());
    }

    #[test]
    fn other_brackets() {
        let brackets = Brackets { open: "{{".into(), close: "}}".into() };
        let line = b"a {b} <c> {{x t=\"}}\"}}d{{/x}} {{y /}}";
        let text = MarkedText::parse(line, &brackets).unwrap();
        assert_eq!(words(&text), "a {b} <c> d");
        assert_eq!(text.elements[0].attribute("t"), Some(&b"}}"[..]));
        assert_eq!((text.elements[0].start, text.elements[0].end), (3, 4));
        assert_eq!(text.elements[1].name, b"y");
    }

    #[test]
    fn complaints_name_the_column() {
        let cases = [
            ("a <b", 3, "no >"),
            ("a <b c", 6, "form"),
            ("a <b c=d>", 6, "quotes"),
            ("a <b c=\"d>", 6, "not closed"),
            ("a <b / c>", 6, "slash"),
            ("a </b>", 3, "never opened"),
            ("a <b>c</d>", 7, "</d> closes <b> of column 3"),
            ("a <b><c/>d", 3, "never closed"),
            ("a </>", 3, "without a name"),
            ("a </b", 3, "no >"),
            ("<!-- a", 1, "comment"),
            ("<![CDATA[ a", 1, "CDATA"),
            ("<? a", 1, "instruction"),
        ];
        for (line, column, reason) in cases {
            let error = parse(line).unwrap_err();
            assert_eq!(error.column, column, "{line}: {error}");
            assert!(error.reason.contains(reason), "{line}: {error}");
        }
    }

    /// Fragments of hostile lines.
    fn fragment() -> impl Strategy<Value = Vec<u8>> {
        let texts: Vec<&[u8]> = vec![
            b"<",
            b">",
            b"</",
            b"/>",
            b"<a",
            b"<a>",
            b"</a>",
            b"<b x=\"",
            b"\"",
            b"'",
            b"=",
            b" ",
            b"\t",
            b"w",
            b"\xff",
            b"<!--",
            b"-->",
            b"<![CDATA[",
            b"]]>",
            b"<?",
            b"{{",
            b"}}",
            b"|",
            b"\\",
        ];
        prop_oneof![
            proptest::sample::select(texts).prop_map(<[u8]>::to_vec),
            proptest::collection::vec(any::<u8>(), 0..4),
        ]
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_rejected(
            fragments in proptest::collection::vec(fragment(), 0..30), curly in any::<bool>(),
        ) {
            let line = fragments.concat();
            let brackets = if curly { Brackets { open: "{{".into(), close: "}}".into() } } else { Brackets::default() };
            match MarkedText::parse(&line, &brackets) {
                Ok(text) => {
                    for element in &text.elements {
                        prop_assert!(element.start <= element.end && element.end <= text.words.len());
                    }
                    let starts: Vec<_> = text.elements.iter().map(|e| e.start).collect();
                    prop_assert!(starts.is_sorted());
                    prop_assert!(text.words.iter().all(|w| !w.is_empty() && !w.contains(&b' ')));
                }
                Err(error) => prop_assert!((1..=line.len() + 1).contains(&error.column)),
            }
        }

        #[test]
        fn text_without_markup_comes_back(line in proptest::collection::vec(any::<u8>(), 0..60)) {
            let line: Vec<u8> = line.into_iter().filter(|&b| b != b'<').collect();
            let text = MarkedText::parse(&line, &Brackets::default()).unwrap();
            prop_assert_eq!(text.words, fields::split_words(&line).collect::<Vec<_>>());
            prop_assert!(text.elements.is_empty());
        }
    }
}
