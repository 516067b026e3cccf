#!/usr/bin/env bash
# Resolves pyproject.toml into requirements.lock: exact versions with hashes, for every platform, and no
# registry names. Run through `make lock`; pass --upgrade to take newer versions.
set -euo pipefail
cd "$(dirname "$0")/.."

"${UV:-.venv/bin/uv}" pip compile pyproject.toml --group dev --all-extras \
  --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url \
  --no-emit-find-links --output-file requirements.lock --quiet "$@"
# What the image needs of them, at the same versions.
"${UV:-.venv/bin/uv}" pip compile pyproject.toml --extra traces --constraint requirements.lock \
  --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url \
  --no-emit-find-links --output-file deploy/requirements.lock --quiet
echo "requirements.lock: $(grep -c '^[a-z].*==' requirements.lock) packages"
