"""What a profile says in a few numbers, by names of our own: Nsight Compute's differ by version and GPU."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tritonscope.model import Profile

__all__ = ["STALLS", "Summary", "limit", "stall_name", "stall_words", "summary_of"]

# The first that is there counts. https://docs.nvidia.com/nsight-compute/ProfilingGuide/#metrics-reference
_METRICS = {
    "cycles": ("gpc__cycles_elapsed.max", "sm__cycles_elapsed.max"),
    "compute_percent": ("sm__throughput.avg.pct_of_peak_sustained_elapsed",),
    "memory_percent": ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",),
    "dram_percent": (
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
        "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    ),
    "l2_percent": ("lts__throughput.avg.pct_of_peak_sustained_elapsed",),
    "l1_percent": ("l1tex__throughput.avg.pct_of_peak_sustained_active",),
    "l2_hit_percent": ("lts__t_sector_hit_rate.pct",),
    "occupancy_percent": ("sm__warps_active.avg.pct_of_peak_sustained_active",),
    "possible_occupancy_percent": ("sm__maximum_warps_per_active_cycle_pct",),
    "registers": ("launch__registers_per_thread",),
    "blocks": ("launch__grid_size",),
    "threads": ("launch__block_size",),
    "waves": ("launch__waves_per_multiprocessor",),
    "instructions_per_cycle": ("sm__inst_executed.avg.per_cycle_active", "sm__inst_executed.avg.per_cycle_elapsed"),
}
_DURATION = "gpu__time_duration.sum"
_MICROSECONDS = {
    **dict.fromkeys(("ns", "nsecond"), 1e-3),
    **dict.fromkeys(("us", "usecond"), 1.0),
    **dict.fromkeys(("ms", "msecond"), 1e3),
    **dict.fromkeys(("s", "second"), 1e6),
}
_TENSOR = "sm__pipe_tensor"
_TENSOR_ENDS = ("_cycles_active.avg.pct_of_peak_sustained_active", "_cycles_active.avg.pct_of_peak_sustained_elapsed")

#: Under this share of their peaks neither compute nor memory is what limits.
_BUSY = 60.0

#: Why a warp does not issue its next instruction, in words.
STALLS: Mapping[str, str] = {
    "barrier": "waits for the other warps at a barrier",
    "branch_resolve": "waits for the target of a branch",
    "dispatch": "the dispatcher holds it back",
    "drain": "waits for its stores at the end",
    "gmma": "waits for the tensor cores (wgmma)",
    "imc": "waits for constants that are not in the cache",
    "lg": "the queue for global and local memory is full",
    "long_sb": "waits for global or local memory",
    "math": "its arithmetic unit is busy",
    "membar": "waits at a memory barrier",
    "mio": "the queue for shared memory and special instructions is full",
    "misc": "something else",
    "no_inst": "its instructions are not in the cache, or it jumped",
    "not_selected": "could go, and another warp went",
    "selected": "goes: no stall",
    "short_sb": "waits for shared memory or a special function",
    "sleep": "sleeps",
    "unnamed": "a reason that Nsight Compute's source page has no column for",
    "tex": "the queue for textures is full",
    "wait": "waits the fixed time after its last instruction",
    "warpgroup_arrive": "waits for its warpgroup",
}
_OTHER_NAMES = {
    "branch_resolving": "branch_resolve",
    "imc_miss": "imc",
    "lg_throttle": "lg",
    "long_scoreboard": "long_sb",
    "math_pipe_throttle": "math",
    "mio_throttle": "mio",
    "no_instruction": "no_inst",
    "no_instructions": "no_inst",
    "short_scoreboard": "short_sb",
    "sleeping": "sleep",
    "tex_throttle": "tex",
}


@dataclass(frozen=True)
class Summary:
    """`numbers` by the names of the JSON of `profile`, those that are known; `stalls` in samples, the most first."""

    numbers: Mapping[str, float]
    samples: int
    not_issued: int
    stalls: Mapping[str, int]


def summary_of(profile: Profile) -> Summary:
    """The summary of a profile; sums are over the kernel's instructions."""
    stalls: Counter[str] = Counter()
    for each in profile.instructions:
        for name, count in each.stalls.items():
            stalls[stall_name(name)] += count
    return Summary(
        _numbers(profile),
        sum(each.samples for each in profile.instructions),
        sum(each.not_issued for each in profile.instructions),
        dict(stalls.most_common()),
    )


def _numbers(profile: Profile) -> dict[str, float]:
    metrics = profile.metrics
    found = {}
    if (duration := metrics.get(_DURATION)) is not None:
        unit = profile.units.get(_DURATION, "")
        if unit in _MICROSECONDS:
            found["microseconds"] = duration * _MICROSECONDS[unit]
    for ours, theirs in _METRICS.items():
        if (name := next((name for name in theirs if name in metrics), None)) is not None:
            found[ours] = metrics[name]
    tensor = [value for name, value in metrics.items() if name.startswith(_TENSOR) and name.endswith(_TENSOR_ENDS)]
    return found | ({"tensor_percent": max(tensor)} if tensor else {})


def stall_name(name: str) -> str:
    """A reason to stall by the name that STALLS has, whichever version spelt it; one that is unknown as it is."""
    return _OTHER_NAMES.get(name, name)


def stall_words(name: str) -> str:
    """What a reason to stall means, "" for one that is unknown."""
    return STALLS.get(name, "")


def limit(summary: Summary) -> str:
    """What limits the kernel, in a clause, by how near compute and memory are to their peaks; "" where not known."""
    compute, memory = summary.numbers.get("compute_percent"), summary.numbers.get("memory_percent")
    if compute is None or memory is None:
        return ""
    if max(compute, memory) >= _BUSY:
        return "compute is what limits" if compute >= memory else "memory is what limits"
    if 0 < summary.numbers.get("waves", 1.0) < 1:
        return "neither is near its peak, and the grid does not fill the GPU once: more or smaller blocks would"
    return "neither is near its peak: waiting is what limits, see the stalls"
