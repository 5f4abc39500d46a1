"""The gradients of attention, in one launch: some programs each take a tile of keys and sum dk and dv over the queries
that see it, the others each take a tile of queries and sum dq over the keys. The scores are computed anew from lse in
both (Dao, 2022, https://arxiv.org/abs/2205.14135, section 3.1), which is seven products of tiles where one pass that
adds dq up with atomics takes five; in return every sum has a fixed order, and runs agree bit for bit. A program of keys
holds scores transposed, keys by queries: its weights are then an operand of the products as they are.

delta, the sums of o * do along rows, is an argument: every tile of keys would have to sum it anew for all its queries.
Making it takes one pass over o and do, which is not in this kernel's time: on an H200 0.04 ms of 1.8 to 13 at the
spec's number of tokens.
"""

import triton
import triton.language as tl
from attention_spec import AttentionBackward

TRITONSCOPE = {
    "attention_backward": {
        "name": "attention/backward",
        "summary": "dq, dk and dv of attention from do, lse and delta; deterministic, in one launch",
        "signature": (
            "q=*fp16:16, k=*fp16:16, v=*fp16:16, do=*fp16:16, lse=*fp32:16, delta=*fp32:16, "
            "dq=*fp16:16, dk=*fp16:16, dv=*fp16:16, scale=fp32, "
            "stride_qh=i32:16, stride_qm=i32:16, stride_kh=i32:16, stride_kn=i32:16, "
            "stride_vh=i32:16, stride_vn=i32:16, stride_oh=i32:16, stride_om=i32:16, M=i32:16, N=i32:16, "
            "HEAD_DIM=128, BLOCK_M=64, BLOCK_N=64, BLOCK_M2=64, BLOCK_N2=64, CAUSAL=False, GROUP=1"
        ),
        "options": {"num_warps": 4, "num_stages": 2},
        "spec": "Backward",
    },
}


class Backward(AttentionBackward):
    def configs(self, size):
        """As measured on an H200."""
        if size["head_dim"] > 128:
            return [{"BLOCK_M": 32, "BLOCK_N": 64, "BLOCK_M2": 64, "BLOCK_N2": 32, "num_warps": 8, "num_stages": 1}]
        square = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_M2": 64, "BLOCK_N2": 64, "num_warps": 4, "num_stages": 2}
        if size["head_dim"] > 64:
            return [square]
        long = {"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_M2": 64, "BLOCK_N2": 128, "num_warps": 4, "num_stages": 2}
        return [long, square]


@triton.jit
def row_statistics(lse, delta, rows, M):
    """lse in base 2 and delta of some rows; infinity beyond the last row, where every weight is then 0."""
    log_sum = tl.load(lse + rows, mask=rows < M, other=float("inf")) * 1.44269504  # log2(e)
    return log_sum, tl.load(delta + rows, mask=rows < M, other=0.0)


@triton.jit
def add_queries(
    dk,
    dv,
    k_tile,
    v_tile,
    q_desc,
    do_desc,
    lse,
    delta,
    keys,
    start,
    stop,
    M,
    qk_scale,
    shift,
    BLOCK_M: tl.constexpr,
    MASKED: tl.constexpr,
):
    """Add to dk and dv of a tile of keys what the queries [start, stop) give them."""
    for m in range(start, stop, BLOCK_M):
        rows = m + tl.arange(0, BLOCK_M)
        q_tile = q_desc.load([m, 0])
        log_sum, row_delta = row_statistics(lse, delta, rows, M)
        weights = tl.math.exp2(tl.dot(k_tile, q_tile.T) * qk_scale - log_sum[None, :])
        if MASKED:
            weights = tl.where(keys[:, None] <= rows[None, :] + shift, weights, 0.0)
        do_tile = do_desc.load([m, 0])
        dv = tl.dot(weights.to(do_tile.dtype), do_tile, dv)
        d_scores = weights * (tl.dot(v_tile, do_tile.T) - row_delta[None, :])
        dk = tl.dot(d_scores.to(q_tile.dtype), q_tile, dk)
    return dk, dv


