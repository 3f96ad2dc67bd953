//! Strings as YAML scalars, for configurations that this program and Marian read.

/// Returns a string as a YAML scalar, quoted unless all of its characters are harmless. Words such
/// as `no` and `1.0` are not quoted, because both programs read them as strings.
pub fn yaml_scalar(text: &str) -> String {
    let begins_plainly = text.starts_with(|c: char| c.is_ascii_alphanumeric() || "./_".contains(c));
    if begins_plainly
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/+=@,".contains(&byte))
    {
        return text.to_owned();
    }
    // JSON strings are YAML strings.
    serde_json::to_string(text).expect("a string can be written as JSON")
}

#[cfg(test)]
mod tests {
    use super::*;
    use miriam_nmt::yaml::Value;

    #[test]
    fn names_of_files_are_read_back() {
        assert_eq!(yaml_scalar("model.npz.best-bleu.npz"), "model.npz.best-bleu.npz");
        assert_eq!(yaml_scalar("a\"b\\"), "\"a\\\"b\\\\\"");
        for name in ["a b #c", "a: b", "- a", "\"a\"", "a\tb", "[a]", "über", "*x", "/a/b.npz"] {
            let text = format!("vocabs:\n  - {}\n", yaml_scalar(name));
            let value = Value::parse(text.as_bytes(), "test").unwrap();
            let found = value.get("vocabs").unwrap().items()[0].as_str().map(str::to_owned);
            assert_eq!(found.as_deref(), Some(name));
        }
    }
}
