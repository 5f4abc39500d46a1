"""Line information of assembly: `.loc` and `.file` of PTX and AMDGCN."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from tritonscope.ir.links.positions import Chain, LineMap, Position

__all__ = ["map_amdgcn", "map_ptx"]

_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?')
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)(?:\s+(\d+))?")
_INLINED = re.compile(r"\binlined_at\s+(\d+)\s+(\d+)(?:\s+(\d+))?")
_FRAME = re.compile(r"([^\s@\[\]]+):(\d+):(\d+)")

# Not comments, directives, labels and brackets.
_PTX_INSTRUCTION = re.compile(r"[\s{]*(?:@|(?![\w$]+:(?!:))[a-z])")
_GCN_INSTRUCTION = re.compile(r"\s+[a-z]")
_DEEPEST = 100
_NOWHERE: tuple[Chain, ...] = ()


class _Places:
    """The files that `.file` numbers, and the chains of the places that `.loc` names."""

    def __init__(self, files: dict[str, str]) -> None:
        self._files = files
        self._paths: dict[str, str] = {}
        for path in files.values():
            name = PurePath(path).name
            self._paths[name] = path if self._paths.get(name, path) == path else name
        self._latest: dict[Position, Chain] = {}
        self._commented: dict[tuple[Position, str], tuple[Chain, ...]] = {}

    def position(self, number: str, line: str, column: str | None) -> Position:
        return Position(self._files.get(number, ""), int(line), int(column or 0))

    def called(self, here: Position, caller: Position) -> tuple[Chain, ...]:
        """Where `inlined_at` names the caller, whose own chain is that of its latest `.loc`."""
        return self._chain(here, self._latest.get(caller, (caller,) if caller.line else ()))

    def commented(self, here: Position, comment: str) -> tuple[Chain, ...]:
        """Where a comment names all callers: `a.py:7:1 @[ b.py:3:9 @[ c.py:20:5 ] ]`."""
        known = self._commented.get((here, comment))
        if known is None:
            frames: Sequence[tuple[str, str, str]] = _FRAME.findall(comment.partition("@[")[2])
            callers = (Position(self._paths.get(name, name), int(at), int(column)) for name, at, column in frames)
            known = self._commented[here, comment] = self._chain(here, tuple(each for each in callers if each.line))
        elif here.line:
            self._latest[here] = known[0]
        return known

    def _chain(self, here: Position, outer: Chain) -> tuple[Chain, ...]:
        chain = ((here, *outer) if here.line else outer)[:_DEEPEST]
        if here.line:
            self._latest[here] = chain
        return (chain,) if chain else _NOWHERE


def map_ptx(text: str) -> LineMap:
    """The chains of each instruction's line of PTX with its `.loc`s, which hold from their line to the next one.

    `inlined_at` names the place of a call; that call's own caller is what the last `.loc` of that place says. Where
    there is none, the calls are in the comment beside, as in AMDGCN. Those within inline assembly are not heeded: LLVM
    counts on from the line of its call for each line of the assembly.
    """
    lines = text.split("\n")
    places = _Places(_files(lines))
    found: list[tuple[Chain, ...]] = []
    current = _NOWHERE
    inline = False
    for line in lines:
        stripped = line.lstrip()
        if stripped.startswith("//"):
            inline = stripped.startswith("// begin inline asm") or (inline and "// end inline asm" not in stripped)
        elif stripped.startswith(".loc"):
            if not inline and (match := _LOC.match(line)):
                here = places.position(match[1], match[2], match[3])
                code, _, comment = line.partition("//")
                inlined = _INLINED.search(code)
                if inlined:
                    current = places.called(here, places.position(inlined[1], inlined[2], inlined[3]))
                else:
                    current = places.commented(here, comment)
        elif stripped.startswith((".section", ".visible", ".entry", ".func", ".weak")):
            current = _NOWHERE
        found.append(current if _PTX_INSTRUCTION.match(line) else _NOWHERE)
    return LineMap(found)


def map_amdgcn(text: str) -> LineMap:
    """The chains of each instruction's line of AMDGCN assembly, from `.loc` and the calls in LLVM's comments beside.

    Those comments name files without their folders: a caller's file is the one of that name that `.file` lists, and the
    bare name where there are several or none.
    """
    lines = text.split("\n")
    places = _Places(_files(lines))
    found: list[tuple[Chain, ...]] = []
    current = _NOWHERE
    for line in lines:
        stripped = line.lstrip()
        if stripped.startswith(".loc"):
            if match := _LOC.match(line):
                here = places.position(match[1], match[2], match[3])
                current = places.commented(here, line.partition(";")[2])
        elif stripped.startswith((".section", ".text", ".Lfunc_end")):
            current = _NOWHERE
        found.append(current if _GCN_INSTRUCTION.match(line) else _NOWHERE)
    return LineMap(found)


def _files(lines: Iterable[str]) -> dict[str, str]:
    found = {}
    for line in lines:
        if ".file" in line and (match := _FILE.match(line)):
            found[match[1]] = f"{match[2]}/{match[3]}" if match[3] else match[2]
    return found
