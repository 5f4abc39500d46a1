"""What TTGIR tells of slow code: texts as Triton prints them, and sentences checked by hand."""

import pytest

from tritonscope.ir.links import LineMap, Position
from tritonscope.ir.reasons import Reason, local_memory, reasons

HEAD = """\
#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
#mma1 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 8]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16>, %n: i32, %s: f32) {
    %at = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %limit = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %mask = arith.cmpi slt, %at, %limit : tensor<1024xi32, #blocked>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
    %px = tt.addptr %xs, %at : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
    %ys = tt.splat %y : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
    %py = tt.addptr %ys, %at : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
"""
LOAD = "    %0 = tt.load %px : tensor<1024x!tt.ptr<f16>, #blocked>"
MASKED = "    %0 = tt.load %px, %mask : tensor<1024x!tt.ptr<f16>, #blocked>"
FOUND = ((Position("k.py", 7, 1),),)


def told(*body: str, arch: str = "90", **accesses: list[int]) -> list[Reason]:
    lines = [*HEAD.split("\n")[:-1], *body]
    found = LineMap([()] * (len(lines) - len(body)) + [FOUND] * len(body))
    return reasons(lines, found, {FOUND: accesses}, arch)


def only(*body: str, **accesses: list[int]) -> str:
    (reason,) = told(*body, arch="90", **accesses)
    assert reason.place == ("k.py", 7, 1)
    assert reason.line is not None
    assert reason.line > HEAD.count("\n")
    return reason.text


def test_what_is_as_wide_as_it_can_be_has_no_reason() -> None:
    assert told(LOAD, global_load=[16]) == []
    assert told(LOAD, global_load=[16, 2]) == []
    assert told(LOAD) == []
    small = "    %0 = tt.load %p : tensor<128x!tt.ptr<f16>, #blocked>"  # one element for each thread
    assert told(small, global_load=[2]) == []


def test_a_mask_that_may_end_anywhere() -> None:
    text = only(MASKED, global_load=[2] * 8)
    assert text.startswith("the load takes 2 bytes at a time, of 16 bytes for each thread")
    assert text.endswith("; n in its mask is not known to be divisible by 16")


def test_a_pointer_that_may_be_anywhere() -> None:
    store = "    tt.store %py, %v, %mask : tensor<1024x!tt.ptr<f16>, #blocked>"
    text = only(store, global_store=[2] * 8)
    assert text.startswith("the store takes 2 bytes")
    assert text.endswith("y in its address is not known to be, and n in its mask is not known to be divisible by 16")
    assert told(store, global_load=[2]) == []


def test_addresses_that_were_loaded() -> None:
    body = (
        "    %i = tt.load %pi : tensor<1024x!tt.ptr<i32>, #blocked>",
        "    %q = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>",
        "    %0 = tt.load %q : tensor<1024x!tt.ptr<f16>, #blocked>",
    )
    texts = [reason.text for reason in told(*body, global_load=[2] * 8)]
    assert texts[-1].endswith("; its addresses were loaded themselves")


def test_addresses_that_a_loop_carries_are_followed_to_where_they_began() -> None:
    body = (
        "    %r = scf.for %i = %a to %b step %c iter_args(%p = %py) -> (tensor<1024x!tt.ptr<f16>, #blocked>) : i32 {",
        "      %0 = tt.load %p : tensor<1024x!tt.ptr<f16>, #blocked>",
    )
    assert only(*body, global_load=[2]).endswith("y in its address is not known to be divisible by 16")


def test_a_layout_that_gives_no_more() -> None:
    load = "    %0 = tt.load %p : tensor<64x64x!tt.ptr<f32>, #blocked1>"
    assert only(load, global_load=[4]).endswith(
        "its layout gives a thread 1 element of 4 bytes beside each other, no more"
    )


@pytest.mark.parametrize(
    ("types", "arch", "kind", "said"),
    [
        (
            "64x32xf32, #a * tensor<32x64xf32, #b> -> tensor<64x64xf32, #blocked2>",
            "90",
            "no_tensor_core",
            "precision is ieee",
        ),
        ("4x4xf32, #a * tensor<4x64xf32, #b> -> tensor<4x64xf32, #blocked2>", "gfx942", "no_tensor_core", "below 16"),
        ("16x32xf16, #a * tensor<32x64xf16, #b> -> tensor<16x64xf32, #mma>", "90", "older_tensor_core", "it has 16"),
        ("64x32xf64, #a * tensor<32x64xf64, #b> -> tensor<64x64xf64, #mma>", "90", "older_tensor_core", "no fp64"),
        ("64x32xf16, #a * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>", "100", "older_tensor_core", "tcgen05.mma"),
    ],
)
def test_products(types: str, arch: str, kind: str, said: str) -> None:
    (reason,) = told(f"    %d = tt.dot %a, %b, %c : tensor<{types}", arch=arch)
    assert reason.kind == kind
    assert said in reason.text


@pytest.mark.parametrize(
    ("line", "arch"),
    [
        ("    %d = tt.dot %a, %b, %c : tensor<16x32xf16, #a * tensor<32x64xf16, #b> -> tensor<16x64xf32, #mma>", "80"),
        ("    %d = tt.dot %a, %b, %c : tensor<16x32xf16, #a * tensor<32x64xf16, #b> -> tensor<16x64xf32, #mma>", "120"),
        ("    %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xf16> -> tensor<64x64xf32, #mma1>", "90"),
    ],
)
def test_products_on_the_best_there_is(line: str, arch: str) -> None:
    assert told(line, arch=arch) == []


def test_conversions_count_in_loops_and_where_they_move_something() -> None:
    convert = "      %1 = ttg.convert_layout %0 : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #blocked1>"
    loop = "    scf.for %i = %a to %b step %c  : i32 {"
    text = only(loop, convert, shared_store=[16] * 4, shared_load=[2, 2])
    assert "converts tensor<64x64xf16, #blocked> to tensor<64x64xf16, #blocked1>" in text
    assert text.endswith("its line has 4 shared store and 2 shared load instructions")
    assert told(convert, shared_store=[16]) == []
    assert told(loop, convert, global_load=[16]) == []
    assert told(loop, "    }", convert, shared_store=[16]) == []


def test_lines_that_spill_are_told_the_worst_first() -> None:
    here, there = Position("k.py", 7, 1), Position("k.py", 9, 1)
    found = local_memory(
        [(here, "local_load"), (there, "local_store"), (Position("k.py", 9, 5), "local_load"), (here, "float")]
    )
    assert [(reason.place, reason.text.partition(":")[0]) for reason in found] == [
        (("k.py", 9, 0), "1 local store and 1 local load"),
        (("k.py", 7, 0), "0 local stores and 1 local load"),
    ]
