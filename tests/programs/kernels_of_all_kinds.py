"""A program for a GPU: kernels launched in several shapes, autotuned, in Gluon, with descriptors, and one that fails.

Prints what an unobserved Triton makes of them, as JSON: {kernel: {key: sha256 of the PTX}}.
"""

import hashlib
import json
import sys

import torch
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.tools.tensor_descriptor import TensorDescriptor

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def scale(x, y, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, at < n) * factor, at < n)


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=2) for block in (64, 128)], key=["n"])
@triton.jit
def tuned(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, at.to(tl.float32), at < n)


@gluon.jit
def in_gluon(x, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    at = gl.arange(0, N, layout=layout)
    gl.store(x + at, at)


@triton.jit
def described(a, b, rows):
    block = a.load([tl.program_id(0) * 64, 0])
    if rows > 0:
        b.store([tl.program_id(0) * 64, 0], block)


@triton.jit
def broken(x, N: tl.constexpr):
    tl.static_print("asked for", N)
    tl.store(x + tl.arange(0, N), tl.arange(0, 2 * N))


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return launch_scale(x, 2.0)

    @staticmethod
    def backward(ctx, gradient):
        return launch_scale(gradient.contiguous(), 2.0)


def launch_scale(x, factor):
    y = torch.empty_like(x)
    scale[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel(), factor, BLOCK=256)
    return y


def main():
    made = {}
    x = torch.rand(1024, device=DEVICE)
    for _ in range(3):
        launch_scale(x, 3.0)
    launch_scale(x[1:1001], 3.0)
    weights = torch.rand(4096, device="cuda", requires_grad=True)
    Doubled.apply(weights).sum().backward()
    assert torch.allclose(weights.grad, torch.full_like(weights, 2.0))
    tuned[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, 1000)
    in_gluon[(1,)](torch.empty(256, device="cuda", dtype=torch.int32), 256, num_warps=4)
    a = torch.empty(128, 64, device="cuda", dtype=torch.float16)
    described[(2,)](TensorDescriptor.from_tensor(a, [64, 64]), TensorDescriptor(a, a.shape, a.stride(), [64, 64]), 128)
    try:
        broken[(1,)](x, 16)
    except triton.CompilationError:
        print("broken, as it would be", file=sys.stderr)
    ms = triton.testing.do_bench(lambda: launch_scale(x, 3.0))
    print("bench", ms, file=sys.stderr)
    for kernel in (scale, tuned.fn, in_gluon, described):
        cached = next(iter(kernel.device_caches.values()))[0]
        made[kernel.__name__] = {
            each.hash: hashlib.sha256(each.asm["ptx"].encode()).hexdigest() for each in cached.values()
        }
    print(json.dumps(made))


if __name__ == "__main__":
    main()
    sys.exit(7)
