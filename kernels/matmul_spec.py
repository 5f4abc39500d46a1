"""How the matmul kernels are run: what they are called with, what comes out, and what that is compared with."""

from typing import ClassVar


class Matmul:
    """C[M, N] = A[M, K] @ B[K, N] of contiguous tensors, for a kernel that takes pointers and strides."""

    sizes: ClassVar = {"M": 4096, "N": 4096, "K": 4096, "dtype": "fp16"}
    checked = (
        {"M": 1, "N": 1, "K": 1},
        {"M": 333, "N": 517, "K": 129},
        {"M": 128, "N": 256, "K": 4097},
        {"M": 100, "N": 1, "K": 33},
        {"M": 1000, "N": 777, "K": 1333},
        {"M": 1000, "N": 8, "K": 72, "dtype": "bf16"},
        {"M": 512, "N": 512, "K": 512, "dtype": "bf16"},
    )
    # fp16 alone: Triton's interpreter multiplies the bits of bf16 and fp8 as if they were integers.
    interpreted = (
        {"M": 1, "N": 1, "K": 1},
        {"M": 33, "N": 17, "K": 5},
        {"M": 64, "N": 64, "K": 64},
        {"M": 31, "N": 70, "K": 40},
        {"M": 100, "N": 1, "K": 33},
    )
    outputs: ClassVar = {"c": "poisoned"}

    def arguments(self, size, constants, device):
        a, b, c = self.tensors(size, device)
        strides = {
            "stride_am": a.stride(0),
            "stride_ak": a.stride(1),
            "stride_bk": b.stride(0),
            "stride_bn": b.stride(1),
            "stride_cm": c.stride(0),
            "stride_cn": c.stride(1),
        }
        return {"a": a, "b": b, "c": c, "M": size["M"], "N": size["N"], "K": size["K"], **strides}

    def tensors(self, size, device):
        """A, B and an empty C, in the layout that the size asks for."""
        import torch

        M, N, K, dtype = size["M"], size["N"], size["K"], _dtype(size["dtype"])
        turned = size.get("layout", "nn")
        a = self.random(K, M, dtype, device).T if turned[0] == "t" else self.random(M, K, dtype, device)
        b = self.random(N, K, dtype, device).T if turned[1] == "t" else self.random(K, N, dtype, device)
        # The matrix units do not write fp8: a product of fp8 is rounded to fp16.
        return a, b, self.empty(M, N, torch.float16 if dtype.itemsize == 1 else dtype, device)

    def random(self, rows, columns, dtype, device):
        """Standard normal: fp8 holds it without saturating (e4m3 reaches 448), and K**0.5 of it fits fp16."""
        import torch

        tensor = self.empty(rows, columns, dtype, device)
        tensor.copy_(torch.randn((rows, columns), device=device))
        return tensor

    def empty(self, rows, columns, dtype, device):
        import torch

        return torch.empty((rows, columns), dtype=dtype, device=device)

    def grid(self, size, constants):
        return (_tiles(size, constants),)

    def reference(self, size, arguments):
        import torch

        small = size["M"] * size["N"] * size["K"] <= 2**30
        wide = torch.float64 if small else torch.float32
        a, b, _ = self.operands(size, arguments)
        return {"c": _with_tf32(False, torch.mm, a.to(wide), b.to(wide))}

    def operands(self, size, arguments):
        """A, B and C again, of the arguments."""
        return [_tensor(arguments[name]) for name in "abc"]

    def tolerance(self, size):
        # Measured on an H200 at K = 2048: 0.9e-3, where this allows 4.5e-3.
        fp8 = (
            6e-4 + _up(size["K"], 32) // 32 * 2**-14,
            "fp16 rounds each result once; Hopper's matrix units cut sums off to about 14 bits at every 32nd product",
        )
        return {
            "fp16": (6e-4, "fp16 rounds each result once, by at most 2**-11 of it; fp32 accumulation adds far less"),
            "bf16": (4.5e-3, "bf16 rounds each result once, by at most 2**-8 of it; fp32 accumulation adds far less"),
            "fp32": (2e-3, "tf32 keeps 10 bits of each input's fraction: each product is off by at most 2**-9 of it"),
            "fp8e4m3": fp8,
            "fp8e5m2": fp8,
        }[size["dtype"]]

    def flops(self, size):
        """M N K multiplications and as many additions: the count of xGEMM in LAPACK Working Note 41, appendix C."""
        return 2 * size["M"] * size["N"] * size["K"]

    def bytes(self, size):
        M, N, K, itemsize = size["M"], size["N"], size["K"], _dtype(size["dtype"]).itemsize
        return (M * K + K * N) * itemsize + M * N * max(itemsize, 2)

    def baselines(self, size, arguments):
        import torch

        a, b, c = self.operands(size, arguments)
        if not a.is_cuda or torch.version.cuda is None:
            return {}
        if a.dtype.itemsize > 1:
            return {"cuBLAS": lambda: _with_tf32(True, torch.mm, a, b, out=c)}
        # cuBLAS multiplies fp8 row-major by column-major, in multiples of 16, and no e5m2 by e5m2.
        row_by_column = a.stride(1) == 1 and b.stride(0) == 1 and size["N"] % 16 == 0 and size["K"] % 16 == 0
        if not row_by_column or a.dtype != torch.float8_e4m3fn:
            return {}
        one = torch.ones((), device=a.device)
        return {
            "cuBLAS": lambda: torch._scaled_mm(a, b, one, one, out_dtype=c.dtype, use_fast_accum=True, out=c),
        }


