"""MLIR text as operations within operations, by its lines: no dialect is known here, only braces and names."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["Operation", "names_in", "outline", "walk"]

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_RESULTS = re.compile(r"\s*((?:%[\w$.-]+(?::\d+)?(?:, )?)+) = ")
_NAME = re.compile(r"%[\w$.-]+")
_NO_OPERATION = ("#", "^", "//", "!", "{-#", "#-}")


@dataclass
class Operation:
    """The lines `first` to `last`, from 0 and both included; `results` are the names of its values, without numbers."""

    first: int
    last: int
    results: tuple[str, ...]
    inner: list["Operation"] = field(default_factory=list)


def outline(lines: Sequence[str]) -> list[Operation]:
    """The operations of a text that has no locations; what follows a brace that closes nothing is left out."""
    top: list[Operation] = []
    open_: list[Operation] = []
    for number, line in enumerate(lines):
        code = _STRING.sub('""', line).strip()
        if not code or code.startswith(_NO_OPERATION):
            continue
        opens = code.endswith("{")
        if code.startswith("}"):
            if not open_:
                break
            open_[-1].last = number
            if not opens:
                open_.pop()
            continue
        match = _RESULTS.match(line)
        found = Operation(number, number, tuple(_NAME.findall(match[1])) if match else ())
        (open_[-1].inner if open_ else top).append(found)
        if opens:
            open_.append(found)
    return top


def walk(operations: Sequence[Operation]) -> Iterator[Operation]:
    """All of them, each before those inside it."""
    waiting = list(reversed(operations))
    while waiting:
        operation = waiting.pop()
        yield operation
        waiting += reversed(operation.inner)


def names_in(line: str) -> set[str]:
    """The values that stand in a line: "%0" of "%0#1"."""
    return set(_NAME.findall(_STRING.sub('""', line)))
