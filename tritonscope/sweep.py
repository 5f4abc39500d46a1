"""Many variants of a kernel compiled through any executor of `concurrent.futures`, and what each came to.

A point is compiled by a plain function of plain data, so that threads, processes and other machines can do it; what
comes back is a row, and the capture stays where it was made. Rows are kept in a file as they come, one JSON object a
line, which is what a sweep that was cut off goes on from.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from tritonscope import api, runs
from tritonscope.errors import CaptureUnreadable, ChildDied, TritonscopeError
from tritonscope.model import KernelRef, Request, Target, to_json
from tritonscope.store import files

__all__ = ["FILE", "Point", "Row", "compile_point", "known_rows", "of_sizes", "sweep"]

#: The rows of a dumps folder's sweeps.
FILE = "sweep.jsonl"

_LARGEST_FILE = 256 << 20
_RESOURCES = ("registers", "spills", "shared")


@dataclass(frozen=True)
class Point:
    """One compilation of a sweep. `settings` are what it was asked with; `size` is the spec's, {} without one."""

    request: Request
    settings: Mapping[str, Any] = field(default_factory=dict)
    size: Mapping[str, Any] = field(default_factory=dict)

    def identity(self, python: str) -> str:
        """The same for the same request to the same Python."""
        text = json.dumps([to_json(self.request), dict(self.size), python], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Row:
    """What a point came to. `lines` is the length of its assembly; numbers are None where they are not known.

    `status` is a capture's, or "refused" of what could not be compiled at all; `message` says why it is not "ok".
    """

    identity: str
    kernel: str
    target: str
    settings: Mapping[str, Any]
    size: Mapping[str, Any]
    status: str
    message: str | None
    capture: str | None
    path: str | None
    seconds: float | None
    registers: int | None
    spills: int | None
    shared: int | None
    lines: int | None


def of_sizes(kernel: KernelRef, asked: runs.Asked) -> Iterator[Point]:
    """A point for each size and configuration of `asked`, with the signature that a launch of that size has.

    Raises as `runs.requests` does.
    """
    for size, config, request in runs.requests(kernel, asked):
        yield Point(request, {**size, **config, **asked.constants, **asked.options}, size)


def sweep(
    points: Sequence[Point], executor: Executor, *, python: str, dumps: Path, command: Sequence[str]
) -> Iterator[Row]:
    """Compile every point with `executor`; rows come as they end, and are appended to `FILE` in `dumps`.

    Raises Missing without triton. When it is left early, what was not begun is cancelled.
    """
    futures: list[Future[dict[str, Any]]] = []
    try:
        futures += [executor.submit(compile_point, _task(point, python, dumps, command)) for point in points]
        with (dumps / FILE).open("a+b") as log:
            _end_line(log)
            for future in as_completed(futures):
                found = future.result()
                log.write(json.dumps(found).encode() + b"\n")
                log.flush()
                yield Row(**found)
    finally:
        for future in futures:
            future.cancel()


def _end_line(log: BinaryIO) -> None:
    """Set apart what a sweep that was killed in the middle of a row has left, so that it spoils no other row."""
    if log.seek(0, os.SEEK_END):
        log.seek(-1, os.SEEK_END)
        if log.read(1) != b"\n":
            log.write(b"\n")


def _task(point: Point, python: str, dumps: Path, command: Sequence[str]) -> dict[str, Any]:
    return {
        "request": to_json(point.request),
        "settings": dict(point.settings),
        "size": dict(point.size),
        "identity": point.identity(python),
        "python": python,
        "dumps": str(dumps),
        "command": list(command),
    }


def compile_point(task: Mapping[str, Any]) -> dict[str, Any]:
    """Compile one point, given and answered as plain data: what an executor runs, here or on another machine.

    A kernel that does not compile is a row like any other. Raises Missing without triton or room.
    """
    asked = task["request"]
    kernel, target = KernelRef(**asked["kernel"]), Target(**asked["target"])
    request = Request(**{**asked, "kernel": kernel, "target": target, "skip": tuple(asked["skip"])})
    row: dict[str, Any] = {
        "identity": task["identity"],
        "kernel": request.kernel.name,
        "target": request.target.name,
        "settings": task["settings"],
        "size": task["size"],
        **dict.fromkeys(("message", "capture", "path", "seconds", "registers", "spills", "shared", "lines")),
    }
    try:
        capture = api.capture(request, Path(task["dumps"]), python=task["python"], command=task["command"])
    except (ChildDied, TritonscopeError) as error:
        if error.exit_code == 5:
            raise
        return {**row, "status": "refused", "message": str(error)}
    assembly = next((stage for stage in capture.stages if stage.stage in ("ptx", "amdgcn")), None)
    return {
        **row,
        "status": capture.status,
        "message": capture.failure.message if capture.failure else None,
        "capture": capture.capture,
        "path": capture.path,
        "seconds": capture.seconds,
        "lines": assembly.lines if assembly else None,
        **{name: capture.resources.get(name) for name in _RESOURCES},
    }


def known_rows(dumps: Path, wanted: Iterable[str]) -> dict[str, Row]:
    """By identity, the rows in `dumps` of those `wanted` that are still good: compiled, and the capture still there.

    Raises CaptureUnreadable where the file is no such list.
    """
    path = dumps / FILE
    if not path.exists():
        return {}
    asked, found = set(wanted), {}
    for line in files.read_bounded(path, _LARGEST_FILE).splitlines():
        try:
            row = Row(**json.loads(line))
        except (ValueError, TypeError):
            if line.endswith(b"}"):
                raise CaptureUnreadable(f"{path} is no list of a sweep's rows; move it away") from None
            continue  # the last line of a sweep that was killed
        if row.identity in asked and row.status in ("ok", "failed") and row.path and Path(row.path).is_dir():
            found[row.identity] = row
    return found
