"""JSON of unknown origin into the dataclasses of the model, field by field.

A capture may come from anywhere: whatever does not have the type the model says is refused with a sentence that names
the file and the field. Keys that this version does not know are left out.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from tritonscope.errors import CaptureUnreadable
from tritonscope.model import FORMAT, Capture, Failure, Launch, PassRecord, Stage, Tuning
from tritonscope.store import layout

__all__ = [
    "check_format",
    "decode_capture",
    "decode_failure",
    "decode_launch",
    "decode_pass",
    "decode_stage",
    "decode_tuning",
    "parse_object",
    "take",
]

_STATUSES = ("ok", "failed", "crashed", "timeout", "interrupted", "running")
_MOST_AXES = 3
_STEP = re.compile(r"\d{1,9}(?:\.\d{1,9})*", re.ASCII)

_TEXT = (str,)
_OBJECT = (dict,)
_LIST = (list,)
_YES_OR_NO = (bool,)
_NOTHING = type(None)
_NUMBER_OR_NONE = (int, float, _NOTHING)
_COUNT_OR_NONE = (int, _NOTHING)
_TEXT_OR_NONE = (str, _NOTHING)

_Types = tuple[type, ...]

_STAGE: Mapping[str, _Types] = {
    "stage": _TEXT,
    "seconds": _NUMBER_OR_NONE,
    "lines": _COUNT_OR_NONE,
    "bytes": (int,),
    "file": _TEXT,
}
_PASS: Mapping[str, _Types] = {
    "step": _TEXT,
    "stage": _TEXT,
    "name": _TEXT,
    "options": _TEXT,
    "ms": _NUMBER_OR_NONE,
    "changed": _YES_OR_NO,
    "ops_before": _COUNT_OR_NONE,
    "ops_after": _COUNT_OR_NONE,
    "file": _TEXT_OR_NONE,
    "method": _TEXT,
}
_FAILURE: Mapping[str, _Types] = {
    "stage": _TEXT_OR_NONE,
    "pass": _TEXT_OR_NONE,
    "inner": _TEXT_OR_NONE,
    "step": _TEXT_OR_NONE,
    "message": _TEXT,
    "file": _TEXT_OR_NONE,
    "line": _COUNT_OR_NONE,
    "column": _COUNT_OR_NONE,
    "source_line": _TEXT_OR_NONE,
    "reproducer": _TEXT_OR_NONE,
}
_LAUNCH: Mapping[str, _Types] = {"grid": _LIST, "arguments": _LIST, "count": (int,)}
_TUNING: Mapping[str, _Types] = {"config": _OBJECT, "ms": _NUMBER_OR_NONE, "best": (bool, _NOTHING)}
_TENSOR: Mapping[str, _Types] = {"dtype": _TEXT, "shape": _LIST, "strides": _LIST, "aligned": _YES_OR_NO}
_CAPTURE: Mapping[str, _Types] = {
    "kernel": _TEXT,
    "target": _TEXT,
    "key": _TEXT,
    "status": _TEXT,
    "created": _TEXT,
    "seconds": _NUMBER_OR_NONE,
    "request": _OBJECT,
    "components": _OBJECT,
    "metadata": _OBJECT,
    "resources": _OBJECT,
}


def parse_object(text: bytes, where: str) -> dict[str, Any]:
    """The JSON object in `text`; `where` names it in the sentence of CaptureUnreadable, which anything else raises.

    NaN and infinities, which Python's own parser lets pass, are no JSON and are refused.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise CaptureUnreadable(f"{where} is not JSON ({error}); it is damaged, so compile again") from None
    if not isinstance(value, dict):
        raise CaptureUnreadable(f"{where} is not a JSON object; it does not belong to a capture")
    return value


def check_format(version: Any, where: str) -> None:
    """Raise CaptureUnreadable unless this version of tritonscope reads captures of format `version`."""
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise CaptureUnreadable(f"{where} names no capture format; it does not belong to a capture")
    if version > FORMAT:
        raise CaptureUnreadable(
            f"{where} has capture format {version}, and this tritonscope reads up to {FORMAT}; upgrade tritonscope"
        )


def take(value: Mapping[str, Any], types: Mapping[str, _Types], where: str) -> dict[str, Any]:
    """The entries of `value` that `types` names, each of one of its types; an absent one counts as null."""
    taken = {}
    for name, allowed in types.items():
        entry = value.get(name)
        if type(entry) not in allowed:
            found = "missing" if name not in value else f"a {type(entry).__name__}"
            raise CaptureUnreadable(f"{where}: {name!r} is {found}; the capture is damaged, so compile again")
        taken[name] = entry
    return taken


def decode_stage(value: Any, where: str) -> Stage:
    """A model.Stage; raises CaptureUnreadable."""
    taken = take(_object(value, where), _STAGE, where)
    _check_file(taken["file"], where)
    return Stage(**taken)


def decode_pass(value: Any, where: str) -> PassRecord:
    """A model.PassRecord; raises CaptureUnreadable."""
    value = _object(value, where)
    taken = take(value, _PASS, where)
    before, scope = value.get("before"), value.get("scope", "")
    if not isinstance(before, _TEXT_OR_NONE) or not isinstance(scope, str):
        raise CaptureUnreadable(f"{where}: 'before' or 'scope' is no text; the capture is damaged, so compile again")
    if not _STEP.fullmatch(taken["step"]):
        raise CaptureUnreadable(f"{where}: {taken['step']!r} is no step; the capture is damaged, so compile again")
    _check_file(taken["file"], where)
    _check_file(before, where)
    return PassRecord(**taken, before=before, scope=scope)


