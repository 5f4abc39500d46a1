"""Walking folders of unknown origin: bounded, never through a link, nor into captures of ours."""

import os
from collections.abc import Iterator
from pathlib import Path

from tritonscope.errors import UsageError
from tritonscope.store import layout

__all__ = ["walk"]

_DEEPEST = 8
_MOST_FILES = 2_000_000


def walk(root: Path, most: int = _MOST_FILES) -> Iterator[tuple[Path, list[str]] | UsageError]:
    """`root` and each folder below it, with the names of its files, in order; in the place of one that cannot be read,
    the reason.

    Raises UsageError where there are more than `most` files and folders.
    """
    waiting = [(root, 0)]
    seen = 0
    while waiting:
        folder, depth = waiting.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            yield UsageError(f"{folder} cannot be read ({error.strerror}); make it readable")
            continue
        seen += len(entries)
        if seen > most:
            raise UsageError(f"{root} holds over {most} files; name a folder in it")
        if not {layout.CAPTURE, layout.JOURNAL}.isdisjoint(entry.name for entry in entries):
            continue
        folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        if depth < _DEEPEST:
            waiting += [(folder / name, depth + 1) for name in reversed(folders)]
        yield folder, sorted({entry.name for entry in entries}.difference(folders))
