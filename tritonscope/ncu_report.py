"""Reads Nsight Compute's reports, as `ncu --import FILE --csv` prints them: of one kernel its metrics and samples.

https://docs.nvidia.com/nsight-compute/NsightComputeCli/ describes the pages, .../ProfilingGuide/ what stands in them.
"""

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from tritonscope.model import Sampled

__all__ = ["Metrics", "read_metrics", "read_samples"]

# Columns go by other names in other versions, the newest first.
_SAMPLES = ("Warp Stall Sampling (All Samples)", "Warp Stall Sampling (All Cycles)", "# Samples")
_NOT_ISSUED = ("Warp Stall Sampling (Not-issued Samples)", "Warp Stall Sampling (Not-issued Cycles)")
_EXECUTED = ("Instructions Executed",)
_STALL = re.compile(r"stall_(\w+)$")

_ADDRESS = re.compile(r"(?:0x)?([0-9a-fA-F]{1,16})$")
_LONGEST_NUMBER = 40
_MOST_ROWS = 1_000_000


@dataclass(frozen=True)
class Metrics:
    """The numbers of the kernel's one profiled launch, and their units, both by Nsight Compute's own names."""

    values: dict[str, float]
    units: dict[str, str]


def read_metrics(text: str, kernel: str) -> Metrics:
    """What `--page raw --csv` says of the launch of `kernel`; raises ValueError, with a clause, where that is nothing.

    A line of names, one of units, then one for each launch; what is no number is left out.
    """
    rows = _rows(text)
    names = next((row for row in rows if "Kernel Name" in row), None)
    units = next(rows, None)
    if names is None or units is None:
        raise ValueError("its raw page has no metrics")
    at = names.index("Kernel Name")
    launch = next((row for row in rows if len(row) == len(names) and row[at] == kernel), None)
    if launch is None:
        raise ValueError(f"its raw page has no launch of {kernel}")
    found = {
        name: (number, unit)
        for name, unit, cell in zip(names, units, launch, strict=False)
        if "__" in name and (number := _number(cell)) is not None
    }
    return Metrics(
        {name: number for name, (number, _) in found.items()}, {name: unit for name, (_, unit) in found.items()}
    )


def read_samples(text: str, kernel: str) -> tuple[Sampled, ...]:
    """The instructions in `--page source --print-source sass --csv`, in order; raises ValueError, with a clause.

    The page has a line with the function's name, one of columns, and then one for each instruction.
    """
    function: str | None = None
    columns: _Columns | None = None
    found: list[Sampled] = []
    first = 0
    for row in _rows(text):
        if row[0] == "Kernel Name" and len(row) > 1:
            function, columns = row[1], None
        elif "Address" in row and "Source" in row:
            columns = _columns(row)
        elif columns and function in (kernel, None) and (address := _address(row, columns.address)) is not None:
            first = first if found else address
            found.append(_sampled(row, columns, address - first))
    if not found:
        raise ValueError(f"its source page has no instructions of {kernel}")
    if any(each.offset <= before.offset for before, each in pairwise(found)):
        raise ValueError("the addresses on its source page do not rise")
    return tuple(found)


@dataclass(frozen=True)
class _Columns:
    address: int
    source: int
    samples: int | None
    not_issued: int | None
    executed: int | None
    stalls: tuple[tuple[str, int], ...]


def _columns(row: Sequence[str]) -> _Columns:
    def place(names: Sequence[str]) -> int | None:
        return next((row.index(name) for name in names if name in row), None)

    stalls = tuple((match[1], index) for index, name in enumerate(row) if (match := _STALL.match(name)))
    return _Columns(
        row.index("Address"), row.index("Source"), place(_SAMPLES), place(_NOT_ISSUED), place(_EXECUTED), stalls
    )


def _sampled(row: Sequence[str], columns: _Columns, offset: int) -> Sampled:
    samples = _count(row, columns.samples)
    stalls = {name: _count(row, index) for name, index in columns.stalls}
    if columns.stalls:  # some reasons have no column, waiting for a warpgroup for one
        stalls["unnamed"] = max(samples - sum(stalls.values()), 0)
    return Sampled(
        offset=offset,
        text=" ".join(row[columns.source].split()) if columns.source < len(row) else "",
        samples=samples,
        not_issued=_count(row, columns.not_issued),
        executed=_count(row, columns.executed),
        stalls={name: count for name, count in stalls.items() if count},
    )


def _count(row: Sequence[str], index: int | None) -> int:
    number = _number(row[index]) if index is not None and index < len(row) else None
    return max(int(number or 0), 0)


def _number(cell: str) -> float | None:
    """A finite number, its thousands apart or not; None for anything else, as "-" where there is none."""
    if len(cell) > _LONGEST_NUMBER or "_" in cell:
        return None
    try:
        number = float(cell.replace(",", ""))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _address(row: Sequence[str], index: int) -> int | None:
    match = _ADDRESS.match(row[index]) if index < len(row) else None
    return int(match[1], 16) if match else None


def _rows(text: str) -> Iterator[list[str]]:
    """The lines of the table that are not empty; what ncu says beside it (==PROF== ..) has one cell, and is no harm."""
    try:
        yield from islice((row for row in csv.reader(text.splitlines(keepends=True)) if row), _MOST_ROWS)
    except csv.Error as error:
        raise ValueError(f"it is no table ({error})") from None
