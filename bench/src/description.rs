//! Descriptions of what a study measures. A later command compares them to decide whether it may
//! continue the saved results.
//!
//! Files are told apart by their length and time of modification, because reading large models
//! again would take long.

use std::fs::Metadata;
use std::hash::{DefaultHasher, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use miriam_kernels::Cpu;
use serde_json::{Map, Value, json};

use crate::error::{Result, cannot, refused};
use crate::machine;

/// Describes this program, the CPU, and the instructions that kernels use.
///
/// # Errors
/// If the program's file cannot be found.
pub fn describe_program() -> Result<Map<String, Value>> {
    let program = std::env::current_exe().map_err(refused("find this program"))?;
    let mut description = Map::new();
    description.insert("version".into(), env!("CARGO_PKG_VERSION").into());
    description.insert("program".into(), describe_file(&program)?);
    description.insert("machine".into(), machine::cpu_name().into());
    description.insert("instructions".into(), Cpu::describe_detected().to_string().into());
    Ok(description)
}

/// Describes a file by its absolute path, its length and its time of modification, and a folder by
/// the lengths and times of the files directly in it.
///
/// # Errors
/// If it cannot be found, or a folder cannot be listed.
pub fn describe_file(path: &Path) -> Result<Value> {
    fn version(found: &Metadata) -> Value {
        // In seconds since 1970; a number of JSON would lose the nanoseconds.
        let modified = format!("{}.{:09}", found.mtime(), found.mtime_nsec());
        json!({ "bytes": found.len(), "modified": modified })
    }
    let found = path.metadata().map_err(cannot("read this file", path))?;
    let mut description = if found.is_dir() {
        let mut files = Map::new();
        for entry in path.read_dir().map_err(cannot("list this folder", path))? {
            let file = entry.map_err(cannot("list this folder", path))?.path();
            if let Some(found) = file.metadata().ok().filter(Metadata::is_file) {
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                files.insert(name, version(&found));
            }
        }
        json!({ "files": files })
    } else {
        version(&found)
    };
    let absolute = path.canonicalize().unwrap_or_else(|_| path.into());
    description["path"] = json!(absolute.to_string_lossy());
    Ok(description)
}

/// Describes a text that has been read.
pub fn describe_text(text: &[u8]) -> Value {
    let mut hasher = DefaultHasher::new();
    hasher.write(text);
    json!({ "bytes": text.len(), "hash": format!("{:016x}", hasher.finish()) })
}

/// Returns the first difference between two descriptions of `what`, with the keys that lead to it.
/// Files and texts are shown by their paths, not by their times or hashes.
pub fn find_difference(what: &str, saved: &Value, now: &Value) -> Option<String> {
    fn show(value: &Value) -> String {
        match value {
            Value::Null => "missing".into(),
            Value::Object(_) => value.get("path").map_or("present".into(), Value::to_string),
            value => value.to_string(),
        }
    }
    let (before, after) = match (saved, now) {
        _ if saved == now => return None,
        (Value::Object(before), Value::Object(after)) => (before, after),
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            let mut pairs = before.iter().zip(after);
            return pairs.find_map(|(saved, now)| find_difference(what, saved, now));
        }
        _ => return Some(format!("{what}: was {}, is now {}", show(saved), show(now))),
    };
    let [old, new] = [before, after].map(|map| map.get("path"));
    if old != new {
        return Some(format!("{what}: was {}, is now {}", show(saved), show(now)));
    }
    if before.contains_key("bytes") && after.contains_key("bytes") {
        let path = old.map_or_else(String::new, |path| format!(" {path}"));
        return Some(format!("{what}{path} has changed"));
    }
    let added = after.keys().filter(|key| !before.contains_key(*key));
    before.keys().chain(added).find_map(|key| {
        let [saved, now] = [before, after].map(|map| map.get(key).unwrap_or(&Value::Null));
        let what = if what.is_empty() { key.clone() } else { format!("{what} {key}") };
        find_difference(&what, saved, now)
    })
}
