"""Opening the files of a capture that may be damaged or hostile: bounded, regular, and inside it."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from tritonscope.errors import CaptureUnreadable
from tritonscope.store import layout

__all__ = ["LARGEST", "read_bounded", "read_bytes"]

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
    if not path.exists() and not name.endswith(".zst") and (folder / f"{name}.zst").exists():
        path = folder / f"{name}.zst"
    if not path.resolve().is_relative_to(folder.resolve()):
        raise CaptureUnreadable(f"{path} is a link that leads out of the capture; do not trust this folder")
    if path.suffix == ".zst":
        return _unpack(path, largest)
    return read_bounded(path, largest)


def read_bounded(path: Path, largest: int) -> bytes:
    """The contents of the regular file `path`; raises CaptureUnreadable for another or one over `largest` bytes."""
    with _open(path, largest) as file:
        return file.read(largest)


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
