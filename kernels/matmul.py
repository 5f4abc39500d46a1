"""C = A @ B, the matmul to take: fp16, bf16, fp32 (as tf32) or fp8, each operand as it is or transposed in memory.

As many programs as the GPU has multiprocessors compute tile after tile through tensor descriptors, as in
matmul/persistent. Over that, the loop over tiles and the loop over K are flattened into one: the loads of the next tile
start before this one is stored. Its accumulators are then still held while those loads run, hence the store in
EPILOGUE_SUBTILE pieces: a piece's buffer in shared memory leaves room for the stages of the pipeline.

wgmma, Hopper's instruction, takes 16-bit operands in any order, but tf32 and fp8 from shared memory only where K is the
contiguous axis, as in A @ B.T of row-major matrices. Its first operand may come from registers, though, which the
threads fill in any order. So an A that lies the other way goes through registers, and where B does, SWAP has
C.T = B.T @ A.T computed. Only where both do (layout tn) is a tile turned in shared memory, and that is slow. On Hopper
fp8 sums stay in the matrix unit, as in cuBLAS with fast accumulation.
"""

from typing import ClassVar

import triton
import triton.language as tl
from matmul_grouped import tile_of
from matmul_spec import AnyMatmul

TRITONSCOPE = {
    "matmul": {
        "summary": "C[M, N] = A[M, K] @ B[K, N] in fp16, bf16, tf32 or fp8, persistent, with TMA: the one to take",
        "signature": (
            "a=tensordesc<fp16[128,64]>, b=tensordesc<fp16[64,256]>, c=tensordesc<fp16[128,128]>, "
            "M=i32:16, N=i32:16, K=i32:16, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP_M=16, EPILOGUE_SUBTILE=2, "
            "A_T=False, B_T=False, SWAP=False"
        ),
        "options": {"num_warps": 8, "num_stages": 3},
        "options_for": {"sm_120": {"num_stages": 2}, "hip": {"num_stages": 2}},
        "spec": "Best",
        "rung": 8,
    },
}


class Best(AnyMatmul):
    # Of tiles of 128 x 256, on an H200: GROUP_M, EPILOGUE_SUBTILE and num_stages, the fastest first.
    wide: ClassVar = {
        "fp16": ((16, 2, 3), (4, 2, 3), (16, 4, 4)),
        "bf16": ((16, 2, 3), (4, 2, 3), (16, 4, 4)),
        "fp32": ((8, 4, 3),),
        "fp8e4m3": ((8, 4, 4), (8, 2, 3)),
        "fp8e5m2": ((8, 4, 4), (8, 2, 3)),
    }

    def configs(self, size):
        wide = [self.config(size, 128, 256, *each) for each in self.wide[size["dtype"]]]
        square, small = self.config(size, 128, 128, 8, 1, 4), self.config(size, 64, 128, 8, 1, 4, warps=4)
        # Tiles in the longest-running program by time of each; square ones took 1.1 times as long for their area.
        times = [
            *((self.rounds(size, each) * 128 * 256, each) for each in wide),
            (self.rounds(size, square) * 128 * 128 * 1.1, square),
            (self.rounds(size, small) * 64 * 128 * 1.4, small),
        ]
        return [each for _, each in sorted(times, key=lambda time: time[0])]

    def config(self, size, rows, columns, group, pieces, stages, warps=8):
        """`rows` and `columns` are those of the tile that is computed, of C or of C.T."""
        block_m, block_n = (columns, rows) if self.swapped(size) else (rows, columns)
        return {
            "BLOCK_M": block_m,
            "BLOCK_N": block_n,
            "BLOCK_K": self.block_k(size),
            "GROUP_M": group,
            "EPILOGUE_SUBTILE": pieces,
            "num_warps": warps,
            "num_stages": stages,
        }


@triton.jit
def store_tile(c, acc, row, col, PIECES: tl.constexpr, SWAP: tl.constexpr):
    """Stores a tile of C, or with SWAP of C.T, in PIECES (1, 2 or 4): halves of its columns, and halves of those."""
    if PIECES == 1:
        c.store([row, col], (acc.T if SWAP else acc).to(c.dtype))
    else:
        half: tl.constexpr = acc.shape[1] // 2
        first, second = acc.reshape(acc.shape[0], 2, half).permute(0, 2, 1).split()
        store_tile(c, first, row, col, PIECES // 2, SWAP)
        if SWAP:
            store_tile(c, second, row + half, col, PIECES // 2, SWAP)
        else:
            store_tile(c, second, row, col + half, PIECES // 2, SWAP)


@triton.jit
def through_registers(tile):
    """The same tile, but not straight from a load: such an operand of a product Triton leaves in registers."""
    bits: tl.constexpr = tl.int8 if tile.dtype.primitive_bitwidth == 8 else tl.int32
    return tile.to(bits, bitcast=True).to(tile.dtype, bitcast=True)


@triton.jit
def matmul(
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
    A_T: tl.constexpr,
    B_T: tl.constexpr,
    SWAP: tl.constexpr,
):
    """Every num_programs-th tile of C per program.

    a, b and c describe tensors as they lie in memory, in blocks of BLOCK_M x BLOCK_K, BLOCK_K x BLOCK_N and a piece of
    the tile; A_T and B_T say that A or B lies transposed, with its block turned likewise.
    """
    tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        tile_m, tile_n = tile_of(tile, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        row, col = tile_m * BLOCK_M, tile_n * BLOCK_N
        acc = tl.zeros((BLOCK_N, BLOCK_M) if SWAP else (BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(0, K, BLOCK_K):
            a_tile = a.load([k, row]).T if A_T else a.load([row, k])
            b_tile = b.load([col, k]).T if B_T else b.load([k, col])
            first, second = (b_tile.T, a_tile.T) if SWAP else (a_tile, b_tile)
            if (SWAP or A_T) and first.dtype.primitive_bitwidth != 16:
                first = through_registers(first)
            acc = tl.dot(first, second, acc)
        store_tile(c, acc, row, col, EPILOGUE_SUBTILE, SWAP)
