#!/usr/bin/env python3
"""Runs a command over the shards of a corpus, exactly once each, whatever happens to workers.

usage: miriam_shards.py run --manifest FILE --output FOLDER [--index N] [SHARD...] -- COMMAND...
       miriam_shards.py verify --manifest FILE --output FOLDER
       miriam_shards.py join --manifest FILE --output FOLDER > WHOLE
       miriam_shards.py localize MODEL --cache FOLDER

A manifest has the path of one shard per line. In the command, `{in}` is the shard, `{out}` the file
to write, and `{name}` the shard's name without its folder, for commands that read several files.
Without `{out}`, the command's standard output is written to the file.

One rule makes runs exact: the output of a shard depends on the shard alone. It is written under
a temporary name, synced, and renamed. Then a record `NAME.done` is written in the same way, with
the numbers of lines in and out, a digest, and what made the output. A shard with a record is
skipped, so that any scheduler may run a task again, or twice at the same time: both runs write the
same bytes. A record of another command, version, model or input is an error. Models are the files
and folders that the command names, and those of `--model`. Inputs are the shard and the files that
the command names with `{name}`.

Nothing but Python 3.9 and its library is needed.
"""

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

HEADER_BYTES = 4096
BLOCK = 1 << 20


class ShardError(Exception):
    """An error that says why a shard was not made, and what to do."""


def read_manifest(path):
    """Returns the shards of a manifest; fails if two have the same file name, and so one output."""
    shards = [line for line in Path(path).read_text().splitlines() if line]
    names = [Path(shard).name for shard in shards]
    double = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else ()
    if double:
        raise ShardError(f"{path}: {sorted(double)[0]} appears twice; outputs are named like shards")
    return shards


def measure(path):
    """Returns the number of lines and the digest of a file; compressed files stay compressed."""
    lines, digest, last = 0, hashlib.blake2b(digest_size=16), b"\n"
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            lines += block.count(b"\n")
            digest.update(block)
            last = block[-1:]
    return lines + (last != b"\n"), digest.hexdigest()


def fingerprint(path):
    """Hashes the name, the size and the first page of a model file, or of every file in a folder.
    In Miriam's own files, this page has checksums of the rest."""
    path = Path(path)
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    digest = hashlib.blake2b(digest_size=16)
    for file in files:
        with open(file, "rb") as opened:
            digest.update(f"{file.name} {file.stat().st_size} ".encode() + opened.read(HEADER_BYTES))
    return digest.hexdigest()


