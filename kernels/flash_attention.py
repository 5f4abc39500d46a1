"""Attention forward by tiles with an online softmax: the plain pointer version, causal or not, any sequence length.

The recurrence is FlashAttention's (Dao et al., 2022, https://arxiv.org/abs/2205.14135, algorithm 1), kept in base 2:
exp2 is one instruction where exp is two.
"""

import triton
import triton.language as tl

TRITONSCOPE = {
    "attention": {
        "summary": "O = softmax(Q K^T * scale) V per head, fp16 in and out, fp32 accumulation, log-sum-exp kept",
        "signature": (
            "q=*fp16:16, k=*fp16:16, v=*fp16:16, o=*fp16:16, lse=*fp32:16, scale=fp32, "
            "stride_qh=i32:16, stride_qm=i32:16, stride_kh=i32:16, stride_kn=i32:16, "
            "stride_vh=i32:16, stride_vn=i32:16, stride_oh=i32:16, stride_om=i32:16, "
            "M=i32:16, N=i32:16, HEAD_DIM=128, BLOCK_M=128, BLOCK_N=64, CAUSAL=False"
        ),
        "options": {"num_warps": 8, "num_stages": 3},
        "options_for": {"hip": {"num_stages": 2}},
    },
}


@triton.jit
def attend(
    acc,
    row_sum,
    row_max,
    q_tile,
    k_dims,
    v_dims,
    stride_kn,
    stride_vn,
    rows,
    N,
    start,
    stop,
    qk_scale,
    shift,
    BLOCK_N: tl.constexpr,
    MASKED: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """Fold the keys and values [start, stop) into the running (acc, row_sum, row_max) of one tile of queries."""
    for n in range(start, stop, BLOCK_N):
        keys = n + tl.arange(0, BLOCK_N)
        k_ptrs = k_dims + keys.to(tl.int64)[None, :] * stride_kn
        v_ptrs = v_dims + keys.to(tl.int64)[:, None] * stride_vn
        if MASKED:
            k_tile = tl.load(k_ptrs, mask=keys[None, :] < N, other=0.0)
        else:
            k_tile = tl.load(k_ptrs)
        scores = tl.dot(q_tile, k_tile) * qk_scale
        if MASKED:
            seen = keys[None, :] < N
            if CAUSAL:
                seen = seen & (keys[None, :] <= rows[:, None] + shift)
            scores = tl.where(seen, scores, float("-inf"))
        new_max = tl.maximum(row_max, tl.max(scores, 1))
        # A row that has seen no key yet keeps -inf as its maximum: subtract 0 there, or -inf - -inf gives NaN.
        safe_max = tl.where(new_max == float("-inf"), 0.0, new_max)
        weights = tl.math.exp2(scores - safe_max[:, None])
        decay = tl.math.exp2(row_max - safe_max)
        row_sum = row_sum * decay + tl.sum(weights, 1)
        acc = acc * decay[:, None]
        if MASKED:
            v_tile = tl.load(v_ptrs, mask=keys[:, None] < N, other=0.0)
        else:
            v_tile = tl.load(v_ptrs)
        acc = tl.dot(weights.to(v_tile.dtype), v_tile, acc)
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
):
    """BLOCK_M queries of one head per program; launch (cdiv(M, BLOCK_M), batch * heads).

    `q`, `o` are [batch * heads, M, HEAD_DIM], `k`, `v` [batch * heads, N, HEAD_DIM], contiguous in the last dimension;
    `lse` is [batch * heads, M] fp32, the natural log-sum-exp of each row's scaled scores, -inf where it saw no key.
    CAUSAL aligns the last query with the last key: query i sees the keys up to i + N - M.
    """
    head = tl.program_id(1).to(tl.int64)
    first = tl.program_id(0) * BLOCK_M
    rows = first + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD_DIM)
    in_m = rows[:, None] < M
    q_tile = tl.load(
        q + head * stride_qh + rows.to(tl.int64)[:, None] * stride_qm + dims[None, :], mask=in_m, other=0.0
    )
    k_dims = k + head * stride_kh + dims[:, None]
    v_dims = v + head * stride_vh + dims[None, :]

    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    row_sum = tl.zeros((BLOCK_M,), dtype=tl.float32)
    row_max = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    qk_scale = scale * 1.44269504  # log2(e)
    shift = N - M

    # Whole tiles that every row sees need no mask; the rest, the diagonal and the ragged end, are masked.
    if CAUSAL:
        stop = max(min(first + BLOCK_M + shift, N), 0)
        free = max(min(first + shift + 1, N), 0) // BLOCK_N * BLOCK_N
    else:
        stop = N
        free = N // BLOCK_N * BLOCK_N
    acc, row_sum, row_max = attend(
        acc, row_sum, row_max, q_tile, k_dims, v_dims, stride_kn, stride_vn,
        rows, N, 0, free, qk_scale, shift, BLOCK_N, False, CAUSAL,
    )  # fmt: skip
    acc, row_sum, row_max = attend(
        acc, row_sum, row_max, q_tile, k_dims, v_dims, stride_kn, stride_vn,
        rows, N, free, stop, qk_scale, shift, BLOCK_N, True, CAUSAL,
    )  # fmt: skip

    safe_sum = tl.where(row_sum == 0.0, 1.0, row_sum)
    out = acc / safe_sum[:, None]
    tl.store(
        o + head * stride_oh + rows.to(tl.int64)[:, None] * stride_om + dims[None, :],
        out.to(o.dtype.element_ty),
        mask=in_m,
    )
    log_sum = tl.where(row_sum == 0.0, float("-inf"), (row_max + tl.math.log2(safe_sum)) * 0.69314718)  # ln(2)
    tl.store(lse + head * M + rows, log_sum, mask=rows < M)
