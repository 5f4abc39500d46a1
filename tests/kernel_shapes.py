"""The bundled kernels against a float64 reference; by Triton's interpreter on the CPU, or on a GPU.

    TRITON_INTERPRET=1 python tests/kernel_shapes.py cpu
    python tests/kernel_shapes.py cuda

prints a line a case, and exits with 1 if one is wrong. Outputs are poisoned, so that an element which is not written
shows, and stand between guards, so that one written beyond them does.
"""

import importlib.util
import sys
from pathlib import Path

import torch
import triton

KERNELS = Path(__file__).resolve().parents[1] / "kernels"
POISON = 12345.0


def load(file):
    spec = importlib.util.spec_from_file_location(Path(file).stem, KERNELS / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def guarded(shape, dtype, device):
    """(the whole, the part of that shape) with 64 poisoned elements before and after."""
    size = 1
    for length in shape:
        size *= length
    whole = torch.full((size + 128,), POISON, dtype=dtype, device=device)
    return whole, whole[64 : 64 + size].view(shape)


def guards_hold(whole):
    poison = torch.tensor(POISON, dtype=whole.dtype, device=whole.device)
    return bool((whole[:64] == poison).all() and (whole[-64:] == poison).all())


def matmul(kernel, M, N, K, blocks, device):
    generator = torch.Generator().manual_seed(M * 7 + N * 3 + K)
    a = torch.randn((M, K), generator=generator).to(torch.float16).to(device)
    b = torch.randn((K, N), generator=generator).to(torch.float16).to(device)
    whole, c = guarded((M, N), torch.float16, device)
    block_m, block_n, block_k = blocks
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    kernel[grid](
        *(a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride()),
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        BLOCK_K=block_k,
        GROUP_M=8,
    )
    reference = a.double() @ b.double()
    # fp16 rounds the result once, to 2**-11 of it; fp32 accumulation of K terms adds far less.
    return bool(torch.allclose(c.double(), reference, rtol=2**-10, atol=2**-10 * K**0.5)) and guards_hold(whole)


def attention(kernel, heads, M, N, head_dim, blocks, causal, device):
    generator = torch.Generator().manual_seed(M * 7 + N * 3 + head_dim)
    q, k, v = (
        torch.randn((heads, length, head_dim), generator=generator).to(torch.float16).to(device) for length in (M, N, N)
    )
    whole, o = guarded((heads, M, head_dim), torch.float16, device)
    whole_lse, lse = guarded((heads, M), torch.float32, device)
    scale = head_dim**-0.5
    block_m, block_n = blocks
    kernel[(triton.cdiv(M, block_m), heads)](
        *(q, k, v, o, lse, scale),
        *(q.stride(0), q.stride(1), k.stride(0), k.stride(1), v.stride(0), v.stride(1), o.stride(0), o.stride(1)),
        *(M, N),
        HEAD_DIM=head_dim,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        CAUSAL=causal,
    )
    scores = q.double() @ k.double().transpose(1, 2) * scale
    if causal:
        seen = torch.arange(N, device=device)[None, :] <= torch.arange(M, device=device)[:, None] + N - M
        scores = scores.masked_fill(~seen, float("-inf"))
    sums = scores.logsumexp(2)
    # A row that sees no key gives 0, and -inf as its log-sum-exp.
    reference = torch.nan_to_num(scores.softmax(2)) @ v.double()
    right = torch.allclose(o.double(), reference, rtol=4e-3, atol=4e-3)
    right = right and torch.allclose(lse.double(), sums, rtol=1e-3, atol=1e-3)
    return bool(right) and guards_hold(whole) and guards_hold(whole_lse)


def cases(device):
    small = device == "cpu"
    product = load("matmul.py").matmul
    blocks = (32, 32, 16) if small else (128, 128, 64)
    shapes = [(1, 1, 1), (33, 17, 5), (64, 64, 64), (31, 70, 40), (100, 1, 33)]
    for shape in shapes if small else [*shapes, (512, 512, 512), (1000, 777, 1333), (4096, 4096, 4096)]:
        yield f"matmul {shape}", lambda shape=shape: matmul(product, *shape, blocks, device)
    forward = load("flash_attention.py").attention
    blocks = (16, 16) if small else (128, 64)
    shapes = [(1, 1, 1), (2, 33, 33), (1, 17, 50), (1, 50, 17), (2, 32, 32), (1, 5, 64)]
    for heads, M, N in shapes if small else [*shapes, (4, 1024, 1024), (3, 1000, 1777)]:
        for head_dim in (16, 32) if small else (64, 128):
            for causal in (False, True):
                yield (
                    f"attention heads={heads} M={M} N={N} d={head_dim} causal={causal}",
                    lambda a=(heads, M, N, head_dim, blocks, causal): attention(forward, *a, device),
                )


def main(device):
    wrong = 0
    for name, check in cases(device):
        right = check()
        wrong += not right
        print(f"{'right' if right else 'WRONG'}  {name}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
