"""The source files that a kernel's file needs beside it, as far as they are here. Files are read, none is run."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tritonscope import bundled_kernels
from tritonscope.errors import CaptureUnreadable
from tritonscope.model import Capture
from tritonscope.store import files, reader

__all__ = ["Sources", "sources_of"]

_LARGEST = 4 << 20
_MOST_FILES = 100
_PROGRAMS = ("__main__", "None")
_BROUGHT = frozenset({"triton", "torch"})


@dataclass(frozen=True)
class Sources:
    """`files` are texts by name, relative to a folder that is to be importable; `module` the kernel's own.

    `missing` are modules that they import and that are neither here nor Python's, Triton's or PyTorch's. `is_program`
    where the kernel stood in the program that was traced, or in code that it executed; `module` is its file's then.
    """

    module: str
    files: dict[str, str]
    missing: tuple[str, ...]
    is_program: bool


def sources_of(capture: Capture) -> Sources:
    """The kernel's file as it was captured, and those of its own folder, or package, that it imports.

    Only where the file is still the one that was compiled are others read: a capture must not name what is handed on.
    Raises UsageError where the capture has no source, CaptureUnreadable where it is damaged.
    """
    main = reader.stage_text(capture, "python")
    module = str(capture.components.get("kernel", "")).rpartition(".")[0] or capture.kernel
    is_program = module in _PROGRAMS
    if is_program:
        module = Path(str(capture.request.get("kernel", {}).get("path", ""))).stem.replace(".", "_")
    file = _file(module)
    path = _path(capture, main)
    root = _root(path, file) if path else None
    found = {str(file): main}
    missing: set[str] = set()
    waiting = [(module, main)]
    while waiting:
        importer, text = waiting.pop()
        for name in _imports(text, importer):
            there = list(_modules(name, root)) if root else []
            for each, own in there:
                if str(own) not in found and len(found) < _MOST_FILES:
                    data = files.read_bounded(Path(root or "") / own, _LARGEST)
                    found[str(own)] = data.decode("utf-8", "replace")
                    waiting.append((each, found[str(own)]))
            top = name.partition(".")[0]
            if not there and top not in sys.stdlib_module_names and top not in _BROUGHT:
                missing.add(top)
    return Sources(module, found, tuple(sorted(missing)), is_program)


def _root(path: Path, file: PurePosixPath) -> Path:
    """The folder that the kernel's module is imported from: its own, or the one that its package lies in."""
    whole = path.parents[min(len(file.parts), len(path.parents)) - 1]
    return whole if whole / file == path else path.parent


def _path(capture: Capture, main: str) -> Path | None:
    """The file that was compiled, where it is here and still the same."""
    recorded = capture.request.get("kernel", {})
    places = [Path(str(recorded.get("path", "")))]
    if recorded.get("bundled"):
        places = [Path(each.path) for each in bundled_kernels.kernels() if each.function == recorded.get("function")]
    for path in places:
        try:
            if path.is_absolute() and files.read_bounded(path, _LARGEST).decode("utf-8", "replace") == main:
                return path
        except (CaptureUnreadable, ValueError):
            continue
    return None


def _imports(text: str, importer: str) -> Iterator[str]:
    """The modules that a file imports, by their full names; of `from a import b` both a and a.b."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = importer.split(".")[: -node.level] if node.level else []
            base = ".".join([*package, *([node.module] if node.module else [])])
            names = [base, *(f"{base}.{alias.name}".strip(".") for alias in node.names if alias.name != "*")]
            yield from filter(None, names)


def _modules(name: str, root: Path) -> Iterator[tuple[str, PurePosixPath]]:
    """The files below `root` that importing `name` runs: packages on the way, and the module."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        dotted = ".".join(parts[:end])
        folder = PurePosixPath(*parts[:end])
        for file in (folder / "__init__.py", _file(dotted)):
            if (root / file).is_file():
                yield dotted, file
                break


def _file(module: str) -> PurePosixPath:
    return PurePosixPath(*module.split(".")).with_suffix(".py")
