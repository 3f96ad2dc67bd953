#!/usr/bin/env bash
# Builds the binary without any library beside it, for containers and old systems.
#
# usage: packaging/build_static.sh OUTPUT
#
# With the musl target of Rust installed (rustup target add x86_64-unknown-linux-musl, and musl-gcc
# for C) it is linked with musl; otherwise with the static libraries of glibc. The binary opens no
# libraries at run time. So the feature cuda is off, and names of hosts in addresses to listen on
# are not resolved. PROFILE is the profile of cargo (default dist), CARGO_TARGET_DIR is cargo's.
set -euo pipefail
output=${1:?usage: packaging/build_static.sh OUTPUT}
case $output in /*) ;; *) output=$PWD/$output ;; esac
cd "$(dirname "$0")/.."
profile=${PROFILE:-dist}
target=x86_64-unknown-linux-gnu
if [ -d "$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-musl" ] && command -v musl-gcc > /dev/null; then
    target=x86_64-unknown-linux-musl
fi
export RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static"
cargo build --locked --profile "$profile" --target "$target" -p miriam --no-default-features --features serve
mkdir -p "$(dirname "$output")"
strip -o "$output" "${CARGO_TARGET_DIR:-target}/$target/$profile/miriam"
echo "$output: $target, $(stat -c %s "$output") bytes"
