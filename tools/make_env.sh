#!/usr/bin/env bash
# Makes or updates .venv from requirements.lock: every package by exact version and hash, then Stemma
# itself as an editable install. Needs Python 3.11 or newer with venv, and nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
venv=.venv
started=$SECONDS
# The environment of whoever calls must not decide what gets installed where.
unset PYTHONPATH PYTHONHOME VIRTUAL_ENV UV_PROJECT_ENVIRONMENT
export UV_PYTHON_DOWNLOADS=never UV_NO_PROGRESS=1 UV_HTTP_TIMEOUT=${UV_HTTP_TIMEOUT:-180}

say() { printf 'env: %s\n' "$*"; }
fail() { printf 'env: %s\n' "$*" >&2; exit 1; }

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  fail "Python 3.11 or newer is needed; '$python' is not. Name another: make PYTHON=python3.12"

# Two makes at once would tear each other's environment: the second waits, then finds little to do.
# (flock is not on every system; without it, one make at a time.)
if command -v flock >/dev/null; then
  mkdir -p .cache
  exec 9>.cache/env.lock
  flock --nonblock 9 || { say "waiting for another make"; flock 9; }
fi

if ! "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  say "making $venv with $("$python" --version)"
  rm -rf "$venv"
  "$python" -m venv "$venv" || fail "'$python -m venv' failed; on Debian: apt-get install python3-venv"
fi

# uv's own line in the lock, with its hashes.
bootstrap=$(mktemp)
trap 'rm -f "$bootstrap"' EXIT
sed -n '/^uv==/,/[^\\]$/p' requirements.lock >"$bootstrap"
wanted=$(sed -n '1s/^uv==\([^ ;]*\).*/\1/p' "$bootstrap")
if [ "$("$venv/bin/uv" --version 2>/dev/null | cut -d' ' -f2)" != "$wanted" ]; then
  say "installing uv $wanted"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$bootstrap"
fi

say "installing $(grep -c '^[a-z].*==' requirements.lock) packages (the first time, some 400 MB)"
"$venv/bin/uv" pip sync --quiet --compile-bytecode --python "$venv/bin/python" --require-hashes requirements.lock
# --no-build-isolation: the build back end comes from the lock as well.
"$venv/bin/uv" pip install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation --editable .
touch "$venv/.made"
say "ready in $((SECONDS - started)) s"
