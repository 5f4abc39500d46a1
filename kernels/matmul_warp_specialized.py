"""Over matmul/persistent: warps with roles. warp_specialize=True makes the compiler split the loop: one warp group
only starts TMA copies, two others only multiply, each half of the tile's rows, and they meet at barriers in shared
memory instead of waiting for each other's instructions; registers move from the first to the others. On Hopper that
pass takes 4 warps, which are those of one role, cuts the store of C in two, and does not yet cut descriptors that
come from the host: here each program makes its own, for which the launch needs a scratch allocator. On Blackwell
another pass splits the loop, differently, and in Triton 3.6 only with FLATTEN=True, with which Hopper's leaves it
whole; elsewhere the hint does nothing. Hopper's pass fails where no loop over K is left, as with a K known to be 1:
hence do_not_specialize.
"""

import triton
import triton.language as tl
from matmul_grouped import tile_of
from matmul_spec import SpecializedMatmul

TRITONSCOPE = {
    "matmul_warp_specialized": {
        "name": "matmul/warp_specialized",
        "summary": "C = A @ B, persistent, with warps that load and warps that multiply",
        "signature": (
            "a=*fp16:16, b=*fp16:16, c=*fp16:16, M=i32:16, N=i32:16, K=i32, "
            "stride_am=i32:16, stride_bk=i32:16, stride_cm=i32:16, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP_M=16, "
            "FLATTEN=False"
        ),
        "options": {"num_warps": 4, "num_stages": 3},
        "options_for": {"sm_80": {"num_warps": 8}, "hip": {"num_warps": 8, "num_stages": 2}},
        "spec": "Specialized",
        "rung": 7,
    },
}


class Specialized(SpecializedMatmul):
    configs = (
        {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 16, "num_warps": 4, "num_stages": 3},
        {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 4, "num_warps": 4, "num_stages": 3},
        {"BLOCK_M": 256, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8, "num_warps": 4, "num_stages": 3},
    )


@triton.jit(do_not_specialize=["K"])
def matmul_warp_specialized(
    a,
    b,
    c,
    M,
    N,
    K,
    stride_am,
    stride_bk,
    stride_cm,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    FLATTEN: tl.constexpr,
):
    """Every num_programs-th tile per program; rows are contiguous, and their strides multiples of 16 bytes."""
    a_tiles = tl.make_tensor_descriptor(a, [M, K], [stride_am, 1], [BLOCK_M, BLOCK_K])
    b_tiles = tl.make_tensor_descriptor(b, [K, N], [stride_bk, 1], [BLOCK_K, BLOCK_N])
    c_tiles = tl.make_tensor_descriptor(c, [M, N], [stride_cm, 1], [BLOCK_M, BLOCK_N])
    tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=FLATTEN, warp_specialize=True):
        tile_m, tile_n = tile_of(tile, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        row, col = tile_m * BLOCK_M, tile_n * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(tl.cdiv(K, BLOCK_K)):
            acc = tl.dot(a_tiles.load([row, k * BLOCK_K]), b_tiles.load([k * BLOCK_K, col]), acc)
        c_tiles.store([row, col], acc.to(c.dtype.element_ty))