@triton.jit
def add_keys(
    dq,
    q_tile,
    do_tile,
    log_sum,
    row_delta,
    k_desc,
    v_desc,
    rows,
    start,
    stop,
    N,
    qk_scale,
    shift,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
    MASKED: tl.constexpr,
):
    """Add to dq of a tile of queries what the keys [start, stop) give it."""
    for n in range(start, stop, BLOCK_N):
        k_tile = k_desc.load([n, 0])
        weights = tl.math.exp2(tl.dot(q_tile, k_tile.T) * qk_scale - log_sum[:, None])
        if MASKED:
            keys = n + tl.arange(0, BLOCK_N)
            seen = keys[None, :] < N
            if CAUSAL:
                seen = seen & (keys[None, :] <= rows[:, None] + shift)
            weights = tl.where(seen, weights, 0.0)
        v_tile = v_desc.load([n, 0])
        d_scores = weights * (tl.dot(do_tile, v_tile.T) - row_delta[:, None])
        dq = tl.dot(d_scores.to(k_tile.dtype), k_tile, dq)
    return dq


@triton.jit
def key_gradients(
    q,
    k_head,
    v_head,
    do,
    lse,
    delta,
    dk_head,
    dv_head,
    scale,
    stride_qh,
    stride_qm,
    stride_kn,
    stride_vn,
    stride_oh,
    stride_om,
    M,
    N,
    first_head,
    tile,
    HEAD_DIM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
    GROUP: tl.constexpr,
):
    """dk and dv of one tile of keys, over the queries of the GROUP heads that share them."""
    first = tile * BLOCK_N
    keys = first + tl.arange(0, BLOCK_N)
    dims = tl.arange(0, HEAD_DIM)
    shift = N - M
    k_desc = tl.make_tensor_descriptor(k_head, [N, HEAD_DIM], [stride_kn, 1], [BLOCK_N, HEAD_DIM])
    v_desc = tl.make_tensor_descriptor(v_head, [N, HEAD_DIM], [stride_vn, 1], [BLOCK_N, HEAD_DIM])
    k_tile = k_desc.load([first, 0])
    v_tile = v_desc.load([first, 0])
    dk = tl.zeros((BLOCK_N, HEAD_DIM), dtype=tl.float32)
    dv = tl.zeros((BLOCK_N, HEAD_DIM), dtype=tl.float32)
    # The queries before `start` see none of these keys, those from `free` on all of them.
    start = 0
    free = 0
    if CAUSAL:
        start = max(first - shift, 0) // BLOCK_M * BLOCK_M
        free = max(tl.cdiv(max(first + BLOCK_N - 1 - shift, 0), BLOCK_M) * BLOCK_M, start)
    for member in range(GROUP):
        head = first_head + member
        q_desc = tl.make_tensor_descriptor(q + head * stride_qh, [M, HEAD_DIM], [stride_qm, 1], [BLOCK_M, HEAD_DIM])
        do_desc = tl.make_tensor_descriptor(do + head * stride_oh, [M, HEAD_DIM], [stride_om, 1], [BLOCK_M, HEAD_DIM])
        if CAUSAL:
            dk, dv = add_queries(
                dk, dv, k_tile, v_tile, q_desc, do_desc, lse + head * M, delta + head * M, keys,
                start, min(free, M), M, scale * 1.44269504, shift, BLOCK_M, True,
            )  # fmt: skip
        dk, dv = add_queries(
            dk, dv, k_tile, v_tile, q_desc, do_desc, lse + head * M, delta + head * M, keys,
            free, M, M, scale * 1.44269504, shift, BLOCK_M, False,
        )  # fmt: skip
    in_n = keys[:, None] < N
    far_keys = keys.to(tl.int64)[:, None]
    tl.store(dk_head + far_keys * stride_kn + dims[None, :], (dk * scale).to(dk_head.dtype.element_ty), mask=in_n)
    tl.store(dv_head + far_keys * stride_vn + dims[None, :], dv.to(dv_head.dtype.element_ty), mask=in_n)


