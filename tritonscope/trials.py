"""What a pass does with one text after another; see `engine.attempts` for how.

A text is still of interest while the pass fails on it in the same way: the first thing that the compiler says is the
same, numbers and names aside, or the same signal ends it.
"""

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonscope.api import error_from
from tritonscope.engine.client import Child
from tritonscope.errors import ChildDied
from tritonscope.ir.mlir_dump import why_failed

__all__ = ["Outcome", "Trials", "trials"]

_START_SECONDS = 120.0

_NAMES = re.compile(r"[%@#!^][\w.$-]+")
_BRACKETS = re.compile(r"<[^<>]*>")
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True)
class Outcome:
    """What came of one text: `how` is "passed", "failed", "crashed", "timeout" or "unread", where it does not parse.

    `why` is what the compiler said first, `signal` the number of the signal that ended a crash.
    """

    how: str
    why: str
    signal: int | None = None

    @property
    def is_failure(self) -> bool:
        """Whether the pass is to blame."""
        return self.how in ("failed", "crashed")

    def like(self, other: "Outcome") -> bool:
        """Whether the pass failed in the same way."""
        return (self.how, self.signal, _masked(self.why)) == (other.how, other.signal, _masked(other.why))


def _masked(text: str) -> str:
    """`text` without what another program would have other names and numbers for."""
    masked = _NAMES.sub("_", text)
    while (without := _BRACKETS.sub("", masked)) != masked:
        masked = without
    return _NUMBERS.sub("0", masked)


class Trials:
    """A child that is given one text after another; see `trials`."""

    def __init__(self, child: Child, folder: Path, timeout: float) -> None:
        self._child = child
        self._events = iter(child)
        self._file = folder / "candidate.mlir"
        self._timeout = timeout
        self.count = 0

    def outcome(self, text: str) -> Outcome:
        """What the pass does with `text`; raises Missing or UsageError where it cannot be run, ChildDied otherwise."""
        self.count += 1
        self._file.write_text(text, encoding="utf-8")
        self._child.wait_anew(_START_SECONDS + self._timeout)
        self._child.send({"path": str(self._file), "timeout": self._timeout})
        for event in self._events:
            if event["event"] == "error":
                raise error_from(event)
            if event["event"] == "tried":
                return Outcome(event["how"], why_failed(event["printed"], event["message"]), event["signal"])
        raise ChildDied(f"the process that tries the pass came to nothing: {self._child.ended.message or 'it ended'}")


@contextmanager
def trials(
    call: Mapping[str, Any], target: Mapping[str, Any], *, python: str, timeout: float, env: Mapping[str, str]
) -> Iterator[Trials]:
    """Run the pass that `call` adds, for `target`, over texts, each for at most `timeout` seconds."""
    message = {"action": "attempts", "call": dict(call), "target": dict(target)}
    with (
        tempfile.TemporaryDirectory(prefix="tritonscope-") as folder,
        Child(message, python=python, env=env) as child,
    ):
        yield Trials(child, Path(folder), timeout)
