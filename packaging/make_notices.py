#!/usr/bin/env python3
"""Lists what is compiled into the binary: licences as text, or a bill of materials.

usage: make_notices.py [--check] [--sbom FILE]

Without options it writes `cli/notices.txt`, which `miriam licenses` prints: every library of
the binary for Linux on x86-64 with its licence, and the texts of licences, each once. `--check`
compares the list of libraries with that file and ends with status 1 if they differ; `--sbom`
writes a CycloneDX 1.5 document. All data comes from `cargo metadata`, which fetches only what a
build needs.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTICES = ROOT / "cli/notices.txt"
TARGET = "x86_64-unknown-linux-gnu"
TEXT_NAMES = ("license", "licence", "copying", "notice", "unlicense", "copyright")
HEAD = """Miriam is licensed under the MIT licence or the Apache licence 2.0, at your choice.
The libraries below are compiled into it, each under its own licence. Their texts follow the
list; a text that several libraries share is there once.

"""


def libraries():
    """Returns the root package, and the packages in the binary, sorted by name and version."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", TARGET]
    found = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    metadata = json.loads(found.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    root = next(p for p in packages.values() if p["name"] == "miriam")
    wanted, waiting = set(), [root["id"]]
    while waiting:
        current = waiting.pop()
        if current in wanted:
            continue
        wanted.add(current)
        for dependency in nodes[current]["deps"]:
            package = packages[dependency["pkg"]]
            macro = any("proc-macro" in target["kind"] for target in package["targets"])
            # Macros and build scripts run while compiling; they are not in the binary.
            if not macro and any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    others = [packages[i] for i in wanted if packages[i]["source"] is not None]
    return root, sorted(others, key=lambda p: (p["name"], p["version"]))


def line(package):
    licence = package["license"] or f"see {package['license_file']}"
    return f"{package['name']} {package['version']}: {licence}\n"


def texts(package):
    """Yields the licence texts of a package, with trailing blanks removed."""
    folder = Path(package["manifest_path"]).parent
    # Crates that wrap a C library have its sources, and its licence, in a folder.
    paths = folder.rglob("*") if package["name"].endswith("-sys") else folder.iterdir()
    for path in sorted(paths):
        if path.is_file() and path.name.lower().startswith(TEXT_NAMES):
            lines = path.read_text(errors="replace").splitlines()
            yield "\n".join(each.rstrip() for each in lines).strip("\n") + "\n"


def notices(packages):
    shared = {}
    for package in packages:
        for text in texts(package):
            shared.setdefault(text, []).append(package["name"])
    parts = [HEAD, *map(line, packages)]
    for text, names in sorted(shared.items(), key=lambda item: item[1]):
        names = sorted(set(names))
        parts.append(f"\n{'-' * 78}\n{', '.join(names)}\n\n{text}")
    return "".join(parts)


def component(package):
    reference = f"pkg:cargo/{package['name']}@{package['version']}"
    entry = {
        "type": "library",
        "bom-ref": reference,
        "name": package["name"],
        "version": package["version"],
        "purl": reference,
    }
    if package["license"]:
        entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    return entry


def bill_of_materials(root, packages):
    components = [component(package) for package in packages]
    digest = hashlib.sha256(json.dumps(components, sort_keys=True).encode()).digest()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        # Derived from the contents, so that equal inputs give equal files.
        "serialNumber": f"urn:uuid:{uuid.UUID(bytes=digest[:16], version=4)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "miriam",
                "name": "miriam",
                "version": root["version"],
                "licenses": [{"expression": root["license"]}],
            }
        },
        "components": components,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--sbom", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    root, packages = libraries()
    if arguments.sbom:
        text = json.dumps(bill_of_materials(root, packages), indent=1)
        arguments.sbom.write_text(text + "\n")
    if arguments.check:
        expected = HEAD + "".join(map(line, packages)) + "\n"
        if not NOTICES.read_text().startswith(expected):
            sys.exit(f"{NOTICES}: it does not list the libraries of Cargo.lock; run {sys.argv[0]}")
    elif not arguments.sbom:
        NOTICES.write_text(notices(packages))


if __name__ == "__main__":
    main()
