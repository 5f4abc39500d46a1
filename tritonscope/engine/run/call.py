"""The arguments of a launch: the signature that they specialize to, and whether a compiled kernel takes them."""

import ast
from collections.abc import Mapping
from typing import Any

from tritonscope.engine.arguments import settle, spell
from tritonscope.engine.kernelfile import LoadedKernel
from tritonscope.errors import KernelFileError
from tritonscope.model import Target
from tritonscope.signature import parse_signature, parse_value

__all__ = ["known_constants", "misfit", "number_text", "signature_text", "tensor_of"]

_ALIGNMENT = 16  # bytes; what Triton specializes on


def tensor_of(argument: Any) -> Any:
    """The tensor in an argument: itself, or the one under a tensor descriptor; None where there is none."""
    if hasattr(argument, "block_shape") and hasattr(argument, "base"):
        return argument.base
    return argument if hasattr(argument, "data_ptr") else None


def known_constants(
    loaded: LoadedKernel,
    target: Target,
    config: Mapping[str, Any],
    constants: Mapping[str, str],
    options: Mapping[str, str],
) -> dict[str, Any]:
    """The constexprs and options known before the arguments: the file's own, then `config`, then what was asked.

    `constants` and `options` are as typed.
    """
    params = {param.name: param for param in loaded.fn.params}
    scope = loaded.fn.get_capture_scope()
    signature = parse_signature(loaded.spec.get("signature", ""))
    written = dict(zip(params, signature.positional, strict=False)) | dict(signature.named)
    settled = {name: settle(each, params[name], scope) for name, each in written.items() if params[name].is_constexpr}
    asked = {name: settle(parse_value(text), params[name], scope) for name, text in constants.items() if name in params}
    typed = {name: _literal(text) for name, text in options.items()}
    return {
        **loaded.spec.get("options", {}),
        **loaded.spec.get("options_for", {}).get(target.backend, {}),
        **loaded.spec.get("options_for", {}).get(target.name, {}),
        **{name: node.value for name, node in settled.items() if hasattr(node, "value")},
        **config,
        **typed,
        **{name: node.value for name, node in asked.items() if hasattr(node, "value")},
    }


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def signature_text(fn: Any, arguments: Mapping[str, Any]) -> str:
    """What a launch of `fn` with these would specialize, as the text of a signature.

    Parameters that are not among them are left out. Raises KernelFileError for one that the kernel does not have.
    """
    names = [param.name for param in fn.params]
    for name in arguments:
        if name not in names:
            raise KernelFileError(
                f"the spec gives an argument {name!r}; the kernel's parameters are {', '.join(names)}"
            )
    scope = fn.get_capture_scope()
    parts = []
    for param in fn.params:
        if param.name in arguments:
            value = arguments[param.name]
            text = spell(value, scope) if param.is_constexpr else _run_time_text(value, scope)
            if param.do_not_specialize and isinstance(value, bool | int | float):
                text = text.partition(":")[0]
            parts.append(f"{param.name}={text}")
    return ", ".join(parts)


def _run_time_text(value: Any, scope: Mapping[str, Any]) -> str:
    if isinstance(value, bool | int | float):
        return number_text(value)
    if isinstance(value, tuple | list):
        items = [_run_time_text(item, scope) for item in value]
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    if hasattr(value, "block_shape") and hasattr(value, "base"):
        layout = f", {spell(value.layout, scope)}" if hasattr(value, "layout") else ""
        return f"tensordesc<{_dtype(value.base)}[{', '.join(map(str, value.block_shape))}]{layout}>"
    if tensor_of(value) is not None:
        return f"*{_dtype(value)}{':16' if _aligned(value) else ''}"
    return spell(value, scope)


def number_text(value: bool | int | float) -> str:
    """A number as a launch specializes it: its type, whether it is 1, whether it is divisible by 16."""
    from triton.runtime.jit import mangle_type

    kind = str(mangle_type(value))
    if isinstance(value, int) and not isinstance(value, bool):
        if value == 1:
            return f"{kind}:1"
        return f"{kind}:16" if value % _ALIGNMENT == 0 else kind
    return kind


def _dtype(tensor: Any) -> str:
    from triton._utils import canonicalize_dtype

    return str(canonicalize_dtype(tensor.dtype))


def _aligned(tensor: Any) -> bool:
    if tensor.device.type == "meta":  # it has no address; allocators give multiples of 16 and more
        return bool(tensor.storage_offset() * tensor.element_size() % _ALIGNMENT == 0)
    return bool(tensor.data_ptr() % _ALIGNMENT == 0)


def misfit(components: Mapping[str, Any], arguments: Mapping[str, Any]) -> str | None:
    """Why the kernel whose cache key has these components cannot take `arguments`, as a clause; None where it can.

    A compiled kernel checks nothing: where it was compiled for multiples of 16, it computes nonsense for others.
    """
    for position, name in enumerate(components["parameters"], 1):
        kind = components["signature"][name]
        if name not in arguments:
            if kind != "constexpr":
                return f"the spec gives no argument for `{name}`"
            continue
        value = arguments[name]
        what = f"argument {position} `{name}`"
        if kind == "constexpr":
            given, compiled = str(getattr(value, "value", value)), components["constants"].get(name)
            if given != compiled:
                return f"{what} is {given}, and it was compiled for {compiled}"
            continue
        text = _run_time_text(value, {})
        if isinstance(kind, str) and kind.startswith("tensordesc"):
            given, compiled = (_element_and_block(each) for each in (text, kind))
            if given != compiled:
                return f"{what} describes {given}, and it was compiled for {compiled}"
            continue
        base, _, hint = text.partition(":")
        if isinstance(kind, str) and not isinstance(value, tuple | list):
            if base.replace("*k", "*") != kind.replace("*k", "*") and not _widens(base, kind):
                return f"{what} is {base}, and it was compiled for {kind}"
            if "'tt.divisibility', 16" in components["attributes"].get(name, "") and hint != "16":
                number = "" if tensor_of(value) is not None else f" ({value})"
                return f"{what}{number} is not divisible by 16, which it was compiled for"
    return None


def _element_and_block(descriptor: str) -> str:
    """ "fp16[64, 32]" of "tensordesc<fp16[64, 32], ..>": the layout is the kernel's own affair."""
    return descriptor.partition("<")[2].partition("]")[0].replace(" ", "") + "]"


def _widens(given: str, compiled: str) -> bool:
    """Whether a number of the type `given` is one of the type `compiled` too: the launcher converts it."""
    if given.startswith("fp") and compiled in ("bf16", "fp16", "fp32", "fp64"):
        return True
    widths = {kind: int(kind[1:]) for kind in (given, compiled) if kind[0] in "iu" and kind[1:].isdigit()}
    return given in widths and compiled in widths and widths[given] <= widths[compiled]
