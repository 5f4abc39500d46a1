"""Over matmul/tma: as many programs as the GPU has multiprocessors, each of which computes tile after tile. The loop
over tiles and the loop over K are flattened into one, so that the loads of the next tile start before this one is
stored. The accumulators are then still held while those loads run, hence the epilogue in EPILOGUE_SUBTILE pieces: a
piece's buffer in shared memory leaves room for the stages of the pipeline.
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
            "a=tensordesc<fp16[128,64]>, b=tensordesc<fp16[64,256]>, c=tensordesc<fp16[128,128]>, "
            "M=i32:16, N=i32:16, K=i32:16, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP_M=8, EPILOGUE_SUBTILE=2"
        ),
        "options": {"num_warps": 8, "num_stages": 3},
        "options_for": {"hip": {"num_stages": 2}},
        "spec": "Persistent",
    },
}


class Persistent(PersistentMatmul):
    configs = (
        {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "EPILOGUE_SUBTILE": 2, "num_warps": 8, "num_stages": 3},
        {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "EPILOGUE_SUBTILE": 4, "num_warps": 8, "num_stages": 4},
        {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "EPILOGUE_SUBTILE": 1, "num_warps": 8, "num_stages": 3},
    )


@triton.jit
def store_tile(c, acc, row, col, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, EPILOGUE_SUBTILE: tl.constexpr):
    """Stores the tile in EPILOGUE_SUBTILE pieces (1, 2 or 4) side by side."""
    if EPILOGUE_SUBTILE == 1:
        c.store([row, col], acc.to(c.dtype))
    else:
        left, right = acc.reshape(BLOCK_M, 2, BLOCK_N // 2).permute(0, 2, 1).split()
        store_tile(c, left, row, col, BLOCK_M, BLOCK_N // 2, EPILOGUE_SUBTILE // 2)
        store_tile(c, right, row, col + BLOCK_N // 2, BLOCK_M, BLOCK_N // 2, EPILOGUE_SUBTILE // 2)


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
    EPILOGUE_SUBTILE: tl.constexpr,
):
    """Every num_programs-th tile per program; c describes blocks of BLOCK_N / EPILOGUE_SUBTILE columns."""
    tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        tile_m, tile_n = tile_of(tile, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        row, col = tile_m * BLOCK_M, tile_n * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(tl.cdiv(K, BLOCK_K)):
            acc = tl.dot(a.load([row, k * BLOCK_K]), b.load([k * BLOCK_K, col]), acc)
        store_tile(c, acc, row, col, BLOCK_M, BLOCK_N, EPILOGUE_SUBTILE)
