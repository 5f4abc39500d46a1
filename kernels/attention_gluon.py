"""Over attention/warp_specialized: the schedule of FlashAttention-3 (Shah et al., 2024, section 3,
https://arxiv.org/abs/2407.08608), written out in Gluon rather than asked of the compiler, for Hopper alone. One warp
loads the tiles of K and V into rings in shared memory by TMA and waits for nothing but a free place there. Groups of
four warps, with 64 queries each, compute the products and the softmax; with TURNS they start their products in turn, so
that while one has the tensor cores the others compute their softmax. Within a group the product with V lags one tile
behind, and so runs together with the softmax of the next scores. Tiles are taken from the last key to the first: those
that need a mask come first, and the loop over the rest has none.
"""

from attention_spec import GluonAttention
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.language.target_info import current_target
from triton.runtime.jit import constexpr_function

# Triton 3.6 has the older names.
load_tile = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
store_tile = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global

TRITONSCOPE = {
    "attention_gluon": {
        "name": "attention/gluon",
        "summary": "O = softmax(Q K^T * scale) V per head, by FlashAttention-3's schedule, in Gluon, for sm_90 alone",
        "signature": (
            "q=tensordesc<fp16[1,64,128],NVMMASharedLayout(128,16,3)>, "
            "k=tensordesc<fp16[1,128,128],NVMMASharedLayout(128,16,3)>, "
            "v=tensordesc<fp16[1,128,128],NVMMASharedLayout(128,16,3)>, "
            "o=tensordesc<fp16[1,64,128],NVMMASharedLayout(128,16,3)>, lse=*fp32:16, scale=fp32, "
            "M=i32:16, N=i32:16, HEAD_DIM=128, BLOCK_M=128, BLOCK_N=128, STAGES=2, TURNS=False, CAUSAL=False, GROUP=1"
        ),
        "options": {"num_warps": 4},
        "spec": "Scheduled",
    },
}


class Scheduled(GluonAttention):
    def configs(self, size):
        """As measured on an H200; head_dim 256 is not: those tiles fit into shared memory and registers."""
        if size["head_dim"] > 128:
            return [{"BLOCK_M": 128, "BLOCK_N": 64, "STAGES": 2, "TURNS": False, "num_warps": 4}]
        if size["head_dim"] > 64:
            return [
                {"BLOCK_M": 128, "BLOCK_N": 128, "STAGES": 2, "TURNS": False, "num_warps": 4},
                {"BLOCK_M": 128, "BLOCK_N": 128, "STAGES": 2, "TURNS": True, "num_warps": 4},
            ]
        return [
            {"BLOCK_M": 192, "BLOCK_N": 128, "STAGES": 2, "TURNS": True, "num_warps": 4},
            {"BLOCK_M": 192, "BLOCK_N": 128, "STAGES": 2, "TURNS": False, "num_warps": 4},
        ]


@constexpr_function
def may_be_hopper():
    """Whether the target is Hopper, or not known. Elsewhere LLVM would end the process at the first wgmma."""
    target = current_target()
    return target is None or (target.backend, target.arch) == ("cuda", 90)


