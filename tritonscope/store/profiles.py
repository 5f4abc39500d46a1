"""The profile that a capture keeps: of its kernel's last profiled launch."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tritonscope.errors import CaptureUnreadable
from tritonscope.model import Capture, Profile, Sampled, to_json
from tritonscope.store import decode, files, layout

__all__ = ["keep", "profile_of"]

_LARGEST = 64 << 20
_LARGEST_NUMBER = 10**24

_PROFILE: Mapping[str, tuple[type, ...]] = {
    "kernel": (str,),
    "size": (dict,),
    "config": (dict,),
    "device": (str,),
    "created": (str,),
    "tool": (str,),
    "metrics": (dict,),
    "units": (dict,),
}
_SAMPLED: Mapping[str, tuple[type, ...]] = {
    "offset": (int,),
    "text": (str,),
    "samples": (int,),
    "not_issued": (int,),
    "executed": (int,),
    "stalls": (dict,),
}
_COUNTS = ("offset", "samples", "not_issued", "executed")


def keep(profile: Profile, folder: Path) -> None:
    """Put `profile` into the capture in `folder` in place of an earlier one, whole or not at all; raises OSError."""
    partial = folder / f".{layout.PROFILE}.{os.getpid()}"
    try:
        with partial.open("w", encoding="ascii") as file:
            json.dump(to_json(profile), file, allow_nan=False)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(folder / layout.PROFILE)
    finally:
        partial.unlink(missing_ok=True)


def profile_of(capture: Capture) -> Profile | None:
    """The profile that the capture keeps, None for none; raises CaptureUnreadable for a damaged one."""
    path = Path(capture.path) / layout.PROFILE
    if not os.path.lexists(path):
        return None
    value = decode.parse_object(files.read_bytes(Path(capture.path), layout.PROFILE, _LARGEST), str(path))
    taken = decode.take(value, _PROFILE, str(path))
    if not all(_is_number(number) for number in taken["metrics"].values()):
        raise _damaged(path, "a metric is no number")
    instructions = value.get("instructions")
    if not isinstance(instructions, list) or not instructions:
        raise _damaged(path, "it has no instructions")
    return Profile(
        **taken
        | {name: {key: _word(word) for key, word in taken[name].items()} for name in ("size", "config", "units")},
        command=_texts(value.get("command")),
        notes=_texts(value.get("notes")),
        instructions=tuple(_instruction(each, path) for each in instructions),
    )


def _instruction(value: Any, path: Path) -> Sampled:
    taken = decode.take(value if isinstance(value, dict) else {}, _SAMPLED, str(path))
    counts = [taken[name] for name in _COUNTS] + list(taken["stalls"].values())
    if not all(type(count) is int and 0 <= count <= _LARGEST_NUMBER for count in counts):
        raise _damaged(path, "a count is none")
    return Sampled(**taken)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _word(value: Any) -> Any:
    """A number or a word of --size as it is; what else a file may hold there as text."""
    return value if isinstance(value, (str, bool)) or value is None or _is_number(value) else str(value)


def _is_number(value: Any) -> bool:
    """A number that can be written out; JSON's 1e999 is an infinity to Python."""
    return type(value) in (int, float) and -_LARGEST_NUMBER <= value <= _LARGEST_NUMBER


def _damaged(path: Path, why: str) -> CaptureUnreadable:
    return CaptureUnreadable(f"{path} is damaged ({why}); profile the kernel again to replace it")
