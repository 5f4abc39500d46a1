"""Benchmarks, profiles, prints, asserts and passes on what only a GPU would have computed, and then decides by it.

Each step before the decision is followed by a kernel, so what stops the program early is missed.
"""

import sys

import torch
import triton
import triton.language as tl
import triton.profiler as proton
from triton._C.libtriton import nvidia


@triton.jit
def counted(x, count, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), count)


@triton.jit
def after(x, STEP: tl.constexpr):
    tl.store(x, 0.0)


class WithABackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        if torch.equal(gradient, torch.tensor(1.0, device=gradient.device)):
            after[(1,)](x, STEP="backward")
        return gradient


x = torch.randn(64, device="cuda")
assert x.is_cuda
assert x.get_device() == 0
properties = triton.runtime.driver.active.utils.get_device_properties(x.get_device())
assert properties["max_threads_per_sm"] % properties["warpSize"] == 0  # as programs for AMD's GPUs ask
print("loss", x.sum().item(), f"{x.mean().item():.3f}", float(x.max()))
after[(1,)](x, STEP="item")

positive = (x > 0).sum().item()
print(f"{100 * positive / x.numel():.2f} % of {x.numel()}:", (x[:2] > 0).tolist(), x[:2].tolist())
counted[(1,)](x, positive, BLOCK=64)

assert (x - x).abs().max() < 1e-3, "they differ"
after[(1,)](x, STEP="assert")

WithABackward.apply(x.requires_grad_()).sum().backward()

workspace = torch.empty(1024, device="cuda", dtype=torch.uint8)
nvidia.cublas.CublasLt(workspace).matmul(x, x, x)
proton.start("unwritten", hook="triton")
with proton.scope("one"):
    after[(1,)](x, STEP="profile")
proton.finalize()


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["size", "again"],
        x_vals=[128, (256, 512)],
        line_arg="provider",
        line_vals=["torch", "triton"],
        line_names=["PyTorch", "Triton"],
        ylabel="ms",
        plot_name="undrawn",
        args={"dtype": torch.float32},
    )
)
def benchmark(size, again, provider, dtype):
    y = torch.empty(size + again, dtype=dtype, device="cuda")
    if provider == "torch":
        return triton.testing.do_bench(lambda: y.fill_(1))
    return triton.testing.do_bench(lambda: counted[(again,)](y, size, BLOCK=64))


sys.modules["matplotlib"] = sys.modules["pandas"] = None  # as where they are not installed
benchmark.run(show_plots=True, print_data=True, save_path="unwritten")
if positive > 32:
    after[(1,)](x, STEP="decision")
