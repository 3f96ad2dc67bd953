//! Members by which Moses changes a setting of a whole system for one call.
//!
//! Here the configuration of the model fixes such settings. A call may repeat their values, as the
//! sample clients of Moses do (`report-all-factors` for a system with one factor). Another value is
//! rejected, because the translation would not be the requested one.

use miriam_textio::parse_truth_word;

use super::value::{Fault, Value};
use crate::models::Model;

/// Members that are not available, with the reason.
const UNAVAILABLE: [(&str, &str); 6] = [
    ("weights", "weights are those of the configuration, for all clients"),
    ("lambda", "tables with weights of their own for each call are not supported"),
    ("model_name", "it names the table for lambda, which is not supported"),
    ("context", "translation does not look at other sentences"),
    ("context-scope", "translation does not look at other sentences"),
    ("context-weights", "translation does not look at other sentences"),
];

/// Settings that a call may repeat, with their default values.
const FIXED: [(&str, &str); 10] = [
    ("report-all-factors", "false"),
    ("output-factors", "0"),
    ("factor-delimiter", "|"),
    ("output-factor-delimiter", "|"),
    ("xml-input", "pass-through"),
    ("max-phrase-length", "20"),
    ("stack-diversity", "0"),
    ("cube-pruning-diversity", "0"),
    ("cube-pruning-lazy-scoring", "false"),
    ("cube-pruning-deterministic-search", "false"),
];

/// Settings without effect if words have one factor.
const FACTORS: [&str; 4] =
    ["report-all-factors", "output-factors", "factor-delimiter", "output-factor-delimiter"];

/// Rejects members that differ from the configuration of `model`.
pub(super) fn check(given: &Value, model: &Model) -> Result<(), Fault> {
    for (name, reason) in UNAVAILABLE {
        if given.member(name).is_some_and(|value| !is_empty(value)) {
            return Err(Fault::new(Fault::PARSE, format!("{name} is not available: {reason}")));
        }
    }
    for (name, default) in FIXED {
        let Some(value) = given.member(name) else { continue };
        let own = model.moses_settings.iter().find(|(known, _)| *known == name);
        let own = match own {
            None if FACTORS.contains(&name) => continue,
            None => default,
            Some((_, value)) => value,
        };
        let asked = written(value).ok_or_else(|| {
            Fault::new(Fault::TYPE, format!("{name}: give a string, a number or a truth value"))
        })?;
        if !means(&asked, own) {
            let reason = format!(
                "{name} is not available for a single call: the model {} has {own:?}, and its \
                 configuration says so for all calls",
                model.name()
            );
            return Err(Fault::new(Fault::PARSE, reason));
        }
    }
    Ok(())
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Struct(members) => members.is_empty(),
        _ => false,
    }
}

/// Returns a simple value as a configuration writes it.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Int(number) => Some(number.to_string()),
        Value::Double(number) => Some(number.to_string()),
        Value::Boolean(is_true) => Some(is_true.to_string()),
        _ => None,
    }
}

/// Whether `asked` means the setting `own`. Clients write truth values in many ways.
fn means(asked: &str, own: &str) -> bool {
    fn truth(text: &str) -> Option<bool> {
        if text.is_empty() { Some(false) } else { parse_truth_word(text) }
    }
    match own {
        "true" | "false" => truth(asked) == truth(own),
        _ => asked.eq_ignore_ascii_case(own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_values_and_numbers_are_compared_by_meaning() {
        for same in
            [("True", "true"), ("1", "true"), ("yes", "true"), ("off", "false"), ("", "false")]
        {
            assert!(means(same.0, same.1), "{same:?}");
        }
        for other in
            [("true", "false"), ("maybe", "true"), ("1", "0"), ("exclusive", "pass-through")]
        {
            assert!(!means(other.0, other.1), "{other:?}");
        }
        assert!(means("Exclusive", "exclusive") && means("0", "0"));
        assert_eq!(written(&Value::Int(20)).as_deref(), Some("20"));
        assert_eq!(written(&Value::Array(vec![])), None);
    }
}
