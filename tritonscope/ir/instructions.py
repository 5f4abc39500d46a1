"""Machine code as text, read into instructions: SASS as nvdisasm prints it, PTX, AMDGCN. Standard library only."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

__all__ = ["KINDS", "Code", "Instruction", "read_code"]

#: Of `ir.kinds.kind_of`, those that `read_code` reads.
KINDS = ("sass", "ptx", "amdgcn")

_SASS = re.compile(
    r"\s*/\*(?P<address>[0-9a-f]{4,})\*/\s+(?:\{\s*)?(?P<guard>@!?U?P\w+\s+)?(?P<opcode>[A-Z][\w.]*)(?P<rest>[^;\n]*)"
)
_SASS_LABEL = re.compile(r"([.\w$]+):\s*$")
_SASS_TARGET = re.compile(r"`\(([^)]+)\)")

_PTX = re.compile(r"[\s{]*(?P<guard>@!?%?[\w$]+\s+)?(?P<opcode>[a-z][\w.:]*)(?P<rest>\s[^\n]*)?$")
_PTX_LABEL = re.compile(r"[\s{]*([\w$]+):(?!:)")

_GCN = re.compile(r"\s+(?P<opcode>[a-z]\w*)(?P<rest>(?:\s[^\n]*)?)$")
_GCN_LABEL = re.compile(r"([.\w$]+):")
_GCN_TARGET = re.compile(r"\s+([.\w$]+)")

_DEBUG_LABEL = re.compile(r"\$L__tmp|\.Ltmp|\$L__func|\.Lfunc")

_PTX_ENDS = ("ret", "exit", "trap")


@dataclass(frozen=True)
class Instruction:
    """An instruction: the number of its line, from 1, its opcode with all modifiers, and its operands as written.

    `target` is the index of the instruction that it may branch to, None for one that does not or leaves the text.
    `goes_on` says whether the next instruction may be the one after it, `guarded` whether a predicate may skip it.
    """

    line: int
    opcode: str
    operands: str
    target: int | None = None
    goes_on: bool = True
    guarded: bool = False


@dataclass(frozen=True)
class Code:
    """The instructions of a text in order, and its labels: each name with the index of the instruction after it."""

    kind: str
    instructions: tuple[Instruction, ...]
    labels: tuple[tuple[str, int], ...] = ()


@dataclass
class _Reading:
    """What has been read: instructions with the names of their targets still to be looked up."""

    found: list[tuple[Instruction, str | None]] = field(default_factory=list)
    labels: list[tuple[str, int]] = field(default_factory=list)

    def label(self, name: str) -> None:
        if not _DEBUG_LABEL.match(name):
            self.labels.append((name, len(self.found)))


def read_code(text: str, kind: str) -> Code:
    """The instructions of `text`, of a kind in KINDS; what is none (directives, comments, data) is left out.

    Raises ValueError for another kind.
    """
    readers = {"sass": _read_sass, "ptx": _read_ptx, "amdgcn": _read_gcn}
    if kind not in readers:
        raise ValueError(f"instructions of {kind!r} are not read")
    reading = _Reading()
    readers[kind](text.split("\n"), reading)
    return Code(kind, tuple(_resolved(reading)), tuple(reading.labels))


def _resolved(reading: _Reading) -> Iterator[Instruction]:
    places: dict[str | None, list[int]] = {}
    for name, index in reading.labels:
        places.setdefault(name, []).append(index)
    last = len(reading.found)
    for at, (instruction, target) in enumerate(reading.found):
        near = _nearest(places.get(target, ()), at)
        yield instruction if near is None or near == last else replace(instruction, target=near)


def _nearest(places: Sequence[int], at: int) -> int | None:
    """Of the places of a label, in order, the nearest: labels of inline assembly are the same at each of its places."""
    after = bisect_left(places, at)
    near = places[max(after - 1, 0) : after + 1]
    return min(near, key=lambda index: abs(index - at), default=None)


def _read_sass(lines: Sequence[str], reading: _Reading) -> None:
    for number, line in enumerate(lines, 1):
        match = _SASS.match(line)
        if not match:
            if label := _SASS_LABEL.match(line):
                reading.label(label[1])
            continue
        opcode, rest = match["opcode"], match["rest"].strip()
        base = opcode.partition(".")[0]
        name = None
        goes_on = True
        if base in ("BRA", "JMP"):
            target = _SASS_TARGET.search(rest)
            name = target[1] if target else None
            # BRA.U UP0 and BRA.DIV have their condition as an operand.
            goes_on = bool(match["guard"]) or not rest.startswith("`(")
        elif base in ("EXIT", "RET", "BRX", "JMX", "KILL"):
            goes_on = bool(match["guard"])
        reading.found.append((Instruction(number, opcode, rest, None, goes_on, bool(match["guard"])), name))


def _read_ptx(lines: Sequence[str], reading: _Reading) -> None:
    depth = 0
    in_data = False
    for number, raw in enumerate(lines, 1):
        line = raw.partition("//")[0].rstrip()
        in_data = line.lstrip().startswith(".section") or (in_data and depth > 0) or (in_data and line == "{")
        # Inline assembly opens scopes of its own.
        depth += line.count("{") - line.count("}")
        if depth <= 0 or in_data:
            continue
        while label := _PTX_LABEL.match(line):
            reading.label(label[1])
            line = line[label.end() :]
        *whole, begun = line.split(";")
        for statement in [*whole, begun] if "call" in begun else whole:
            if match := _PTX.match(statement):
                reading.found.append(_ptx_instruction(number, match))


def _ptx_instruction(number: int, match: "re.Match[str]") -> tuple[Instruction, str | None]:
    opcode, operands = match["opcode"], (match["rest"] or "").strip()
    base = opcode.partition(".")[0]
    goes_on = bool(match["guard"]) or base not in ("bra", "brx", *_PTX_ENDS)
    return Instruction(
        number, opcode, operands, None, goes_on, bool(match["guard"])
    ), operands if base == "bra" else None


def _read_gcn(lines: Sequence[str], reading: _Reading) -> None:
    in_code = True
    for number, raw in enumerate(lines, 1):
        line = raw.partition(";")[0].rstrip()
        stripped = line.lstrip()
        if stripped.startswith((".section", ".text", ".data", ".amdgpu_metadata")):
            in_code = stripped.startswith(".text") or ".text" in stripped
            continue
        if not in_code or not line:
            continue
        if label := _GCN_LABEL.match(line):
            reading.label(label[1])
            continue
        match = _GCN.match(line)
        if not match:
            continue
        opcode, rest = match["opcode"], match["rest"]
        name = None
        if opcode.startswith(("s_branch", "s_cbranch")):
            target = _GCN_TARGET.match(rest)
            name = target[1] if target else None
        goes_on = not opcode.startswith(("s_branch", "s_endpgm", "s_setpc"))
        reading.found.append((Instruction(number, opcode, rest.strip(), None, goes_on), name))
