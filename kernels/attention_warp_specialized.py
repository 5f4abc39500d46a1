"""Over `attention`: the loop over keys is warp-specialized. On Hopper the compiler gives the loads to warps of their
own and splits the queries between two groups of warps that run free of each other, so that the softmax of one overlaps
the products of the other; it is asked for by `warp_specialize=True` and takes 4 warps, a loop without branches and one
such loop in a program, so every tile is masked. Blackwell has a pass of its own for it. Elsewhere the request is
ignored, and the loop runs as it is written.
"""

import triton
import triton.language as tl
from attention_spec import Attention

TRITONSCOPE = {
    "attention_warp_specialized": {
        "name": "attention/warp_specialized",
        "summary": "O = softmax(Q K^T * scale) V per head, loads and products by different warps",
        "signature": (
            "q=*fp16:16, k=*fp16:16, v=*fp16:16, o=*fp16:16, lse=*fp32:16, scale=fp32, "
            "stride_qh=i32:16, stride_qm=i32:16, stride_kh=i32:16, stride_kn=i32:16, "
            "stride_vh=i32:16, stride_vn=i32:16, stride_oh=i32:16, stride_om=i32:16, "
            "M=i32:16, N=i32:16, HEAD_DIM=128, BLOCK_M=128, BLOCK_N=128, CAUSAL=False, GROUP=1"
        ),
        "options": {"num_warps": 4, "num_stages": 2},
        "spec": "Specialized",
    },
}


class Specialized(Attention):
    def configs(self, size):
        if size["head_dim"] > 128:
            return [{"BLOCK_M": 128, "BLOCK_N": 32, "num_warps": 4, "num_stages": 2}]
        return [{"BLOCK_M": 128, "BLOCK_N": 128, "num_warps": 4, "num_stages": 2}]


@triton.jit
def attention_warp_specialized(
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
    in_tile = tl.arange(0, BLOCK_N)
    dims = tl.arange(0, HEAD_DIM)
    k_head = k + head // GROUP * stride_kh
    v_head = v + head // GROUP * stride_vh
    q_desc = tl.make_tensor_descriptor(q + head * stride_qh, [M, HEAD_DIM], [stride_qm, 1], [BLOCK_M, HEAD_DIM])
    k_desc = tl.make_tensor_descriptor(k_head, [N, HEAD_DIM], [stride_kn, 1], [BLOCK_N, HEAD_DIM])
    v_desc = tl.make_tensor_descriptor(v_head, [N, HEAD_DIM], [stride_vn, 1], [BLOCK_N, HEAD_DIM])
    # Not `first` itself: for the second group of warps Triton, 3.6 to 3.9, adds BLOCK_M / 2 to the row that descriptors
    # are read at, and does so wherever that value is used: `rows`, split by themselves, would lie that much too far.
    q_tile = q_desc.load([tl.minimum(first, M), 0])

    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    row_sum = tl.zeros((BLOCK_M,), dtype=tl.float32)
    # The least finite number, not -inf: a row that has seen no key yet then needs no guard against -inf - -inf.
    row_max = tl.full((BLOCK_M,), -3.4028235e38, dtype=tl.float32)
    qk_scale = scale * 1.44269504  # log2(e)
    shift = N - M
    stop = N
    if CAUSAL:
        stop = max(min(first + BLOCK_M + shift, N), 0)
    for n in tl.range(0, stop, BLOCK_N, warp_specialize=True):
        scores = tl.dot(q_tile, k_desc.load([n, 0]).T)
        if CAUSAL:
            seen = in_tile[None, :] < tl.minimum(rows + shift + 1 - n, N - n)[:, None]
            scores = tl.where(seen, scores, float("-inf"))
        else:
            scores += tl.where(in_tile < N - n, 0.0, float("-inf"))[None, :]
        new_max = tl.maximum(row_max, tl.max(scores, 1) * qk_scale)
        exps = tl.math.exp2(scores * qk_scale - new_max[:, None])
        decay = tl.math.exp2(row_max - new_max)
        row_sum = row_sum * decay + tl.sum(exps, 1)
        v_tile = v_desc.load([n, 0])
        acc = tl.dot(exps.to(v_tile.dtype), v_tile, acc * decay[:, None])
        row_max = new_max

    safe_sum = tl.where(row_sum == 0.0, 1.0, row_sum)
    o_ptrs = o + head * stride_oh + rows.to(tl.int64)[:, None] * stride_om + dims[None, :]
    tl.store(o_ptrs, (acc / safe_sum[:, None]).to(o.dtype.element_ty), mask=rows[:, None] < M)
    log_sum = tl.where(row_sum == 0.0, float("-inf"), (row_max + tl.math.log2(safe_sum)) * 0.69314718)  # ln(2)
    tl.store(lse + head * M + rows, log_sum, mask=rows < M)
