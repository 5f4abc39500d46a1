"""Triton's cache key taken apart. Runs in the child; `tritonscope.cachekey` describes the parts and joins them again.

Every part is checked against Triton's own hash of it, and kept as one opaque text where it does not come out the same:
a Triton that hashes in another way costs detail, never truth.
"""

import hashlib
import platform
from collections.abc import Iterator, Mapping
from typing import Any

from tritonscope.cachekey import combine_function
from tritonscope.engine import triton_hash

__all__ = ["components", "environment"]


def components(src: Any, backend: Any, options: Any, env_vars: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The components of the key under which `triton.compile(src, target, options)` files its result.

    `src` is an ASTSource (another source is kept opaque), `backend` what `make_backend(target)` gives, `options` the
    mapping that goes to `triton.compile`, or parsed options; `env_vars` Triton's cache-invalidating variables, by
    default the present ones. Plain JSON data; raises what Triton raises where it cannot make a key itself.
    """
    from triton import knobs
    from triton._C.libtriton import get_cache_invalidating_env_vars

    if isinstance(options, Mapping):
        options = backend.parse_options({**options, **src.parse_options()})
    environment = dict(get_cache_invalidating_env_vars() if env_vars is None else env_vars)
    hook = getattr(knobs.runtime, "add_stages_inspection_hook", None)
    stages_hook = hook()[0] if hook is not None else ""
    triton_text, backend_text = triton_hash.get(), backend.hash()
    key = f"{triton_text}-{src.hash()}-{backend_text}-{options.hash()}-{sorted(environment.items())!s}{stages_hook}"

    notes: list[str] = []
    return {
        "hash": _sha256(key),
        "triton": _triton(triton_text, notes),
        **_source(src, notes),
        "backend": {"name": backend.target.backend, "hash": backend_text},
        **_options(options, notes),
        "environment": environment,
        "stages_hook": stages_hook,
        "notes": notes,
    }


def environment() -> dict[str, str]:
    """Versions of python, triton, each ptxas that is there, and of LLVM where Triton tells it."""
    import triton

    versions = {"python": platform.python_version(), "triton": triton.__version__}
    for name in ("ptxas", "ptxas_blackwell"):
        try:
            versions[name] = str(getattr(triton.knobs.nvidia, name).version)
        except (AttributeError, RuntimeError, OSError):
            continue
    try:
        from triton.backends.amd.compiler import get_amd_codegen_revision

        versions["llvm_amd"] = str(get_amd_codegen_revision())
    except (ImportError, OSError, AttributeError):
        pass
    return versions


def _triton(text: str, notes: list[str]) -> dict[str, Any]:
    import triton

    version = str(triton.__version__)
    hashes = text.removeprefix(version).split("-")
    names = list(_hashed_modules())
    if not text.startswith(version) or len(names) != len(hashes):
        notes.append("Which of Triton's own files count is not known for this version.")
        return {"opaque": text}
    files: dict[str, str] = {}
    for name, digest in zip(names, hashes, strict=True):
        files[_unused(name, files)] = digest
    return {"version": version, "files": files}


def _hashed_modules() -> Iterator[str]:
    """The names of the files that `triton_key` hashes, in its order."""
    import pkgutil
    from pathlib import Path

    import triton

    root = Path(triton.__file__).parent

    def below(name: str) -> Iterator[str]:
        for module in pkgutil.walk_packages([str(root / name)], prefix=f"triton.{name}."):
            yield module.name

    yield triton_hash.function().__module__
    yield from below("compiler")
    yield from below("backends")
    yield "triton._C.libtriton"
    yield from below("language")


def _source(src: Any, notes: list[str]) -> dict[str, Any]:
    if not hasattr(src, "fn"):
        notes.append("The source is no Python function: its hash is kept whole.")
        return {"source": {"opaque": src.hash()}}
    functions = _Functions()
    kernel = functions.add(src.fn)
    for value in src.constants.values():
        if hasattr(value, "cache_key"):
            functions.add(value)
    notes += functions.notes
    names = list(src.fn.arg_names)
    return {
        "kernel": kernel,
        "functions": functions.found,
        "parameters": names,
        "signature": {
            name: value if isinstance(value, str) else {"repr": repr(value)} for name, value in src.signature.items()
        },
        "attributes": {_place(path, names): repr(value) for path, value in src.attrs.items()},
        "constants": {
            _place(path, names): value.cache_key if hasattr(value, "cache_key") else str(value)
            for path, value in sorted(src.constants.items(), key=lambda item: item[0])
        },
    }


def _place(path: tuple[int, ...], names: list[str]) -> str:
    return names[path[0]] + "".join(f"[{index}]" for index in path[1:])


class _Functions:
    """The hash inputs of a function and of those it calls, in `found` by their full names."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        self.notes: list[str] = []
        self.names: dict[int, str] = {}

    def add(self, fn: Any) -> str:
        """Take `fn` in, if it is not yet, and return its name."""
        fn = getattr(fn, "__func__", fn)
        if id(fn) in self.names:
            return self.names[id(fn)]
        name = _unused(str(getattr(fn, "_fn_name", None) or fn.__name__), self.found)
        self.names[id(fn)] = name
        digest = fn.cache_key
        self.found[name] = {"opaque": digest}  # keeps the place, and ends recursion
        for candidate in self._candidates(fn):
            self.found[name] = candidate
            if combine_function(name, self.found) == digest:
                self.found[name] = {"hash": digest, **candidate}
                return name
        self.found[name] = {"opaque": digest}
        self.notes.append(f"What counts of {name} could not be told apart: its hash is kept whole.")
        return name

    def _candidates(self, fn: Any) -> Iterator[dict[str, Any]]:
        """The ways in which Triton's releases hash a function, applied to this one."""
        import triton.language as tl

        try:
            references = self._references(fn)
        except Exception:  # the walk is Triton's own, and may refuse what it accepted before
            return
        read = [
            [name, repr(value)]
            for (name, _), (value, _) in fn.used_global_vals.items()
            if isinstance(value, tl.constexpr)
        ]
        common = {"line": fn.starting_line_number, "source": fn.src, "references": references}
        for values in (read, sorted(read)):
            yield {**common, "globals": values, "hashed": True}
        yield {**common, "globals": [], "hashed": False}

    def _references(self, fn: Any) -> list[dict[str, str]]:
        """What Triton adds to the source's hash for each name in the body that refers to a function or a class."""
        import inspect

        from triton.runtime.jit import DependenciesFinder

        referred: list[Any] = []

        class Finder(DependenciesFinder):  # type: ignore[misc]
            def _update_hash(self, func: Any) -> None:
                referred.append(func)
                super()._update_hash(func)

        finder = Finder(
            name=fn._fn_name,
            globals=fn.__globals__,
            nonlocals=inspect.getclosurevars(fn.fn).nonlocals,
            src=fn.src,
        )
        texts = _Texts()
        finder.hasher = texts
        # Triton's own placeholder, for a function that calls itself.
        digest, fn.hash = fn.hash, f"recursion:{fn._fn_name}"
        try:
            finder.visit(fn.parse())
        finally:
            fn.hash = digest
        return [self._reference(text, referred) for text in texts.texts]

    def _reference(self, text: str, referred: list[Any]) -> dict[str, str]:
        for called in referred:
            digest = getattr(called, "cache_key", None)
            if digest and text.startswith(digest):
                return {"function": self.add(called), "text": text.removeprefix(digest)}
        return {"text": text}


class _Texts:
    """Stands in for a hash object, and keeps what it is given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def update(self, data: bytes) -> None:
        self.texts.append(data.decode("utf-8"))

    def hexdigest(self) -> str:
        return ""


def _options(options: Any, notes: list[str]) -> dict[str, Any]:
    digest = options.hash()
    for values, libraries in _option_candidates(options):
        shown = {name: None if name == "extern_libs" else str(value) for name, value in values}
        joined = "_".join(f"{name}-{libraries if text is None else text}" for name, text in shown.items())
        if _sha256(joined) == digest:
            return {"options": shown, "libraries": dict(libraries)}
    notes.append("The options that count could not be told apart: their hash is kept whole.")
    return {"options": {"opaque": digest}, "libraries": {}}


def _option_candidates(options: Any) -> Iterator[tuple[list[tuple[str, Any]], tuple[tuple[str, str], ...]]]:
    """The ways in which Triton's backends hash their options: sorted or not, the libraries' contents or their paths."""
    values = list(vars(options).items())
    paths = tuple(vars(options).get("extern_libs") or ())
    hashes = tuple((name, _file_hash(path)) for name, path in paths)
    for libraries in (tuple(sorted(hashes)), hashes, paths):
        yield sorted(values), libraries
        yield values, libraries


def _file_hash(path: str) -> str:
    from pathlib import Path

    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


def _unused(name: str, taken: Mapping[str, Any]) -> str:
    """`name`, or "name#2" and so on where it is taken."""
    count, free = 1, name
    while free in taken:
        count += 1
        free = f"{name}#{count}"
    return free


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
