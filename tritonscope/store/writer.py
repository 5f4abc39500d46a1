"""A capture that is being made, seen from the parent: it owns the folder, the journal and capture.json.

Until it is published the folder has a name of its own, so that two compilations never meet; publishing swaps it in
under the name that its key gives, in the place of an older one.
"""

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from tritonscope.errors import CaptureUnreadable, Missing, TritonscopeError, UsageError
from tritonscope.model import FORMAT, Capture, Request, to_json
from tritonscope.store import journal, layout, reader

__all__ = ["CaptureWriter", "add_event", "check_dumps"]

_OLD = ".old-"


def check_dumps(dumps: Path) -> None:
    """Raise what `CaptureWriter.create` would where nothing can be written below `dumps`; leaves nothing behind."""
    there = next(path for path in (dumps.absolute(), *dumps.absolute().parents) if path.exists())
    try:
        with tempfile.TemporaryDirectory(dir=there, prefix=".tritonscope-"):
            return
    except OSError as error:
        raise _cannot_write(dumps, error) from None


class CaptureWriter:
    """Writes one capture; `folder` is where the child puts its files, and `published` where it went in the end."""

    def __init__(self, folder: Path, target: str, written: journal.Journal) -> None:
        """Use `create`."""
        self.folder = folder
        self.published: Path | None = None
        self._target = target
        self._journal = written
        self._id: str | None = None
        self._no_room = False

    @classmethod
    def create(
        cls, dumps: Path, request: Request, command: Sequence[str], versions: Mapping[str, str]
    ) -> "CaptureWriter":
        """Make a folder below `dumps` for the capture that `request` asks for, and write that down as its first event.

        Raises Missing where the disk is full, UsageError where `dumps` cannot be written.
        """
        target = request.target.name
        folder = dumps.absolute() / layout.kernel_folder(request.kernel.name) / layout.running_name(target)
        try:
            (folder / layout.PASSES).mkdir(parents=True)
            writer = cls(folder, target, journal.Journal(folder))
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise _cannot_write(dumps, error) from None
        created = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        first = {"event": "request", "format": FORMAT, "request": to_json(request), "created": created}
        try:
            writer.append(first | {"command": list(command), "versions": dict(versions)})
        except Missing:
            writer.discard()
            raise _no_room(dumps) from None
        return writer

    def append(self, event: Mapping[str, Any]) -> None:
        """Write `event` down, with the time; raises Missing where the disk is full, and then loses nothing else."""
        try:
            self._journal.append(event)
        except Missing:
            self._no_room = True
            raise
        if event["event"] == "key":
            self._id = event["id"]

    def add(self, file: str, data: bytes) -> None:
        """Put `data` into the capture as `file`, relative to it; raises Missing where the disk is full."""
        path = self.folder / file
        try:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            self.discard()
            if error.errno in journal.NO_ROOM:
                raise _no_room(self.folder.parent.parent) from None
            raise

    def publish(self, status: str, seconds: float | None) -> Path:
        """End the capture with `status` after `seconds` of wall time, None where nobody knows, and put it where readers
        look; gives its folder.

        An older capture of the same id is replaced and what was measured of it is kept, except that an attempt which
        ended early goes beside one that the compiler finished. On a full disk the folder is put in place with as much
        as there was room for; Missing says so, unless `append` already did.
        """
        told = self._no_room
        with contextlib.suppress(Missing):
            self.append({"event": "end", "status": status, "seconds": seconds})
        capture = journal.fold(journal.read(self.folder), self.folder)
        self._no_room |= not _write_capture(self.folder, capture)
        self.published = self._swap_in(status)
        self._journal.close()
        if status == "ok":
            self._remove_abandoned()
        if self._no_room and not told:
            raise _no_room(self.published)
        return self.published

    def discard(self) -> None:
        """Remove the folder: there was nothing to capture."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._journal.close()
        with contextlib.suppress(OSError):  # other captures of this kernel are there, which is fine
            self.folder.parent.rmdir()

    def _swap_in(self, status: str) -> Path:
        parent = self.folder.parent
        id_ = self._id or f"nokey-{secrets.token_hex(3)}"
        with _locked(parent):
            _finish_swaps(parent)
            final = parent / layout.final_name(self._target, id_)
            if status in layout.ENDED_EARLY and _was_finished(final):
                final = parent / layout.final_name(self._target, id_, status)
            aside = parent / f".{final.name}{_OLD}{secrets.token_hex(3)}"
            if final.exists():
                for name in (layout.RUNS, layout.ABLATIONS, layout.PROFILE):
                    self._carry(final, name)
                final.rename(aside)
            self.folder.rename(final)
            shutil.rmtree(aside, ignore_errors=True)
        return final

    def _carry(self, old: Path, name: str) -> None:
        kept = self.folder / name
        if not (old / name).is_file() or kept.exists():
            return
        try:
            os.link(old / name, kept)
        except OSError:  # a file system without hard links
            shutil.copyfile(old / name, kept)

    def _remove_abandoned(self) -> None:
        """Remove what earlier attempts at this capture left behind when their owner was killed."""
        for folder in self.folder.parent.glob(f"{self._target}{layout.RUNNING}*"):
            with contextlib.suppress(CaptureUnreadable):
                if not journal.is_held(folder) and journal.identity(journal.read(folder)) == self._id:
                    shutil.rmtree(folder, ignore_errors=True)


def add_event(folder: Path, event: Mapping[str, Any]) -> None:
    """Add to a published capture what became known later; raises Missing on a full disk, CaptureUnreadable."""
    written = journal.Journal(folder, reopen=True)
    try:
        written.append(event)
    finally:
        written.close()
    if not _write_capture(folder, journal.fold(journal.read(folder), folder)):
        raise _no_room(folder)


def _write_capture(folder: Path, capture: Capture) -> bool:
    """Write capture.json whole; False where there is no room for it."""
    data = {"format": FORMAT, **to_json(capture)}
    # Where a capture is found says what it is called and where it is; what it said itself could only be wrong.
    del data["capture"], data["path"]
    partial = folder / f"{layout.CAPTURE}.partial"
    try:
        with partial.open("w", encoding="utf-8") as file:
            json.dump(data, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(folder / layout.CAPTURE)
    except OSError as error:
        if error.errno not in journal.NO_ROOM:
            raise
        partial.unlink(missing_ok=True)
        return False
    return True


def _cannot_write(dumps: Path, error: OSError) -> TritonscopeError:
    if error.errno in journal.NO_ROOM:
        return _no_room(dumps)
    return UsageError(f"the dumps folder {dumps} cannot be written ({error.strerror}); choose another with --dumps")


def _no_room(folder: Path) -> Missing:
    return Missing(
        f"no room left on the disk of {folder}; make room or choose another folder with --dumps, and compile again"
    )


def _was_finished(folder: Path) -> bool:
    """Whether `folder` holds a compilation that came to the compiler's own verdict."""
    try:
        return folder.exists() and reader.open_capture(folder).status in layout.FINISHED
    except CaptureUnreadable:
        return False


def _finish_swaps(parent: Path) -> None:
    """Finish, or take back, the swaps of writers that were killed in the middle of one."""
    for aside in parent.glob(f".*{_OLD}*"):
        final = parent / aside.name[1:].rpartition(_OLD)[0]
        if final.exists():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.rename(final)


@contextlib.contextmanager
def _locked(parent: Path) -> Iterator[None]:
    descriptor = os.open(parent / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
