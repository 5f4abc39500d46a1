"""What is remembered between sessions, in the XDG state folder."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

__all__ = ["State", "folder", "load", "save"]


@dataclass(frozen=True)
class State:
    """The last capture (its path), the pass that was shown, filters, theme, and the last form of each kernel."""

    capture: str = ""
    step: str = ""
    theme: str = ""
    changed_only: bool = False
    forms: dict[str, dict[str, str]] = field(default_factory=dict)


def load(environment: Mapping[str, str] = os.environ) -> State:
    """What was kept; the defaults where nothing readable was."""
    try:
        value = json.loads(_path(environment).read_text(encoding="utf-8"))
        known = {each.name: value[each.name] for each in fields(State) if each.name in value}
        found = State(**known)
        right = all(isinstance(getattr(found, each.name), type(getattr(State(), each.name))) for each in fields(State))
        return found if right else State()
    except (OSError, ValueError, TypeError, KeyError):
        return State()


def save(state: State, environment: Mapping[str, str] = os.environ) -> None:
    """Keep `state`; a folder that cannot be written to keeps none."""
    path = _path(environment)
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(asdict(state), indent=1), encoding="utf-8")
        partial.replace(path)


def folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Ours among the XDG state folders; it need not exist."""
    home = environment.get("HOME") or os.devnull
    return Path(environment.get("XDG_STATE_HOME") or Path(home) / ".local" / "state") / "tritonscope"


def _path(environment: Mapping[str, str]) -> Path:
    return folder(environment) / "tui.json"
