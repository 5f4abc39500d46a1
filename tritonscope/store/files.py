"""Opening the files of a capture that may be damaged or hostile: bounded, regular, and inside it.

Files that a user names by themselves may be anything that can be read, and are bounded, too.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from tritonscope.errors import CaptureUnreadable, UsageError
from tritonscope.store import layout

__all__ = ["LARGEST", "read_bounded", "read_bytes", "read_loose"]

#: The most bytes that one artefact or snapshot may have, unpacked.
LARGEST = 1 << 30

# LLVM IR packs 10 to 40 times smaller; a thousand times is only reached by a file made to fill the memory.
_LARGEST_RATIO = 300
_RATIO_MATTERS_FROM = 64 << 20
_LARGEST_WINDOW = 128 << 20
_ZSTD_HEADER = 18


def read_bytes(folder: Path, name: str, largest: int = LARGEST) -> bytes:
    """The contents of the file `name` of the capture in `folder`, unpacked where it is kept as `name`.zst.

    Raises CaptureUnreadable where it is absent, leads out of the capture, has over `largest` bytes, or does not unpack.
    """
    if layout.escapes(name):
        raise CaptureUnreadable(f"{folder}: the file name {name!r} leads out of the capture; do not trust this folder")
    path = folder / name
    try:
        if not path.exists() and not name.endswith(".zst") and (folder / f"{name}.zst").exists():
            path = folder / f"{name}.zst"
        inside = path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError) as error:  # a name that is too long, a link to itself
        why = getattr(error, "strerror", None) or "its links go round in a circle"
        raise CaptureUnreadable(f"{name[:200]} of {folder} cannot be read ({why}); compile again") from None
    if not inside:
        raise CaptureUnreadable(f"{path} is a link that leads out of the capture; do not trust this folder")
    if path.suffix == ".zst":
        return _unpack(path, largest)
    return read_bounded(path, largest)


def read_bounded(path: Path, largest: int) -> bytes:
    """The contents of the regular file `path`; raises CaptureUnreadable for another or one over `largest` bytes."""
    with _open(path, largest) as file:
        # Asked for more, Python would set as much memory aside.
        return file.read(os.fstat(file.fileno()).st_size)


def read_loose(path: Path, largest: int = LARGEST) -> bytes:
    """The contents of a file, pipe or descriptor that the user named, unpacked where its name ends with ".zst".

    Raises UsageError where that cannot be read or has over `largest` bytes.
    """
    if path.suffix == ".zst":
        try:
            return _unpack(path, largest)
        except CaptureUnreadable as error:
            raise UsageError(str(error).partition(";")[0] + "; give another file") from None
    try:
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); give another file") from None
    if len(data) > largest:
        raise UsageError(f"{path} has over {largest} bytes; give a smaller file")
    return data


def _open(path: Path, largest: int) -> BinaryIO:
    try:
        # Opening a FIFO would otherwise wait for a writer that never comes.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise CaptureUnreadable(f"{path} cannot be read ({error.strerror}); compile again to replace it") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > largest:
        os.close(descriptor)
        what = f"has over {largest} bytes" if stat.S_ISREG(status.st_mode) else "is no regular file"
        raise CaptureUnreadable(f"{path} {what}, so it is no part of a capture; delete it")
    return os.fdopen(descriptor, "rb")


def _unpack(path: Path, largest: int) -> bytes:
    import zstandard

    with _open(path, largest) as packed:
        packed_size = max(os.fstat(packed.fileno()).st_size, 1)
        try:
            # Our writer puts the size in front: neither a bomb nor a file that was cut off goes unseen.
            size = zstandard.get_frame_parameters(packed.read(_ZSTD_HEADER)).content_size
            too_dense = size > _RATIO_MATTERS_FROM and size > packed_size * _LARGEST_RATIO
            if size > largest or too_dense:
                raise CaptureUnreadable(f"{path} unpacks to far more than a compiler prints; delete it")
            packed.seek(0)
            with zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).stream_reader(packed) as file:
                data = file.read(size + 1)
        except zstandard.ZstdError as error:
            raise CaptureUnreadable(f"{path} does not unpack ({error}); compile again to replace it") from None
    if len(data) != size:
        raise CaptureUnreadable(f"{path} does not unpack (it was cut off); compile again to replace it")
    return data
