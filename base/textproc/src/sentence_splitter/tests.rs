//! Tests of sentences in many scripts, compared with Moses' script, and of hostile texts.

use super::*;
use crate::steps;
use proptest::prelude::*;

fn split<'t>(language: &str, text: &'t str) -> Vec<&'t str> {
    let ranges = SentenceSplitter::new(language).split(text.as_bytes());
    ranges.into_iter().map(|range| &text[range]).collect()
}

/// The sentences are those of Moses' `split-sentences.perl -k -b -q -i -l LANGUAGE`.
#[test]
fn western_text_is_split_as_by_moses() {
    let cases: [(&str, &[&str]); 23] = [
        ("en", &["Dr. No met Mr. T. Smith.", "They talked."]),
        ("en", &["See No. 5 of the list.", "No.", "It is not there."]),
        ("en", &["He lives in the U.S. Army camp.", "Why?"]),
        ("en", &["“Stop!” she said.", "“Why?” he asked.", "“Because.”", "Then they left."]),
        ("en", &["Wait... what is it?", "Wait...", "What is it?"]),
        ("en", &["It costs 3.50 dollars.", "4.20 is too much."]),
        ("en", &["(It rained.)", "(Then it did not.)"]),
        ("en", &["He came (why?) at noon.", "\"Good,\" she said."]),
        ("en", &["1. The first thing is this.", "It is new."]),
        ("en", &["It ends at 5 p.m. and starts at 9 a.m. every day."]),
        ("en", &["One sentence without an end"]),
        ("de", &["Am 3. Oktober war z.B. Herr Dr. Maier da.", "Er ging um 5 Uhr."]),
        ("fr", &["M. Dupont est là.", "« Où ? » dit-il.", "Il part."]),
        ("fr", &["Il dit : \" Je veux mourir. \"", "« Où ? »", "Il part."]),
        ("es", &["El Sr. García vino.", "¿Por qué?", "¡No lo sé!"]),
        ("cs", &["Přišel např. Novák.", "Odešel brzy."]),
        ("en", &["Really?!", "Yes."]),
        ("en", &["It was cold.", "5 people died."]),
        ("en", &["It was 1990.", "1991 came."]),
        ("en", &["It was cold .", "5 people died ."]),
        ("en", &["He was great.", "\"5 stars,\" she said."]),
        ("de", &["Es war kalt.", "20 Leute kamen."]),
        ("en", &["See No. 5 of the list."]),
    ];
    for (language, sentences) in cases {
        assert_eq!(split(language, &sentences.join(" ")), sentences, "{language}");
    }
}

/// If Moses' lists lack a word, lower case after the number that follows the word shows that it is
/// an abbreviation.
#[test]
fn numbers_belong_to_abbreviations_before_them() {
    for (language, marked) in [
        ("en", "The Act of 2019, c. 18, s. 4 applies. |It is old."),
        ("en", "See fig. 2 for this. |Approx. 5 people came."),
        ("en", "On Jan. 5 he came. |On 5 March. |Then no more."),
        ("fi", "Se oli 5. 2020 illalla. |Hyvä."),
        ("en", "It costs $5. $10 is more."),
    ] {
        assert_split(language, marked);
    }
}

#[test]
fn semicolons_are_question_marks_in_greek() {
    for (language, marked) in [
        ("el", "Τι κάνεις; |Καλά είμαι."),
        ("el", "Πού πας\u{37e} |Έλα εδώ."),
        ("el", "«Πού πας;» |Έλα εδώ."),
        ("el", "Τι; |5 άτομα."),
        ("el", "Ένα &amp; Δύο; |Ναι."),
        ("en", "One; Two."),
    ] {
        assert_split(language, marked);
    }
    let listed = SentenceSplitter::with_prefixes("el", NonbreakingPrefixes::default());
    assert_eq!(listed.split("Τι κάνεις; Καλά.".as_bytes()).len(), 2);
}

#[test]
fn scripts_without_capitals_or_spaces_are_split() {
    let cases: [(&str, &str, &[&str]); 6] = [
        ("zh", "你好。你是谁？我是王。", &["你好。", "你是谁？", "我是王。"]),
        (
            "ja",
            "「行こう。」と彼は言った。雨だ!傘は?",
            &["「行こう。」", "と彼は言った。", "雨だ!", "傘は?"],
        ),
        ("hi", "यह एक घर है। वह बड़ा है।", &["यह एक घर है।", "वह बड़ा है।"]),
        ("ar", "أين أنت؟ أنا هنا. تعال!", &["أين أنت؟", "أنا هنا.", "تعال!"]),
        ("ko", "안녕하세요. 저는 학생입니다.", &["안녕하세요.", "저는 학생입니다."]),
        ("hy", "Բարև։ Ինչպե՞ս ես։", &["Բարև։", "Ինչպե՞ս ես։"]),
    ];
    for (language, text, sentences) in cases {
        assert_eq!(split(language, text), sentences, "{language}");
    }
}

