"""A file as users have it: helpers beside it, an autotuner, heuristics, Gluon; nothing that tritonscope knows."""

import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@triton.jit
def softmax(out, x, stride: tl.int32, n: tl.int32, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + offsets, mask=offsets < n, other=float("-inf"))
    weights = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * stride + offsets, weights / tl.sum(weights, 0), mask=offsets < n)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 128}, num_warps=2),
        triton.Config({"BLOCK": 256}, num_warps=4),
        triton.Config({"BLOCK": 512}, num_warps=8),
    ],
    key=["n"],
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def scale(x, n, factor, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(x + offsets, tl.load(x + offsets) * factor)
    else:
        tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) * factor, mask=offsets < n)


@gluon.jit
def copy(out, x, n, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    gl.store(out + offsets, gl.load(x + offsets, mask=offsets < n), mask=offsets < n)
