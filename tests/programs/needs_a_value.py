"""Launches three kernels, and then asks the GPU for a number."""

import torch
import triton
import triton.language as tl


@triton.jit
def fill(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), tl.arange(0, N).to(tl.float32))


@triton.jit
def other(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), tl.zeros((N,), tl.float32))


x = torch.empty(512, device="cuda")
other[(1,)](x, 64)
for size in (128, 256, 512):
    fill[(1,)](x, size)
print(f"sum {x.sum()}")
torch.empty(int(x.sum()))
