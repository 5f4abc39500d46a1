"""Kernels whose compile ends badly: each makes a stage of the NVIDIA backend do what a compiler bug does.

TRITONSCOPE_TEST_FIFO, where set, is opened for writing once the stage is reached: whoever reads it knows then. The
line written is the process id.
"""

import os
import signal
import time

import triton
import triton.language as tl
from triton.backends.nvidia.compiler import CUDABackend

TRITONSCOPE = {"kernel": {"signature": "x=*fp32:16, n=i32, BLOCK=64"}}

MISDEED = os.environ.get("TRITONSCOPE_TEST_MISDEED", "")


def misbehave(*_):
    if fifo := os.environ.get("TRITONSCOPE_TEST_FIFO"):
        with open(fifo, "w") as told:  # noqa: PTH123
            told.write(f"{os.getpid()}\n")
    if MISDEED == "abort":
        os.abort()
    if MISDEED == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if MISDEED == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if MISDEED == "exit":
        os._exit(7)
    while MISDEED == "hang":
        time.sleep(1)
    raise AssertionError(MISDEED)


if MISDEED == "exit at import":
    raise SystemExit(3)
if MISDEED == "hang at import":
    while True:
        time.sleep(1)
if MISDEED:
    CUDABackend.make_ptx = misbehave


@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x + offsets, tl.load(x + offsets) + n)
