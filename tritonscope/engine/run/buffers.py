"""Outputs between guards: memory that shows what a kernel did not write, and what it wrote beside it."""

from dataclasses import dataclass, replace
from typing import Any

from tritonscope.engine.run.call import tensor_of

__all__ = ["PATTERNS", "Guarded", "guard", "unwritten", "with_tensor"]

#: The bytes that memory holds before a launch. An element that equals first one and then the other was not written.
PATTERNS = (0xA5, 0x5A)

_GUARD = 1 << 16  # bytes on each side: a row too many of most matrices
_ALIGNMENT = 256  # bytes; what allocators give


@dataclass(frozen=True)
class Guarded:
    """`tensor` (any shape and strides) lies in `raw`, bytes, from `start` to `stop`; all around it is guard."""

    raw: Any
    tensor: Any
    start: int
    stop: int
    padding_is_free: bool = False

    def fill(self, pattern: int, inside: Any) -> None:
        """Set every byte to `pattern`, and then the tensor to `inside` (a tensor or a number) unless that is None."""
        self.raw.fill_(pattern)
        if inside is not None:
            self.tensor.copy_(inside) if hasattr(inside, "shape") else self.tensor.fill_(inside)

    def bits(self) -> Any:
        """The elements of the tensor as integers of their width, on the tensor's shape."""
        return _integers(self.raw[self.start : self.stop], self.tensor).as_strided(
            self.tensor.shape, self.tensor.stride()
        )

    def damage(self, pattern: int) -> str | None:
        """Where memory beside the tensor no longer holds `pattern`, in a clause; None where all of it does."""
        for name, part in (("before", self.raw[: self.start]), ("behind", self.raw[self.stop :])):
            wrong = (part != pattern).nonzero()
            if len(wrong):
                first, last = int(wrong[0]), int(wrong[-1])
                distance = self.start - last if name == "before" else first + 1
                return f"{len(wrong)} bytes were written {name} it, the nearest {distance} bytes away"
        return None if self.padding_is_free else self._damaged_gap(pattern)

    def _damaged_gap(self, pattern: int) -> str | None:
        """The same for the elements between its rows, where strides leave some."""
        import torch

        elements = _integers(self.raw[self.start : self.stop], self.tensor)
        if elements.numel() == self.tensor.numel():
            return None
        gaps = torch.ones(elements.numel(), dtype=torch.bool, device=elements.device)
        gaps.as_strided(self.tensor.shape, self.tensor.stride()).fill_(False)
        wrong = int((gaps & (elements != _as_integer(pattern, self.tensor.element_size()))).sum())
        return f"{wrong} elements were written between its rows" if wrong else None


def guard(tensor: Any, padding_is_free: bool = False) -> Guarded:
    """Memory for a tensor of the same shape, strides, type, device and alignment, between guards.

    Where `padding_is_free`, what the tensor's own allocation has between and behind its rows is no guard.
    """
    import torch

    size = tensor.element_size()
    span = sum((length - 1) * stride for length, stride in zip(tensor.shape, tensor.stride(), strict=True)) + 1
    if padding_is_free:
        span = max(span, tensor.untyped_storage().nbytes() // size - tensor.storage_offset())
    start = _GUARD + tensor.data_ptr() % _ALIGNMENT
    stop = start + (span if tensor.numel() else 0) * size
    raw = torch.empty(stop + _GUARD, dtype=torch.uint8, device=tensor.device)
    shaped = raw[start:stop].view(tensor.dtype).as_strided(tensor.shape, tensor.stride())
    return Guarded(raw, shaped, start, stop, padding_is_free)


def unwritten(first: Any, second: Any) -> Any:
    """Which elements hold the first pattern in `first` and the second in `second`, both integers as `bits` gives."""
    size = first.element_size()
    return (first == _as_integer(PATTERNS[0], size)) & (second == _as_integer(PATTERNS[1], size))


def with_tensor(argument: Any, tensor: Any) -> Any:
    """`argument` with another tensor in its place, or under its descriptor."""
    return replace(argument, base=tensor) if tensor_of(argument) is not argument else tensor


def _integers(raw: Any, tensor: Any) -> Any:
    import torch

    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return raw.view(kinds[tensor.element_size()])


def _as_integer(pattern: int, size: int) -> int:
    return pattern if size == 1 else int.from_bytes(bytes([pattern]) * size, "little", signed=True)
