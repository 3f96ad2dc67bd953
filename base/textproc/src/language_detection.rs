//! The language of a text, by `whatlang`'s trigrams and scripts, among languages that are
//! allowed: a server asks only about those it can translate from.

use whatlang::{Detector, Lang};

/// Languages with their codes: two letters where there are two, as LibreTranslate has them.
/// Norwegian is `nb`; Chinese in both scripts is `zh`.
const CODES: &[(Lang, &str)] = &[
    (Lang::Afr, "af"),
    (Lang::Aka, "ak"),
    (Lang::Amh, "am"),
    (Lang::Ara, "ar"),
    (Lang::Aze, "az"),
    (Lang::Bel, "be"),
    (Lang::Ben, "bn"),
    (Lang::Bul, "bg"),
    (Lang::Cat, "ca"),
    (Lang::Ces, "cs"),
    (Lang::Cmn, "zh"),
    (Lang::Cym, "cy"),
    (Lang::Dan, "da"),
    (Lang::Deu, "de"),
    (Lang::Ell, "el"),
    (Lang::Eng, "en"),
    (Lang::Epo, "eo"),
    (Lang::Est, "et"),
    (Lang::Fin, "fi"),
    (Lang::Fra, "fr"),
    (Lang::Guj, "gu"),
    (Lang::Heb, "he"),
    (Lang::Hin, "hi"),
    (Lang::Hrv, "hr"),
    (Lang::Hun, "hu"),
    (Lang::Hye, "hy"),
    (Lang::Ind, "id"),
    (Lang::Ita, "it"),
    (Lang::Jav, "jv"),
    (Lang::Jpn, "ja"),
    (Lang::Kan, "kn"),
    (Lang::Kat, "ka"),
    (Lang::Khm, "km"),
    (Lang::Kor, "ko"),
    (Lang::Lat, "la"),
    (Lang::Lav, "lv"),
    (Lang::Lit, "lt"),
    (Lang::Mal, "ml"),
    (Lang::Mar, "mr"),
    (Lang::Mkd, "mk"),
    (Lang::Mya, "my"),
    (Lang::Nep, "ne"),
    (Lang::Nld, "nl"),
    (Lang::Nob, "nb"),
    (Lang::Ori, "or"),
    (Lang::Pan, "pa"),
    (Lang::Pes, "fa"),
    (Lang::Pol, "pl"),
    (Lang::Por, "pt"),
    (Lang::Ron, "ro"),
    (Lang::Rus, "ru"),
    (Lang::Sin, "si"),
    (Lang::Slk, "sk"),
    (Lang::Slv, "sl"),
    (Lang::Sna, "sn"),
    (Lang::Spa, "es"),
    (Lang::Srp, "sr"),
    (Lang::Swe, "sv"),
    (Lang::Tam, "ta"),
    (Lang::Tel, "te"),
    (Lang::Tgl, "tl"),
    (Lang::Tha, "th"),
    (Lang::Tuk, "tk"),
    (Lang::Tur, "tr"),
    (Lang::Ukr, "uk"),
    (Lang::Urd, "ur"),
    (Lang::Uzb, "uz"),
    (Lang::Vie, "vi"),
    (Lang::Yid, "yi"),
    (Lang::Zul, "zu"),
];

/// A language that a text may be in.
#[derive(Clone, Debug, PartialEq)]
pub struct DetectedLanguage {
    /// Its code, as it was allowed.
    pub code: String,
    /// From 0 to 100.
    pub confidence: f64,
}

/// Finds the language of texts among those that are allowed.
///
/// # Examples
/// ```
/// use miriam_textproc::LanguageDetector;
///
/// let detector = LanguageDetector::new(["de", "en", "pt-BR"]);
/// let found = detector.detect("Ich habe heute keine Zeit für dich.").expect("a language");
/// assert_eq!(found.code, "de");
/// let found = detector.detect("Não tenho tempo para isso hoje.").expect("a language");
/// assert_eq!(found.code, "pt-BR");
/// assert_eq!(detector.detect("123"), None);
/// ```
#[derive(Clone, Debug)]
pub struct LanguageDetector {
    /// The codes as they were given, each with its language where it is known.
    allowed: Vec<(String, Option<Lang>)>,
    detector: Detector,
}

impl LanguageDetector {
    /// A detector of the languages with these codes: two or three letters (ISO 639), with or
    /// without a script or region (`pt-BR`, `deu_Latn`). Of several codes for a language
    /// the first is given. See [`LanguageDetector::unknown_codes`].
    pub fn new<C: Into<String>>(codes: impl IntoIterator<Item = C>) -> Self {
        let allowed: Vec<(String, Option<Lang>)> = codes
            .into_iter()
            .map(|code| {
                let code = code.into();
                let language = find_language(&code);
                (code, language)
            })
            .collect();
        let languages = allowed.iter().filter_map(|(_, language)| *language).collect();
        LanguageDetector { allowed, detector: Detector::with_allowlist(languages) }
    }

