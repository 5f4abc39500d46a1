"""Kernels that do not compile, each for a reason of its own."""

import triton
import triton.language as tl

TRITONSCOPE = {
    "type_error": {"signature": "x=*fp32:16, n=i32, BLOCK=64"},
    "shape_error": {"signature": "x=*fp32:16, n=i32, BLOCK=64"},
    "undefined_name": {"signature": "x=*fp32:16, n=i32, BLOCK=64"},
    "bad_ptx": {"signature": "x=*fp32:16, n=i32, BLOCK=64"},
}


@triton.jit
def type_error(x, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x + offsets, tl.load(offsets))


@triton.jit
def shape_error(x, n, BLOCK: tl.constexpr):
    few = tl.arange(0, BLOCK)
    many = tl.arange(0, 2 * BLOCK)
    tl.store(x + few, few + many)


@triton.jit
def callee(offsets):
    return offsets + not_there  # noqa: F821


@triton.jit
def undefined_name(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), callee(tl.arange(0, BLOCK)))


@triton.jit
def bad_ptx(x, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets)
    value = tl.inline_asm_elementwise("bogus.f32 $0, $1;", "=f,f", [value], tl.float32, is_pure=True, pack=1)
    tl.store(x + offsets, value)
