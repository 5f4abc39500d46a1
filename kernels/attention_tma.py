"""Over `attention`: the host makes the tensor descriptors and hands them over as parameters, once for all programs and
heads. A program then neither writes descriptors to memory nor waits until the Tensor Memory Accelerator may read them,
which every program of `attention` does before its first tile. They have three dimensions, so that a tile that lies
across the end of one head does not read the next one. Elsewhere than on Hopper and later Triton turns them into
pointers.
"""

import triton
import triton.language as tl
from attention_spec import DescribedAttention

TRITONSCOPE = {
    "attention_tma": {
        "name": "attention/tma",
        "summary": "O = softmax(Q K^T * scale) V per head, tiles by TMA through descriptors made on the host",
        "signature": (
            "q=tensordesc<fp16[1,64,128]>, k=tensordesc<fp16[1,64,128]>, v=tensordesc<fp16[1,64,128]>, "
            "o=tensordesc<fp16[1,64,128]>, lse=*fp32:16, scale=fp32, "
            "M=i32:16, N=i32:16, HEAD_DIM=128, BLOCK_M=64, BLOCK_N=64, CAUSAL=False, GROUP=1"
        ),
        "options": {"num_warps": 4, "num_stages": 3},
        "options_for": {"hip": {"num_stages": 2}},
        "spec": "Described",
    },
}


class Described(DescribedAttention):
    def configs(self, size):
        """As measured on an H200."""
        if size["head_dim"] > 128:
            return [{"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8, "num_stages": 2}]
        if size["head_dim"] > 64:
            wide = {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 4, "num_stages": 2}
            narrow = {"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4, "num_stages": 3}
            return [narrow, wide] if size["causal"] else [wide, narrow]
        return [{"BLOCK_M": 64, "BLOCK_N": 128, "num_warps": 4, "num_stages": 2}]


@triton.jit
def attend(
    acc,
    row_sum,
    row_max,
    q_tile,
    k,
    v,
    kv_head,
    rows,
    N,
    shift,
    start,
    stop,
    qk_scale,
    BLOCK_N: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    CAUSAL: tl.constexpr,
    MASKED: tl.constexpr,
):
    """Take the keys [start, stop) into the sums of weighted values, the sums of weights and the maxima of some rows."""
    for n in range(start, stop, BLOCK_N):
        k_tile = k.load([kv_head, n, 0]).reshape(BLOCK_N, HEAD_DIM)
        scores = tl.dot(q_tile, k_tile.T)
        if MASKED:
            keys = n + tl.arange(0, BLOCK_N)
            seen = keys[None, :] < N
            if CAUSAL:
                seen = seen & (keys[None, :] <= rows[:, None] + shift)
            scores = tl.where(seen, scores, float("-inf"))
        new_max = tl.maximum(row_max, tl.max(scores, 1) * qk_scale)
        weights = tl.math.exp2(scores * qk_scale - new_max[:, None])
        decay = tl.math.exp2(row_max - new_max)
        row_sum = row_sum * decay + tl.sum(weights, 1)
        v_tile = v.load([kv_head, n, 0]).reshape(BLOCK_N, HEAD_DIM)
        acc = tl.dot(weights.to(v_tile.dtype), v_tile, acc * decay[:, None])
        row_max = new_max
    return acc, row_sum, row_max


@triton.jit
def attention_tma(
    q,
    k,
    v,
    o,
    lse,
    scale,
    M,
    N,
    HEAD_DIM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
    GROUP: tl.constexpr = 1,
):
    """BLOCK_M queries of one head per program, launched as `attention` is.

    `q` and `o` are descriptors of blocks [1, BLOCK_M, HEAD_DIM], `k` and `v` of [1, BLOCK_N, HEAD_DIM].
    """
    head = tl.program_id(1)
    tile = tl.program_id(0)
    if CAUSAL:  # the longest first, so that the short ones fill the end
        tile = tl.num_programs(0) - 1 - tile
    first = tile * BLOCK_M
    rows = first + tl.arange(0, BLOCK_M)
    q_tile = q.load([head, first, 0]).reshape(BLOCK_M, HEAD_DIM)

    # Every row sees the keys before `free`, none those from `stop` on.
    shift = N - M
    free = N // BLOCK_N * BLOCK_N
    stop = N
    if CAUSAL:
        free = max(min(first + shift + 1, N), 0) // BLOCK_N * BLOCK_N
        stop = max(min(first + BLOCK_M + shift, N), 0)
    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    row_sum = tl.zeros((BLOCK_M,), dtype=tl.float32)
    # The least finite number, not -inf: a row that has seen no key yet then needs no guard against -inf - -inf.
    row_max = tl.full((BLOCK_M,), -3.4028235e38, dtype=tl.float32)
    acc, row_sum, row_max = attend(
        acc, row_sum, row_max, q_tile, k, v, head // GROUP, rows, N, shift, 0, free,
        scale * 1.44269504, BLOCK_N, HEAD_DIM, CAUSAL, False,  # log2(e)
    )  # fmt: skip
    acc, row_sum, row_max = attend(
        acc, row_sum, row_max, q_tile, k, v, head // GROUP, rows, N, shift, free, stop,
        scale * 1.44269504, BLOCK_N, HEAD_DIM, CAUSAL, True,
    )  # fmt: skip

    safe_sum = tl.where(row_sum == 0.0, 1.0, row_sum)
    out = (acc / safe_sum[:, None]).to(o.dtype)
    o.store([head, first, 0], out.reshape(1, BLOCK_M, HEAD_DIM))
    log_sum = tl.where(row_sum == 0.0, float("-inf"), (row_max + tl.math.log2(safe_sum)) * 0.69314718)  # ln(2)
    tl.store(lse + head.to(tl.int64) * M + rows, log_sum, mask=rows < M)
