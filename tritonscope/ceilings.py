"""What the devices that were measured reach at best, kept between processes: measuring takes a second or two."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["known", "remember"]

# In the name: what else was measured counts no more.
_FILE = "ceilings-1.json"


def known(environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """What was measured, by the device's key ("device" events have it); {} where nothing readable was kept."""
    try:
        found = json.loads(_path(environment).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def remember(device: str, ceilings: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> None:
    """Keep `ceilings` of the device with that key; where that cannot be, they are measured again next time."""
    path = _path(environment)
    text = json.dumps({**known(environment), device: ceilings}, indent=1)
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError:
        with suppress(OSError):
            partial.unlink()


def _path(environment: Mapping[str, str]) -> Path:
    home = environment.get("HOME") or os.devnull
    return Path(environment.get("XDG_CACHE_HOME") or Path(home) / ".cache") / "tritonscope" / _FILE
