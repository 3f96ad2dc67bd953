//! Calls of XML-RPC, read from XML.
//!
//! Expensive constructs that no call needs are rejected early: document types (and with them
//! entities that expand), entities other than the five of XML, and deep nesting.

use std::borrow::Cow;
use std::collections::HashSet;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::value::{Fault, Value};

/// The deepest nesting of values.
const MAX_DEPTH: usize = 16;

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodCall {
    /// The method.
    pub method: String,
    /// Its parameters.
    pub parameters: Vec<Value>,
}

/// Parses a call.
///
/// # Errors
/// If it is neither UTF-8 nor declared as Latin 1, not XML, or not a call.
pub fn parse_call(body: &[u8]) -> Result<MethodCall, Fault> {
    let text = decode(body)?;
    let mut reader = Reader::from_str(&text);
    // `<string/>` is an empty string.
    reader.config_mut().expand_empty_elements = true;
    let mut parser = Parser { reader, open: Vec::new() };
    parser.call()
}

/// Decodes the text of a call: UTF-8, or Latin 1 if its declaration says so, as clients in PHP
/// write it.
fn decode(body: &[u8]) -> Result<Cow<'_, str>, Fault> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let error = match std::str::from_utf8(body) {
        Ok(text) => return Ok(Cow::Borrowed(text)),
        Err(error) => error,
    };
    let declaration = body.split(|&byte| byte == b'>').next().unwrap_or_default();
    let declaration = String::from_utf8_lossy(declaration).to_ascii_lowercase();
    let is_latin = declaration.starts_with("<?xml")
        && ["iso-8859-1", "latin1"].iter().any(|name| {
            [format!("encoding=\"{name}\""), format!("encoding='{name}'")]
                .iter()
                .any(|named| declaration.contains(named))
        });
    if is_latin {
        return Ok(body.iter().map(|&byte| char::from(byte)).collect::<String>().into());
    }
    Err(Fault::new(Fault::UTF8, format!("the call: {error}")))
}

struct Parser<'a> {
    reader: Reader<&'a [u8]>,
    /// The names of open elements.
    open: Vec<String>,
}

/// A token.
#[derive(Debug, PartialEq)]
enum Token {
    Start(String),
    End,
    Text(String),
    Eof,
}

fn wrong(reason: impl Into<String>) -> Fault {
    Fault::new(Fault::PARSE, reason)
}

