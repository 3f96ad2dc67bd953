#!/usr/bin/env bash
# Checks that a binary needs nothing beside it: translates, scores and serves in an empty root
# folder.
#
# usage: packaging/check_static.sh BINARY
#
# It needs the rights for chroot: those of root, or user namespaces.
set -euo pipefail
binary=$(realpath "${1:?usage: packaging/check_static.sh BINARY}")
cd "$(dirname "$0")/.."
if readelf -l "$binary" | grep -q INTERP; then
    echo "$binary: it needs a loader of shared libraries" >&2
    exit 1
fi
root=$(mktemp -d)
server=
finish() {
    if [ -n "$server" ]; then kill "$server" 2> /dev/null || true; fi
    rm -rf "$root"
}
trap finish EXIT
mkdir "$root/tmp"
cp "$binary" "$root/miriam"
cp -r examples/toy "$root/toy"
inside=(chroot "$root" /miriam)
if [ "$(id -u)" != 0 ]; then inside=(unshare --map-root-user "${inside[@]}"); fi
"${inside[@]}" --version
# A translation ends with a space, as Moses prints it.
"${inside[@]}" translate -f /toy/moses.ini -quiet < examples/toy/input.txt | sed 's/ $//' |
    cmp - examples/toy/expected.txt
"${inside[@]}" lm query /toy/lm.arpa -v summary < examples/toy/expected.txt > /dev/null
"${inside[@]}" lm estimate -o 2 --text /toy/corpus.es --arpa /tmp/es.arpa --discount-fallback 2> /dev/null
"${inside[@]}" serve --model toy=/toy/moses.ini,from=en,to=es --listen 127.0.0.1:0 > "$root/served" 2> /dev/null &
server=$!
for _ in $(seq 100); do
    url=$(sed -n 's/^listening on //p' "$root/served")
    if [ -n "$url" ] && "${inside[@]}" health "$url/readyz" 2> /dev/null; then
        echo "it translates, scores, estimates and serves in an empty root folder"
        exit 0
    fi
    sleep 0.1
done
echo "the server did not get ready" >&2
exit 1
