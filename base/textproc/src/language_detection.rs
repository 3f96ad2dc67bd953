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
/// Chinese in both scripts is `zh`. Languages without trigrams are found by their frequent words
/// and letters.
const CODES: &[(Option<Lang>, &str)] = &[
    (Some(Lang::Afr), "af"),
    (Some(Lang::Aka), "ak"),
    (Some(Lang::Amh), "am"),
    (Some(Lang::Ara), "ar"),
    (Some(Lang::Aze), "az"),
    (Some(Lang::Bel), "be"),
    (Some(Lang::Ben), "bn"),
    (Some(Lang::Bul), "bg"),
    (Some(Lang::Cat), "ca"),
    (Some(Lang::Ces), "cs"),
    (Some(Lang::Cmn), "zh"),
    (Some(Lang::Cym), "cy"),
    (Some(Lang::Dan), "da"),
    (Some(Lang::Deu), "de"),
    (Some(Lang::Ell), "el"),
    (Some(Lang::Eng), "en"),
    (Some(Lang::Epo), "eo"),
    (Some(Lang::Est), "et"),
    (Some(Lang::Fin), "fi"),
    (Some(Lang::Fra), "fr"),
    (Some(Lang::Guj), "gu"),
    (Some(Lang::Heb), "he"),
    (Some(Lang::Hin), "hi"),
    (Some(Lang::Hrv), "hr"),
    (Some(Lang::Hun), "hu"),
    (Some(Lang::Hye), "hy"),
    (Some(Lang::Ind), "id"),
    (Some(Lang::Ita), "it"),
    (Some(Lang::Jav), "jv"),
    (Some(Lang::Jpn), "ja"),
    (Some(Lang::Kan), "kn"),
    (Some(Lang::Kat), "ka"),
    (Some(Lang::Khm), "km"),
    (Some(Lang::Kor), "ko"),
    (Some(Lang::Lat), "la"),
    (Some(Lang::Lav), "lv"),
    (Some(Lang::Lit), "lt"),
    (Some(Lang::Mal), "ml"),
    (Some(Lang::Mar), "mr"),
    (Some(Lang::Mkd), "mk"),
    (Some(Lang::Mya), "my"),
    (Some(Lang::Nep), "ne"),
    (Some(Lang::Nld), "nl"),
    (Some(Lang::Nob), "nb"),
    (Some(Lang::Ori), "or"),
    (Some(Lang::Pan), "pa"),
    (Some(Lang::Pes), "fa"),
    (Some(Lang::Pol), "pl"),
    (Some(Lang::Por), "pt"),
    (Some(Lang::Ron), "ro"),
    (Some(Lang::Rus), "ru"),
    (Some(Lang::Sin), "si"),
    (Some(Lang::Slk), "sk"),
    (Some(Lang::Slv), "sl"),
    (Some(Lang::Sna), "sn"),
    (Some(Lang::Spa), "es"),
    (Some(Lang::Srp), "sr"),
    (Some(Lang::Swe), "sv"),
    (Some(Lang::Tam), "ta"),
    (Some(Lang::Tel), "te"),
    (Some(Lang::Tgl), "tl"),
    (Some(Lang::Tha), "th"),
    (Some(Lang::Tuk), "tk"),
    (Some(Lang::Tur), "tr"),
    (Some(Lang::Ukr), "uk"),
    (Some(Lang::Urd), "ur"),
    (Some(Lang::Uzb), "uz"),
    (Some(Lang::Vie), "vi"),
    (Some(Lang::Yid), "yi"),
    (Some(Lang::Zul), "zu"),
    (None, "eu"),
    (None, "ga"),
    (None, "gl"),
    (None, "is"),
    (None, "kk"),
    (None, "ky"),
    (None, "ms"),
    (None, "mt"),
    (None, "sq"),
];

