//! Any bytes as a line of links: links that fit, or a reason, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miriam_extract::parse_links;

fuzz_target!(|bytes: &[u8]| {
    let [sources, targets, line @ ..] = bytes else { return };
    let (sources, targets) = (usize::from(*sources), usize::from(*targets));
    let mut links = Vec::new();
    if parse_links(line, sources, targets, &mut links).is_ok() {
        for link in links {
            assert!((link.source as usize) < sources && (link.target as usize) < targets);
        }
    }
});
