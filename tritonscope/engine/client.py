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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from tritonscope.engine import ending
from tritonscope.engine.protocol import PRIVATE_FOLDER
from tritonscope.errors import UsageError

__all__ = ["BOOT", "CLEARED", "Cancel", "Child", "Ended", "child_environment", "head_start"]

#: The file that starts a child.
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


class Ended(NamedTuple):
    """How a child ended: `how` is "exited", "crashed", "timeout" or "interrupted"; `message` says it in a clause."""

    how: str
    message: str = ""


class Started:
    """A child process that waits for its request, with its pipes and its private folder.

    The child makes that folder, and removes it when it comes to an end by itself.

    Raises UsageError where `python` cannot be started.
    """

    def __init__(
        self,
        python: str,
        env: Mapping[str, str],
        stdout: IO[bytes] | int = subprocess.DEVNULL,
        stderr: IO[bytes] | int = subprocess.DEVNULL,
        *,
        ahead: str = "",
    ) -> None:
        self.python = python
        self.ahead = ahead
        self._ending: subprocess.Popen[bytes] | None = None
        # Triton always writes its cache: ours is private, and gone with the child.
        self._folder = os.path.join(tempfile.gettempdir(), f"tritonscope-{os.urandom(8).hex()}")  # noqa: PTH118
        self.events, events_writer = os.pipe()
        request_reader, self.request = os.pipe()
        try:
            self.process = subprocess.Popen(
                [python, str(BOOT), str(events_writer), str(request_reader), *([ahead] if ahead else [])],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                pass_fds=(events_writer, request_reader),
                env=child_environment(os.environ, env, self._folder),
                start_new_session=True,  # Ctrl-C is the parent's; the child and its tools end as one group
            )
        except OSError as error:
            self._close()
            raise UsageError(
                f"{python} cannot be started ({error.strerror}); name a Python that exists with --python PATH"
            ) from error
        finally:
            os.close(events_writer)
            os.close(request_reader)

    def kill(self) -> None:
        """End the child and all that it started."""
        if self._ending is None:
            self._ending = ending.end(self.process.pid, self._folder)
        self.process.wait()

    def close(self) -> None:
        """End it, and leave nothing behind."""
        try:
            self.kill()
            if self._ending is not None:
                self._ending.wait()
        finally:
            self._close()

    def _close(self) -> None:
        os.close(self.events)
        os.close(self.request)


_ahead: list[Started] = []


@contextmanager
def head_start(python: str, action: str = "capture") -> Iterator[None]:
    """Start a child before it is known for what: the first of that `action` with that Python in the block takes it.

    It imports what the action takes meanwhile. What it prints until then is lost. A Python that cannot be started is
    reported when it is needed.
    """
    with suppress(UsageError):
        _ahead.append(Started(python, {}, ahead=action))
    try:
        yield
    finally:
        while _ahead:
            _ahead.pop().close()


def _taken(python: str, action: str) -> Started | None:
    """The child that was started ahead, if it suits and lives; several threads may ask."""
    try:
        started = _ahead.pop()
    except IndexError:
        return None
    if started.ahead != action:
        _ahead.append(started)
        return None
    if started.python == python and started.process.poll() is None:
        return started
    started.close()
    return None


class Child:
    """One child process with one request.

    Iterate over it for its events; afterwards `ended` says how it came to its end. Whatever happens, leaving the
    `with` block leaves no process and no temporary folder behind.

    Raises UsageError where `python` cannot be started, and, from iterating, where it is none that runs our worker.
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
        started = _taken(python, message["action"]) if not env else None
        self._started = started or Started(python, env or {}, stdout, stderr)
        self._said_hello = False
        with suppress(BrokenPipeError):
            _write_all(self._started.request, (json.dumps(message) + "\n").encode())

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self._started.close()

    @property
    def pid(self) -> int:
        """The child's process id, which is its process group's too."""
        return self._started.process.pid

    def kill(self) -> None:
        """End the child and all that it started."""
        self._started.kill()

    def send(self, message: Mapping[str, Any]) -> None:
        """Ask for more, where the request was for an action that takes more."""
        with suppress(BrokenPipeError):
            _write_all(self._started.request, (json.dumps(message) + "\n").encode())

    def wait_anew(self, seconds: float | None) -> None:
        """Let the time that it has begin again, `seconds` from now."""
        self._timeout = seconds
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The child's events as they come, until it ends, runs out of time or is cancelled."""
        pending = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._started.events, selectors.EVENT_READ)
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
                chunk = os.read(self._started.events, 1 << 20)
                if not chunk:
                    break
                pending += chunk
                *lines, rest = pending.split(b"\n")
                pending = bytearray(rest)
                if len(pending) > LONGEST_EVENT:
                    self.ended = Ended("crashed", "it sent something that is no event")
                    return
                for event in map(json.loads, lines):
                    if event["event"] == "hello":
                        self._said_hello = True
                    else:
                        yield event
        self._end(self._started.process.wait())

    def _left(self) -> float | None:
        return None if self._deadline is None else max(self._deadline - time.monotonic(), 0)

    def _end(self, code: int) -> None:
        if code < 0:
            name = signal.Signals(-code).name
            why = _SIGNALS.get(name, "")
            self.ended = Ended("crashed", f"the compiler process died of {name}{why}")
        elif not self._said_hello:
            raise UsageError(
                f"{self._started.python} is no Python that tritonscope can work with (it ended with code {code}); "
                "name a Python from 3.10 on that has triton with --python PATH"
            )
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
    return {**kept, "TRITON_CACHE_DIR": cache, "TMPDIR": cache, "PYTHONUNBUFFERED": "1", **asked, PRIVATE_FOLDER: cache}


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