class PaddedMatmul(Matmul):
    """The same with each row padded to a multiple of 16 bytes, which is what TMA asks of a row stride."""

    # Of a C of one fp16 element, TMA's store was seen (on an H200) to write the other 14 bytes of the row's 16, too.
    padding_is_free = True

    def empty(self, rows, columns, dtype, device):
        import torch

        per_16_bytes = 16 // dtype.itemsize
        return torch.empty((rows, _up(columns, per_16_bytes)), dtype=dtype, device=device)[:, :columns]


class DescribedMatmul(PaddedMatmul):
    """For a kernel that takes tensor descriptors, of blocks of BLOCK_M, BLOCK_N and BLOCK_K."""

    def arguments(self, size, constants, device):
        from triton.tools.tensor_descriptor import TensorDescriptor

        blocks = self.blocks(size, constants)
        described = {
            name: TensorDescriptor(tensor, list(tensor.shape), list(tensor.stride()), block)
            for name, tensor, block in zip("abc", self.in_memory(size, self.tensors(size, device)), blocks, strict=True)
        }
        return {**described, "M": size["M"], "N": size["N"], "K": size["K"]}

    def blocks(self, size, constants):
        block_m, block_n, block_k = (constants[f"BLOCK_{axis}"] for axis in "MNK")
        return [block_m, block_k], [block_k, block_n], [block_m, block_n]

    def in_memory(self, size, tensors):
        """The tensors as they lie in memory, where the last axis is the contiguous one."""
        return tensors


class PersistentMatmul(DescribedMatmul):
    """For programs that each compute several tiles."""

    def grid(self, size, constants):
        return (min(_processors(), _tiles(size, constants)),)

    def rounds(self, size, constants):
        """How many tiles the program that has most of them computes."""
        return _up(_tiles(size, constants), _processors()) // _processors()


class AnyMatmul(PersistentMatmul):
    """For a kernel that takes operands transposed in memory; layout nt is A @ B.T of row-major matrices."""

    sizes: ClassVar = {**Matmul.sizes, "layout": "nn"}
    checked = (
        *Matmul.checked,
        {"M": 333, "N": 517, "K": 129, "layout": "nt"},
        {"M": 1000, "N": 777, "K": 1333, "layout": "tn"},
        {"M": 517, "N": 333, "K": 72, "layout": "tt"},
    )
    # The last are large enough for tiles in pieces.
    interpreted = (
        *Matmul.interpreted,
        {"M": 33, "N": 17, "K": 5, "layout": "tn"},
        *({"M": 500, "N": 510, "K": 40, "layout": layout} for layout in ("nn", "nt", "tt")),
        *({"M": 500, "N": 510, "K": 40, "layout": layout, "dtype": "fp32"} for layout in ("nn", "tn", "tt")),
    )

    def arguments(self, size, constants, device):
        arguments = super().arguments(size, constants, device)
        return {**arguments, "A_T": self.turned(size, 0), "B_T": self.turned(size, 1), "SWAP": self.swapped(size)}

    def turned(self, size, operand):
        return size["layout"][operand] == "t"

    def swapped(self, size):
        """Whether C.T is computed: wgmma takes a B like this from registers alone, and only its first operand so."""
        return _dtype(size["dtype"]).itemsize != 2 and not self.turned(size, 1)

    def block_k(self, size):
        """128 bytes, the widest row that wgmma reads."""
        return 128 // _dtype(size["dtype"]).itemsize

    def blocks(self, size, constants):
        a, b, (rows, columns) = super().blocks(size, constants)
        pieces = constants["EPILOGUE_SUBTILE"]
        c = [rows // pieces, columns] if self.swapped(size) else [rows, columns // pieces]
        return self.in_memory(size, (a, b, c), lambda block: block[::-1])

    def in_memory(self, size, tensors, turn=lambda tensor: tensor.T):
        a, b, c = tensors
        return turn(a) if self.turned(size, 0) else a, turn(b) if self.turned(size, 1) else b, c

    def operands(self, size, arguments):
        return self.in_memory(size, super().operands(size, arguments))


class SpecializedMatmul(PaddedMatmul):
    """For programs that each compute several tiles and describe the tensors themselves."""

    def arguments(self, size, constants, device):
        arguments = super().arguments(size, constants, device)
        return {name: value for name, value in arguments.items() if name not in ("stride_ak", "stride_bn", "stride_cn")}

    def grid(self, size, constants):
        return (min(_processors(), _tiles(size, constants)),)


def _tiles(size, constants):
    return (
        _up(size["M"], constants["BLOCK_M"])
        // constants["BLOCK_M"]
        * (_up(size["N"], constants["BLOCK_N"]) // constants["BLOCK_N"])
    )


def _processors():
    """How many multiprocessors the GPU has; without one, few, so that a program has several tiles."""
    import torch

    return torch.cuda.get_device_properties().multi_processor_count if torch.cuda.is_available() else 2


def _up(number, multiple):
    return -(-number // multiple) * multiple


def _dtype(name):
    import torch

    return {
        "fp16": torch.float16,
        "bf16": torch.bfloat16,
        "fp32": torch.float32,
        "fp8e4m3": torch.float8_e4m3fn,
        "fp8e5m2": torch.float8_e5m2,
    }[name]


def _tensor(argument):
    """The tensor of a tensor descriptor, or the argument itself."""
    return getattr(argument, "base", argument)


def _with_tf32(allowed, function, *args, **keywords):
    import torch

    settings = torch.backends.cuda.matmul
    before, settings.allow_tf32 = settings.allow_tf32, allowed
    try:
        return function(*args, **keywords)
    finally:
        settings.allow_tf32 = before
