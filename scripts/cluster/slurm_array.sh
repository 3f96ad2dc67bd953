#!/usr/bin/env bash
# A shard a task of a Slurm array. Adapt the numbers, then
#
#   MANIFEST=shards.txt OUTPUT=scores sbatch --array=0-$(($(grep -c . shards.txt) - 1))%64 \
#       slurm_array.sh miriam lm perplexity --per-line /models/lm.miriam -i {in} -o {out}
#
# A task that is preempted, or killed with its node, is put into the queue again and starts its
# shard anew; 60 seconds before its time is over it gets SIGTERM and leaves nothing behind.
#SBATCH --job-name=miriam
#SBATCH --cpus-per-task=16
#SBATCH --mem=32G
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60
set -euo pipefail
# Slurm runs a copy of this script; TOOLS is where its folder is on the nodes.
tools=${TOOLS:-$(cd "$(dirname "$0")" && pwd)}
exec "$tools/miriam_shards.py" run --manifest "${MANIFEST:?}" --output "${OUTPUT:?}" \
    --index "${SLURM_ARRAY_TASK_ID:?it is set in the tasks of an array}" -- "$@"
