//! Languages of a multilingual model: their tokens, and the lookup of a name in any usual spelling.
//!
//! Models spell languages in their own ways: NLLB `deu_Latn`, mBART `de_DE`, M2M-100 `__de__`,
//! MADLAD `<2de>`, OPUS-MT `>>deu<<`. A name is split into language, script and region; codes of
//! two and of three letters that mean the same language are equal ([`LanguageTag`]).

mod lists;
mod pair_tokens;

pub use lists::{M2M100_LANGUAGES, MBART50_LANGUAGES, NLLB_LANGUAGES};
pub use pair_tokens::LanguagePairTokens;

use miriam_textproc::LanguageTag;

use crate::vocabulary::Vocabulary;

/// A language of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanguageToken {
    /// Its code as the model spells it, without the characters around it: `deu_Latn`, `de_DE`,
    /// `de`.
    pub code: String,
    /// The id of its token in the source vocabulary.
    pub source_id: Option<u32>,
    /// The id of its token in the target vocabulary.
    pub target_id: Option<u32>,
}

/// The positions of language tokens in the sentences of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LanguageStyle {
    /// The source language comes before the source, and the target language before the target:
    /// M2M-100, NLLB, mBART-50.
    BothSides,
    /// The target language comes before the source: MADLAD-400, OPUS-MT.
    TargetBeforeSource,
}

/// The languages of a multilingual model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Languages {
    /// The positions of the language tokens in a sentence.
    pub style: LanguageStyle,
    /// All languages, in the order of their ids in the source vocabulary.
    pub tokens: Vec<LanguageToken>,
}

/// Returns the language code between `before` and `after` in a token.
fn code_between<'a>(token: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let code = token.strip_prefix(before)?.strip_suffix(after)?;
    LanguageTag::parse(code).map(|_| code)
}

/// The spellings of tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// `__de__`
    M2m100,
    /// `deu_Latn`
    Nllb,
    /// `de_DE`
    Mbart,
    /// `<2de>`
    Madlad,
    /// `>>deu<<`
    Opus,
}

impl Spelling {
    const ALL: [Spelling; 5] =
        [Spelling::M2m100, Spelling::Nllb, Spelling::Mbart, Spelling::Madlad, Spelling::Opus];

    /// Returns the code in a token of this spelling.
    fn code(self, token: &str) -> Option<&str> {
        match self {
            Spelling::M2m100 => code_between(token, "__", "__").filter(|code| !code.contains('_')),
            Spelling::Madlad => code_between(token, "<2", ">"),
            Spelling::Opus => code_between(token, ">>", "<<"),
            Spelling::Nllb | Spelling::Mbart => {
                let (language, rest) = token.split_once('_')?;
                fn lower(text: &str) -> bool {
                    text.bytes().all(|byte| byte.is_ascii_lowercase())
                }
                fn upper(text: &str) -> bool {
                    text.bytes().all(|byte| byte.is_ascii_uppercase())
                }
                let fits = match self {
                    Spelling::Nllb => {
                        language.len() == 3
                            && rest.len() == 4
                            && rest.is_ascii()
                            && upper(&rest[..1])
                            && lower(&rest[1..])
                    }
                    _ => language.len() == 2 && rest.len() == 2 && upper(rest),
                };
                (fits && lower(language)).then_some(token)
            }
        }
    }

    /// Whether tokens of this spelling are languages. In other vocabularies, tokens such as
    /// `__id__` and `de_DE` come from text.
    fn is_plausible(self, tokens: &[LanguageToken]) -> bool {
        match self {
            Spelling::M2m100 | Spelling::Nllb => tokens.len() >= 2,
            // Text does not contain `en_XX`, mBART's English without a region.
            Spelling::Mbart => {
                tokens.len() >= 2 && tokens.iter().any(|token| token.code == "en_XX")
            }
            Spelling::Madlad | Spelling::Opus => !tokens.is_empty(),
        }
    }
}

