//! The log of requests: one JSON object per line, without a word of what was translated.
//!
//! A log that cannot be written, as on a full disk, does not stop the server. Lost lines are
//! counted, and the first one after the log was opened or reopened is reported. If a disk is full,
//! a line may be written in part; the next one that is written begins on a line of its own.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::Method;
use hyper::header::HeaderValue;
use serde_json::json;

use crate::{Error, Result};

/// The properties of a request that are known before it is answered.
pub(crate) struct RequestHead {
    pub id: HeaderValue,
    pub traceparent: Option<HeaderValue>,
    /// The address of the client, where it is known.
    pub client: Option<IpAddr>,
    pub method: Method,
    pub path: String,
    /// The group of protocols, or another part of the server.
    pub group: &'static str,
}

/// The log of a server.
pub(crate) struct AccessLog {
    path: PathBuf,
    target: Mutex<Target>,
    has_failed: AtomicBool,
}

/// The open log.
struct Target {
    /// `None` for standard error.
    file: Option<File>,
    /// Whether its last line was written in part.
    is_torn: bool,
}

impl Target {
    /// Opens the file, or standard error for `-`.
    fn open(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Target { file: None, is_torn: false });
        }
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        // A log that may not be read is taken as whole.
        let is_torn = file.metadata()?.is_file() && ends_inside_line(path).unwrap_or(false);
        Ok(Target { file: Some(file), is_torn })
    }

    /// Writes a line, after the end of a line that was written in part.
    fn write_line(&mut self, line: &str) -> io::Result<()> {
        let begun = if self.is_torn { format!("\n{line}") } else { line.to_owned() };
        let mut rest = begun.as_bytes();
        while !rest.is_empty() {
            let written = match &mut self.file {
                Some(file) => file.write(rest),
                None => io::stderr().write(rest),
            };
            match written {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.is_torn = !rest[..count].ends_with(b"\n");
                    rest = &rest[count..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Whether a file has bytes after its last line end.
fn ends_inside_line(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// A request that was answered or given up.
pub(crate) struct Record<'a> {
    pub head: &'a RequestHead,
    /// The name of its key, if one was needed.
    pub key: Option<&'a str>,
    pub status: u16,
    pub time: Duration,
    /// Bytes of the body of the response.
    pub bytes: u64,
}

impl AccessLog {
    /// Opens the file, or standard error for `-`. Lines are added at its end.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let target =
            Target::open(path).map_err(|error| Error::system(path.display().to_string(), error))?;
        let has_failed = AtomicBool::new(false);
        Ok(AccessLog { path: path.to_owned(), target: Mutex::new(target), has_failed })
    }

    /// Checks that the file can be opened or, if it is missing, that its folder exists. It creates
    /// nothing, because the check may run as another user than the server.
    ///
    /// # Errors
    /// If the file cannot be opened, or the folder is missing.
    pub fn check(path: &Path) -> Result<()> {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let outcome = if path == Path::new("-") {
            Ok(())
        } else if path.exists() {
            OpenOptions::new().append(true).open(path).map(drop)
        } else {
            folder.map_or(Ok(()), |folder| std::fs::metadata(folder).map(drop))
        };
        outcome.map_err(|error| Error::system(path.display().to_string(), error))
    }

    /// Reopens the file, which may have been renamed.
    pub fn reopen(&self) {
        match Target::open(&self.path) {
            Ok(target) => *self.lock() = target,
            Err(error) => tracing::error!("{}: {error}; the old file is kept", self.path.display()),
        }
        self.has_failed.store(false, Ordering::Relaxed);
    }

    /// Writes a line. Returns false if it is lost.
    pub fn write(&self, record: &Record<'_>) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let line = line(record, now);
        let outcome = self.lock().write_line(&line);
        if let Err(error) = &outcome
            && !self.has_failed.swap(true, Ordering::Relaxed)
        {
            tracing::error!("{}: lines are lost: {error}", self.path.display());
        }
        outcome.is_ok()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Target> {
        self.target.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the line of a request that ended `now` after 1970.
fn line(record: &Record<'_>, now: Duration) -> String {
    let head = record.head;
    let traceparent = head.traceparent.as_ref().and_then(|value| value.to_str().ok());
    let mut value = json!({
        "time": now.as_millis() as f64 / 1e3,
        "id": head.id.to_str().unwrap_or_default(),
        "method": head.method.as_str(),
        "path": head.path,
        "api": head.group,
        "status": record.status,
        "ms": record.time.as_micros() as f64 / 1e3,
        "bytes": record.bytes,
    });
    let optional = [
        ("client", head.client.map(|address| address.to_string().into())),
        ("key", record.key.map(Into::into)),
        ("traceparent", traceparent.map(Into::into)),
    ];
    for (name, known) in optional {
        if let Some(known) = known {
            value[name] = known;
        }
    }
    value.to_string() + "\n"
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;
    use std::sync::LazyLock;

    use super::*;

    static HEAD: LazyLock<RequestHead> = LazyLock::new(|| RequestHead {
        id: HeaderValue::from_static("7"),
        traceparent: None,
        client: Some(Ipv6Addr::LOCALHOST.into()),
        method: Method::POST,
        path: "/v1/translate".into(),
        group: "v1",
    });

    fn record() -> Record<'static> {
        Record {
            head: &HEAD,
            key: Some("team"),
            status: 200,
            time: Duration::from_micros(1500),
            bytes: 12,
        }
    }

    #[test]
    fn a_line_is_an_object() {
        let line = line(&record(), Duration::from_millis(1_700_000_000_250));
        let expected = json!({"time": 1_700_000_000.25, "id": "7", "method": "POST",
            "path": "/v1/translate", "api": "v1", "status": 200, "ms": 1.5, "client": "::1", "key": "team",
            "bytes": 12});
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), expected);
        assert!(line.ends_with("}\n"));
    }

    #[test]
    fn a_full_disk_loses_lines_only() {
        let full = Path::new("/dev/full");
        if full.exists() {
            let log = AccessLog::open(full).unwrap();
            assert!(!log.write(&record()) && !log.write(&record()));
        }
        assert!(AccessLog::open(Path::new("/nowhere/log")).is_err());
    }

    /// A full disk may take a part of a line.
    #[test]
    fn a_line_begins_after_a_torn_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let lines = || -> Vec<String> {
            let text = std::fs::read_to_string(&path).unwrap();
            text.lines().map(str::to_owned).collect()
        };
        std::fs::write(&path, "{\"id\":\"1\"}\n{\"id").unwrap();
        let log = AccessLog::open(&path).unwrap();
        assert!(log.write(&record()) && log.write(&record()));
        let found = lines();
        assert_eq!((found.len(), &found[1][..]), (4, "{\"id"));
        log.lock().is_torn = true;
        assert!(log.write(&record()));
        assert_eq!(lines().len(), 6, "an empty line at most");
        log.reopen();
        assert!(log.write(&record()));
        let whole = |line: &&String| line.starts_with('{') && line.ends_with('}');
        assert_eq!(lines().iter().filter(whole).count(), 5);
    }

    #[test]
    fn a_renamed_file_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let [path, old] = ["log", "log.1"].map(|name| folder.path().join(name));
        let log = AccessLog::open(&path).unwrap();
        assert!(log.write(&record()));
        std::fs::rename(&path, &old).unwrap();
        assert!(log.write(&record()));
        log.reopen();
        assert!(log.write(&record()));
        let lines = |path| std::fs::read_to_string(path).unwrap().lines().count();
        assert_eq!((lines(&old), lines(&path)), (2, 1));
    }
}
