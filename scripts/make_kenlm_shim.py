#!/usr/bin/env python3
"""Builds a wheel whose distribution is named kenlm and whose module re-exports miriam.kenlm.

Some programs ask whether a distribution of that name is installed before they import it. The
wheel is for a private index: on public ones the name is KenLM's.

    python3 scripts/make_kenlm_shim.py --version 0.3.0 --output FOLDER
"""

import argparse
import base64
import hashlib
import pathlib
import zipfile

MODULE = '''"""miriam.kenlm under the name kenlm."""

from miriam.kenlm import (
    ARPALoadComplain,
    Config,
    FullScoreReturn,
    LanguageModel,
    LoadMethod,
    Model,
    State,
)

__all__ = [
    "ARPALoadComplain",
    "Config",
    "FullScoreReturn",
    "LanguageModel",
    "LoadMethod",
    "Model",
    "State",
]
'''


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", default="0.3.0", help="the version of KenLM that it replaces")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."))
    arguments = parser.parse_args()
    # A local version says that this is not KenLM's own.
    version = f"{arguments.version}+miriam"
    information = f"kenlm-{version}.dist-info"
    files = {
        "kenlm.py": MODULE,
        f"{information}/METADATA": (
            f"Metadata-Version: 2.1\nName: kenlm\nVersion: {version}\n"
            "Summary: miriam.kenlm under the name kenlm\nRequires-Dist: miriam-mt\n"
        ),
        f"{information}/WHEEL": (
            "Wheel-Version: 1.0\nGenerator: make_kenlm_shim\nRoot-Is-Purelib: true\n"
            "Tag: py3-none-any\n"
        ),
    }
    record = ""
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record += f"{name},sha256={digest.decode()},{len(text.encode())}\n"
    files[f"{information}/RECORD"] = record + f"{information}/RECORD,,\n"
    arguments.output.mkdir(parents=True, exist_ok=True)
    wheel = arguments.output / f"kenlm-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            # The date is fixed, so that every build gives the same bytes.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text)
    print(wheel)


if __name__ == "__main__":
    main()
