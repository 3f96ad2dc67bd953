//! The markup of a line (`docs/spec/phrase-decoding.md` 3.2): forced translations of spans, walls
//! and zones that limit reordering, and placeholders.
//!
//! | element | meaning |
//! |---|---|
//! | `<wall/>` | all words before this point are translated before any word after it |
//! | `<zone>..</zone>` | once begun, these words are completed before others are translated |
//! | `<ne entity="E">w</ne>` | the word aligned to w is printed as E |
//! | any other with `translation` | a forced translation of its words |
//!
//! Elements with which Moses 1 changes the model (`<weight-overwrite>`, `<update>`) are errors.
//!
//! `translation` (or `english`, its old name) holds alternatives separated by `||`; `prob` holds a
//! probability for each. An element refers to the words inside it, or to those that its attribute
//! `span` names: `"2,4"`, `"2-4"` or `"2"`, positions from 0, the last one included. Other elements
//! without a translation have no effect.

mod tags;

use miriam_textio::{fields, number};

pub use tags::{Brackets, Element, MarkedText, MarkupError};

use crate::span::Span;

/// The treatment of markup in the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum XmlInputMode {
    /// Markup is text.
    #[default]
    PassThrough,
    /// Markup is removed and ignored.
    Ignore,
    /// A forced translation competes with the options of the tables.
    Inclusive,
    /// Tables are not used for words that have a forced translation.
    Exclusive,
    /// Only those options of the tables that contain the forced translation are used.
    Constraint,
}

/// A forced translation of a span of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ForcedOption {
    /// The span.
    pub(crate) span: Span,
    /// The translation as written.
    pub(crate) translation: Vec<u8>,
    /// Its probability, if given.
    pub(crate) probability: Option<f32>,
}

/// The markup of a sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SentenceMarkup {
    /// Forced translations, sorted by span; translations of the same span in the order of the line.
    pub(crate) forced_options: Vec<ForcedOption>,
    /// Positions after which there is a wall.
    pub(crate) walls: Vec<u32>,
    /// Spans that are translated as a block.
    pub(crate) zones: Vec<Span>,
    /// Positions with the entities printed for them.
    pub(crate) placeholders: Vec<(u32, Vec<u8>)>,
    /// For each position, whether it has a forced translation; empty if no position has one.
    is_forced: Vec<bool>,
}

/// The largest number of zones of a line: every expansion checks all of them.
const MAX_ZONES: usize = 500;

impl SentenceMarkup {
    /// Reads `text`. `placeholders` says whether the system supports placeholders.
    pub(crate) fn from_text(
        text: &MarkedText<'_>,
        placeholders: bool,
    ) -> Result<Self, MarkupError> {
        let mut annotations = SentenceMarkup::default();
        let length = text.words.len();
        for element in &text.elements {
            let fail = |reason: &str| {
                Err(MarkupError { column: element.column, reason: reason.to_owned() })
            };
            match element.name {
                b"wall" => {
                    let span = element_span(element, length)?;
                    annotations.walls.extend(span.start.checked_sub(1));
                }
                b"zone" => match element_span(element, length)? {
                    span if span.start == span.end => return fail("the zone has no words"),
                    _ if annotations.zones.len() == MAX_ZONES => {
                        return fail("there are more than 500 zones");
                    }
                    span if !annotations.zones.contains(&span) => annotations.zones.push(span),
                    _ => {}
                },
                b"ne" => {
                    if !placeholders {
                        return fail("<ne> needs the option -placeholder-factor");
                    }
                    let span = element_span(element, length)?;
                    let Some(entity) = element.attribute("entity") else {
                        return fail("<ne> needs an attribute entity=\"...\"");
                    };
                    if span.end - span.start != 1 {
                        return fail("<ne> encloses exactly one word");
                    }
                    annotations.placeholders.push((span.start, entity.to_vec()));
                }
                b"weight-overwrite" => {
                    return fail(
                        "<weight-overwrite> changes the weights of later lines in Moses 1, which is not \
                         available; the option -weight-overwrite changes those of all lines",
                    );
                }
                b"update" => {
                    return fail(
                        "<update> adds a sentence pair to a table in Moses 1, which is not available; \
                         with -inputtype 7 a line has phrase pairs of its own",
                    );
                }
                _ => annotations.add_forced_options(element, length)?,
            }
        }
        annotations.forced_options.sort_by_key(|option| (option.span.start, option.span.end));
        Ok(annotations)
    }

