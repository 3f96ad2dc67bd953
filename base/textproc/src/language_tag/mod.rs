//! Codes of languages in any usual spelling, parsed into language, script, region and variant.
//!
//! Models, servers and their clients spell one language in many ways: `de`, `deu_Latn`, `ger`,
//! `de-AT`. Codes of two and of three letters that mean the same language are equal ([`codes`]).

mod codes;

/// LibreTranslate's short codes for languages with a script or region.
const SHORT_TAGS: [(&str, &str); 2] = [("pb", "pt-br"), ("zt", "zh-hant")];

/// A language with its script, region and variant, in lower case.
///
/// # Examples
/// ```
/// use miriam_textproc::LanguageTag;
///
/// let tag = |name: &str| LanguageTag::parse(name).expect("the name of a language");
/// assert_eq!(tag("deu_Latn").language, "de");
/// assert_eq!(tag("zh-TW"), tag("zt-tw"));
/// // British English fits a request for English, and English a request for British English.
/// assert!(tag("en").fitness(&tag("en-GB")).is_some());
/// assert!(tag("eng-GB").fitness(&tag("en")) > tag("eng-GB").fitness(&tag("en-US")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanguageTag {
    /// The preferred code of the language, with two letters if there is one.
    pub language: String,
    /// The script: four letters, such as `latn`.
    pub script: Option<String>,
    /// The region: two letters or three digits, such as `br`.
    pub region: Option<String>,
    /// The rest of the name.
    pub variant: Option<String>,
}

impl LanguageTag {
    /// Parses a code such as `de`, `deu_Latn` or `zh-Hant-TW`: two or three letters, then parts
    /// after `-` or `_`, at most one of each kind. `None` if it has another form.
    pub fn parse(name: &str) -> Option<Self> {
        let mut lower = name.to_ascii_lowercase();
        for (short, long) in SHORT_TAGS {
            let rest = lower.strip_prefix(short);
            if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with(['_', '-']))
            {
                lower = format!("{long}{rest}");
            }
        }
        let mut parts = lower.split(['_', '-']);
        let language = parts.next().filter(|code| (2..=3).contains(&code.len()))?;
        if !language.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
        let mut tag = LanguageTag {
            language: codes::canonical(language).to_owned(),
            script: None,
            region: None,
            variant: None,
        };
        for part in parts {
            let letters = part.bytes().all(|byte| byte.is_ascii_lowercase());
            let digits = part.bytes().all(|byte| byte.is_ascii_digit());
            let place = match part.len() {
                4 if letters => &mut tag.script,
                // mBART writes XX for a missing region.
                2 if part == "xx" => continue,
                2 if letters => &mut tag.region,
                3 if digits => &mut tag.region,
                0 => return None,
                _ => &mut tag.variant,
            };
            if place.replace(part.to_owned()).is_some() {
                return None;
            }
        }
        if tag.language == "zh" && tag.script.is_none() {
            tag.script = match tag.region.as_deref() {
                Some("tw" | "hk" | "mo") => Some("hant".into()),
                Some("cn" | "sg") => Some("hans".into()),
                _ => None,
            };
        }
        Some(tag)
    }

    /// Returns how well a language of a model fits this one (higher is better); `None` if it does
    /// not.
    pub fn fitness(&self, model: &LanguageTag) -> Option<u32> {
        if self.language != model.language || self.variant != model.variant {
            return None;
        }
        let script_fitness = match (&self.script, &model.script) {
            (Some(wanted), Some(script)) if wanted != script => return None,
            (Some(_), Some(_)) => 2,
            // Chinese without a script usually means simplified characters.
            (None, Some(script)) if self.language == "zh" => u32::from(script == "hans"),
            _ => 1,
        };
        let region_fitness = match (&self.region, &model.region) {
            (Some(wanted), Some(region)) if wanted == region => 2,
            // A region of Chinese matters only for its script, which has been compared.
            (Some(_), Some(_)) if self.language == "zh" && model.script.is_some() => 1,
            (Some(_), Some(_)) => return None,
            (_, None) => 1,
            (None, Some(_)) => 0,
        };
        Some(3 * script_fitness + region_fitness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tag(name: &str) -> LanguageTag {
        LanguageTag::parse(name).unwrap_or_else(|| panic!("{name}"))
    }

    #[test]
    fn codes_of_libretranslate_and_old_codes_are_known() {
        for (code, same) in [
            ("zt", "zh-Hant"),
            ("ZT", "zh_TW"),
            ("pb", "pt-BR"),
            ("no", "nb"),
            ("iw", "he"),
            ("in", "id"),
            ("ji", "yi"),
            ("tl", "fil"),
            ("eng", "en"),
            ("ger", "deu"),
            ("zho", "zh"),
        ] {
            assert!(tag(code).fitness(&tag(same)).is_some(), "{code} {same}");
            assert!(tag(same).fitness(&tag(code)).is_some(), "{code} {same}");
        }
        assert_eq!((tag("pb").language, tag("pb").region), ("pt".into(), Some("br".into())));
        for (code, other) in [("zt", "zh-Hans"), ("pb", "pt-PT"), ("nn", "nb"), ("zt", "yue")] {
            assert_eq!(tag(code).fitness(&tag(other)), None, "{code} {other}");
        }
        for wrong in ["", "a", "english", "de--AT", "d\u{e4}", "en-latn-cyrl"] {
            assert_eq!(LanguageTag::parse(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_and_a_tag_fits_itself(name in "[a-zA-Z0-9_-]{0,12}|\\PC{0,8}") {
            if let Some(tag) = LanguageTag::parse(&name) {
                prop_assert!(tag.fitness(&tag).is_some());
            }
        }
    }
}
