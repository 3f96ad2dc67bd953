//! Modules of every crate import downwards: within a folder, no module imports a module that
//! imports it, directly or through others. Only the import cycles (circles) that are listed here
//! are allowed.
//!
//! An import through re-exports counts as an import of the module to which they lead. A module and
//! the modules in its folder count as one module for the other modules beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::project_root;

/// Circles that stay, each for the reason in `docs/architecture.md`: crate, folder, modules.
const KEPT_CIRCLES: &[(&str, &str, &[&str])] = &[
    ("base/gpu", "", &["device", "memory"]),
    ("base/kernels", "", &["isa", "pack"]),
    ("base/textproc", "", &["html", "segment"]),
    ("decoder", "config", &["supported_parameters", "unsupported_options"]),
    (
        "decoder",
        "features",
        &[
            "distortion",
            "expansion_feature",
            "feature_set",
            "language_model",
            "lexical_reordering",
            "operation_sequence_model",
            "phrase_feature",
            "phrase_table",
            "stateful_feature",
            "unknown_word_penalty",
            "word_penalty",
        ],
    ),
    ("glm", "device", &["model", "workspace"]),
    ("lmcpu", "", &["kenlm", "open", "open_source", "probing", "sorted", "trie"]),
    ("trainer", "training", &["asynchronous", "run", "simulated", "start", "updater"]),
];

/// The modules of `nmt` in layers, the lowest first: first the search, then requests. Each imports
/// its own layer and those below. Models and networks are crates of their own.
const NMT_LAYERS: &[&[&str]] = &[&["batch", "search"], &["score", "translate"]];

/// A path to a module from the root of its crate.
type ModulePath = Vec<String>;

/// The modules of a crate, by path, each with its code.
type Modules = BTreeMap<ModulePath, String>;

/// Circles, each with the folder of its modules and the names of its modules.
type Circles = BTreeSet<(String, Vec<String>)>;

/// Returns the name of each crate's folder, and the path of its sources.
fn crate_folders() -> Vec<(String, PathBuf)> {
    let root = project_root();
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let (_, members) = manifest.split_once("members = [").unwrap();
    let (members, _) = members.split_once(']').unwrap();
    let folders = members.split(',').map(|name| name.trim().trim_matches('"').to_owned());
    let folders = folders.filter(|name| !name.is_empty());
    folders.map(|name| (name.clone(), root.join(&name).join("src"))).collect()
}

/// Reads the modules under `folder`, whose path in the crate is `at`; modules of tests and programs
/// in `bin` are left out.
fn read_modules(folder: &Path, at: &[String], modules: &mut Modules) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let inside = [at, std::slice::from_ref(&name)].concat();
        if matches!(&*name, "tests" | "testing" | "test_support" | "bin") {
            continue;
        } else if path.is_dir() {
            read_modules(&path, &inside, modules);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let is_folder = matches!(&*name, "lib" | "main" | "mod");
            let code = strip_comments_and_tests(&fs::read_to_string(&path).unwrap());
            modules
                .entry(if is_folder { at.to_owned() } else { inside })
                .or_default()
                .push_str(&code);
        }
    }
}

/// Returns the code of a file before its tests, without comments.
fn strip_comments_and_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = code.lines().map(|line| line.split("//").next().unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the paths that begin at `code`, one for each item of its groups.
fn expand_path(code: &str) -> Vec<Vec<String>> {
    let code = code.trim_start();
    if let Some(group) = code.strip_prefix('{') {
        let (mut depth, mut start, mut paths) = (0, 0, Vec::new());
        for (at, letter) in group.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    paths.extend(expand_path(&group[start..at]));
                    start = at + 1;
                    if letter == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
        return paths;
    }
    let end = code.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len());
    let (name, rest) = code.split_at(end);
    if name.is_empty() {
        return vec![Vec::new()];
    }
    let rest = rest.trim_start().strip_prefix("::").map_or(vec![Vec::new()], expand_path);
    rest.into_iter().map(|path| [vec![name.to_owned()], path].concat()).collect()
}

