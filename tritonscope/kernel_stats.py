"""What a captured kernel's machine code is made of and what it needs, put together from its stages and resources.

Everything is read from what was compiled; nothing is run.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tritonscope.errors import UsageError
from tritonscope.ir.instruction_classes import CLASSES, MOVED, Class, class_of, width_of
from tritonscope.ir.instruction_mix import Mix, mix
from tritonscope.ir.instructions import KINDS, Code, Instruction, read_code
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.links import Chain, Position, counted
from tritonscope.ir.loops import Loop, find_loops
from tritonscope.ir.reasons import Reason, local_memory, reasons
from tritonscope.line_links import Links, Listing
from tritonscope.model import Capture
from tritonscope.occupancy import Occupancy, occupancy_of

__all__ = ["RESOURCES", "CodeStats", "KernelStats", "LoopStats", "knows", "stats_of", "to_json", "value_of"]

#: Of a capture's resources, those that say what a block takes; the others are of the compiler's bookkeeping.
RESOURCES = (
    "registers",
    "spills",
    "shared",
    "stack",
    "local",
    "tmem",
    "threads",
    "barriers",
    "code_bytes",
    "vgprs",
    "agprs",
    "sgprs",
    "vgpr_spills",
    "sgpr_spills",
)

_FINAL = ("sass", "amdgcn")
_WAITS = {"barrier", "control", "move"}
_CHANGE = "_change"


@dataclass(frozen=True)
class LoopStats:
    """A loop: its label, first and last line in the text without locations, how deep it is nested, and its mix.

    What loops within it are made of is in the mix. `waits` says that it does nothing but wait; `place` is the line of
    Python that the branch back to its beginning came from, None where that is not known.
    """

    label: str
    first_line: int
    last_line: int
    depth: int
    waits: bool
    mix: Mix
    place: Position | None


@dataclass(frozen=True)
class CodeStats:
    """The mix of one stage, and its loops."""

    stage: str
    mix: Mix
    loops: tuple[LoopStats, ...]


@dataclass(frozen=True)
class KernelStats:
    """`resources` has the keys of RESOURCES that are known; `codes` the stages of machine code, the last one first.

    `reasons` say what TTGIR tells of why the code is as it is.
    """

    capture: Capture
    resources: Mapping[str, int]
    occupancy: Occupancy | None
    codes: tuple[CodeStats, ...]
    reasons: tuple[Reason, ...] = ()

    @property
    def spill_unit(self) -> str:
        """What spills are counted in: "bytes", or "registers" on AMD."""
        return str(self.capture.resources.get("spill_unit") or "bytes")

    @property
    def final(self) -> CodeStats | None:
        """What the hardware runs: SASS or AMDGCN, else PTX; None where the capture has neither."""
        return self.codes[0] if self.codes else None


def stats_of(capture: Capture) -> KernelStats:
    """The statistics of `capture`; raises CaptureUnreadable for damaged stages."""
    links = Links(capture)
    found = [stage.stage for stage in capture.stages if kind_of(stage.file) in KINDS]
    found.sort(key=lambda stage: stage not in _FINAL)
    resources = {name: capture.resources.get(name) for name in RESOURCES}
    return KernelStats(
        capture,
        {name: value for name, value in resources.items() if isinstance(value, int)},
        occupancy_of(capture.target, capture.resources),
        tuple(_code_stats(links.stage(stage)) for stage in found),
        _reasons(links, found),
    )


def _reasons(links: Links, codes: list[str]) -> tuple[Reason, ...]:
    """Those of the final TTGIR, by the widths in PTX, which keeps places that SASS mixes, or AMDGCN; and of spills."""
    if not codes:
        return ()
    final = links.stage(codes[0])
    told = local_memory((counted(final.map.at(each.line)), class_of(each, final.kind)) for each in _instructions(final))
    if "ttgir" not in links.stages:
        return tuple(told)
    accesses: dict[tuple[Chain, ...], dict[Class, list[int]]] = {}
    listing = links.stage(codes[-1])
    for each in _instructions(listing):
        of_place = accesses.setdefault(listing.map.at(each.line), {})
        widths = of_place.setdefault(class_of(each, listing.kind), [])
        widths.append(width_of(each, listing.kind) or 0)
    ttgir = links.stage("ttgir")
    return (*told, *reasons(ttgir.lines, ttgir.map, accesses, links.capture.target.removeprefix("sm_")))


def _instructions(listing: Listing) -> tuple[Instruction, ...]:
    return read_code("\n".join(listing.lines), listing.kind).instructions


def _code_stats(listing: Listing) -> CodeStats:
    code = read_code("\n".join(listing.lines), listing.kind)
    loops = tuple(_loop_stats(loop, code, listing) for loop in find_loops(code))
    return CodeStats(listing.stage, mix(code.instructions, listing.kind), loops)


def _loop_stats(loop: Loop, code: Code, listing: Listing) -> LoopStats:
    body = [code.instructions[at] for at in loop.body]
    found = mix(body, listing.kind)
    back = [i.line for i in body if i.target == loop.head]
    return LoopStats(
        loop.label,
        body[0].line,
        body[-1].line,
        loop.depth,
        _only_waits(found),
        found,
        next(filter(None, (counted(listing.map.at(line)) for line in reversed(back))), None),
    )


def _only_waits(found: Mix) -> bool:
    """Whether a loop of `found` does nothing but wait: for a barrier, or with setmaxnreg, which sets a predicate."""
    predicates = all(opcode.removeprefix("U").startswith("PLOP3") for opcode in found.opcodes.get("integer", {}))
    return "barrier" in found.classes and set(found.classes) <= _WAITS | ({"integer"} if predicates else set())


def value_of(name: str, stats: KernelStats, base: KernelStats | None) -> float:
    """The number that `name` stands for in a condition.

    Resources (`registers`), `occupancy` in percent, `blocks` and `warps`, `instructions`, classes of `CLASSES`,
    those of MOVED with a width in bytes (`global_load_4`), and opcodes (`HGMMA`, with all their modifiers); with
    `_change` at the end, by how much that is more than in `base`. Raises UsageError for any other name, and where the
    capture does not say.
    """
    if name.endswith(_CHANGE):
        if base is None:
            raise UsageError(f"{name} compares two captures, and one was named; name the one to compare with first")
        plain = name.removesuffix(_CHANGE)
        if plain == "spills" and base.spill_unit != stats.spill_unit:
            raise UsageError(f"{name} compares {base.spill_unit} with {stats.spill_unit}; leave that condition out")
        return value_of(plain, stats, None) - value_of(plain, base, None)
    values = _values(stats)
    if name in values:
        value = values[name]
        if value is None:
            raise UsageError(f"{stats.capture.capture} does not say its {name}; leave that condition out")
        return value
    if name[:1].isupper():
        opcodes = stats.final.mix.opcodes if stats.final else {}
        return sum(
            count
            for found in opcodes.values()
            for opcode, count in found.items()
            if opcode == name or opcode.startswith(f"{name}.")
        )
    near = difflib.get_close_matches(name, values, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "`tritonscope stats --help` lists those there are"
    raise UsageError(f"nothing is called {name!r} here; {hint}")


def knows(name: str) -> bool:
    """Whether `value_of` takes `name`, its "_change" aside."""
    names = {*RESOURCES, "occupancy", "blocks", "warps", "instructions", *CLASSES}
    return name[:1].isupper() or name in names or name.rpartition("_")[0] in MOVED


def _values(stats: KernelStats) -> dict[str, float | None]:
    values: dict[str, float | None] = {name: stats.resources.get(name) for name in RESOURCES}
    occupancy = stats.occupancy
    values["occupancy"] = 100 * occupancy.warps / occupancy.of if occupancy else None
    values["blocks"] = occupancy.blocks if occupancy else None
    values["warps"] = occupancy.warps if occupancy else None
    final = stats.final.mix if stats.final else None
    values["instructions"] = final.total if final else None
    for name in CLASSES:
        values[name] = final.classes.get(name, 0) if final else None
    for name in MOVED:
        widths: Mapping[int, int] = final.widths.get(name, {}) if final else {}
        for width in (1, 2, 4, 8, 12, 16, 32):
            values[f"{name}_{width}"] = widths.get(width, 0) if final else None
    return values


def to_json(stats: KernelStats) -> dict[str, Any]:
    """The statistics as `stats --json` gives them."""
    return {
        "capture": stats.capture.capture,
        "path": stats.capture.path,
        "target": stats.capture.target,
        "resources": {name: stats.resources.get(name) for name in RESOURCES},
        "spill_unit": stats.capture.resources.get("spill_unit"),
        "occupancy": _occupancy_json(stats.occupancy),
        "reasons": [
            {
                "kind": reason.kind,
                "ttgir_line": reason.line,
                "python": {"file": reason.place.file, "line": reason.place.line} if reason.place else None,
                "text": reason.text,
            }
            for reason in stats.reasons
        ],
        "code": {code.stage: _code_json(code) for code in stats.codes},
    }


def _occupancy_json(occupancy: Occupancy | None) -> dict[str, Any] | None:
    if occupancy is None:
        return None
    return {
        "blocks": occupancy.blocks,
        "warps": occupancy.warps,
        "of": occupancy.of,
        "limited_by": [name.replace(" ", "_") for name in occupancy.limited_by],
        "allows": {name.replace(" ", "_"): count for name, count in occupancy.allows.items()},
        "next_registers": occupancy.next_registers,
        "next_shared": occupancy.next_shared,
    }


def _code_json(code: CodeStats) -> dict[str, Any]:
    return {
        **_mix_json(code.mix),
        "loops": [
            {
                "label": loop.label,
                "first_line": loop.first_line,
                "last_line": loop.last_line,
                "depth": loop.depth,
                "waits": loop.waits,
                "python": {"file": loop.place.file, "line": loop.place.line} if loop.place else None,
                **_mix_json(loop.mix),
            }
            for loop in code.loops
        ],
    }


def _mix_json(found: Mix) -> dict[str, Any]:
    return {
        "instructions": found.total,
        "classes": dict(found.classes),
        "widths": {name: {str(width): n for width, n in widths.items()} for name, widths in found.widths.items()},
        "opcodes": {name: dict(opcodes) for name, opcodes in found.opcodes.items()},
    }
