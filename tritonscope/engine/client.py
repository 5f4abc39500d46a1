"""Start a child, hear it out, end it. Knows no triton; safe to use from several threads at once."""

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tritonscope.errors import UsageError

__all__ = ["CLEARED", "Cancel", "Child", "Ended"]

BOOT = Path(__file__).with_name("boot.py")

#: Inherited variables with these prefixes change what the compiler does; the child gets only those that --env names.
CLEARED = ("TRITON_", "MLIR_", "LLVM_", "AMDGCN_", "NVPTX_", "PTXAS_", "DISABLE_")

#: A longer line is not one of ours.
LONGEST_EVENT = 256 * 1024 * 1024


class Cancel:
    """Ends every child that was given it, from any thread, at once."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        self.cancelled = False

    def fileno(self) -> int:
        """Becomes readable when cancelled."""
        return self._reader

    def cancel(self) -> None:
        """Cancel; a second time changes nothing."""
        if not self.cancelled:
            self.cancelled = True
            os.write(self._writer, b"x")

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self._reader)
        os.close(self._writer)


@dataclass(frozen=True)
class Ended:
    """How a child ended: `how` is "exited", "crashed", "timeout" or "interrupted"; `message` says it in a clause."""

    how: str
    message: str = ""


class Child:
    """One child process with one request.

    Iterate over it for its events; afterwards `ended` says how it came to its end. Whatever happens, leaving the
    `with` block leaves no process and no temporary folder behind.

    Raises UsageError where `python` cannot be started.
    """

    def __init__(
        self,
        message: Mapping[str, Any],
        *,
        python: str = sys.executable,
        env: Mapping[str, str] | None = None,
        stdout: IO[bytes] | int = subprocess.DEVNULL,
        stderr: IO[bytes] | int = subprocess.DEVNULL,
        timeout: float | None = None,
        cancel: Cancel | None = None,
    ) -> None:
        self.ended = Ended("exited")
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._timeout = timeout
        self._cancel = cancel
        # Triton always writes its cache: ours is private, and gone with the child.
        self._cache = tempfile.TemporaryDirectory(prefix="tritonscope-", ignore_cleanup_errors=True)
        events_reader, events_writer = os.pipe()
        request_reader, request_writer = os.pipe()
        self._events = events_reader
        self._request = request_writer
        try:
            self._process = subprocess.Popen(
                [python, str(BOOT), str(events_writer), str(request_reader)],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                pass_fds=(events_writer, request_reader),
                env=child_environment(os.environ, env or {}, self._cache.name),
                start_new_session=True,  # Ctrl-C is the parent's; the child and its tools end as one group
            )
        except OSError as error:
            os.close(events_reader)
            os.close(request_writer)
            self._cache.cleanup()
            raise UsageError(
                f"{python} cannot be started ({error.strerror}); name a Python that exists with --python PATH"
            ) from error
        finally:
            os.close(events_writer)
            os.close(request_reader)
        with suppress(BrokenPipeError):
            _write_all(request_writer, (json.dumps(message) + "\n").encode())

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        os.close(self._events)
        os.close(self._request)
        self._cache.cleanup()

    @property
    def pid(self) -> int:
        """The child's process id, which is its process group's too."""
        return self._process.pid

    def kill(self) -> None:
        """End the child and all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The child's events as they come, until it ends, runs out of time or is cancelled."""
        pending = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._events, selectors.EVENT_READ)
            if self._cancel is not None:
                selector.register(self._cancel, selectors.EVENT_READ)
            while True:
                ready = [key.fileobj for key, _ in selector.select(self._left())]
                if self._cancel is not None and self._cancel in ready:
                    self.ended = Ended("interrupted", "it was cancelled")
                    return
                if not ready:
                    self.ended = Ended("timeout", f"it did not end within {self._timeout:g} s")
                    return
                chunk = os.read(self._events, 1 << 20)
                if not chunk:
                    break
                pending += chunk
                *lines, rest = pending.split(b"\n")
                pending = bytearray(rest)
                if len(pending) > LONGEST_EVENT:
                    self.ended = Ended("crashed", "it sent something that is no event")
                    return
                for line in lines:
                    yield json.loads(line)
        self._end(self._process.wait())

    def _left(self) -> float | None:
        return None if self._deadline is None else max(self._deadline - time.monotonic(), 0)

    def _end(self, code: int) -> None:
        if code < 0:
            name = signal.Signals(-code).name
            why = _SIGNALS.get(name, "")
            self.ended = Ended("crashed", f"the compiler process died of {name}{why}")
        elif code:
            self.ended = Ended("crashed", f"the compiler process exited with code {code}")


_SIGNALS = {
    "SIGSEGV": " (segmentation fault)",
    "SIGABRT": " (it aborted)",
    "SIGKILL": " (something killed it; perhaps the machine ran out of memory)",
    "SIGBUS": " (bus error)",
}


def child_environment(inherited: Mapping[str, str], asked: Mapping[str, str], cache: str) -> dict[str, str]:
    """The child's environment: what is inherited less what steers compilers, plus what --env asked for."""
    kept = {name: value for name, value in inherited.items() if not name.startswith(CLEARED)}
    # The compiler leaves files behind when it fails: in a folder that goes with the child.
    return {**kept, "TRITON_CACHE_DIR": cache, "TMPDIR": cache, "PYTHONUNBUFFERED": "1", **asked}


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
