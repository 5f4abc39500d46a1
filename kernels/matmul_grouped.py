"""Over matmul/tiled: the order of the tiles. Programs that run at the same time compute tiles of GROUP_M rows and few
columns instead of whole rows of tiles, and so read fewer distinct tiles of A and B between them: more of their loads
are found in the L2 cache.
"""

import triton
import triton.language as tl
from matmul_spec import Matmul

TRITONSCOPE = {
    "matmul_grouped": {
        "name": "matmul/grouped",
        "summary": "C = A @ B, tiles in groups of rows, so that the L2 cache is used",
        "signature": (
            "a=*fp16:16, b=*fp16:16, c=*fp16:16, M=i32:16, N=i32:16, K=i32:16, "
            "stride_am=i32:16, stride_ak=1, stride_bk=i32:16, stride_bn=1, stride_cm=i32:16, stride_cn=1, "
            "BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8"
        ),
        "options": {"num_warps": 8, "num_stages": 1},
        "spec": "Grouped",
        "rung": 3,
    },
}


class Grouped(Matmul):
    configs = (
        {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8, "num_warps": 8, "num_stages": 1},
        {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 4, "num_warps": 8, "num_stages": 1},
        {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 16, "num_warps": 8, "num_stages": 1},
    )


@triton.jit
def tile_of(pid, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """The (row, column) of tile number `pid`: GROUP_M rows of tiles at a time, so that B's tiles stay in L2."""
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    tiles_in_group = GROUP_M * tiles_n
    first_m = (pid // tiles_in_group) * GROUP_M
    rows_in_group = min(tiles_m - first_m, GROUP_M)
    within = pid % tiles_in_group
    return first_m + within % rows_in_group, within // rows_in_group


@triton.jit
def matmul_grouped(
    a,
    b,
    c,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """One BLOCK_M x BLOCK_N tile of C per program; launch cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N) of them."""
    tile_m, tile_n = tile_of(tl.program_id(0), M, N, BLOCK_M, BLOCK_N, GROUP_M)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    # Wrapped rows and columns load real numbers that the masked store drops: no mask on M and N in the loop.
    a_rows = (rows % M).to(tl.int64)
    b_cols = (cols % N).to(tl.int64)
    ks = tl.arange(0, BLOCK_K)
    a_ptrs = a + a_rows[:, None] * stride_am + ks[None, :] * stride_ak
    b_ptrs = b + ks[:, None] * stride_bk + b_cols[None, :] * stride_bn

    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        a_tile = tl.load(a_ptrs, mask=ks[None, :] < left, other=0.0)
        b_tile = tl.load(b_ptrs, mask=ks[:, None] < left, other=0.0)
        acc = tl.dot(a_tile, b_tile, acc)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk

    c_ptrs = c + rows.to(tl.int64)[:, None] * stride_cm + cols.to(tl.int64)[None, :] * stride_cn
    tl.store(c_ptrs, acc.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (cols[None, :] < N))