@gluon.jit
def attention_gluon(
    q,
    k,
    v,
    o,
    lse,
    scale,
    M,
    N,
    HEAD_DIM: gl.constexpr,
    BLOCK_M: gl.constexpr,
    BLOCK_N: gl.constexpr,
    STAGES: gl.constexpr,
    TURNS: gl.constexpr,
    CAUSAL: gl.constexpr,
    GROUP: gl.constexpr = 1,
):
    """BLOCK_M queries of one head per program, launched as `attention` is, with 4 warps; BLOCK_M is 128 or 192.

    `q` and `o` are descriptors of blocks [1, 64, HEAD_DIM], `k` and `v` of [1, BLOCK_N, HEAD_DIM].
    """
    gl.static_assert(may_be_hopper(), "attention_gluon compiles for sm_90 alone")
    gl.static_assert(BLOCK_M == 128 or BLOCK_M == 192, "BLOCK_M is 128 or 192: 2 or 3 groups of 64 queries")
    PARTS: gl.constexpr = BLOCK_M // 64
    head = gl.program_id(1)
    tile = gl.program_id(0)
    if CAUSAL:  # the longest first, so that the short ones fill the end
        tile = gl.num_programs(0) - 1 - tile
    first = tile * BLOCK_M
    stop = N
    if CAUSAL:
        stop = gl.minimum(first + BLOCK_M + N - M, N)
    # Queries that see no key at all take one tile, too, all of it masked.
    tiles = gl.maximum(gl.cdiv(stop, BLOCK_N), 1)

    buffers = (
        gl.allocate_shared_memory(q.dtype, [PARTS, 1, 64, HEAD_DIM], q.layout),
        gl.allocate_shared_memory(k.dtype, [STAGES, 1, BLOCK_N, HEAD_DIM], k.layout),
        gl.allocate_shared_memory(v.dtype, [STAGES, 1, BLOCK_N, HEAD_DIM], v.layout),
    )
    signals = (
        barriers(1, 1).index(0),  # the queries are there
        barriers(STAGES, 1),  # a tile of keys is there
        barriers(STAGES, PARTS),  # its place is free: every group has said so
        barriers(STAGES, 1),  # a tile of values is there
        barriers(STAGES, PARTS),
        barriers(PARTS, 1),  # it is this group's turn
    )
    loads = (q, k, v, buffers, signals, head, head // GROUP, first, tiles)
    work = (buffers, signals, o, lse, head, first, M, N, tiles, scale)
    # The last warp loads, and leaves its registers to the others.
    if PARTS == 2:
        gl.warp_specialize(
            [
                (consume, (work, 0, TURNS, CAUSAL)),
                (consume, (work, 1, TURNS, CAUSAL)),
                (produce, loads),
            ],
            [4, 1],
            [240, 24],
        )
    else:
        gl.warp_specialize(
            [
                (consume, (work, 0, TURNS, CAUSAL)),
                (consume, (work, 1, TURNS, CAUSAL)),
                (consume, (work, 2, TURNS, CAUSAL)),
                (produce, loads),
            ],
            [4, 4, 1],
            [160, 160, 32],
        )


@gluon.jit
def barriers(COUNT: gl.constexpr, ARRIVALS: gl.constexpr):
    """That many barriers, each of which takes so many arrivals."""
    made = gl.allocate_shared_memory(gl.int64, [COUNT, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(COUNT):
        mbarrier.init(made.index(i), count=ARRIVALS)
    return made


@gluon.jit
def produce(q, k, v, buffers, signals, head, kv_head, first, tiles):
    """Load the tile of queries, and the tiles of keys and values, last to first, as places in the rings become free."""
    q_tiles, k_ring, v_ring = buffers
    q_ready, k_ready, k_free, v_ready, v_free, _ = signals
    PARTS: gl.constexpr = q_tiles.shape[0]
    QUERIES: gl.constexpr = q_tiles.shape[2]
    STAGES: gl.constexpr = k_ring.shape[0]
    BLOCK_N: gl.constexpr = k_ring.shape[2]
    mbarrier.expect(q_ready, PARTS * q.block_type.nbytes)
    for part in gl.static_range(PARTS):
        load_tile(q, [head, first + part * QUERIES, 0], q_ready, q_tiles.index(part))
    for i in range(tiles):
        stage = i % STAGES
        # The first time round nobody has freed a place: a wait for the phase before the first one is over at once.
        free = (i // STAGES & 1) ^ 1
        key = (tiles - 1 - i) * BLOCK_N
        mbarrier.wait(k_free.index(stage), free)
        mbarrier.expect(k_ready.index(stage), k.block_type.nbytes)
        load_tile(k, [kv_head, key, 0], k_ready.index(stage), k_ring.index(stage))
        mbarrier.wait(v_free.index(stage), free)
        mbarrier.expect(v_ready.index(stage), v.block_type.nbytes)
        load_tile(v, [kv_head, key, 0], v_ready.index(stage), v_ring.index(stage))


@gluon.jit
def consume(work, part: gl.constexpr, TURNS: gl.constexpr, CAUSAL: gl.constexpr):
    """The results of one group's queries."""
    buffers, signals, o, lse, head, first, M, N, tiles, scale = work
    q_tiles, k_ring, v_ring = buffers
    q_ready, k_ready, k_free, v_ready, _, _ = signals
    STAGES: gl.constexpr = k_ring.shape[0]
    QUERIES: gl.constexpr = q_tiles.shape[2]
    BLOCK_N: gl.constexpr = k_ring.shape[2]
    HEAD_DIM: gl.constexpr = k_ring.shape[3]
    s_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    o_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD_DIM, 16])
    qk_scale = scale * 1.44269504  # log2(e)
    shift = N - M
    first_row = first + part * QUERIES
    span = (first_row, N, shift, tiles, qk_scale)
    # The first `free` tiles of keys are seen by every row in full.
    free = N // BLOCK_N
    if CAUSAL:
        free = gl.maximum(gl.minimum(first_row + shift + 1, N), 0) // BLOCK_N
    masked = gl.maximum(tiles - free, 1)

    # The first tile's weights, which there is nothing to multiply with meanwhile.
    q_tile = rows_of(q_tiles.index(part))
    mbarrier.wait(q_ready, 0)
    mbarrier.wait(k_ready.index(0), 0)
    scores = start_scores(q_tile, k_ring, 0)
    scores = warpgroup_mma_wait(0, [scores])
    mbarrier.arrive(k_free.index(0))
    # The least finite number, not -inf: a row that has seen no key yet then needs no guard against -inf - -inf.
    row_max = gl.full([QUERIES], -3.4028235e38, gl.float32, gl.SliceLayout(1, s_layout))
    weights, _, row_max = soften(scores, row_max, 0, span, CAUSAL, True)
    pairs, row_sum = pack(weights, o.dtype)
    acc = gl.zeros([QUERIES, HEAD_DIM], gl.float32, o_layout)

    state = (acc, row_sum, row_max, pairs)
    state = attend(state, q_tile, buffers, signals, span, 1, masked, part, TURNS, CAUSAL, True)
    state = attend(state, q_tile, buffers, signals, span, masked, tiles, part, TURNS, CAUSAL, False)
    acc, row_sum, row_max, pairs = state

    last = (tiles - 1) % STAGES
    mbarrier.wait(v_ready.index(last), (tiles - 1) // STAGES & 1)
    acc = start_values(pairs, v_ring, last, acc)
    acc = warpgroup_mma_wait(0, [acc])
    row_sum = gl.convert_layout(gl.sum(row_sum, 1), row_max.type.layout)
    safe_sum = gl.where(row_sum == 0.0, 1.0, row_sum)
    out = acc / gl.expand_dims(gl.convert_layout(safe_sum, gl.SliceLayout(1, o_layout)), 1)
    # The queries are not needed any more: the results leave from their place.
    q_tile.store(out.to(o.dtype))
    fence_async_shared()
    store_tile(o, [head, first_row, 0], q_tiles.index(part))
    log_sum = gl.where(row_sum == 0.0, float("-inf"), (row_max + gl.log2(safe_sum)) * 0.69314718)  # ln(2)
    rows = first_row + gl.arange(0, QUERIES, layout=row_max.type.layout)
    gl.store(lse + head.to(gl.int64) * M + rows, log_sum, mask=rows < M)
    tma.store_wait(0)


@gluon.jit
def attend(
    state,
    q_tile,
    buffers,
    signals,
    span,
    start,
    stop,
    part: gl.constexpr,
    TURNS: gl.constexpr,
    CAUSAL: gl.constexpr,
    MASKED: gl.constexpr,
):
    """For each tile of keys in [start, stop): its scores and weights, and the values that the tile before weights."""
    acc, row_sum, row_max, pairs = state
    _, k_ring, v_ring = buffers
    _, k_ready, k_free, v_ready, v_free, turns = signals
    STAGES: gl.constexpr = k_ring.shape[0]
    PARTS: gl.constexpr = turns.shape[0]
    for i in range(start, stop):
        stage = i % STAGES
        before = (i - 1) % STAGES
        mbarrier.wait(k_ready.index(stage), i // STAGES & 1)
        if TURNS:  # the first group has the first turn without being told
            mbarrier.wait(turns.index(part), (i - 1 & 1) ^ (part == 0))
        scores = start_scores(q_tile, k_ring, stage)
        mbarrier.wait(v_ready.index(before), (i - 1) // STAGES & 1)
        acc = start_values(pairs, v_ring, before, acc)
        if TURNS:
            mbarrier.arrive(turns.index((part + 1) % PARTS))
        scores = warpgroup_mma_wait(1, [scores])
        mbarrier.arrive(k_free.index(stage))
        weights, decay, row_max = soften(scores, row_max, i, span, CAUSAL, MASKED)
        pairs, sums = pack(weights, v_ring.dtype)
        row_sum = scaled_rows(row_sum, decay) + sums
        acc = warpgroup_mma_wait(0, [acc])
        mbarrier.arrive(v_free.index(before))
        acc = scaled_rows(acc, decay)
    return acc, row_sum, row_max, pairs


@gluon.jit
def start_scores(q_tile, k_ring, stage):
    """Start the product of the queries with a tile of keys."""
    QUERIES: gl.constexpr = q_tile.shape[0]
    BLOCK_N: gl.constexpr = k_ring.shape[2]
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    nothing = gl.zeros([QUERIES, BLOCK_N], gl.float32, layout)
    k_tile = rows_of(k_ring.index(stage)).permute([1, 0])
    return warpgroup_mma(q_tile, k_tile, nothing, use_acc=False, is_async=True)


@gluon.jit
def start_values(pairs, v_ring, stage, acc):
    """Start the product of packed weights with a tile of values, on top of `acc`."""
    weights = unpack(pairs, v_ring.dtype, gl.DotOperandLayout(operand_index=0, parent=acc.type.layout, k_width=2))
    return warpgroup_mma(weights, rows_of(v_ring.index(stage)), acc, is_async=True)


@gluon.jit
def soften(scores, row_max, i, span, CAUSAL: gl.constexpr, MASKED: gl.constexpr):
    """The weights of the scores of tile `i`, what weights of before are worth now, and the new maxima."""
    first_row, N, shift, tiles, qk_scale = span
    if MASKED:
        BLOCK_N: gl.constexpr = scores.shape[1]
        layout: gl.constexpr = scores.type.layout
        keys = (tiles - 1 - i) * BLOCK_N + gl.arange(0, BLOCK_N, layout=gl.SliceLayout(0, layout))
        if CAUSAL:
            rows = first_row + gl.arange(0, scores.shape[0], layout=gl.SliceLayout(1, layout))
            seen = gl.expand_dims(keys, 0) < gl.expand_dims(gl.minimum(rows + shift + 1, N), 1)
        else:
            seen = gl.expand_dims(keys < N, 0)
        scores = gl.where(seen, scores, float("-inf"))
    new_max = gl.maximum(row_max, gl.max(scores, 1) * qk_scale)
    weights = gl.exp2(scores * qk_scale - gl.expand_dims(new_max, 1))
    return weights, gl.exp2(row_max - new_max), new_max


@gluon.jit
def pack(weights, dtype: gl.constexpr):
    """Pairs of weights in half precision, 32 bits each, and the sums of what each thread holds of a row.

    Half the registers hold them until their product a tile later; the sums of threads meet once, at the end.
    """
    QUERIES: gl.constexpr = weights.shape[0]
    BLOCK_N: gl.constexpr = weights.shape[1]
    even, odd = gl.split(gl.reshape(weights, [QUERIES, BLOCK_N // 2, 2]))
    if dtype == gl.float16:
        pairs = gl.inline_asm_elementwise("cvt.rn.f16x2.f32 $0, $2, $1;", "=r,f,f", [even, odd], gl.int32, True, 1)
    else:
        pairs = gl.inline_asm_elementwise("cvt.rn.bf16x2.f32 $0, $2, $1;", "=r,f,f", [even, odd], gl.int32, True, 1)
    return pairs, gl.sum(gl.reshape(even + odd, [QUERIES, BLOCK_N // 8, 4]), 1)


@gluon.jit
def unpack(pairs, dtype: gl.constexpr, layout: gl.constexpr):
    """The weights that `pack` put in pairs."""
    QUERIES: gl.constexpr = pairs.shape[0]
    BLOCK_N: gl.constexpr = pairs.shape[1] * 2
    even, odd = gl.inline_asm_elementwise("mov.b32 {$0, $1}, $2;", "=h,=h,r", [pairs], (gl.int16, gl.int16), True, 1)
    bits = gl.reshape(gl.join(even, odd), [QUERIES, BLOCK_N])
    return gl.convert_layout(bits.to(dtype, bitcast=True), layout)


@gluon.jit
def rows_of(buffer):
    """A buffer of one head as a matrix."""
    return buffer.reshape([buffer.shape[1], buffer.shape[2]])


@gluon.jit
def scaled_rows(matrix, factors):
    """Each row times its factor."""
    return matrix * gl.expand_dims(gl.convert_layout(factors, gl.SliceLayout(1, matrix.type.layout)), 1)
