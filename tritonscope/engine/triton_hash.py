"""Triton's hash of its own files, which goes into every cache key, remembered from one process to the next.

Half a gigabyte of library is read for it: a third of a second, as long as a small kernel takes to compile. What came
out is kept in the user's cache folder and holds while none of those files changes: its place, inode, size, time of
modification and time of status change, as git tells that a file is the same. Runs in the child.
"""

import hashlib
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["ahead", "function", "get", "in_use"]


@cache
def ahead() -> threading.Thread:
    """Start finding it out, in a thread; `get` waits for that."""
    thread = threading.Thread(target=_find, daemon=True)
    thread.start()
    return thread


def get() -> str:
    """What Triton's `triton_key()` gives."""
    ahead().join()
    return _find()


@contextmanager
def in_use() -> Iterator[None]:
    """Let Triton itself take it from here, too."""
    text, module = get(), sys.modules[function().__module__]
    before = module.triton_key
    module.triton_key = lambda: text  # type: ignore[attr-defined]
    try:
        yield
    finally:
        module.triton_key = before  # type: ignore[attr-defined]


def function() -> Any:
    """Triton's own function, wherever this release has it."""
    from triton.compiler import compiler
    from triton.runtime import cache as module

    return module.triton_key if hasattr(module, "triton_key") else compiler.triton_key


@cache
def _find() -> str:
    import triton

    root = Path(triton.__file__).parent
    state, file = _state(root), _file(root)
    with suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(file.read_bytes())
        if kept["state"] == state and isinstance(kept["key"], str):
            return str(kept["key"])
    key = _computed()
    if _state(root) == state:  # else a build is going on
        _keep(file, {"state": state, "key": key})
    return key


def _state(root: Path) -> str:
    """A hash that differs as soon as any file that Triton may hash does."""
    paths = [*(root / "_C").glob("libtriton*"), root / "runtime" / "cache.py"]
    for folder in ("compiler", "backends", "language"):
        for place, _, names in os.walk(root / folder):
            paths += [Path(place, name) for name in names if name.endswith(".py")]
    lines = [sys.version]
    for path in sorted(paths):
        with suppress(OSError):
            found = path.stat()
            times = (found.st_mtime_ns, found.st_ctime_ns)
            lines.append(repr((str(path), found.st_dev, found.st_ino, found.st_size, times)))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _computed() -> str:
    """Compute it now, and do not wait 5 ms, Python's default, for the interpreter lock after each megabyte."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0001)
    try:
        return str(function()())
    finally:
        sys.setswitchinterval(before)


def _file(root: Path) -> Path:
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - never raises
    return Path(folder, "tritonscope", f"triton-{hashlib.sha256(str(root).encode()).hexdigest()[:16]}.json")


def _keep(file: Path, document: dict[str, str]) -> None:
    if not file.is_absolute():  # there is no home
        return
    partial = file.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(document))
        partial.replace(file)
