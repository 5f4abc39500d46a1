"""The smallest kernel with a spec in its own file, for what compiles a kernel many times or hands it on."""

import triton
import triton.language as tl

TRITONSCOPE = {
    "scale": {
        "summary": "y = FACTOR * x",
        "signature": "x=*fp32:16, y=*fp32:16, n=i32, FACTOR=3.0, BLOCK=256",
        "options": {"num_warps": 2},
        "spec": "Scale",
    },
}


@triton.jit
def scaled(x, FACTOR: tl.constexpr):
    return x * FACTOR


@triton.jit
def scale(x, y, n, FACTOR: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, scaled(tl.load(x + at, mask=at < n), FACTOR), mask=at < n)


class Scale:
    sizes = {"n": 1000}
    outputs = {"y": "poisoned"}

    def arguments(self, size, constants, device):
        import torch

        x = torch.randn(size["n"], device=device)
        return {"x": x, "y": torch.empty_like(x), "n": size["n"]}

    def grid(self, size, constants):
        return (-(-size["n"] // constants["BLOCK"]),)

    def reference(self, size, arguments):
        return {"y": arguments["x"].double() * 3}

    def tolerance(self, size):
        return 1e-6, "fp32 rounds each product once"
