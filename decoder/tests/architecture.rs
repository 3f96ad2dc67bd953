//! The modules of the decoder form layers: no top-level module imports another that
//! imports it, directly or through others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The top-level modules that each top-level module imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// All Rust files under `folder`.
fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The code of a file before its tests, without comments.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = code.lines().map(|line| line.split("//").next().unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

/// The first segments of the paths that begin with `crate::`, groups included.
fn crate_paths(code: &str) -> BTreeSet<String> {
    let identifier = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut paths = BTreeSet::new();
    for (at, prefix) in code.match_indices("crate::") {
        let rest = &code[at + prefix.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            paths.insert(identifier(rest));
            continue;
        };
        // The items of the group that are not nested deeper.
        let (mut depth, mut item) = (0, String::new());
        for letter in group.chars() {
            match letter {
                '}' if depth == 0 => break,
                ',' if depth == 0 => paths.extend([identifier(&std::mem::take(&mut item))]),
                '{' => depth += 1,
                '}' => depth -= 1,
                _ if depth == 0 => item.push(letter),
                _ => {}
            }
        }
        paths.insert(identifier(&item));
    }
    paths.remove("");
    paths
}

/// The names that `lib.rs` re-exports, each with its module.
fn re_exports(lib: &str) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for statement in code(lib).split(';') {
        let Some((_, path)) = statement.split_once("pub use ") else { continue };
        let (module, items) = path.split_once("::").unwrap();
        for name in items.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            names.insert(name.to_owned(), module.trim().to_owned());
        }
    }
    names
}

fn imports(source: &Path) -> Imports {
    let mut files = Vec::new();
    rust_files(source, &mut files);
    files.retain(|path| path.file_stem().is_none_or(|name| name != "tests"));
    let lib = fs::read_to_string(source.join("lib.rs")).unwrap();
    let names = re_exports(&lib);
    let mut modules: Imports = BTreeMap::new();
    for path in files {
        let relative = path.strip_prefix(source).unwrap();
        let module = relative.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let own = modules.entry(module.to_owned()).or_default();
        for name in crate_paths(&code(&fs::read_to_string(&path).unwrap())) {
            own.insert(names.get(&name).cloned().unwrap_or(name));
        }
        own.remove(module);
    }
    modules
}

/// Modules that import each other, in order, if there are any: the first again last.
fn find_cycle(imports: &Imports) -> Option<Vec<String>> {
    fn visit(
        imports: &Imports,
        module: &str,
        path: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Option<Vec<String>> {
        if let Some(first) = path.iter().position(|other| other == module) {
            return Some([&path[first..], &[module.to_owned()]].concat());
        }
        if !done.insert(module.to_owned()) {
            return None;
        }
        path.push(module.to_owned());
        let imported = imports.get(module).into_iter().flatten();
        let cycle = imported.into_iter().find_map(|other| visit(imports, other, path, done));
        path.pop();
        cycle
    }
    let mut done = BTreeSet::new();
    imports.keys().find_map(|module| visit(imports, module, &mut Vec::new(), &mut done))
}

#[test]
fn modules_do_not_import_each_other_in_circles() {
    let imports = imports(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let known: BTreeSet<&String> = imports.keys().collect();
    for (module, imported) in &imports {
        for other in imported {
            assert!(known.contains(other), "{module} imports {other}, which is no module");
        }
    }
    assert!(imports["search"].contains("features"), "imports are found: {imports:?}");
    if let Some(cycle) = find_cycle(&imports) {
        panic!("modules import each other: {}", cycle.join(" -> "));
    }
}

#[test]
fn cycles_are_found() {
    let imports = |pairs: &[(&str, &[&str])]| -> Imports {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        pairs.iter().map(|(module, others)| ((*module).to_owned(), owned(others))).collect()
    };
    assert_eq!(find_cycle(&imports(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])), None);
    let circle = imports(&[("a", &["b"]), ("b", &["c"]), ("c", &["d", "b"]), ("d", &[])]);
    assert_eq!(find_cycle(&circle).unwrap(), ["b", "c", "b"]);
    let code = "use crate::{Error, options::{A, B}, plan::P};\nlet x = crate::span::Span;";
    let paths: Vec<String> = crate_paths(code).into_iter().collect();
    assert_eq!(paths, ["Error", "options", "plan", "span"]);
}