/// Checks the sentences of the text `marked`, in which a `|` precedes each sentence but the first.
/// The `|` are removed before the text is split.
#[track_caller]
fn assert_split(language: &str, marked: &str) {
    let text = marked.replace('|', "");
    let mut expected: Vec<&str> = Vec::new();
    let mut rest = &text[..];
    for (number, part) in marked.split('|').enumerate() {
        let (own, after) = rest.split_at(part.len());
        rest = after;
        let own = if number == 0 { own.trim_start() } else { own };
        expected.push(own.trim());
    }
    assert_eq!(split(language, &text), expected);
}

#[test]
fn opening_brackets_belong_to_what_follows() {
    for (language, marked) in [
        ("zh", "“真的吗？”|“是的。”"),
        ("zh", "你好吗？|（笑）我很好。"),
        ("zh", "看完了！|《西游记》很好。"),
        ("zh", "他说：“好。”|“不好。”|“走！”"),
        ("zh", "他说:\"好。\"|\"走吧。\"|我说:\"再见。\""),
        ("zh", "他走了。|【注】我们也走。"),
        ("zh", "他走了!|“我也走.”|“好.”"),
        ("ja", "「行こう。」|「うん。」"),
        ("ja", "行こう。|『本』を読む。|（笑）"),
        ("en", "Really?(yes) No."),
        ("en", "“Hi!”|“Bye!” |She left."),
        ("en", "It is f(x).(See below.) |Then stop."),
        ("de", "„Ja!“ |„Nein!“ |Er ging."),
        ("de", "»Ja!« |»Nein!« |Er ging."),
        ("fr", "« Oui ! » |« Non ! » |Il part."),
        ("pl", "„Tak!” |„Nie!” |Wyszedł."),
        ("sv", "”Ja!” |”Nej!” |Han gick."),
        ("en", "He is 5. |\"Good.\" |\"Yes.\" |She left."),
        ("th", "ไปไหม?|“ไป!”|“ดี”"),
    ] {
        assert_split(language, marked);
    }
}

#[test]
fn reference_marks_belong_to_what_precedes() {
    for (language, marked) in [
        ("en", "It ended in 1990.[1] |The next began.[2]"),
        ("en", "It ended.[1][2] |The next began.[12, 13] |Why?[note 3] |So!"),
        ("en", "It ended.[citation needed] |The next began.¹ |And more.* |End."),
        ("en", "He said “no.”[4] |Then he left."),
        ("en", "It ended in 1990.[1] and went on."),
        ("en", "It ended. |[They] began."),
        ("zh", "它在1990年结束。[1]|下一个开始了。[2]"),
        ("zh", "它结束了。［3］|我很好。|[笑]"),
    ] {
        assert_split(language, marked);
    }
}

#[test]
fn abbreviations_may_have_spaces_inside() {
    for (language, marked) in [
        ("es", "Llegó a EE. UU. Obama ayer. |Salió de Bs. As. Ayer no."),
        ("es", "Las FF. AA. Españolas en los JJ. OO. Otra vez. |¿Cuándo?"),
        ("es", "El Bs. |Los EE. |Era así."),
        ("fr", "Leurs LL. AA. RR. Les Princes sont là. |Oui."),
        ("de", "Er kam z. B. Montag. |Sie ging."),
        ("ru", "Столы, стулья и т. д. |Он ушёл."),
        ("ru", "Столы, стулья и т.д. |Он ушёл."),
        ("ru", "Столы и т. п. |Он ушёл, т. е. Иванов ушёл, т.е. Иванов."),
        ("uk", "Столи і т. д. |Він пішов і т.д. |Так."),
    ] {
        assert_split(language, marked);
    }
}

#[test]
fn an_ellipsis_of_one_character_ends_a_sentence_before_a_capital() {
    for (language, marked) in [
        ("ru", "Он сказал: «Я не знаю…» |Потом он ушёл."),
        ("ru", "«Да…» — сказал он. |Потом… ушёл."),
        ("en", "Wait… |What is it? |I do not… know. |“Well…” |She left. |“Well…” she said."),
        ("fr", "« Oui… » |Il part."),
        ("de", "…und dann …da. |Er kam …"),
        ("zh", "我……我不知道。|“我……”|“你……”他说。"),
        ("ja", "「……」と彼は…言った。"),
    ] {
        assert_split(language, marked);
    }
}

#[test]
fn initials_end_no_sentence_in_any_script() {
    for (language, marked) in [
        ("ru", "А. С. Пушкин писал. |Он умер в 1837 году."),
        ("ru", "Это Л. Н. Толстой. |Дж. Р. Р. Толкин писал."),
        ("uk", "Т. Г. Шевченко писав. |Є. Петрушевич жив."),
        ("el", "Ο Κ. Π. Καβάφης έγραψε. |Η Ά. Παπαδοπούλου ήρθε;"),
        ("bg", "П. К. Яворов писа. |Той умря."),
        ("hy", "Հ. Թումանյան. |Նա գրել է:"),
        ("ka", "ი. ჭავჭავაძე წერდა. |ის მოკვდა."),
        ("he", "א. ב. יהושע כתב. |הוא מת."),
        ("ar", "ج. ر. تولكين كتب. |هو مات."),
        ("de", "Ö. Müller kam. |É. Zola ging."),
        ("en", "J. R. R. Tolkien wrote. |He died."),
        // In Korean, a syllable alone is a word, not an initial.
        ("ko", "네. |알겠습니다."),
        ("hi", "यह घर है. |वह बड़ा है."),
    ] {
        assert_split(language, marked);
    }
}

