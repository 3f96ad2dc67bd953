//! A counter of elementary steps: checked characters and searched bytes.
//!
//! Tests double a text and compare the counts, which, unlike times, are the same on every machine.
//! Nothing is counted outside tests.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts `steps`, in tests.
#[inline]
pub(crate) fn count(steps: usize) {
    #[cfg(test)]
    STEPS.with(|all| all.set(all.get() + steps));
    #[cfg(not(test))]
    let _ = steps;
}

/// Returns the number of steps that `work` takes.
#[cfg(test)]
pub(crate) fn taken_by(work: impl FnOnce()) -> usize {
    let before = STEPS.with(std::cell::Cell::get);
    work();
    STEPS.with(std::cell::Cell::get) - before
}

#[cfg(test)]
mod tests {
    use super::taken_by;
    use crate::{
        Detokenizer, PunctuationNormalizer, Tokenizer, TruecaseModel, detruecase,
        prepare_for_opus_mt,
    };

    const UNITS: [&str; 22] = [
        "a",
        ",1",
        " ,1",
        ", ",
        "<a ",
        "<",
        "a|<b ",
        ">",
        "' ",
        "'\u{2019}\"` \u{201c}\u{201d}\u{201e} ",
        "'",
        "\"",
        ".\" ",
        "...",
        "&amp;",
        "& ",
        " ",
        "J. R. ",
        "a.b.",
        "\u{301}",
        "\u{4f60}\u{597d}",
        "-@-@ ",
    ];

    /// Checks that twice as many copies of a unit take at most twice the steps (and 100 more), for
    /// all units and beginnings.
    fn assert_linear(name: &str, tool: impl Fn(&[u8], &mut Vec<u8>)) {
        for beginning in ["", "     ", "<", "a "] {
            for unit in UNITS {
                let steps = |count: usize| {
                    let text = beginning.repeat(count) + &unit.repeat(count);
                    taken_by(|| tool(text.as_bytes(), &mut Vec::new()))
                };
                let (once, twice) = (steps(1000), steps(2000));
                let case = format!("{name} {beginning:?} {unit:?}: {once}, {twice}");
                assert!(twice <= 2 * once + 100, "{case}");
            }
        }
    }

    #[test]
    fn twice_the_text_takes_every_tool_twice_the_steps() {
        for language in ["en", "fr", "cs", "fi", "zh"] {
            let tokenizer = Tokenizer::new(language).aggressive(true);
            assert_linear("tokenise", |text, out| tokenizer.tokenize(text, out));
            let detokenizer = Detokenizer::new(language).capitalize(true);
            assert_linear("detokenise", |text, out| detokenizer.detokenize(text, out));
            let normalizer = PunctuationNormalizer::new(language);
            assert_linear("normalise", |text, out| normalizer.normalize(text, out));
        }
        let model = TruecaseModel::from_text(b"the (1/1)\n", "test").unwrap();
        assert_linear("truecase", |text, out| model.truecase(text, out));
        assert_linear("detruecase", detruecase);
        assert_linear("replace punctuation", |text, out| {
            prepare_for_opus_mt(text, out);
        });
    }
}
