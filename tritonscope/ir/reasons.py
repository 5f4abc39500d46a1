"""Why a load is not vectorised, a product not on the tensor cores, and which layouts are converted in a loop.

Only what TTGIR itself tells: layouts, shapes, types, and which arguments are known to be divisible; and what machine
code has for the same place. Standard library only.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tritonscope.ir.instruction_classes import CLASSES, Class
from tritonscope.ir.links.positions import Chain, LineMap, Position, counted

__all__ = ["Accesses", "Reason", "local_memory", "reasons"]

#: What the operations of one place became: for each class, the bytes for each thread of each instruction, 0 for those
#: that reach no memory.
Accesses: TypeAlias = Mapping[tuple[Chain, ...], Mapping[Class, Sequence[int]]]

_WIDEST = 16  # bytes that one instruction moves for a thread
_LONGEST = 20_000  # characters of an operation; those that are told of have some hundreds
_MOST_STEPS = 500  # of a search for what goes into a value

_RESULTS = re.compile(r"\s*(%[\w$.-]+(?::\d+)?(?:, %[\w$.-]+(?::\d+)?)*) = ")
_VALUE = re.compile(r"%[\w$.-]+")
_ALIAS = re.compile(r"(#\w+) = (.*)$")
_ARGUMENT = re.compile(r"(%[\w$.-]+): ([^{]*?)(?: \{([^}]*)\})?(?:, (?=%)|$)")
_DIVISIBLE = re.compile(r"tt\.divisibility = (\d+)")
_CARRIED = re.compile(r"(%[\w$.-]+) = (%[\w$.-]+)")
_ACCESS = re.compile(
    r"\s*(?:%.* = )?(?P<name>tt\.load|tt\.store|ttg\.async_copy_global_to_local) (?P<pointer>%[\w$.-]+)(?P<rest>.*?)"
    r" : tensor<(?P<shape>[\dx]+)x!tt\.ptr<(?P<element>\w+)[^>]*>, (?P<layout>#\w+)>"
)
_MASK = re.compile(r"(?:, | mask )(%[\w$.-]+)")
_DOT = re.compile(
    r"(?:.* = )?tt\.dot (?P<rest>.*?) : tensor<(?P<m>\d+)x(?P<k>\d+)x(?P<element>\w+), .*"
    r" -> tensor<\d+x(?P<n>\d+)x\w+, (?P<layout>#\w+)>"
)
_CONVERT = re.compile(r"(?:.* = )?ttg\.convert_layout %[\w$.#-]+ : (?P<before>tensor<.*>) -> (?P<after>tensor<.*>)$")
_LOOP = re.compile(r"\s*(?:%\S.* = )?scf\.(?:for|while)\b")
_SIZES = re.compile(r"sizePerThread = \[([\d, ]+)\].*order = \[(\d+)")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Reason:
    """A sentence about an operation: the line of TTGIR, from 1 and without locations, and of Python, where it is known.

    `kind` is "narrow", of a load or a store; "no_tensor_core" or "older_tensor_core", of a product; "conversion";
    "local_memory".
    """

    kind: str
    line: int | None
    place: Position | None
    text: str


@dataclass(frozen=True)
class _Argument:
    type: str
    divisible: int


def reasons(lines: Sequence[str], found: LineMap, accesses: Accesses, arch: str) -> list[Reason]:
    """The reasons that TTGIR tells, in the order of its lines, without locations; `found` is their map.

    `accesses` says with which widths machine code reaches memory, for the places of `found`; `arch` is the target's,
    "90" or "gfx942".
    """
    module = _Module(lines)
    told = []
    for at, line in enumerate(lines):
        if len(line) > _LONGEST:
            continue
        chains = found.chains[at]
        for kind, text in _of_line(line, at, module, accesses.get(chains, {}), arch):
            told.append(Reason(kind, at + 1, counted(chains), text))
    return told


def local_memory(instructions: Iterable[tuple[Position | None, Class]]) -> list[Reason]:
    """Which lines of Python have loads and stores of local memory, the most of them first.

    `instructions` are those of machine code, each with the line that it counts for and its class.
    """
    counts: dict[Position | None, Counter[Class]] = {}
    for place, class_ in instructions:
        if class_ in ("local_load", "local_store"):
            counts.setdefault(place._replace(column=0) if place else None, Counter())[class_] += 1
    told = []
    for place, each in sorted(counts.items(), key=lambda found: -found[1].total()):
        counts_of = [_count(each[class_], CLASSES[class_]) for class_ in ("local_store", "local_load")]
        text = f"{_and(counts_of)}: registers are spilled here"
        told.append(Reason("local_memory", None, place, f"{text}, or an array is indexed at run time"))
    return told


def _of_line(
    line: str, at: int, module: "_Module", accesses: Mapping[Class, Sequence[int]], arch: str
) -> Iterator[tuple[str, str]]:
    if access := _ACCESS.match(line):
        text = _narrow(access, module, accesses)
        if text:
            yield "narrow", text
    elif dot := _DOT.match(line):
        yield from _slow_dot(dot, module, arch)
    elif (convert := _CONVERT.match(line)) and (loop := module.loop_of(at)) is not None:
        text = _conversion(convert, accesses)
        if text:
            yield "conversion", f"each iteration of the loop of TTGIR line {loop + 1} converts {text}"


def _conversion(convert: "re.Match[str]", accesses: Mapping[Class, Sequence[int]]) -> str | None:
    """What a conversion costs, None where it moves nothing between threads."""
    moves = {class_: len(accesses.get(class_, ())) for class_ in ("shared_store", "shared_load", "shuffle")}
    if not moves["shared_store"] and not moves["shuffle"]:
        return None
    counts = [f"{count} {CLASSES[class_]}" for class_, count in moves.items() if count]
    return f"{_short(convert['before'])} to {_short(convert['after'])}; its line has {_and(counts)} instructions"


class _Module:
    """What a text defines: layouts, arguments, and for each value the line that makes it."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.layouts: dict[str, str] = {}
        self.arguments: dict[str, _Argument] = {}
        self._made: dict[str, str] = {}
        self._carried: dict[str, str] = {}
        self._loops: list[int | None] = []
        self.threads = _threads(lines)
        opened: list[tuple[int, bool]] = []
        for at, line in enumerate(lines):
            if line.startswith("#") and (alias := _ALIAS.match(line)):
                self.layouts[alias[1]] = alias[2]
            elif line.lstrip().startswith("tt.func ") and not self.arguments:
                for name, type_, attributes in _ARGUMENT.findall(line[line.find("(") + 1 : line.rfind(")")]):
                    divisible = _DIVISIBLE.search(attributes)
                    self.arguments[name] = _Argument(type_, int(divisible[1]) if divisible else 1)
            elif results := _RESULTS.match(line):
                for name in _VALUE.findall(results[1]):
                    self._made[name] = line[results.end() :]
            if "iter_args(" in line:
                self._carried.update(_CARRIED.findall(line.partition("iter_args(")[2]))
            stripped = line.strip()
            if stripped.startswith("}") and opened:
                opened.pop()
            self._loops.append(next((begun for begun, is_loop in reversed(opened) if is_loop), None))
            if stripped.endswith("{"):
                opened.append((at, bool(_LOOP.match(line))))

    def loop_of(self, at: int) -> int | None:
        """The line where the innermost loop around a line begins, from 0; None outside of loops."""
        return self._loops[at]

    def goes_into(self, value: str) -> tuple[set[str], bool]:
        """The arguments that a value is computed from, and whether it is computed from something loaded, too."""
        arguments: set[str] = set()
        loaded = False
        seen = {value}
        waiting = [value]
        for _ in range(_MOST_STEPS):
            if not waiting:
                break
            name = waiting.pop()
            if name in self.arguments:
                arguments.add(name)
                continue
            made = self._made.get(name, "")
            if made.startswith("tt.load"):
                loaded = True
                continue
            operands = _VALUE.findall(made)
            if name in self._carried:
                operands.append(self._carried[name])
            for operand in operands:
                if operand not in seen:
                    seen.add(operand)
                    waiting.append(operand)
        return arguments, loaded


