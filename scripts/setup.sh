#!/bin/sh
# Makes the project's own environment: sh scripts/setup.sh .venv
set -eu
venv=$1

python=""
for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
  if [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 &&
    "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "calibrant needs Python 3.11 or newer; name one with PYTHON=/path/to/python make ..." >&2
  exit 1
fi

make_venv() { "$python" -m venv --clear "$venv" >/dev/null 2>&1; }

if [ ! -x "$venv/bin/pip" ] && ! make_venv; then
  # Debian and Ubuntu ship venv as a package of its own
  echo "installing python3-venv ..." >&2
  if [ "$(id -u)" = 0 ]; then as_root=""; else as_root="sudo -n"; fi
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  $as_root apt-get update -qq >/dev/null 2>&1 || true
  $as_root apt-get install -y -qq "python$version-venv" >/dev/null 2>&1 ||
    $as_root apt-get install -y -qq python3-venv >/dev/null 2>&1 || true
  make_venv || {
    echo "could not make a virtual environment: install the package python3-venv" >&2
    exit 1
  }
fi

echo "setting up $venv (once; about a minute) ..." >&2
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
  -r requirements.lock
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
  --no-build-isolation -e .
sh scripts/model.sh "$venv" || true
