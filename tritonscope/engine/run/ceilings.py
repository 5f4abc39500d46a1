"""What this device reaches at best, measured: the rates that a kernel's are a share of."""

from collections.abc import Callable
from functools import partial
from typing import Any

from tritonscope.engine.run.timing import measure

__all__ = ["measure_ceilings"]

_MATRIX = 8192
_COPIED = 4 << 30  # bytes read, and as many written


def measure_ceilings(alive: Callable[[], None]) -> dict[str, Any]:
    """{tflops: {dtype: number}, gbps: number}: PyTorch's own matrix product of 8192^3, and a copy within the device."""
    import torch

    found: dict[str, Any] = {"tflops": {}}
    for name, dtype in (("fp16", torch.float16), ("bf16", torch.bfloat16), ("tf32", torch.float32)):
        a, b = (torch.randn((_MATRIX, _MATRIX), device="cuda").to(dtype) for _ in range(2))
        found["tflops"][name] = _tflops(partial(torch.mm, a, b), dtype == torch.float32, alive)
    if hasattr(torch, "_scaled_mm") and hasattr(torch, "float8_e4m3fn"):
        a, b = (torch.randn((_MATRIX, _MATRIX), device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
        one = torch.ones((), device="cuda")
        product = partial(torch._scaled_mm, a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.float16)
        if rate := _tflops(product, False, alive):
            found["tflops"]["fp8"] = rate
    free, _ = torch.cuda.mem_get_info()
    source = torch.empty(min(_COPIED, free // 4), dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    times = measure({"copy": [lambda: target.copy_(source)]}, 20, alive)["copy"]
    found["gbps"] = 2 * source.numel() / (min(times) * 1e6)
    return found


def _tflops(product: Callable[[], object], tf32: bool, alive: Callable[[], None]) -> float | None:
    import torch

    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = tf32
    try:
        times = measure({"product": [product]}, 20, alive).get("product")
    finally:
        torch.backends.cuda.matmul.allow_tf32 = allowed
    return 2 * _MATRIX**3 / (sorted(times)[len(times) // 2] * 1e9) if times else None
