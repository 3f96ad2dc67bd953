//! Keys: who may translate, and how much per minute.
//!
//! The file has the SHA-256 of each key, so that it reveals no key. Digests are compared, not
//! keys, so the time of a comparison does not help anybody to guess a key.

use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// The keys of a file.
#[derive(Default)]
pub(crate) struct Keys {
    by_digest: HashMap<[u8; 32], Key>,
}

/// A key of the file.
pub(crate) struct Key {
    pub name: String,
    requests_per_minute: Option<u64>,
    characters_per_minute: Option<u64>,
    /// Whether it belongs to an administrator.
    pub is_admin: bool,
    /// Shared with the entry of the same key in the next reading of the file.
    used: Arc<Mutex<Minute>>,
}

/// The usage since a minute began.
struct Minute {
    began: Instant,
    requests: u64,
    characters: u64,
}

/// The reason for the rejection of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyError {
    /// It is missing or not known.
    Unknown,
    /// It is over its quota; the time after which to retry.
    TooMuch(Duration),
    /// A request has more characters than the key may translate in a minute, which is this number.
    TooLarge(u64),
}

/// Returns a new key, with 192 bits from the system's source of random numbers, and its line for
/// the file of keys.
///
/// # Errors
/// If the name is empty, begins with `#` or has white space, or the system gives no random numbers.
pub fn make_key(name: &str) -> Result<(String, String)> {
    let is_word = !name.is_empty() && !name.starts_with('#') && !name.contains(char::is_whitespace);
    if !is_word {
        let reason = format!("{name:?}: the name of a key is one word");
        return Err(Error::Usage { reason });
    }
    let mut random = [0; 24];
    getrandom::fill(&mut random)
        .map_err(|error| Error::system("random numbers", std::io::Error::other(error)))?;
    let key = format!("miriam-{}", to_hex(&random));
    let line = format!("{} {name}", to_hex(&Sha256::digest(key.as_bytes())));
    Ok((key, line))
}

/// Parses a line: the digest of a key and the key; `None` for a comment or an empty line.
fn parse_line(line: &str) -> Result<Option<([u8; 32], Key)>, &'static str> {
    let mut words = line.split_whitespace();
    let Some(digest) = words.next().filter(|word| !word.starts_with('#')) else { return Ok(None) };
    let digest = from_hex(digest).ok_or("expected the SHA-256 of a key in 64 hex digits")?;
    let name = words.next().ok_or("the key has no name")?.to_owned();
    let used = Minute { began: Instant::now(), requests: 0, characters: 0 };
    let mut key = Key {
        name,
        requests_per_minute: None,
        characters_per_minute: None,
        is_admin: false,
        used: Arc::new(Mutex::new(used)),
    };
    for word in words {
        match word.split_once('=') {
            Some(("rpm", text)) if key.requests_per_minute.is_none() => {
                key.requests_per_minute = Some(parse_number(text)?);
            }
            Some(("cpm", text)) if key.characters_per_minute.is_none() => {
                key.characters_per_minute = Some(parse_number(text)?);
            }
            None if word == "admin" => key.is_admin = true,
            _ => return Err("expected rpm=N, cpm=N or admin after the name, each once"),
        }
    }
    Ok(Some((digest, key)))
}

fn parse_number<N: FromStr>(text: &str) -> Result<N, &'static str> {
    text.parse().map_err(|_| "not a number")
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Keys {
    /// Reads a file of lines `SHA256-IN-HEX NAME [rpm=N] [cpm=N] [admin]`. Lines that begin with
    /// `#` are comments.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::configuration(path, error.to_string()))?;
        let keys = Keys::parse(&text).map_err(|(line, reason)| Error::Configuration {
            place: format!("{}, line {line}", path.display()),
            reason,
        })?;
        if keys.by_digest.is_empty() {
            tracing::warn!("{}: the file has no key, so requests are refused", path.display());
        }
        Ok(keys)
    }

    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut keys = Keys::default();
        let mut lines = HashMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let parsed = parse_line(line).map_err(|reason| (number, reason.to_owned()))?;
            let Some((digest, key)) = parsed else { continue };
            // The lines may have different limits, of which only one would hold.
            if let Some(first) = lines.insert(digest, number) {
                let reason = format!("the key is also on line {first}; remove one of the lines");
                return Err((number, reason));
            }
            keys.by_digest.insert(digest, key);
        }
        Ok(keys)
    }

    /// Continues the minutes of the keys of an earlier reading of the file. Requests that still use
    /// that reading count here too.
    pub fn continue_minutes(&mut self, before: &Keys) {
        for (digest, key) in &mut self.by_digest {
            if let Some(old) = before.by_digest.get(digest) {
                key.used = Arc::clone(&old.used);
            }
        }
    }

    /// Returns the entry of a key.
    pub fn find(&self, key: Option<&str>) -> Result<&Key, KeyError> {
        let digest: [u8; 32] = Sha256::digest(key.unwrap_or_default().as_bytes()).into();
        self.by_digest.get(&digest).ok_or(KeyError::Unknown)
    }
}

