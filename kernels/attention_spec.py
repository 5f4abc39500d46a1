"""How the attention kernels are run: what they are called with, what comes out, and what that is compared with."""

from typing import ClassVar

# float64 up to this many scores in all, and float32 by parts of this many above.
_SCORES = 2**26


class Attention:
    """O = softmax(Q K^T * scale) V, per head, with the log-sum-exp of each row of scores.

    `queries` and `kv_heads` are 0 where they equal `tokens` and `heads`.
    """

    sizes: ClassVar = {
        "batch": 4,
        "heads": 16,
        "kv_heads": 0,
        "queries": 0,
        "tokens": 4096,
        "head_dim": 128,
        "causal": 0,
        "dtype": "fp16",
    }
    checked = (
        {"batch": 1, "heads": 2, "queries": 1, "tokens": 1000},
        {"batch": 2, "heads": 3, "queries": 333, "tokens": 517},
        {"batch": 1, "heads": 4, "kv_heads": 2, "queries": 300, "tokens": 777, "causal": 1},
        # Queries before the first key see none.
        {"batch": 1, "heads": 2, "queries": 517, "tokens": 333, "causal": 1},
        {"batch": 1, "heads": 2, "tokens": 640, "head_dim": 64, "causal": 1},
        {"batch": 1, "heads": 2, "queries": 200, "tokens": 331, "head_dim": 256, "causal": 1},
        {"batch": 1, "heads": 4, "kv_heads": 1, "tokens": 513, "causal": 1, "dtype": "bf16"},
    )
    interpreted = (
        {"batch": 1, "heads": 1, "tokens": 1, "head_dim": 64},
        {"batch": 1, "heads": 2, "kv_heads": 1, "queries": 33, "tokens": 150, "head_dim": 64, "causal": 1},
        {"batch": 1, "heads": 1, "queries": 150, "tokens": 70, "head_dim": 64, "causal": 1},
        {"batch": 2, "heads": 1, "queries": 130, "tokens": 140, "head_dim": 64},
    )
    outputs: ClassVar = {"o": "poisoned", "lse": "poisoned"}

    def arguments(self, size, constants, device):
        import torch

        q, k, v = self.inputs(size, device)
        o = torch.empty_like(q)
        lse = torch.empty(q.shape[:2], dtype=torch.float32, device=device)
        return {"q": q, "k": k, "v": v, "o": o, "lse": lse, **self.numbers(size, q=q, k=k, v=v, o=o)}

    def inputs(self, size, device):
        """q, k and v of normal numbers, [batch * heads, length, head_dim] each."""
        import torch

        def normal(heads, length):
            shape = (size["batch"] * heads, length, size["head_dim"])
            return torch.randn(shape, dtype=_dtype(size["dtype"]), device=device)

        queries, keys = _lengths(size)
        kv_heads = size["heads"] // group(size)
        return normal(size["heads"], queries), normal(kv_heads, keys), normal(kv_heads, keys)

    def numbers(self, size, **tensors):
        """The scale, the strides of heads and rows, the lengths, and the constexprs that the size decides."""
        strides = {}
        for name, tensor in tensors.items():
            strides[f"stride_{name}h"] = tensor.stride(0)
            strides[f"stride_{name}{'n' if name in 'kv' else 'm'}"] = tensor.stride(1)
        queries, keys = _lengths(size)
        decided = {"HEAD_DIM": size["head_dim"], "CAUSAL": bool(size["causal"]), "GROUP": group(size)}
        return {"scale": size["head_dim"] ** -0.5, **strides, "M": queries, "N": keys, **decided}

    def grid(self, size, constants):
        return (tiles(_lengths(size)[0], constants["BLOCK_M"]), size["batch"] * size["heads"])

    def reference(self, size, arguments):
        """By the definition, a head and some rows at a time: a matrix of 16384 x 16384 float32 scores takes 1 GiB."""
        import torch

        q, k, v = (described(arguments[name]) for name in "qkv")
        o = torch.empty(q.shape, dtype=_wide(size), device=q.device)
        lse = torch.empty(q.shape[:2], dtype=_wide(size), device=q.device)
        for head, kv_head, rows in _parts(size):
            part, kh, vh = q[head, rows].to(o.dtype), k[kv_head].to(o.dtype), v[kv_head].to(o.dtype)
            scores = _scores(size, part, kh, rows)
            lse[head, rows] = scores.logsumexp(1)
            o[head, rows] = torch.exp(scores - _finite(lse[head, rows])[:, None]) @ vh
        return {"o": o, "lse": lse}

    def tolerance(self, size):
        error, rounding = {"fp16": (1e-3, "2**-11"), "bf16": (8e-3, "2**-8")}[size["dtype"]]
        return {
            "o": (error, f"{size['dtype']} rounds the weights and the result by at most {rounding} of each"),
            "lse": (1e-5, "fp32 sums of exact products; exp2 and log2 are approximated to 2**-22"),
        }

    def flops(self, size):
        """Two products of M N D per head, half of that where causal: the count of FlashAttention-2, section 4.1."""
        queries, keys = _lengths(size)
        whole = 4 * queries * keys * size["head_dim"] * size["batch"] * size["heads"]
        return whole / 2 if size["causal"] else whole

    def bytes(self, size):
        """q, k and v read once, o and lse written once."""
        q, k, lse = _numels(size)
        return 2 * (2 * q + 2 * k) + 4 * lse

    def baselines(self, size, arguments):
        return {name: lambda run=run: run() for name, run in _library(size, arguments, grad=False).items()}


