"""A capture in a copy of the traced program.

What the program is about to compile lives in its memory: closures, globals, functions passed as constants. A fork has
all of that, so it compiles the very same thing, one pass at a time, while the program goes on with a compile of its
own that nothing touches. Output, environment, switches of the compiler and crashes stay in the fork.
"""

import gc
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, NoReturn

from triton import knobs

from tritonscope import errors
from tritonscope.engine import cachekey, capture, native
from tritonscope.engine.compile_only import compile_only_driver
from tritonscope.engine.loader import Built
from tritonscope.engine.trace.arguments import signature_text
from tritonscope.engine.trace.line import Line
from tritonscope.model import Request

__all__ = ["capture_and_exit", "start"]


def start() -> bool:
    """Fork; True in the copy, which must then `capture_and_exit`, False in the program.

    The copy is no child of the program's: the program's own waiting for children never meets it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads, which this is made for
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            return False
        if os.fork():
            os._exit(0)
    return True


def capture_and_exit(
    line: Line, granted: Mapping[str, Any], src: Any, target: Any, options: Mapping[str, Any]
) -> NoReturn:
    """Compile what `triton.compile(src, target, options)` does in a child, and say what became of it if it cannot."""
    try:
        # What the program's own objects do when they are deleted is not to happen twice.
        gc.disable()
        gc.freeze()
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        _keep_no_descriptors(line.fileno())
        threading.Thread(target=_end_with_recorder, args=(line,), daemon=True).start()
        compiler = os.fork()
        if not compiler:
            _compile(line, granted, src, target, options)
        _, status = os.waitpid(compiler, 0)
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            line.send("died", message=f"the compiler process died of {name}")
    finally:
        os._exit(0)


def _compile(line: Line, granted: Mapping[str, Any], src: Any, target: Any, options: Mapping[str, Any]) -> NoReturn:
    try:
        started = time.perf_counter()
        _redirect_output(granted["log"], granted["output"])
        _leave_the_program(granted["private"])
        native.assume_verified()
        request = Request.from_json(granted["request"])
        built = Built(src, target, dict(options), signature_text(src))
        with compile_only_driver(target):
            session = capture.Session(granted["folder"], line, request, SimpleNamespace(fn=src.fn), built)
            line.send("loaded", **session.describe())
            session.read_sources()
            line.send("key", **_key(src, target, options))
            session.write_sources()
            session.compile()
        line.send("done", seconds=round(time.perf_counter() - started, 4))
    except Exception as error:
        with suppress(OSError):
            traceback.print_exc()
            kind = "Missing" if errors.no_room(error) else "ChildDied"
            line.send("error", kind=kind, message=f"the capture failed: {type(error).__name__}: {error}")
    finally:
        os._exit(0)


def _key(src: Any, target: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    from triton.compiler.compiler import make_backend

    components = cachekey.components(src, make_backend(target), dict(options))
    return {"hash": components["hash"], "components": components}


def _redirect_output(log: str, output: str) -> None:
    """What is printed from here on goes to the capture; what the program has not flushed stays the program's."""
    for descriptor, path in ((0, os.devnull), (1, log), (2, output)):
        file = os.open(path, os.O_RDWR | os.O_APPEND)
        if file == descriptor:  # the program has closed that stream
            os.set_inheritable(file, True)
            continue
        os.dup2(file, descriptor)
        os.close(file)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(os.dup(number), mode, buffering=1, errors="replace")
        for number, mode in ((0, "r"), (1, "w"), (2, "w"))
    )


def _leave_the_program(private: str) -> None:
    """Compile anew, keep out of the program's caches and dumps, and tell its listeners nothing."""
    for name in ("MLIR_ENABLE_DUMP", "LLVM_IR_ENABLE_DUMP", "MLIR_ENABLE_TIMING", "TRITON_CACHE_MANAGER"):
        os.environ.pop(name, None)
    os.environ["TMPDIR"] = private
    knobs.cache.dir = private
    knobs.compilation.dump_ir = False
    knobs.compilation.store_binary_only = False
    if hasattr(knobs.compilation, "listener"):
        knobs.compilation.listener = None


def _end_with_recorder(line: Line) -> None:
    """When nobody records any more, or time is up, this process and the tools that it started end."""
    with suppress(OSError, ValueError):
        line.receive()
    os.killpg(0, signal.SIGKILL)


def _keep_no_descriptors(kept: int) -> None:
    """Give back the program's files, pipes and devices: it may be waiting for another to see them closed."""
    try:
        numbers = [int(name) for name in os.listdir("/proc/self/fd")]  # noqa: PTH208
    except OSError:
        return
    for number in numbers:
        if number > 2 and number != kept:
            with suppress(OSError):
                os.close(number)
