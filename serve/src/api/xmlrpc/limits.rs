//! Search limits of a call. Clients write numbers as numbers or as strings.

use super::value::{Fault, Value};
use crate::engine::SearchWidth;
use crate::models::Model;

/// The members that narrow or widen a phrase-based search.
pub(super) const MEMBERS: [&str; 3] = ["stack", "beam-threshold", "cube-pruning-pop-limit"];

fn wrong(name: &str, wanted: &str) -> Fault {
    Fault::new(Fault::PARSE, format!("{name}: give {wanted}"))
}

/// Returns a member that is a number.
fn number(given: &Value, name: &str, wanted: &str) -> Result<Option<f64>, Fault> {
    let number = match given.member(name) {
        None => return Ok(None),
        Some(Value::Int(number)) => Some(f64::from(*number)),
        Some(Value::Double(number)) => Some(*number),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(_) => None,
    };
    let number = number.filter(|number| number.is_finite());
    number.map(Some).ok_or_else(|| wrong(name, wanted))
}

/// Returns the width of the search of a call; a stack may have at most `most` hypotheses.
pub(super) fn width(given: &Value, most: usize) -> Result<SearchWidth, Fault> {
    let wanted = "a probability from 0 to 1";
    let beam = number(given, "beam-threshold", wanted)?;
    if beam.is_some_and(|beam| !(0.0..=1.0).contains(&beam)) {
        return Err(wrong("beam-threshold", wanted));
    }
    let stack = count(given, "stack", most)?;
    let pops = count(given, "cube-pruning-pop-limit", most)?;
    Ok(SearchWidth::new(stack, pops, beam.map(|beam| beam as f32)))
}

/// Returns a member that is a whole number from 1 to `most`.
fn count(given: &Value, name: &str, most: usize) -> Result<Option<usize>, Fault> {
    let wanted = format!("a whole number from 1 to {most}");
    match number(given, name, &wanted)? {
        Some(count) if count.fract() != 0.0 || !(1.0..=most as f64).contains(&count) => {
            Err(wrong(name, &wanted))
        }
        count => Ok(count.map(|count| count as usize)),
    }
}

/// Returns the time limit of a call in milliseconds. Moses takes seconds, or -1 for no limit.
pub(super) fn milliseconds(given: &Value) -> Result<Option<u64>, Fault> {
    let wanted = "seconds, or -1 for no limit";
    match number(given, "time-out", wanted)? {
        None | Some(-1.0) => Ok(None),
        Some(seconds) if seconds > 0.0 => Ok(Some((seconds * 1e3).ceil() as u64)),
        Some(_) => Err(wrong("time-out", wanted)),
    }
}

/// Rejects a search that the model does not have.
pub(super) fn check_algorithm(given: &Value, model: &Model) -> Result<(), Fault> {
    let Some(value) = given.member("search-algorithm") else { return Ok(()) };
    let asked = match value {
        Value::Int(0) => "Stack",
        Value::Int(1) => "CubePruning",
        Value::String(text) => match &**text {
            "0" | "normal" => "Stack",
            "1" | "cube" => "CubePruning",
            _ => return Err(wrong("search-algorithm", "0 or normal, 1 or cube")),
        },
        _ => return Err(wrong("search-algorithm", "0 or normal, 1 or cube")),
    };
    let own = model.facts.iter().find(|(name, _)| *name == "search").map(|(_, own)| &**own);
    match own {
        Some(own) if own == asked => Ok(()),
        own => {
            let reason = format!(
                "search-algorithm: the model {} searches by {}; its configuration says so for all \
                 calls",
                model.name(),
                own.unwrap_or("none of these")
            );
            Err(Fault::new(Fault::PARSE, reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(name: &str, value: Value) -> Value {
        Value::Struct(vec![(name.into(), value)])
    }

    #[test]
    fn numbers_come_in_all_forms() {
        for value in [Value::Int(7), Value::Double(7.0), Value::String(" 7 ".into())] {
            let found = width(&given("stack", value), 10).unwrap();
            assert_eq!((found.stack_size, found.pop_limit), (Some(7), None));
        }
        let found = width(&given("beam-threshold", Value::String("0.25".into())), 10).unwrap();
        assert_eq!(found.beam_threshold(), Some(0.25));
        assert!(width(&Value::Struct(vec![]), 10).unwrap().is_default());
        for (name, value) in [
            ("stack", Value::Int(0)),
            ("stack", Value::Int(11)),
            ("stack", Value::Double(1.5)),
            ("cube-pruning-pop-limit", Value::String("many".into())),
            ("beam-threshold", Value::Double(2.0)),
            ("beam-threshold", Value::Boolean(true)),
        ] {
            let fault = width(&given(name, value), 10).unwrap_err();
            assert!(fault.code == Fault::PARSE && fault.reason.starts_with(name), "{fault:?}");
        }
    }

    #[test]
    fn seconds_are_less_than_for_ever() {
        let time = |value| milliseconds(&given("time-out", value));
        assert_eq!(time(Value::Double(0.5)), Ok(Some(500)));
        assert_eq!(time(Value::Int(-1)), Ok(None));
        assert!(time(Value::Int(0)).is_err());
        assert_eq!(milliseconds(&Value::Struct(vec![])), Ok(None));
    }
}
