//! The values of XML-RPC, and their XML.

use std::fmt::Write;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number of 32 bits.
    Int(i32),
    /// A truth value.
    Boolean(bool),
    /// A number, written without an exponent.
    Double(f64),
    /// A text.
    String(String),
    /// Values in order.
    Array(Vec<Value>),
    /// Values by name, in their original order.
    Struct(Vec<(String, Value)>),
    /// A value that no method uses: a date, bytes, nil, a number of more than 32 bits.
    Other,
}

/// The reason for the failure of a call, with a code of xmlrpc-c.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The code.
    pub code: i32,
    /// What is wrong.
    pub reason: String,
}

impl Fault {
    /// The server failed.
    pub const INTERNAL: i32 = -500;
    /// A value has the wrong type.
    pub const TYPE: i32 = -501;
    /// The call cannot be parsed, or is invalid.
    pub const PARSE: i32 = -503;
    /// The call took too long.
    pub const TIMEOUT: i32 = -505;
    /// There is no such method.
    pub const NO_METHOD: i32 = -506;
    /// The call is rejected.
    pub const REFUSED: i32 = -507;
    /// The call is larger than allowed.
    pub const LIMIT: i32 = -509;
    /// The call is not UTF-8.
    pub const UTF8: i32 = -510;

    /// Creates a fault.
    pub fn new(code: i32, reason: impl Into<String>) -> Self {
        Fault { code, reason: reason.into() }
    }

    fn to_value(&self) -> Value {
        Value::Struct(vec![
            ("faultCode".into(), Value::Int(self.code)),
            ("faultString".into(), Value::String(self.reason.clone())),
        ])
    }
}

impl Value {
    /// Returns the member `name` of a struct; the last one if there are several.
    pub fn member(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Struct(members) => {
                members.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// Converts bytes to a string; those that are not UTF-8 become U+FFFD.
    pub fn from_utf8_lossy(bytes: &[u8]) -> Self {
        Value::String(String::from_utf8_lossy(bytes).into_owned())
    }

    /// Converts a count or a position; one above `i32::MAX` becomes `i32::MAX`.
    pub fn from_count(number: impl TryInto<i32>) -> Self {
        Value::Int(number.try_into().unwrap_or(i32::MAX))
    }

    fn write(&self, out: &mut String) {
        out.push_str("<value>");
        match self {
            // Writing into memory does not fail.
            Value::Int(number) => {
                let _ = write!(out, "<i4>{number}</i4>");
            }
            Value::Boolean(is_true) => {
                let _ = write!(out, "<boolean>{}</boolean>", u8::from(*is_true));
            }
            Value::Double(number) => {
                // XML-RPC has neither infinities nor NaN.
                let number = if number.is_nan() { 0.0 } else { number.clamp(-1e308, 1e308) };
                let _ = write!(out, "<double>{number}</double>");
            }
            Value::String(text) => {
                out.push_str("<string>");
                push_escaped(text, out);
                out.push_str("</string>");
            }
            Value::Array(values) => {
                out.push_str("<array><data>");
                values.iter().for_each(|value| value.write(out));
                out.push_str("</data></array>");
            }
            Value::Struct(members) => {
                out.push_str("<struct>");
                for (name, value) in members {
                    out.push_str("<member><name>");
                    push_escaped(name, out);
                    out.push_str("</name>");
                    value.write(out);
                    out.push_str("</member>");
                }
                out.push_str("</struct>");
            }
            Value::Other => out.push_str("<nil/>"),
        }
        out.push_str("</value>");
    }
}

/// Returns the XML of a response.
pub fn write_response(outcome: &Result<Value, Fault>) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n<methodResponse>");
    match outcome {
        Ok(value) => {
            out.push_str("<params><param>");
            value.write(&mut out);
            out.push_str("</param></params>");
        }
        Err(fault) => {
            out.push_str("<fault>");
            fault.to_value().write(&mut out);
            out.push_str("</fault>");
        }
    }
    out.push_str("</methodResponse>\r\n");
    out
}

/// Returns the response to one call of a `system.multicall`.
pub fn multicall_entry(outcome: Result<Value, Fault>) -> Value {
    match outcome {
        Ok(value) => Value::Array(vec![value]),
        Err(fault) => fault.to_value(),
    }
}

/// Escapes special characters of XML. Characters that XML does not allow become U+FFFD.
fn push_escaped(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // An XML reader would turn it into a line feed.
            '\r' => out.push_str("&#xd;"),
            '\t' | '\n' => out.push(letter),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
}