def decode_failure(value: Any, where: str) -> Failure:
    """A model.Failure; raises CaptureUnreadable."""
    value = _object(value, where)
    taken = take(value, _FAILURE, where)
    diagnostics = value.get("diagnostics", "")
    if not isinstance(diagnostics, str):
        raise CaptureUnreadable(f"{where}: 'diagnostics' is no text; the capture is damaged, so compile again")
    _check_file(taken["reproducer"], where)
    return Failure(pass_=taken.pop("pass"), **taken, diagnostics=diagnostics)


def decode_capture(value: Mapping[str, Any], capture: str, path: str, where: str) -> Capture:
    """A model.Capture that is found at `path` and called `capture`, whatever it says of itself."""
    check_format(value.get("format"), where)
    taken = take(value, _CAPTURE, where)
    if taken["status"] not in _STATUSES:
        raise CaptureUnreadable(f"{where}: {taken['status']!r} is no status; the capture is damaged, so compile again")
    failure = value.get("failure")
    verified = value.get("verified")
    return Capture(
        capture=capture,
        path=path,
        **taken,
        command=texts(value.get("command", []), f"{where}: 'command'"),
        versions=text_values(value.get("versions", {}), f"{where}: 'versions'"),
        stages=tuple(decode_stage(stage, f"{where}: a stage") for stage in _list(value.get("stages"), where)),
        passes=tuple(decode_pass(record, f"{where}: a pass") for record in _list(value.get("passes"), where)),
        failure=None if failure is None else decode_failure(failure, f"{where}: the failure"),
        notes=texts(value.get("notes", []), f"{where}: 'notes'"),
        verified=None if verified is None else yes_or_no_values(verified, f"{where}: 'verified'"),
        launches=tuple(decode_launch(each, f"{where}: a launch") for each in _list(value.get("launches", []), where)),
        tuning=tuple(
            decode_tuning(each, f"{where}: a configuration") for each in _list(value.get("tuning", []), where)
        ),
    )


def decode_launch(value: Any, where: str) -> Launch:
    """A model.Launch; raises CaptureUnreadable."""
    taken = take(_object(value, where), _LAUNCH, where)
    grid = _numbers(taken["grid"], where)
    if len(grid) > _MOST_AXES:
        raise CaptureUnreadable(f"{where} has a grid of {len(grid)} axes; the capture is damaged, so compile again")
    arguments = tuple(_argument(each, where, named=True) for each in taken["arguments"])
    return Launch(grid, arguments, taken["count"])


def decode_tuning(value: Any, where: str) -> Tuning:
    """A model.Tuning; raises CaptureUnreadable."""
    return Tuning(**take(_object(value, where), _TUNING, where))


def _argument(value: Any, where: str, *, named: bool = False) -> dict[str, Any]:
    value = _object(value, where)
    taken: dict[str, Any] = take(value, {"name": _TEXT}, where) if named else {}
    if "tensor" in value:
        taken["tensor"] = _tensor(value["tensor"], where)
    elif "descriptor" in value:
        descriptor = _object(value["descriptor"], where)
        more = take(descriptor, {"block": _LIST, "layout": _TEXT_OR_NONE}, where)
        taken["descriptor"] = {**_tensor(descriptor, where), **more, "block": list(_numbers(more["block"], where))}
    elif "items" in value:
        taken["items"] = [_argument(each, where) for each in take(value, {"items": _LIST}, where)["items"]]
    else:
        taken |= take(value, {"value": _TEXT}, where)
    return taken


def _tensor(value: Any, where: str) -> dict[str, Any]:
    taken = take(_object(value, where), _TENSOR, where)
    shape, strides = (list(_numbers(taken[name], where)) for name in ("shape", "strides"))
    if len(shape) != len(strides):
        raise CaptureUnreadable(f"{where}: a tensor has {len(shape)} axes and {len(strides)} strides; compile again")
    return {**taken, "shape": shape, "strides": strides}


def _numbers(value: list[Any], where: str) -> tuple[int, ...]:
    if all(type(entry) is int for entry in value):
        return tuple(value)
    raise CaptureUnreadable(f"{where} has something else than numbers; the capture is damaged, so compile again")


def texts(value: Any, where: str) -> tuple[str, ...]:
    """A list of texts; raises CaptureUnreadable."""
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return tuple(value)
    raise CaptureUnreadable(f"{where} is no list of texts; the capture is damaged, so compile again")


def text_values(value: Any, where: str) -> dict[str, str]:
    """An object whose values are texts; those that are null, for tools that are not there, are left out."""
    if isinstance(value, dict) and all(isinstance(entry, _TEXT_OR_NONE) for entry in value.values()):
        return {name: entry for name, entry in value.items() if entry is not None}
    raise CaptureUnreadable(f"{where} is no object of texts; the capture is damaged, so compile again")


def yes_or_no_values(value: Any, where: str) -> dict[str, bool]:
    """An object whose values are true or false; raises CaptureUnreadable."""
    if isinstance(value, dict) and all(isinstance(entry, bool) for entry in value.values()):
        return value
    raise CaptureUnreadable(f"{where} is no object of true and false; the capture is damaged, so compile again")


def _object(value: Any, where: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise CaptureUnreadable(f"{where} is not an object; the capture is damaged, so compile again")


def _list(value: Any, where: str) -> list[Any]:
    if isinstance(value, list):
        return value
    raise CaptureUnreadable(f"{where}: 'stages' or 'passes' is no list; the capture is damaged, so compile again")


def _check_file(name: str | None, where: str) -> None:
    if name is not None and layout.escapes(name):
        raise CaptureUnreadable(f"{where}: the file name {name!r} leads out of the capture; do not trust this folder")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
