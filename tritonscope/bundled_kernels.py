"""The kernels and the reference captures that travel with tritonscope.

A kernel file says what its kernels are in a dict, TRITONSCOPE, that is read from the source: nothing is imported.
"""

import ast
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tritonscope.errors import KernelFileError, KernelNotFound

__all__ = ["BundledKernel", "find", "kernels", "ladder", "ladders", "reference_dumps", "spec_of"]

_SPEC = "TRITONSCOPE"


@dataclass(frozen=True)
class BundledKernel:
    """A kernel that travels with the tool: `path` is its absolute file, `options` what it compiles with.

    `rung` orders the kernels of one ladder, those called FAMILY and FAMILY/..; None for one that is on none.
    """

    name: str
    summary: str
    path: str
    function: str
    signature: str
    options: Mapping[str, Any] = field(default_factory=dict)
    rung: int | None = None


def kernels() -> tuple[BundledKernel, ...]:
    """Every bundled kernel, by name."""
    folder = _folder("kernels", "kernels")
    found = []
    for file in sorted(folder.glob("*.py")) if folder else ():
        for function, spec in _specs(file).items():
            found.append(
                BundledKernel(
                    name=str(spec.get("name", function)),
                    summary=str(spec.get("summary", "")),
                    path=str(file),
                    function=function,
                    signature=str(spec.get("signature", "")),
                    options=spec.get("options", {}),
                    rung=spec.get("rung"),
                )
            )
    return tuple(sorted(found, key=lambda kernel: kernel.name))


def find(name: str) -> BundledKernel:
    """The bundled kernel called `name`; raises KernelNotFound, with the names there are."""
    there = {kernel.name: kernel for kernel in kernels()}
    if name in there:
        return there[name]
    near = difflib.get_close_matches(name, there)
    hint = f"did you mean {near[0]}" if near else f"there are {', '.join(there) or 'none'}"
    raise KernelNotFound(
        f"no bundled kernel is called {name!r}: {hint}, or path/to/file.py:function for one of your own"
    )


def ladder(family: str) -> tuple[BundledKernel, ...]:
    """The rungs of the ladder called `family`, from the bottom; () where there is none."""
    rungs = [each for each in kernels() if each.rung is not None and each.name.partition("/")[0] == family]
    return tuple(sorted(rungs, key=lambda kernel: kernel.rung or 0))


def ladders() -> tuple[str, ...]:
    """The names of the ladders."""
    return tuple(dict.fromkeys(each.name.partition("/")[0] for each in kernels() if each.rung is not None))


def spec_of(path: str | Path, function: str) -> Mapping[str, Any] | None:
    """What TRITONSCOPE in the file `path` says of `function`: summary, signature, options; None where it says nothing.

    Raises KernelFileError, naming the line, where the file is not Python or TRITONSCOPE is not written out.
    """
    return _specs(Path(path)).get(function)


def reference_dumps() -> Path | None:
    """The folder of the reference captures, None where they did not come along."""
    return _folder("dumps", "dumps/reference")


def _folder(installed: str, in_checkout: str) -> Path | None:
    package = Path(__file__).resolve().parent
    for folder in (package / "bundled" / installed, package.parent / in_checkout):
        if folder.is_dir():
            return folder
    return None


def _specs(path: Path) -> Mapping[str, Mapping[str, Any]]:
    try:
        module = ast.parse(path.read_bytes(), str(path))
    except OSError as error:
        raise KernelFileError(
            f"{path} cannot be read ({error.strerror}); name a kernel as path/to/file.py:function"
        ) from None
    except SyntaxError as error:
        raise KernelFileError(f"{path}, line {error.lineno}: {error.msg}; mend the file first") from None
    except ValueError as error:
        raise KernelFileError(f"{path} is not Python ({error}); name a kernel as path/to/file.py:function") from None
    for node in module.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == _SPEC for t in node.targets):
            return _written_out(node, path)
    return {}


def _written_out(node: ast.Assign, path: Path) -> Mapping[str, Mapping[str, Any]]:
    try:
        value = ast.literal_eval(node.value)
    except (ValueError, TypeError, RecursionError):
        value = None
    if not isinstance(value, dict) or not all(isinstance(spec, dict) for spec in value.values()):
        raise KernelFileError(
            f"{path}, line {node.lineno}: {_SPEC} must be a dict of dicts written out in full, "
            'as in {"function": {"summary": "..", "signature": "..", "options": {..}}}'
        )
    return value
