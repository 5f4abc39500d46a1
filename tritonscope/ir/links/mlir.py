"""Locations of MLIR: named, callsite, fused and inlined ones, resolved to chains of positions."""

import re
from collections.abc import Sequence

from tritonscope.ir.links.positions import Chain, LineMap, Position

__all__ = ["MlirLocations", "map_mlir"]

_DEFINITION = re.compile(r"(#loc\w*) = loc\((.*)\)$")
_TRAILING = " loc("
_TOKEN = re.compile(
    r'"(?P<text>(?:[^"\\]|\\.)*)"(?::(?P<line>\d+):(?P<column>\d+))?(?:\s+to\s+[\d:]+)?'
    r"|(?P<alias>#\w+)|(?P<word>callsite|fused|at|unknown)\b|(?P<mark>[()\[\]<>,])"
)
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)")
_DEEPEST = 100
_MOST_CHAINS = 16
_NOWHERE: tuple[Chain, ...] = ()


class MlirLocations:
    """The locations that a text defines, resolved as they are asked for."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._bodies: dict[str, str] = {}
        for line in lines:
            if line.startswith("#loc") and (match := _DEFINITION.match(line)):
                self._bodies[match[1]] = match[2]
        self._known: dict[str, tuple[Chain, ...]] = {}

    def of_line(self, line: str) -> tuple[str, tuple[Chain, ...] | None]:
        """A line without the location at its end, and that location's chains, None where it has none."""
        if not line.endswith(")"):
            return line, None
        start = line.rfind(_TRAILING)  # there is none within a location
        return (line, None) if start < 0 else (line[:start], self.chains(line[start + len(_TRAILING) : -1]))

    def chains(self, body: str, depth: int = 0) -> tuple[Chain, ...]:
        """The chains of what stands between the brackets of `loc(...)`, none for an unknown one."""
        known = self._known.get(body)
        if known is None:
            # Before it is read: a location that refers to itself is nowhere.
            self._known[body] = _NOWHERE
            known = self._known[body] = _Parser(self, body, depth).location() if depth <= _DEEPEST else _NOWHERE
        return known

    def named(self, alias: str, depth: int) -> tuple[Chain, ...]:
        """The chains of `#loc12`."""
        return self.chains(self._bodies.get(alias, "unknown"), depth + 1)


class _Parser:
    """One location, read from its tokens; what is not understood is nowhere."""

    def __init__(self, locations: MlirLocations, body: str, depth: int) -> None:
        self._locations = locations
        self._tokens = list(_TOKEN.finditer(body))
        self._at = 0
        self._depth = depth

    def location(self, depth: int = 0) -> tuple[Chain, ...]:
        token = self._next()
        if token is None or depth > _DEEPEST:
            return _NOWHERE
        if token["alias"]:
            return self._locations.named(token["alias"], self._depth)
        if token["line"]:
            line = int(token["line"])
            return ((Position(_unescaped(token["text"]), line, int(token["column"])),),) if line else _NOWHERE
        if token["text"] is not None:
            return self._bracketed(depth) if self._takes("(") else _NOWHERE
        if token["word"] == "callsite" and self._takes("("):
            callee = self.location(depth + 1)
            self._takes("at")
            caller = self.location(depth + 1)
            self._takes(")")
            return _called(callee, caller)
        if token["word"] == "fused":
            self._skip_metadata()
            return self._fused(depth) if self._takes("[") else _NOWHERE
        return _NOWHERE

    def _bracketed(self, depth: int) -> tuple[Chain, ...]:
        found = self.location(depth + 1)
        self._takes(")")
        return found

    def _fused(self, depth: int) -> tuple[Chain, ...]:
        found: dict[Chain, None] = {}
        while True:
            found.update(dict.fromkeys(self.location(depth + 1)))
            if not self._takes(","):
                break
        self._takes("]")
        return tuple(found)[:_MOST_CHAINS]

    def _skip_metadata(self) -> None:
        depth = 0
        while self._at < len(self._tokens):
            mark = self._tokens[self._at]["mark"]
            depth += (mark == "<") - (mark == ">")
            if mark == "[" and not depth:
                return
            self._at += 1

    def _next(self) -> "re.Match[str] | None":
        if self._at >= len(self._tokens):
            return None
        self._at += 1
        return self._tokens[self._at - 1]

    def _takes(self, text: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at][0] == text:
            self._at += 1
            return True
        return False


def map_mlir(text: str) -> LineMap:
    """The chains of each line of an MLIR text with locations.

    An operation with regions has its location behind its end: the lines where it begins, where one of its regions ends
    and another begins, and where it ends have that one.
    """
    lines = text.split("\n")
    locations = MlirLocations(lines)
    found: list[tuple[Chain, ...]] = [_NOWHERE] * len(lines)
    opened: list[list[int]] = []
    for at, line in enumerate(lines):
        if not line or line[0] == "#":
            continue
        body, chains = locations.of_line(line)
        closes, opens = body.lstrip().startswith("}"), body.endswith("{")
        if chains is not None:
            found[at] = chains
        if closes:
            operation = opened.pop() if opened else []
            operation.append(at)
            if opens:
                opened.append(operation)
            elif chains:
                for begun in operation:
                    found[begun] = chains
        elif opens:
            opened.append([at])
    return LineMap(found)


def _called(callee: tuple[Chain, ...], caller: tuple[Chain, ...]) -> tuple[Chain, ...]:
    if not callee or not caller:
        return callee or caller
    chains = [(*inner, *outer)[:_DEEPEST] for inner in callee for outer in caller]
    return tuple(dict.fromkeys(chains))[:_MOST_CHAINS]


def _unescaped(text: str) -> str:
    """A string as MLIR prints it, with \\22 for a quote."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if len(m[1]) == 2 else m[1], text)
