//! Tests that references resolve: sections of `docs/spec` that sources cite, relative links of
//! pages and their anchors, and paths that pages name.
//!
//! A citation is the name of a page with numbers after it (`PAGE.md 3.8`,
//! `PAGE.md 2.1, 2.4`, `PAGE.md 3.8 to 3.10`, `PAGE.md 8, T11`, `PAGE.md Appendix A`),
//! with or without backticks, possibly across lines of a comment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::common::{
    files_with_extensions, lossy_text, project_root, read_decompressed, tracked_files,
};

const CITING: &[&str] = &["rs", "md", "py", "cu", "cuh"];

/// Extensions of files of the repository. Pages name other files too, but those are
/// users' files.
const OWN_FILES: &[&str] = &["rs", "md", "py", "cu", "cuh", "toml", "svg", "sh"];

#[test]
fn every_cited_section_is_in_the_specification() {
    let specification = Specification::read(&project_root().join("docs/spec"));
    let (mut broken, mut citations) = (Vec::new(), 0);
    for (path, content) in files_with_extensions(CITING) {
        // The examples of this file are broken on purpose.
        if path.ends_with("tests/references.rs") {
            continue;
        }
        for citation in citations_of(&content) {
            citations += 1;
            if let Some(reason) = specification.refuse(&citation) {
                broken.push(format!("{}:{}: {reason}", path.display(), citation.line));
            }
        }
    }
    assert!(broken.is_empty(), "{} of {citations}:\n{}", broken.len(), broken.join("\n"));
    assert!(citations > 100, "only {citations} citations were found");
}

