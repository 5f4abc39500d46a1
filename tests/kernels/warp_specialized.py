"""A persistent, warp-specialized matmul: compiles for sm_100, and fails in NVGPUWarpSpecialization for sm_90."""

import triton
import triton.language as tl

TRITONSCOPE = {
    "warp_specialized": {
        "summary": "C = A @ B^T through tensor descriptors, the tile loop warp-specialized",
        "signature": (
            "a=tensordesc<fp16[128, 64]>, b=tensordesc<fp16[128, 64]>, c=tensordesc<fp16[128, 128]>, "
            "M=i32:16, N=i32:16, K=i32:16, BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8, PROGRAMS=132"
        ),
        "options": {"num_warps": 4, "num_stages": 3},
    },
}


@triton.jit
def warp_specialized(
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
    PROGRAMS: tl.constexpr,
):
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * tiles_n
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS, warp_specialize=True):
        group = tile // in_group
        first = group * GROUP_M
        rows = min(tiles_m - first, GROUP_M)
        tile_m = first + (tile % rows)
        tile_n = (tile % in_group) // rows
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(tl.cdiv(K, BLOCK_K)):
            a_tile = a.load([tile_m * BLOCK_M, k * BLOCK_K])
            b_tile = b.load([tile_n * BLOCK_N, k * BLOCK_K])
            acc = tl.dot(a_tile, b_tile.T, acc)
        c.store([tile_m * BLOCK_M, tile_n * BLOCK_N], acc.to(tl.float16))
