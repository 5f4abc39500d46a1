"""How long kernels take on the device, several compared in one run."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tritonscope.engine.run.launch import Fault, synchronize

__all__ = ["copies_worth_rotating", "measure"]

_WARM_UP_MS = 25.0
_BUDGET_MS = 400.0  # of one contender's own time
_FEWEST, _MOST = 20, 200


def measure(
    contenders: Mapping[str, Sequence[Callable[[], object]]],
    repetitions: int | None,
    alive: Callable[[], None],
) -> dict[str, list[float]]:
    """Milliseconds of each repetition of each contender, by device events.

    A contender is a list of functions that launch the same on different inputs, taken in turn. One repetition of each
    comes after the other, in an order that turns round every time, and each behind a write larger than the L2 cache.
    `alive` is called now and then. A contender that fails is left out, unless the device went with it (Fault).
    """
    import torch

    flush = _flush_buffer()
    working = {name: calls for name, calls in contenders.items() if _works(calls)}
    alive()
    once = max((_once(calls, flush) for calls in working.values()), default=1.0)
    alive()
    count = repetitions or int(min(max(_BUDGET_MS / max(once, 1e-3), _FEWEST), _MOST))
    for calls in working.values():
        for index in range(int(min(max(_WARM_UP_MS / max(once, 1e-3), 2), 50))):
            calls[index % len(calls)]()
    names = list(working)
    events: dict[str, list[Any]] = {name: [] for name in names}
    for index in range(count):
        for name in names if index % 2 == 0 else reversed(names):
            calls = working[name]
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            flush.zero_()
            start.record()
            calls[index % len(calls)]()
            stop.record()
            events[name].append((start, stop))
        if index % 16 == 15:
            synchronize()
            alive()
    synchronize()
    return {name: [start.elapsed_time(stop) for start, stop in pairs] for name, pairs in events.items()}


def copies_worth_rotating(bytes_of_one: int) -> int:
    """How many sets of inputs to take in turn: 1 where memory is short, else enough to outgrow the L2 cache, 2 to 4."""
    import torch

    free, _ = torch.cuda.mem_get_info()
    fit = int(free // 2 // max(bytes_of_one, 1))
    wanted = 2 + (2 * _l2_bytes()) // max(bytes_of_one, 1)
    return max(min(wanted, fit, 4), 1)


def _works(calls: Sequence[Callable[[], object]]) -> bool:
    """A baseline may refuse a size; that it does is its own affair."""
    try:
        for call in calls:
            call()
        synchronize()
    except Fault:
        raise
    except Exception:
        return False
    return True


def _once(calls: Sequence[Callable[[], object]], flush: Any) -> float:
    import torch

    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    flush.zero_()
    start.record()
    calls[0]()
    stop.record()
    synchronize()
    return float(start.elapsed_time(stop))


def _l2_bytes() -> int:
    import torch

    return int(getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 << 20))


def _flush_buffer() -> Any:
    """Bytes whose writing empties the L2 cache, and gives the host time to be ahead of the device."""
    import torch

    return torch.empty(max(4 * _l2_bytes(), 256 << 20), dtype=torch.uint8, device="cuda")
