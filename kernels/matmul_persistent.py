"""Over matmul/tma: as many programs as the GPU has multiprocessors, each of which computes tile after tile, in the same
order. None waits for a place on a multiprocessor, and the store of a tile is left running into the next one. Still,
each tile fills the pipeline anew: matmul, the top of the ladder, mends that.
"""

import triton
import triton.language as tl
from matmul_grouped import tile_of
from matmul_spec import PersistentMatmul

TRITONSCOPE = {
    "matmul_persistent": {
        "name": "matmul/persistent",
        "summary": "C = A @ B, one program per multiprocessor, tile after tile, with TMA",
        "signature": (
            "a=tensordesc<fp16[128,64]>, b=tensordesc<fp16[64,256]>, c=tensordesc<fp16[128,256]>, "
            "M=i32:16, N=i32:16, K=i32:16, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP_M=8"
        ),
        "options": {"num_warps": 8, "num_stages": 3},
        "options_for": {"sm_120": {"num_stages": 1}, "hip": {"num_stages": 2}},
        "spec": "Persistent",
        "rung": 6,
    },
}


class Persistent(PersistentMatmul):
    configs = (
        {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8, "num_stages": 3},
        {"BLOCK_M": 256, "BLOCK_N": 128, "BLOCK_K": 64, "num_warps": 8, "num_stages": 3},
        {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "num_warps": 8, "num_stages": 4},
    )


@triton.jit
def matmul_persistent(
    a,
    b,
    c,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """Every num_programs-th tile per program; a, b and c are descriptors of such blocks."""
    tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0)):
        tile_m, tile_n = tile_of(tile, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        row, col = tile_m * BLOCK_M, tile_n * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(0, K, BLOCK_K):
            acc = tl.dot(a.load([row, k]), b.load([k, col]), acc)
        c.store([row, col], acc.to(c.dtype))
