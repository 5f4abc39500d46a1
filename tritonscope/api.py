"""What both front ends call."""

import hashlib
import json
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tritonscope import __version__, errors
from tritonscope.engine.client import CLEARED, Cancel, Child
from tritonscope.engine.record import COMPILER_OUTPUT, Recorder
from tritonscope.model import Capture, KernelRef, Request, to_json
from tritonscope.store import reader
from tritonscope.store.writer import CaptureWriter

__all__ = ["capture", "describe"]


def capture(
    request: Request,
    dumps: Path,
    *,
    python: str,
    command: list[str],
    timeout: float | None = None,
    cancel: Cancel | None = None,
    on_event: Callable[[Mapping[str, Any]], None] = lambda event: None,
) -> Capture:
    """Compile `request` in a child and keep what comes of it under `dumps`; returns the capture, whatever its status.

    `timeout` is in seconds. `on_event` is called with each event as it arrives. Raises UsageError, with no capture
    left, where the kernel, its file or its signature is at fault, and Missing where triton or room on the disk is;
    whatever a capture holds by then stays.
    """
    started = time.monotonic()
    writer = CaptureWriter.create(dumps, request, command, {"tritonscope": __version__, **_inherited()})
    recorder = Recorder(writer)
    try:
        error = _listen(request, writer, recorder, python, timeout, cancel, on_event)
    except BaseException:
        recorder_failed = True
        raise
    finally:
        pass
    return error  # placeholder


def describe(kernel: KernelRef, *, python: str, timeout: float | None = None, cancel: Cancel | None = None) -> dict[str, Any]:
    """What the kernel's file says of it: parameters, autotune configurations, spec. Raises UsageError and ChildDied."""
    raise NotImplementedError


def _inherited() -> dict[str, str]:
    return {}