/// Returns the path from the root of the crate for `path`, which the code of `module` uses.
fn absolute_path(module: &[String], path: &[String]) -> ModulePath {
    let supers = path.iter().take_while(|name| *name == "super").count();
    let base = &module[..module.len().saturating_sub(supers)];
    match path.first().map(String::as_str) {
        Some("crate") => path[1..].to_vec(),
        Some("self") => [module, &path[1..]].concat(),
        Some("super") => [base, &path[supers..]].concat(),
        _ => [module, path].concat(),
    }
}

/// Returns the code after each `keyword` that is a word of its own.
fn after_each<'c>(code: &'c str, keyword: &'static str) -> impl Iterator<Item = &'c str> {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let starts = code.match_indices(keyword).map(|(at, _)| at);
    starts
        .filter(move |&at| !code[..at].ends_with(is_inside))
        .map(move |at| &code[at + keyword.len()..])
}

/// Returns, for each module, the names that it re-exports, each with its path.
fn re_exports(modules: &Modules) -> BTreeMap<ModulePath, BTreeMap<String, ModulePath>> {
    let mut exports = BTreeMap::new();
    for (module, code) in modules {
        let mut names = BTreeMap::new();
        for keyword in ["pub use ", "pub(crate) use ", "pub(super) use "] {
            for statement in after_each(code, keyword) {
                for path in expand_path(statement) {
                    let path = absolute_path(module, &path);
                    names.extend(path.last().cloned().map(|name| (name, path)));
                }
            }
        }
        exports.insert(module.clone(), names);
    }
    exports
}

/// Returns the modules that each module imports.
fn imports(modules: &Modules) -> BTreeMap<ModulePath, BTreeSet<ModulePath>> {
    let exports = re_exports(modules);
    let resolve = |mut path: ModulePath| -> ModulePath {
        // Chains of re-exports are short; a longer one would be a cycle of re-exports.
        for _ in 0..8 {
            let known = (0..=path.len()).rev().find(|&n| modules.contains_key(&path[..n]));
            let known = known.unwrap_or(0);
            let exported = exports.get(&path[..known]);
            let target = path.get(known).and_then(|name| exported?.get(name));
            match target {
                Some(target) if target[..] != path[..known + 1] => {
                    path = [&target[..], &path[known + 1..]].concat();
                }
                _ => return path[..known].to_vec(),
            }
        }
        path
    };
    let mut imports = BTreeMap::new();
    for (module, code) in modules {
        let mut imported = BTreeSet::new();
        for keyword in ["crate::", "super::", "self::"] {
            for rest in after_each(code, keyword) {
                let start = keyword.trim_end_matches(':').to_owned();
                for path in expand_path(rest) {
                    imported.insert(resolve(absolute_path(
                        module,
                        &[vec![start.clone()], path].concat(),
                    )));
                }
            }
        }
        for rest in after_each(code, "use ") {
            for path in expand_path(rest) {
                // Other paths begin at a module inside of this one, or are of another crate.
                let path = absolute_path(module, &path);
                if path.get(..module.len() + 1).is_some_and(|start| modules.contains_key(start)) {
                    imported.insert(resolve(path));
                }
            }
        }
        imports.insert(module.clone(), imported);
    }
    imports
}

/// Returns all circles among the modules of a folder.
fn find_circles(modules: &Modules) -> Circles {
    let imports = imports(modules);
    let folders: BTreeSet<&[String]> =
        modules.keys().filter_map(|module| module.split_last()).map(|(_, folder)| folder).collect();
    let mut circles = Circles::new();
    for folder in folders {
        let mut reached: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
        for (module, imported) in &imports {
            let Some(own) = module.strip_prefix(folder).and_then(<[_]>::first) else { continue };
            let others = imported.iter().filter_map(|path| path.strip_prefix(folder)?.first());
            reached.entry(own).or_default().extend(others.filter(|other| *other != own));
        }
        // Adds the modules that are imported through others.
        loop {
            let before: usize = reached.values().map(BTreeSet::len).sum();
            for module in reached.keys().copied().collect::<Vec<_>>() {
                let further: BTreeSet<&String> =
                    reached[module].iter().flat_map(|other| reached[other].clone()).collect();
                reached.get_mut(module).unwrap().extend(further);
            }
            if reached.values().map(BTreeSet::len).sum::<usize>() == before {
                break;
            }
        }
        for (module, others) in reached.iter().filter(|(module, others)| others.contains(*module)) {
            let circle = others.iter().filter(|other| reached[**other].contains(module));
            circles.insert((folder.join("/"), circle.map(|other| (*other).clone()).collect()));
        }
    }
    circles
}

