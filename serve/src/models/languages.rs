//! Names of languages, and the search for the served language that a client means.

use miriam_textproc::LanguageTag;

/// The English names of languages, by the shortest of their codes: a language in each line.
const NAMES: &str = include_str!("languages.tsv");

/// Returns the English name of a language with its region, or its code if it is not known.
pub fn name(code: &str) -> String {
    // `no` does not say which of the two Norwegian languages, `nb` or `nn`, is meant.
    if code.eq_ignore_ascii_case("no") {
        return "Norwegian".into();
    }
    let Some(tag) = LanguageTag::parse(code) else { return code.to_owned() };
    let mut names = NAMES.lines().filter_map(|line| line.split_once('\t'));
    let found = names.find(|(known, _)| *known == tag.language);
    let Some((_, name)) = found else { return code.to_owned() };
    let detail = match (&*tag.language, tag.script.as_deref(), tag.region.as_deref()) {
        ("zh", Some("hant"), _) => "traditional".into(),
        ("zh", ..) => return name.to_owned(),
        ("pt", _, Some("br")) => "Brazil".into(),
        (_, _, Some(region)) => region.to_uppercase(),
        _ => return name.to_owned(),
    };
    format!("{name} ({detail})")
}

/// Finds the language of `served` that `code` means: the same code apart from case and `_` or `-`,
/// or else the first that fits best in language, script and region.
pub fn find<'a>(code: &str, served: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    find_with_fitness(code, served).map(|(_, known)| known)
}

/// Works like [`find`], and also returns how well the language fits; the same code fits best.
pub fn find_with_fitness<'a>(
    code: &str,
    served: impl Iterator<Item = &'a str> + Clone,
) -> Option<(u32, &'a str)> {
    fn plain(code: &str) -> String {
        code.replace('_', "-").to_ascii_lowercase()
    }
    let wanted = plain(code);
    let same = served.clone().find(|known| plain(known) == wanted);
    same.map(|known| (u32::MAX, known)).or_else(|| {
        let wanted = LanguageTag::parse(code)?;
        let fitting =
            served.filter_map(|known| Some((wanted.fitness(&LanguageTag::parse(known)?)?, known)));
        fitting.reduce(|best, other| if other.0 > best.0 { other } else { best })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_in_every_form() {
        let served = ["en", "pt-BR", "zh", "de", "nob_Latn", "heb", "tl", "zh-Hant"];
        let found = |code| find(code, served.iter().copied());
        for (code, expected) in [
            ("EN-GB", Some("en")),
            ("eng", Some("en")),
            ("eng_Latn", Some("en")),
            ("pb", Some("pt-BR")),
            ("PT", Some("pt-BR")),
            ("pt-PT", None),
            ("zh-Hans", Some("zh")),
            ("zh_CN", Some("zh")),
            ("zt", Some("zh-Hant")),
            ("zh-TW", Some("zh-Hant")),
            ("de_AT", Some("de")),
            ("ger", Some("de")),
            ("no", Some("nob_Latn")),
            ("nn", None),
            ("iw", Some("heb")),
            ("fil", Some("tl")),
            ("tgl", Some("tl")),
            ("xx", None),
            ("english", None),
            ("", None),
        ] {
            assert_eq!(found(code), expected, "{code}");
        }
        // Unknown codes are compared as they are, apart from case.
        assert_eq!(find("Klingon", ["klingon"].into_iter()), Some("klingon"));
        assert_eq!(find("zh-Hant", ["zh"].into_iter()), Some("zh"));
    }

    #[test]
    fn names_are_of_languages_and_regions() {
        for (code, expected) in [
            ("DE", "German"),
            ("deu_Latn", "German"),
            ("pt-BR", "Portuguese (Brazil)"),
            ("pb", "Portuguese (Brazil)"),
            ("en-GB", "English (GB)"),
            ("zh", "Chinese"),
            ("zh-Hans", "Chinese"),
            ("zt", "Chinese (traditional)"),
            ("no", "Norwegian"),
            ("nb", "Norwegian Bokmål"),
            ("tlh", "tlh"),
        ] {
            assert_eq!(name(code), expected, "{code}");
        }
        assert!(NAMES.lines().is_sorted());
    }
}
