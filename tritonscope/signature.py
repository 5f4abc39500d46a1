"""The text of `--signature` and `--set`: the syntax of Triton's ahead-of-time compiler, and what else kernels take.

    signature   argument, argument, ...            also inside [ ]
    argument    [NAME =] what                      by position first, then by name in any order
    what        i32  u8  bf16  fp8e5  i64:16       a scalar type, with :16 (divisible by 16) or :1 (the constant 1)
                *fp16  *kfp32:16                   a pointer, k for const, with :16 for 16-byte alignment
                tensordesc<fp16[128, 64]>          a tensor descriptor; after a comma a Gluon layout may follow
                (i32:16, *fp32)                    a tuple, to any depth; [ ] inside a signature means the same
                128  -1  1e-5  inf  True  None  "relu"    a constant
                tl.float16  relu  BlockedLayout([1], [32], [4], [0])    a constant that the kernel file names
                ?                                  not known yet: what a suggestion leaves to its reader

Pure text, standard library only. A scalar type given for a constexpr parameter is that dtype; the loader decides, for
it knows the parameters.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tritonscope.errors import SignatureError

__all__ = [
    "Argument",
    "Constant",
    "Descriptor",
    "Expression",
    "Pointer",
    "Scalar",
    "Signature",
    "TupleOf",
    "Unknown",
    "format_argument",
    "format_signature",
    "parse_signature",
    "parse_value",
]

_SCALAR = re.compile(r"[iu](?:1|8|16|32|64)|bf16|fp(?:16|32|64)|fp8e\w+|nvTmaDesc")
_POINTER = re.compile(r"\*(k?)(\**(?:[iu](?:1|8|16|32|64)|bf16|fp(?:16|32|64)|fp8e\w+))")
_DESCRIPTOR = re.compile(r"tensordesc\s*<\s*(\w+)\s*\[([^\]]*)\]\s*(?:,(.*))?>", re.DOTALL)
_NAMED = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)")
_HINTED = re.compile(r"(.*?)\s*:\s*(\w*)", re.DOTALL)
_EXPRESSION = re.compile(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*(?:\s*\(.*\))?", re.DOTALL)
_WORDS = {"None": None, "True": True, "False": False, "true": True, "false": False}
_CLOSING = {"(": ")", "[": "]", "<": ">"}


@dataclass(frozen=True)
class Scalar:
    """A scalar passed at run time: `type` as Triton spells it, `hint` 16, 1 (then it is the constant 1) or None."""

    type: str
    hint: int | None = None


@dataclass(frozen=True)
class Pointer:
    """A pointer to `element`; `hint` 16 where it is 16-byte aligned, else None."""

    element: str
    const: bool = False
    hint: int | None = None


@dataclass(frozen=True)
class Descriptor:
    """A host-made tensor descriptor of blocks of `block` elements; `layout` is the text of Gluon's shared layout."""

    element: str
    block: tuple[int, ...]
    layout: str = ""


@dataclass(frozen=True)
class Constant:
    """A value known at compile time."""

    value: bool | int | float | str | None


@dataclass(frozen=True)
class Expression:
    """A constant that only the kernel file can name: a dotted name, or a call of one, kept as text."""

    text: str


@dataclass(frozen=True)
class TupleOf:
    """A tuple argument."""

    items: tuple["Argument", ...]


@dataclass(frozen=True)
class Unknown:
    """An argument of which nothing is known, written `?`."""


Argument: TypeAlias = Scalar | Pointer | Descriptor | Constant | Expression | TupleOf | Unknown


@dataclass(frozen=True)
class Signature:
    """Arguments by position, then by name (each name once)."""

    positional: tuple[Argument, ...] = ()
    named: tuple[tuple[str, Argument], ...] = ()


