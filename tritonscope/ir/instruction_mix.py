"""What machine code is made of: instructions counted by class, and the bytes of its loads and stores.

Counts are of instructions in the text, not of how often they run. Standard library only.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tritonscope.ir.instruction_classes import CLASSES, PADDING, Class, class_of, width_of
from tritonscope.ir.instructions import Instruction

__all__ = ["Mix", "bytes_moved", "mix"]


@dataclass(frozen=True)
class Mix:
    """How many instructions there are, padding left out: in all, by class, by class and opcode, and by width.

    `widths` maps a class of MOVED to how many of its instructions move how many bytes for each thread.
    """

    total: int
    classes: Mapping[Class, int]
    opcodes: Mapping[Class, Mapping[str, int]]
    widths: Mapping[Class, Mapping[int, int]]


def mix(instructions: Iterable[Instruction], kind: str) -> Mix:
    """The mix of `instructions`, which `read_code` read from text of `kind`."""
    classes: Counter[Class] = Counter()
    opcodes: dict[Class, Counter[str]] = {}
    widths: dict[Class, Counter[int]] = {}
    for instruction in instructions:
        if instruction.opcode in PADDING:
            continue
        which = class_of(instruction, kind)
        classes[which] += 1
        opcodes.setdefault(which, Counter())[instruction.opcode] += 1
        width = width_of(instruction, kind)
        if width is not None:
            widths.setdefault(which, Counter())[width] += 1
    return Mix(
        classes.total(),
        {name: classes[name] for name in CLASSES if name in classes},
        {name: dict(opcodes[name].most_common()) for name in CLASSES if name in opcodes},
        {name: dict(sorted(widths[name].items(), reverse=True)) for name in CLASSES if name in widths},
    )


def bytes_moved(instructions: Iterable[Instruction], kind: str) -> tuple[int, int]:
    """Bytes that `instructions` load from global memory and store there, for each thread, each run once."""
    loaded = stored = 0
    for instruction in instructions:
        which = class_of(instruction, kind)
        if which in ("global_load", "async_copy"):
            loaded += width_of(instruction, kind) or 0
        elif which == "global_store":
            stored += width_of(instruction, kind) or 0
    return loaded, stored
