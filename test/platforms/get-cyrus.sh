#!/usr/bin/env bash
# Puts Cyrus IMAP and Exim from Debian into a folder: get-cyrus.sh FOLDER. They are unpacked and not installed, because the
# packages would remove dovecot and postfix, which other tests need; only the libraries they use are installed.
set -eu
folder=$1
[ -e "$folder/usr/sbin/exim4" ] && exit 0
export DEBIAN_FRONTEND=noninteractive
apt=(apt-get -qq --yes -o DPkg::Lock::Timeout=60 -o Acquire::Retries=3)
packages="cyrus-imapd cyrus-common exim4-daemon-light exim4-base"
policy=/usr/sbin/policy-rc.d made=
# Nothing that is installed for a test may start by itself.
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy" && made=yes
fi
trap '[ -z "$made" ] || rm -f "$policy"' EXIT
"${apt[@]}" update
# shellcheck disable=SC2086
needed=$(apt-get -s --no-install-recommends install $packages sasl2-bin libsasl2-modules-db | sed -nE 's/^Inst ([^ ]+).*/\1/p' | grep -vE '^(cyrus|exim4)-' || true)
# shellcheck disable=SC2086
[ -z "$needed" ] || "${apt[@]}" install --no-install-recommends $needed
# Exim looks for this user by its name, whatever its configuration says.
id Debian-exim >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin Debian-exim
work=$(mktemp -d)
# shellcheck disable=SC2086
(cd "$work" && chmod 777 . && apt-get -qq download $packages)
mkdir -p "$folder.part"
for package in "$work"/*.deb; do dpkg -x "$package" "$folder.part"; done
rm -rf "$work" "$folder"
mv "$folder.part" "$folder"
chmod 755 "$folder"
