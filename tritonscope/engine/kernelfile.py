"""A kernel file, loaded by its path, and the kernel in it with its wrappers looked through. Runs in the child."""

import importlib
import importlib.util
import linecache
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from tritonscope.errors import KernelFileError, KernelNotFound, UsageError
from tritonscope.model import KernelRef

__all__ = ["LoadedKernel", "describe", "load", "load_for_spec", "load_interpreted"]


@dataclass(frozen=True)
class LoadedKernel:
    """A kernel of a loaded file.

    `fn` is Triton's own function object (Gluon's included), without the wrappers around it. `configs` are the keyword
    arguments of each autotune configuration, options such as num_warps among them; `heuristics` maps names to
    functions of the arguments, in the order in which a launch applies them. `spec` is the kernel's entry in the file's
    TRITONSCOPE, {} without one.
    """

    ref: KernelRef
    module: ModuleType
    fn: Any
    configs: tuple[Mapping[str, Any], ...]
    heuristics: tuple[tuple[str, Callable[[Any], Any]], ...]
    spec: Mapping[str, Any]


def load(ref: KernelRef) -> LoadedKernel:
    """Run the kernel's file, with its folder importable, and find the function.

    Raises KernelNotFound (no such file or function) and KernelFileError (the file failed; names its line).
    """
    module = _module(ref)
    found = _lookup(module, ref.function)
    fn, wrappers = _unwrap(found)
    if fn is None:
        raise KernelNotFound(_no_kernel(ref, module, found))
    return _loaded(ref, module, fn, wrappers)


def load_interpreted(ref: KernelRef) -> tuple[LoadedKernel, Any]:
    """The kernel, and the function of Triton's interpreter that `fn[grid](**arguments)` runs it with.

    TRITON_INTERPRET must be set. Raises as `load` does, and UsageError for a Gluon kernel.
    """
    module = _module(ref)
    found = _lookup(module, ref.function)
    interpreted, wrappers = _unwrap_interpreted(found)
    if interpreted is None:
        if any(type(each).__name__ == "GluonJITFunction" for each in wrappers):
            raise UsageError(
                f"{ref.name} is written in Gluon, which Triton's interpreter does not take: "
                f"only a GPU can run it, with 'tritonscope run' without --interpret"
            )
        raise KernelNotFound(_no_kernel(ref, module, found))
    return _of_interpreted(ref, module, interpreted, wrappers), interpreted


def load_for_spec(ref: KernelRef) -> LoadedKernel:
    """As `load`, and where TRITON_INTERPRET is set too: what comes is not to be compiled, but says what spec it has."""
    module = _module(ref)
    found = _lookup(module, ref.function)
    fn, wrappers = _unwrap(found)
    if fn is not None:
        return _loaded(ref, module, fn, wrappers)
    interpreted, wrappers = _unwrap_interpreted(found)
    if interpreted is None:
        raise KernelNotFound(_no_kernel(ref, module, found))
    return _of_interpreted(ref, module, interpreted, wrappers)


def _unwrap_interpreted(found: Any) -> tuple[Any, list[Any]]:
    """The interpreter's function inside `found`, None if there is none, and the wrappers around it."""
    wrappers: list[Any] = []
    while found is not None and type(found).__name__ != "InterpretedFunction":
        wrappers.append(found)
        found = getattr(found, "fn", None)
    return found, wrappers


def _of_interpreted(ref: KernelRef, module: ModuleType, interpreted: Any, wrappers: list[Any]) -> LoadedKernel:
    from triton.runtime.jit import JITFunction

    return _loaded(ref, module, JITFunction(interpreted.fn), wrappers)


def _module(ref: KernelRef) -> ModuleType:
    path = Path(os.path.abspath(ref.path))  # noqa: PTH100 - resolve() would follow links, and Triton records this path
    if not path.is_file():
        raise KernelNotFound(f"There is no kernel file {ref.path}; give the path of a Python file that is there.")
    return _run(path)


def _loaded(ref: KernelRef, module: ModuleType, fn: Any, wrappers: list[Any]) -> LoadedKernel:
    configs: list[Mapping[str, Any]] = []
    heuristics: list[tuple[str, Callable[[Any], Any]]] = []
    for wrapper in wrappers:
        if hasattr(wrapper, "configs"):
            tuned = [config.all_kwargs() for config in wrapper.configs]
            # Inside another autotuner, a launch would try all of these for each of its own: the first stands for them.
            configs = [{**tuned[0], **outer} for outer in configs] if configs else tuned
        elif isinstance(getattr(wrapper, "values", None), Mapping):
            heuristics += wrapper.values.items()
    return LoadedKernel(ref, module, fn, tuple(configs), tuple(heuristics), _spec(module, ref))


def describe(loaded: LoadedKernel) -> dict[str, Any]:
    """What `--config all` and a listing need to know of a kernel, as plain JSON data.

    {function, parameters: [{name, constexpr, annotation, default}], configs: [one line each], heuristics: [name],
    spec}; `default` is None or its text.
    """
    signature = loaded.fn.signature.parameters
    return {
        "function": loaded.ref.function,
        "parameters": [
            {
                "name": param.name,
                "constexpr": bool(param.is_constexpr),
                "annotation": param.annotation,
                "default": None
                if signature[param.name].default is signature[param.name].empty
                else repr(signature[param.name].default),
            }
            for param in loaded.fn.params
        ],
        "configs": [", ".join(f"{name}={value}" for name, value in config.items()) for config in loaded.configs],
        "heuristics": [name for name, _ in loaded.heuristics],
        "spec": {name: dict(value) if isinstance(value, Mapping) else value for name, value in loaded.spec.items()},
    }


