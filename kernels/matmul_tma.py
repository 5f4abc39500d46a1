"""Over matmul/pipelined: tensor descriptors, made on the host, instead of pointers. On Hopper and later the Tensor
Memory Accelerator copies a whole tile for one instruction of one thread: no thread computes addresses or masks, or
holds them in registers, and what lies beyond the tensor arrives as zeros and is not stored. TMA asks for a contiguous
last axis and other strides that are multiples of 16 bytes: the spec pads rows to that. Elsewhere Triton turns the
descriptors back into pointers.
"""

import triton
import triton.language as tl
from matmul_grouped import tile_of
from matmul_spec import DescribedMatmul

TRITONSCOPE = {
    "matmul_tma": {
        "name": "matmul/tma",
        "summary": "C = A @ B through tensor descriptors: TMA loads and stores whole tiles",
        "signature": (
            "a=tensordesc<fp16[128,64]>, b=tensordesc<fp16[64,256]>, c=tensordesc<fp16[128,256]>, "
            "M=i32:16, N=i32:16, K=i32:16, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP_M=16"
        ),
        "options": {"num_warps": 8, "num_stages": 3},
        "options_for": {"hip": {"num_stages": 2}},
        "spec": "Described",
        "rung": 5,
    },
}


class Described(DescribedMatmul):
    configs = (
        {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 16, "num_warps": 8, "num_stages": 3},
        {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 16, "num_warps": 8, "num_stages": 4},
        {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8, "num_warps": 4, "num_stages": 3},
    )


@triton.jit
def matmul_tma(
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
    """One BLOCK_M x BLOCK_N tile of C per program; a, b and c are descriptors of such blocks."""
    tile_m, tile_n = tile_of(tl.program_id(0), M, N, BLOCK_M, BLOCK_N, GROUP_M)
    row, col = tile_m * BLOCK_M, tile_n * BLOCK_N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        acc = tl.dot(a.load([row, k]), b.load([k, col]), acc)
    c.store([row, col], acc.to(c.dtype))