def _threads(lines: Sequence[str]) -> int:
    head = next((line for line in lines if line.startswith("module")), "")
    warps = re.search(r'"ttg\.num-warps" = (\d+)', head)
    of_each = re.search(r'"ttg\.threads-per-warp" = (\d+)', head)
    return int(warps[1]) * int(of_each[1]) if warps and of_each else 0


def _narrow(access: "re.Match[str]", module: _Module, accesses: Mapping[Class, Sequence[int]]) -> str | None:
    """Why an access moves less than it could, None where it does not, or nothing is known of it."""
    classes = ("global_store",) if access["name"] == "tt.store" else ("global_load", "async_copy")
    widths = [width for class_ in classes for width in accesses.get(class_, ())]
    bits = _bits(access["element"])
    sizes = _SIZES.search(module.layouts.get(access["layout"], ""))
    if not widths or not bits or not sizes or not module.threads:
        return None
    width, element = max(widths), bits // 8
    elements = 1
    for size in access["shape"].split("x"):
        elements *= int(size)
    of_each = elements // module.threads
    per_thread = [int(size) for size in sizes[1].split(",")]
    order = int(sizes[2])
    together = per_thread[order] if order < len(per_thread) else 1
    if width >= min(_WIDEST, of_each * element):
        return None
    what = {"tt.load": "the load", "tt.store": "the store"}.get(access["name"], "the asynchronous copy")
    said = f"{what} takes {_count(width, 'byte')} at a time, of {_count(of_each * element, 'byte')} for each thread"
    if min(together * element, _WIDEST) <= width:
        neighbours = f"{_count(together, 'element')} of {_count(element, 'byte')}"
        return f"{said}: its layout gives a thread {neighbours} beside each other, no more"
    return f"{said}, though its layout gives a thread {together} elements beside each other{_not_known(access, module)}"