def _run(path: Path) -> ModuleType:
    folder = str(path.parent)
    if folder not in sys.path[:1]:
        sys.path.insert(0, folder)
    linecache.cache.pop(str(path), None)
    try:
        return _execute(path)
    except ImportError as error:
        package = _package_of(path)
        if package is None or "relative import" not in str(error):
            raise KernelFileError(_failure(path, error)) from error
    except BaseException as error:  # SystemExit and KeyboardInterrupt too: the file must not end the child in silence
        raise KernelFileError(_failure(path, error)) from error

    root, name = package
    sys.path.insert(0, str(root))
    try:
        return importlib.import_module(name)
    except BaseException as error:
        raise KernelFileError(_failure(path, error)) from error


class _KernelFileLoader(SourceFileLoader):
    """Marks the modules made here: the same name may be used again, for an edited file or another of that name."""


def _execute(path: Path) -> ModuleType:
    """Run the file as the module an `import` of it would make, but never from or into a bytecode cache.

    The name matters: Triton builds the names of the functions that a kernel calls from it.
    """
    name = path.stem
    ours = name not in sys.modules or isinstance(sys.modules[name].__loader__, _KernelFileLoader)
    if name in sys.stdlib_module_names or not ours:
        name = f"{name}_kernel_file"
    loader = _KernelFileLoader(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader, origin=str(path))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        exec(loader.source_to_code(path.read_bytes(), str(path)), module.__dict__)  # noqa: S102 - running it is the job
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _package_of(path: Path) -> tuple[Path, str] | None:
    """The folder to import from and the dotted name, where the file lies in a package."""
    parts = [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return (folder, ".".join(parts)) if len(parts) > 1 else None


def _failure(path: Path, error: BaseException) -> str:
    """The sentence for a file that failed: what went wrong, and the line of the file that set it off."""
    line, text = _place(path, error)
    where = f"line {line}: {text}" if text else f"line {line}"
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{path.name} is not valid Python, {where}: {error.msg}."
    if isinstance(error, ModuleNotFoundError) and error.name:
        return (
            f"{path.name} needs {error.name!r}, which this Python does not have ({where}); "
            f"install it, or pass --python PATH with the Python of an environment that has it."
        )
    if isinstance(error, SystemExit):
        return f"{path.name} ended the program while it was loaded ({where}); guard that with `if __name__ == ...`."
    if isinstance(error, KeyboardInterrupt):
        return f"{path.name} was interrupted while it was loaded ({where})."
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"{path.name} failed while it was loaded ({where}): {said}"


def _place(path: Path, error: BaseException) -> tuple[int, str]:
    """Line number and text of the file's own innermost frame."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno or 1, (error.text or "").strip()
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename == str(path):
            return frame.lineno or 1, (frame.line or "").strip()
    return 1, ""


def _lookup(module: ModuleType, function: str) -> Any:
    found: Any = module
    for name in function.split("."):
        found = getattr(found, name, None)
    return found


def _unwrap(found: Any) -> tuple[Any, list[Any]]:
    """The kernel function inside `found`, None if there is none, and the wrappers around it from the outside in."""
    from triton.runtime.jit import JITFunction

    wrappers: list[Any] = []
    while found is not None and not isinstance(found, JITFunction):
        wrappers.append(found)
        found = getattr(found, "fn", None)
    return found, wrappers


def _kernels(module: ModuleType) -> Iterator[str]:
    for name, value in vars(module).items():
        fn, _ = _unwrap(value)
        if fn is not None and getattr(fn, "__module__", None) == module.__name__:
            yield name


def _no_kernel(ref: KernelRef, module: ModuleType, found: Any) -> str:
    if type(found).__name__ == "InterpretedFunction":
        return "TRITON_INTERPRET is set, so that @triton.jit makes no kernel to compile; unset it."
    there = ", ".join(_kernels(module))
    rest = f"its kernels are {there}" if there else "it has no @triton.jit or @gluon.jit function at its top level"
    name = Path(ref.path).name
    if found is None:
        return f"{name} has no function {ref.function!r}; {rest}."
    return f"{ref.function!r} in {name} is no Triton kernel; {rest}."


def _spec(module: ModuleType, ref: KernelRef) -> Mapping[str, Any]:
    specs = getattr(module, "TRITONSCOPE", {})
    spec = specs.get(ref.function, {}) if isinstance(specs, Mapping) else None
    if (
        not isinstance(spec, Mapping)
        or not isinstance(spec.get("signature", ""), str)
        or not isinstance(spec.get("options", {}), Mapping)
    ):
        raise UsageError(
            f"TRITONSCOPE in {Path(ref.path).name} must map function names to dictionaries "
            f'such as {{"signature": "x=*fp32:16, n=i32", "options": {{"num_warps": 4}}}}.'
        )
    return spec
