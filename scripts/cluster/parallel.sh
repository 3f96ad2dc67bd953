#!/usr/bin/env bash
# All shards on this machine, or on those that GNU parallel reaches, JOBS at a time (2).
#
# usage: parallel.sh MANIFEST FOLDER [OPTIONS OF miriam_shards.py run] -- COMMAND...
#
# If something went wrong, run the same command again: it skips shards that are done. Without GNU
# parallel, xargs runs the jobs, on this machine. For commands of Miriam, one job with all threads
# is the fastest, because threads share caches. Several jobs hide the time that a job takes to
# start.
set -euo pipefail
if [ $# -lt 2 ] || ! printf '%s\n' "$@" | grep -qx -e --; then
    echo "usage: parallel.sh MANIFEST FOLDER [OPTIONS OF miriam_shards.py run] -- COMMAND...
JOBS is the number of shards at a time (2)." >&2
    exit 2
fi
manifest=$1 folder=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
# For a count of 0, grep ends with status 1.
count=$(grep -c . "$manifest" || true)
if [ "${count:-0}" -eq 0 ]; then
    echo "parallel.sh: $manifest: it names no shards" >&2
    exit 2
fi
last=$((count - 1))
mkdir -p "$folder"
if command -v parallel > /dev/null && parallel --version 2> /dev/null | grep -q 'GNU parallel'; then
    seq 0 "$last" | parallel --will-cite --quote --jobs "${JOBS:-2}" --halt never \
        "$here/miriam_shards.py" run --manifest "$manifest" --output "$folder" --index {} "$@"
else
    # One failed shard does not stop the others; xargs ends with status 123 then.
    seq 0 "$last" | xargs -P "${JOBS:-2}" -I SHARD_INDEX \
        "$here/miriam_shards.py" run --manifest "$manifest" --output "$folder" --index SHARD_INDEX "$@"
fi
"$here/miriam_shards.py" verify --manifest "$manifest" --output "$folder"
