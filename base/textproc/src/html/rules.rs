//! Rules for the translation of elements: which are copied, and which end sentences.
//!
//! In HTML a list of names says which elements break lines. In XML the client decides by names, or
//! the outline of the document decides: an element is inside a sentence if its parent also contains
//! text, and a separate unit if its parent contains only elements. DeepL's clients rely on this
//! rule.

use hashbrown::HashSet;

use super::elements;
use super::tag_pairs::ElementEnd;
use super::tokens::{StartTag, Syntax, Token, TokenKind, fold_name};

/// The treatment of elements in translation.
///
/// # Examples
/// ```
/// use miriam_textproc::{DocumentCutter, DocumentFormat, MarkupRules, SentenceSplitter, Split};
///
/// let unit = b"<unit id=\"1\"><source>A red house.</source><note>by <x>Ann</x></note></unit>";
/// let rules = MarkupRules::xml().ignoring(["x"]);
/// let splitter = SentenceSplitter::new("en");
/// let format = DocumentFormat::Markup(Split::Sentences, rules.into());
/// let text = DocumentCutter::new(format, &splitter).cut(unit, |_| 0).unwrap();
/// let sentences: Vec<&[u8]> = text.sentences().collect();
/// assert_eq!(sentences, [&b"A red house."[..], b"by"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct MarkupRules {
    pub(super) syntax: Syntax,
    detects_outline: bool,
    splitting: HashSet<Box<[u8]>>,
    non_splitting: HashSet<Box<[u8]>>,
    ignored: HashSet<Box<[u8]>>,
}

impl MarkupRules {
    /// Returns the rules of HTML.
    pub fn html() -> Self {
        Self::default()
    }

    /// Returns the rules of XML. Elements that end sentences are detected by the outline of the
    /// document.
    pub fn xml() -> Self {
        MarkupRules { syntax: Syntax::Xml, detects_outline: true, ..Self::default() }
    }

    /// Turns detection by XML's outline off: only named elements end sentences.
    pub fn without_outline(self) -> Self {
        MarkupRules { detects_outline: false, ..self }
    }

    /// Adds elements that end sentences.
    pub fn splitting<N: AsRef<[u8]>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.splitting.extend(folded(self.syntax, names));
        self
    }

    /// Adds elements that do not end sentences.
    pub fn non_splitting<N: AsRef<[u8]>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.non_splitting.extend(folded(self.syntax, names));
        self
    }

    /// Adds elements that are copied.
    pub fn ignoring<N: AsRef<[u8]>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.ignored.extend(folded(self.syntax, names));
        self
    }

    /// Whether an element is copied with its content. Parts whose attributes request translation
    /// are translated if [`MarkupRules::may_be_translated_inside`] allows it.
    pub(super) fn is_copied(&self, tag: &StartTag) -> bool {
        let is_code = self.syntax == Syntax::Html && elements::is_untranslated(&tag.name);
        self.ignored.contains(&tag.name)
            || match tag.translate {
                Some(false) => true,
                Some(true) => is_code && !elements::is_translatable(&tag.name),
                None => is_code,
            }
    }

    /// Whether parts of a copied element may request translation.
    pub(super) fn may_be_translated_inside(&self, tag: &StartTag) -> bool {
        !self.ignored.contains(&tag.name)
    }

    /// Whether a sentence ends where an element follows another one without white space.
    pub(super) fn splits_between(&self, name: &[u8]) -> bool {
        let is_known = self.syntax == Syntax::Html || self.detects_outline;
        is_known && !self.non_splitting.contains(name)
    }

    /// Returns, for each token, whether it is a tag that ends a sentence.
    pub(super) fn find_blocks(&self, tokens: &[Token], ends: &[ElementEnd]) -> Vec<bool> {
        let outline = match self.syntax {
            Syntax::Xml if self.detects_outline => Some(outline(tokens, ends)),
            _ => None,
        };
        let is_block = |number: usize, name: &[u8], is_hidden: bool| {
            if self.non_splitting.contains(name) {
                return false;
            }
            self.splitting.contains(name)
                || match &outline {
                    Some(outline) => outline[number],
                    None => self.syntax == Syntax::Html && elements::is_block(name) && !is_hidden,
                }
        };
        let blocks = tokens.iter().enumerate().map(|(number, token)| match &token.kind {
            TokenKind::Start(tag) => is_block(number, &tag.name, is_hidden_control(tag)),
            TokenKind::End(name) => is_block(number, name, false),
            TokenKind::Text | TokenKind::Other => false,
        });
        blocks.collect()
    }
}

/// Whether a control is invisible.
fn is_hidden_control(tag: &StartTag) -> bool {
    tag.is_hidden && *tag.name == *b"input"
}

fn folded<N: AsRef<[u8]>>(
    syntax: Syntax,
    names: impl IntoIterator<Item = N>,
) -> impl Iterator<Item = Box<[u8]>> {
    names.into_iter().map(move |name| fold_name(name.as_ref(), syntax))
}

/// Returns, for each tag of XML, whether its element is a unit: it is not inside a sentence, and
/// its parent contains no text directly.
fn outline(tokens: &[Token], ends: &[ElementEnd]) -> Vec<bool> {
    // The index of each token's parent plus one; 0 for the outermost element.
    let mut parents = vec![0; tokens.len()];
    let mut has_text = vec![false; tokens.len() + 1];
    let mut open = vec![0];
    for (number, token) in tokens.iter().enumerate() {
        if let (TokenKind::End(_), ElementEnd::Tag(start)) = (&token.kind, ends[number]) {
            // Elements still open inside have no end tag.
            while open.len() > 1 && open[open.len() - 1] != start + 1 {
                open.pop();
            }
            if open.len() > 1 {
                open.pop();
            }
        }
        let parent = open[open.len() - 1];
        parents[number] = parent;
        match &token.kind {
            TokenKind::Text => has_text[parent] |= !token.is_blank,
            TokenKind::Start(_) if matches!(ends[number], ElementEnd::Tag(_)) => {
                open.push(number + 1);
            }
            _ => {}
        }
    }
    let mut is_unit = vec![false; tokens.len()];
    for (number, token) in tokens.iter().enumerate() {
        match (&token.kind, ends[number]) {
            (TokenKind::End(_), ElementEnd::Tag(start)) => is_unit[number] = is_unit[start],
            (TokenKind::Start(_), _) => {
                let parent = parents[number];
                is_unit[number] = !has_text[parent] && (parent == 0 || is_unit[parent - 1]);
            }
            _ => {}
        }
    }
    is_unit
}
