"""The text of a call, as `key --call` takes it: "x=fp16[4096,4096], M=4096, causal=True".

A value is a tensor, DTYPE[SHAPE] with strides after ";" and the alignment of its address in bytes after "@"
("fp16[4096,4096;4096,1]@8"), a tensor descriptor as in a signature, or a constant. Pure text: which of them is a
constexpr only the kernel knows. Standard library only.
"""

import re
from dataclasses import dataclass

from tritonscope.errors import UsageError
from tritonscope.signature import parse_value
from tritonscope.variants import split

__all__ = ["CallArgument", "Tensor", "parse_call"]

_TENSOR = re.compile(r"(?P<dtype>[a-z]\w*)\[[\d,\s]*(?:;[\d,\s]*)?\](?:@(?P<alignment>\d+))?")


@dataclass(frozen=True)
class Tensor:
    """A tensor: `dtype` as Triton calls it, and whether its address is a multiple of 16, as allocators give them."""

    dtype: str
    aligned: bool


@dataclass(frozen=True)
class CallArgument:
    """One argument: `name` is None for one by position; `value` a Tensor, or the text of a constant or descriptor."""

    name: str | None
    value: Tensor | str


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


def _value(text: str, call: str) -> Tensor | str:
    if match := _TENSOR.fullmatch(text):
        alignment = int(match["alignment"] or 16)
        return Tensor(match["dtype"], alignment > 0 and alignment % 16 == 0)
    if text.startswith("tensordesc"):
        return text
    try:
        parse_value(text)
    except UsageError as error:
        raise UsageError(f"--call {call!r}: {error}") from error
    return text