class DescribedAttention(Attention):
    """For a kernel that takes tensor descriptors of q, k, v and o, of blocks [1, BLOCK_M or BLOCK_N, head_dim]."""

    def arguments(self, size, constants, device):
        arguments = super().arguments(size, constants, device)
        blocks = {"q": "BLOCK_M", "k": "BLOCK_N", "v": "BLOCK_N", "o": "BLOCK_M"}
        described = {
            name: self.descriptor(arguments[name], [1, constants[block], size["head_dim"]])
            for name, block in blocks.items()
        }
        undescribed = {name: value for name, value in arguments.items() if not name.startswith("stride_")}
        return {**undescribed, **described}

    def descriptor(self, tensor, block):
        from triton.tools.tensor_descriptor import TensorDescriptor

        return TensorDescriptor.from_tensor(tensor, block)


class GluonAttention(DescribedAttention):
    """For a Gluon kernel, whose descriptors of q and o have blocks of the 64 queries that a group of warps takes."""

    def arguments(self, size, constants, device):
        if size["head_dim"] not in (64, 128, 256):
            raise ValueError(f"this kernel takes a head_dim of 64, 128 or 256, not {size['head_dim']}")
        return super().arguments(size, {**constants, "BLOCK_M": 64}, device)

    def descriptor(self, tensor, block):
        from triton.experimental.gluon.language import NVMMASharedLayout
        from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

        layout = NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=3)
        return TensorDescriptor.from_tensor(tensor, block, layout)


class UnfusedAttention(Attention):
    """For a kernel that keeps the scores in memory, and leaves there what it made of them."""

    outputs: ClassVar = {**Attention.outputs, "scores": "poisoned"}

    def arguments(self, size, constants, device):
        import torch

        arguments = super().arguments(size, constants, device)
        queries, keys = _lengths(size)
        shape = (size["batch"] * size["heads"], queries, keys)
        return {**arguments, "scores": torch.empty(shape, dtype=torch.float32, device=device)}


