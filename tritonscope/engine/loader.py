"""From a request to what `triton.compile` takes. Runs in the child; `load` and `describe` are kernelfile's.

Triton itself builds signature, constants and attributes, from stand-ins for the arguments of a launch: what is
compiled here is what that launch would compile. The types that were written win over those it infers.
"""

import difflib
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tritonscope.engine.arguments import Node, Value, leaves, stand_in, type_of
from tritonscope.engine.compile_only import record
from tritonscope.engine.inference import resolve, signature_text
from tritonscope.engine.kernelfile import LoadedKernel, describe, load
from tritonscope.errors import TargetError, UsageError
from tritonscope.model import Request, Target

__all__ = ["Built", "LoadedKernel", "build", "describe", "load"]

# By family: no backend lists its architectures, and one that LLVM lacks still fails in the compiler, by name.
_HIP_ARCH = re.compile(r"gfx(9[0-9a-f]{2}|10[0-9a-f]{2}|11[0-9a-f]{2}|12[0-9a-f]{2})(-strict)?")
_OLDEST_CUDA = 70


@dataclass(frozen=True)
class Built:
    """One compilation, ready for `triton.compile(src, target=target, options=options)`.

    `src` is an ASTSource or Gluon's, `target` a GPUTarget, `options` the backend's complete options; `signature` is the
    text of a full signature that builds the same again; `notes` are sentences on what was assumed or left out.
    """

    src: Any
    target: Any
    options: dict[str, Any]
    signature: str
    notes: tuple[str, ...] = ()


def build(loaded: LoadedKernel, request: Request) -> Built:
    """What `request` asks to compile.

    Raises SignatureError (what does not parse, does not fit the kernel, or is still unknown, with a line to edit),
    TargetError, and UsageError (options).
    """
    backend, target = _backend(request.target)
    resolved = resolve(loaded, request, _option_names(backend))
    _check_options(backend, resolved.options)
    args, kwargs = _call(loaded.fn, resolved.nodes)
    recorded = record(loaded.fn, target, args, {**resolved.options, **kwargs})
    _apply_written(recorded.src, loaded.fn, resolved.nodes)
    return Built(recorded.src, recorded.target, recorded.options, signature_text(resolved.nodes), resolved.notes)


def _backend(target: Target) -> tuple[Any, Any]:
    import triton
    from triton.backends import backends
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    arch: int | str = int(target.arch) if target.backend == "cuda" else target.arch
    gpu = GPUTarget(target.backend, arch, target.warp_size)
    if not any(backend.compiler.supports_target(gpu) for backend in backends.values()):
        raise TargetError(
            f"Triton {triton.__version__} has no backend for {target.backend}; it has {', '.join(sorted(backends))}."
        )
    backend = make_backend(gpu)
    if target.backend == "cuda" and int(target.arch) < _OLDEST_CUDA:
        raise TargetError(
            f"Triton {triton.__version__} does not compile for {target.name}; its oldest is sm_{_OLDEST_CUDA}."
        )
    if target.backend == "hip" and not _HIP_ARCH.fullmatch(target.arch):
        raise TargetError(
            f"Triton {triton.__version__} does not compile for {target.name}; it takes gfx9, gfx10, gfx11 and gfx12."
        )
    try:
        backend.parse_options({})
    except Exception as error:
        raise TargetError(f"Triton {triton.__version__} does not take {target.name}: {error}") from error
    return backend, gpu


def _option_names(backend: Any) -> list[str]:
    return list(type(backend.parse_options({})).__dataclass_fields__)


def _check_options(backend: Any, options: Mapping[str, Any]) -> None:
    known = _option_names(backend)
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else "take it out of the kernel's file."
            raise UsageError(f"{name} is no option of this target's backend; {hint}")
    try:
        backend.parse_options(dict(options))
    except Exception as error:
        raise UsageError(f"Triton refuses these options: {error}.") from error


def _call(fn: Any, nodes: Mapping[str, Node]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of the call: by name, which is how a parameter that is an option as well reaches both."""
    kinds = {name: param.kind for name, param in fn.signature.parameters.items()}
    objects = {param.name: stand_in(nodes[param.name], param) for param in fn.params}
    rest = next((name for name, kind in kinds.items() if kind is inspect.Parameter.VAR_POSITIONAL), None)
    if rest is None:
        return [], objects
    ahead = list(kinds)[: list(kinds).index(rest)]
    args = [objects.pop(name) for name in ahead]
    return [*args, *objects.pop(rest)], objects


def _apply_written(src: Any, fn: Any, nodes: Mapping[str, Node]) -> None:
    """Put the written types and constants where Triton inferred others: no int is an i8, a plain 128 is constant."""
    for index, param in enumerate(fn.params):
        node = nodes[param.name]
        src.signature[param.name] = type_of(node)
        if param.is_constexpr:
            continue
        for path, leaf in leaves(node, (index,)):
            if isinstance(leaf, Value):
                src.constants[path] = leaf.value
            else:
                src.constants.pop(path, None)
