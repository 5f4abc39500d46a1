"""Which Python line each operation of an MLIR text comes from, and what a conversion made of each line's operations.

A pass that turns one dialect into another leaves hardly a line as it was, so a diff by lines says nothing. By source
line it does: these operations of line 42 became those. Standard library only.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tritonscope.ir.links.mlir import MlirLocations
from tritonscope.ir.links.positions import Chain, counted

__all__ = ["Operation", "Origin", "SourceLine", "by_source_line", "operations"]

_OPERATION = re.compile(
    r'\s*(?:%[^=\n]*= )?"?((?:[A-Za-z_][\w$]*\.[\w.$]+)|(?:module|return|call)(?=[ \n]|$))', re.ASCII
)
_SHORT = {"module": "builtin.module", "return": "func.return", "call": "func.call"}


@dataclass(frozen=True, order=True)
class Origin:
    """A line of Python, numbered from 1."""

    file: str
    line: int


@dataclass(frozen=True)
class Operation:
    """An operation of a text: the number of its line, from 1, its name, and where it comes from, None for nowhere."""

    at: int
    name: str
    origin: Origin | None


@dataclass(frozen=True)
class SourceLine:
    """What one line of Python was before and after a pass; `origin` is None for what comes from no line."""

    origin: Origin | None
    left: tuple[Operation, ...]
    right: tuple[Operation, ...]

    @property
    def left_counts(self) -> Mapping[str, int]:
        """How many operations of each name there were, the most frequent first."""
        return _counted(self.left)

    @property
    def right_counts(self) -> Mapping[str, int]:
        """How many operations of each name there are, the most frequent first."""
        return _counted(self.right)

    @property
    def differs(self) -> bool:
        """Whether the pass made other operations of this line."""
        return self.left_counts != self.right_counts


def by_source_line(left: str, right: str) -> list[SourceLine]:
    """For each line of Python, which operations of the MLIR text `left` became which of `right`.

    Both come with their locations. Lines are in the order of their files and numbers; what comes from no line is last.
    """
    before, after = _grouped(left), _grouped(right)
    origins = sorted({origin for origin in (*before, *after) if origin is not None})
    lines = [SourceLine(origin, tuple(before.get(origin, ())), tuple(after.get(origin, ()))) for origin in origins]
    if None in before or None in after:
        lines.append(SourceLine(None, tuple(before.get(None, ())), tuple(after.get(None, ()))))
    return lines


def operations(text: str) -> Iterator[Operation]:
    """The operations of an MLIR text with locations, each with the Python line it comes from.

    Of the calls that led to it, the innermost counts that is not in Triton's own library.
    """
    lines = text.split("\n")
    locations = MlirLocations(lines)
    open_operations: list[tuple[int, str] | None] = []
    found: list[Operation] = []
    for at, line in enumerate(lines, 1):
        if not line or line[0] == "#":
            continue
        body, chains = locations.of_line(line)
        origin = _origin(chains or ())
        stripped = body.lstrip()
        if stripped.startswith("}"):
            opened = open_operations.pop() if open_operations else None
            if opened and not stripped.endswith("{"):
                found.append(Operation(opened[0], opened[1], origin))
            if stripped.endswith("{"):
                open_operations.append(opened)
            continue
        match = _OPERATION.match(body)
        name = _SHORT.get(match[1], match[1]) if match else ""
        if stripped.endswith("{"):
            open_operations.append((at, name) if name else None)
        elif name:
            found.append(Operation(at, name, origin))
    found += [Operation(opened[0], opened[1], None) for opened in open_operations if opened]
    found.sort(key=lambda operation: operation.at)
    yield from found


def _origin(chains: tuple[Chain, ...]) -> Origin | None:
    position = counted(chains)
    return Origin(position.file, position.line) if position else None


def _grouped(text: str) -> dict[Origin | None, list[Operation]]:
    groups: dict[Origin | None, list[Operation]] = {}
    for operation in operations(text):
        groups.setdefault(operation.origin, []).append(operation)
    return groups


def _counted(found: tuple[Operation, ...]) -> Mapping[str, int]:
    return dict(Counter(operation.name for operation in found).most_common())