@triton.jit
def query_gradients(
    q_head,
    k_head,
    v_head,
    do_head,
    lse,
    delta,
    dq_head,
    scale,
    stride_qm,
    stride_kn,
    stride_vn,
    stride_om,
    M,
    N,
    tile,
    HEAD_DIM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """dq of one tile of queries."""
    first = tile * BLOCK_M
    rows = first + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD_DIM)
    shift = N - M
    q_desc = tl.make_tensor_descriptor(q_head, [M, HEAD_DIM], [stride_qm, 1], [BLOCK_M, HEAD_DIM])
    do_desc = tl.make_tensor_descriptor(do_head, [M, HEAD_DIM], [stride_om, 1], [BLOCK_M, HEAD_DIM])
    k_desc = tl.make_tensor_descriptor(k_head, [N, HEAD_DIM], [stride_kn, 1], [BLOCK_N, HEAD_DIM])
    v_desc = tl.make_tensor_descriptor(v_head, [N, HEAD_DIM], [stride_vn, 1], [BLOCK_N, HEAD_DIM])
    q_tile = q_desc.load([first, 0])
    do_tile = do_desc.load([first, 0])
    log_sum, row_delta = row_statistics(lse, delta, rows, M)
    dq = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    stop = N
    free = N // BLOCK_N * BLOCK_N
    if CAUSAL:
        stop = max(min(first + BLOCK_M + shift, N), 0)
        free = max(min(first + shift + 1, N), 0) // BLOCK_N * BLOCK_N
    dq = add_keys(
        dq, q_tile, do_tile, log_sum, row_delta, k_desc, v_desc, rows,
        0, free, N, scale * 1.44269504, shift, BLOCK_N, CAUSAL, False,
    )  # fmt: skip
    dq = add_keys(
        dq, q_tile, do_tile, log_sum, row_delta, k_desc, v_desc, rows,
        free, stop, N, scale * 1.44269504, shift, BLOCK_N, CAUSAL, True,
    )  # fmt: skip
    dq_ptrs = dq_head + rows.to(tl.int64)[:, None] * stride_qm + dims[None, :]
    tl.store(dq_ptrs, (dq * scale).to(dq_head.dtype.element_ty), mask=rows[:, None] < M)


@triton.jit
def attention_backward(
    q,
    k,
    v,
    do,
    lse,
    delta,
    dq,
    dk,
    dv,
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
    BLOCK_M2: tl.constexpr,
    BLOCK_N2: tl.constexpr,
    CAUSAL: tl.constexpr,
    GROUP: tl.constexpr = 1,
):
    """Launch (cdiv(N, BLOCK_N) + GROUP * cdiv(M, BLOCK_M2), batch * heads // GROUP): tiles of keys, then of queries.

    The tensors are those of `attention`; dq, dk and dv lie as q, k and v, and do as o. A tile of keys goes over the
    queries by BLOCK_M, a tile of BLOCK_M2 queries over the keys by BLOCK_N2.
    """
    kv_head = tl.program_id(1).to(tl.int64)
    tile = tl.program_id(0)
    key_tiles = tl.cdiv(N, BLOCK_N)
    query_tiles = tl.cdiv(M, BLOCK_M2)
    k_head = k + kv_head * stride_kh
    v_head = v + kv_head * stride_vh
    if tile < key_tiles:
        key_gradients(
            q, k_head, v_head, do, lse, delta, dk + kv_head * stride_kh, dv + kv_head * stride_vh, scale,
            stride_qh, stride_qm, stride_kn, stride_vn, stride_oh, stride_om, M, N, kv_head * GROUP, tile,
            HEAD_DIM, BLOCK_M, BLOCK_N, CAUSAL, GROUP,
        )  # fmt: skip
    else:
        head = kv_head * GROUP + (tile - key_tiles) // query_tiles
        query_tile = (tile - key_tiles) % query_tiles
        if CAUSAL:  # the longest first, so that the short ones fill the end
            query_tile = query_tiles - 1 - query_tile
        query_gradients(
            q + head * stride_qh, k_head, v_head, do + head * stride_oh, lse + head * M, delta + head * M,
            dq + head * stride_qh, scale, stride_qm, stride_kn, stride_vn, stride_om, M, N, query_tile,
            HEAD_DIM, BLOCK_M2, BLOCK_N2, CAUSAL,
        )  # fmt: skip
