//! Comma-separated values with quoted fields (RFC 4180).

/// A row of a table.
pub(super) struct Record {
    /// The number of its first line, from 1.
    pub line: usize,
    /// The fields, without quotes and without white space around those that have no quotes.
    pub fields: Vec<String>,
}

/// Parses a table. Blank lines are left out.
///
/// # Errors
/// If a quoted field has no end, or is followed by other text. The message has the line.
pub(super) fn parse(text: &str) -> Result<Vec<Record>, String> {
    let (mut rest, mut line) = (text, 1);
    let mut records = Vec::new();
    while !rest.is_empty() {
        let (fields, after) =
            parse_record(rest).map_err(|reason| format!("line {line}: {reason}"))?;
        let num_lines = rest[..rest.len() - after.len()].matches('\n').count();
        if fields != [""] {
            records.push(Record { line, fields });
        }
        line += num_lines;
        rest = after;
    }
    Ok(records)
}

/// Adds a field to a row, in quotes if it would be read differently without them.
pub(super) fn push_field(row: &mut Vec<u8>, field: &str) {
    if field.trim() == field && !field.contains([',', '"', '\n', '\r']) {
        row.extend_from_slice(field.as_bytes());
        return;
    }
    row.push(b'"');
    row.extend_from_slice(field.replace('"', "\"\"").as_bytes());
    row.push(b'"');
}

/// Returns the fields of the first record of `text`, and the text after it.
fn parse_record(text: &str) -> Result<(Vec<String>, &str), &'static str> {
    let mut fields = Vec::new();
    let mut rest = text;
    loop {
        let (field, after) = parse_field(rest)?;
        fields.push(field);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => return Ok((fields, after.strip_prefix('\n').unwrap_or(after))),
        }
    }
}

/// Returns the first field of `text`, and the text from the comma or the end of the line after it.
fn parse_field(text: &str) -> Result<(String, &str), &'static str> {
    let Some(mut rest) = text.trim_start_matches([' ', '\t']).strip_prefix('"') else {
        let end = text.find([',', '\n']).unwrap_or(text.len());
        return Ok((text[..end].trim().to_owned(), &text[end..]));
    };
    let mut field = String::new();
    loop {
        let end = rest.find('"').ok_or("a quoted field has no closing quote")?;
        field.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        let Some(after) = rest.strip_prefix('"') else { break };
        field.push('"');
        rest = after;
    }
    let rest = rest.trim_start_matches([' ', '\t', '\r']);
    if rest.is_empty() || rest.starts_with([',', '\n']) {
        Ok((field, rest))
    } else {
        Err("text after the closing quote of a field; double the quotes inside a field")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<(usize, Vec<String>)>, String> {
        let records = parse(text)?.into_iter();
        Ok(records.map(|record| (record.line, record.fields)).collect())
    }

    fn row(line: usize, fields: &[&str]) -> (usize, Vec<String>) {
        (line, fields.iter().map(|field| (*field).to_owned()).collect())
    }

    /// The first two tables are the examples of RFC 4180, section 2.
    #[test]
    fn quoted_fields_are_those_of_the_standard() {
        let text = "\"aaa\",\"b\r\nbb\",\"ccc\"\r\nzzz,yyy,xxx\r\n";
        let expected = [row(1, &["aaa", "b\r\nbb", "ccc"]), row(3, &["zzz", "yyy", "xxx"])];
        assert_eq!(rows(text).unwrap(), expected);
        assert_eq!(
            rows("\"aaa\",\"b\"\"bb\",\"ccc\"").unwrap(),
            [row(1, &["aaa", "b\"bb", "ccc"])]
        );
        let text = "\n, de , \" a,b \" ,x\"y\n \r\n1,,\"\"\n";
        let expected = [row(2, &["", "de", " a,b ", "x\"y"]), row(4, &["1", "", ""])];
        assert_eq!(rows(text).unwrap(), expected);
        assert!(rows("").unwrap().is_empty());
        for (text, line) in [("a\n\"b", 2), ("a\n\"b\"c,d\n", 2), ("\"a\n\"\n\"", 3)] {
            let error = rows(text).unwrap_err();
            assert!(error.starts_with(&format!("line {line}: ")), "{error}");
        }
    }

    #[test]
    fn fields_are_read_as_they_were_written() {
        let fields = ["", "de", "a,b", " a", "a ", "\u{a0}a", "\"", "\"a\",", "a\nb\r\nc", "x\"y"];
        let mut table = Vec::new();
        for field in fields {
            push_field(&mut table, field);
            table.push(b',');
        }
        table.extend_from_slice(b"end\n");
        let text = String::from_utf8(table).unwrap();
        assert!(text.starts_with(",de,\"a,b\",\" a\","), "{text}");
        let expected: Vec<&str> = fields.iter().copied().chain(["end"]).collect();
        assert_eq!(rows(&text).unwrap(), [row(1, &expected)]);
    }
}
