#!/usr/bin/env python3
"""Lines of production code of each crate, as a table in Markdown.

What counts: lines of Rust under `src` that are neither blank nor only a comment. What does not:
files and folders of tests (`tests`, `tests.rs`, `testing.rs`, `test_support.rs`), modules of
tests inside a file (`#[cfg(test)] mod tests { ... }`), and crates for tests alone. Benches,
examples, fuzz targets and the end-to-end suites are not under `src`. A string over several lines
counts with all of them.

    scripts/count_code.py           the table
    scripts/count_code.py --files   a line a file, the longest first
"""

import argparse
import pathlib
import re
import sys

TEST_NAMES = {"tests", "testing", "test_support"}
TEST_CRATES = {"base/ptx", "base/ptx/driver"}
TEST_MODULE = re.compile(r"^#\[cfg\(test\)\]\n(?:#\[.*\]\n)*(?:pub(?:\(.*\))? )?mod \w+ \{$", re.MULTILINE)


def members(root):
    """Returns the folders of the crates, in the order of the workspace."""
    manifest = (root / "Cargo.toml").read_text(encoding="utf-8")
    listed = re.search(r"^members = \[(.*?)\]", manifest, re.MULTILINE | re.DOTALL)
    if listed is None:
        sys.exit(f"{root / 'Cargo.toml'}: no list of members; run this script from a copy of the repository")
    return [name for name in re.findall(r'"([^"]+)"', listed.group(1)) if name not in TEST_CRATES]


def without_test_modules(text):
    """Returns `text` without modules of tests, which end at a brace at the start of a line."""
    while (found := TEST_MODULE.search(text)) is not None:
        end = text.find("\n}\n", found.end())
        text = text[: found.start()] + ("" if end < 0 else text[end + 3 :])
    return text


def count_lines(text):
    """Returns the number of lines of `text` that have code."""
    count, in_comment = 0, False
    for line in without_test_modules(text).splitlines():
        line = line.strip()
        if in_comment:
            in_comment = "*/" not in line
        elif line.startswith("/*"):
            in_comment = "*/" not in line
        elif line and not line.startswith("//"):
            count += 1
    return count


def source_files(crate):
    """Yields the production files of a crate."""
    for path in sorted((crate / "src").rglob("*.rs")):
        names = {*path.relative_to(crate / "src").parts[:-1], path.stem}
        if not names & TEST_NAMES:
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", action="store_true", help="a line a file, the longest first")
    arguments = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    counts = {}
    for member in members(root):
        for path in source_files(root / member):
            counts[member, path] = count_lines(path.read_text(encoding="utf-8"))
    if arguments.files:
        for (_, path), count in sorted(counts.items(), key=lambda item: -item[1]):
            print(f"{count:6} {path.relative_to(root)}")
        return
    print("| crate | files | lines of code |\n|---|---:|---:|")
    for member in members(root):
        lines = [count for (crate, _), count in counts.items() if crate == member]
        print(f"| `{member}` | {len(lines)} | {sum(lines):,} |")
    print(f"| all | {len(counts)} | {sum(counts.values()):,} |")


if __name__ == "__main__":
    main()
