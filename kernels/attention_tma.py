"""Over `attention`: tensor descriptors, made by each program, instead of pointers. On Hopper and later the Tensor
Memory Accelerator copies a whole tile for one instruction of one thread: no thread computes addresses or masks, or
holds them in registers, and what lies beyond the last key arrives as zeros. TMA asks for rows that start at multiples
of 16 bytes. Elsewhere Triton turns the descriptors back into pointers.
"""

import triton
import triton.language as tl
from attention_spec import Attention

TRITONSCOPE = {
    "attention_tma": {
        "name": "attention/tma",
        "summary": "O = softmax(Q K^T * scale) V per head, tiles of Q, K and V by TMA",
        "signature": (
            "q=*fp16:16, k=*fp16:16, v=*fp16:16, o=*fp16:16, lse=*fp32:16, scale=fp32, "
            "stride_qh=i32:16, stride_qm=i32:16, stride_kh=i32:16, stride_kn=i32:16, "
            "stride_vh=i32:16, stride_vn=i32:16, stride_oh=i32:16, stride_om=i32:16, "
            "M=i32:16, N=i32:16, HEAD_DIM=128, BLOCK_M=128, BLOCK_N=128, CAUSAL=False, GROUP=1"
        ),
        "options": {"num_warps": 8, "num_stages": 3},
        "options_for": {"hip": {"num_stages": 2}},
        "spec": "Described",
    },
}


class Described(Attention):
    def configs(self, size):
        if size["head_dim"] > 128:
            return [{"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8, "num_stages": 2}]
        return [
            {"BLOCK_M": 128, "BLOCK_N": 128, "num_warps": 8, "num_stages": 3},
            {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8, "num_stages": 4},
        ]


@triton.jit
def attend(
    q_tile,
    k_desc,
    v_desc,
    rows,
    N,
    shift,
    tiles,
    free,
    qk_scale,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """(sums of weighted values, sums of weights, maxima) of a tile of queries over tiles of keys, last to first.

    The first `free` tiles are seen by every row in full.
    """
    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    row_sum = tl.zeros((BLOCK_M,), dtype=tl.float32)
    # The least finite number, not -inf: a row that has seen no key yet then needs no guard against -inf - -inf.
    row_max = tl.full((BLOCK_M,), -3.4028235e38, dtype=tl.float32)
    decay = tl.full((BLOCK_M,), 1.0, dtype=tl.float32)
    # The weights of the tile before, as bits: an operand that is a bare loop variable would go through shared memory.
    weights = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int16)
    for i in range(tiles):
        n = (tiles - 1 - i) * BLOCK_N
        scores = tl.dot(q_tile, k_desc.load([n, 0]).T)
        # At the first tile this lies beyond the end and is all zeros, as the weights are.
        v_tile = v_desc.load([n + BLOCK_N, 0])
        acc = tl.dot(weights.to(v_tile.dtype, bitcast=True), v_tile, acc * decay[:, None])
        if i < tiles - free:
            keys = n + tl.arange(0, BLOCK_N)
            seen = keys[None, :] < N
            if CAUSAL:
                seen = seen & (keys[None, :] <= rows[:, None] + shift)
            scores = tl.where(seen, scores, float("-inf"))
        new_max = tl.maximum(row_max, tl.max(scores, 1) * qk_scale)
        exps = tl.math.exp2(scores * qk_scale - new_max[:, None])
        decay = tl.math.exp2(row_max - new_max)
        row_sum = row_sum * decay + tl.sum(exps, 1)
        weights = exps.to(v_tile.dtype).to(tl.int16, bitcast=True)
        row_max = new_max
    v_tile = v_desc.load([0, 0])
    acc = tl.dot(weights.to(v_tile.dtype, bitcast=True), v_tile, acc * decay[:, None])
    return acc, row_sum, row_max


@triton.jit
def attention_tma(
    q,
    k,
    v,
    o,
    lse,
    scale,
    stride_qh,
    stride_qm,
    stride_kh,
    stride_kn,
    stride_vh,
    stride_vn,
    stride_oh,
    stride_om,
    M,
    N,
    HEAD_DIM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
    GROUP: tl.constexpr = 1,
):
    """BLOCK_M queries of one head per program, launched and called as `attention` is."""
    head = tl.program_id(1).to(tl.int64)
    tile = tl.program_id(0)
    if CAUSAL:  # the longest first, so that the short ones fill the end
        tile = tl.num_programs(0) - 1 - tile
    first = tile * BLOCK_M
    rows = first + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD_DIM)
    k_head = k + head // GROUP * stride_kh
    v_head = v + head // GROUP * stride_vh
    q_desc = tl.make_tensor_descriptor(q + head * stride_qh, [M, HEAD_DIM], [stride_qm, 1], [BLOCK_M, HEAD_DIM])
    k_desc = tl.make_tensor_descriptor(k_head, [N, HEAD_DIM], [stride_kn, 1], [BLOCK_N, HEAD_DIM])
    v_desc = tl.make_tensor_descriptor(v_head, [N, HEAD_DIM], [stride_vn, 1], [BLOCK_N, HEAD_DIM])
    q_tile = q_desc.load([first, 0])

    shift = N - M
    stop = N
    free = N // BLOCK_N
    if CAUSAL:
        stop = max(min(first + BLOCK_M + shift, N), 0)
        free = max(min(first + shift + 1, N), 0) // BLOCK_N
    acc, row_sum, row_max = attend(
        q_tile, k_desc, v_desc, rows, N, shift, tl.cdiv(stop, BLOCK_N), free,
        scale * 1.44269504, BLOCK_M, BLOCK_N, HEAD_DIM, CAUSAL,  # log2(e)
    )  # fmt: skip

    safe_sum = tl.where(row_sum == 0.0, 1.0, row_sum)
    o_ptrs = o + head * stride_oh + rows.to(tl.int64)[:, None] * stride_om + dims[None, :]
    tl.store(o_ptrs, (acc / safe_sum[:, None]).to(o.dtype.element_ty), mask=rows[:, None] < M)
    log_sum = tl.where(row_sum == 0.0, float("-inf"), (row_max + tl.math.log2(safe_sum)) * 0.69314718)  # ln(2)
    tl.store(lse + head * M + rows, log_sum, mask=rows < M)
