"""Names and paths in a dumps folder; DESIGN's section "A capture" draws it."""

import os
import re
import shlex
from pathlib import Path, PurePosixPath

from tritonscope.errors import UsageError

__all__ = [
    "ABLATIONS",
    "CAPTURE",
    "ENDED_EARLY",
    "FINISHED",
    "JOURNAL",
    "LOG",
    "PASSES",
    "PROFILE",
    "RUNNING",
    "RUNS",
    "called",
    "dumps_folder",
    "dumps_option",
    "escapes",
    "expand",
    "final_name",
    "is_capture",
    "is_running",
    "kernel_folder",
    "running_name",
    "snapshot_name",
]

CAPTURE = "capture.json"
JOURNAL = "events.jsonl"
LOG = "log.txt"
PASSES = "passes"
RUNS = "runs.jsonl"
ABLATIONS = "ablate.jsonl"
PROFILE = "profile.json"

#: What the name of a folder that is still being written contains.
RUNNING = ".running-"

#: The statuses of attempts that did not come to the compiler's own verdict.
ENDED_EARLY = ("crashed", "timeout", "interrupted")

#: Those of compilations that did.
FINISHED = ("ok", "failed")

_UNSAFE = re.compile(r"[^\w.+-]+")
_LONGEST = 100


def dumps_folder(given: str | None) -> Path:
    """The dumps folder, absolute: `given`, else $TRITONSCOPE_DUMPS, else ./dumps. It need not exist."""
    path = expand(given or os.environ.get("TRITONSCOPE_DUMPS") or "dumps")
    try:
        return path.absolute()
    except FileNotFoundError:
        raise UsageError(
            "the folder that this was started in is gone; change into one that is there, or name DIR with --dumps"
        ) from None


def dumps_option(dumps: Path) -> str:
    """What has to be added to a command for it to look in `dumps`: " --dumps DIR", or "" for the default."""
    return "" if dumps == _default() else f" --dumps {shlex.quote(str(dumps))}"


def called(folder: Path) -> str:
    """What a user calls the capture in `folder` on a command line: "kernel/target-id" in the default dumps folder, else
    the path; quoted for a shell.
    """
    return shlex.quote(f"{folder.parent.name}/{folder.name}" if folder.parent.parent == _default() else str(folder))


def expand(text: str) -> Path:
    """The path `text` with its "~" written out; raises UsageError where there is no such user."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        user = text.partition("/")[0]
        raise UsageError(f"{user} in {text} is nobody's home folder here; write the path out") from None


def _default() -> Path | None:
    try:
        return dumps_folder(None)
    except UsageError:
        return None


def kernel_folder(kernel: str) -> str:
    """The name of the folder that holds the captures of `kernel`."""
    return _safe(kernel)


def running_name(target: str) -> str:
    """A fresh name for a capture for `target` whose id is not known yet."""
    return f"{_safe(target)}{RUNNING}{os.urandom(4).hex()}"


def final_name(target: str, id: str, status: str = "") -> str:  # noqa: A002 - it is called an id everywhere
    """The folder name of a published capture; `status` is added for an attempt that is kept beside a better one."""
    name = f"{_safe(target)}-{_safe(id)}"
    return f"{name}.{status}" if status else name


def snapshot_name(step: str, name: str, suffix: str) -> str:
    """The file, relative to the capture, of the snapshot after a step.

    >>> snapshot_name("43.1", "canonicalizer", "mlir")
    'passes/043.1-canonicalizer.mlir'
    """
    top, dot, nested = step.partition(".")
    return f"{PASSES}/{top:0>3}{dot}{nested}-{_safe(name)}.{suffix.removeprefix('.')}"


def is_running(folder: Path) -> bool:
    """Whether the name of `folder` is that of a capture which nobody has published."""
    return RUNNING in folder.name


def is_capture(folder: Path) -> bool:
    """Whether `folder` holds what a capture holds; raises OSError where it cannot be looked into."""
    return (folder / CAPTURE).is_file() or (folder / JOURNAL).is_file()


def escapes(name: str) -> bool:
    """Whether a file name found in a capture is none that a capture may use: absolute, with "..", or unprintable."""
    path = PurePosixPath(name)
    return not name or path.is_absolute() or ".." in path.parts or "\\" in name or not name.isprintable()


def _safe(name: str) -> str:
    return _UNSAFE.sub("_", name)[:_LONGEST].lstrip(".-") or "unnamed"