    /// Adds the forced translations of an element.
    fn add_forced_options(
        &mut self,
        element: &Element<'_>,
        length: usize,
    ) -> Result<(), MarkupError> {
        let column = element.column;
        fn fail(reason: String, column: usize) -> Result<(), MarkupError> {
            Err(MarkupError { column, reason })
        }
        let mut translations: Vec<&[u8]> = Vec::new();
        for name in ["translation", "english"] {
            translations.extend(element.attribute(name).into_iter().flat_map(split_alternatives));
        }
        if translations.is_empty() {
            return Ok(());
        }
        let span = element_span(element, length)?;
        if span.start == span.end {
            return fail("a translation of an element without words".into(), column);
        }
        let mut probabilities = Vec::new();
        for text in element.attribute("prob").into_iter().flat_map(split_alternatives) {
            let text = fields::trim(text);
            match number::parse_f32_via_f64(text).filter(|p| p.is_finite() && *p >= 0.0) {
                Some(p) => probabilities.push(p),
                None => {
                    let text = String::from_utf8_lossy(text);
                    return fail(format!("prob: {text:?} is not a probability"), column);
                }
            }
        }
        if !probabilities.is_empty() && probabilities.len() != translations.len() {
            let (n, p) = (translations.len(), probabilities.len());
            return fail(format!("prob has {p} values for {n} translations"), column);
        }
        self.is_forced.resize(length, false);
        self.is_forced[span.start as usize..span.end as usize].fill(true);
        for (i, translation) in translations.into_iter().enumerate() {
            self.forced_options.push(ForcedOption {
                span,
                translation: translation.to_vec(),
                probability: probabilities.get(i).copied(),
            });
        }
        Ok(())
    }

    /// Whether there is no markup.
    pub(crate) fn is_empty(&self) -> bool {
        self.forced_options.is_empty()
            && self.walls.is_empty()
            && self.zones.is_empty()
            && self.placeholders.is_empty()
    }

    /// Returns forced translations, grouped by span.
    pub(crate) fn forced_options_by_span(&self) -> impl Iterator<Item = &[ForcedOption]> {
        self.forced_options.chunk_by(|a, b| a.span == b.span)
    }

    /// Returns the length in words of the longest span with a forced translation.
    pub(crate) fn max_forced_length(&self) -> usize {
        let lengths = self.forced_options.iter().map(|o| (o.span.end - o.span.start) as usize);
        lengths.max().unwrap_or(0)
    }

    /// Whether some word of `span` has a forced translation.
    pub(crate) fn overlaps_forced(&self, span: Span) -> bool {
        let forced = self.is_forced.get(span.start as usize..span.end as usize);
        forced.is_some_and(|words| words.contains(&true))
    }
}

/// Splits `a||b` into a and b.
fn split_alternatives(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    fields::split_on(text, b"||")
}

