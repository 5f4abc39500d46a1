"""How many blocks of a kernel fit on a multiprocessor of an NVIDIA GPU at once, and what lets no more in.

The rules and granularities are those of `cuda_occupancy.h`, which NVIDIA publishes and Triton's wheel carries; the
limits of each architecture are those of the table "Technical Specifications per Compute Capability" in the CUDA
programming guide. Standard library only.

Tensor memory is not in that header: a multiprocessor has 512 columns, says the PTX ISA under tcgen05.alloc.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["LIMITS", "Limits", "Occupancy", "occupancy", "occupancy_of"]

_WARP = 32
_REGISTERS = 65536
_REGISTERS_AT_A_TIME = 256  # of a warp
_PARTITIONS = 4
_MOST_THREADS = 1024
_MOST_REGISTERS = 255


@dataclass(frozen=True)
class Limits:
    """What a multiprocessor has: `warps` and `blocks` at most, and shared memory in bytes.

    `shared` is all of it, `reserved` what the driver takes of it for each block, `shared_at_a_time` the granularity;
    `barriers` and `columns` of tensor memory are how many all blocks have together, None where they limit nothing.
    Registers are 65,536 everywhere.
    """

    warps: int
    blocks: int
    shared: int
    reserved: int = 1024
    shared_at_a_time: int = 128
    barriers: int | None = None
    columns: int | None = None


#: By compute capability, without the dot.
LIMITS: Mapping[str, Limits] = {
    "75": Limits(32, 16, 64 << 10, reserved=0, shared_at_a_time=256),
    "80": Limits(64, 32, 164 << 10),
    "86": Limits(48, 16, 100 << 10),
    "87": Limits(48, 16, 164 << 10),
    "89": Limits(48, 24, 100 << 10),
    "90": Limits(64, 32, 228 << 10, barriers=64),
    "100": Limits(64, 32, 228 << 10, barriers=64, columns=512),
    "103": Limits(64, 32, 228 << 10, barriers=64, columns=512),
    "110": Limits(48, 24, 228 << 10, barriers=24, columns=512),
    "120": Limits(48, 24, 100 << 10, barriers=24),
    "121": Limits(48, 24, 100 << 10, barriers=24),
}


@dataclass(frozen=True)
class Occupancy:
    """`blocks` of a kernel are on a multiprocessor at once, together `warps` of the `of` that it can hold.

    `allows` says how many blocks each resource alone would let in: "registers", "shared memory", "warps", "blocks",
    "barriers", "tensor memory"; `limited_by` names those that let in the fewest. `next_registers` and `next_shared` are
    the most registers a thread and bytes of shared memory a block could have for one block more to fit, None where no
    such number would do.
    """

    blocks: int
    warps: int
    of: int
    allows: Mapping[str, int]
    limited_by: tuple[str, ...]
    next_registers: int | None
    next_shared: int | None


def occupancy(
    arch: str, registers: int, threads: int, shared: int, barriers: int = 1, columns: int = 0
) -> Occupancy | None:
    """What fits on a multiprocessor of compute capability `arch` ("90"), None where its limits are not known.

    `registers` are a thread's, `threads` a block's, `shared` a block's bytes, static and dynamic, without what the
    driver reserves; `barriers` a block's named barriers, `columns` those of tensor memory that it allocates.
    """
    limits = LIMITS.get(arch)
    if limits is None or not 0 < threads <= _MOST_THREADS:
        return None
    warps = -(-threads // _WARP)
    allows = {
        "registers": _by_registers(registers, warps),
        "shared memory": _by_shared(shared, limits),
        "warps": limits.warps // warps,
        "blocks": limits.blocks,
    }
    if limits.barriers is not None and barriers:
        allows["barriers"] = limits.barriers // barriers
    if limits.columns is not None and columns:
        allows["tensor memory"] = limits.columns // columns
    blocks = min(allows.values())
    more = blocks + 1
    room = all(count >= more for name, count in allows.items() if name not in ("registers", "shared memory"))
    return Occupancy(
        blocks,
        blocks * warps,
        limits.warps,
        allows,
        tuple(name for name, count in allows.items() if count == blocks),
        _most_registers(more, warps) if room else None,
        _most_shared(more, limits) if room else None,
    )


def occupancy_of(target: str, resources: Mapping[str, Any]) -> Occupancy | None:
    """That of a capture, from its target ("sm_90") and resources; None for AMD, and where they do not say enough."""
    registers, threads, shared = (resources.get(name) for name in ("registers", "threads", "shared"))
    if not target.startswith("sm_"):
        return None
    if not (isinstance(registers, int) and isinstance(threads, int) and isinstance(shared, int)):
        return None
    barriers, columns = (resources.get(name) for name in ("barriers", "tmem"))
    return occupancy(
        target.removeprefix("sm_"),
        registers,
        threads,
        shared,
        barriers if isinstance(barriers, int) else 1,
        columns if isinstance(columns, int) else 0,
    )


def _by_registers(registers: int, warps: int) -> int:
    of_a_warp = _rounded_up(registers * _WARP, _REGISTERS_AT_A_TIME)
    # The hardware checks a block as if its warps were spread evenly over the partitions.
    if registers > _MOST_REGISTERS or of_a_warp * _rounded_up(warps, _PARTITIONS) > _REGISTERS:
        return 0
    return _REGISTERS // _PARTITIONS // max(of_a_warp, _REGISTERS_AT_A_TIME) * _PARTITIONS // warps


def _by_shared(shared: int, limits: Limits) -> int:
    # A single block may have all but what is reserved for it.
    return limits.shared // max(_rounded_up(shared + limits.reserved, limits.shared_at_a_time), limits.shared_at_a_time)


def _most_registers(blocks: int, warps: int) -> int | None:
    fitting = (n for n in range(_MOST_REGISTERS, 0, -1) if _by_registers(n, warps) >= blocks)
    return next(fitting, None)


def _most_shared(blocks: int, limits: Limits) -> int | None:
    most = limits.shared // blocks // limits.shared_at_a_time * limits.shared_at_a_time - limits.reserved
    return most if most >= 0 else None


def _rounded_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
