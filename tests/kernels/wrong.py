"""Kernels with one flaw each, and one without, that `run` has to tell apart. They copy x to y, or should."""

import triton
import triton.language as tl

TRITONSCOPE = {
    name: {"signature": "y=*fp32:16, x=*fp32:16, n=i32, BLOCK=64", "spec": "Copy"}
    for name in ("right", "one_wrong", "unwritten", "beside", "reads_output", "not_finite", "writes_input")
} | {
    "race": {"signature": "y=*fp32:16, x=*fp32:16, n=i32, BLOCK=64", "spec": "Total"},
    "illegal": {"signature": "y=*fp32:16, x=*fp32:16, n=i32, BLOCK=64", "spec": "Copy"},
    "hangs": {"signature": "y=*fp32:16, x=*fp32:16, n=i32, BLOCK=64", "spec": "Copy"},
    "too_large": {
        "signature": "y=*fp32:16, x=*fp32:16, n=i32, BLOCK=256",
        "spec": "Square",
        "options": {"num_warps": 8},
    },
    "no_reference": {"signature": "y=*fp32:16, x=*fp32:16, n=i32, BLOCK=64", "spec": "NoReference"},
    "no_spec": {"signature": "y=*fp32:16, x=*fp32:16, n=i32, BLOCK=64"},
    "bad_spec": {"signature": "y=*fp32:16, x=*fp32:16, n=i32, BLOCK=64", "spec": "Bad"},
}


class Copy:
    sizes = {"n": 1000}
    checked = ({"n": 1}, {"n": 64})
    outputs = {"y": "poisoned"}

    def arguments(self, size, constants, device):
        import torch

        x = torch.randn(size["n"], device=device)
        return {"y": torch.empty_like(x), "x": x, "n": size["n"]}

    def grid(self, size, constants):
        return (triton.cdiv(size["n"], constants["BLOCK"]),)

    def reference(self, size, arguments):
        return {"y": arguments["x"].double()}

    def bytes(self, size):
        return 2 * 4 * size["n"]

    def baselines(self, size, arguments):
        return {"torch": lambda: arguments["y"].copy_(arguments["x"]), "refuses": self.refuses}

    def refuses(self):
        raise NotImplementedError


class NoReference(Copy):
    reference = None


class Total(Copy):
    sizes = {"n": 1 << 20}
    checked = ()
    outputs = {"y": "zeroed"}

    def arguments(self, size, constants, device):
        import torch

        return {**super().arguments(size, constants, device), "y": torch.empty(1, device=device)}

    def reference(self, size, arguments):
        return {"y": arguments["x"].double().sum().reshape(1)}

    def tolerance(self, size):
        return 1.0, "it is the order that is tested"


class Square(Copy):
    sizes = {"n": 256}
    checked = ()

    def arguments(self, size, constants, device):
        import torch

        x = torch.randn((size["n"], size["n"]), device=device)
        return {"y": torch.empty_like(x), "x": x, "n": size["n"]}

    def grid(self, size, constants):
        return (1,)


class Bad(Copy):
    def grid(self, size, constants):
        return size["m"]


@triton.jit
def right(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def no_spec(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def no_reference(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def bad_spec(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def one_wrong(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) + tl.where(at == 17, 1.0, 0.0), mask=at < n)


@triton.jit
def unwritten(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=(at < n) & (at != 23))


@triton.jit
def beside(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n, other=0.0), mask=at < n + 1)


@triton.jit
def reads_output(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) + 1e-20 * tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def not_finite(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(y + at, tl.where(at == 5, float("nan"), value), mask=at < n)


@triton.jit
def writes_input(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
    tl.store(x + at, 0.0, mask=at == 0)


@triton.jit
def race(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y, tl.sum(tl.load(x + at, mask=at < n, other=0.0), 0))


@triton.jit
def illegal(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    far = at.to(tl.int64) + (1 << 40)
    tl.store(y + far, tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def hangs(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    while tl.load(x, volatile=True) < 1e30:
        tl.debug_barrier()
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def too_large(y, x, n, BLOCK: tl.constexpr):
    """Two tiles of 256 KiB: more shared memory than any device gives a program."""
    rows = tl.arange(0, BLOCK)
    tile = tl.load(x + rows[:, None] * n + rows[None, :])
    tl.store(y + rows[:, None] * n + rows[None, :], tl.dot(tile, tile))
