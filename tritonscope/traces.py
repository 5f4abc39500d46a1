"""Recording what a traced program compiles: the captures, and then what it did with the kernels.

A capture arrives on a line of its own from a fork of the program (`engine.trace`), and a thread here records it as it
would that of `compile`. What the program launched and tuned comes at its end, and is added to the captures.
"""

import json
import os
import re
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tritonscope import __version__, api
from tritonscope.engine.client import BOOT
from tritonscope.engine.record import COMPILER_OUTPUT, Recorder
from tritonscope.errors import Missing, TritonscopeError, UsageError
from tritonscope.model import Capture, KernelRef, Request, Target, to_json
from tritonscope.store import decode, reader
from tritonscope.store.writer import CaptureWriter, add_event

__all__ = ["Asked", "Listener", "Outcome", "kernel_pattern", "start_program"]

#: What torch.compile would keep from us: kernels of earlier runs, compiles in other processes, a launcher of its own.
INDUCTOR = {
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
    "TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER": "0",
}

_LONGEST_LINE = 256 << 20
_LONGEST_FOLDER = 70
_DYING = 5.0  # seconds


@dataclass(frozen=True)
class Asked:
    """What is captured of a program, and where it goes.

    `kernels` must be found in the kernel's name; `limit` is the most captures, None for all; `timeout` seconds for
    each; `command` what was typed.
    """

    dumps: Path
    command: tuple[str, ...]
    kernels: "re.Pattern[str] | None" = None
    limit: int | None = None
    timeout: float | None = None


@dataclass
class Outcome:
    """What a trace came to: the captures in the order in which they began, and sentences for the user.

    `skipped` counts kernels that the filters left out; `stopped` says where a program could not go on without a GPU;
    `reported` is False where the program ended too suddenly to say what it had launched.
    """

    captures: list[Capture] = field(default_factory=list)
    skipped: int = 0
    stopped: str | None = None
    errors: list[str] = field(default_factory=list)
    reported: bool = False


def kernel_pattern(text: str | None) -> "re.Pattern[str] | None":
    """The expression that is looked for in a kernel's name; raises UsageError where it is none."""
    try:
        return None if text is None else re.compile(text)
    except re.error as error:
        raise UsageError(
            f"--kernel {text!r} is no regular expression ({error}); write for example 'matmul|softmax'"
        ) from None


