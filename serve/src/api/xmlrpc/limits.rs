//! Search limits of a call. Clients write numbers as numbers or as strings.

use super::value::{Fault, Value};
use crate::engine::SearchWidth;
use crate::models::Model;

/// The members that only a phrase-based search has.
pub(super) const MEMBERS: [&str; 4] =
    ["stack", "beam-threshold", "cube-pruning-pop-limit", "search-algorithm"];

fn invalid(name: &str, expected: &str) -> Fault {
    Fault::new(Fault::PARSE, format!("{name}: expected {expected}"))
}

/// Returns a member that is a number.
fn parse_number(parameters: &Value, name: &str, wanted: &str) -> Result<Option<f64>, Fault> {
    let number = match parameters.member(name) {
        None => return Ok(None),
        Some(Value::Int(number)) => Some(f64::from(*number)),
        Some(Value::Double(number)) => Some(*number),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(_) => None,
    };
    let number = number.filter(|number| number.is_finite());
    number.map(Some).ok_or_else(|| invalid(name, wanted))
}

/// Returns the search width of a call. Stack size and pop limit may be at most `max`.
pub(super) fn parse_search_width(parameters: &Value, max: usize) -> Result<SearchWidth, Fault> {
    let wanted = "a probability from 0 to 1";
    let beam = parse_number(parameters, "beam-threshold", wanted)?;
    if beam.is_some_and(|beam| !(0.0..=1.0).contains(&beam)) {
        return Err(invalid("beam-threshold", wanted));
    }
    Ok(SearchWidth {
        stack_size: parse_count(parameters, "stack", max)?,
        pop_limit: parse_count(parameters, "cube-pruning-pop-limit", max)?,
        beam_threshold: beam.map(|beam| beam as f32),
    })
}

/// Returns a member that is a whole number from 1 to `max`.
fn parse_count(parameters: &Value, name: &str, max: usize) -> Result<Option<usize>, Fault> {
    let wanted = format!("a whole number from 1 to {max}");
    match parse_number(parameters, name, &wanted)? {
        Some(count) if count.fract() != 0.0 || !(1.0..=max as f64).contains(&count) => {
            Err(invalid(name, &wanted))
        }
        count => Ok(count.map(|count| count as usize)),
    }
}

/// Returns the time limit of a call in milliseconds. Moses takes seconds, or -1 for no limit.
pub(super) fn parse_time_limit(parameters: &Value) -> Result<Option<u64>, Fault> {
    let wanted = "seconds, or -1 for no limit";
    match parse_number(parameters, "time-out", wanted)? {
        None | Some(-1.0) => Ok(None),
        Some(seconds) if seconds > 0.0 => Ok(Some((seconds * 1e3).ceil() as u64)),
        Some(_) => Err(invalid("time-out", wanted)),
    }
}

/// Rejects a search algorithm other than the model's.
pub(super) fn check_algorithm(parameters: &Value, model: &Model) -> Result<(), Fault> {
    let Some(value) = parameters.member("search-algorithm") else { return Ok(()) };
    let asked = match value {
        Value::Int(0) => "Stack",
        Value::Int(1) => "CubePruning",
        Value::String(text) => match &**text {
            "0" | "normal" => "Stack",
            "1" | "cube" => "CubePruning",
            _ => return Err(invalid("search-algorithm", "0 (normal) or 1 (cube)")),
        },
        _ => return Err(invalid("search-algorithm", "0 (normal) or 1 (cube)")),
    };
    let own = model.facts.iter().find(|(name, _)| *name == "search").map(|(_, own)| &**own);
    match own {
        Some(own) if own == asked => Ok(()),
        own => {
            let reason = format!(
                "search-algorithm: expected {}, which the configuration of model {} sets for all \
                 calls",
                own.unwrap_or("the model's"),
                model.name()
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
    fn numbers_are_read_in_all_forms() {
        for value in [Value::Int(7), Value::Double(7.0), Value::String(" 7 ".into())] {
            let found = parse_search_width(&given("stack", value), 10).unwrap();
            assert_eq!((found.stack_size, found.pop_limit), (Some(7), None));
        }
        let found =
            parse_search_width(&given("beam-threshold", Value::String("0.25".into())), 10).unwrap();
        assert_eq!(found.beam_threshold, Some(0.25));
        let found = parse_search_width(&Value::Struct(vec![]), 10).unwrap();
        assert_eq!(found, SearchWidth::default());
        for (name, value) in [
            ("stack", Value::Int(0)),
            ("stack", Value::Int(11)),
            ("stack", Value::Double(1.5)),
            ("cube-pruning-pop-limit", Value::String("many".into())),
            ("beam-threshold", Value::Double(2.0)),
            ("beam-threshold", Value::Boolean(true)),
        ] {
            let fault = parse_search_width(&given(name, value), 10).unwrap_err();
            assert!(fault.code == Fault::PARSE && fault.reason.starts_with(name), "{fault:?}");
        }
    }

    #[test]
    fn a_time_limit_is_positive_or_minus_one() {
        let time = |value| parse_time_limit(&given("time-out", value));
        assert_eq!(time(Value::Double(0.5)), Ok(Some(500)));
        assert_eq!(time(Value::Int(-1)), Ok(None));
        assert!(time(Value::Int(0)).is_err());
        assert_eq!(parse_time_limit(&Value::Struct(vec![])), Ok(None));
    }
}
