"""Trains nothing with the kernels of a published library, and launches each of them."""

import torch
from liger_kernel import ops

ROWS, HIDDEN, VOCABULARY = 256, 512, 1024
BF16 = torch.bfloat16


def random(*shape):
    return torch.randn(*shape, device="cuda", dtype=BF16, requires_grad=True)


def done(*outputs):
    sum(each.sum() for each in outputs).backward()


target = torch.randint(0, VOCABULARY, (ROWS,), device="cuda")
done(ops.LigerRMSNormFunction.apply(random(2, ROWS // 2, HIDDEN), random(HIDDEN), 1e-6))
done(ops.LigerLayerNormFunction.apply(random(ROWS, HIDDEN), random(HIDDEN), random(HIDDEN), 1e-6))
done(ops.LigerSiLUMulFunction.apply(random(ROWS, HIDDEN), random(ROWS, HIDDEN)))
done(*ops.LigerRopeFunction.apply(random(2, 8, 64, 32), random(2, 2, 64, 32), random(1, 64, 32), random(1, 64, 32)))
done(ops.LigerCrossEntropyFunction.apply(random(ROWS, VOCABULARY), target, None)[0])
done(ops.LigerFusedLinearCrossEntropyFunction.apply(random(ROWS, HIDDEN), random(VOCABULARY, HIDDEN), target)[0])
