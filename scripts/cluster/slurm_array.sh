#!/usr/bin/env bash
# A shard a task of a Slurm array. Adapt the numbers, then
#
#   export MANIFEST=shards.txt OUTPUT=scores TOOLS=$PWD/scripts/cluster
#   sbatch --array=0-$(($(grep -c . shards.txt) - 1))%64 scripts/cluster/slurm_array.sh \
#       [OPTIONS OF miriam_shards.py run --] miriam lm perplexity --per-line /models/lm.miriam -i {in} -o {out}
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
# Slurm runs a copy of this script elsewhere, so TOOLS says where its folder is on the nodes.
tools=${TOOLS:-$(cd "$(dirname "$0")" && pwd)}
if [ ! -f "$tools/miriam_shards.py" ]; then
    echo "slurm_array.sh: $tools has no miriam_shards.py; set TOOLS to the folder scripts/cluster on the nodes" >&2
    exit 2
fi
# If the first word is an option of miriam_shards.py, its options end with --, before the command.
options=()
if [[ ${1-} == -* ]]; then
    while [ "${1?give -- between the options and the command}" != -- ]; do
        options+=("$1")
        shift
    done
    shift
fi
exec "$tools/miriam_shards.py" run --manifest "${MANIFEST:?}" --output "${OUTPUT:?}" \
    --index "${SLURM_ARRAY_TASK_ID:?it is set in the tasks of an array}" ${options[@]+"${options[@]}"} -- "$@"