impl Languages {
    /// Finds the languages that the vocabularies of a model name; `None` if it is not multilingual.
    pub fn find(source: &Vocabulary, target: &Vocabulary) -> Option<Self> {
        let is_shared = std::ptr::eq(source, target);
        let mut found: Vec<(Spelling, LanguageToken)> = Vec::new();
        for (id, word) in (0..).zip(source.iter()) {
            // Skips words that do not end like a language token.
            if !word.last().is_some_and(|byte| byte.is_ascii_alphabetic() || b"_><".contains(byte))
                || !word.is_ascii()
            {
                continue;
            }
            let Ok(text) = std::str::from_utf8(word) else { continue };
            if let Some((spelling, code)) = Spelling::ALL
                .iter()
                .find_map(|spelling| spelling.code(text).map(|code| (*spelling, code)))
            {
                let target_id = if is_shared { Some(id) } else { target.find(word) };
                let token = LanguageToken { code: code.to_owned(), source_id: Some(id), target_id };
                found.push((spelling, token));
            }
        }
        // If several spellings are plausible, the one with the most tokens is taken.
        let all = Spelling::ALL.into_iter().filter_map(|spelling: Spelling| {
            let tokens = found.iter().filter(|(other, _)| *other == spelling);
            let tokens: Vec<_> = tokens.map(|(_, token)| token.clone()).collect();
            spelling.is_plausible(&tokens).then_some((spelling, tokens))
        });
        let (spelling, tokens) = all.max_by_key(|(_, tokens)| tokens.len())?;
        let style = match spelling {
            Spelling::Madlad | Spelling::Opus => LanguageStyle::TargetBeforeSource,
            _ => LanguageStyle::BothSides,
        };
        Some(Languages { style, tokens })
    }

    /// Returns the language that `name` means, or a message that lists the languages.
    ///
    /// # Errors
    /// If no language fits, or several fit equally well.
    pub fn resolve(&self, name: &str) -> Result<&LanguageToken, String> {
        let inner = undecorated(name);
        if let Some(token) = self.tokens.iter().find(|token| token.code.eq_ignore_ascii_case(inner))
        {
            return Ok(token);
        }
        let unknown = || format!("{name:?} is not one of its languages: {}", self.list());
        let wanted = LanguageTag::parse(inner).ok_or_else(unknown)?;
        let fitting = self.tokens.iter().filter_map(|token| {
            let tag = LanguageTag::parse(&token.code)?;
            wanted.fitness(&tag).map(|fitness| (fitness, token))
        });
        let fitting: Vec<_> = fitting.collect();
        let best = fitting.iter().map(|(fitness, _)| *fitness).max().ok_or_else(unknown)?;
        let mut tokens = fitting.iter().filter(|(fitness, _)| *fitness == best);
        match (tokens.next(), tokens.next()) {
            (Some((_, token)), None) => Ok(token),
            _ => {
                let codes = fitting.iter().map(|(_, token)| token.code.as_str());
                let codes: Vec<&str> = codes.collect();
                Err(format!("{name:?} could be {}; name one", codes.join(" or ")))
            }
        }
    }

    /// Returns the codes of all languages, with spaces between them.
    pub fn list(&self) -> String {
        let codes: Vec<&str> = self.tokens.iter().map(|token| token.code.as_str()).collect();
        codes.join(" ")
    }
}

/// Returns the language that a name in any usual spelling means, as the shortest of its codes: `de`
/// for `deu_Latn`, `de-AT` and `>>ger<<`; `None` if it is not a language.
///
/// ```
/// assert_eq!(miriam_nmt_models::language_code("deu_Latn").as_deref(), Some("de"));
/// assert_eq!(miriam_nmt_models::language_code("__zh__").as_deref(), Some("zh"));
/// assert_eq!(miriam_nmt_models::language_code("German"), None);
/// ```
pub fn language_code(name: &str) -> Option<String> {
    LanguageTag::parse(undecorated(name)).map(|tag| tag.language)
}

