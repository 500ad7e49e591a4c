"""Where the time comes from: never read below the faces, always handed in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Gives the present moment, with its time zone."""
