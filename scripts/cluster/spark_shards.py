#!/usr/bin/env python3
"""Shards as tasks of Spark.

usage: spark-submit spark_shards.py [--model FILE]... [--drops-lines] MANIFEST FOLDER -- COMMAND...

A task is a shard, which Spark may run several times (failed executors, speculation): the rule
of `miriam_shards.py` makes that exactly once. The folder must be the same for all executors. For
columns of a table use `mapInArrow` with `miriam.lm` instead; the function that `mapInArrow` calls
must have no side effects.
"""

import argparse
import sys
from pathlib import Path

from pyspark.sql import SparkSession

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import miriam_shards  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments, shards, options = miriam_shards.parse_engine_arguments(parser)
    spark = SparkSession.builder.appName("miriam").getOrCreate()
    context = spark.sparkContext
    context.addPyFile(str(HERE / "miriam_shards.py"))

    def run(shard):
        import miriam_shards

        return miriam_shards.run_shard(shard, *options)["lines_out"]

    context.parallelize(shards, len(shards)).map(run).collect()
    print(miriam_shards.verify(shards, arguments.folder))
    spark.stop()


if __name__ == "__main__":
    miriam_shards.run_main(main)
