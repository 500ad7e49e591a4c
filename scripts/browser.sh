#!/bin/sh
# Sees to it that there is a Chromium for the tests: sh scripts/browser.sh
set -eu
for name in chromium chromium-browser; do
  if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
echo "installing chromium ..." >&2
if [ "$(id -u)" = 0 ]; then as_root=""; else as_root="sudo -n"; fi
$as_root apt-get update -qq >/dev/null 2>&1 || true
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null 2>&1 || {
  echo "could not install Chromium: install the package chromium" >&2
  exit 1
}
