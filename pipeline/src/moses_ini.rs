//! The moses.ini of a trained model, before tuning. Paths begin with `${INI}/`, the folder of the
//! ini itself, so that the model can be moved and used from any working directory.

use std::fmt::Write;

use miriam_extract::ReorderingType;

/// Counts the scores of a reordering model: one per orientation class and direction.
fn num_scores(model: &ReorderingType) -> usize {
    model.num_classes() * (usize::from(model.backward) + usize::from(model.forward))
}

/// Formats the ini, with the initial weights of Moses' training. It names the files of the phrase
/// table, which contains the scores of the reordering model, if any, and of the language model.
pub(crate) fn format_ini(
    table: &str,
    lm: &str,
    lm_order: usize,
    reordering: Option<&ReorderingType>,
) -> String {
    let mut ini = format!(
        "# A phrase model made by `miriam train`. Translate with it:\n\
         #   miriam translate -f moses.ini\n\
         # ${{INI}} is the folder of this file.\n\
         \n[input-factors]\n0\n\n[mapping]\n0 T 0\n\n[distortion-limit]\n6\n\n\
         [search-algorithm]\n1\n\n[cube-pruning-pop-limit]\n400\n\n[stack]\n400\n\n\
         [feature]\nUnknownWordPenalty\nWordPenalty\nPhrasePenalty\n\
         ProbingPT name=TranslationModel0 num-features=4 path=${{INI}}/{table} input-factor=0 \
         output-factor=0 table-limit=20\n"
    );
    if let Some(model) = reordering {
        let scores = num_scores(model);
        writeln!(
            ini,
            "LexicalReordering name=LexicalReordering0 num-features={scores} type={model}-allff \
             input-factor=0 output-factor=0 property-index=0"
        )
        .expect("writing to a string cannot fail");
    }
    write!(
        ini,
        "Distortion\nKENLM name=LM0 factor=0 order={lm_order} path=${{INI}}/{lm}\n\n\
         [weight]\nUnknownWordPenalty0= 1\nWordPenalty0= -1\nPhrasePenalty0= 0.2\n\
         TranslationModel0= 0.2 0.2 0.2 0.2\n"
    )
    .expect("writing to a string cannot fail");
    if let Some(model) = reordering {
        let weights = " 0.3".repeat(num_scores(model));
        writeln!(ini, "LexicalReordering0={weights}").expect("writing to a string cannot fail");
    }
    ini + "Distortion0= 0.3\nLM0= 0.5\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_scores_of_reordering_models() {
        for (name, scores) in [
            ("wbe-msd-bidirectional-fe", 6),
            ("hier-mslr-bidirectional-fe", 8),
            ("phrase-monotonicity-backward-fe", 2),
            ("wbe-leftright-bidirectional-fe", 4),
            ("wbe-mslr-forward-fe", 4),
            ("orientation-bidirectional-fe", 6),
        ] {
            assert_eq!(super::num_scores(&ReorderingType::parse(name).unwrap()), scores, "{name}");
        }
    }
}
