"""Regions of a text that can be folded: functions, loops, branches, whatever lies between braces. No textual here."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

__all__ = ["Region", "hidden_by", "innermost", "regions"]

_OPENERS = ("{", ":")
_OPERATION = re.compile(r'(?:%[^=]*= )?"?([A-Za-z_][\w.]*)')
_FUNCTION = re.compile(r"\b(?:define|func)\b")
_SYMBOL = re.compile(r"@[\w.$-]+")


@dataclass(frozen=True)
class Region:
    """Lines `first` to `last`, from 0: the one that opens it, what is in it, and the brace that closes it.

    `key` says which region it is, in this text and in the next pass's: the operations around it, each with its number
    among its like.
    """

    first: int
    last: int
    key: tuple[str, ...]


def regions(lines: Sequence[str], kind: str) -> list[Region]:
    """Every region of a text of `kind`, in the order in which they begin; Python's are those that a colon opens."""
    spans = sorted(_by_indent(lines) if kind == "python" else _by_brace(lines))
    found: list[Region] = []
    around: list[Region] = []
    counts: dict[tuple[str, ...], int] = {}
    for first, last in spans:
        while around and around[-1].last < first:
            around.pop()
        path = (*(around[-1].key if around else ()), _name(lines[first]))
        counts[path] = counts.get(path, 0) + 1
        region = Region(first, last, (*path[:-1], f"{path[-1]} {counts[path]}"))
        found.append(region)
        around.append(region)
    return found


def _by_brace(lines: Sequence[str]) -> list[tuple[int, int]]:
    """What stands between a line that ends with a brace and the brace below it, at the same depth."""
    found = []
    open_: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        stripped = line.strip()
        if not stripped or (stripped[0] != "}" and stripped[-1] != "{"):
            continue
        indent = len(line) - len(line.lstrip())
        opens = stripped[-1] == "{"
        if stripped[0] == "}":
            while open_ and open_[-1][0] > indent:
                open_.pop()
            if open_ and open_[-1][0] == indent:
                _, first = open_.pop()
                last = number - 1 if opens else number  # `} else {` opens the next
                if last > first:
                    found.append((first, last))
        if opens:
            open_.append((indent, number))
    return found


def _by_indent(lines: Sequence[str]) -> list[tuple[int, int]]:
    found = []
    open_: list[tuple[int, int]] = []
    last = 0
    for number, line in enumerate([*lines, "end"]):
        stripped = line.strip()
        if not stripped:
            continue
        indent = len(line) - len(line.lstrip())
        while open_ and open_[-1][0] >= indent:
            _, first = open_.pop()
            if last > first:
                found.append((first, last))
        if stripped.endswith(_OPENERS):
            open_.append((indent, number))
        last = number
    return found


def _name(line: str) -> str:
    """What opens a region: its operation, or the function's name, which passes leave as they are."""
    operation = _OPERATION.match(line.strip().lstrip("} "))
    symbol = _SYMBOL.search(line) if _FUNCTION.search(line) else None
    return symbol[0] if symbol else operation[1] if operation else ""


def innermost(found: Sequence[Region], line: int) -> Region | None:
    """The innermost region that `line` is in."""
    around = [region for region in found if region.first <= line <= region.last]
    return around[-1] if around else None


def hidden_by(found: Sequence[Region], closed: Collection[tuple[str, ...]]) -> dict[int, int]:
    """For the first line of each region that is folded and seen, how many lines it hides."""
    hidden: dict[int, int] = {}
    end = -1
    for region in found:
        if region.first > end and region.key in closed:
            hidden[region.first] = region.last - region.first
            end = region.last
    return hidden
