"""The product of everything that was given as a comma list."""

import itertools
from collections.abc import Iterable, Mapping, Sequence

from tritonscope.errors import UsageError

__all__ = ["assignments", "check_numbers", "product", "single", "split"]

_OPENING, _CLOSING = "([{<", ")]}>"
_LONGEST_NUMBER = 10  # digits that fit the compiler's 32 bits


def split(text: str) -> list[str]:
    """`text` at its commas, but for those within brackets or quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for index, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        elif character == "," and depth <= 0:
            parts.append(text[start:index])
            start = index + 1
    return [part.strip() for part in [*parts, text[start:]]]


def assignments(flag: str, texts: Iterable[str]) -> dict[str, list[str]]:
    """NAME -> the values of each `NAME=V1,V2` given to `flag`; raises UsageError for one without a name or value."""
    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise UsageError(f"{flag} {text!r} is not understood; write {flag} NAME=VALUE or {flag} NAME=VALUE,VALUE")
        values = split(value)
        if not all(values):
            raise UsageError(f"{flag} {text!r} has an empty value; leave the comma out")
        found.setdefault(name.strip(), []).extend(values)
    return found


def check_numbers(flag: str, values: Iterable[str]) -> None:
    """Raise UsageError where one of the values given to `flag` is no number."""
    for value in values:
        if not (value.isascii() and value.isdigit() and len(value) < _LONGEST_NUMBER):
            raise UsageError(f"{flag} takes numbers and not {value!r}; write {flag} 4, or several, {flag} 4,8")


def single(flag: str, texts: Iterable[str]) -> dict[str, str]:
    """NAME -> its one value, of each `NAME=V` given to `flag`; raises UsageError for several."""
    found = assignments(flag, texts)
    for name, values in found.items():
        if len(values) > 1:
            raise UsageError(f"{flag} {name} has several values, and this command takes one")
    return {name: values[0] for name, values in found.items()}


def product(choices: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Every way to choose one value for each name, the last name varying fastest."""
    return [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]
