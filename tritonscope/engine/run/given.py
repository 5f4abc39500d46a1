"""A call written out with --call, in place of a spec."""

import ast
from collections.abc import Callable, Mapping
from typing import Any

from tritonscope.engine.run.spec import DEFAULT_TOLERANCE
from tritonscope.errors import UsageError

__all__ = ["GivenCall"]

_DTYPES = {
    "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64", "fp8e4nv": "float8_e4m3fn",
    "fp8e5": "float8_e5m2", "i1": "bool", "i8": "int8", "u8": "uint8", "i16": "int16", "i32": "int32", "i64": "int64",
}  # fmt: skip


class GivenCall:
    """Random tensors of the given shapes, and numbers as given. Answers what a Spec answers, and knows no reference.

    Every tensor counts as updated in place, since nobody said which are outputs.
    """

    deterministic = True
    padding_is_free = False
    has_reference = False

    def __init__(self, call: list[Mapping[str, Any]], grid: list[int], components: Mapping[str, Any]) -> None:
        """`call` as `--call` gives it, `components` of the captured kernel's cache key; raises UsageError."""
        self._grid = grid
        names = list(components["parameters"])
        if len(call) > len(names):
            raise UsageError(f"--call has {len(call)} arguments, and the kernel {len(names)} parameters")
        self._call = {argument["name"] or names[place]: argument for place, argument in enumerate(call)}
        for name in self._call:
            if name not in names:
                raise UsageError(f"--call names {name}; the kernel's parameters are {', '.join(names)}")

    def size(self, _: Mapping[str, Any]) -> dict[str, int | float | str]:
        """Nothing to choose."""
        return {}

    def arguments(self, _: object, __: object, device: str) -> dict[str, Any]:
        """Fresh tensors and the numbers."""
        return {name: _made(argument, device) for name, argument in self._call.items()}

    def grid(self, _: object, __: object) -> tuple[int, int, int]:
        """What --grid says."""
        x, y, z = [*self._grid, 1, 1][:3]
        return x, y, z

    def outputs(self, _: object) -> None:
        """Not known."""

    def reference(self, _: object, __: object) -> dict[str, Any]:
        """Never asked for: `has_reference` is False."""
        raise NotImplementedError

    def tolerance(self, _: object, __: str) -> tuple[float, str]:
        """A guess."""
        return DEFAULT_TOLERANCE[0], "a guess: there is no spec"

    def max_error(self, _: object, __: str) -> float:
        """A guess."""
        return 16 * DEFAULT_TOLERANCE[0]

    def flops(self, _: object) -> None:
        """Not known."""

    def bytes(self, _: object) -> None:
        """Not known: which tensors are read, and how often, the call does not say."""

    def baselines(self, _: object, __: object) -> dict[str, Callable[[], object]]:
        """None."""
        return {}


def _made(argument: Mapping[str, Any], device: str) -> Any:
    if "items" in argument:
        return tuple(_made(item, device) for item in argument["items"])
    if "descriptor" in argument:
        return _descriptor(argument["descriptor"], device)
    if "tensor" in argument:
        return _tensor(argument["tensor"], device)
    text: str = argument["value"]
    try:
        # Python writes infinity and what is no number as calls.
        return float(text[7:-2]) if text.startswith('float("') else ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise UsageError(f"--call cannot pass {text!r} to a launch; give a tensor or a number") from None


def _descriptor(descriptor: Mapping[str, Any], device: str) -> Any:
    from triton.tools.tensor_descriptor import TensorDescriptor

    if descriptor["layout"] is not None:
        raise UsageError("a descriptor with a layout of Gluon's cannot be made up; write a spec for this kernel")
    base = _tensor(descriptor, device)
    return TensorDescriptor(base, list(descriptor["shape"]), list(descriptor["strides"]), list(descriptor["block"]))


def _tensor(tensor: Mapping[str, Any], device: str) -> Any:
    import torch

    if tensor["dtype"] not in _DTYPES:
        raise UsageError(f"--call has a tensor of {tensor['dtype']}; it may be {', '.join(_DTYPES)}")
    dtype = getattr(torch, _DTYPES[tensor["dtype"]])
    shape, strides = tensor["shape"], tensor["strides"]
    span = sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True)) + 1
    # One element in: no multiple of 16 bytes any more.
    offset = 0 if tensor["aligned"] else 1
    if dtype.is_floating_point:
        memory = torch.randn(span + offset, device=device).to(dtype)
    else:
        memory = torch.randint(0, 2, (span + offset,), device=device).to(dtype)
    return memory[offset:].as_strided(shape, strides)
