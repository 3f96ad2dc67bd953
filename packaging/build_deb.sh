#!/usr/bin/env bash
# Makes a package for Debian and Ubuntu from a binary: the program, manual pages, completions,
# licences, the unit of the server, and the names of other programs in /usr/lib/miriam/programs.
#
# usage: packaging/build_deb.sh BINARY FOLDER
#
# Times inside the package are those of the last commit (or SOURCE_DATE_EPOCH), so that equal
# binaries make equal packages. MAINTAINER is the maintainer of the package: Name <mail@host>.
set -euo pipefail
binary=$(realpath "${1:?usage: packaging/build_deb.sh BINARY FOLDER}")
mkdir -p "${2:?usage: packaging/build_deb.sh BINARY FOLDER}"
folder=$(realpath "$2")
cd "$(dirname "$0")/.."
version=$("$binary" --version | cut -d' ' -f2)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 0)}
export SOURCE_DATE_EPOCH
architecture=$(dpkg --print-architecture)
# Libraries of the binary: none, or glibc of at least the version whose symbols it uses.
depends=
if readelf -l "$binary" | grep -q INTERP; then
    glibc=$(objdump -T "$binary" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
    depends="Depends: libc6 (>= ${glibc#GLIBC_}), libgcc-s1"$'\n'
fi
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
install -D -m 755 "$binary" "$tree/usr/bin/miriam"
if [ -z "${KEEP_SYMBOLS:-}" ]; then strip "$tree/usr/bin/miriam"; fi
install -d "$tree/usr/lib/miriam/programs"
# Perl must be able to read the files with the names of its scripts, so these are not links. They
# contain the path of the binary that made them.
maker=$(realpath "$tree")/usr/bin/miriam
for name in $("$maker" install-aliases "$tree/names" | xargs -n 1 basename); do
    program=$tree/usr/lib/miriam/programs/$name
    if [ -L "$tree/names/$name" ]; then
        ln -s ../../../bin/miriam "$program"
    else
        sed "s|$maker|/usr/bin/miriam|g" "$tree/names/$name" > "$program"
        chmod 755 "$program"
    fi
done
rm -r "$tree/names"
"$binary" man "$tree/usr/share/man/man1"
gzip -9n "$tree"/usr/share/man/man1/*.1
for shell in bash:bash-completion/completions/miriam zsh:zsh/vendor-completions/_miriam \
    fish:fish/vendor_completions.d/miriam.fish; do
    target=$tree/usr/share/${shell#*:}
    install -d "$(dirname "$target")"
    "$binary" completions "${shell%%:*}" > "$target"
done
install -D -m 644 packaging/miriam.service "$tree/usr/lib/systemd/system/miriam.service"
install -D -m 644 packaging/serve.toml "$tree/etc/miriam/serve.toml"
documents=$tree/usr/share/doc/miriam
install -d "$documents"
{ "$binary" licenses; echo; cat LICENSE-MIT LICENSE-APACHE; } > "$documents/copyright"
maintainer=${MAINTAINER:-The developers of Miriam <miriam@localhost>}
gzip -9nc CHANGELOG.md > "$documents/CHANGELOG.md.gz"
gzip -9n > "$documents/changelog.gz" << END
miriam ($version) unstable; urgency=medium

  * CHANGELOG.md.gz lists all changes.

 -- $maintainer  $(LC_ALL=C date -uR -d "@$SOURCE_DATE_EPOCH")
END
install -d "$tree/usr/share/lintian/overrides"
cat > "$tree/usr/share/lintian/overrides/miriam" << END
# The libraries in the binary want their licences' texts beside it, on every system.
miriam: copyright-file-contains-full-apache-2-license
miriam: copyright-file-contains-full-gpl-license
miriam: copyright-not-using-common-license-for-lgpl
END
cp -r examples/toy "$documents/examples"
find "$tree" -type f ! -perm -u+x -exec chmod 644 {} +
find "$tree" -type d -exec chmod 755 {} +
install -d "$tree/DEBIAN"
echo /etc/miriam/serve.toml > "$tree/DEBIAN/conffiles"
cat > "$tree/DEBIAN/control" << END
Package: miriam
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --exclude=DEBIAN "$tree" | cut -f1)
Section: science
Priority: optional
${depends}Description: machine translation in one program
 Phrase-based training and decoding with Moses' formats, n-gram language
 models with KenLM's, neural training and decoding with Marian's, and a
 translation server that speaks the protocols of other servers.
END
(cd "$tree" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
package=$folder/miriam_${version}_$architecture.deb
# COMPRESSION is a method of dpkg-deb with options, such as gzip -z1 (xz).
# shellcheck disable=SC2086
dpkg-deb --root-owner-group -Z${COMPRESSION:-xz} --build "$tree" "$package" > /dev/null
echo "$package"
