#!/usr/bin/env bash
# The console's tests drive a real Chromium, Debian's. Installs it where it is missing and we are root; says what to
# do otherwise.
set -euo pipefail

[ "${CHROMIUM:-}" != none ] || exit 0
for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
  [ -n "$name" ] && command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "env: installing chromium, for the console's tests"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  # A font with more than Latin letters: pages are looked at as well.
  apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null </dev/null
  exit 0
fi
cat >&2 <<'TEXT'
make: the console's tests need Chromium, and it is not installed.
make: on Debian or Ubuntu:  sudo apt-get install chromium
make: or name another one:  CHROMIUM=/path/to/chrome make test
make: all other tests:      make test CHROMIUM=none ARGS="--ignore=tests/console"
TEXT
exit 1
