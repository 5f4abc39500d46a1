"""The simplest matmul: a program computes one small tile of C with masked loads. A number that it loads
takes part in only 32 products: A is fetched N/32 times, B M/32 times, and every load is waited for.
"""

import triton
import triton.language as tl
from matmul_spec import Matmul

TRITONSCOPE = {
    "matmul_naive": {
        "name": "matmul/naive",
        "summary": "C = A @ B, one 32 x 32 tile per program: the simplest that is right",
        "signature": (
            "a=*fp16:16, b=*fp16:16, c=*fp16:16, M=i32:16, N=i32:16, K=i32:16, "
            "stride_am=i32:16, stride_ak=1, stride_bk=i32:16, stride_bn=1, stride_cm=i32:16, stride_cn=1, "
            "BLOCK_M=32, BLOCK_N=32, BLOCK_K=32"
        ),
        "options": {"num_warps": 4, "num_stages": 1},
        "spec": "Naive",
        "rung": 1,
    },
}


class Naive(Matmul):
    configs = (
        {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "num_warps": 4, "num_stages": 1},
        {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "num_warps": 4, "num_stages": 1},
    )


@triton.jit
def matmul_naive(
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
    # 64 bits, since a row times its stride may exceed 32.
    rows = (tl.program_id(0) // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = (tl.program_id(0) % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)

    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        ks = k + tl.arange(0, BLOCK_K).to(tl.int64)
        a_mask = (rows[:, None] < M) & (ks[None, :] < K)
        b_mask = (ks[:, None] < K) & (cols[None, :] < N)
        a_tile = tl.load(a + rows[:, None] * stride_am + ks[None, :] * stride_ak, mask=a_mask, other=0.0)
        b_tile = tl.load(b + ks[:, None] * stride_bk + cols[None, :] * stride_bn, mask=b_mask, other=0.0)
        acc = tl.dot(a_tile, b_tile, acc)

    c_mask = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c + rows[:, None] * stride_cm + cols[None, :] * stride_cn, acc.to(c.dtype.element_ty), mask=c_mask)