def is_same_input(path, before):
    """Whether a file still has the contents that `describe_input` described as `before`. The file
    is read only if its time differs and its size does not."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return False
    if found.st_size != before["bytes"]:
        return False
    return found.st_mtime_ns == before["modified_ns"] or measure(path)[1] == before["digest"]


def describe_input(path):
    """Returns the number of lines and a description of an input file."""
    found = os.stat(path)
    lines, digest = measure(path)
    return lines, {"bytes": found.st_size, "modified_ns": found.st_mtime_ns, "digest": digest}


def named_files(command):
    """Returns the files and folders that a command names, without its program and without folders
    of temporary files, whose contents change."""
    pairs = zip(command, command[1:])
    return [word for option, word in pairs
            if not (option == "-T" or option.startswith("--temp")) and "{" not in word
            and os.path.exists(word)]


def program_version(command):
    """Returns what the program prints for `--version`; empty if it does not have this option."""
    try:
        found = subprocess.run([command[0], "--version"], stdin=subprocess.DEVNULL, capture_output=True,
                               text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""


def write_atomically(path, text):
    partial = path.with_name(f".{path.name}.{os.uname().nodename}.{os.getpid()}.partial")
    with open(partial, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    rename(partial, path)


def rename(partial, path):
    os.rename(partial, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def run_shard(shard, output, command, models=(), drops_lines=False):
    """Makes a shard's output unless it is there; returns its record.

    `models` are further files or folders that the output depends on, besides those that the command
    names. `drops_lines` says that the command may write fewer lines than it reads.
    """
    shard, folder = Path(shard), Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    target, done = folder / shard.name, folder / f"{shard.name}.done"
    if not any("{in}" in word or "{name}" in word for word in command):
        raise ShardError("the command names no shard: write {in} where its input goes")
    made_by = {
        "command": list(command),
        "version": program_version(command),
        "models": {str(model): fingerprint(model) for model in [*named_files(command), *models]},
    }
    # The inputs by the words of the command: the shard, and files whose names contain its name.
    files = {word: word.replace("{name}", shard.name) for word in command if "{name}" in word}
    files["{in}"] = str(shard)
    if done.exists() and target.exists():
        record = json.loads(done.read_text())
        inputs = record.get("inputs", {})
        if record["made_by"] != made_by or "{in}" not in inputs or not all(
                is_same_input(files[word], before) for word, before in inputs.items()):
            raise ShardError(f"{done}: made by another command, version, model or input; remove it, "
                             f"or write to another folder")
        return record
    lines_in, described = describe_input(shard)
    inputs = {"{in}": described}
    for word, path in files.items():
        if word != "{in}" and os.path.isfile(path):
            inputs[word] = describe_input(path)[1]
    partial = folder / f".{shard.name}.{os.uname().nodename}.{os.getpid()}.partial"
    places = {"{in}": str(shard), "{name}": shard.name, "{out}": str(partial)}
    words = list(command)
    for place, path in places.items():
        words = [word.replace(place, path) for word in words]
    to_stdout = not any("{out}" in word for word in command)
    child = None

    def stop(number, _frame):
        # This exits from the wait for the child, which is ended in `finally`.
        sys.exit(128 + number)

    try:
        # Only the main thread may set signals. In other threads, the engine kills the worker.
        previous = signal.signal(signal.SIGTERM, stop)
    except ValueError:
        previous = None
    try:
        with open(partial, "wb") as file:
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=file if to_stdout else None)
            status = child.wait()
        if status != 0:
            raise ShardError(f"{shard}: status {status} of {' '.join(words)}")
        lines_out, digest = measure(partial)
        if lines_out > lines_in:
            raise ShardError(f"{shard}: {lines_in} lines in, {lines_out} out; is it compressed? shards are "
                             f"plain text")
        if lines_out < lines_in and not drops_lines:
            raise ShardError(f"{shard}: {lines_in} lines in, {lines_out} out; does the command read {{in}}? "
                             f"For one that leaves lines out on purpose give --drops-lines")
        with open(partial, "rb") as file:
            os.fsync(file.fileno())
        # A file that the command wrote, such as a log of each shard, is not an input.
        inputs = {word: before for word, before in inputs.items()
                  if word == "{in}" or is_same_input(files[word], before)}
        record = {"made_by": made_by, "inputs": inputs,
                  "lines_in": lines_in, "lines_out": lines_out, "digest": digest}
        rename(partial, target)
        write_atomically(done, json.dumps(record, indent=1) + "\n")
        return record
    finally:
        if child is not None and child.poll() is None:
            child.terminate()
            child.wait()
        partial.unlink(missing_ok=True)
        if previous is not None:
            signal.signal(signal.SIGTERM, previous)


def verify(shards, output):
    """Returns the sums over all shards. Fails if an output is missing or was changed, or if outputs
    were made in different ways; otherwise removes the files that killed workers left."""
    folder, sums = Path(output), {"shards": 0, "lines_in": 0, "lines_out": 0}
    wrong, makers = [], set()
    for shard in shards:
        name = Path(shard).name
        done = folder / f"{name}.done"
        if not done.exists() or not (folder / name).exists():
            wrong.append(f"{name}: not made")
            continue
        record = json.loads(done.read_text())
        lines, digest = measure(folder / name)
        if (lines, digest) != (record["lines_out"], record["digest"]):
            wrong.append(f"{name}: changed after it was made")
        # Records of earlier versions have the size of the shard in `made_by`.
        makers.add(json.dumps({k: v for k, v in record["made_by"].items() if k != "bytes_in"}))
        sums["shards"] += 1
        sums["lines_in"] += record["lines_in"]
        sums["lines_out"] += record["lines_out"]
    if len(makers) > 1:
        wrong.append("shards were made by different commands, versions or models")
    if wrong:
        raise ShardError("\n".join(wrong))
    for left in folder.glob(".*.partial"):
        left.unlink()
    return sums


def localize(model, cache):
    """Returns the path of a copy of a file or folder on this node. The first worker that calls this
    makes the copy; others wait. Files are mapped, so that all workers of a node share memory."""
    model, cache = Path(model), Path(cache)
    cache.mkdir(parents=True, exist_ok=True)
    mark = fingerprint(model)
    copy = cache / f"{mark}-{model.name}"
    with open(cache / f".{mark}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not copy.exists():
            partial = cache / f".{copy.name}.partial"
            if partial.is_dir():
                shutil.rmtree(partial)
            if model.is_dir():
                shutil.copytree(model, partial)
            else:
                shutil.copyfile(model, partial)
            # The original may change while it is copied.
            if fingerprint(model) != mark:
                raise ShardError(f"{model}: it changed while it was copied; replace models by rename")
            rename(partial, copy)
    return copy


def add_run_options(parser):
    """Adds the options of a run, which `run_shard` takes by these names."""
    parser.add_argument("--model", action="append", default=[], dest="models",
                        help="a file or folder that outputs depend on and the command does not name")
    parser.add_argument("--drops-lines", action="store_true", help="the command may leave lines out")


def parse_engine_arguments(parser):
    """Parses the arguments of a script for an engine: the options of `parser` and of a run, a
    manifest, a folder, `--` and a command. Returns the arguments, the shards, and the arguments of
    `run_shard` after the shard."""
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    add_run_options(parser)
    parser.add_argument("manifest", help="the file with a shard a line")
    parser.add_argument("folder", help="the folder of outputs")
    arguments = parser.parse_args(words[:at])
    command = words[at + 1:]
    if not command:
        parser.error("give a command after --, such as: -- miriam translate -f moses.ini -i {in} -o {out}")
    options = [arguments.folder, command, arguments.models, arguments.drops_lines]
    return arguments, read_manifest(arguments.manifest), options


def run_main(run):
    """Runs the `main` of a script; errors of shards end it with a line."""
    name = Path(sys.argv[0]).name
    try:
        run()
    except (ShardError, OSError) as error:
        sys.exit(f"{name}: {error}")
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


def main():
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    words, command = words[:at], words[at + 1:]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["run", "verify", "join", "localize"])
    parser.add_argument("shards", nargs="*", help="shards to run; without --index all of the manifest")
    parser.add_argument("--manifest", help="the file with a shard a line")
    parser.add_argument("--output", help="the folder of outputs")
    parser.add_argument("--index", type=int, help="run the shard of this line of the manifest, from 0")
    add_run_options(parser)
    parser.add_argument("--cache", help="localize: the folder of copies on this node")
    arguments = parser.parse_args(words)
    if arguments.action == "localize":
        if len(arguments.shards) != 1 or not arguments.cache:
            parser.error("localize takes a model and --cache")
        print(localize(arguments.shards[0], arguments.cache))
        return
    if not arguments.output or not (arguments.manifest or arguments.shards):
        parser.error(f"{arguments.action} takes --output and --manifest (run: or shards)")
    shards = arguments.shards or read_manifest(arguments.manifest)
    if arguments.action == "verify":
        print(json.dumps(verify(shards, arguments.output)))
    elif arguments.action == "join":
        verify(shards, arguments.output)
        for shard in shards:
            with open(Path(arguments.output) / Path(shard).name, "rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer, BLOCK)
    else:
        if not command:
            parser.error("run takes a command after --, such as: -- miriam translate -f moses.ini -i {in} -o {out}")
        if arguments.index is not None:
            if not 0 <= arguments.index < len(shards):
                parser.error(f"--index {arguments.index}: there are {len(shards)} shards, from 0")
            shards = [shards[arguments.index]]
        for shard in shards:
            run_shard(shard, arguments.output, command, arguments.models, arguments.drops_lines)


if __name__ == "__main__":
    run_main(main)
