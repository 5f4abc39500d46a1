"""A found compilation made into a capture, and its machine code disassembled in a child."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tritonscope import __version__
from tritonscope.engine.client import Child
from tritonscope.engine.snapshots import SnapshotFolder
from tritonscope.errors import ChildDied, Missing, UsageError
from tritonscope.foreign.found import Found
from tritonscope.model import Capture, KernelRef, Request, to_json
from tritonscope.store import layout, reader
from tritonscope.store.writer import CaptureWriter

__all__ = ["write"]

_TIMEOUT = 180.0  # seconds; nvdisasm takes one for 50,000 instructions
_BINARY = ("cubin", "hsaco")


def write(found: Found, dumps: Path, *, python: str | None, command: Sequence[str]) -> Capture:
    """Make the capture of `found` below `dumps`; one of the same contents is replaced.

    `python` is the Python whose Triton has the disassembler, None to leave SASS out. Raises UsageError where `dumps`
    cannot be written, Missing where there is no room, and leaves nothing behind then.
    """
    request = Request(
        KernelRef(found.kernel, found.source, found.kernel),
        found.target,
        imported_from={"tool": found.tool, "path": found.place},
    )
    writer = CaptureWriter.create(dumps, request, command, {"tritonscope": __version__, **found.versions})
    try:
        _fill(writer, found, python)
        folder = writer.publish(found.status, None)
    except BaseException:
        if writer.published is None:
            writer.discard()
        raise
    return reader.open_capture(folder)


def _fill(writer: CaptureWriter, found: Found, python: str | None) -> None:
    for note in found.notes:
        writer.append({"event": "note", "text": note})
    for name, data in _files(found).items():
        (writer.folder / name).write_bytes(data)
    for each in found.artefacts:
        lines = None if each.stage in _BINARY else each.data.count(b"\n")
        writer.append(_stage(each.stage, _file(found.kernel, each.stage), len(each.data), lines, each.seconds))
    for record in found.passes(SnapshotFolder(writer.folder)):
        writer.append({"event": "pass", **to_json(record)})
    writer.append({"event": "metadata", "metadata": dict(found.metadata)})
    for event in _inspected(writer.folder, found, python):
        writer.append(event)
    if found.failure:
        writer.append({"event": "failure", **to_json(found.failure)})
    if found.launches:
        writer.append({"event": "traced", "launches": to_json(found.launches), "tuning": []})
    if found.log:
        (writer.folder / layout.LOG).write_text(found.log, encoding="utf-8", errors="replace")
    writer.append({"event": "key", "hash": found.key, "id": _id(found), "components": dict(found.components)})


def _inspected(folder: Path, found: Found, python: str | None) -> Iterable[Mapping[str, Any]]:
    """SASS and resources, as events of the journal; a note where they are not to be had."""
    stages = {each.stage for each in found.artefacts}
    if not stages & {"cubin", "amdgcn"}:
        return
    if python is None:
        yield {
            "event": "note",
            "text": "Machine code was not looked into, so there is no SASS; `tritonscope import` does that.",
        }
        return
    message = {
        "action": "inspect",
        "files": {stage: str(folder / _file(found.kernel, stage)) for stage in ("cubin", "amdgcn") if stage in stages},
        "target": to_json(found.target),
        "metadata": {name: found.metadata.get(name) for name in ("name", "shared", "tmem_size", "num_warps")},
    }
    try:
        with Child(message, python=python, timeout=_TIMEOUT) as child:
            for event in child:
                if event["event"] == "sass" and "sass" not in stages:
                    data = str(event["text"]).encode("utf-8", "replace")
                    file = _file(found.kernel, "sass")
                    (folder / file).write_bytes(data)
                    yield _stage("sass", file, len(data), data.count(b"\n"), None)
                elif event["event"] in ("resources", "note"):
                    yield event
            if child.ended.how != "exited":
                raise ChildDied(child.ended.message)
    except (ChildDied, Missing, UsageError) as error:
        yield {"event": "note", "text": f"Machine code was not looked into: {error}"}


def _files(found: Found) -> dict[str, bytes]:
    return {_file(found.kernel, each.stage): each.data for each in found.artefacts}


def _file(kernel: str, stage: str) -> str:
    return f"{layout.kernel_folder(kernel)}.{'py' if stage == 'python' else stage}"


def _stage(stage: str, file: str, size: int, lines: int | None, seconds: float | None) -> dict[str, Any]:
    return {"event": "stage", "stage": stage, "seconds": seconds, "lines": lines, "bytes": size, "file": file}


def _id(found: Found) -> str:
    text = json.dumps([found.tool, found.kernel, found.identity])
    return hashlib.sha256(text.encode()).hexdigest()[:10]