class Listener:
    """Takes the lines of a traced program and of its forks, until it is finished.

    `on_message` is called, from several threads, with what a user should read meanwhile.
    """

    def __init__(self, asked: Asked, on_message: Callable[[str], None] = lambda text: None) -> None:
        self.asked = asked
        self.outcome = Outcome()
        self._on_message = on_message
        # The name of a socket has room for some hundred characters.
        where = "/tmp" if len(tempfile.gettempdir()) > _LONGEST_FOLDER else None  # noqa: S108
        self._folder = tempfile.TemporaryDirectory(prefix="tritonscope-", dir=where, ignore_cleanup_errors=True)
        self.socket = str(Path(self._folder.name, "recorder"))
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(self.socket)
        self._server.listen(64)
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(max(2, os.cpu_count() or 1))
        self._granted = 0
        self._keys: dict[str, list[Path]] = {}
        self._seen: set[str] = set()
        self._published: dict[int, Path] = {}
        self._launches: dict[str, list[dict[str, Any]]] = {}
        self._tuned: dict[str, list[dict[str, Any]]] = {}
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()

    def finish(self) -> Outcome:
        """Wait for the captures that are being made, and add to them what the program launched and tuned.

        Call it when the program has ended, or has said all. An interruption cuts short what is still being captured.
        """
        try:
            self._wait()
        except KeyboardInterrupt:
            with self._lock:
                for line in self._open:
                    with suppress(OSError):
                        line.shutdown(socket.SHUT_RDWR)
            self._wait()
            raise
        finally:
            self._folder.cleanup()
        for key, folders in self._keys.items():
            self._add_what_it_did(key, folders)
        self.outcome.captures = [reader.open_capture(self._published[number]) for number in sorted(self._published)]
        return self.outcome

    # -- lines

    def _wait(self) -> None:
        if self._server.fileno() >= 0:
            # Connections that are waiting are still taken, in order, before this one.
            with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as last:
                last.connect(self.socket)
                last.sendall(b'{"event": "no more"}\n')
            self._acceptor.join()
            self._server.close()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            line, _ = self._server.accept()
            file = line.makefile("rb")
            first = _event(file)
            if first is None:
                line.close()
                continue
            if first["event"] == "no more":
                line.close()
                return
            take = self._capture if first["event"] == "compile" else self._program
            thread = threading.Thread(target=self._guarded, args=(take, line, file, first), daemon=True)
            with self._lock:
                self._open.add(line)
            self._threads.append(thread)
            thread.start()

    def _guarded(self, take: Callable[..., None], line: socket.socket, file: Any, first: dict[str, Any]) -> None:
        try:
            take(line, file, first)
        except TritonscopeError as error:
            self._say_error(str(error))
        except (KeyError, ValueError, TypeError) as error:
            self._say_error(f"the program said something that is no event ({type(error).__name__}: {error})")
        finally:
            with self._lock:
                self._open.discard(line)
            file.close()
            line.close()

    def _say_error(self, text: str) -> None:
        with self._lock:
            if text in self.outcome.errors:
                return
            self.outcome.errors.append(text)
        self._on_message(text)

    def _program(self, line: socket.socket, file: Any, __: dict[str, Any]) -> None:
        while (event := _event(file)) is not None:
            kind = event["event"]
            if kind == "launch":
                self._launches.setdefault(event["key"], []).append(event)
            elif kind == "tuned":
                self._tuned.setdefault(event["key"], []).append(event)
            elif kind == "say":
                self._on_message(event["text"])
                line.sendall(b'{"said": true}\n')
            elif kind == "stopped":
                self.outcome.stopped = event["text"]
            elif kind == "reported":
                self.outcome.reported = True
                return  # a process that the program has left behind may keep its line open

    # -- a capture

    def _capture(self, line: socket.socket, file: Any, first: dict[str, Any]) -> None:
        number = self._admit(first["name"])
        if number is None:
            line.sendall(b'{"capture": false}\n')
            return
        with self._slots:
            self._record(number, line, file, first)

    def _admit(self, name: str) -> int | None:
        """A number for the capture, None where it is not wanted."""
        with self._lock:
            full = self.asked.limit is not None and self._granted >= self.asked.limit
            if full or (self.asked.kernels is not None and not self.asked.kernels.search(name)):
                self.outcome.skipped += 1
                return None
            self._granted += 1
            return self._granted

    def _record(self, number: int, line: socket.socket, file: Any, first: dict[str, Any]) -> None:
        started = time.monotonic()
        kernel = KernelRef(first["name"], os.path.abspath(first["path"]), first["function"])  # noqa: PTH100
        target = Target(first["backend"], first["arch"], first["warp_size"])
        request = Request(kernel, target)
        versions = {"tritonscope": __version__}
        writer = CaptureWriter.create(self.asked.dumps, request, self.asked.command, versions)
        recorder = Recorder(writer, request)
        log, output = writer.folder / "log.txt", writer.folder / COMPILER_OUTPUT
        for path in (log, output):
            path.touch()
        private = tempfile.mkdtemp(dir=self._folder.name)
        answer = {"capture": True, "folder": str(writer.folder), "log": str(log), "output": str(output)}
        message = {**answer, "private": private, "request": to_json(request)}
        how, why = "exited", ""
        try:
            line.sendall((json.dumps(message) + "\n").encode())
            line.settimeout(self.asked.timeout)  # for a pass that hangs; one that does not is caught between events
            while (event := _event(file)) is not None:
                self._check_time(started)
                if event["event"] == "died":
                    how, why = "crashed", event["message"]
                    break
                if event["event"] == "key":
                    event = {**event, "id": api.capture_id(event["hash"], request)}
                    if not self._is_new(event["id"]):
                        _end_compiling(line, file)
                        writer.discard()
                        return
                recorder.take(event)
                if event["event"] == "done":
                    break
        except TimeoutError:
            how, why = "timeout", f"it did not end within {self.asked.timeout:g} s"
        except Missing:  # no room on the disk: what there is stays readable
            writer.publish("interrupted", time.monotonic() - started)
            raise
        except OSError:
            how, why = "interrupted", "it was cancelled"
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)  # whoever still compiles there ends
        if how == "exited" and recorder.error is not None:
            why = str(recorder.error)
            how = "interrupted" if isinstance(recorder.error, Missing) else "crashed"
        elif how == "exited" and not (recorder.finished or recorder.failure):
            how, why = "interrupted", "its process ended without a word"
        if how != "exited":
            recorder.abandon(why)
        recorder.close()
        status = how if how != "exited" else ("failed" if recorder.refused else "ok")
        folder = writer.publish(status, time.monotonic() - started)
        with self._lock:
            self._published[number] = folder
            if recorder.key is not None:
                self._keys.setdefault(recorder.key, []).append(folder)

    def _check_time(self, started: float) -> None:
        """Raise TimeoutError where a capture that began at `started` has had its time."""
        if self.asked.timeout is not None and time.monotonic() - started > self.asked.timeout:
            raise TimeoutError

    def _is_new(self, id_: str) -> bool:
        """False for a kernel that this trace has captured: another process, or device, compiled it too."""
        with self._lock:
            if id_ in self._seen:
                self._granted -= 1
                return False
            self._seen.add(id_)
            return True

    # -- what became of the kernels

    def _add_what_it_did(self, key: str, folders: Sequence[Path]) -> None:
        launches, tuned = self._launches.get(key, []), self._tuned.get(key, [])
        if not launches and not tuned:
            return
        event = {
            "event": "traced",
            "launches": [to_json(decode.decode_launch(each, "the program's report")) for each in _merged(launches)],
            "tuning": [to_json(decode.decode_tuning(each, "the program's report")) for each in tuned],
        }
        for folder in folders:
            add_event(folder, event)


