//! Detection of a text's language among allowed languages: first by script, then by frequent words,
//! distinctive letters, and `whatlang`'s trigrams, which count little in short texts.
//!
//! Trigrams alone detect `Guten Morgen` as Dutch, and a Japanese title with an English word in
//! brackets as Portuguese. The beginning of a long text is enough.

mod east_asian;
mod frequent_words;
mod sample;

use whatlang::{Detector, Lang};

use crate::language_tag::LanguageTag;
use frequent_words::{FrequentWords, LanguageSet};
use sample::{Sample, ScriptGroup};

/// Languages with LibreTranslate's codes: two letters if there is such a code. Norwegian is `nb`;
/// Chinese in both scripts is `zh`.
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
    /// Its code, as in the list of allowed codes.
    pub code: String,
    /// The confidence, from 0 to 100.
    pub confidence: f64,
}

/// The number of letters from which on the length does not reduce the confidence.
const SURE_LETTERS: f64 = 40.0;

/// A detector of the language of texts, among allowed languages.
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
    /// The codes as the caller wrote them, with their places in [`CODES`]; `None` if unknown.
    allowed: Vec<(String, Option<usize>)>,
}

impl LanguageDetector {
    /// Returns a detector of the languages with these codes: two or three letters (ISO 639), with
    /// or without a script or region (`pt-BR`, `deu_Latn`). If several codes name a language, the
    /// first is returned. See [`LanguageDetector::unknown_codes`].
    pub fn new<C: Into<String>>(codes: impl IntoIterator<Item = C>) -> Self {
        LanguageDetector {
            allowed: codes
                .into_iter()
                .map(|code| {
                    let code = code.into();
                    let language = find_language(&code);
                    let place =
                        language.and_then(|one| CODES.iter().position(|(other, _)| *other == one));
                    (code, place)
                })
                .collect(),
        }
    }

    /// Returns a detector of all known languages, with codes of two letters.
    pub fn for_all_languages() -> Self {
        Self::new(CODES.iter().map(|&(_, code)| code))
    }

    /// Returns the codes of unknown languages, which are never found, unless only one language is
    /// allowed.
    pub fn unknown_codes(&self) -> impl Iterator<Item = &str> {
        let unknown = self.allowed.iter().filter(|(_, place)| place.is_none());
        unknown.map(|(code, _)| &code[..])
    }

    /// Returns the language of `text`; `None` if it has no letters, or no allowed language has its
    /// script. If only one language is allowed, it is returned with confidence 100. The confidence
    /// for short texts is low.
    pub fn detect(&self, text: &str) -> Option<DetectedLanguage> {
        let sample = Sample::new(text.as_bytes());
        if let [(code, None)] = &self.allowed[..] {
            let found = DetectedLanguage { code: code.clone(), confidence: 100.0 };
            return sample.has_letters().then_some(found);
        }
        let allowed: LanguageSet = self.allowed.iter().filter_map(|(_, place)| *place).collect();
        let (group, candidates) = sample.main_group(allowed)?;
        let (place, confidence) = decide(&sample, group, candidates);
        let (code, _) = self.allowed.iter().find(|(_, known)| *known == Some(place))?;
        let confidence = if self.allowed.len() == 1 { 1.0 } else { confidence };
        Some(DetectedLanguage { code: code.clone(), confidence: (confidence * 100.0).round() })
    }
}

/// Returns the most likely of the candidates, all of one script, with a confidence from 0 to 1.
fn decide(sample: &Sample, group: ScriptGroup, candidates: LanguageSet) -> (usize, f64) {
    let letters = sample.letters_of(group);
    // A single letter may be a symbol, and a single word a name.
    let length = (0.3 + letters as f64 / SURE_LETTERS * 0.7).min(1.0);
    if let [only] = candidates.places().collect::<Vec<_>>()[..] {
        return (only, if group.is_of_one_language() { (length * 2.0).min(1.0) } else { length });
    }
    if group == ScriptGroup::EastAsian {
        return east_asian::decide(sample, length);
    }
    let words = sample.words_of(group);
    let mut evidence = FrequentWords::get().weigh(&words, candidates);
    let has_words = evidence.iter().any(|weight| *weight > 0.0);
    let languages = candidates.places().map(|place| CODES[place].0).collect();
    let trigrams = Detector::with_allowlist(languages).detect(&words.join(" "));
    fn place_of(language: Lang) -> Option<usize> {
        CODES.iter().position(|(known, _)| *known == language)
    }
    if let Some(found) = trigrams
        && let Some(place) = place_of(found.lang())
    {
        let weight = found.confidence() * (letters as f64 / SURE_LETTERS).min(3.0);
        evidence[place] += weight + 0.01;
    }
    let mut best = (candidates.places().next().unwrap_or(0), 0.0);
    let mut second = 0.0;
    for place in candidates.places() {
        let weight = evidence[place];
        if weight > best.1 {
            second = best.1;
            best = (place, weight);
        } else {
            second = weight.max(second);
        }
    }
    let margin = if best.1 > 0.0 { (best.1 - second) / best.1 } else { 0.0 };
    let certainty = if has_words { 0.5 + margin / 2.0 } else { margin / 2.0 };
    (best.0, length * certainty)
}