#[test]
fn relative_links_lead_to_files_and_headings() {
    let pages: BTreeMap<PathBuf, String> = files_with_extensions(&["md"]).into_iter().collect();
    let (mut broken, mut links) = (Vec::new(), 0);
    for (path, content) in &pages {
        for link in links_of(content) {
            links += 1;
            if let Some(reason) = broken_link(path, &link, &pages) {
                broken.push(format!("{}: {link}: {reason}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{} of {links}:\n{}", broken.len(), broken.join("\n"));
    assert!(links > 20, "only {links} links were found");
}

#[test]
fn paths_that_the_pages_name_are_there() {
    let tracked: Vec<String> =
        tracked_files().iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let is_page = |path: &Path| {
        path.starts_with("docs") || path.ends_with("README.md") || path.ends_with("CONTRIBUTING.md")
    };
    let (mut broken, mut paths) = (Vec::new(), 0);
    for (page, content) in
        files_with_extensions(&["md"]).into_iter().filter(|(path, _)| is_page(path))
    {
        for named in paths_of(&content) {
            paths += 1;
            if !names_a_file(&page, &named, &tracked) {
                broken.push(format!("{}: `{named}` is not a file", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{} of {paths}:\n{}", broken.len(), broken.join("\n"));
    assert!(paths > 20, "only {paths} paths were found");
}

/// A citation of a section of a page: `3.8`, `A.10`, `Appendix A` or a labelled item, `T11`.
#[derive(Debug, PartialEq)]
struct Citation {
    line: usize,
    page: String,
    section: String,
}

/// Returns the citations in `content`.
fn citations_of(content: &str) -> Vec<Citation> {
    // `flat` is the content as one line: blanks replace comment markers and line ends. Lengths do
    // not change, so an offset in `flat` is an offset in `content`.
    let mut flat = String::with_capacity(content.len());
    for line in content.split_inclusive('\n') {
        let body = line.trim_start_matches([' ', '\t', '/', '!', '#', '*', '>']);
        flat.extend(std::iter::repeat_n(' ', line.len() - body.len()));
        flat.push_str(body.strip_suffix('\n').unwrap_or(body));
        flat.extend(body.ends_with('\n').then_some(' '));
    }
    let mut citations = Vec::new();
    for (at, _) in flat.match_indices(".md") {
        let before = &flat[..at];
        let start = before.rfind(|c: char| !(c.is_ascii_alphanumeric() || "-_".contains(c)));
        let page = &before[start.map_or(0, |at| at + 1)..];
        if page.is_empty() {
            continue;
        }
        let line = 1 + content[..at].matches('\n').count();
        for section in sections_of(&flat[at + ".md".len()..]) {
            citations.push(Citation { line, page: page.to_owned(), section });
        }
    }
    citations
}

/// Returns the sections that follow the name of a page.
fn sections_of(rest: &str) -> Vec<String> {
    let rest = rest.strip_prefix('`').unwrap_or(rest);
    let rest = rest.strip_prefix(',').unwrap_or(rest);
    let Some(mut rest) = rest.strip_prefix(' ').map(str::trim_start) else { return Vec::new() };
    for word in ["sections ", "section "] {
        rest = rest.strip_prefix(word).map_or(rest, str::trim_start);
    }
    let mut sections: Vec<String> = Vec::new();
    let mut is_range = false;
    while let Some((section, after)) = leading_section(rest, !sections.is_empty()) {
        match sections.last() {
            Some(first) if is_range => sections.extend(range(first, &section)),
            _ => sections.push(section),
        }
        let after = after.trim_start();
        let next = [", and ", ", ", "and ", "to "].iter().find_map(|separator| {
            Some((after.strip_prefix(separator)?.trim_start(), *separator == "to "))
        });
        let Some(next) = next else { break };
        (rest, is_range) = next;
    }
    sections
}

/// Returns the section at the beginning of `text`, and the rest: `3.8`, `A.10`, `Appendix A` or, if
/// `items` may follow a section, `T11`.
fn leading_section(text: &str, items: bool) -> Option<(String, &str)> {
    if let Some(letter) = text.strip_prefix("Appendix ").and_then(|rest| rest.chars().next()) {
        let length = "Appendix ".len() + letter.len_utf8();
        return letter.is_ascii_uppercase().then(|| (text[..length].to_owned(), &text[length..]));
    }
    // Pages with parts have sections `A.10`.
    let part = text.get(1..).and_then(|rest| rest.strip_prefix('.'));
    let is_part = part.is_some() && text.starts_with(|c: char| c.is_ascii_uppercase());
    let number = match (part, text.strip_prefix('T')) {
        (Some(number), _) if is_part => number,
        (_, Some(number)) if items => number,
        (_, Some(_)) => return None,
        (_, None) => text,
    };
    let length = number.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(number.len());
    let digits = number[..length].trim_end_matches('.');
    let parts_are_numbers = digits.split('.').all(|part| matches!(part.len(), 1..=2));
    // `8-bit` and `2x` cite nothing; a full stop, a bracket or a comma may follow.
    let after = &number[digits.len()..];
    let is_word = after.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
    if !parts_are_numbers || is_word {
        return None;
    }
    let section = &text[..text.len() - after.len()];
    Some((section.to_owned(), after))
}

/// Returns the sections after `first` up to `last`, `3.9` and `3.10` of `3.8 to 3.10`.
fn range(first: &str, last: &str) -> Vec<String> {
    let split = |section: &str| -> Option<(String, u32)> {
        let (chapter, number) = section.rsplit_once('.')?;
        Some((chapter.to_owned(), number.parse().ok()?))
    };
    match (split(first), split(last)) {
        (Some((a, from)), Some((b, to))) if a == b && from < to => {
            (from + 1..=to).map(|number| format!("{a}.{number}")).collect()
        }
        _ => vec![last.to_owned()],
    }
}

/// The pages of the specification: their section numbers and labelled items.
struct Specification {
    pages: BTreeMap<String, BTreeSet<String>>,
}

impl Specification {
    fn read(folder: &Path) -> Self {
        let mut pages = BTreeMap::new();
        for entry in std::fs::read_dir(folder).expect("docs/spec is there") {
            let path = entry.expect("an entry of docs/spec").path();
            if path.extension().is_some_and(|ending| ending == "md") {
                let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
                pages.insert(name, labels_of(&lossy_text(&read_decompressed(&path))));
            }
        }
        Specification { pages }
    }

    /// Returns why `citation` does not resolve; `None` if it does.
    fn refuse(&self, Citation { page, section, .. }: &Citation) -> Option<String> {
        match self.pages.get(page) {
            None => Some(format!("{page}.md {section}: docs/spec has no page {page}.md")),
            Some(labels) if !labels.contains(section) => {
                Some(format!("{page}.md {section}: the page has no such section"))
            }
            Some(_) => None,
        }
    }
}

/// Returns the labels of a page that can be cited: numbers of headings and items `- **T1** ...`.
fn labels_of(page: &str) -> BTreeSet<String> {
    let mut labels = BTreeSet::new();
    for line in prose(page).lines() {
        if let Some(heading) = line.strip_prefix('#') {
            let heading = heading.trim_start_matches('#').trim_start();
            labels.extend(leading_section(heading, false).map(|(section, _)| section));
        } else if let Some((label, _)) =
            line.strip_prefix("- **").and_then(|rest| rest.split_once("**"))
        {
            labels.insert(label.to_owned());
        }
    }
    labels
}

/// Returns `page` with its fenced blocks emptied.
fn prose(page: &str) -> String {
    let mut is_code = false;
    let mut kept = String::new();
    for line in page.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        kept.push_str(if is_code || is_fence { "" } else { line });
        kept.push('\n');
    }
    kept
}

/// Returns the code spans of `line`, and the line without them.
fn code_spans(line: &str) -> (Vec<&str>, String) {
    let (mut spans, mut rest) = (Vec::new(), String::new());
    for (i, part) in line.split('`').enumerate() {
        if i % 2 == 1 {
            spans.push(part);
        } else {
            rest.push_str(part);
        }
    }
    (spans, rest)
}

/// Returns the relative links of a page.
fn links_of(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    let (_, page) = code_spans(&prose(page));
    for (at, opening) in page.match_indices("](").chain(page.match_indices("]: ")) {
        let target = &page[at + opening.len()..];
        let end = target.find([')', ' ', '\n']).unwrap_or(target.len());
        let target = &target[..end];
        let is_definition = opening == "]: ";
        let begins_line = page[..at].rsplit('\n').next().is_some_and(|line| line.starts_with('['));
        let is_external = target.contains("://") || target.starts_with("mailto:");
        if !target.is_empty() && !is_external && (!is_definition || begins_line) {
            links.push(target.to_owned());
        }
    }
    links
}

/// Returns why `link` of the page at `path` does not resolve; `None` if it does.
fn broken_link(path: &Path, link: &str, pages: &BTreeMap<PathBuf, String>) -> Option<String> {
    let (file, anchor) = link.split_once('#').map_or((link, None), |(f, a)| (f, Some(a)));
    let target = if file.is_empty() {
        path.to_owned()
    } else {
        normal(&path.parent().unwrap_or(Path::new("")).join(file))
    };
    if !project_root().join(&target).exists() && !pages.contains_key(&target) {
        return Some(format!("{} is not there", target.display()));
    }
    let anchor = anchor?;
    match pages.get(&target) {
        None => Some("only pages have anchors".into()),
        Some(page) if anchors_of(page).contains(anchor) => None,
        Some(_) => Some(format!("{} has no heading #{anchor}", target.display())),
    }
}

/// Returns `path` without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if normal.pop() => {}
            other => normal.push(other),
        }
    }
    normal
}

/// Returns the anchors that GitHub gives the headings of a page.
fn anchors_of(page: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in prose(page).lines() {
        let heading = line.trim_start_matches('#');
        if !line.starts_with('#') || !heading.starts_with(' ') {
            continue;
        }
        let slug: String = heading
            .trim()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .flat_map(char::to_lowercase)
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let numbered = (1..).map(|n| format!("{slug}-{n}"));
        let mut names = std::iter::once(slug.clone()).chain(numbered);
        anchors.extend(names.find(|name| !anchors.contains(name)));
    }
    anchors
}

/// Returns the code spans that are paths of files: no blanks, wildcards or placeholders, a slash
/// and an extension of the repository.
fn paths_of(page: &str) -> Vec<String> {
    let page = prose(page);
    let is_path = |span: &&str| {
        let plain = span.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
        let ending = Path::new(span).extension().and_then(|ending| ending.to_str());
        plain
            && !span.starts_with(['/', '.'])
            && span.contains('/')
            && ending.is_some_and(|ending| OWN_FILES.contains(&ending))
    };
    page.lines().flat_map(|line| code_spans(line).0).filter(is_path).map(str::to_owned).collect()
}

/// Whether `named` is a file: relative to the project, relative to the page, or the end
/// of a path, since pages on a crate say `search/lattice.rs`.
fn names_a_file(page: &Path, named: &str, tracked: &[String]) -> bool {
    let beside = page.parent().unwrap_or(Path::new("")).join(named);
    let is_there = |path: &Path| tracked.iter().any(|known| Path::new(known) == path);
    is_there(&normal(&beside)) || tracked.iter().any(|path| Path::new(path).ends_with(named))
}

#[cfg(test)]
mod parsers {
    use super::*;

    fn cited(content: &str) -> Vec<(usize, String)> {
        let citation = |c: Citation| (c.line, format!("{} {}", c.page, c.section));
        citations_of(content).into_iter().map(citation).collect()
    }

    fn on_line(line: usize, citations: &[&str]) -> Vec<(usize, String)> {
        citations.iter().map(|&citation| (line, citation.to_owned())).collect()
    }

    #[test]
    fn citations_in_their_forms() {
        for (content, expected) in [
            ("//! As in (`a-b.md` 3.8).", &["a-b 3.8"][..]),
            ("# see a.md 3, then", &["a 3"]),
            ("`a.md` 3.2 and 3.6", &["a 3.2", "a 3.6"]),
            ("`a.md` 2.1, 2.4, 3.1 and 4", &["a 2.1", "a 2.4", "a 3.1", "a 4"]),
            ("`a.md` 3.8 to 3.10", &["a 3.8", "a 3.9", "a 3.10"]),
            ("`a.md`, sections 2.1 to 2.3.", &["a 2.1", "a 2.2", "a 2.3"]),
            ("`a.md` section 3. What", &["a 3"]),
            ("`a.md` 8, T11: the", &["a 8", "a T11"]),
            ("`a.md`, Appendix A.", &["a Appendix A"]),
            ("`a.md` 1.2 gives 3.4, `b.md` 1.3", &["a 1.2", "b 1.3"]),
            ("`a.md` A.10, B.3 and 4", &["a A.10", "a B.3", "a 4"]),
            ("docs/a.md and 3.2; a.md A.x, a.md A. Then; a.md 8-bit, a.md 100 x, a.md 2x", &[]),
            ("`a.md` T4, `a.md` Title, .md 3", &[]),
        ] {
            assert_eq!(cited(content), on_line(1, expected), "{content}");
        }
        let wrapped =
            "x\n    //! found (`a.md`\n    //! 3.6).\n\n/// `b.md`,\n/// 1.2 and\n/// 1.3\n";
        let expected = [on_line(2, &["a 3.6"]), on_line(5, &["b 1.2", "b 1.3"])].concat();
        assert_eq!(cited(wrapped), expected);
    }

    #[test]
    fn broken_citations_are_reported() {
        let page = "# Page\n## 2. Files\n### 2.1 Text\n```\n### 2.2 code\n```\n- **T4** equal\n\
                    ## Appendix A. Values\n### B.12 Seeds\n";
        let specification =
            Specification { pages: BTreeMap::from([("a".to_owned(), labels_of(page))]) };
        let refused = |content: &str| -> Vec<String> {
            let citations = citations_of(content);
            citations.iter().filter_map(|citation| specification.refuse(citation)).collect()
        };
        assert!(refused("`a.md` 2, 2.1; `a.md` 2, T4; `a.md` Appendix A").is_empty());
        assert!(refused("`a.md` B.12").is_empty());
        assert_eq!(refused("`a.md` B.1"), ["a.md B.1: the page has no such section"]);
        assert_eq!(refused("`a.md` 2.1 and 2.2"), ["a.md 2.2: the page has no such section"]);
        assert_eq!(refused("`a.md` 2, T5"), ["a.md T5: the page has no such section"]);
        assert_eq!(refused("`a.md` 2.1 to 2.3").len(), 2);
        assert_eq!(refused("`b.md` 2.1"), ["b.md 2.1: docs/spec has no page b.md"]);
    }

    #[test]
    fn links_and_their_anchors() {
        let page = "# A `b.c` d\n[x](e.md#f) ![i](i.svg) [h](https://x/y) `[no](no)`\n\
                    ```\n[no](no)\n```\n## Twice\n## Twice\n[r]: r.md\n[s](#twice-1)";
        assert_eq!(links_of(page), ["e.md#f", "i.svg", "#twice-1", "r.md"]);
        let anchors = anchors_of(page);
        assert_eq!(anchors.iter().collect::<Vec<_>>(), ["a-bc-d", "twice", "twice-1"]);
        let (here, there) = (PathBuf::from("docs/here.md"), PathBuf::from("docs/sub/there.md"));
        let pages = BTreeMap::from([(here.clone(), page.to_owned()), (there, "# One".to_owned())]);
        let broken = |link: &str| broken_link(&here, link, &pages);
        for sound in ["#twice", "sub/there.md", "sub/there.md#one", "./sub/../here.md#a-bc-d"] {
            assert_eq!(broken(sound), None, "{sound}");
        }
        for wrong in ["#thrice", "sub/there.md#two", "there.md", "../docs/nowhere.svg"] {
            assert!(broken(wrong).is_some(), "{wrong}");
        }
    }

    #[test]
    fn paths_in_code() {
        let page = "`a/b.rs` `b.rs` `a/*.rs` `a/NAME/<x>.rs` `/etc/x.toml` `a/b.txt` `run a/c.rs`\n\
                    ```\n`a/d.rs`\n```\n`docs/e.md`";
        assert_eq!(paths_of(page), ["a/b.rs", "docs/e.md"]);
        let tracked = ["x/src/a/b.rs".to_owned(), "docs/e.md".to_owned()];
        let there = |named: &str| names_a_file(Path::new("docs/page.md"), named, &tracked);
        assert!(there("a/b.rs") && there("docs/e.md") && there("x/src/a/b.rs"));
        assert!(!there("x/a/b.rs") && !there("c/b.rs") && !there("docs/f.md"));
    }
}
