"""The text of a call, as `key --call` takes it: "x=fp16[4096,4096], M=4096, causal=True".

A value is a tensor, DTYPE[SHAPE] with strides after ";" and the alignment of its address in bytes after "@"
("fp16[4096,4096;4096,1]@8"), a tensor descriptor as in a signature, or a constant. Pure text: which of them is a
constexpr only the kernel knows. Standard library only.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tritonscope.errors import UsageError
from tritonscope.signature import parse_value
from tritonscope.variants import split

__all__ = ["CallArgument", "Descriptor", "Items", "Tensor", "argument_text", "parse_call", "recorded_argument"]

_TENSOR = re.compile(r"(?P<dtype>[a-z]\w*)\[(?P<shape>[\d,\s]*)(?:;(?P<strides>[\d,\s]*))?\](?:@(?P<alignment>\d+))?")


@dataclass(frozen=True)
class Tensor:
    """A tensor: `dtype` as Triton calls it, strides in elements, and whether its address is a multiple of 16."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    aligned: bool = True  # as allocators give them


@dataclass(frozen=True)
class Descriptor:
    """A tensor descriptor over `base`, in blocks of the shape `block`; `layout` is Gluon's, as text."""

    base: Tensor
    block: tuple[int, ...]
    layout: str | None = None


@dataclass(frozen=True)
class Items:
    """A tuple of values."""

    items: tuple["Tensor | Descriptor | Items | str", ...]


@dataclass(frozen=True)
class CallArgument:
    """One argument: `name` is None for one by position; `value` a Tensor, or the text of a constant or descriptor.

    Of a call that was recorded, `value` may also be a Descriptor, or Items.
    """

    name: str | None
    value: Tensor | Descriptor | Items | str


def recorded_argument(argument: Mapping[str, Any]) -> CallArgument:
    """An argument of a `model.Launch`."""
    return CallArgument(argument["name"], _recorded(argument))


def _recorded(value: Mapping[str, Any]) -> Tensor | Descriptor | Items | str:
    if "tensor" in value:
        return _recorded_tensor(value["tensor"])
    if "descriptor" in value:
        descriptor = value["descriptor"]
        return Descriptor(_recorded_tensor(descriptor), tuple(descriptor["block"]), descriptor["layout"])
    if "items" in value:
        return Items(tuple(_recorded(item) for item in value["items"]))
    return str(value["value"])


def _recorded_tensor(value: Mapping[str, Any]) -> Tensor:
    return Tensor(value["dtype"], tuple(value["shape"]), tuple(value["strides"]), value["aligned"])


def parse_call(text: str) -> tuple[CallArgument, ...]:
    """Read a call; raises UsageError, quoting what is not understood."""
    found = []
    for part in split(text):
        if not part:
            raise UsageError(f'--call {text!r} has an empty argument; write --call "x=fp16[1024], n=1024"')
        name, equals, value = part.partition("=")
        named = bool(equals) and name.strip().isidentifier()
        found.append(CallArgument(name.strip() if named else None, _value((value if named else part).strip(), text)))
    return tuple(found)


def argument_text(argument: CallArgument) -> str:
    """The argument as `parse_call` reads it; a descriptor or a tuple in words, which it does not."""
    return f"{argument.name}={_text(argument.value)}" if argument.name else _text(argument.value)


def _text(value: Tensor | Descriptor | Items | str) -> str:
    if isinstance(value, Items):
        return f"({', '.join(map(_text, value.items))})"
    if isinstance(value, Descriptor):
        return f"descriptor of {_text(value.base)} in blocks of {'x'.join(map(str, value.block))}"
    if isinstance(value, str):
        return value
    strides = "" if value.strides == _contiguous(value.shape) else f";{','.join(map(str, value.strides))}"
    return f"{value.dtype}[{','.join(map(str, value.shape))}{strides}]{'' if value.aligned else '@1'}"


def _value(text: str, call: str) -> Tensor | str:
    if match := _TENSOR.fullmatch(text):
        alignment = int(match["alignment"] or 16)
        shape = _numbers(match["shape"])
        strides = _contiguous(shape) if match["strides"] is None else _numbers(match["strides"])
        if len(strides) != len(shape):
            raise UsageError(f"--call {call!r}: {text} has {len(shape)} dimensions and {len(strides)} strides")
        try:
            parse_value(f"*{match['dtype']}")
        except UsageError:
            raise UsageError(
                f"--call {call!r}: {match['dtype']} is no element type; write for example fp16[1024]"
            ) from None
        return Tensor(match["dtype"], shape, strides, alignment > 0 and alignment % 16 == 0)
    if text.startswith("tensordesc"):
        return text
    try:
        parse_value(text)
    except UsageError as error:
        raise UsageError(f"--call {call!r}: {error}") from error
    return text


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part.strip())


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = [1]
    for length in reversed(shape[1:]):
        strides.insert(0, strides[0] * length)
    return tuple(strides[: len(shape)])
