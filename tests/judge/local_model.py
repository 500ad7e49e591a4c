"""The small real model that tests ask."""

from __future__ import annotations

import sys
from pathlib import Path

MODEL = Path(sys.prefix) / "models" / "SmolLM2-135M-Instruct.gguf"


def model() -> Path:
    """Its file, which set-up has fetched."""
    assert MODEL.is_file(), "no model: run 'sh scripts/model.sh .venv'"
    return MODEL
