"""A profile's samples on the lines of a capture: SASS by its addresses, other texts by what those lines came from.

Line numbers are those of the texts without locations, as `tritonscope dump` prints them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from tritonscope.errors import UsageError
from tritonscope.ir.links import Chain, Position, counted
from tritonscope.line_links import Links, Listing
from tritonscope.model import Profile, Sampled
from tritonscope.profile_summary import stall_name

__all__ = ["HotLines", "Tally"]

_FUNCTION = re.compile(r"\.text\.(.+):\s*$")
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z]\w*)")
_OPCODE = re.compile(r"(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z]\w*)")

# Two disassemblers may call an instruction by two names; another binary has other instructions nearly everywhere.
_SAME_BINARY = 0.98


_Place = TypeVar("_Place", int, Position)


@dataclass
class Tally:
    """Samples, those in which nothing was issued, executions by warps, and samples by reason to stall.

    `shared` says how many lines of the text these samples are on: an instruction that leads to a line and column of
    Python leads to every operation that came from there.
    """

    samples: int = 0
    not_issued: int = 0
    executed: int = 0
    stalls: Counter[str] = field(default_factory=Counter)
    shared: int = 1

    def add(self, sampled: Sampled) -> None:
        """Count what was seen of one more instruction."""
        self.samples += sampled.samples
        self.not_issued += sampled.not_issued
        self.executed += sampled.executed
        for name, count in sampled.stalls.items():
            self.stalls[stall_name(name)] += count


class HotLines:
    """The samples of `profile` on the texts of its capture.

    Raises UsageError where the capture has no SASS, or its binary is not the one that was profiled.
    """

    def __init__(self, profile: Profile, links: Links) -> None:
        self._links = links
        if "sass" not in links.stages:
            raise UsageError(
                f"{links.capture.capture} has no SASS, so samples cannot be told to lines; compile it again"
            )
        self._sass = links.stage("sass")
        self._sampled = _lines_of(profile, self._sass, str(links.capture.metadata.get("name", profile.kernel)))

    def of_stage(self, stage: str) -> dict[int, Tally]:
        """The lines of a stage that samples are on; raises UsageError for a stage whose lines lead nowhere."""
        listing = self._links.stage(stage)
        if listing.kind == "sass":
            return self._tallied((line, line) for line in self._sampled)
        if listing.kind == "ptx" and self._sass.exact:
            return self._tallied((line, self._sass.ptx_line(line)) for line in self._sampled)
        return self._by_origin(listing)

    def of_python(self) -> dict[Position, Tally]:
        """The lines of Python, each with column 0."""
        return self._tallied((line, _line(self._position(line))) for line in self._sampled)

    @property
    def nowhere(self) -> int:
        """The samples of instructions that came from no line of Python."""
        return sum(sampled.samples for line, sampled in self._sampled.items() if self._position(line) is None)

    def _by_origin(self, listing: Listing) -> dict[int, Tally]:
        """By the chain of calls that both name; else, as where SASS knows no columns, by line of Python alone."""
        chains: dict[Chain, list[int]] = {}
        places: dict[Position | None, list[int]] = {}
        for number in range(1, len(listing.lines) + 1):
            if of_line := listing.map.at(number):
                chains.setdefault(of_line[0], []).append(number)
                places.setdefault(_line(counted(of_line)), []).append(number)
        found: dict[int, Tally] = {}
        for line, sampled in self._sampled.items():
            if of_line := self._sass.map.at(line):
                numbers = chains.get(of_line[0]) or places.get(_line(counted(of_line)), [])
                for number in numbers:
                    tally = found.setdefault(number, Tally())
                    tally.add(sampled)
                    tally.shared = max(tally.shared, len(numbers))
        return dict(sorted(found.items()))

    def _position(self, line: int) -> Position | None:
        return counted(self._sass.map.at(line))

    def _tallied(self, pairs: Iterable[tuple[int, _Place | None]]) -> dict[_Place, Tally]:
        """What was seen of the lines of SASS that lead to each place, in order."""
        found: dict[_Place, Tally] = {}
        for line, to in pairs:
            if to is not None:
                found.setdefault(to, Tally()).add(self._sampled[line])
        return dict(sorted(found.items()))


def _line(position: Position | None) -> Position | None:
    return None if position is None else position._replace(column=0)


def _lines_of(profile: Profile, sass: Listing, function: str) -> dict[int, Sampled]:
    """For each line of SASS with an instruction that was profiled, what was seen of it."""
    places = _places(sass.lines, function)
    found = {}
    agree = 0
    for sampled in profile.instructions:
        if sampled.offset in places:
            line, opcode = places[sampled.offset]
            found[line] = sampled
            theirs = _OPCODE.match(sampled.text)
            agree += bool(theirs and theirs[1] == opcode)
    if agree < _SAME_BINARY * len(profile.instructions):
        raise UsageError(
            f"the profile is of another binary than this capture's: {agree:,} of its {len(profile.instructions):,} "
            "instructions are the same; profile it again"
        )
    return found


def _places(lines: Sequence[str], function: str) -> dict[int, tuple[int, str]]:
    """The instructions of a function by their place in bytes: line and opcode without modifiers."""
    found: dict[int, tuple[int, str]] = {}
    current = None
    for number, line in enumerate(lines, 1):
        if match := _FUNCTION.match(line):
            current = match[1]
        elif current == function and (match := _INSTRUCTION.match(line)):
            found[int(match[1], 16)] = number, match[2]
    return found
