"""What both front ends call: one function for each thing that tritonscope does."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tritonscope import __version__, errors, recipe
from tritonscope.calls import CallArgument, Descriptor, Items, Tensor
from tritonscope.engine.client import CLEARED, Cancel, Child, Ended
from tritonscope.engine.record import COMPILER_OUTPUT, Recorder
from tritonscope.engine.verify import compare
from tritonscope.model import Capture, KernelRef, Request, Target, to_json
from tritonscope.store import reader
from tritonscope.store.writer import CaptureWriter

__all__ = ["capture", "capture_id", "describe", "error_from", "specialize"]


def capture(
    request: Request,
    dumps: Path,
    *,
    python: str,
    command: list[str],
    timeout: float | None = None,
    cancel: Cancel | None = None,
    on_event: Callable[[Mapping[str, Any]], None] = lambda event: None,
    texts: Mapping[str, bytes] | None = None,
) -> Capture:
    """Compile `request` in a child and keep what comes of it under `dumps`; returns the capture, whatever its status.

    `timeout` is in seconds. `on_event` is called with each event of the child as it arrives, and with the "folder" that
    the capture is written to. `texts` are those of the request's edits, by their file. Raises UsageError, and leaves no
    capture, where the kernel, its file or its signature is at fault; Missing where triton or room on the
    disk is, and then what was captured so far stays readable.
    """
    started = time.monotonic()
    writer = CaptureWriter.create(dumps, request, command, _versions())
    for file, data in (texts or {}).items():
        writer.add(file, data)
    recorder = Recorder(writer, request)
    for name, value in inherited(os.environ).items():
        if name not in request.env:
            text = f"{name}={value} is set here and kept from the compiler; --env {name}={value} would pass it on."
            writer.append({"event": "note", "text": text})
    try:
        ended = _listen(request, writer.folder, recorder, python, timeout, cancel, on_event)
        if recorder.error is not None and (recorder.key is None or isinstance(recorder.error, errors.UsageError)):
            raise recorder.error
        if request.verify and recorder.finished and recorder.failure is None:
            recorder.take({"event": "verified", "verified": compare(request, writer.folder, python, timeout, cancel)})
    except (errors.UsageError, errors.ChildDied):
        writer.discard()
        raise
    except errors.Missing:
        if recorder.key is None:
            writer.discard()
        else:
            writer.publish("interrupted", time.monotonic() - started)
        raise
    except BaseException:
        writer.publish("interrupted", time.monotonic() - started)
        raise
    folder = writer.publish(_status(recorder, ended), time.monotonic() - started)
    if isinstance(recorder.error, errors.Missing):
        raise recorder.error
    return reader.open_capture(folder)


def _listen(
    request: Request,
    folder: Path,
    recorder: Recorder,
    python: str,
    timeout: float | None,
    cancel: Cancel | None,
    on_event: Callable[[Mapping[str, Any]], None],
) -> Ended:
    """Hear one child out; what it did and did not finish is with the recorder then."""
    log, output = folder / "log.txt", folder / COMPILER_OUTPUT
    message = {
        "action": "capture",
        "request": to_json(request),
        "folder": str(folder),
        "log": str(log),
        "output": str(output),
    }
    output.touch()
    with (
        log.open("ab") as early,
        Child(
            message, python=python, env=request.env, stdout=early, stderr=early, timeout=timeout, cancel=cancel
        ) as child,
    ):
        for event in child:
            if event["event"] == "key":
                event = {**event, "id": capture_id(event["hash"], request)}
            recorder.take(event)
            on_event({**event, "folder": str(folder)})
            if event["event"] == "done":
                break  # nothing more comes, and taking Python and LLVM down takes a while
        # Whoever still writes has to be gone before its output is read for the last time.
        child.kill()
        if child.ended.how != "exited" or not (recorder.finished or recorder.failure or recorder.error):
            recorder.abandon(child.ended.message or "the compiler process ended without a word")
        elif isinstance(recorder.error, errors.ChildDied):
            recorder.abandon(str(recorder.error))
        recorder.close()
        return child.ended


def _status(recorder: Recorder, ended: Ended) -> str:
    if recorder.refused:
        return "failed"
    if ended.how != "exited":
        return ended.how
    if recorder.failure is not None:
        return "crashed"
    return "ok" if recorder.finished else "interrupted"


def capture_id(key: str, request: Request) -> str:
    """The first 10 hex digits of a hash over Triton's key, the kernel file's place and the recipe.

    The bundled kernels' place is their name: their captures have the same id wherever the tool is installed.
    """
    place = Path(request.kernel.path).name if request.kernel.bundled else request.kernel.path
    text = json.dumps([key, place, request.kernel.function, recipe.of_request(request)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def describe(
    kernel: KernelRef, *, python: str, timeout: float | None = None, cancel: Cancel | None = None
) -> dict[str, Any]:
    """What the kernel's file says of it: parameters, autotune configurations, spec.

    Raises UsageError where the file is at fault, Missing without triton, ChildDied where the child ended otherwise.
    """
    with Child(
        {"action": "describe", "kernel": to_json(kernel)}, python=python, timeout=timeout, cancel=cancel
    ) as child:
        for event in child:
            if event["event"] == "error":
                raise error_from(event)
            if event["event"] == "described":
                return {name: value for name, value in event.items() if name != "event"}
    raise errors.ChildDied(
        f"{kernel.path} could not be looked into: {child.ended.message or 'the process ended early'}."
    )


def specialize(
    kernel: KernelRef,
    target: Target,
    calls: Sequence[Sequence[CallArgument]],
    options: Mapping[str, str],
    *,
    python: str,
    timeout: float | None = None,
) -> list[dict[str, Any]]:
    """For each call {components, signature}: the key of the kernel that it would compile; compiles nothing.

    `timeout`, in seconds, is for all of them together. Raises UsageError where the kernel or a call is at fault,
    Missing without triton, ChildDied where the child ended otherwise.
    """
    message = {
        "action": "specialize",
        "kernel": to_json(kernel),
        "target": to_json(target),
        "options": dict(options),
        "calls": [[argument_as_json(argument) for argument in call] for call in calls],
    }
    found = []
    with Child(message, python=python, timeout=timeout) as child:
        for event in child:
            if event["event"] == "error":
                raise error_from(event)
            if event["event"] == "specialized":
                found.append({"components": event["components"], "signature": event["signature"]})
    if len(found) < len(calls):
        raise errors.ChildDied(
            f"{kernel.path} could not be looked into: {child.ended.message or 'the process ended early'}; "
            "mend the file, or give it more time with --timeout"
        )
    return found


def argument_as_json(argument: CallArgument) -> dict[str, Any]:
    return {"name": argument.name, **_value_as_json(argument.value)}


def _value_as_json(value: Tensor | Descriptor | Items | str) -> dict[str, Any]:
    if isinstance(value, Tensor):
        return {"tensor": asdict(value)}
    if isinstance(value, Descriptor):
        return {"descriptor": {**asdict(value.base), "block": value.block, "layout": value.layout}}
    if isinstance(value, Items):
        return {"items": [_value_as_json(item) for item in value.items]}
    return {"value": value}


def error_from(event: Mapping[str, Any]) -> errors.TritonscopeError:
    """The error that a child's "error" event stands for."""
    kind: type[errors.TritonscopeError] = getattr(errors, event["kind"], errors.TritonscopeError)
    return kind(event["message"])


def _versions() -> dict[str, str]:
    return {"tritonscope": __version__}


def inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables in `environment` that steer compilers; a child does not see them."""
    return {name: value for name, value in sorted(environment.items()) if name.startswith(CLEARED)}
