"""Places in Python source, the chains of calls that lead to them, and the map from a text's lines to those."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

__all__ = ["Chain", "LineMap", "Position", "SameOrigin", "counted"]

# What Triton's own library inlines into a kernel counts for the line that called it.
_LIBRARY = re.compile(r"[\\/]triton[\\/](?:language|experimental)[\\/]")


class Position(NamedTuple):
    """A line of Python, from 1, and a column, from 1 as the compiler counts them, 0 where it says none."""

    file: str
    line: int
    column: int = 0


#: Where something was written and, after it, the calls that led there, each the caller of the one before.
Chain: TypeAlias = tuple[Position, ...]


@dataclass(frozen=True)
class SameOrigin:
    """Lines of one origin, and how alike that is: "expression" where columns agree too, "line", or "" for none."""

    lines: tuple[int, ...] = ()
    by: str = ""


@dataclass(frozen=True)
class LineMap:
    """For each line of a text the chains that it came from: none, one, or several where operations were fused."""

    chains: Sequence[tuple[Chain, ...]]

    def at(self, line: int) -> tuple[Chain, ...]:
        """The chains of a line, numbered from 1; none for a line that is not there."""
        return self.chains[line - 1] if 0 < line <= len(self.chains) else ()

    def lines_of(self, file: str, line: int) -> tuple[int, ...]:
        """The lines that came from a line of Python, in whichever frame of their chains it is."""
        return self._reverse.get((file, line), ())

    def same_origin(self, chains: tuple[Chain, ...]) -> SameOrigin:
        """The lines that came from where `chains`, those of a line of any text, lead to.

        Those with a chain in common, else, as where columns are not known or a pass lost a call, those that came from
        the same lines, else those that count for the same line.
        """
        found = {line for chain in chains if chain[0].column for line in self._of_chain.get(chain, ())}
        if found:
            return SameOrigin(tuple(sorted(found)), "expression")
        found = {line for chain in chains for line in self._of_chain.get(_without_columns(chain), ())}
        place = counted(chains)
        if not found and place is not None:
            found = set(self._of_chain.get(_without_columns((place,)), ()))
        return SameOrigin(tuple(sorted(found)), "line" if found else "")

    @property
    def places(self) -> Iterable[tuple[str, int]]:
        """Every (file, line) of Python that some line came from."""
        return self._reverse.keys()

    @cached_property
    def _of_chain(self) -> dict[Chain, list[int]]:
        """The lines of each chain, with its columns and without, and of the line that each counts for."""
        found: dict[Chain, list[int]] = {}
        lists: dict[tuple[Chain, ...], list[list[int]]] = {}
        for number, chains in enumerate(self.chains, 1):
            if not chains:
                continue
            if chains not in lists:
                place = counted(chains)
                keys = [*chains, *map(_without_columns, chains), *([_without_columns((place,))] if place else [])]
                lists[chains] = [found.setdefault(key, []) for key in dict.fromkeys(keys)]
            for lines in lists[chains]:
                lines.append(number)
        return found

    @cached_property
    def _reverse(self) -> dict[tuple[str, int], tuple[int, ...]]:
        found: dict[tuple[str, int], list[int]] = {}
        # Lines share their chains, so each is taken apart once.
        places: dict[tuple[Chain, ...], list[list[int]]] = {}
        for number, chains in enumerate(self.chains, 1):
            if not chains:
                continue
            lists = places.get(chains)
            if lists is None:
                frames = dict.fromkeys((frame.file, frame.line) for chain in chains for frame in chain)
                lists = places[chains] = [found.setdefault(frame, []) for frame in frames]
            for lines in lists:
                lines.append(number)
        return {place: tuple(lines) for place, lines in found.items()}


def counted(chains: tuple[Chain, ...]) -> Position | None:
    """The position that a line counts for: the innermost that is not in Triton's own library, None for none at all."""
    frames = [frame for chain in chains for frame in chain]
    return next((frame for frame in frames if not _LIBRARY.search(frame.file)), frames[-1] if frames else None)


def _without_columns(chain: Chain) -> Chain:
    return tuple(frame._replace(column=0) for frame in chain)