/// Returns a name without the characters that models write around it.
fn undecorated(name: &str) -> &str {
    for (before, after) in [("__", "__"), ("<2", ">"), (">>", "<<")] {
        let inside = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        if let Some(inside) = inside {
            return inside;
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn languages(codes: &[&str]) -> Languages {
        let token = |(id, code): (u32, &&str)| LanguageToken {
            code: code.to_string(),
            source_id: Some(id),
            target_id: Some(id),
        };
        Languages { style: LanguageStyle::BothSides, tokens: (0..).zip(codes).map(token).collect() }
    }

    fn found(model: &Languages, name: &str) -> String {
        model.resolve(name).map_or_else(|message| message, |token| token.code.clone())
    }

    #[test]
    fn languages_are_found_by_every_spelling() {
        let nllb = languages(&NLLB_LANGUAGES);
        let names = ["deu_Latn", "DEU_LATN", "de", "ger", "de_DE", "de-AT", "__de__", "<2de>"];
        for name in names.into_iter().chain([">>deu<<", "de-Latn"]) {
            assert_eq!(found(&nllb, name), "deu_Latn", "{name}");
        }
        for (name, code) in [
            ("zh", "zho_Hans"),
            ("zh_CN", "zho_Hans"),
            ("zh-TW", "zho_Hant"),
            (">>cmn_Hant<<", "zho_Hant"),
            ("ar", "arb_Arab"),
            ("ar_AR", "arb_Arab"),
            ("fa", "pes_Arab"),
            ("no", "nob_Latn"),
            ("sw", "swh_Latn"),
            ("pt_BR", "por_Latn"),
            ("yue", "yue_Hant"),
            ("iw", "heb_Hebr"),
        ] {
            assert_eq!(found(&nllb, name), code, "{name}");
        }
        let mbart = languages(&MBART50_LANGUAGES);
        for (name, code) in [
            ("deu_Latn", "de_DE"),
            ("en", "en_XX"),
            ("en-GB", "en_XX"),
            ("zho_Hans", "zh_CN"),
            ("pt_BR", "pt_XX"),
            ("fas", "fa_IR"),
        ] {
            assert_eq!(found(&mbart, name), code, "{name}");
        }
        let m2m = languages(&M2M100_LANGUAGES);
        for (name, code) in [("nob_Latn", "no"), ("zh_TW", "zh"), ("tgl", "tl"), ("nso", "ns")] {
            assert_eq!(found(&m2m, name), code, "{name}");
        }
    }

    /// The names of M2M-100 and mBART-50 find the languages of NLLB-200, except for two that it
    /// lacks.
    #[test]
    fn languages_of_models_are_found_by_each_others_names() {
        let nllb = languages(&NLLB_LANGUAGES);
        let absent: Vec<&str> =
            M2M100_LANGUAGES.into_iter().filter(|code| nllb.resolve(code).is_err()).collect();
        // Breton and Frisian are not in NLLB-200.
        assert_eq!(absent, ["br", "fy"]);
        for code in MBART50_LANGUAGES {
            assert!(nllb.resolve(code).is_ok(), "{code}");
        }
    }

    #[test]
    fn unknown_and_ambiguous_names_are_rejected_with_the_candidates() {
        let nllb = languages(&["deu_Latn", "kas_Arab", "kas_Deva"]);
        assert_eq!(
            found(&nllb, "xx"),
            r#""xx" is not one of its languages: deu_Latn kas_Arab kas_Deva"#
        );
        assert_eq!(found(&nllb, "ks"), r#""ks" could be kas_Arab or kas_Deva; name one"#);
        assert_eq!(found(&nllb, "ks-Deva"), "kas_Deva");
        for wrong in ["", "german", "de_Cyrl", "d", "de__DE", "zh"] {
            assert!(nllb.resolve(wrong).is_err(), "{wrong}");
        }
        let opus = languages(&["fra", "fr_CA", "pt_BR", "pt_PT"]);
        assert_eq!(found(&opus, "fr"), "fra");
        assert_eq!(found(&opus, "fr_CA"), "fr_CA");
        assert_eq!(found(&opus, "fr_FR"), "fra");
        assert!(found(&opus, "pt").contains("pt_BR or pt_PT"));
        assert!(opus.resolve("pt_AO").is_err());
    }

    #[test]
    fn languages_are_found_in_vocabularies() {
        let find = |words: &str| {
            let list = format!("</s>\n<unk>\n{words}");
            let path = std::path::Path::new("v.txt");
            let vocabulary = Vocabulary::parse(list.as_bytes(), path).unwrap();
            Languages::find(&vocabulary, &vocabulary)
        };
        let codes = |found: Option<Languages>| {
            let found = found.unwrap();
            (found.style, found.list())
        };
        let both = LanguageStyle::BothSides;
        let before = LanguageStyle::TargetBeforeSource;
        assert_eq!(codes(find("a\n__de__\n__en__\n__x\n")), (both, "de en".into()));
        assert_eq!(
            codes(find("deu_Latn\nzho_Hans\nabc_abcd\n")),
            (both, "deu_Latn zho_Hans".into())
        );
        assert_eq!(codes(find("de_DE\nen_XX\n")), (both, "de_DE en_XX".into()));
        assert_eq!(codes(find("<2de>\n<2>\n<2zh_Hant>\n")), (before, "de zh_Hant".into()));
        assert_eq!(codes(find(">>fra<<\n>>pt_BR<<\n")), (before, "fra pt_BR".into()));
        for none in ["a\nb\n", "de_DE\nen_US\n", "__id__\n", "eng_Latn\n"] {
            assert_eq!(find(none), None, "{none}");
        }
        let found = find("a\n__de__\n__en__\n").unwrap();
        let ids = [found.tokens[0].source_id, found.tokens[1].target_id];
        assert_eq!(ids, [Some(3), Some(4)]);
    }
}
