"""What the user calls a kernel: a bundled name, or path/to/file.py:function. Files are parsed here, never run."""

import ast
import os
from pathlib import Path

from tritonscope import bundled_kernels
from tritonscope.errors import KernelFileError, KernelNotFound
from tritonscope.model import KernelRef

__all__ = ["find"]

_DECORATORS = frozenset({"jit", "autotune", "heuristics"})


def find(text: str) -> KernelRef:
    """The kernel that `text` names; raises KernelNotFound with what there is instead."""
    path, colon, function = text.rpartition(":")
    if not colon:
        path, function = (text, "") if text.endswith(".py") else ("", text)
    if not path:
        return _bundled(function)
    file = Path(path)
    # Not resolve(), which would follow links: Triton records this path, and it counts for the capture's id.
    absolute = os.path.abspath(file)  # noqa: PTH100
    if not _is_utf_8(absolute):
        raise KernelFileError(f"the path {absolute!r} is not UTF-8, which Triton cannot write down; rename or copy it")
    if not file.is_file():
        raise KernelNotFound(
            f"there is no kernel file {path}; give a bundled name ('tritonscope kernels') or FILE.py:FUNCTION"
        )
    function = function or _only_kernel(file)
    return KernelRef(function, absolute, function)


def _bundled(name: str) -> KernelRef:
    kernel = bundled_kernels.find(name)
    return KernelRef(kernel.function, kernel.path, kernel.function, bundled=True)


def _only_kernel(file: Path) -> str:
    """The function to compile where only a file was named."""
    try:
        tree = ast.parse(file.read_bytes())
    except OSError as error:
        raise KernelFileError(f"{file} cannot be read ({error.strerror}); give the path of one that can") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # the last two for endless nesting
        raise KernelFileError(f"{file} is not Python: {error or type(error).__name__}") from error
    kernels = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and _is_kernel(node)]
    if len(kernels) == 1:
        return kernels[0]
    if not kernels:
        raise KernelNotFound(f"{file} has no function under @triton.jit or @gluon.jit; name one as {file}:FUNCTION")
    raise KernelNotFound(f"{file} has several kernels; name one: {', '.join(f'{file}:{name}' for name in kernels)}")


def _is_utf_8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_kernel(function: ast.FunctionDef) -> bool:
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in _DECORATORS:
            return True
    return False
