"""Attention as it is written: the matrix of scores goes out to memory, a softmax over it comes back as weights, and the
weights are multiplied by V. One program does the three steps for a tile of queries, so that one kernel shows them all.
The fused kernels do the same arithmetic without the M x N matrix, which here is written twice and read three times.
"""

import triton
import triton.language as tl
from attention_spec import UnfusedAttention

TRITONSCOPE = {
    "attention_unfused": {
        "name": "attention/unfused",
        "summary": "O = softmax(Q K^T * scale) V per head, with the scores and weights in global memory",
        "signature": (
            "q=*fp16:16, k=*fp16:16, v=*fp16:16, o=*fp16:16, lse=*fp32:16, scores=*fp32:16, scale=fp32, "
            "stride_qh=i32:16, stride_qm=i32:16, stride_kh=i32:16, stride_kn=i32:16, "
            "stride_vh=i32:16, stride_vn=i32:16, stride_oh=i32:16, stride_om=i32:16, "
            "M=i32:16, N=i32:16, HEAD_DIM=128, BLOCK_M=64, BLOCK_N=64, CAUSAL=False, GROUP=1"
        ),
        "options": {"num_warps": 4, "num_stages": 2},
        "spec": "Unfused",
    },
}


class Unfused(UnfusedAttention):
    configs = ({"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4, "num_stages": 2},)


@triton.jit
def write_scores(
    score_rows,
    q_tile,
    k_head,
    stride_kn,
    rows,
    shift,
    in_m,
    N,
    scale,
    BLOCK_N: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """The scaled scores of a tile of queries, -inf where a row does not see the key; returns each row's maximum."""
    dims = tl.arange(0, HEAD_DIM)
    row_max = tl.full((rows.shape[0],), float("-inf"), dtype=tl.float32)
    for n in range(0, N, BLOCK_N):
        keys = n + tl.arange(0, BLOCK_N)
        in_n = keys < N
        k_ptrs = k_head + keys.to(tl.int64)[:, None] * stride_kn + dims[None, :]
        k_tile = tl.load(k_ptrs, mask=in_n[:, None], other=0.0)
        scores = tl.dot(q_tile, k_tile.T) * scale
        seen = in_n[None, :]
        if CAUSAL:
            seen = seen & (keys[None, :] <= rows[:, None] + shift)
        scores = tl.where(seen, scores, float("-inf"))
        tl.store(score_rows + keys[None, :], scores, mask=in_m & in_n[None, :])
        row_max = tl.maximum(row_max, tl.max(scores, 1))
    return row_max


@triton.jit
def soften(score_rows, row_max, in_m, N, BLOCK_N: tl.constexpr):
    """Turn the scores into weights, not yet divided by their sums; returns the sums."""
    row_sum = tl.zeros_like(row_max)
    for n in range(0, N, BLOCK_N):
        keys = n + tl.arange(0, BLOCK_N)
        in_tile = in_m & (keys < N)[None, :]
        scores = tl.load(score_rows + keys[None, :], mask=in_tile, other=float("-inf"))
        weights = tl.exp(scores - row_max[:, None])
        tl.store(score_rows + keys[None, :], weights, mask=in_tile)
        row_sum += tl.sum(weights, 1)
    return row_sum


@triton.jit
def attention_unfused(
    q,
    k,
    v,
    o,
    lse,
    scores,
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

    As `attention`; `scores` is room for [batch * heads, M, N] fp32, and holds unnormalized weights afterwards.
    """
    head = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD_DIM)
    in_m = rows[:, None] < M
    far_rows = rows.to(tl.int64)[:, None]
    q_tile = tl.load(q + head * stride_qh + far_rows * stride_qm + dims[None, :], mask=in_m, other=0.0)
    k_head = k + head // GROUP * stride_kh
    v_head = v + head // GROUP * stride_vh
    score_rows = scores + (head * M + far_rows) * N

    row_max = write_scores(
        score_rows, q_tile, k_head, stride_kn, rows, N - M, in_m, N, scale, BLOCK_N, HEAD_DIM, CAUSAL
    )
    # A row that sees no key has -inf: subtract 0 there, or -inf - -inf gives NaN.
    row_max = tl.where(row_max == float("-inf"), 0.0, row_max)
    # Between the steps other threads of the program read what some have written.
    tl.debug_barrier()
    row_sum = soften(score_rows, row_max, in_m, N, BLOCK_N)
    tl.debug_barrier()

    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    for n in range(0, N, BLOCK_N):
        keys = n + tl.arange(0, BLOCK_N)
        in_n = keys < N
        weights = tl.load(score_rows + keys[None, :], mask=in_m & in_n[None, :], other=0.0)
        v_ptrs = v_head + keys.to(tl.int64)[:, None] * stride_vn + dims[None, :]
        v_tile = tl.load(v_ptrs, mask=in_n[:, None], other=0.0)
        acc = tl.dot(weights.to(v_tile.dtype), v_tile, acc)

    safe_sum = tl.where(row_sum == 0.0, 1.0, row_sum)
    o_ptrs = o + head * stride_oh + far_rows * stride_om + dims[None, :]
    tl.store(o_ptrs, (acc / safe_sum[:, None]).to(o.dtype.element_ty), mask=in_m)
    log_sum = tl.where(row_sum == 0.0, float("-inf"), row_max + tl.log(safe_sum))
    tl.store(lse + head * M + rows, log_sum, mask=rows < M)
