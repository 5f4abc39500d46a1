"""The journal of a capture: one JSON object a line, in the order in which things happened.

`engine.protocol` lists the events. A capture is what folding them gives, so the journal alone is one.
"""

import errno
import fcntl
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tritonscope.errors import CaptureUnreadable, Missing
from tritonscope.model import Capture, Failure
from tritonscope.store import decode, files, layout

__all__ = ["NO_ROOM", "Journal", "fold", "identity", "is_held", "read"]

#: The errors of a disk, or of a quota, that is full.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)

_LARGEST_JOURNAL = 256 << 20
_LARGEST_LINE = 16 << 20


class Journal:
    """The journal of a capture that is being made; whoever holds it holds an exclusive lock on the file."""

    def __init__(self, folder: Path, *, reopen: bool = False) -> None:
        """Start the journal in `folder`, which has none, or `reopen` the one that it has; raises OSError."""
        self.folder = folder
        how = os.O_APPEND if reopen else os.O_CREAT | os.O_EXCL
        self._file = os.open(folder / layout.JOURNAL, os.O_WRONLY | how | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._size = os.fstat(self._file).st_size

    def append(self, event: Mapping[str, Any]) -> None:
        """Add `event` with the "time", in seconds since 1970; raises Missing where the disk is full.

        What was there before stays a whole journal, even then.
        """
        line = json.dumps({**event, "time": time.time()}, ensure_ascii=True, allow_nan=False).encode() + b"\n"
        try:
            written = os.write(self._file, line)
            if written < len(line):
                os.write(self._file, line[written:])
                # A short write of a regular file means that room ran out; the second one usually says so.
                if os.fstat(self._file).st_size < self._size + len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            os.ftruncate(self._file, self._size)
            os.lseek(self._file, self._size, os.SEEK_SET)
            if error.errno in NO_ROOM:
                raise Missing(
                    f"no room left on the disk of {self.folder}; what was captured so far is there, "
                    "so make room or choose another folder with --dumps, and compile again"
                ) from None
            raise
        self._size += len(line)

    def close(self) -> None:
        """Give the lock back."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def is_held(folder: Path) -> bool:
    """Whether a process is writing the journal in `folder` at this moment."""
    try:
        descriptor = os.open(folder / layout.JOURNAL, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def read(folder: Path) -> list[dict[str, Any]]:
    """The events of the journal in `folder`; a last line that was cut off is left out.

    Raises CaptureUnreadable, naming the line, where another line is no event.
    """
    path = folder / layout.JOURNAL
    *lines, cut_off = files.read_bounded(path, _LARGEST_JOURNAL).split(b"\n")
    del cut_off
    events = []
    for number, line in enumerate(lines, 1):
        where = f"line {number} of {path}"
        if len(line) > _LARGEST_LINE:
            raise CaptureUnreadable(f"{where} has over {_LARGEST_LINE} bytes, so it is no event; compile again")
        event = decode.parse_object(line, where)
        if not isinstance(event.get("event"), str):
            raise CaptureUnreadable(f"{where} names no event; the journal is damaged, so compile again")
        events.append(event)
    return events


def identity(events: Iterable[Mapping[str, Any]]) -> str | None:
    """The id in the "key" event, None where the compilation did not come that far."""
    return next((e["id"] for e in events if e["event"] == "key" and isinstance(e.get("id"), str)), None)


def fold(events: Iterable[Mapping[str, Any]], path: Path) -> Capture:
    """The capture in the folder `path` that `events` tell of; without an "end", its status is "interrupted".

    Raises CaptureUnreadable, naming the line, where an event lacks what it should have.
    """
    story = _Story(path)
    for number, event in enumerate(events, 1):
        story.tell(event, f"line {number} of {path / layout.JOURNAL}")
    return story.capture()


def _step_order(step: str) -> tuple[int, ...]:
    return tuple(int(part) for part in step.split("."))


class _Story:
    """What the events so far come to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.state: dict[str, Any] = {
            "key": "",
            "status": "interrupted",
            "seconds": None,
            "versions": {},
            "components": {},
            "metadata": {},
            "resources": {},
            "notes": [],
            "stages": [],
            "passes": [],
            "failure": None,
            "verified": None,
            "launches": [],
            "tuning": [],
        }
        self.stage: str | None = None
        self.started: dict[str, Mapping[str, Any]] = {}

    def tell(self, event: Mapping[str, Any], where: str) -> None:
        name = event["event"]
        if name == "request":
            self._request(event, where)
        elif "request" not in self.state:
            raise CaptureUnreadable(f"{where}: the journal does not start with the request; it is damaged")
        elif name == "loaded":
            self._loaded(event, where)
        elif name == "key":
            self.state |= {"key": event.get("hash")} | decode.take(event, {"components": (dict,)}, where)
        elif name == "begin":
            self.stage = decode.take(event, {"stage": (str,)}, where)["stage"]
        elif name == "pass_begin":
            begun = decode.take(event, {"step": (str,), "stage": (str,), "name": (str,)}, where)
            self.started[begun["step"]] = begun
        elif name == "pass":
            record = decode.decode_pass(event, where)
            self.started.pop(record.step, None)
            self.state["passes"].append(record)
        elif name == "stage":
            self.state["stages"].append(decode.decode_stage(event, where))
            self.stage = None
        elif name == "restart":
            # The compilation began anew: what follows replaces all that it had given.
            self.state["passes"].clear()
            self.state["stages"] = [stage for stage in self.state["stages"] if stage.stage in ("python", "ast")]
            self.started.clear()
        elif name == "failure":
            self.state["failure"] = decode.decode_failure(event, where)
        elif name in ("metadata", "resources", "verified"):
            self.state |= decode.take(event, {name: (dict,)}, where)
        elif name == "note":
            self.state["notes"].append(decode.take(event, {"text": (str,)}, where)["text"])
        elif name == "traced":
            self.state |= decode.take(event, {"launches": (list,), "tuning": (list,)}, where)
        elif name == "end":
            self.state |= decode.take(event, {"status": (str,), "seconds": (int, float, type(None))}, where)

    def capture(self) -> Capture:
        if "request" not in self.state:
            raise CaptureUnreadable(f"{self.path / layout.JOURNAL} is empty, so there is no capture; compile again")
        passes = sorted(self.state.pop("passes"), key=lambda record: _step_order(record.step))
        failure = self.state.pop("failure") or self._cut_off()
        stages = self.state.pop("stages")
        state = self.state | {"stages": [], "passes": [], "failure": None}
        whole = decode.decode_capture(
            state, f"{self.path.parent.name}/{self.path.name}", str(self.path), str(self.path / layout.JOURNAL)
        )
        return replace(whole, stages=tuple(stages), passes=tuple(passes), failure=failure)

    def _request(self, event: Mapping[str, Any], where: str) -> None:
        decode.check_format(event.get("format"), where)
        types = {"request": (dict,), "command": (list,), "created": (str,), "versions": (dict,)}
        self.state |= {"format": event["format"]} | decode.take(event, types, where)
        request = self.state["request"]
        kernel, target = request.get("kernel"), request.get("target")
        if not isinstance(kernel, dict) or not isinstance(target, dict):
            raise CaptureUnreadable(f"{where}: the request names no kernel or target; it is damaged, so compile again")
        self.state["kernel"] = kernel.get("name")
        arch = target.get("arch")
        self.state["target"] = f"sm_{arch}" if target.get("backend") == "cuda" else arch

    def _loaded(self, event: Mapping[str, Any], where: str) -> None:
        self.state["versions"] = {**self.state["versions"], **decode.text_values(event.get("versions", {}), where)}
        self.state["notes"] += decode.texts(event.get("notes", []), where)
        used = {name: event[name] for name in ("function", "signature", "options") if name in event}
        self.state["request"] = {**self.state["request"], "used": used}

    def _cut_off(self) -> Failure | None:
        """Where a compilation that ended early was, as far as the events tell."""
        if self.state["status"] not in layout.ENDED_EARLY:
            return None
        if not self.started and self.stage is None:
            if self.state["key"]:
                return None
            loaded = "used" in self.state["request"]
            doing = "Triton's cache key was being made" if loaded else "the kernel's file was being loaded"
            return Failure(None, None, None, None, f"{doing} when the compilation ended")
        begun = list(self.started.values())
        outer = begun[0] if begun else {"stage": self.stage, "name": None, "step": None}
        inner = begun[-1]["name"] if len(begun) > 1 else None
        where = f"the pass {outer['name']}" if outer["name"] else f"the stage {outer['stage']}"
        return Failure(
            outer["stage"], outer["name"], inner, outer["step"], f"the compilation was in {where} when it ended"
        )
