"""Occupancy: what an H200's driver said of kernels that ran there, and the table's shape."""

import pytest

from tritonscope.occupancy import LIMITS, occupancy, occupancy_of

# Registers, threads and shared memory of bundled kernels that Triton 3.6 compiled, and the blocks and warps on a
# multiprocessor that cuOccupancyMaxActiveBlocksPerMultiprocessor gave for them: benchmarks/run.json.
ON_AN_H200 = [
    ("matmul/naive", 48, 128, 4096, 1, 10, 40),
    ("matmul/tiled", 122, 256, 32768, 1, 2, 16),
    ("matmul/pipelined", 172, 256, 122880, 1, 1, 8),
    ("matmul/warp_specialized", 168, 384, 213464, 4, 1, 12),
    ("attention, 64 x 128", 167, 128, 74752, 1, 3, 12),
    ("attention, 128 x 64", 255, 128, 98336, 1, 2, 8),
    ("attention, 64 x 64", 143, 128, 115712, 1, 2, 8),
]


@pytest.mark.parametrize(("kernel", "registers", "threads", "shared", "barriers", "blocks", "warps"), ON_AN_H200)
def test_it_is_what_the_driver_said(
    kernel: str, registers: int, threads: int, shared: int, barriers: int, blocks: int, warps: int
) -> None:
    found = occupancy("90", registers, threads, shared, barriers)
    assert found is not None
    assert (found.blocks, found.warps, found.of) == (blocks, warps, 64)


@pytest.mark.parametrize("arch", LIMITS)
def test_what_would_let_one_more_in_does_just_that(arch: str) -> None:
    for registers in (32, 64, 90, 128, 168):
        for shared in (1000, 20_000, 40_000):
            found = occupancy(arch, registers, 128, shared)
            assert found is not None
            more = found.blocks + 1
            if found.next_registers is not None and found.next_shared is not None:
                fits = occupancy(arch, found.next_registers, 128, found.next_shared)
                assert fits is not None
                assert fits.blocks >= more
                for registers_over, shared_over in ((1, 0), (0, 1)):
                    over = occupancy(arch, found.next_registers + registers_over, 128, found.next_shared + shared_over)
                    assert over is not None
                    assert over.blocks < more


def test_every_resource_can_be_what_limits() -> None:
    def limits(*needs: int) -> tuple[str, ...]:
        found = occupancy("100", *needs)
        assert found is not None
        return found.limited_by

    assert limits(255, 128, 0) == ("registers",)
    assert limits(32, 128, 100_000) == ("shared memory",)
    assert limits(32, 1024, 0) == ("registers", "warps")
    assert limits(16, 32, 0) == ("blocks",)
    assert limits(16, 128, 0, 16) == ("barriers",)
    assert limits(16, 128, 0, 1, 256) == ("tensor memory",)


def test_a_block_that_cannot_run_at_all() -> None:
    found = occupancy("90", 128, 1024, 0)
    assert found is not None
    assert found.blocks == 0
    assert found.limited_by == ("registers",)
    assert occupancy("90", 32, 2048, 0) is None


def test_captures_that_do_not_say_enough_have_none() -> None:
    enough = {"registers": 64, "threads": 128, "shared": 0}
    assert occupancy_of("sm_90", enough) is not None
    assert occupancy_of("gfx942", enough) is None
    assert occupancy_of("sm_35", enough) is None
    for missing in enough:
        assert occupancy_of("sm_90", enough | {missing: None}) is None
