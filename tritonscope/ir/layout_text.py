"""Layouts as TTGIR writes them, read into names and values: `#ttg.blocked<{sizePerThread = [1, 4], ..}>`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["LayoutText", "Value", "layouts_of", "parse_layout", "shape_of"]

Value: TypeAlias = "int | str | list[Value] | LayoutText | dict[str, Value]"

_TOKEN = re.compile(r"\s*(#[\w.]+|-?\d+|[A-Za-z_]\w*|:\+|[<>{}\[\](),=:])")
_DEFINITION = re.compile(r"(#\w+) = (#(?:ttg|ttng|gpu|amdg|amdgpu)\..*>)$")
_MOST_CHARACTERS = 100_000
_DEEPEST = 50


@dataclass(frozen=True)
class LayoutText:
    """A layout: its name without its dialect ("blocked"), its parameters, and what stands before them in brackets."""

    name: str
    fields: Mapping[str, Value]
    leading: tuple[Value, ...] = ()


def parse_layout(text: str, aliases: Mapping[str, str] | None = None) -> LayoutText:
    """The layout that `text` writes, in full or as an alias among `aliases`, which map "#blocked1" to texts.

    Raises ValueError where it is none.
    """
    return _Parser(text, aliases or {}, 0).whole()


def layouts_of(lines: list[str]) -> dict[str, str]:
    """The layouts that a TTGIR text names, each with its text; spaces of memory are none, and have no parameters."""
    return {match[1]: match[2] for line in lines if line.startswith("#") and (match := _DEFINITION.match(line))}


def shape_of(alias: str, text: str) -> tuple[tuple[int, ...], str] | None:
    """The shape that has the layout `alias` in a TTGIR text, and its element type; None for none.

    Of several the largest, and one with as few dimensions as there are: buffers of a pipeline have one more.
    """
    pattern = re.compile(rf"(?:tensor|memdesc)<((?:\d+x)+)([^,<>]+(?:<[^<>]*>)?), {re.escape(alias)}[,>]")
    found = {(tuple(map(int, dims.rstrip("x").split("x"))), element) for dims, element in pattern.findall(text)}
    return max(found, key=lambda each: (-len(each[0]), each), default=None)


class _Parser:
    def __init__(self, text: str, aliases: Mapping[str, str], depth: int) -> None:
        if len(text) > _MOST_CHARACTERS or depth > _DEEPEST:
            raise ValueError("it is too long, or nested too deeply")
        self._text = text
        self._aliases = aliases
        self._depth = depth
        self._tokens = self._split(text)
        self._at = 0

    @staticmethod
    def _split(text: str) -> list[str]:
        tokens = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if not match:
                raise ValueError(f"{text[at : at + 20].strip()!r} is not understood")
            tokens.append(match[1])
            at = match.end()
        return tokens

    def whole(self) -> LayoutText:
        layout = self._value(0)
        if not isinstance(layout, LayoutText) or self._peek():
            raise ValueError("it is not a layout")
        return layout

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _takes(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._at += 1
        return True

    def _expect(self, token: str) -> None:
        if not self._takes(token):
            raise ValueError(f"{token!r} should stand where {self._peek() or 'its end'!r} does")

    def _value(self, depth: int) -> Value:
        if depth > _DEEPEST:
            raise ValueError("it is nested too deeply")
        word = self._next()
        if word.lstrip("-").isdecimal():
            number = int(word)
            return [number, *self._pad()] if self._peek() == ":+" else number
        if word == "[":
            return self._list(depth)
        if word == "{":
            return self._dict(depth)
        if word.startswith("#"):
            return self._layout(word, depth)
        if word[:1].isalpha():
            return word
        raise ValueError(f"{word or 'its end'!r} is not expected")

    def _pad(self) -> list[Value]:
        self._expect(":+")
        return [self._value(0)]

    def _list(self, depth: int) -> list[Value]:
        found: list[Value] = []
        while not self._takes("]"):
            found.append(self._value(depth + 1))
            if not self._takes(","):
                self._expect("]")
                break
        return found

    def _dict(self, depth: int) -> dict[str, Value]:
        found: dict[str, Value] = {}
        while not self._takes("}"):
            name = self._next()
            self._expect("=")
            found[name] = self._value(depth + 1)
            if not self._takes(","):
                self._expect("}")
                break
        return found

    def _layout(self, token: str, depth: int) -> LayoutText:
        if "." not in token:
            if token not in self._aliases:
                raise ValueError(f"{token} is not defined here")
            return _Parser(self._aliases[token], self._aliases, self._depth + 1).whole()
        leading: list[Value] = []
        fields: dict[str, Value] = {}
        if self._takes("<"):
            while not self._takes(">"):
                value = self._value(depth + 1)
                if isinstance(value, dict):
                    fields |= value
                else:
                    leading.append(value)
                if not self._peek():
                    self._expect(">")
                self._takes(",")
        return LayoutText(token.rpartition(".")[2], fields, tuple(leading))
