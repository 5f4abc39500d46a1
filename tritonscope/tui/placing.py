"""Which row of a text is on which line of the view: folds hide rows, and long ones wrap. No textual here."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

__all__ = ["Placing"]


class Placing:
    """Rows that are seen, in order, and the line where each begins; lists are only made where something is folded or
    wrapped, so that a plain text of any length costs nothing.

    `hidden` gives for a row how many after it are folded away; `height` says how many lines a row takes, None for one.
    """

    def __init__(self, count: int, hidden: Mapping[int, int], height: Callable[[int], int] | None) -> None:
        self.hidden = hidden
        self.seen: Sequence[int] = _seen(count, hidden) if hidden else range(count)
        self.starts: Sequence[int] = range(len(self.seen))
        self.lines = len(self.seen)
        if height is not None:
            heights = [1 if row in hidden else height(row) for row in self.seen]
            self.starts = list(accumulate(heights, initial=0))[:-1]
            self.lines = sum(heights)

    def index(self, row: int) -> int:
        """The place of `row` among those that are seen; of a row in a fold, that of the fold."""
        return max(bisect_right(self.seen, row) - 1, 0)

    def shown(self, row: int) -> int:
        """`row`, or the row that stands for it while it is in a fold."""
        return self.seen[self.index(row)] if len(self.seen) else 0

    def line_of(self, row: int) -> int:
        """The line where `row`, or the fold that it is in, begins."""
        return self.starts[self.index(row)] if len(self.seen) else 0

    def height(self, row: int) -> int:
        """How many lines `row`, or the fold that it is in, takes."""
        index = self.index(row)
        following = self.starts[index + 1] if index + 1 < len(self.starts) else self.lines
        return following - self.starts[index] if len(self.seen) else 0

    def at(self, line: int) -> tuple[int, int]:
        """The row on a line, and which part of it, from 0."""
        index = max(bisect_right(self.starts, line) - 1, 0)
        return self.seen[index], line - self.starts[index]

    def moved(self, row: int, by: int) -> int:
        """The row that is `by` rows further, folds counted as one."""
        index = min(max(self.index(row) + by, 0), max(len(self.seen) - 1, 0))
        return self.seen[index] if len(self.seen) else 0


def _seen(count: int, hidden: Mapping[int, int]) -> list[int]:
    seen: list[int] = []
    start = 0
    for first in sorted(hidden):
        seen.extend(range(start, first + 1))
        start = first + hidden[first] + 1
    seen.extend(range(start, count))
    return seen