/// Languages without trigrams, each with a similar language that has them. Its trigrams do not tell
/// the two apart, so they count for both.
const NEIGHBOURS: [(&str, &str); 2] = [("gl", "pt"), ("ms", "id")];

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
    /// first is returned; of several codes of Chinese, the one that best fits the text's script.
    /// See [`LanguageDetector::unknown_codes`].
    pub fn new<C: Into<String>>(codes: impl IntoIterator<Item = C>) -> Self {
        LanguageDetector {
            allowed: codes
                .into_iter()
                .map(|code| {
                    let code = code.into();
                    let index = find_language(&code);
                    (code, index)
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
        let unknown = self.allowed.iter().filter(|(_, index)| index.is_none());
        unknown.map(|(code, _)| &code[..])
    }

    /// Returns the language of `text`; `None` if it has no letters, or hardly any in the scripts of
    /// the allowed languages. If only one language is allowed, its confidence is 100. Otherwise the
    /// confidence for short texts is low.
    pub fn detect(&self, text: &str) -> Option<DetectedLanguage> {
        let sample = Sample::new(text.as_bytes());
        if let [(code, None)] = &self.allowed[..] {
            let found = DetectedLanguage { code: code.clone(), confidence: 100.0 };
            return sample.has_letters().then_some(found);
        }
        let allowed: LanguageSet = self.allowed.iter().filter_map(|(_, index)| *index).collect();
        let (group, candidates) = sample.main_group(allowed)?;
        let (index, confidence) = decide(&sample, group, candidates);
        let mut codes = self.allowed.iter().filter(|(_, known)| *known == Some(index));
        let mut code = &codes.next()?.0;
        if CODES[index].1 == "zh" {
            let script = LanguageTag::parse(east_asian::chinese_script(&sample))?;
            let fitness = |code: &str| script.fitness(&LanguageTag::parse(code)?);
            for (other, _) in codes {
                if fitness(other) > fitness(code) {
                    code = other;
                }
            }
        }
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
    let trigrams = trigram_detector(candidates).detect(&words.join(" "));
    fn place_of(language: Lang) -> Option<usize> {
        CODES.iter().position(|(known, _)| *known == Some(language))
    }
    if let Some(found) = trigrams
        && let Some(index) = place_of(found.lang())
    {
        let weight = found.confidence() * (letters as f64 / SURE_LETTERS).min(3.0);
        evidence[index] += weight + 0.01;
        let neighbours = NEIGHBOURS.iter().filter(|(_, known)| *known == CODES[index].1);
        for index in LanguageSet::from_codes(&neighbours.map(|(code, _)| *code).collect::<Vec<_>>())
            .intersection(candidates)
            .places()
        {
            evidence[index] += weight + 0.01;
        }
    }
    let mut best = (candidates.places().next().unwrap_or(0), 0.0);
    let mut second = 0.0;
    for index in candidates.places() {
        let weight = evidence[index];
        if weight > best.1 {
            second = best.1;
            best = (index, weight);
        } else {
            second = weight.max(second);
        }
    }
    let margin = if best.1 > 0.0 { (best.1 - second) / best.1 } else { 0.0 };
    let certainty = if has_words { 0.5 + margin / 2.0 } else { margin / 2.0 };
    (best.0, length * certainty)
}

/// Returns a detector by trigrams of the candidates, and of the neighbours of candidates without
/// trigrams. If these are fewer than two languages, all languages are allowed: otherwise the
/// detector would find the same language in every text.
fn trigram_detector(candidates: LanguageSet) -> Detector {
    let codes: Vec<&str> = candidates.places().map(|index| CODES[index].1).collect();
    let neighbours = NEIGHBOURS.iter().filter(|(code, _)| codes.contains(code));
    let neighbours: Vec<&str> = neighbours.map(|(_, known)| *known).collect();
    let known = candidates.union(LanguageSet::from_codes(&neighbours));
    let languages: Vec<Lang> = known.places().filter_map(|index| CODES[index].0).collect();
    if languages.len() < 2 { Detector::new() } else { Detector::with_allowlist(languages) }
}

/// Returns the index of the language of a code.
fn find_language(code: &str) -> Option<usize> {
    let tag = LanguageTag::parse(code)?;
    let known = CODES.iter().position(|(_, code)| *code == tag.language);
    known.or_else(|| {
        let language = Lang::from_code(tag.language)?;
        CODES.iter().position(|(other, _)| *other == Some(language))
    })
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
        let only = LanguageDetector::new(["br"]).detect("anything").unwrap();
        assert_eq!((&only.code[..], only.confidence), ("br", 100.0));
        assert_eq!(LanguageDetector::new(["br"]).detect("123"), None);
        assert_eq!(LanguageDetector::new(["es"]).detect("la casa").unwrap().confidence, 100.0);
        assert_eq!(LanguageDetector::new(["br", "en"]).unknown_codes().collect::<Vec<_>>(), ["br"]);
        assert_eq!(LanguageDetector::new([""; 0]).detect("text"), None);
    }

    /// The source languages of a server with many models.
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
    fn languages_without_trigrams_are_found() {
        let all = LanguageDetector::for_all_languages();
        for (code, text) in [
            (
                "ga",
                "Saolaítear gach duine den chine daonna saor agus comhionann i ndínit agus i gcearta.",
            ),
            ("ga", "Tá an teach seo an-mhór agus tá gairdín álainn ann."),
            (
                "eu",
                "Gizon-emakume guztiak aske jaiotzen dira, duintasun eta eskubide berberak dituztela.",
            ),
            ("eu", "Etxe hau oso polita da eta lorategi handi bat dauka."),
            ("gl", "Todos os seres humanos nacen libres e iguais en dignidade e dereitos."),
            ("gl", "A casa é moi bonita e ten un xardín grande, pero hoxe non podemos ir alí."),
            (
                "sq",
                "Të gjithë njerëzit lindin të lirë dhe të barabartë në dinjitet dhe në të drejta.",
            ),
            ("sq", "Kjo shtëpi është shumë e bukur dhe ka një kopsht të madh."),
            (
                "ms",
                "Rumah ini sangat cantik kerana ada taman yang besar, tetapi saya tidak boleh tinggal di sini.",
            ),
            ("ms", "Awak nak pergi ke pejabat esok dengan kereta saya?"),
            (
                "id",
                "Rumah ini sangat indah karena ada taman yang besar, tetapi saya tidak bisa tinggal di sini.",
            ),
            ("pt", "A casa é muito bonita e tem um jardim grande, mas hoje não podemos ir lá."),
            ("es", "Todos los seres humanos nacen libres e iguales en dignidad y derechos."),
            ("is", "Hver maður er borinn frjáls og jafn öðrum að virðingu og réttindum."),
            ("mt", "Il-bnedmin kollha jitwieldu ħielsa u ugwali fid-dinjità u d-drittijiet."),
            (
                "ky",
                "Бардык адамдар өз беделинде жана укуктарында эркин жана тең укуктуу болуп жаралат.",
            ),
            (
                "kk",
                "Барлық адамдар тумысынан азат және қадір-қасиеті мен құқықтары тең болып дүниеге келеді.",
            ),
        ] {
            assert_eq!(all.detect(text).unwrap().code, code, "{text}");
        }
    }

    #[test]
    fn one_language_with_trigrams_is_not_found_in_every_text() {
        for (codes, text, language) in [
            (["en", "sq"], "Shtëpia dhe kopshti", "sq"),
            (["en", "ms"], "Perpustakaan negara sedang membangun", "ms"),
            (["es", "gl"], "Xardín e leite", "gl"),
            (["en", "ga"], "Leabharlann náisiúnta", "ga"),
            (["en", "ga"], "National library opens tomorrow", "en"),
        ] {
            assert_found(&codes, text, language);
        }
    }

    #[test]
    fn chinese_is_found_in_its_script() {
        let simplified = "这间房子非常漂亮，后面有一个很大的花园。";
        let traditional = "這間房子非常漂亮，後面有一個很大的花園。";
        for codes in [["zh", "zh-Hant"], ["zh-TW", "zh-CN"], ["zt", "zh"]] {
            let of = |text| LanguageDetector::new(codes).detect(text).unwrap().code;
            let is_traditional = |code: &str| matches!(code, "zh-Hant" | "zh-TW" | "zt");
            assert!(is_traditional(&of(traditional)), "{codes:?}");
            assert!(!is_traditional(&of(simplified)), "{codes:?}");
        }
        let found = LanguageDetector::new(["en", "zh"]).detect(traditional).unwrap();
        assert_eq!(found.code, "zh");
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
            // Characters that both languages use, in both scripts of Chinese.
            ("我在海里游泳", "zh"),
            ("上海", "zh"),
            ("毫無疑問", "zh"),
            // A Japanese name in a Chinese text.
            ("我最喜欢的饮料是“鲜の味”，因为它没有加糖，喝起来很好", "zh"),
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
        // Text in a script that no allowed language has is not detected either.
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
        for (index, &(language, code)) in CODES.iter().enumerate() {
            assert_eq!(find_language(code), Some(index));
            if let Some(language) = language {
                assert_eq!(find_language(language.code()), Some(index));
            }
        }
        let with_trigrams = CODES.iter().filter(|(language, _)| language.is_some());
        assert_eq!(with_trigrams.count(), Lang::all().len());
    }
}