#[test]
fn modules_import_downwards() {
    let mut complaints = Vec::new();
    let mut known: BTreeSet<_> = KEPT_CIRCLES.iter().collect();
    for (name, source) in crate_folders() {
        let mut modules = Modules::new();
        read_modules(&source, &[], &mut modules);
        assert!(!modules.is_empty(), "{}", source.display());
        let mut circles = find_circles(&modules);
        circles.retain(|(folder, circle)| {
            let is_kept = |kept: &&(&str, &str, &[&str])| {
                kept.0 == name && kept.1 == folder && kept.2 == circle
            };
            let kept = KEPT_CIRCLES.iter().find(is_kept);
            kept.is_none_or(|kept| !known.remove(kept))
        });
        if !circles.is_empty() {
            complaints.push(format!("{name}: modules import each other: {circles:#?}"));
        }
    }
    complaints.extend(known.iter().map(|(name, folder, circle)| {
        format!("{name}: {folder} {circle:?} is not a circle any more; remove it from the list")
    }));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn layers_of_nmt_import_downwards() {
    let mut modules = Modules::new();
    read_modules(&project_root().join("nmt/src"), &[], &mut modules);
    let layer = |name: &String| {
        let found = NMT_LAYERS.iter().position(|layer| layer.contains(&name.as_str()));
        found.unwrap_or_else(|| panic!("nmt/src: {name} is in no layer; add it to the list"))
    };
    let mut complaints = BTreeSet::new();
    for (module, imported) in &imports(&modules) {
        let Some(own) = module.first() else { continue };
        let imported = imported.iter().filter_map(|path| path.first());
        let above = imported.filter(|other| layer(other) > layer(own));
        complaints.extend(above.map(|other| format!("{own} imports {other} of a layer above")));
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
    let known = NMT_LAYERS.iter().copied().flatten();
    let gone: Vec<_> =
        known.filter(|name| !modules.contains_key(&[(**name).to_owned()][..])).collect();
    assert!(gone.is_empty(), "modules of nmt that are not there: {gone:?}");
}

#[test]
fn circles_are_found() {
    let circles = |files: &[(&str, &str)]| {
        let path = |name: &str| -> ModulePath {
            name.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        let files = files.iter().map(|(name, code)| (path(name), (*code).to_owned()));
        find_circles(&files.collect())
    };
    let circle = |folder: &str, modules: &[&str]| {
        (folder.to_owned(), modules.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    };
    let downwards = [
        ("", "mod a; mod b; mod c; pub use c::Error;"),
        ("a", "use crate::b::B; use crate::Error;"),
        ("b", "use super::c::C;"),
        ("c", "use std::fmt;"),
    ];
    assert_eq!(circles(&downwards), Circles::new());
    let mut through_root = downwards;
    through_root[3].1 = "fn f() -> crate::a::A {}";
    assert_eq!(circles(&through_root), [circle("", &["a", "b", "c"])].into());
    // In a folder, through a re-export of its module, and by a group.
    let inside = [
        ("", "mod a; mod d;"),
        ("a", "mod b; mod c; pub(crate) use c::{C, x::Y};"),
        ("a/b", "use super::{Y, other};"),
        ("a/c", "use crate::{d, a::{b::B}};"),
        ("d", ""),
    ];
    assert_eq!(circles(&inside), [circle("a", &["b", "c"])].into());
}
