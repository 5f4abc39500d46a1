"""Line information of assembly: `.loc` and `.file` of PTX and AMDGCN."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
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


@dataclass
class _Places:
    """`.file` numbers, and the latest chain of each place where a `.loc` was: what `inlined_at` names is such a one."""

    files: dict[str, str]
    latest: dict[Position, Chain] = field(default_factory=dict)

    def position(self, number: str, line: str, column: str | None) -> Position:
        return Position(self.files.get(number, ""), int(line), int(column or 0))

    def chain(self, here: Position, caller: Position | None) -> tuple[Chain, ...]:
        outer = () if caller is None else self.latest.get(caller, (caller,) if caller.line else ())
        chain = ((here, *outer) if here.line else outer)[:_DEEPEST]
        if here.line:
            self.latest[here] = chain
        return (chain,) if chain else _NOWHERE


def map_ptx(text: str) -> LineMap:
    """The chains of each instruction's line of PTX with its `.loc`s, which hold from their line to the next one.

    `inlined_at` names the place of a call; that call's own caller is what the last `.loc` of that place says. Those
    within inline assembly are not heeded: LLVM counts on from the line of its call for each line of the assembly.
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
                inlined = _INLINED.search(line.partition("//")[0])
                caller = places.position(inlined[1], inlined[2], inlined[3]) if inlined else None
                current = places.chain(places.position(match[1], match[2], match[3]), caller)
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
    files = _files(lines)
    full: dict[str, str] = {}
    for path in files.values():
        name = PurePath(path).name
        full[name] = path if full.get(name, path) == path else name
    places = _Places(files)
    known: dict[str, tuple[Chain, ...]] = {}
    found: list[tuple[Chain, ...]] = []
    current = _NOWHERE
    for line in lines:
        stripped = line.lstrip()
        if stripped.startswith(".loc"):
            current = known[line] if line in known else known.setdefault(line, _gcn_chain(line, places, full))
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


def _gcn_chain(line: str, places: _Places, full: dict[str, str]) -> tuple[Chain, ...]:
    match = _LOC.match(line)
    if not match:
        return _NOWHERE
    here = places.position(match[1], match[2], match[3])
    _, _, comment = line.partition(";")
    frames: Sequence[tuple[str, str, str]] = _FRAME.findall(comment.partition("@[")[2])
    outer = [Position(full.get(name, name), int(at), int(column)) for name, at, column in frames if int(at)]
    chain = (*((here,) if here.line else ()), *outer)[:_DEEPEST]
    return (chain,) if chain else _NOWHERE
