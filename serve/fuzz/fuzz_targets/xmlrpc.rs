//! Any bytes as a call of XML-RPC: it is read or refused, and what is read is written and read
//! again unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miriam_serve::api::xmlrpc::parse::parse_call;
use miriam_serve::api::xmlrpc::value::{Value, write_response};

fn is_exact(value: &Value) -> bool {
    match value {
        Value::Other => false,
        // Some control characters, U+FFFE and U+FFFF are replaced when they are written.
        Value::String(text) => !text.contains(|c: char| c.is_control() || c >= '\u{fffe}'),
        Value::Double(number) => number.abs() < 1e308,
        Value::Array(values) => values.iter().all(is_exact),
        Value::Struct(members) => members
            .iter()
            .all(|(name, value)| is_exact(&Value::String(name.clone())) && is_exact(value)),
        _ => true,
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(call) = parse_call(bytes) else { return };
    for value in call.parameters.into_iter().filter(is_exact) {
        let document = write_response(&Ok(value.clone()));
        let start = document.find("<value>").expect("a value");
        let end = document.rfind("</value>").expect("its end") + "</value>".len();
        let again = format!(
            "<methodCall><methodName>m</methodName><params><param>{}</param></params></methodCall>",
            &document[start..end]
        );
        let again = parse_call(again.as_bytes()).expect("as it was written");
        assert_eq!(again.parameters, [value]);
    }
});