impl Key {
    /// Counts a request of `characters` unless it exceeds the quota.
    pub fn count(&self, characters: usize) -> Result<(), KeyError> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let minute = Duration::from_secs(60);
        if used.began.elapsed() >= minute {
            *used = Minute { began: Instant::now(), requests: 0, characters: 0 };
        }
        fn is_over(used: u64, limit: Option<u64>) -> bool {
            limit.is_some_and(|limit| used > limit)
        }
        if let Some(limit) = self.characters_per_minute
            && characters as u64 > limit
        {
            return Err(KeyError::TooLarge(limit));
        }
        let (requests, total) = (used.requests + 1, used.characters + characters as u64);
        if is_over(requests, self.requests_per_minute) || is_over(total, self.characters_per_minute)
        {
            return Err(KeyError::TooMuch(minute.saturating_sub(used.began.elapsed())));
        }
        (used.requests, used.characters) = (requests, total);
        Ok(())
    }
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|letter| letter.to_digit(16).map(|digit| digit as u8)).collect();
    let bytes: Vec<u8> =
        digits?.chunks(2).map(|pair| pair[0] << 4 | pair[pair.len() - 1]).collect();
    (text.len() == 64).then(|| bytes.try_into().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf secret | sha256sum`.
    const SECRET: &str = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";

    fn count(keys: &Keys, key: Option<&str>, characters: usize) -> Result<(), KeyError> {
        keys.find(key)?.count(characters)
    }

    fn is_admin(keys: &Keys, key: &str) -> Option<bool> {
        keys.find(Some(key)).ok().map(|key| key.is_admin)
    }

    #[test]
    fn known_keys_admit_requests_up_to_their_quota() {
        let keys = Keys::parse(&format!("# who\n\n{SECRET} somebody rpm=2 cpm=100 admin\n"));
        let keys = keys.unwrap_or_else(|(line, reason)| panic!("{line}: {reason}"));
        assert_eq!(count(&keys, None, 1), Err(KeyError::Unknown));
        assert_eq!(count(&keys, Some("secret2"), 1), Err(KeyError::Unknown));
        assert_eq!(count(&keys, Some("secret"), 101), Err(KeyError::TooLarge(100)), "never fits");
        assert_eq!(count(&keys, Some("secret"), 99), Ok(()));
        assert!(matches!(count(&keys, Some("secret"), 2), Err(KeyError::TooMuch(_))));
        assert_eq!(count(&keys, Some("secret"), 1), Ok(()));
        assert!(matches!(count(&keys, Some("secret"), 0), Err(KeyError::TooMuch(_))));
        assert_eq!(is_admin(&keys, "secret"), Some(true));
        let plain = Keys::parse(&format!("{SECRET} somebody")).unwrap_or_default();
        assert_eq!(is_admin(&plain, "secret"), Some(false));
    }

    #[test]
    fn a_new_reading_keeps_what_a_key_has_used() {
        let other = to_hex(&Sha256::digest(b"other"));
        let before = Keys::parse(&format!("{SECRET} a rpm=3\n")).unwrap_or_default();
        assert_eq!(count(&before, Some("secret"), 1), Ok(()));
        let text = format!("{other} b rpm=1\n{SECRET} renamed rpm=2\n");
        let mut after = Keys::parse(&text).unwrap_or_default();
        after.continue_minutes(&before);
        assert_eq!(count(&after, Some("secret"), 1), Ok(()));
        assert!(matches!(count(&after, Some("secret"), 1), Err(KeyError::TooMuch(_))));
        assert_eq!(count(&after, Some("other"), 1), Ok(()));
        // A request that began before the reload counts too.
        assert_eq!(count(&before, Some("secret"), 1), Ok(()));
        assert!(matches!(count(&before, Some("secret"), 1), Err(KeyError::TooMuch(_))));
    }

    #[test]
    fn new_keys_are_accepted_and_differ() {
        let (key, line) = make_key("somebody").unwrap();
        assert_eq!(key.len(), "miriam-".len() + 48);
        assert!(!line.contains(&key) && line.ends_with(" somebody"), "{line}");
        let keys = Keys::parse(&line).unwrap_or_default();
        assert_eq!(count(&keys, Some(&key), 1), Ok(()));
        assert_eq!(is_admin(&keys, &key), Some(false));
        assert_ne!(make_key("somebody").unwrap().0, key);
        for wrong in ["", "two words", "#a", "a\nb"] {
            assert!(make_key(wrong).is_err(), "{wrong}");
        }
        assert_eq!(to_hex(&Sha256::digest(b"secret")), SECRET);
    }

    #[test]
    fn files_of_keys_are_checked() {
        for (text, line) in [
            ("x name", 1),
            ("\nabcd name", 2),
            (SECRET, 1),
            (&*format!("{SECRET} a rpm=x"), 1),
            (&*format!("{SECRET} a super"), 1),
            (&*format!("{SECRET} a rpm=1 cpm=1 rpm=2"), 1),
            (&*format!("{SECRET} a cpm=1 cpm=1"), 1),
            (&*format!("{SECRET} a rpm=1\n# again\n{SECRET} a"), 3),
            (&*format!("{SECRET} a\n{} b admin", SECRET.to_uppercase()), 2),
        ] {
            assert_eq!(Keys::parse(text).err().map(|(line, _)| line), Some(line), "{text}");
        }
    }
}
