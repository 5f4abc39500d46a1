"""The runs that a capture keeps."""

import json
from pathlib import Path
from typing import Any

from tritonscope.errors import CaptureUnreadable
from tritonscope.model import Capture
from tritonscope.store import files, layout

__all__ = ["runs_of"]

_LARGEST_RUNS = 64 << 20


def runs_of(capture: Capture) -> list[dict[str, Any]]:
    """The runs that the capture keeps, the oldest first; what is no run is left out."""
    try:
        data = files.read_bounded(Path(capture.path) / layout.RUNS, _LARGEST_RUNS)
    except CaptureUnreadable:
        return []
    found = []
    for line in data.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and isinstance(value.setdefault("size", {}), dict):
            found.append(value)
    return found
