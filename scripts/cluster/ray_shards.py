#!/usr/bin/env python3
"""Shards as tasks of Ray.

usage: ray_shards.py [--cpus N] [--model FILE]... [--drops-lines] MANIFEST FOLDER -- COMMAND...

Ray runs a task again if its worker or node fails, so side effects happen at least once; the rule of
`miriam_shards.py` makes that exactly once. The folder must be the same for all nodes. The command
itself opens and maps models, so nothing goes through Ray's object store.
"""

import argparse
import sys
from pathlib import Path

import ray

sys.path.insert(0, str(Path(__file__).resolve().parent))
import miriam_shards  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpus", type=float, default=1, help="CPUs of a task [1]")
    arguments, shards, options = miriam_shards.parse_engine_arguments(parser)
    # Workers find the module by its path, which is the same on all nodes.
    ray.init(runtime_env={"env_vars": {"PYTHONPATH": str(Path(__file__).resolve().parent)}})

    @ray.remote(num_cpus=arguments.cpus, max_retries=5)
    def run(shard):
        return miriam_shards.run_shard(shard, *options)["lines_out"]

    ray.get([run.remote(shard) for shard in shards])
    print(miriam_shards.verify(shards, arguments.folder))


if __name__ == "__main__":
    miriam_shards.run_main(main)
