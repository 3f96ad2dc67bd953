//! Arbitrary bytes as n-best lists: they give entries, or an error. An entry that is written again
//! has the same text. `cargo +nightly fuzz run n_best` in `base/textio`.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use miriam_textio::n_best::{FeatureScheme, NBestFields, NBestForm, NBestReader};
use miriam_textio::{Input, Lines};

fuzz_target!(|data: &[u8]| {
    for form in [NBestForm::Any, NBestForm::Plain] {
        let size = Some(data.len() as u64);
        let Ok(input) = Input::from_reader(Cursor::new(data.to_vec()), "fuzz", size) else { return };
        let mut reader = NBestReader::from_lines(Lines::new(input), form);
        while let Ok(Some(entries)) = reader.next() {
            let scheme = FeatureScheme::new(entries[0].features());
            for entry in &entries {
                let _ = entry.total();
                let mut values = Vec::new();
                if scheme.parse_values(entry.features(), &mut values).is_ok() {
                    assert_eq!(values.len(), scheme.num_values());
                }
                let mut line = Vec::new();
                entry.fields.push_changed(&entry.line, b"", None, &mut line);
                let again = NBestFields::parse(&line, form).expect("it is an entry");
                assert_eq!(&line[again.text], entry.text());
            }
        }
    }
});