/// Texts that repeat a character, a word or a sentence, as a hostile client may send to keep a
/// server busy.
const HOSTILE: [&str; 35] = [
    "…",
    "… B",
    "EE. UU. ",
    "i. e. ",
    "J. R. R. ",
    "Smith, J. R., Doe, A. B., Roe, C. D., Poe, E. F., ",
    "The value of No. 5 is 3.5 and Mr. Smith of St. John ",
    "(",
    ")",
    ".(",
    ".)",
    "\"",
    "'",
    "“",
    ".”“",
    ".",
    ". ",
    ".\u{301}",
    "\u{301}",
    " ",
    "\n",
    "a",
    "A.",
    "Mr. ",
    "No. (",
    "1. ",
    "[1]",
    ".[1",
    "你好",
    "好。“",
    "! ",
    "https://example.com/a.b?c=d. ",
    "U.S. ",
    ". $",
    "\u{ff0e}\u{200b}",
];

#[test]
fn twice_the_text_takes_twice_the_steps() {
    let splitter = SentenceSplitter::new("en");
    let beginnings = ["", ".", "A. ", "No. ", "“.", "     "];
    for (unit, beginning) in HOSTILE.iter().flat_map(|u| beginnings.map(|b| (u, b))) {
        let steps = |count: usize| {
            let text = format!("{beginning}{} b.", unit.repeat(count));
            steps::taken_by(|| drop(splitter.split(text.as_bytes())))
        };
        let (once, twice) = (steps(2000), steps(4000));
        assert!(twice <= 2 * once + 200, "{beginning:?} {unit:?}: {once}, {twice}");
        assert!(twice <= 4000 * unit.len() * 20, "{beginning:?} {unit:?}: {twice}");
    }
}

#[test]
fn splitting_may_be_interrupted() {
    let text = "J. R. R. ".repeat(50_000);
    let num_checks = std::cell::Cell::new(0);
    let stop = || {
        num_checks.set(num_checks.get() + 1);
        num_checks.get() > 3
    };
    let splitter = SentenceSplitter::new("en");
    assert_eq!(splitter.split_until(text.as_bytes(), &stop), Err(Interrupted));
    assert_eq!(num_checks.get(), 4);
    assert!(splitter.split_until(text.as_bytes(), &|| false).is_ok());
}

#[test]
fn white_space_is_left_between_sentences() {
    let text = "  One.\t Two is\u{a0}here. \u{3000}Three\nFour  ";
    let ranges = SentenceSplitter::new("en").split(text.as_bytes());
    let sentences: Vec<&str> = ranges.into_iter().map(|range| &text[range]).collect();
    assert_eq!(sentences, ["One.", "Two is\u{a0}here.", "Three", "Four"]);
}

#[test]
fn words_with_marks_are_not_split() {
    assert_eq!(split("en", "Yahoo!Inc and foo.Bar are names.").len(), 1);
    assert_eq!(split("en", "He asked why? and left.").len(), 1);
}

#[test]
fn abbreviations_of_the_user_are_known() {
    let text = b"See appx. B now. End.";
    let own = NonbreakingPrefixes::parse_moses(b"appx\n");
    assert_eq!(SentenceSplitter::with_prefixes("en", own).split(text).len(), 2);
    assert_eq!(SentenceSplitter::new("en").split(text).len(), 3);
}

proptest! {
    #[test]
    fn nothing_but_white_space_is_between_sentences(
        text in proptest::collection::vec(
            prop_oneof![
                Just(b". ".to_vec()), Just(b"? ".to_vec()), Just(b"Mr.".to_vec()),
                Just("。".into()), Just("”".into()), Just(b"A".to_vec()), Just(b"a".to_vec()),
                Just(b"\n".to_vec()), Just(b"\xff".to_vec()), Just("\u{2029}".into()),
                any::<Vec<u8>>(), any::<char>().prop_map(|c| c.to_string().into_bytes()),
            ],
            0..30,
        )
    ) {
        let text = text.concat();
        let mut rest = 0;
        let mut gaps = Vec::new();
        for sentence in SentenceSplitter::new("en").split(&text) {
            prop_assert!(rest <= sentence.start && sentence.start < sentence.end);
            let own = &text[sentence.clone()];
            prop_assert_eq!(trim_start(trim_end(own)), own);
            gaps.push(rest..sentence.start);
            rest = sentence.end;
        }
        gaps.push(rest..text.len());
        for gap in gaps {
            prop_assert!(crate::characters::is_blank(&text[gap]));
        }
    }
}
