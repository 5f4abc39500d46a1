"""Bounded reading of files that may be anything, and JSON of unknown origin."""

import gzip
import json
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from tritonscope.errors import UsageError

__all__ = ["LONGEST_LINE", "lines", "load_object", "open_regular", "read_regular", "unzipped"]

#: The most bytes that a line of a trace or a dump may have.
LONGEST_LINE = 256 << 20

#: The most that a compressed file may unpack to. What is read of it is read in a stream.
MOST_UNPACKED = 64 << 30

# gzip packs at most 1032 times; traces pack about 10 times, and repeated launches 100 times.
_LARGEST_RATIO = 400
_RATIO_MATTERS_FROM = 64 << 20
_DEEPEST = 60


def open_regular(path: Path, links: bool = False) -> BinaryIO:
    """Open a regular file; raises UsageError for anything else, and for a link unless `links` are allowed."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        why = "it is a link" if not links and path.is_symlink() else error.strerror
        raise UsageError(f"{path} cannot be read ({why}); give another file") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UsageError(f"{path} is no regular file; give another")
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path, largest: int) -> bytes:
    """The contents of a regular file, no link, of at most `largest` bytes; raises UsageError."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > largest:
            raise UsageError(f"{path} has over {largest} bytes, which no compiler writes; delete it")
        return file.read(size)


def lines(stream: BinaryIO, what: str, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """The lines of a stream, each with its newline; raises UsageError for one of over `longest` bytes."""
    number = 0
    while line := stream.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise UsageError(f"line {number} of {what} has over {longest} bytes; this is no file of Triton's")
        yield line


@contextmanager
def unzipped(file: BinaryIO, what: str) -> Iterator[BinaryIO]:
    """A gzip stream unpacked as it is read; UsageError from within the block for one that is damaged or a bomb."""
    try:
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield cast(BinaryIO, _Bounded(unpacked, file, what))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UsageError(f"{what} does not unpack ({error}); it is damaged, so fetch it again") from None


class _Bounded:
    """The unpacked side: what comes out is counted against what went in."""

    def __init__(self, unpacked: gzip.GzipFile, packed: BinaryIO, what: str) -> None:
        self._unpacked = unpacked
        self._packed = packed
        self._what = what
        self._out = 0

    def read(self, size: int = -1) -> bytes:
        return self._count(self._unpacked.read(size))

    def readline(self, size: int = -1) -> bytes:
        return self._count(self._unpacked.readline(size))

    def _count(self, data: bytes) -> bytes:
        self._out += len(data)
        dense = self._out > _RATIO_MATTERS_FROM and self._out > self._packed.tell() * _LARGEST_RATIO
        if dense or self._out > MOST_UNPACKED:
            raise UsageError(f"{self._what} unpacks to far more than a trace holds; delete it")
        return data


def load_object(text: bytes, what: str) -> dict[str, Any]:
    """The JSON object in `text`, `what` naming it in UsageError, which anything else and deep nesting raise.

    NaN and infinities, which Python writes and JSON has not, become text.
    """
    try:
        value = json.loads(text, parse_constant=str)
        if not isinstance(value, dict):
            raise ValueError("it is no object")
        _check_depth(value)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{what} is not the JSON that it should be ({error})") from None
    return value


def _check_depth(value: Mapping[str, Any]) -> None:
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return
    raise ValueError(f"it nests over {_DEEPEST} deep")
