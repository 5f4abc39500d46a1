"""Over matmul/naive: tiles of 128 x 128, with which each number that a program loads takes part in 128 products
instead of 32, and which fill the matrix units' instructions (wgmma on Hopper). Rows and columns beyond the matrix
wrap around instead of being masked, so that the loop over K compares only K. One stage: each iteration still waits
for its own loads.
"""

import triton
import triton.language as tl
from matmul_spec import Matmul

TRITONSCOPE = {
    "matmul_tiled": {
        "name": "matmul/tiled",
        "summary": "C = A @ B, one 128 x 128 tile per program, no pipelining",
        "signature": (
            "a=*fp16:16, b=*fp16:16, c=*fp16:16, M=i32:16, N=i32:16, K=i32:16, "
            "stride_am=i32:16, stride_ak=1, stride_bk=i32:16, stride_bn=1, stride_cm=i32:16, stride_cn=1, "
            "BLOCK_M=128, BLOCK_N=128, BLOCK_K=64"
        ),
        "options": {"num_warps": 8, "num_stages": 1},
        "spec": "Tiled",
        "rung": 2,
    },
}


class Tiled(Matmul):
    configs = (
        {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "num_warps": 8, "num_stages": 1},
        {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "num_warps": 4, "num_stages": 1},
        {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8, "num_stages": 1},
    )


@triton.jit
def matmul_tiled(
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
):
    """One BLOCK_M x BLOCK_N tile of C per program, row after row of tiles."""
    tiles_n = tl.cdiv(N, BLOCK_N)
    tile_m, tile_n = tl.program_id(0) // tiles_n, tl.program_id(0) % tiles_n
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