def _not_known(access: "re.Match[str]", module: _Module) -> str:
    address, loaded = module.goes_into(access["pointer"])
    mask = _MASK.search(access["rest"]) if access["name"] != "tt.store" else _second_mask(access["rest"])
    of_mask, _ = module.goes_into(mask[1]) if mask else (set[str](), False)
    parts = []
    if loaded:
        parts.append("its addresses were loaded themselves")
    for names, where in ((address, "address"), (of_mask - address, "mask")):
        known = {name: module.arguments[name] for name in sorted(names)}
        unknown = [name.removeprefix("%") for name, each in known.items() if each.divisible < _WIDEST and _counts(each)]
        if unknown:
            parts.append(f"{_and(unknown)} in its {where} {'is' if len(unknown) == 1 else 'are'} not known to be")
    if not parts:
        return ""
    text = ", and ".join(parts)
    return f"; {text} divisible by 16" if parts[-1].endswith("known to be") else f"; {text}"


def _second_mask(rest: str) -> "re.Match[str] | None":
    """The mask of a store, which is behind what is stored."""
    value = _MASK.search(rest)
    return _MASK.search(rest, value.end()) if value else None


def _counts(argument: _Argument) -> bool:
    return argument.type.startswith("!tt.ptr") or argument.type.strip() in ("i16", "i32", "i64")


def _slow_dot(dot: "re.Match[str]", module: _Module, arch: str) -> Iterator[tuple[str, str]]:
    layout = module.layouts.get(dot["layout"], "")
    m, n, k = (int(dot[name]) for name in "mnk")
    shape = f"{m}x{n}x{k}"
    bits = _bits(dot["element"])
    if layout.startswith("#ttg.blocked"):
        why = ""
        if dot["element"] == "f32" and "inputPrecision" not in dot["rest"] and not arch.startswith("gfx"):
            why = ": its operands are fp32 and its precision is ieee, which tensor cores do not have; tf32 is on them"
        elif min(m, n, k) < 16:
            why = ": one of these is below 16"
        yield "no_tensor_core", f"the product of {shape} is made of scalar multiply-adds, not on the tensor cores{why}"
    elif "nvidia_mma<{versionMajor = 2" in layout and arch in ("90", "100", "103"):
        newer = "wgmma" if arch == "90" else "tcgen05.mma"
        why = ""
        if bits == 64:
            why = ": that has no fp64"
        elif m < 64:
            why = f": that takes 64 rows at least, and it has {m}"
        elif module.threads % 128:
            why = f": that takes warps by fours, and there are {module.threads // 32}"
        yield "older_tensor_core", f"the product of {shape} uses mma.sync instead of {newer}{why}"


def _bits(element: str) -> int:
    number = _NUMBER.search(element)
    return 8 if element.startswith("f8") else int(number[0]) if number else 0


def _short(tensor: str) -> str:
    """A type without its layout's own parameters."""
    return re.sub(r"<\{.*?\}>", "", tensor)


def _count(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count} {what}s"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
