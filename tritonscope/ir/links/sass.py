"""SASS to PTX, by what the binary says, and to Python."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tritonscope.ir.instruction_classes import class_of
from tritonscope.ir.instructions import read_code
from tritonscope.ir.links.assembly import map_ptx
from tritonscope.ir.links.positions import Chain, LineMap, Position

__all__ = ["PtxLines", "map_sass", "ptx_lines"]

_INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]{4,}\*/")
_PLACE = re.compile(r'\s*//## File "((?:[^"\\]|\\.)*)", line (\d+)')
_FUNCTION = re.compile(r"\.text\.[^:]*:")
_EMBEDDED_PTX = ".nv_debug_ptx_txt"
_DEEPEST = 100

# Of these ptxas makes one instruction each, and in the order in which they are in PTX where it does not move blocks.
_ONE_TO_ONE = ("tensor_core", "tma")


@dataclass(frozen=True)
class PtxLines:
    """For each line of SASS the line of the PTX, from 1 and with its locations, that it came from, None for none.

    `inferred` holds the lines of SASS, from 1, for which that was told by order and not by the binary.
    """

    lines: Sequence[int | None]
    inferred: frozenset[int]


def ptx_lines(sass: str, ptx: str) -> PtxLines:
    """Which line of `ptx`, with its locations, each line of `sass` came from.

    nvdisasm names the line where it changes. What ptxas gave no line of its own seems to come from the line before: a
    tensor core instruction or bulk copy that seems to come from something else is joined by its place among its like,
    where PTX has as many and those that are named agree.
    """
    found: list[int | None] = []
    current: int | None = None
    for line in sass.split("\n"):
        if place := _place(line):
            current = place.line if place.file == _EMBEDDED_PTX else None
        elif _FUNCTION.match(line):
            current = None
        found.append(current if _INSTRUCTION.match(line) else None)
    if not any(found):
        return PtxLines(found, frozenset())
    by_order = _by_order(sass, ptx, found)
    for number, line_of_ptx in by_order.items():
        found[number - 1] = line_of_ptx
    return PtxLines(found, frozenset(by_order))


def map_sass(sass: str, ptx: str) -> LineMap:
    """The chains of each line of SASS: those of its line of `ptx`, or the source lines that nvdisasm names."""
    joined = ptx_lines(sass, ptx)
    if any(joined.lines):
        of_ptx = map_ptx(ptx)
        return LineMap([of_ptx.at(line) if line else () for line in joined.lines])
    found: list[tuple[Chain, ...]] = []
    current: tuple[Chain, ...] = ()
    comments: list[Position] = []
    for line in sass.split("\n"):
        if place := _place(line):
            comments.append(place)
        elif comments:
            current = (tuple(comments[:_DEEPEST]),)
            comments = []
        if _FUNCTION.match(line):
            current = ()
        found.append(current if _INSTRUCTION.match(line) else ())
    return LineMap(found)


def _by_order(sass: str, ptx: str, named: Sequence[int | None]) -> dict[int, int]:
    found: dict[int, int] = {}
    of_sass, of_ptx = _one_to_one(sass, "sass"), _one_to_one(ptx, "ptx")
    for class_ in _ONE_TO_ONE:
        ours, theirs = of_sass[class_], of_ptx[class_]
        right = set(theirs)
        agree = all(named[a - 1] == b for a, b in zip(ours, theirs, strict=False) if named[a - 1] in right)
        if len(ours) == len(theirs) and agree:
            found.update((a, b) for a, b in zip(ours, theirs, strict=True) if named[a - 1] not in right)
    return found


def _one_to_one(text: str, kind: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {class_: [] for class_ in _ONE_TO_ONE}
    for class_, line in _classes(text, kind):
        if class_ in found:
            found[class_].append(line)
    return found


def _classes(text: str, kind: str) -> Iterable[tuple[str, int]]:
    return ((class_of(each, kind), each.line) for each in read_code(text, kind).instructions)


def _place(line: str) -> Position | None:
    match = _PLACE.match(line)
    return Position(match[1], int(match[2])) if match else None
