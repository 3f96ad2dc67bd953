//! Elements of HTML by name, and their treatment in translation.

/// Elements whose tags end a sentence: those with line breaks around them; parts of tables; `head`
/// and in it `link`, `meta` and `title`; controls with their labels; and `audio`, `canvas`, frames,
/// `noscript`, `template` and `video`. All others, also unknown ones, are inline.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "audio",
    "blockquote",
    "body",
    "br",
    "button",
    "canvas",
    "caption",
    "center",
    "col",
    "colgroup",
    "datalist",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "iframe",
    "input",
    "label",
    "legend",
    "li",
    "link",
    "listing",
    "main",
    "menu",
    "meta",
    "nav",
    "noscript",
    "ol",
    "optgroup",
    "option",
    "p",
    "plaintext",
    "pre",
    "search",
    "section",
    "select",
    "summary",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
    "video",
    "xmp",
];

/// Elements without content and end tag.
const VOID: &[&str] = &[
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input",
    "link", "meta", "param", "source", "track", "wbr",
];

/// Elements whose content is not language or must not change.
const UNTRANSLATED: &[&str] = &[
    "code",
    "iframe",
    "kbd",
    "math",
    "noembed",
    "noframes",
    "object",
    "plaintext",
    "samp",
    "script",
    "style",
    "svg",
    "textarea",
    "var",
    "xmp",
];

/// Untranslated elements with text that an author may want to be translated.
const TRANSLATABLE: &[&str] = &["code", "kbd", "samp", "var"];

/// Elements that show nothing at their place.
const INVISIBLE: &[&str] = &["area", "base", "param", "script", "source", "style", "track", "wbr"];

/// Ruby annotations, which are shown above the text that precedes them.
const ANNOTATIONS: &[&str] = &["rp", "rt", "rtc"];

/// Elements whose content is not markup.
const RAW_TEXT: &[&str] =
    &["iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp"];

/// Elements whose end tag may be missing, with the start tags that end them.
const IMPLIED_ENDS: &[(&[&str], &[&str])] = &[
    (&["li"], &["li"]),
    (&["dd", "dt"], &["dd", "dt"]),
    (&["option"], &["option", "optgroup"]),
    (&["optgroup"], &["optgroup"]),
    (&["td", "th"], &["td", "th", "tr", "tbody", "tfoot", "thead"]),
    (&["tr"], &["tr", "tbody", "tfoot", "thead"]),
    (&["tbody", "tfoot", "thead"], &["tbody", "tfoot", "thead"]),
    (&["rb", "rp", "rt"], &["rb", "rp", "rt", "rtc"]),
    (
        &["p"],
        &[
            "address",
            "article",
            "aside",
            "blockquote",
            "details",
            "dialog",
            "dir",
            "div",
            "dl",
            "fieldset",
            "figcaption",
            "figure",
            "footer",
            "form",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "header",
            "hgroup",
            "hr",
            "main",
            "menu",
            "nav",
            "ol",
            "p",
            "pre",
            "search",
            "section",
            "table",
            "ul",
        ],
    ),
];

fn is_in(list: &[&str], name: &[u8]) -> bool {
    list.iter().any(|known| known.as_bytes() == name)
}

pub(super) fn is_block(name: &[u8]) -> bool {
    is_in(BLOCKS, name)
}

pub(super) fn is_void(name: &[u8]) -> bool {
    is_in(VOID, name)
}

pub(super) fn is_untranslated(name: &[u8]) -> bool {
    is_in(UNTRANSLATED, name)
}

/// Whether an untranslated element is translated if its attributes request it.
pub(super) fn is_translatable(name: &[u8]) -> bool {
    is_in(TRANSLATABLE, name)
}

pub(super) fn is_annotation(name: &[u8]) -> bool {
    is_in(ANNOTATIONS, name)
}

/// Whether an element is a custom element.
pub(super) fn is_custom(name: &[u8]) -> bool {
    name.contains(&b'-')
}

/// Whether a start tag of `name` ends the element `open`.
pub(super) fn is_ended_by(open: &[u8], name: &[u8]) -> bool {
    IMPLIED_ENDS.iter().any(|(ended, by)| is_in(ended, open) && is_in(by, name))
}

pub(super) fn is_visible(name: &[u8]) -> bool {
    !is_in(INVISIBLE, name)
}

/// Whether an element shows white space unchanged.
pub(super) fn is_preformatted(name: &[u8]) -> bool {
    matches!(name, b"pre" | b"listing")
}

pub(super) fn is_raw_text(name: &[u8]) -> bool {
    is_in(RAW_TEXT, name)
}

/// Whether the content of an element, though not markup, is text with character references.
pub(super) fn is_escapable_raw_text(name: &[u8]) -> bool {
    matches!(name, b"textarea" | b"title")
}
