"""Layouts: fragments as the PTX manual draws them, swizzles by hand, and texts that are none."""

import json

import pytest

from tritonscope.cli import main
from tritonscope.ir.layout_text import layouts_of, parse_layout, shape_of
from tritonscope.ir.layouts import Linear, linear_layout

MATMUL = "matmul/sm_90-5f19578c9d"
MMA = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>"
BLOCKED = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"


def linear(text: str, *shape: int) -> Linear:
    return linear_layout(parse_layout(text), shape)


def test_the_result_of_mma_m16n8_is_as_the_ptx_manual_says() -> None:
    found = linear(MMA, 16, 8)
    for lane in range(32):
        for register in range(4):
            row = lane // 4 + (8 if register >= 2 else 0)
            assert found.place(lane=lane, register=register, warp=0) == (row, lane % 4 * 2 + register % 2)


def test_the_first_operand_of_mma_m16n8k16_is_as_the_ptx_manual_says() -> None:
    found = linear(f"#ttg.dot_op<{{opIdx = 0, parent = {MMA}, kWidth = 2}}>", 16, 16)
    for lane in range(32):
        for register in range(8):
            row = lane // 4 + (8 if register in (2, 3, 6, 7) else 0)
            column = lane % 4 * 2 + register % 2 + (8 if register >= 4 else 0)
            assert found.place(lane=lane, register=register, warp=0) == (row, column)


def test_the_second_operand_of_mma_m16n8k16_is_as_the_ptx_manual_says() -> None:
    found = linear(f"#ttg.dot_op<{{opIdx = 1, parent = {MMA}, kWidth = 2}}>", 16, 8)
    for lane in range(32):
        for register in range(4):
            row = lane % 4 * 2 + register % 2 + (8 if register >= 2 else 0)
            assert found.place(lane=lane, register=register, warp=0) == (row, lane // 4)


def test_every_element_is_somewhere() -> None:
    for text in (BLOCKED, MMA, f"#ttg.dot_op<{{opIdx = 1, parent = {BLOCKED}}}>"):
        found = linear(text, 64, 32)
        assert found.holders().keys() == {(row, column) for row in range(64) for column in range(32)}


def test_a_swizzle_spreads_a_column_over_all_banks() -> None:
    found = linear("#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>", 64, 64)
    at = {element: offset for element, ((offset,),) in found.holders().items()}
    # 8 rows of 16 bytes each at one column: with 64 columns of 2 bytes a row is 128 bytes, all 32 banks.
    assert {at[row, 0] // 8 % 8 for row in range(8)} == set(range(8))
    assert at[0, 0] == 0
    assert at[1, 0] == 64 + 8
    assert at[1, 8] == 64
    assert sorted(at.values()) == list(range(64 * 64))


def test_padding() -> None:
    found = linear("#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [4, 64]}>", 4, 64)
    assert [found.address(row * 64) for row in range(4)] == [0, 72, 144, 216]


def test_a_slice_of_an_alias() -> None:
    aliases = {"#blocked": BLOCKED}
    found = linear_layout(parse_layout("#ttg.slice<{dim = 1, parent = #blocked}>", aliases), (64,))
    assert found.place(register=0, lane=8, warp=1) == (5,)
    assert found.place(register=0, lane=7, warp=0) == (0,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "blocked",
        "#blocked",
        "#ttg.blocked<{",
        "#ttg.blocked<{order = [1, 0]}>",
        "#ttg.blocked<{sizePerThread = [3], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>",
        "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 5]}>",
        "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [1, 0]}>",
        "#ttg.blocked<{sizePerThread = [0, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
        BLOCKED.replace("}>", ", CGALayout = [[1, 0]]}>"),
        "#ttg.nvidia_mma<{versionMajor = 3, warpsPerCTA = [4, 1], instrShape = [16]}>",
        "#ttg.linear<{register = [[1]], lane = [[0, 1]], warp = []}>",
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 0}>",
        "#ttg.nvmma_shared<{swizzlingByteWidth = 3, transposed = false, elementBitWidth = 16}>",
        "#ttg.shared_linear<{offset = [[1]]}>",
        "#ttg.unheard_of<{a = 1}>",
        f"#ttg.dot_op<{{opIdx = 0, parent = {BLOCKED}}}> more",
        "#ttg.slice<{dim = 9, parent = #ttg.linear<{register = [], lane = [], warp = []}>}>",
        "#ttg.linear<{register = [" + "[0, 0], " * 64 + "[0, 0]], lane = [], warp = []}>",
        "#ttg.x<" * 1000,
        "[" * 1000,
    ],
)
def test_what_is_no_layout_of_that_shape_is_said(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        linear(text, 16, 16)


def test_shapes_of_aliases() -> None:
    types = "tensor<64x32xf16, #a>, !ttg.memdesc<3x64x64x!tt.ptr<f32>, #a, #smem>, tensor<8x8xi1, #ab>"
    text = f"#a = #ttg.x<{{}}>\n#smem = #ttg.shared_memory\n%0 = f : {types}"
    assert layouts_of(text.split("\n")) == {"#a": "#ttg.x<{}>"}
    assert shape_of("#a", text) == ((64, 32), "f16")
    assert shape_of("#b", text) is None


def layout(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["layout", *arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_a_layout_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = layout(capsys, BLOCKED, "--shape", "16x32")
    assert code == 0
    rows = [line.split() for line in out.split("\n")[-17:-1]]
    assert rows[0][:6] == ["0", "T0:0", "T0:1", "T0:2", "T0:3", "T1:0"]
    assert rows[5][1] == "T40:0"
    assert "16x32 elements over 128 threads, 4 warps of 32; 4 elements a thread" in out
    assert "4 elements beside each other along dimension 1" in out


def test_of_a_capture(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = layout(capsys, MATMUL, "#mma", "--element", "3,5", "--json")
    assert code == 0
    value = json.loads(out)
    assert value["shape"] == [128, 256]
    assert value["holders"] == [{"element": [3, 5], "at": [{"warp": 0, "lane": 14, "thread": 14, "register": 1}]}]
    _, out, _ = layout(capsys, MATMUL, "#mma", "--thread", "14", "--shape", "16x8", "--json")
    assert json.loads(out)["holders"][1]["element"] == [3, 5]
    _, out, _ = layout(capsys, MATMUL, "#shared", "--bank", "--shape", "8x64")
    assert out.split("\n")[-8].split()[:4] == ["1", "4", "4", "5"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((MATMUL, "#nope"), "no layout is called '#nope'"),
        ((MATMUL,), "which layout is meant is missing"),
        ((MATMUL, "#mma", "--element", "3"), "is no element"),
        ((MATMUL, "#mma", "--thread", "256"), "no thread 256"),
        ((MATMUL, "#mma", "--bank"), "--bank is for layouts of shared memory"),
        ((MATMUL, "#smem", "--shape", "8x8"), "no layout is called '#smem'"),
        ((MATMUL, "#mma", "--stage", "ptx"), "defines no layouts"),
        ((BLOCKED,), "give the --shape"),
        ((BLOCKED, "--shape", "wide"), "is no shape"),
        ((BLOCKED, "--shape", "3x4"), "power of two"),
    ],
)
def test_what_cannot_be_drawn(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str) -> None:
    code, _, err = layout(capsys, *arguments)
    assert (code, said in err) == (2, True)
