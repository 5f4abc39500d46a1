"""Attention forward by tiles with an online softmax, causal or not, any sequence lengths, grouped query heads.

The recurrence is FlashAttention's (Dao et al., 2022, https://arxiv.org/abs/2205.14135, algorithm 1), kept in base 2:
exp2 is one instruction where exp is two, and the scale joins the subtraction of the maximum in one multiply-add. The
keys that a whole tile of queries sees come first, in a loop without masks; those at the end of the sequence, or on the
diagonal of a causal mask, follow in a second one. Tiles move by tensor descriptors, which each program makes for its
head: on Hopper and later the Tensor Memory Accelerator copies them, and what lies beyond the last key arrives as zeros;
elsewhere Triton turns them into masked loads. TMA asks for rows that start at multiples of 16 bytes.
"""

import triton
import triton.language as tl
from attention_spec import Attention

TRITONSCOPE = {
    "attention": {
        "summary": "O = softmax(Q K^T * scale) V per head, fp16 in and out, fp32 accumulation, log-sum-exp kept",
        "signature": (
            "q=*fp16:16, k=*fp16:16, v=*fp16:16, o=*fp16:16, lse=*fp32:16, scale=fp32, "
            "stride_qh=i32:16, stride_qm=i32:16, stride_kh=i32:16, stride_kn=i32:16, "
            "stride_vh=i32:16, stride_vn=i32:16, stride_oh=i32:16, stride_om=i32:16, "
            "M=i32:16, N=i32:16, HEAD_DIM=128, BLOCK_M=64, BLOCK_N=64, CAUSAL=False, GROUP=1"
        ),
        "options": {"num_warps": 4, "num_stages": 3},
        "options_for": {"hip": {"num_stages": 2}},
        "spec": "Forward",
    },
}


class Forward(Attention):
    def configs(self, size):
        """As measured on an H200."""
        if size["head_dim"] > 128:
            return [{"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8, "num_stages": 2}]
        if size["head_dim"] > 64:
            wide = {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 4, "num_stages": 2}
            narrow = {"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4, "num_stages": 3}
            return [narrow, wide] if size["causal"] else [wide, narrow]
        return [
            {"BLOCK_M": 64, "BLOCK_N": 128, "num_warps": 4, "num_stages": 2},
            {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8, "num_stages": 3},
        ]


@triton.jit
def attend(
    acc,
    row_sum,
    row_max,
    q_tile,
    k_desc,
    v_desc,
    rows,
    N,
    shift,
    start,
    stop,
    qk_scale,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
    MASKED: tl.constexpr,
):
    """Take the keys [start, stop) into the sums of weighted values, the sums of weights and the maxima of some rows."""
    for n in range(start, stop, BLOCK_N):
        scores = tl.dot(q_tile, k_desc.load([n, 0]).T)
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
        v_tile = v_desc.load([n, 0])
        acc = tl.dot(weights.to(v_tile.dtype), v_tile, acc * decay[:, None])
        row_max = new_max
    return acc, row_sum, row_max


@triton.jit
def attention(
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
    """BLOCK_M queries of one head per program; launch (cdiv(M, BLOCK_M), batch * heads).

    `q`, `o` are [batch * heads, M, HEAD_DIM], `k`, `v` [batch * heads // GROUP, N, HEAD_DIM], contiguous in the last
    dimension; GROUP query heads share one head of keys and values. `scale` is positive. `lse` is [batch * heads, M]
    fp32, the natural log-sum-exp of each row's scaled scores, -inf where it saw no key. CAUSAL aligns the last query
    with the last key: query i sees the keys up to i + N - M.
    """
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
    qk_scale = scale * 1.44269504  # log2(e)
    acc, row_sum, row_max = attend(
        acc, row_sum, row_max, q_tile, k_desc, v_desc, rows, N, shift, 0, free, qk_scale, BLOCK_N, CAUSAL, False
    )
    acc, row_sum, row_max = attend(
        acc, row_sum, row_max, q_tile, k_desc, v_desc, rows, N, shift, free, stop, qk_scale, BLOCK_N, CAUSAL, True
    )

    safe_sum = tl.where(row_sum == 0.0, 1.0, row_sum)
    o_ptrs = o + head * stride_oh + rows.to(tl.int64)[:, None] * stride_om + dims[None, :]
    tl.store(o_ptrs, (acc / safe_sum[:, None]).to(o.dtype.element_ty), mask=rows[:, None] < M)
    log_sum = tl.where(row_sum == 0.0, float("-inf"), (row_max + tl.math.log2(safe_sum)) * 0.69314718)  # ln(2)
    tl.store(lse + head * M + rows, log_sum, mask=rows < M)
