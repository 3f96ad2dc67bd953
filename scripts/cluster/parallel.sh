#!/usr/bin/env bash
# All shards on this machine, or on those that GNU parallel reaches, JOBS at a time (2).
#
# usage: parallel.sh MANIFEST FOLDER [OPTIONS OF miriam_shards.py run] -- COMMAND...
#
# Run it again after whatever went wrong: what is done is skipped. Without GNU parallel xargs does
# it, on this machine. One job with all threads is the fastest for commands of Miriam, for
# threads share caches; more hide the time that a job takes to start.
set -euo pipefail
if [ $# -lt 2 ] || ! printf '%s\n' "$@" | grep -qx -e --; then
    echo "usage: parallel.sh MANIFEST FOLDER [OPTIONS OF miriam_shards.py run] -- COMMAND...
JOBS is the number of shards at a time (2)." >&2
    exit 2
fi
manifest=$1 folder=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
# It counts 0 with status 1.
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
