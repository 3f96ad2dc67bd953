#!/usr/bin/env python3
"""Builds the PTX of the GPU language model and of neural decoding, and checks it.

    python3 -m venv /tmp/ptx && /tmp/ptx/bin/pip install -r scripts/build_ptx.txt
    /tmp/ptx/bin/python scripts/build_ptx.py            # writes kernels/ptx/ of each crate
    /tmp/ptx/bin/python scripts/build_ptx.py --check    # fails if that would change it

NVRTC compiles each module of glm/kernels and nmt/cuda/kernels for its target: the lowest one,
unless the module needs a later one. Every later device accepts the PTX. ptxas then assembles it for
each supported device and counts registers; a spill is an error. None of this is needed to build or
run Miriam, as the results are committed.

It writes the modules to modules.ptx.gz, one after another, each after a line `//! NAME`; the
registers of each kernel to report.tsv; and hash.txt, by which a test checks that sources, flags and
results belong together.
"""

import argparse
import ctypes
import gzip
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Targets and devices by compute capability.
LOWEST_TARGET = 75
DEVICES = [75, 80, 90]
# The language model gives the bits of the CPU, so nothing may be contracted or flushed.
EXACT = ["--fmad=false", "--ftz=false"]
FLAGS = ["--std=c++17", "--device-as-default-execution-space"]


def glm_modules():
    """Yields the name, source, options and target of each module of the language model."""
    yield "common", "common.cu", EXACT, LOWEST_TARGET
    for tile in (4, 8, 16):
        for width in (8, 16, 32):
            for hashed in (0, 2, 16):
                definitions = [f"-DLANES={tile}", f"-DNODE={width}", f"-DBUCKETS={hashed}"]
                yield f"walks_t{tile}_k{width}_h{hashed}", "walks.cu", EXACT + definitions, LOWEST_TARGET


def nmt_modules():
    """Yields the name, source, options and target of each module of neural decoding."""
    options = ["--fmad=true", "--ftz=false"]
    for name in ("rows", "operators", "product", "attention", "output"):
        yield name, f"{name}.cu", options, LOWEST_TARGET
    for target in (75, 80):
        yield f"half_product_{target}", "half_product.cu", options, target


FOLDERS = {ROOT / "glm" / "kernels": glm_modules, ROOT / "nmt" / "cuda" / "kernels": nmt_modules}


def fnv(parts):
    """Returns the 64-bit FNV-1a hash, which a test can compute again in three lines."""
    value = 0xCBF29CE484222325
    for part in parts:
        for byte in part:
            value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def recipe_hash(folder):
    """Returns a hash of everything that the PTX depends on."""
    paths = sorted([*folder.glob("*.cu"), *folder.glob("*.cuh")]) + [pathlib.Path(__file__)]
    return fnv(path.read_bytes() for path in paths)


def wheel_file(pattern):
    """Returns a file of NVIDIA's wheels, from this Python's packages or from --wheels."""
    for folder in SEARCH:
        for found in sorted(pathlib.Path(folder).glob(pattern)):
            return found
    sys.exit(f"{pattern} is not there: pip install -r scripts/build_ptx.txt")


def compile_module(nvrtc, folder, name, source, more, target):
    """Returns the PTX of one module."""
    program = ctypes.c_void_p()
    text = (folder / source).read_bytes()
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, source.encode(), 0, None, None))
    options = [f"--gpu-architecture=compute_{target}", f"--include-path={folder}", *FLAGS, *more]
    array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    status = nvrtc.nvrtcCompileProgram(program, len(options), array)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if log.value.strip():
        print(f"{name}: {log.value.decode().strip()}", file=sys.stderr)
    check(status)
    check(nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)))
    ptx = ctypes.create_string_buffer(size.value)
    check(nvrtc.nvrtcGetPTX(program, ptx))
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return ptx.value.decode()


def check(status):
    if status != 0:
        sys.exit(f"NVRTC failed with status {status}")


def assemble(ptxas, folder, name, ptx, device):
    """Yields what ptxas reports for each kernel of a module: name, registers, stack, spills."""
    device = f"sm_{device}"
    path = folder / f"{name}.{device}.ptx"
    path.write_text(ptx)
    command = [ptxas, "-v", f"-arch={device}", path, "-o", "/dev/null"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{name} for {device}: {run.stderr}")
    pattern = (
        r"Function properties for (\w+)\s+(\d+) bytes stack frame, (\d+) bytes spill stores, "
        r"(\d+) bytes spill loads\s+ptxas info\s+: Used (\d+) registers"
    )
    for kernel, stack, stores, loads, registers in re.findall(pattern, run.stderr):
        yield kernel, device, registers, stack, int(stores) + int(loads)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--wheels", action="append", default=[], help="a folder of unpacked wheels")
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    parser.add_argument("--only", default="", help="modules whose name begins so; writes nothing")
    arguments = parser.parse_args()
    global SEARCH
    SEARCH = [*arguments.wheels, *(path for path in sys.path if path.endswith("-packages"))]
    ctypes.CDLL(wheel_file("nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.*"), ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(wheel_file("nvidia/cuda_nvrtc/lib/libnvrtc.so.12"))
    ptxas = wheel_file("nvidia/cuda_nvcc/bin/ptxas")
    pathlib.Path(ptxas).chmod(0o755)

    for folder, modules in FOLDERS.items():
        chosen = [module for module in modules() if module[0].startswith(arguments.only)]
        if chosen:
            build(nvrtc, ptxas, folder, chosen, arguments)


def build(nvrtc, ptxas, kernels, chosen, arguments):
    """Compiles and assembles the chosen modules of a folder, and writes or checks the results."""
    compiled = [
        (name, compile_module(nvrtc, kernels, name, *rest), rest[-1]) for name, *rest in chosen
    ]
    rows, spilled = [], []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as threads:
        jobs = [
            (name, ptx, device)
            for name, ptx, target in compiled
            for device in DEVICES
            if device >= target
        ]
        work = lambda job: list(assemble(ptxas, pathlib.Path(folder), *job))
        for found in threads.map(work, jobs):
            rows += found
            spilled += [f"{row[0]} for {row[1]}" for row in found if row[4]]
    report = "kernel\tdevice\tregisters\tstack\tspills\n"
    report += "".join("\t".join(map(str, row)) + "\n" for row in rows)
    text = "".join(f"//! {name}\n{ptx.strip()}\n" for name, ptx, _ in compiled)
    packed = gzip.compress(text.encode(), 9, mtime=0)
    outcome = fnv([text.encode(), report.encode()])
    label = kernels.relative_to(ROOT)
    counts = f"{len(rows)} kernels, {len(text)} bytes of PTX, {len(packed)} packed"
    print(f"{label}: {counts}", file=sys.stderr)
    if arguments.only:
        print(report, end="")
    if spilled:
        sys.exit("registers are spilled in " + ", ".join(spilled))
    if arguments.only:
        return
    files = {
        "modules.ptx.gz": packed,
        "report.tsv": report.encode(),
        "hash.txt": f"recipe {recipe_hash(kernels)}\noutcome {outcome}\n".encode(),
    }
    target = kernels / "ptx"
    target.mkdir(exist_ok=True)
    for name, content in files.items():
        path = target / name
        if arguments.check:
            if not path.exists() or path.read_bytes() != content:
                sys.exit(f"{path} is stale: run scripts/build_ptx.py")
        else:
            path.write_bytes(content)


if __name__ == "__main__":
    main()
