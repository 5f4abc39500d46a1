"""Other tools' files in a capture's place: imported into a folder of the user's cache, once for the same contents.

$XDG_CACHE_HOME/tritonscope/imports/<what was there>/ is a dumps folder; the newest few are kept.
"""

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tritonscope import __version__
from tritonscope.errors import CaptureNotFound, Missing, UsageError, no_room
from tritonscope.foreign import importing, triton_folders
from tritonscope.model import Capture
from tritonscope.store import reader

__all__ = ["dumps_of", "open_foreign"]

_KEPT = 16

#: Disassembling takes a second each: of more than these nobody would wait for it.
_MOST_DISASSEMBLED = 16
_MOST_NAMED = 8


def open_foreign(path: Path, python: str) -> Capture:
    """The one compilation that `path` holds; `python` is the one whose Triton disassembles.

    Raises CaptureNotFound where there are several, UsageError where it cannot be read.
    """
    found, _ = reader.list_captures(dumps_of(path, python))
    if len(found) == 1:
        return found[0]
    names = ", ".join(capture.capture for capture in found[:_MOST_NAMED]) + (", ..." if found[_MOST_NAMED:] else "")
    raise CaptureNotFound(
        f"{path} holds {len(found)} compilations ({names}); `tritonscope import {path}` makes captures of them to name"
    )


def dumps_of(path: Path, python: str) -> Path:
    """The dumps folder with all compilations that `path` holds; raises UsageError where none can be read."""
    home = _home()
    folder = home / _identity(path, python)
    if not folder.is_dir():
        _import(path, python, folder)
    os.utime(folder)
    _forget(home, folder)
    return folder


def _import(path: Path, python: str, folder: Path) -> None:
    partial = folder.with_name(f".{folder.name}-{secrets.token_hex(4)}")
    try:
        partial.mkdir(parents=True)
        many = path.is_dir() and triton_folders.how_many(path, _MOST_DISASSEMBLED + 1) > _MOST_DISASSEMBLED
        made = importing.captures_of(str(path), partial, python=None if many else python)
        problems = [each for each in made if isinstance(each, UsageError)]
        if not any(partial.iterdir()):
            raise problems[0] if problems else UsageError(f"{path} holds nothing that can be imported")
        if not folder.exists():
            partial.rename(folder)
    except OSError as error:
        if no_room(error):
            raise Missing(
                f"there is no room to import {path} in {folder.parent}; make some, or set XDG_CACHE_HOME"
            ) from None
        raise UsageError(
            f"{path} could not be imported into {folder.parent} ({error.strerror}); "
            f"set XDG_CACHE_HOME, or use `tritonscope import {path}`"
        ) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _home() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - never raises
    return Path(cache).absolute() / "tritonscope" / "imports"


def _identity(path: Path, python: str) -> str:
    """The same as long as no file in `path` changes: names, inodes, sizes and times."""
    digest = hashlib.sha256(f"{__version__}\0{python}\0{path.absolute()}".encode("utf-8", "replace"))
    for file in _files(path):
        status = file.lstat()
        facts = (str(file), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        digest.update(repr(facts).encode("utf-8", "replace"))
    return digest.hexdigest()[:16]


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path.resolve()
        return
    for parent, folders, names in os.walk(path):
        folders.sort()
        yield from (Path(parent) / name for name in sorted(names))


def _forget(home: Path, used: Path) -> None:
    """Remove the oldest, and what is left of imports that were cut off."""
    with suppress(FileNotFoundError):  # another command removes the same
        others = sorted((each for each in home.iterdir() if each != used), key=lambda each: each.lstat().st_mtime)
        for old in others[: max(len(others) - _KEPT + 1, 0)]:
            shutil.rmtree(old, ignore_errors=True)