def parse_signature(text: str) -> Signature:
    """Read the text of `--signature`; raises SignatureError, which quotes the text and marks the place."""
    whole = _Source(text, "signature")
    start, end = whole.trim(0, len(text))
    if text[start : start + 1] == "[" and whole.closing(start) == end - 1:
        start, end = start + 1, end - 1

    positional: list[Argument] = []
    named: dict[str, Argument] = {}
    for first, last in whole.pieces(start, end):
        match = _NAMED.match(text, first, last)
        if not match:
            if named:
                raise whole.error("an argument without a name cannot follow one with a name", first, last)
            positional.append(_argument(whole, first, last))
            continue
        if match[1] in named:
            raise whole.error(f"{match[1]} is given twice", first, last)
        named[match[1]] = _argument(whole, match.end(), last)
    return Signature(tuple(positional), tuple(named.items()))


def parse_value(text: str) -> Argument:
    """Read one value, as `--set NAME=VALUE` and `--option NAME=VALUE` take it; raises SignatureError."""
    return _argument(_Source(text, "value"), 0, len(text))


def format_signature(signature: Signature) -> str:
    """The text that `parse_signature` reads back as the same signature."""
    parts = [format_argument(argument) for argument in signature.positional]
    parts += [f"{name}={format_argument(argument)}" for name, argument in signature.named]
    return ", ".join(parts)


def format_argument(argument: Argument) -> str:
    """The text of one argument."""
    if isinstance(argument, Scalar):
        return argument.type + _hint_text(argument.hint)
    if isinstance(argument, Pointer):
        return f"*{'k' if argument.const else ''}{argument.element}{_hint_text(argument.hint)}"
    if isinstance(argument, Descriptor):
        layout = f", {argument.layout}" if argument.layout else ""
        return f"tensordesc<{argument.element}{list(argument.block)}{layout}>"
    if isinstance(argument, Constant):
        return repr(argument.value)
    if isinstance(argument, Expression):
        return argument.text
    if isinstance(argument, TupleOf):
        items = ", ".join(map(format_argument, argument.items))
        return f"({items},)" if len(argument.items) == 1 else f"({items})"
    return "?"


def _hint_text(hint: int | None) -> str:
    return "" if hint is None else f":{hint}"


