"""One pass over many texts, each in a process of its own. Runs in the child.

Importing Triton takes far longer than a pass: this process imports it and forks for each text. It makes no MLIR context
itself, since LLVM's threads, which come with one, would not be in the copy.
"""

import json
import os
import select
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from tritonscope.engine import replay
from tritonscope.engine.events import Events
from tritonscope.errors import TritonscopeError

__all__ = ["run"]

#: Of what a compiler prints, as much as tells why it failed.
_MOST_PRINTED = 200_000


def run(message: Mapping[str, Any], events: Events, following: Callable[[], Mapping[str, Any]]) -> None:
    """Send "tried" for each {path, timeout} that `following` gives; the parent ends it.

    Raises Missing or UsageError where the pass is not there to be run.
    """
    replay.adds(message["call"])
    with tempfile.TemporaryFile() as output:
        while True:
            wanted = following()
            events.send("tried", **_tried({**message, "path": wanted["path"]}, wanted["timeout"], output.fileno()))


def _tried(message: Mapping[str, Any], timeout: float, output: int) -> dict[str, Any]:
    os.ftruncate(output, 0)
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the other thread only waits for the parent's end
        pid = os.fork()
    if not pid:
        _attempt(message, writer, output)
    os.close(writer)
    said = _heard(reader, timeout)
    os.close(reader)
    if said is None:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    if said is None:
        found = {"how": "timeout", "message": "it did not end in time"}
    elif said:
        found, ended_by = json.loads(said), None
    else:
        found = {"how": "crashed", "message": f"the process died of {_name(ended_by)}"}
    printed = os.pread(output, _MOST_PRINTED, 0).decode(errors="replace")
    return {**found, "signal": ended_by, "printed": printed}


def _name(number: int | None) -> str:
    return signal.Signals(number).name if number is not None else "an exit of its own"


def _heard(reader: int, timeout: float) -> bytes | None:
    """All that comes until the other end closes; None where that takes longer than `timeout` seconds."""
    deadline, said = time.monotonic() + timeout, b""
    while select.select([reader], [], [], max(deadline - time.monotonic(), 0))[0]:
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            return said
        said += chunk
    return None


def _attempt(message: Mapping[str, Any], writer: int, output: int) -> None:
    """Run the pass and write down what came of it; ends this process."""
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.lseek(2, 0, os.SEEK_SET)
    try:
        found = {"how": "passed", "message": ""}
        try:
            replay.prepared(message).run()
        except TritonscopeError as error:
            found = {"how": "unread", "message": str(error)}
        except Exception as error:
            found = {"how": "failed", "message": str(error)}
        with suppress(OSError):
            os.write(writer, json.dumps(found).encode())
    finally:
        os._exit(0)