class AttentionBackward(Attention):
    """dq, dk and dv from do, the forward pass's lse, and delta, the sums of o * do along each row.

    Making delta is left out of the kernel, and so of its time and `bytes`, but is part of what the baselines do: a fair
    ratio adds the time of a pass over o and do.
    """

    outputs: ClassVar = {"dq": "poisoned", "dk": "poisoned", "dv": "poisoned"}

    def arguments(self, size, constants, device):
        import torch

        q, k, v = self.inputs(size, device)
        do = torch.randn_like(q)
        lse, delta = (torch.empty(q.shape[:2], dtype=torch.float32, device=device) for _ in range(2))
        if q.device.type != "meta":
            forward = Attention.reference(self, size, {"q": q, "k": k, "v": v})
            lse.copy_(forward["lse"])
            delta.copy_((forward["o"].to(q.dtype).float() * do.float()).sum(2))
        gradients = {f"d{name}": torch.empty_like(each) for name, each in zip("qkv", (q, k, v), strict=True)}
        # do, dq, dk and dv lie as o, q, k and v do.
        numbers = self.numbers(size, q=q, k=k, v=v, o=do)
        return {"q": q, "k": k, "v": v, "do": do, "lse": lse, "delta": delta, **gradients, **numbers}

    def grid(self, size, constants):
        queries, keys = _lengths(size)
        per_group = tiles(keys, constants["BLOCK_N"]) + group(size) * tiles(queries, constants["BLOCK_M2"])
        return (per_group, size["batch"] * size["heads"] // group(size))

    def reference(self, size, arguments):
        import torch

        q, k, v, do = (described(arguments[name]) for name in ("q", "k", "v", "do"))
        scale = arguments["scale"]
        dq, dk, dv = (torch.zeros(each.shape, dtype=_wide(size), device=q.device) for each in (q, k, v))
        for head, kv_head, rows in _parts(size):
            part, grad, kh, vh = (each.to(dq.dtype) for each in (q[head, rows], do[head, rows], k[kv_head], v[kv_head]))
            scores = _scores(size, part, kh, rows)
            weights = torch.exp(scores - _finite(scores.logsumexp(1))[:, None])
            dv[kv_head] += weights.T @ grad
            d_weights = grad @ vh.T
            d_scores = weights * (d_weights - (weights * d_weights).sum(1)[:, None])
            dq[head, rows] = d_scores @ kh * scale
            dk[kv_head] += d_scores.T @ part * scale
        return {"dq": dq, "dk": dk, "dv": dv}

    def tolerance(self, size):
        error, rounding = {"fp16": (2e-3, "2**-11"), "bf16": (1.6e-2, "2**-8")}[size["dtype"]]
        why = f"{size['dtype']} rounds weights, their gradients and the result by at most {rounding} of each"
        return dict.fromkeys(("dq", "dk", "dv"), (error, why))

    def flops(self, size):
        """Five products where the forward has two: the count of FlashAttention-2, section 4.1."""
        return 2.5 * super().flops(size)

    def bytes(self, size):
        """q, k, v, do, lse and delta read once, dq, dk and dv written once."""
        q, k, lse = _numels(size)
        return 2 * (3 * q + 4 * k) + 8 * lse

    def baselines(self, size, arguments):
        """The backward pass alone, of a graph made here; theirs computes delta, which the kernel is given."""
        import torch

        do = described(arguments["do"])
        found = {}
        for name, run in _library(size, arguments, grad=True).items():
            o, inputs = run()
            grad = do.view(o.shape)

            def backward(o=o, inputs=inputs, grad=grad):
                return torch.autograd.grad(o, inputs, grad, retain_graph=True)

            found[name] = backward
        return found


def group(size):
    """How many query heads share a head of keys and values."""
    return size["heads"] // (size["kv_heads"] or size["heads"])


def tiles(length, block):
    """How many tiles cover that length."""
    return -(-length // block)


def described(argument):
    """The tensor of a tensor descriptor, or the argument itself."""
    return getattr(argument, "base", argument)


def _lengths(size):
    return size["queries"] or size["tokens"], size["tokens"]


def _numels(size):
    queries, keys = _lengths(size)
    rows = size["batch"] * size["heads"] * queries
    return rows * size["head_dim"], size["batch"] * size["heads"] // group(size) * keys * size["head_dim"], rows


def _wide(size):
    import torch

    queries, keys = _lengths(size)
    return torch.float64 if size["batch"] * size["heads"] * queries * keys <= _SCORES else torch.float32


def _parts(size):
    """(head, its head of keys and values, a slice of its rows) for everything there is, some scores at a time."""
    queries, keys = _lengths(size)
    step = max(1, _SCORES // keys)
    for head in range(size["batch"] * size["heads"]):
        for first in range(0, queries, step):
            yield head, head // group(size), slice(first, min(first + step, queries))


def _scores(size, q, k, rows):
    """The scaled scores of some rows of one head, -inf where a row does not see a key."""
    import torch

    queries, keys = _lengths(size)
    scores = q @ k.T * size["head_dim"] ** -0.5
    if size["causal"]:
        row = torch.arange(rows.start, rows.stop, device=q.device)[:, None]
        scores.masked_fill_(torch.arange(keys, device=q.device)[None, :] > row + keys - queries, float("-inf"))
    return scores


def _finite(lse):
    """A row that sees no key has -inf: subtract 0 there."""
    return lse.masked_fill(lse.isinf(), 0.0)


def _library(size, arguments, grad):
    """PyTorch's attention by backend, each a function that gives o, or (o, [q, k, v]) to differentiate."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    queries, keys = _lengths(size)
    q, k, v = (described(arguments[name]) for name in "qkv")
    # PyTorch aligns the first query with the first key.
    if not q.is_cuda or (size["causal"] and queries != keys):
        return {}
    inputs = [each.view(size["batch"], -1, *each.shape[1:]).detach().requires_grad_(grad) for each in (q, k, v)]
    causal, grouped = bool(size["causal"]), group(size) > 1

    def run(backend):
        with sdpa_kernel(backend):
            o = torch.nn.functional.scaled_dot_product_attention(*inputs, is_causal=causal, enable_gqa=grouped)
        return (o, inputs) if grad else o

    found = {}
    for name, backend in (("cuDNN", SDPBackend.CUDNN_ATTENTION), ("flash", SDPBackend.FLASH_ATTENTION)):
        try:
            run(backend)
        except RuntimeError:  # this backend does not take that size
            continue
        found[name] = lambda backend=backend: run(backend)
    return found


def _dtype(name):
    import torch

    return {"fp16": torch.float16, "bf16": torch.bfloat16}[name]
