"""Archives that `tritonscope export` makes, unpacked to the capture that they hold.

An archive is a .tar.gz of one folder kernel/target-id. Whatever else is in it, links, other kinds of files, names that
lead elsewhere, more bytes than a capture has, makes it none of ours.
"""

import os
import secrets
import shutil
import tarfile
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from tritonscope.errors import CaptureUnreadable, UsageError
from tritonscope.model import Capture
from tritonscope.store import files, layout, reader

__all__ = ["looks_like", "unpack"]

_MAGIC = slice(257, 262)
_MOST_FILES = 100_000
_MOST_BYTES = 8 << 30
_PIECE = 1 << 20
_LONGEST_NAME = 240


def looks_like(head: bytes) -> bool:
    """Whether a file that begins with `head`, unpacked, is a tar archive."""
    return head[_MAGIC] == b"ustar"


def unpack(path: Path, place: str, dumps: Path) -> Capture:
    """The capture in the uncompressed archive `path`, put below `dumps`; `place` is what the user calls the archive.

    Raises UsageError for an archive that is none of ours, or whose capture is there already; nothing is left then.
    """
    partial = dumps.absolute() / f".import-{secrets.token_hex(4)}"
    try:
        partial.mkdir(parents=True)
        with path.open("rb") as file:
            inside = _extract(cast(BinaryIO, _Bounded(file, place)), place, partial)
        reader.open_capture(partial / inside)
        final = dumps.absolute() / inside
        if final.exists():
            raise UsageError(f"{final} is there already; delete it first, or import into another folder with -o")
        final.parent.mkdir(exist_ok=True)
        (partial / inside).rename(final)
        return reader.open_capture(final)
    except CaptureUnreadable as error:
        raise UsageError(f"{place} holds no capture: {error}") from None
    except (tarfile.TarError, ValueError, EOFError) as error:
        raise UsageError(f"{place} does not unpack ({error}); it is damaged, so fetch it again") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


class _Bounded:
    """A file of which no more than a few MiB are read at once: a header that says otherwise fills no memory."""

    def __init__(self, file: BinaryIO, place: str) -> None:
        self._file = file
        self._place = place
        self.tell, self.seek = file.tell, file.seek

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= 4 * _PIECE:
            raise UsageError(f"{self._place} has a header that is larger than any of ours; do not trust it")
        return self._file.read(size)


def _extract(stream: BinaryIO, place: str, folder: Path) -> PurePosixPath:
    """Write the members below `folder`; gives the one capture's folder in it."""
    inside: PurePosixPath | None = None
    count = size = 0
    with tarfile.open(fileobj=stream, mode="r:") as tar:
        for member in tar:
            count, size = count + 1, size + member.size
            if count > _MOST_FILES or size > _MOST_BYTES or member.size > files.LARGEST:
                raise UsageError(f"{place} holds more than a capture does; do not trust it")
            if member.isdir():
                continue
            name = _checked(member, place)
            capture = PurePosixPath(*name.parts[:2])
            if inside not in (None, capture):
                raise UsageError(f"{place} holds {inside} and {capture}; an archive of ours holds one capture")
            inside = capture
            _write(tar, member, folder / name, place)
    if inside is None:
        raise UsageError(f"{place} holds no capture")
    return inside


def _checked(member: tarfile.TarInfo, place: str) -> PurePosixPath:
    """The name of a member that may be unpacked; raises UsageError for any other."""
    name = member.name
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
        what = "a link" if member.issym() or member.islnk() else "no plain file"
        raise UsageError(f"{place}: {name[:_LONGEST_NAME]!r} is {what}, which no capture has; do not trust it")
    path = PurePosixPath(name)
    clean = all(layout.kernel_folder(part) == part for part in path.parts[:2])
    if layout.escapes(name) or len(path.parts) < 3 or not clean or len(name) > _LONGEST_NAME:
        raise UsageError(f"{place}: {name[:_LONGEST_NAME]!r} is no file of a capture; do not trust it")
    return path


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path, place: str) -> None:
    data = tar.extractfile(member)
    assert data is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    left = member.size
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        raise UsageError(f"{place} holds {member.name!r} twice; do not trust it") from None
    with os.fdopen(descriptor, "wb") as file:
        while left:
            piece = data.read(min(left, _PIECE))
            if not piece:
                raise EOFError("it was cut off")
            file.write(piece)
            left -= len(piece)