/// Returns the words that an element refers to: the words inside it, or the words that its
/// attribute `span` names.
fn element_span(element: &Element<'_>, length: usize) -> Result<Span, MarkupError> {
    fn span(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }
    let Some(given) = element.attribute("span") else {
        return Ok(span(element.start, element.end));
    };
    let mut numbers = given.split(|b| matches!(b, b',' | b'-')).map(|digits| {
        let digits = std::str::from_utf8(fields::trim(digits)).ok()?;
        digits.parse::<usize>().ok()
    });
    let first = numbers.next().flatten();
    let last = numbers.next().unwrap_or(first);
    match (first, last, numbers.next()) {
        (Some(first), Some(last), None) if first <= last && last < length => {
            Ok(span(first, last + 1))
        }
        _ => {
            let given = String::from_utf8_lossy(given);
            let reason = format!(
                "span={given:?} is not of the form \"2-4\" with positions from 0 to {}",
                length.saturating_sub(1)
            );
            Err(MarkupError { column: element.column, reason })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<SentenceMarkup, MarkupError> {
        let text = MarkedText::parse(line.as_bytes(), &Brackets::default())?;
        SentenceMarkup::from_text(&text, true)
    }

    fn options(line: &str) -> Vec<(u32, u32, String, Option<f32>)> {
        let shown = |o: &ForcedOption| {
            let text = String::from_utf8(o.translation.clone()).unwrap();
            (o.span.start, o.span.end, text, o.probability)
        };
        read(line).unwrap().forced_options.iter().map(shown).collect()
    }

    #[test]
    fn translations_with_alternatives_and_probabilities() {
        assert_eq!(
            options("a <n translation='x y||z' prob='0.7|| 0.3'>b c</n> d"),
            [(1, 3, "x y".into(), Some(0.7)), (1, 3, "z".into(), Some(0.3))]
        );
        assert_eq!(options("<n english='x' translation='y'>a</n>").len(), 2);
    }

    #[test]
    fn options_are_at_the_positions_of_their_elements() {
        let at = |line: &str| options(line).iter().map(|o| (o.0, o.1)).collect::<Vec<_>>();
        assert_eq!(at("a b c <m span='0,1' translation='y'/>"), [(0, 2)]);
        assert_eq!(at("a b c <m span='1-2' translation='y'/>"), [(1, 3)]);
        assert_eq!(at("<m span='2' english='y'>a</m> b c"), [(2, 3)]);
        assert_eq!(at("<m translation='y'>a <n translation='z'>b</n></m> c"), [(0, 2), (1, 2)]);
        assert!(options("a <b>c</b> <wall/>").is_empty());
        assert_eq!(options("a <b translation=''>c</b>"), [(1, 2, String::new(), None)]);
    }

    #[test]
    fn walls_zones_and_placeholders() {
        let read = read(
            "<wall/>a <wall/><zone>b <zone>c</zone> <ne translation='@' entity='5 $'>@</ne></zone>",
        )
        .unwrap();
        assert_eq!(read.walls, [0], "none before the first word");
        assert_eq!(read.zones, [Span { start: 1, end: 4 }, Span { start: 2, end: 3 }]);
        assert_eq!(read.placeholders, [(3, b"5 $".to_vec())]);
        assert!(read.forced_options.is_empty() && !read.is_empty());
        assert!(!read.overlaps_forced(Span { start: 0, end: 4 }));
    }

    #[test]
    fn spans_that_overlap_forced_words_are_found() {
        let read = read("a b <n translation='x'>c</n> d").unwrap();
        let overlaps = |start, end| read.overlaps_forced(Span { start, end });
        assert!(overlaps(2, 3) && overlaps(0, 3) && overlaps(2, 4));
        assert!(!overlaps(0, 2) && !overlaps(3, 4));
        assert_eq!(read.max_forced_length(), 1);
    }

    #[test]
    fn invalid_markup_is_rejected_with_the_reason() {
        for (line, reason) in [
            ("a <n translation='x'></n>", "without words"),
            ("a <n translation='x||y' prob='1'>b</n>", "1 values for 2"),
            ("a <n translation='x' prob='often'>b</n>", "often"),
            ("a <n translation='x' prob='-1'>b</n>", "-1"),
            ("a <n translation='x' prob='nan'>b</n>", "nan"),
            ("a <n translation='x' span='0-2'>b</n>", "0 to 1"),
            ("a <n translation='x' span='1-0'>b</n>", "1-0"),
            ("a <n translation='x' span='0-0-0'>b</n>", "form"),
            ("a <n translation='x' span='99999999999999999999'>b</n>", "form"),
            ("<zone></zone> a", "no words"),
            ("<ne entity='x'>a b</ne>", "one word"),
            ("<ne>a</ne>", "entity"),
            ("a <weight-overwrite weights='LM0= 5'/>", "option -weight-overwrite"),
            ("<update name='T' source='a' target='b' alignment='0-0'/> a", "-inputtype 7"),
        ] {
            let error = read(line).unwrap_err();
            assert!(error.to_string().contains(reason), "{line}: {error}");
        }
        let text = MarkedText::parse(b"<ne entity='x'>a</ne>", &Brackets::default()).unwrap();
        let error = SentenceMarkup::from_text(&text, false).unwrap_err();
        assert!(error.reason.contains("placeholder-factor"), "{error}");
    }
}
