#!/usr/bin/env python3
"""Puts the command line into a wheel, so that pip installs it beside the Python package.

usage: add_program.py WHEEL PROGRAM OUTPUT

OUTPUT is the folder for the new wheel, which has the name of WHEEL. PROGRAM is the `miriam` that
was built for the same platform as WHEEL. Files of WHEEL stay unchanged, byte for byte. The
program becomes a script of the distribution, and its line is added to RECORD. Equal inputs give
equal wheels.
"""

import argparse
import base64
import hashlib
import sys
import tempfile
import zipfile
from pathlib import Path

# The mode of a regular file that all may run, in the upper half of a zip entry's attributes.
EXECUTABLE = 0o100755 << 16


def add_program(wheel: Path, program: Path, output: Path) -> Path:
    name, version = wheel.name.split("-")[:2]
    record = f"{name}-{version}.dist-info/RECORD"
    script = f"{name}-{version}.data/scripts/miriam"
    content = program.read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    output.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as old, tempfile.NamedTemporaryFile(dir=output) as temporary:
        if script in old.namelist():
            sys.exit(f"{wheel}: it has the program already")
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as new:
            for entry in old.infolist():
                data = old.read(entry)
                if entry.filename == record:
                    data += f"{script},sha256={digest},{len(content)}\n".encode()
                new.writestr(entry, data)
            added = zipfile.ZipInfo(script)
            added.external_attr = EXECUTABLE
            added.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(added, content)
        temporary.flush()
        made = output / wheel.name
        made.write_bytes(Path(temporary.name).read_bytes())
    return made


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", type=Path)
    parser.add_argument("program", type=Path)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    try:
        print(add_program(arguments.wheel, arguments.program, arguments.output))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        sys.exit(f"{arguments.wheel}: {error}")
