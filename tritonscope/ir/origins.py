"""Which Python line each operation of an MLIR text comes from, and what a conversion made of each line's operations.

A pass that turns one dialect into another leaves hardly a line as it was, so a diff by lines says nothing. By source
line it does: these operations of line 42 became those. Standard library only.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

__all__ = ["Operation", "Origin", "SourceLine", "by_source_line", "operations"]

_DEFINITION = re.compile(r"(#loc\d*) = loc\((.*)\)$")
_TRAILING = re.compile(r" loc\((.*)\)$")
_FILE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+)')
_REFERENCE = re.compile(r"#loc\d*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(?::\d+)?|#loc\d*|callsite\(|[()]| at ')
_OPERATION = re.compile(
    r'\s*(?:%[^=\n]*= )?"?((?:[A-Za-z_][\w$]*\.[\w.$]+)|(?:module|return|call)(?=[ \n]|$))', re.ASCII
)
_SHORT = {"module": "builtin.module", "return": "func.return", "call": "func.call"}
# What Triton's own library inlines into a kernel counts for the line that called it.
_LIBRARY = re.compile(r"[\\/]triton[\\/](?:language|experimental)[\\/]")
_DEEPEST = 100


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
    locations = _Locations(lines)
    open_operations: list[tuple[int, str] | None] = []
    found: list[Operation] = []
    for at, line in enumerate(lines, 1):
        if not line or line[0] == "#":
            continue
        trailing = _TRAILING.search(line)
        body = line[: trailing.start()] if trailing else line
        origin = locations.origin(trailing[1]) if trailing else None
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


class _Locations:
    """The locations that a text defines, resolved to lines of Python as they are asked for."""

    def __init__(self, lines: list[str]) -> None:
        self._bodies: dict[str, str] = {}
        for line in lines:
            if line.startswith("#loc") and (match := _DEFINITION.match(line)):
                self._bodies[match[1]] = match[2]
        self._frames: dict[str, tuple[Origin, ...]] = {}

    def origin(self, body: str) -> Origin | None:
        """The line that the location `body` counts for."""
        frames = self._resolve(body, 0)
        return next((frame for frame in frames if not _LIBRARY.search(frame.file)), frames[-1] if frames else None)

    def _resolve(self, body: str, depth: int) -> tuple[Origin, ...]:
        """The frames of a location, the innermost first."""
        known = self._frames.get(body)
        if known is None:
            known = self._frames[body] = () if depth > _DEEPEST else tuple(dict.fromkeys(self._parse(body, depth)))
        return known

    def _parse(self, body: str, depth: int) -> Iterator[Origin]:
        # A callsite names the callee first and a name wraps what it names: in the order written, frames go outwards.
        for token in _TOKEN.finditer(body):
            if match := _FILE.fullmatch(token[0]):
                if int(match[2]):
                    yield Origin(match[1], int(match[2]))
            elif _REFERENCE.fullmatch(token[0]):
                yield from self._resolve(self._bodies.get(token[0], ""), depth + 1)


def _grouped(text: str) -> dict[Origin | None, list[Operation]]:
    groups: dict[Origin | None, list[Operation]] = {}
    for operation in operations(text):
        groups.setdefault(operation.origin, []).append(operation)
    return groups


def _counted(found: tuple[Operation, ...]) -> Mapping[str, int]:
    return dict(Counter(operation.name for operation in found).most_common())
