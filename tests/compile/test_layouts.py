"""Layouts against Triton's own functions, which Gluon calls: the same bases, for hundreds of layouts and shapes."""

import json
import random
import subprocess
import sys

import pytest

from tritonscope.ir.layout_text import parse_layout
from tritonscope.ir.layouts import linear_layout

# In a process of its own, which Triton may abort; it prints the bases of each layout on a line.
ORACLE = """
import json, sys
from triton._C.libtriton import gluon_ir, ir

context = ir.context()
ir.load_dialects(context)
builder = gluon_ir.GluonOpBuilder(context)

def made(spec):
    name, *arguments = spec
    of = lambda each: made(each) if isinstance(each, list) and each and isinstance(each[0], str) else each
    return getattr(builder, name)(*map(of, arguments))

for spec, shape in json.load(sys.stdin):
    found = builder.to_linear_layout(made(spec), shape)
    names = {"register": "reg_bases", "lane": "lane_bases", "warp": "warp_bases", "offset": "offset_bases"}
    print(json.dumps({ours: getattr(found, theirs) for ours, theirs in names.items() if hasattr(found, theirs)}))
"""

CHANCE = random.Random(8)


def power(low: int, high: int) -> int:
    return 1 << CHANCE.randint(low, high)


def split(bits: int, rank: int) -> list[int]:
    """`rank` powers of two whose product is that of `bits`."""
    found = [1] * rank
    for _ in range(bits):
        found[CHANCE.randrange(rank)] *= 2
    return found


def blocked(rank: int):
    order = CHANCE.sample(range(rank), rank)
    sizes, lanes, warps = split(CHANCE.randint(0, 4), rank), split(5, rank), split(CHANCE.randint(0, 3), rank)
    text = f"sizePerThread = {sizes}, threadsPerWarp = {lanes}, warpsPerCTA = {warps}, order = {order}"
    return ["get_blocked_layout", sizes, lanes, warps, order, []], f"#ttg.blocked<{{{text}}}>"


def mma(version: int):
    warps = split(CHANCE.randint(0, 3), 2) if version == 2 else [power(2, 3), 1]
    shape = [16, 8] if version == 2 else [16, power(3, 8), 16]
    text = f"versionMajor = {version}, versionMinor = 0, warpsPerCTA = {warps}, instrShape = {shape}"
    return ["get_mma_layout", [version, 0], warps, [], shape], f"#ttg.nvidia_mma<{{{text}}}>"


def mfma():
    side, warps, turned = CHANCE.choice([16, 32]), split(CHANCE.randint(0, 3), 2), CHANCE.random() < 0.5
    text = f"version = 3, warpsPerCTA = {warps}, instrShape = [{side}, {side}, 8], isTransposed = {str(turned).lower()}"
    spec = ["get_amd_mfma_layout", 3, warps, [side, side, 8], turned, [], [1, 1], 32]
    return spec, f"#ttg.amd_mfma<{{{text}}}>"


def operand(parent, index: int, width: int):
    spec, text = parent
    kept = f", kWidth = {width}" if width else ""
    return ["get_dot_operand_layout", index, spec, width], f"#ttg.dot_op<{{opIdx = {index}, parent = {text}{kept}}}>"


def sliced(parent, dim: int):
    spec, text = parent
    return ["get_slice_layout", dim, spec], f"#ttg.slice<{{dim = {dim}, parent = {text}}}>"


def swizzled(rank: int):
    vec, per_phase, max_phase = power(0, 3), power(0, 3), power(0, 3)
    order = CHANCE.sample(range(rank), rank)
    text = f"vec = {vec}, perPhase = {per_phase}, maxPhase = {max_phase}, order = {order}"
    return ["get_swizzled_shared_layout", vec, per_phase, max_phase, order, []], f"#ttg.swizzled_shared<{{{text}}}>"


def nvmma(swizzle: int, bits: int, transposed: bool):
    turned = str(transposed).lower()
    text = f"swizzlingByteWidth = {swizzle}, transposed = {turned}, elementBitWidth = {bits}"
    spec = ["get_nvmma_shared_layout", swizzle, bits, transposed, False, [], 2]
    return spec, f"#ttg.nvmma_shared<{{{text}}}>"


def compare(cases, same_registers: bool = True) -> None:
    asked = json.dumps([[spec, shape] for (spec, _), shape in cases])
    done = subprocess.run([sys.executable, "-c", ORACLE], input=asked, check=True, capture_output=True, text=True)
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(said) == len(cases)
    for ((_, text), shape), theirs in zip(cases, said, strict=True):
        found = linear_layout(parse_layout(text), shape)
        ours = {name: [list(basis) for basis in bases] for name, bases in found.bases.items()}
        if not same_registers:
            for each in (ours, theirs):
                each["register"] = [basis for basis in each["register"] if any(basis)]
        assert ours == theirs, (text, shape)


def newer_than_3_6() -> bool:
    import triton

    return tuple(map(int, triton.__version__.split(".")[:2])) > (3, 6)


def test_layouts_of_registers():
    cases = []
    for _ in range(40):
        rank = CHANCE.randint(1, 3)
        cases += [
            (blocked(rank), [power(0, 6) for _ in range(rank)]),
            (mma(2), [power(2, 7), power(2, 8)]),
            (mma(3), [power(2, 7), power(2, 8)]),
            (mfma(), [power(2, 8), power(2, 8)]),
            (operand(mma(2), CHANCE.randint(0, 1), power(0, 2)), [power(3, 7), power(3, 7)]),
            (operand(mma(3), 0, power(0, 2)), [power(3, 7), power(3, 7)]),
            (operand(blocked(2), CHANCE.randint(0, 1), 0), [power(3, 6), power(3, 6)]),
            (sliced(blocked(2), CHANCE.randint(0, 1)), [power(0, 8)]),
            (sliced(mma(CHANCE.choice([2, 3])), CHANCE.randint(0, 1)), [power(0, 8)]),
            (sliced(operand(mma(2), 0, power(0, 2)), CHANCE.randint(0, 1)), [power(0, 8)]),
        ]
    # Before 3.7 blocked layouts keep registers that hold an element again.
    compare(cases, same_registers=newer_than_3_6())


@pytest.mark.skipif("not newer_than_3_6()", reason="Triton 3.6 aborts where it is asked for these")
def test_layouts_of_shared_memory():
    cases = []
    for _ in range(40):
        rank = CHANCE.randint(1, 3)
        cases.append((swizzled(rank), [power(3, 7) for _ in range(rank)]))
        swizzle, bits, transposed = CHANCE.choice([0, 32, 64, 128]), CHANCE.choice([8, 16, 32]), CHANCE.random() < 0.5
        shape = [power(3, 7), max(power(3, 7), max(swizzle, 16) * 8 // bits)]
        cases.append((nvmma(swizzle, bits, transposed), shape[::-1] if transposed else shape))
    compare(cases)