/// Returns the language of a code.
fn find_language(code: &str) -> Option<Lang> {
    let tag = LanguageTag::parse(code)?;
    let known = CODES.iter().find(|(_, code)| *code == tag.language);
    known.map(|&(language, _)| language).or_else(|| Lang::from_code(tag.language))
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
        let all = LanguageDetector::for_all_languages();
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
        assert_eq!(LanguageDetector::new(["gl"]).detect("123"), None);
        assert_eq!(LanguageDetector::new(["es"]).detect("la casa").unwrap().confidence, 100.0);
        assert_eq!(LanguageDetector::new(["gl", "en"]).unknown_codes().collect::<Vec<_>>(), ["gl"]);
        assert_eq!(LanguageDetector::new([""; 0]).detect("text"), None);
    }

    /// The sources of a server with many languages.
    const MANY: [&str; 20] = [
        "ar", "cs", "da", "de", "en", "es", "fi", "fr", "hu", "it", "ja", "ko", "nl", "pl", "pt",
        "ru", "sv", "tr", "uk", "zh",
    ];

    #[track_caller]
    fn assert_found(codes: &[&str], text: &str, language: &str) {
        let found = LanguageDetector::new(codes.iter().copied()).detect(text);
        assert_eq!(found.map(|found| found.code).as_deref(), Some(language), "{text}");
    }

    #[test]
    fn the_script_decides_first() {
        for (text, language) in [
            ("終わりない夢 (instrumental)", "ja"),
            ("今日はWindowsの設定を変更します。", "ja"),
            ("iPhoneの新機能について", "ja"),
            ("我的iPhone坏了", "zh"),
            ("请用 Google Chrome 打开这个页面", "zh"),
            ("東京駅", "ja"),
            ("这里有Microsoft Office", "zh"),
            ("새로운 iPhone 기능", "ko"),
            ("Скачать Microsoft Windows 10", "ru"),
            ("Привіт, як справи?", "uk"),
            ("Привет, как дела?", "ru"),
            ("مرحبا", "ar"),
            ("カラオケ", "ja"),
            ("大学校の歴史 (PDF)", "ja"),
        ] {
            assert_found(&MANY, text, language);
            assert_found(&["de", "fr", "en", "ja", "ko", "zh", "ru", "uk", "ar"], text, language);
        }
        let found = LanguageDetector::new(["de", "fr", "en", "ja", "ko", "zh"]).detect("（笑）");
        let found = found.unwrap();
        assert!(["ja", "zh"].contains(&&found.code[..]) && found.confidence < 50.0, "{found:?}");
        assert_found(&["en", "fa", "ar", "ur"], "سلام، چطوری؟", "fa");
        assert_found(&["en", "sr", "mk", "bg", "ru"], "Здравей, как си?", "bg");
        assert_found(&["en", "hi", "mr", "ne"], "तुम कैसे हो?", "hi");
        // A word of another script does not change the text's language.
        assert_found(&["en", "ru"], "The word \"да\" means yes.", "en");
        assert_found(&["en", "zh"], "The capital of China is 北京.", "en");
        assert_found(&["en", "el", "ru"], "The angle α is 30 degrees.", "en");
    }

    #[test]
    fn short_texts_are_known_by_frequent_words() {
        for (text, language) in [
            ("hello handsome man", "en"),
            ("Guten Morgen", "de"),
            ("Merci beaucoup", "fr"),
            ("la casa blanca es de mi amigo", "es"),
            ("Buenos días", "es"),
            ("Buongiorno", "it"),
            ("Grazie mille", "it"),
            ("Obrigado", "pt"),
            ("Bom dia", "pt"),
            ("Tack så mycket", "sv"),
            ("Goedemorgen", "nl"),
            ("Dank je wel", "nl"),
            ("Dobrý den", "cs"),
            ("Dzień dobry", "pl"),
            ("Dziękuję", "pl"),
            ("Kiitos", "fi"),
            ("Hyvää päivää", "fi"),
            ("Köszönöm szépen", "hu"),
            ("Günaydın", "tr"),
            ("Teşekkür ederim", "tr"),
            ("God morgen, hvordan har du det?", "da"),
            ("the red house", "en"),
            ("Good morning", "en"),
            ("How are you?", "en"),
            ("Thank you", "en"),
            ("das Haus", "de"),
            ("Wie geht es dir?", "de"),
            ("Bonjour", "fr"),
            ("Comment ça va ?", "fr"),
            ("¿Cómo estás?", "es"),
            ("Muchas gracias", "es"),
            ("Hola", "es"),
        ] {
            assert_found(&MANY, text, language);
            let found = LanguageDetector::new(MANY).detect(text).unwrap();
            assert!(found.confidence < 95.0, "{text}: {found:?}");
        }
        assert_found(&["en", "es"], "la casa", "es");
        assert_found(&["en", "es"], "the house", "en");
        assert_found(&["en", "es"], "https://example.com/the-house la casa", "es");
    }

    #[test]
    fn text_without_letters_has_no_language() {
        for text in ["", " ", "123", "12:30 – 14:00", "!?", "😀", "3.14 € + 5 %", "..."] {
            assert_eq!(LanguageDetector::new(MANY).detect(text), None, "{text}");
            assert_eq!(LanguageDetector::new(["en"]).detect(text), None, "{text}");
        }
        // Nor has text in a script that no allowed language has.
        assert_eq!(LanguageDetector::new(["en", "es"]).detect("你好"), None);
        assert_eq!(LanguageDetector::new(["en"]).detect("Привет"), None);
    }

    #[test]
    fn twice_the_text_takes_at_most_twice_the_steps() {
        let detector = LanguageDetector::new(MANY);
        let units =
            ["1 ", "J. R. R. ", "the ", "a", "你好", "\u{301}", "http://a.b ", "@", "終わ ", "("];
        for unit in units {
            let steps = |count: usize| {
                let text = unit.repeat(count);
                crate::steps::taken_by(|| drop(detector.detect(&text)))
            };
            let (once, twice) = (steps(20_000), steps(40_000));
            assert!(twice <= 2 * once + 100, "{unit:?}: {once}, {twice}");
        }
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
