"""What leaving passes out came to, kept beside the whole compile, so that an ablation that was cut off can go on."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from tritonscope.ablation import OUTCOMES, Ablated, Variant
from tritonscope.errors import CaptureUnreadable
from tritonscope.model import to_json
from tritonscope.store import files, layout

__all__ = ["keep", "kept"]

_LARGEST = 16 << 20
_NUMBERS = {"ms", "ratio", "tflops", "registers", "spills", "shared", "instructions"}
_TEXTS = {"pass", "step", "detail"}


def keep(folder: Path, how: str, row: Ablated) -> None:
    """Add `row`, which `how` says the circumstances of; a folder that cannot be written to keeps none."""
    line = json.dumps({"how": how, **to_json(row)}, ensure_ascii=True, allow_nan=False) + "\n"
    try:
        with (folder / layout.ABLATIONS).open("a", encoding="ascii") as file:
            file.write(line)
    except OSError:
        return


def kept(folder: Path, how: str, variant: Variant) -> Ablated | None:
    """The newest row of `variant` under the same circumstances, None where there is none."""
    found = None
    for row in _rows(folder, how):
        if row.pass_ == ", ".join(variant.passes):
            found = row
    return found


def _rows(folder: Path, how: str) -> list[Ablated]:
    """The file may come from anywhere: a line that is no row is passed over."""
    path = folder / layout.ABLATIONS
    if not path.is_file() or path.is_symlink():
        return []
    try:
        lines = files.read_bounded(path, _LARGEST).splitlines()
    except CaptureUnreadable:
        return []
    return [row for line in lines if (row := _row(line, how)) is not None]


def _row(line: bytes, how: str) -> Ablated | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("how") != how or value.get("outcome") not in OUTCOMES:
        return None
    names = {each.name.rstrip("_"): each.name for each in fields(Ablated)}
    if not all(_fits(name, value.get(name)) for name in names):
        return None
    checked: dict[str, Any] = {field: value.get(name) for name, field in names.items()}
    return Ablated(**checked)


def _fits(name: str, value: Any) -> bool:
    if name in _NUMBERS:
        return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))
    if name in _TEXTS:
        return value is None or isinstance(value, str)
    if name == "classes":
        return isinstance(value, dict) and all(isinstance(count, int) for count in value.values())
    return isinstance(value, bool) if name == "identical" else isinstance(value, str)
