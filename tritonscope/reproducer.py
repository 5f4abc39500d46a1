"""A reproducer file: one comment line of JSON that says which pass, then the IR that goes in.

The IR is MLIR as it is, so that triton-opt takes the file, too.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tritonscope.errors import UsageError

__all__ = ["HEADER", "Reproducer", "format_header", "read"]

HEADER = "// tritonscope replay "

#: Longer first lines are not ours.
LONGEST_HEADER = 1 << 20


@dataclass(frozen=True)
class Reproducer:
    """What a file says of itself.

    `call` is {path, args, kwargs} of the native function that adds the pass; `target` {backend, arch, warp_size};
    `outcome` is what the pass came to when the file was made: "passed", "failed" or "crashed"; `message` is what the
    compiler said if it failed.
    """

    path: Path
    stage: str
    pass_name: str
    options: str
    call: Mapping[str, Any]
    target: Mapping[str, Any]
    versions: Mapping[str, str]
    outcome: str
    message: str | None

    def header(self) -> str:
        """The first line of a file that says the same, with its newline."""
        return format_header({each.name: getattr(self, each.name) for each in fields(self) if each.name != "path"})


def format_header(said: Mapping[str, Any]) -> str:
    """The first line of a reproducer, with its newline; `said` are the fields of Reproducer but for the path."""
    return f"{HEADER}{json.dumps(dict(said))}\n"


def read(path: Path, named: Path | None = None) -> Reproducer:
    """The header of the file at `path`, which the user calls `named`.

    Raises UsageError where it is not there or is no reproducer.
    """
    named = named or path
    try:
        with path.open("rb") as file:
            line = file.readline(LONGEST_HEADER).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(
            f"{named} cannot be read ({error.strerror}); give the reproducer.mlir of a failed capture"
        ) from error
    try:
        if not line.startswith(HEADER):
            raise ValueError("no header")
        found = json.loads(line.removeprefix(HEADER))
        return Reproducer(
            path=named,
            stage=_of(str, found["stage"]),
            pass_name=_of(str, found["pass_name"]),
            options=_of(str, found["options"]),
            call=_call(found["call"]),
            target=_target(found["target"]),
            versions={_of(str, k): _of(str, v) for k, v in _of(dict, found["versions"]).items()},
            # Until "passed" was possible a file said no more than what the compiler had, if it did not crash.
            outcome=_of(str, found.get("outcome") or ("crashed" if found["message"] is None else "failed")),
            message=None if found["message"] is None else _of(str, found["message"]),
        )
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(f"{named} is no reproducer of a capture; give the reproducer.mlir of a failed one") from error


def _of(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _call(value: Any) -> dict[str, Any]:
    path = [_of(str, part) for part in _of(list, value["path"])]
    plain = (int, float, str, bool, type(None))
    args, kwargs = _of(list, value["args"]), _of(dict, value["kwargs"])
    if not path or not all(isinstance(v, plain) for v in (*args, *kwargs.values())):
        raise TypeError("a call with arguments that are not plain")
    return {"path": path, "args": args, "kwargs": kwargs}


def _target(value: Any) -> dict[str, Any]:
    return {
        "backend": _of(str, value["backend"]),
        "arch": _of(str, value["arch"]),
        "warp_size": _of(int, value["warp_size"]),
    }
