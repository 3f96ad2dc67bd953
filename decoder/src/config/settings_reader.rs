//! Reading of single options as values.

use std::path::Path;
use std::time::Duration;

use miriam_textio::parse_truth_word;

use super::{Parameters, cpu_affinity};
use crate::Result;

/// Reads single values, with errors that name the parameter.
pub(super) struct SettingsReader<'a> {
    pub(super) ini: &'a Path,
    pub(super) parameters: &'a Parameters,
}

impl SettingsReader<'_> {
    pub(super) fn fail<T>(&self, name: &str, reason: impl Into<String>) -> Result<T> {
        Err(self.parameters.invalid_value(self.ini, name, reason))
    }

    /// Reads a single value. Several on the command line are an error. If an ini has several, the
    /// first one counts, as in Moses.
    pub(super) fn value(&self, name: &str) -> Result<Option<&str>> {
        match self.parameters.get(name) {
            None => Ok(None),
            Some([value]) => Ok(Some(value)),
            Some([]) => self.fail(name, "needs a value"),
            Some([first, rest @ ..]) => {
                let count = self.parameters.num_overridden(name);
                if count > 1 {
                    return self.fail(name, format!("takes one value, not {count}"));
                }
                tracing::warn!(
                    "{}, [{name}]: takes one value; the first, {first:?}, is used, {} more ignored",
                    self.ini.display(),
                    rest.len()
                );
                Ok(Some(first))
            }
        }
    }

    /// Returns all values, split at blanks.
    pub(super) fn split_values(&self, name: &str) -> Option<Vec<String>> {
        let values = self.parameters.get(name)?;
        let words = values.iter().flat_map(|value| value.split_ascii_whitespace());
        Some(words.map(str::to_owned).collect())
    }

    /// Reads `cpus`, or else Moses2's offset and increment.
    pub(super) fn read_cpus(&self, threads: usize) -> Result<Vec<usize>> {
        if let Some(list) = self.value("cpus")? {
            return cpu_affinity::parse_cpu_list(list).or_else(|reason| self.fail("cpus", reason));
        }
        let offset = self.integer("cpu-affinity-offset", -1)?;
        let increment = self.integer("cpu-affinity-increment", 1)?;
        if offset < 0 {
            return Ok(Vec::new());
        }
        match miriam_textio::affinity::allowed_cpus() {
            Ok(allowed) => {
                Ok(cpu_affinity::assign_round_robin(offset, increment, threads, &allowed))
            }
            Err(reason) => self.fail("cpu-affinity-offset", reason.to_string()),
        }
    }

    pub(super) fn integer(&self, name: &str, default: i64) -> Result<i64> {
        match self.value(name)? {
            None => Ok(default),
            Some(text) => match text.parse() {
                Ok(n) => Ok(n),
                Err(_) => self.fail(name, format!("{text:?} is not a whole number")),
            },
        }
    }

    pub(super) fn count(&self, name: &str, default: usize) -> Result<usize> {
        match usize::try_from(self.integer(name, default as i64)?) {
            Ok(n) => Ok(n),
            Err(_) => self.fail(name, "takes a number that is not negative"),
        }
    }

    /// Reads `timeout-ms`, or Moses 1's options in seconds, whose 0 and -1 mean no limit.
    pub(super) fn time_limit(&self) -> Result<Option<Duration>> {
        if self.value("timeout-ms")?.is_some() {
            return match self.integer("timeout-ms", 0)? {
                limit @ 1.. => Ok(Some(Duration::from_millis(limit.unsigned_abs()))),
                _ => self.fail("timeout-ms", "give a number of milliseconds from 1 on"),
            };
        }
        if self.value("time-out")?.is_some_and(|text| !matches!(text, "0" | "-1")) {
            tracing::warn!("time-out limits each sentence, not the run");
        }
        let seconds = self.integer("segment-time-out", self.integer("time-out", 0)?)?;
        Ok(u64::try_from(seconds).ok().filter(|&s| s > 0).map(Duration::from_secs))
    }

    pub(super) fn number(&self, name: &str, default: f32) -> Result<f32> {
        match self.value(name)? {
            None => Ok(default),
            Some(text) => match text.parse() {
                Ok(n) => Ok(n),
                Err(_) => self.fail(name, format!("{text:?} is not a number")),
            },
        }
    }

    /// Reads a truth value (`docs/spec/phrase-decoding.md` 1.3): `default` if the parameter is
    /// absent, true if it has no value.
    pub(super) fn boolean(&self, name: &str, default: bool) -> Result<bool> {
        if self.parameters.get(name).is_some_and(<[String]>::is_empty) {
            return Ok(true);
        }
        match self.value(name)? {
            None => Ok(default),
            Some(value) => match parse_truth_word(value) {
                Some(value) => Ok(value),
                None => self.fail(name, format!("{value:?} is neither true nor false")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_several_values_of_an_ini_counts() {
        let mut parameters = Parameters::default();
        for (name, values) in [("distortion-limit", ["3", "6"]), ("mark-unknown", ["0", "1"])] {
            parameters.values_mut(name).extend(values.map(str::to_owned));
        }
        let integer = |parameters: &Parameters| {
            SettingsReader { ini: Path::new("moses.ini"), parameters }
                .integer("distortion-limit", -1)
        };
        assert_eq!(integer(&parameters).unwrap(), 3);
        let reader = SettingsReader { ini: Path::new("moses.ini"), parameters: &parameters };
        assert!(!reader.boolean("mark-unknown", true).unwrap());
        // One value of the command line replaces the first one of the ini.
        parameters.mark_overridden("distortion-limit", 1);
        assert_eq!(integer(&parameters).unwrap(), 3);
        parameters.mark_overridden("distortion-limit", 2);
        let message = integer(&parameters).unwrap_err().to_string();
        assert!(message.contains("-distortion-limit: takes one value, not 2"), "{message}");
    }
}
