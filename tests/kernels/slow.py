"""Kernels whose machine code is not what one would hope for, each for one reason that its IR tells."""

import triton
import triton.language as tl

__all__ = ["copy", "multiply", "transpose_in_loop"]


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(y + at, tl.load(x + at, mask=mask), mask=mask)


@triton.jit
def multiply(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    first = tl.load(a + m[:, None] * K + k[None, :])
    second = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(first, second, input_precision=PRECISION))


@triton.jit
def transpose_in_loop(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for i in range(n):
        tile = tl.load(x + i * BLOCK * BLOCK + at[:, None] * BLOCK + at[None, :])
        tl.store(y + i * BLOCK * BLOCK + at[:, None] + at[None, :] * BLOCK, tile)
