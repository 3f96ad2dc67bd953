#!/usr/bin/env python3
"""Shards as tasks of datatrove, on this machine or by its executor for Slurm.

usage: datatrove_shards.py [--workers N] [--logs FOLDER] [--model FILE]... [--drops-lines]
           MANIFEST FOLDER -- COMMAND...

A task is a shard. The records of `miriam_shards.py` say which shards are done, not datatrove's
notes of finished tasks. So a shard whose record was removed is made again.
"""

import argparse
import sys
from pathlib import Path

from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.base import PipelineStep

sys.path.insert(0, str(Path(__file__).resolve().parent))
import miriam_shards  # noqa: E402


class RunShards(PipelineStep):
    """Runs a command over the shards of a task: those whose index modulo the number of tasks is
    the rank of the task."""

    name = "Miriam"
    type = "shards"

    def __init__(self, shards, options):
        super().__init__()
        self.shards, self.options = shards, options

    def run(self, data=None, rank=0, world_size=1):
        for shard in self.shards[rank::world_size]:
            record = miriam_shards.run_shard(shard, *self.options)
            self.stat_update("lines", value=record["lines_out"])
        yield from data or ()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--logs", help="the folder of datatrove's logs [FOLDER/logs]")
    arguments, shards, options = miriam_shards.parse_engine_arguments(parser)
    step = RunShards(shards, options)
    logs = arguments.logs or str(Path(arguments.folder) / "logs")
    executor = LocalPipelineExecutor(
        pipeline=[step], tasks=len(shards), workers=arguments.workers, logging_dir=logs,
        skip_completed=False,
    )
    executor.run()
    print(miriam_shards.verify(shards, arguments.folder))


if __name__ == "__main__":
    miriam_shards.run_main(main)
