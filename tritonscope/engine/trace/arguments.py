"""The arguments of a launch, and the signature of what was compiled, as plain data."""

import math
from collections.abc import Sequence
from typing import Any

from tritonscope.engine.arguments import spell

__all__ = ["described", "scalar_positions", "signature_text"]

_DIVISIBLE = ["tt.divisibility", 16]


def signature_text(src: Any) -> str:
    """The text of a full signature, as `compile --signature` takes it, of a Triton source."""
    scope = src.fn.get_capture_scope()
    return ", ".join(
        f"{name}={_text(kind, (place,), src, scope)}" for place, (name, kind) in enumerate(src.signature.items())
    )


def _text(kind: Any, path: tuple[int, ...], src: Any, scope: dict[str, Any]) -> str:
    if kind == "constexpr":
        return spell(src.constants.get(path), scope)
    if isinstance(kind, str):
        divisible = _DIVISIBLE in [list(each) for each in src.attrs.get(path, ())]
        return f"{kind}:16" if divisible else kind
    items = [_text(each, (*path, index), src, scope) for index, each in enumerate(kind)]
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def scalar_positions(src: Any) -> list[int]:
    """The places of the arguments that are plain numbers, not constants of the kernel."""
    return [
        place
        for place, kind in enumerate(src.signature.values())
        if isinstance(kind, str) and kind[:1] in "iufb" and kind != "constexpr"
    ]


def described(src: Any, arguments: Sequence[Any]) -> list[dict[str, Any]]:
    """Each argument of a launch that is no constant of the kernel: {name, tensor | descriptor | items | value}."""
    names = list(src.signature)
    if len(arguments) != len(names):  # torch.compile's launcher of some releases leaves the constants out
        names = [name for name in names if src.signature[name] != "constexpr"]
    return [
        {"name": name, **_described(value)}
        for name, value in zip(names, arguments, strict=False)
        if src.signature[name] != "constexpr"
    ]


def _described(value: Any) -> dict[str, Any]:
    if hasattr(value, "block_shape") and hasattr(value, "base"):
        tensor = {**_tensor(value.base), "shape": _numbers(value.shape), "strides": _numbers(value.strides)}
        layout = repr(value.layout) if hasattr(value, "layout") else None
        return {"descriptor": {**tensor, "block": _numbers(value.block_shape), "layout": layout}}
    if hasattr(value, "data_ptr") and hasattr(value, "stride"):
        return {"tensor": {**_tensor(value), "shape": _numbers(value.shape), "strides": _numbers(value.stride())}}
    if isinstance(value, tuple | list):
        return {"items": [_described(item) for item in value]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"value": f'float("{value}")'}
    return {"value": repr(value)}


def _tensor(tensor: Any) -> dict[str, Any]:
    from triton._utils import canonicalize_dtype

    return {"dtype": str(canonicalize_dtype(tensor.dtype)), "aligned": tensor.data_ptr() % 16 == 0}


def _numbers(values: Any) -> list[int]:
    return [int(value) for value in values]