impl Parser<'_> {
    /// Returns the next token. A text may be split into several tokens.
    fn token(&mut self) -> Result<Token, Fault> {
        loop {
            let event = self.reader.read_event().map_err(|error| wrong(error.to_string()))?;
            return Ok(match event {
                Event::Start(start) => {
                    if self.open.len() >= 6 * MAX_DEPTH {
                        return Err(wrong("elements are nested too deeply"));
                    }
                    let name = start.name().0.to_owned();
                    self.open.push(name.clone());
                    Token::Start(name)
                }
                Event::Empty(_) => return Err(wrong("an empty element")),
                Event::End(_) => {
                    self.open.pop();
                    Token::End
                }
                Event::Text(text) => Token::Text(text.xml10_content().into_owned()),
                Event::CData(data) => Token::Text(data.xml10_content().into_owned()),
                Event::GeneralRef(reference) => {
                    let code = reference.resolve_char_ref();
                    let letter = code.map_err(|error| wrong(error.to_string()))?;
                    let letter = letter.or(match &*reference {
                        "lt" => Some('<'),
                        "gt" => Some('>'),
                        "amp" => Some('&'),
                        "quot" => Some('"'),
                        "apos" => Some('\''),
                        _ => None,
                    });
                    Token::Text(
                        letter
                            .ok_or_else(|| {
                                wrong(format!("the entity {:?} is not known", &*reference))
                            })?
                            .to_string(),
                    )
                }
                Event::DocType(_) => return Err(wrong("a document type is not allowed")),
                Event::Decl(_) | Event::PI(_) | Event::Comment(_) => continue,
                Event::Eof => Token::Eof,
            });
        }
    }

    /// Returns the next token that is not white space.
    fn element(&mut self) -> Result<Token, Fault> {
        loop {
            match self.token()? {
                Token::Text(text) if text.trim().is_empty() => {}
                Token::Text(text) => {
                    let text: String = text.trim().chars().take(40).collect();
                    return Err(wrong(format!("{text:?} where an element is expected")));
                }
                token => return Ok(token),
            }
        }
    }

    fn expect(&mut self, name: &str) -> Result<(), Fault> {
        match self.element()? {
            Token::Start(found) if found == name => Ok(()),
            token => Err(wrong(format!("{token:?} where <{name}> is expected"))),
        }
    }

    /// Reads the text up to the end of the open element.
    fn text(&mut self) -> Result<String, Fault> {
        let mut text = String::new();
        loop {
            match self.token()? {
                Token::Text(part) => text.push_str(&part),
                Token::End => return Ok(text),
                token => return Err(wrong(format!("{token:?} in a text"))),
            }
        }
    }

    fn call(&mut self) -> Result<MethodCall, Fault> {
        self.expect("methodCall")?;
        self.expect("methodName")?;
        let method = self.text()?.trim().to_owned();
        let mut parameters = Vec::new();
        match self.element()? {
            Token::End => {}
            Token::Start(name) if name == "params" => {
                while let Token::Start(name) = self.element()? {
                    if name != "param" {
                        return Err(wrong(format!("<{name}> where <param> is expected")));
                    }
                    self.expect("value")?;
                    parameters.push(self.value(0)?);
                    self.end()?;
                }
                self.end()?;
            }
            token => return Err(wrong(format!("{token:?} where <params> is expected"))),
        }
        match self.element()? {
            Token::Eof => Ok(MethodCall { method, parameters }),
            token => Err(wrong(format!("{token:?} after the call"))),
        }
    }

    fn end(&mut self) -> Result<(), Fault> {
        match self.element()? {
            Token::End => Ok(()),
            token => Err(wrong(format!("{token:?} where an element ends"))),
        }
    }

    /// Reads the value after an open `<value>`, including its end.
    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        if depth > MAX_DEPTH {
            return Err(wrong("values are nested too deeply"));
        }
        // A value without a type is a string.
        let mut text = String::new();
        let name = loop {
            match self.token()? {
                Token::Text(part) => text.push_str(&part),
                Token::End => return Ok(Value::String(text)),
                Token::Start(name) if text.trim().is_empty() => break name,
                token => return Err(wrong(format!("{token:?} in a value"))),
            }
        };
        let value = match &*name {
            "string" => Value::String(self.text()?),
            "int" | "i4" => {
                let text = self.text()?;
                let number = text.trim().parse();
                Value::Int(
                    number.map_err(|_| wrong(format!("{text:?} is not a number of 32 bits")))?,
                )
            }
            "double" => {
                let text = self.text()?;
                let number: Result<f64, _> = text.trim().parse();
                let number = number.ok().filter(|number| number.is_finite());
                Value::Double(number.ok_or_else(|| wrong(format!("{text:?} is not a number")))?)
            }
            "boolean" => match self.text()?.trim() {
                "0" => Value::Boolean(false),
                "1" => Value::Boolean(true),
                text => return Err(wrong(format!("{text:?} is neither 0 nor 1"))),
            },
            "array" => self.array(depth)?,
            "struct" => self.members(depth)?,
            // The names with `ex:` are those of Apache's library.
            "i8" | "ex:i8" | "ex:i1" | "ex:i2" => {
                let text = self.text()?;
                let number: Result<i64, _> = text.trim().parse();
                let number =
                    number.map_err(|_| wrong(format!("{text:?} is not a number of 64 bits")))?;
                // No method uses a number of more than 32 bits.
                i32::try_from(number).map_or(Value::Other, Value::Int)
            }
            "dateTime.iso8601" | "base64" => {
                self.text()?;
                Value::Other
            }
            "nil" | "ex:nil" => {
                self.end()?;
                Value::Other
            }
            _ => return Err(wrong(format!("<{name}> is not a type"))),
        };
        self.end()?;
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Result<Value, Fault> {
        self.expect("data")?;
        let mut values = Vec::new();
        while let Token::Start(name) = self.element()? {
            if name != "value" {
                return Err(wrong(format!("<{name}> where <value> is expected")));
            }
            values.push(self.value(depth + 1)?);
        }
        self.end()?;
        Ok(Value::Array(values))
    }

    fn members(&mut self, depth: usize) -> Result<Value, Fault> {
        let mut members = Vec::new();
        let mut names = HashSet::new();
        while let Token::Start(name) = self.element()? {
            if name != "member" {
                return Err(wrong(format!("<{name}> where <member> is expected")));
            }
            self.expect("name")?;
            let name = self.text()?;
            if !names.insert(name.clone()) {
                return Err(wrong(format!("the member {name:?} comes twice")));
            }
            self.expect("value")?;
            members.push((name, self.value(depth + 1)?));
            self.end()?;
        }
        Ok(Value::Struct(members))
    }
}

#[cfg(test)]
mod tests {
    use super::super::value::write_response;
    use super::*;
    use proptest::prelude::*;

    /// A call of one parameter, in XML.
    fn call(value: &str) -> String {
        format!(
            "<?xml version='1.0'?>\n<methodCall>\n<methodName>translate</methodName>\n<params>\n\
             <param>{value}</param>\n</params>\n</methodCall>\n"
        )
    }

    fn parse(value: &str) -> Result<Value, i32> {
        let found = parse_call(call(value).as_bytes());
        found.map(|mut call| call.parameters.remove(0)).map_err(|fault| fault.code)
    }

