#!/usr/bin/env bash
# Runs one Windows program in the folder that get-wine.sh made: wine.sh PROGRAM WORDS... with EVERTURN_WINE set.
# The mounts are this process's own and go with it. Standard streams must be files: a pipe ends Node under wine.
set -eu
export WINEPREFIX=/everturn/windows WINEDEBUG=-all WINESERVER=/usr/lib/wine/wineserver64 HOME=/everturn XDG_RUNTIME_DIR=/tmp LC_ALL=C.UTF-8
exec unshare --mount --propagation private bash -c '
  mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" /usr/lib/wine/wine64 "$@"
' "$EVERTURN_WINE" "$@"
