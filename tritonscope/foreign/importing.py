"""What a path is, told by what is in it, and captures of the compilations that it holds."""

import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tritonscope.errors import Missing, UsageError, no_room
from tritonscope.foreign import archives, captures, folders, pass_dumps, triton_folders, tritonparse
from tritonscope.foreign.found import Found
from tritonscope.foreign.reading import open_regular, unzipped
from tritonscope.foreign.tritonparse_launches import Launches
from tritonscope.ir.mlir_dump import is_header
from tritonscope.model import Capture
from tritonscope.store import layout

__all__ = ["STDIN", "captures_of", "compilations", "is_foreign"]

#: What means standard input.
STDIN = "-"

_GZIP = b"\x1f\x8b"
_LOOKED_AT = 1 << 16
_PIECE = 1 << 20
_MOST_SPOOLED = 16 << 30

_KNOWN = (
    "what can be imported is Triton's cache, a TRITON_DUMP_DIR folder, the output of MLIR_ENABLE_DUMP or "
    "LLVM_IR_ENABLE_DUMP, a TORCHINDUCTOR_CACHE_DIR folder, tritonparse's .ndjson and .ndjson.gz, and archives of "
    "`tritonscope export`"
)


def captures_of(
    name: str, dumps: Path, *, python: str | None, wanted: Callable[[str], bool] = lambda kernel: True
) -> Iterator[Capture | UsageError]:
    """Make captures below `dumps` of the `wanted` kernels in `name`, one after the other; as `compilations`.

    `python` is the Python whose Triton disassembles, None to leave SASS out. Raises Missing where there is no room.
    """
    with _archive(name) as archive:
        if archive:
            yield archives.unpack(archive, name, dumps)
            return
    for found in compilations(name):
        if isinstance(found, UsageError):
            yield found
        elif wanted(found.kernel):
            yield captures.write(found, dumps, python=python, command=["tritonscope", "import", name])


@contextmanager
def _archive(name: str) -> Iterator[Path | None]:
    """The archive that `name` is, uncompressed; None where it is something else."""
    path = layout.expand(name)
    if name == STDIN or not path.is_file():
        yield None
        return
    with open_regular(path, links=True) as file:
        head = file.read(_LOOKED_AT)
        if archives.looks_like(head):
            yield path
        elif not head.startswith(_GZIP) or not archives.looks_like(_start(path, name)):
            yield None
        else:
            file.seek(0)
            with unzipped(file, name) as stream, _spooled(stream, name) as spooled:
                yield spooled


def _start(path: Path, what: str) -> bytes:
    """What a compressed file begins with, unpacked."""
    with _unpacked(path, what) as stream:
        return stream.read(_LOOKED_AT)


def compilations(name: str) -> Iterator[Found | UsageError]:
    """The compilations in the file or folder `name`, "-" for standard input; one that cannot be read gives the reason.

    A generator that holds one at a time. Raises UsageError where `name` is nothing that is known here, or damaged.
    """
    if name == STDIN:
        with _spooled(sys.stdin.buffer, "standard input") as path:
            yield from _in_file(path, "standard input")
        return
    path = layout.expand(name)
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise UsageError(f"{name} cannot be read ({error.strerror}); name a file or a folder that is there") from None
    if stat.S_ISDIR(mode):
        yield from _in_folder(path)
    elif stat.S_ISREG(mode):
        yield from _in_file(path, str(path.absolute()))
    else:
        with path.open("rb") as pipe, _spooled(pipe, name) as spooled:
            yield from _in_file(spooled, name)


def is_foreign(path: Path) -> bool:
    """Whether `path`, a file or a folder, looks like something that `compilations` reads."""
    try:
        if path.is_dir():
            return triton_folders.how_many(path, 1) > 0
        if not path.is_file():
            return False
        with open_regular(path, links=True) as file:
            head = file.read(_LOOKED_AT)
    except (OSError, UsageError):
        return False
    if head.startswith(_GZIP) or archives.looks_like(head):
        return True
    lines = head.splitlines(keepends=True)
    return tritonparse.looks_like(head) or any(
        is_header(line) or line.lstrip(b";# ").startswith(b"*** IR Dump ") for line in lines
    )


def _in_folder(folder: Path) -> Iterator[Found | UsageError]:
    """What Triton left in a folder and those below it, then the traces: tritonparse makes a folder for each rank."""
    root = folder.absolute()
    some = False
    traces: list[Path] = []
    for below in folders.walk(root):
        if isinstance(below, UsageError):
            some = True
            yield below
            continue
        inner, names = below
        traces += [inner / name for name in names if name.endswith((".ndjson", ".ndjson.gz"))]
        for found in triton_folders.compilations(inner, names):
            some = True
            yield found
    for path in traces:
        yield from _in_file(path, str(path))
    if not some and not traces:
        raise UsageError(_nothing_in(root))


def _nothing_in(folder: Path) -> str:
    for _, _, names in os.walk(folder):
        if "output_code.py" in names:
            return (
                f"{folder} is a debug folder of torch.compile, which holds Python but nothing compiled; "
                "import the folder that TORCHINDUCTOR_CACHE_DIR names, or run with TRITON_KERNEL_DUMP=1"
            )
    return f"{folder} holds nothing compiled; {_KNOWN}"


def _in_file(path: Path, place: str) -> Iterator[Found | UsageError]:
    with open_regular(path, links=True) as file:
        head = file.read(_LOOKED_AT)
        file.seek(0)
        if head.startswith(_GZIP):
            with unzipped(file, place) as stream:
                yield from _in_gzip(stream, place, path)
        elif tritonparse.looks_like(head):
            yield from _in_trace(path, place)
        else:
            yield from _printed(path, place)


def _in_gzip(stream: BinaryIO, place: str, path: Path) -> Iterator[Found | UsageError]:
    if tritonparse.looks_like(_start(path, place)):
        yield from _in_trace(path, place)
        return
    with _spooled(stream, place) as spooled:
        yield from _printed(spooled, place)


def _in_trace(path: Path, place: str) -> Iterator[Found | UsageError]:
    launches = Launches()
    with suppress(UsageError), _unpacked(path, place) as stream:  # of damage, the compilations below tell
        launches.read(stream, place)
    with _unpacked(path, place) as stream:
        yield from tritonparse.compilations(stream, place, launches)


@contextmanager
def _unpacked(path: Path, what: str) -> Iterator[BinaryIO]:
    """A file's contents, uncompressed."""
    with open_regular(path, links=True) as file:
        packed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        if not packed:
            yield file
            return
        with unzipped(file, what) as stream:
            yield stream


def _printed(path: Path, place: str) -> Iterator[Found]:
    some = False
    for found in pass_dumps.compilations(path, place):
        some = True
        yield found
    if not some:
        raise UsageError(f"{place} is nothing that is known here; {_KNOWN}")


@contextmanager
def _spooled(stream: BinaryIO, what: str) -> Iterator[Path]:
    """All of a stream in a temporary file, for what has to be read twice."""
    with tempfile.TemporaryDirectory(prefix="tritonscope-") as folder:
        path = Path(folder, "spooled")
        try:
            with path.open("wb") as file:
                size = 0
                while piece := stream.read(_PIECE):
                    size += len(piece)
                    if size > _MOST_SPOOLED:
                        raise UsageError(f"{what} has over {_MOST_SPOOLED} bytes; import a part of it")
                    file.write(piece)
        except OSError as error:
            if no_room(error):
                raise Missing(f"there is no room for {what} in {folder}; make some, or set TMPDIR") from None
            raise
        yield path