def _end_compiling(line: socket.socket, file: Any) -> None:
    """Have whoever compiles at the other end of `line` end, and wait until nothing is written there any more."""
    with suppress(OSError):
        line.settimeout(_DYING)
        line.shutdown(socket.SHUT_WR)
        while file.read(1 << 16):
            pass


def _merged(launches: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Calls that several devices or processes made alike are one."""
    merged: dict[str, dict[str, Any]] = {}
    for launch in launches:
        call = json.dumps([launch["grid"], launch["arguments"]], sort_keys=True)
        if call in merged:
            merged[call]["count"] += launch["count"]
        else:
            merged[call] = dict(launch)
    return list(merged.values())


def _event(file: Any) -> dict[str, Any] | None:
    """The next line's event, None at the end; raises ValueError for what is none, TimeoutError, OSError."""
    line = file.readline(_LONGEST_LINE)
    if not line.endswith(b"\n"):
        return None
    event = json.loads(line)
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise ValueError("a line without an event")
    return event


def start_program(
    words: Sequence[str], listener: Listener, python: str, pretend: Target | None
) -> "subprocess.Popen[bytes]":
    """Start the program that `words` name, "-m MODULE ARGS" or "SCRIPT ARGS", with our standard streams.

    `pretend` is the target to compile for without launching anything, None to use the GPU. Raises UsageError where
    `python` cannot be started.
    """
    settings = json.dumps({"socket": listener.socket, "pretend": None if pretend is None else to_json(pretend)})
    try:
        return subprocess.Popen(
            [python, str(BOOT), "trace", settings, *words], env={**INDUCTOR, **os.environ}, close_fds=False
        )
    except OSError as error:
        raise UsageError(
            f"{python} cannot be started ({error.strerror}); name a Python that exists with --python PATH"
        ) from error
