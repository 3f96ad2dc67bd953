//! Names of languages, and which codes mean the same.

/// The English names of languages, by their codes.
const NAMES: &[(&str, &str)] = &[
    ("af", "Afrikaans"),
    ("am", "Amharic"),
    ("ar", "Arabic"),
    ("az", "Azerbaijani"),
    ("be", "Belarusian"),
    ("bg", "Bulgarian"),
    ("bn", "Bengali"),
    ("bs", "Bosnian"),
    ("ca", "Catalan"),
    ("cs", "Czech"),
    ("cy", "Welsh"),
    ("da", "Danish"),
    ("de", "German"),
    ("el", "Greek"),
    ("en", "English"),
    ("eo", "Esperanto"),
    ("es", "Spanish"),
    ("et", "Estonian"),
    ("eu", "Basque"),
    ("fa", "Persian"),
    ("fi", "Finnish"),
    ("fo", "Faroese"),
    ("fr", "French"),
    ("ga", "Irish"),
    ("gl", "Galician"),
    ("gu", "Gujarati"),
    ("ha", "Hausa"),
    ("he", "Hebrew"),
    ("hi", "Hindi"),
    ("hr", "Croatian"),
    ("hu", "Hungarian"),
    ("hy", "Armenian"),
    ("id", "Indonesian"),
    ("is", "Icelandic"),
    ("it", "Italian"),
    ("ja", "Japanese"),
    ("ka", "Georgian"),
    ("kk", "Kazakh"),
    ("km", "Khmer"),
    ("kn", "Kannada"),
    ("ko", "Korean"),
    ("ky", "Kyrgyz"),
    ("la", "Latin"),
    ("lb", "Luxembourgish"),
    ("lo", "Lao"),
    ("lt", "Lithuanian"),
    ("lv", "Latvian"),
    ("mk", "Macedonian"),
    ("ml", "Malayalam"),
    ("mn", "Mongolian"),
    ("mr", "Marathi"),
    ("ms", "Malay"),
    ("mt", "Maltese"),
    ("my", "Burmese"),
    ("nb", "Norwegian Bokmål"),
    ("ne", "Nepali"),
    ("nl", "Dutch"),
    ("nn", "Norwegian Nynorsk"),
    ("no", "Norwegian"),
    ("pa", "Punjabi"),
    ("pl", "Polish"),
    ("ps", "Pashto"),
    ("pt", "Portuguese"),
    ("pt-br", "Portuguese (Brazil)"),
    ("ro", "Romanian"),
    ("ru", "Russian"),
    ("si", "Sinhala"),
    ("sk", "Slovak"),
    ("sl", "Slovenian"),
    ("so", "Somali"),
    ("sq", "Albanian"),
    ("sr", "Serbian"),
    ("sv", "Swedish"),
    ("sw", "Swahili"),
    ("ta", "Tamil"),
    ("te", "Telugu"),
    ("tg", "Tajik"),
    ("th", "Thai"),
    ("tl", "Tagalog"),
    ("tr", "Turkish"),
    ("uk", "Ukrainian"),
    ("ur", "Urdu"),
    ("uz", "Uzbek"),
    ("vi", "Vietnamese"),
    ("xh", "Xhosa"),
    ("yi", "Yiddish"),
    ("yo", "Yoruba"),
    ("zh", "Chinese"),
    ("zh-hans", "Chinese"),
    ("zh-hant", "Chinese (traditional)"),
    ("zu", "Zulu"),
];

/// Codes that clients use, and what is meant.
const ALIASES: &[(&str, &str)] = &[("pb", "pt-br"), ("zh", "zh-hans"), ("zt", "zh-hant")];

/// The English name of a language, or its code where it is not known.
pub fn name(code: &str) -> String {
    let wanted = code.to_lowercase();
    let found = NAMES.iter().find(|(known, _)| *known == wanted);
    found.map_or_else(|| code.to_owned(), |(_, name)| (*name).to_owned())
}

/// The one of `served` that is meant by `code`: the same code, in any case; another one for
/// the same language; or the language without its region.
pub fn find<'a>(code: &str, served: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let code = code.replace('_', "-").to_lowercase();
    let same = |wanted: &str| served.clone().find(|known| known.to_lowercase() == wanted);
    let alias = |wanted: &str| {
        let pairs = ALIASES.iter();
        pairs
            .clone()
            .find(|(a, _)| *a == wanted)
            .map(|(_, b)| *b)
            .or_else(|| ALIASES.iter().find(|(_, b)| *b == wanted).map(|(a, _)| *a))
    };
    same(&code).or_else(|| same(alias(&code)?)).or_else(|| same(code.split_once('-')?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_in_every_form() {
        let served = ["en", "pt-BR", "zh", "de"];
        let found = |code| find(code, served.iter().copied());
        assert_eq!(found("EN-GB"), Some("en"));
        assert_eq!(found("pb"), Some("pt-BR"));
        assert_eq!(found("zh-Hans"), Some("zh"));
        assert_eq!(found("de_AT"), Some("de"));
        assert_eq!(found("pt"), None);
        assert_eq!(name("DE"), "German");
        assert_eq!(name("tlh"), "tlh");
        assert!(NAMES.is_sorted());
    }
}