@dataclass(frozen=True)
class _Source:
    """The text being read; places in it are offsets, so that an error can point at them."""

    text: str
    what: str

    def error(self, reason: str, start: int, end: int) -> SignatureError:
        start, end = self.trim(start, end)
        line = re.sub(r"\s", " ", self.text)
        reason = re.sub(r"\s+", " ", reason)
        marks = " " * start + "^" * max(end - start, 1)
        return SignatureError(f"The {self.what} cannot be read: {reason}.\n    {line}\n    {marks}")

    def trim(self, start: int, end: int) -> tuple[int, int]:
        """The range without the white space at either end of it."""
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        return start, end

    def closing(self, start: int) -> int:
        """The offset of the bracket that closes the one at `start`."""
        stack = [start]
        offset = start + 1
        while offset < len(self.text):
            char = self.text[offset]
            if char in "'\"":
                offset = self.quoted(offset)
                continue
            if char in _CLOSING:
                stack.append(offset)
            elif char in _CLOSING.values():
                opened = stack.pop()
                if _CLOSING[self.text[opened]] != char:
                    raise self.error(f"{char!r} does not close {self.text[opened]!r}", opened, offset + 1)
                if not stack:
                    return offset
            offset += 1
        raise self.error(f"{self.text[stack[-1]]!r} is never closed", stack[-1], stack[-1] + 1)

    def quoted(self, start: int) -> int:
        """The offset after the string literal that begins at `start`."""
        offset = start + 1
        while offset < len(self.text):
            if self.text[offset] == "\\":
                offset += 1
            elif self.text[offset] == self.text[start]:
                return offset + 1
            offset += 1
        raise self.error("the string is never closed", start, start + 1)

    def pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The ranges between the commas that no bracket or string hides; one comma may end the list."""
        first = offset = start
        while offset < end:
            char = self.text[offset]
            if char in "'\"":
                offset = self.quoted(offset)
            elif char in _CLOSING:
                offset = self.closing(offset) + 1
            elif char in _CLOSING.values():
                raise self.error(f"{char!r} closes nothing", offset, offset + 1)
            elif char == ",":
                if not self.text[first:offset].strip():
                    raise self.error("nothing stands before this comma", offset, offset + 1)
                yield first, offset
                first = offset = offset + 1
            else:
                offset += 1
        if self.text[first:end].strip():
            yield first, end


def _argument(source: _Source, start: int, end: int) -> Argument:
    start, end = source.trim(start, end)
    text = source.text[start:end]
    if not text:
        raise source.error("an argument is missing", start, end)
    if text == "?":
        return Unknown()
    if text[0] in "([" and source.closing(start) == end - 1:
        return TupleOf(tuple(_argument(source, *piece) for piece in source.pieces(start + 1, end - 1)))
    if text[0] in "'\"" and source.quoted(start) == end:
        return _string(source, start, end)
    if text.startswith("tensordesc"):
        return _descriptor(source, start, end)
    return _constant(text) or _typed(source, start, end) or _expression(source, start, end)


def _string(source: _Source, start: int, end: int) -> Constant:
    try:
        value = ast.literal_eval(source.text[start:end])
    except (SyntaxError, ValueError):
        raise source.error("the string is not one that Python can read", start, end) from None
    return Constant(value)


def _descriptor(source: _Source, start: int, end: int) -> Descriptor:
    match = _DESCRIPTOR.fullmatch(source.text, start, end)
    if not match:
        raise source.error("a tensor descriptor is written tensordesc<fp16[128, 64]>", start, end)
    if not _SCALAR.fullmatch(match[1]):
        raise source.error(f"{match[1]} is no element type", *match.span(1))
    sizes = [size.strip() for size in match[2].split(",")]
    if not all(size.isascii() and size.isdigit() for size in sizes):
        raise source.error("the block of a tensor descriptor is a list of sizes, such as [128, 64]", *match.span(2))
    return Descriptor(match[1], tuple(map(int, sizes)), (match[3] or "").strip())


def _constant(text: str) -> Constant | None:
    if text in _WORDS:
        return Constant(_WORDS[text])
    try:
        return Constant(int(text, 0))
    except ValueError:
        pass
    try:
        return Constant(float(text))
    except ValueError:
        return None


def _typed(source: _Source, start: int, end: int) -> Scalar | Pointer | None:
    """A scalar or pointer type with its hint, or None where this is neither."""
    text = source.text[start:end]
    hinted = _HINTED.fullmatch(text)
    spelled = hinted[1] if hinted else text
    pointer = _POINTER.fullmatch(spelled)
    if not pointer and not _SCALAR.fullmatch(spelled):
        if spelled.startswith("*"):
            raise source.error(f"{spelled} is no pointer type; write for example *fp16", start, end)
        return None
    hint = hinted and hinted[2]
    if hint not in (None, "16", "1"):
        raise source.error("a hint is :16 (divisible by 16) or :1 (the constant 1)", start, end)
    if pointer and hint == "1":
        raise source.error("a pointer cannot be the constant 1; its only hint is :16", start, end)
    if hint and not pointer and not re.fullmatch(r"[iu](?:8|16|32|64)", spelled):
        raise source.error(f"{spelled} takes no hint; :16 and :1 are for pointers and integers", start, end)
    number = int(hint) if hint else None
    if pointer:
        return Pointer(pointer[2], bool(pointer[1]), number)
    return Scalar(spelled, number)


def _expression(source: _Source, start: int, end: int) -> Expression:
    text = source.text[start:end]
    if _EXPRESSION.fullmatch(text):
        try:
            return Expression(ast.unparse(ast.parse(text, mode="eval")))
        except (SyntaxError, ValueError):
            pass
    raise source.error(f"{text} is neither a type, nor a constant, nor a name", start, end)
