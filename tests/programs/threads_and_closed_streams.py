"""Launches a kernel from three threads at once, and once more with its standard streams closed; ends with code 3."""

import os
import sys
import threading

import torch
import triton
import triton.language as tl


@triton.jit
def twice(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 2)


def launch(block):
    values = torch.empty(block, device="cuda") + torch.ones(block, device="cuda")
    twice[(1,)](values, block)


threads = [threading.Thread(target=launch, args=(block,)) for block in (32, 64, 128)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for number in (0, 1, 2):
    os.close(number)
sys.stdout = sys.stderr = None
launch(256)
sys.exit(3)