    /// A detector of all languages that are known, with codes of two letters.
    pub fn of_all_languages() -> Self {
        Self::new(CODES.iter().map(|&(_, code)| code))
    }

    /// The codes of languages that are never found, because nothing is known of them; if there is
    /// only one code, it is found always.
    pub fn unknown_codes(&self) -> impl Iterator<Item = &str> {
        let unknown = self.allowed.iter().filter(|(_, language)| language.is_none());
        unknown.map(|(code, _)| &code[..])
    }

    /// The language of `text`; none if no allowed language has its script, or it has no
    /// letters. Where a single language is allowed it is that one, of confidence 100.
    pub fn detect(&self, text: &str) -> Option<DetectedLanguage> {
        if let [(code, _)] = &self.allowed[..] {
            return Some(DetectedLanguage { code: code.clone(), confidence: 100.0 });
        }
        let found = self.detector.detect(text)?;
        let is_found = |(_, language): &&(String, Option<Lang>)| *language == Some(found.lang());
        let (code, _) = self.allowed.iter().find(is_found)?;
        let confidence = (found.confidence() * 100.0).clamp(0.0, 100.0);
        Some(DetectedLanguage { code: code.clone(), confidence })
    }
}

/// The language of a code.
fn find_language(code: &str) -> Option<Lang> {
    let primary = code.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    let primary = match &primary[..] {
        // Other names of languages of the list.
        "no" | "nor" => "nb",
        "zt" | "zho" | "chi" => "zh",
        "pb" => "pt",
        "iw" => "he",
        "fas" | "per" => "fa",
        "fil" => "tl",
        "arb" => "ar",
        "azj" => "az",
        "lvs" => "lv",
        "npi" => "ne",
        "ory" => "or",
        "swh" => return None,
        "uzn" => "uz",
        "ydd" => "yi",
        other => other,
    };
    let known = CODES.iter().find(|(_, code)| *code == primary);
    known.map(|&(language, _)| language).or_else(|| Lang::from_code(primary))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Article 1 of the Universal Declaration of Human Rights, or its beginning.
    const ARTICLE: [(&str, &str); 14] = [
        ("ar", "يولد جميع الناس أحراراً متساوين في الكرامة والحقوق."),
        ("cs", "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv."),
        ("de", "Alle Menschen sind frei und gleich an Würde und Rechten geboren."),
        ("en", "All human beings are born free and equal in dignity and rights."),
        ("es", "Todos los seres humanos nacen libres e iguales en dignidad y derechos."),
        ("fi", "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan."),
        ("fr", "Tous les êtres humains naissent libres et égaux en dignité et en droits."),
        ("hi", "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।"),
        ("it", "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti."),
        (
            "ja",
            "すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。",
        ),
        ("ko", "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다."),
        ("pl", "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw."),
        ("ru", "Все люди рождаются свободными и равными в своем достоинстве и правах."),
        ("zh", "人人生而自由,在尊严和权利上一律平等。"),
    ];

    #[test]
    fn languages_are_told_apart() {
        let some = LanguageDetector::new(ARTICLE.map(|(code, _)| code));
        let all = LanguageDetector::of_all_languages();
        for (code, text) in ARTICLE {
            let found = some.detect(text).unwrap();
            assert_eq!(found.code, code, "{text}");
            assert!((0.0..=100.0).contains(&found.confidence));
            assert_eq!(all.detect(text).unwrap().code, code, "{text}");
        }
    }

    #[test]
    fn only_allowed_languages_are_found_and_by_the_codes_given() {
        let text = ARTICLE[2].1;
        let without = LanguageDetector::new(["en", "fr"]);
        assert!(["en", "fr"].contains(&&without.detect(text).unwrap().code[..]));
        // No allowed language has the script.
        assert_eq!(without.detect(ARTICLE[12].1), None);
        assert_eq!(
            LanguageDetector::new(["eng_Latn", "deu_Latn"]).detect(text).unwrap().code,
            "deu_Latn"
        );
        let chinese = LanguageDetector::new(["en", "zh-Hans", "zh-Hant"]);
        assert_eq!(chinese.detect(ARTICLE[13].1).unwrap().code, "zh-Hans");
        let only = LanguageDetector::new(["gl"]).detect("anything").unwrap();
        assert_eq!((&only.code[..], only.confidence), ("gl", 100.0));
        assert_eq!(LanguageDetector::new(["gl", "en"]).unknown_codes().collect::<Vec<_>>(), ["gl"]);
        assert_eq!(LanguageDetector::new([""; 0]).detect("text"), None);
    }

    #[test]
    fn every_code_is_a_language() {
        for &(language, code) in CODES {
            assert_eq!(find_language(code), Some(language));
            assert_eq!(find_language(language.code()), Some(language));
        }
        assert_eq!(CODES.len(), Lang::all().len());
    }
}