    #[test]
    fn values_of_all_types() {
        let string = |text: &str| Ok(Value::String(text.into()));
        assert_eq!(parse("<value>  bare </value>"), string("  bare "));
        assert_eq!(
            parse("<value><string>a &lt; &#228;&#xE4;<![CDATA[<b>]]></string></value>"),
            string("a < ää<b>")
        );
        assert_eq!(parse("<value><!-- x --><i4> -5 </i4></value>"), Ok(Value::Int(-5)));
        assert_eq!(parse("<value><boolean>1</boolean></value>"), Ok(Value::Boolean(true)));
        assert_eq!(parse("<value><double>1.5</double></value>"), Ok(Value::Double(1.5)));
        let list = "<value><array><data> <value>a</value><value><int>1</int></value></data></array></value>";
        assert_eq!(parse(list), Ok(Value::Array(vec![Value::String("a".into()), Value::Int(1)])));
        let members =
            "<value><struct><member><name>text</name><value>x</value></member></struct></value>";
        assert_eq!(parse(members).unwrap().member("text"), Some(&Value::String("x".into())));
        assert_eq!(parse("<value><nil></nil></value>"), Ok(Value::Other));
        for empty in ["<value/>", "<value><string/></value>", "<value></value>"] {
            assert_eq!(parse(empty), string(""), "{empty}");
        }
        assert_eq!(parse("<value><nil/></value>"), Ok(Value::Other));
        assert_eq!(parse("<value><ex:nil/></value>"), Ok(Value::Other));
        assert_eq!(parse("<value><i8>2</i8></value>"), Ok(Value::Int(2)));
        assert_eq!(parse("<value><ex:i8> -2 </ex:i8></value>"), Ok(Value::Int(-2)));
        assert_eq!(parse("<value><i8>9999999999</i8></value>"), Ok(Value::Other));
        let empty = "<value><struct><member><name>text</name><value/></member></struct></value>";
        assert_eq!(parse(empty).unwrap().member("text"), Some(&Value::String(String::new())));
        assert_eq!(parse("<value><array><data/></array></value>"), Ok(Value::Array(vec![])));
        let bare = parse_call(b"<methodCall><methodName>m</methodName></methodCall>").unwrap();
        assert_eq!(bare, MethodCall { method: "m".into(), parameters: vec![] });
    }

    #[test]
    fn invalid_calls_are_refused() {
        for wrong in [
            "<value><int>x</int></value>",
            "<value><int>99999999999</int></value>",
            "<value><i8>x</i8></value>",
            "<value><boolean>2</boolean></value>",
            "<value><double>inf</double></value>",
            "<value><string>a<b/></string></value>",
            "<value>&unknown;</value>",
            "<value>&#0;</value>",
            "<value>a<int>1</int></value>",
            "<value><color>red</color></value>",
            "<value><array><data><int>1</int></data></array></value>",
            "<value></wrong>",
            "<value><struct><member><name>a</name><value>1</value></member>\
             <member><name>a</name><value>2</value></member></struct></value>",
        ] {
            assert_eq!(parse(wrong), Err(Fault::PARSE), "{wrong}");
        }
        let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><methodCall/>";
        for wrong in ["", "<a>", "text", bomb, &(call("<value>a</value>") + "<more></more>")] {
            assert_eq!(parse_call(wrong.as_bytes()).unwrap_err().code, Fault::PARSE, "{wrong}");
        }
        assert_eq!(parse_call(b"\xff").unwrap_err().code, Fault::UTF8);
        let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><methodCall><methodName>\xe4</methodName></methodCall>";
        assert_eq!(parse_call(latin).unwrap().method, "\u{e4}");
        let deep = "<value><array><data>".repeat(500);
        assert_eq!(parse(&deep), Err(Fault::PARSE));
        let deep = format!("<methodCall>{}", "<x>".repeat(100_000));
        assert_eq!(parse_call(deep.as_bytes()).unwrap_err().code, Fault::PARSE);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i32>().prop_map(Value::Int),
            any::<bool>().prop_map(Value::Boolean),
            (-1e300..1e300).prop_map(Value::Double),
            "[ -~\n\t\r\u{e4}\u{1f600}&<>]{0,20}".prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 20, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                proptest::collection::btree_map("[a-z&]{0,5}", inner, 0..4)
                    .prop_map(|members| Value::Struct(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// A value that was written in a response is read back unchanged, as a value of a call.
        #[test]
        fn written_values_are_read(value in value()) {
            let document = write_response(&Ok(value.clone()));
            let start = document.find("<value>").unwrap();
            let end = document.rfind("</value>").unwrap() + "</value>".len();
            prop_assert_eq!(parse(&document[start..end]), Ok(value));
        }

        /// A call with some bytes changed is read or refused, in bounded time.
        #[test]
        fn damaged_calls_do_no_harm(
            changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>(), any::<bool>()), 1..8),
        ) {
            let members = "<value><struct><member><name>text</name><value><string>a &amp; b</string></value>\
                           </member><member><name>n</name><value><i4>3</i4></value></member></struct></value>";
            let mut bytes = call(members).into_bytes();
            for (place, byte, removes) in changes {
                let place = place.index(bytes.len());
                if removes {
                    bytes.remove(place);
                } else {
                    bytes[place] = byte;
                }
            }
            if let Err(fault) = parse_call(&bytes) {
                prop_assert!(!fault.reason.is_empty());
            }
        }
    }
}
