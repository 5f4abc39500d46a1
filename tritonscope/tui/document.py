"""A text as the view shows it: its lines, what each is nested in, and where things are in it. No textual here."""

import re
import tokenize
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property

__all__ = ["Document", "follow", "next_match", "words_of"]

_DIGITS = dict.fromkeys(map(ord, "0123456789"))  # for str.translate, which takes them out
_NAMES = re.compile(r"[%#^@!$][\w.$-]+|[\w.$-]+")
_WINDOW = 4000  # lines to either side that are searched for the same operation
_NEIGHBOURS = 3


class Document:
    """Lines of one kind of text (`ir.kinds.kind_of`), without line ends.

    `title` says what it is, for the frame around it.
    """

    def __init__(self, text: str, kind: str, title: str = "") -> None:
        self.lines: list[str] = text.split("\n")
        if self.lines and not self.lines[-1]:
            self.lines.pop()
        self.kind = kind
        self.title = title

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def widest(self) -> int:
        """Characters in the longest line."""
        return max(map(len, self.lines), default=0)

    @cached_property
    def size(self) -> int:
        """About how many characters it takes to keep: of a line two numbers and the string's own, beside its text."""
        return sum(map(len, self.lines)) + 60 * len(self.lines)

    @cached_property
    def marks(self) -> Sequence[int]:
        """For each line a number that others have, too, which differ from it in digits alone."""
        return array("q", map(_mark, self.lines))

    @cached_property
    def parents(self) -> list[int]:
        """For each line the number of the line that opens what it is in, -1 at the top."""
        found: list[int] = []
        open_: list[tuple[int, int]] = []
        for number, line in enumerate(self.lines):
            stripped = line.lstrip()
            if not stripped:
                found.append(open_[-1][1] if open_ else -1)
                continue
            indent = len(line) - len(stripped)
            while open_ and open_[-1][0] >= indent:
                open_.pop()
            found.append(open_[-1][1] if open_ else -1)
            if stripped.rstrip().endswith(("{", ":", "({")) and not stripped.startswith("}"):
                open_.append((indent, number))
        return found

    @cached_property
    def strings(self) -> frozenset[int]:
        """Of Python, the lines that begin within a string; a lexer of single lines would take them for code."""
        if self.kind != "python":
            return frozenset()
        found: set[int] = set()
        lines = iter(f"{line}\n" for line in self.lines)
        with suppress(tokenize.TokenError, SyntaxError):  # it is shown as it is, up to where it is no Python
            for token in tokenize.generate_tokens(lambda: next(lines, "")):
                if token.type == tokenize.STRING or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
                    found.update(range(token.start[0], token.end[0]))
        return frozenset(found)

    def around(self, number: int, most: int) -> list[int]:
        """The lines that open what line `number` is in, the outermost first; at most that many, the innermost ones."""
        found: list[int] = []
        while 0 <= number < len(self.parents) and (number := self.parents[number]) >= 0:
            found.insert(0, number)
        return found[-most:] if most else []


def _mark(line: str) -> int:
    """The same for lines that are the same without their digits, which is what renumbering changes."""
    return hash((line[:1], line.strip().translate(_DIGITS)))


def follow(before: Document, line: int, after: Document) -> int:
    """The line of `after` that is what `line` of `before` was: the same but for numbers, with the same around it.

    Where it is gone, its nearest neighbour that is still there; lines are searched in a window around the place that
    it would have in proportion.
    """
    if not len(before) or not len(after):
        return 0
    there = set(after.marks)
    for distance in range(40):
        for candidate in dict.fromkeys((line + distance, line - distance)):
            if not 0 <= candidate < len(before) or len(before.lines[candidate].strip()) < 2:
                continue
            if before.marks[candidate] in there and (found := _same(before.marks, candidate, after.marks)) is not None:
                return min(max(found - (candidate - line), 0), len(after) - 1)
    return min(line, len(after) - 1)


def _same(before: Sequence[int], line: int, after: Sequence[int]) -> int | None:
    ends = min(len(before) - line, line + 1)
    # Near the start or the end lines keep their distance to that; between, their share of the whole.
    if ends > _NEIGHBOURS:
        place = line * len(after) // len(before)
    else:
        place = line if line < len(before) / 2 else len(after) - (len(before) - line)
    first = max(min(line, place) - _WINDOW, 0)
    last = min(max(line, place) + _WINDOW, len(after))
    around = [before[at] for at in _near(line, len(before))]
    best: tuple[int, int, int] | None = None
    for number in range(first, last):
        if after[number] != before[line]:
            continue
        alike = sum(after[at] == each for at, each in zip(_near(number, len(after)), around, strict=False))
        score = (alike, -abs(number - line), number)
        if best is None or score > best:
            best = score
    return None if best is None else best[2]


def _near(line: int, count: int) -> list[int]:
    return [at for at in range(line - _NEIGHBOURS, line + _NEIGHBOURS + 1) if at != line and 0 <= at < count]


def next_match(matches: Sequence[int], start: int, step: int) -> int | None:
    """The first of `matches`, line numbers in order, after `start` in direction `step` (1 or -1); it wraps."""
    if not matches:
        return None
    at = bisect_right(matches, start) if step > 0 else bisect_left(matches, start) - 1
    return matches[at % len(matches)]


def words_of(line: str) -> list[tuple[int, int, str]]:
    """The names of a line with where they start and end."""
    return [(match.start(), match.end(), match.group()) for match in _NAMES.finditer(line)]
