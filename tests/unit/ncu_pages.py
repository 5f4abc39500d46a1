"""Nsight Compute's pages for any SASS, in the form of the recorded ones in tests/data/ncu; the numbers are made up."""

import csv
import io
import re

__all__ = ["raw_page", "source_page"]

_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;?\s*$")
_COLUMNS = [
    "Address",
    "Source",
    "Warp Stall Sampling (All Samples)",
    "Warp Stall Sampling (Not-issued Samples)",
    "# Samples",
    "Instructions Executed",
    "Thread Instructions Executed",
    "Address Space",
    "stall_long_sb",
    "stall_selected",
    "stall_wait",
    "stall_long_sb (Not Issued)",
    "stall_selected (Not Issued)",
    "stall_wait (Not Issued)",
]


def source_page(sass: str, kernel: str, hot: dict[str, int], base: int = 0x7F0000A00) -> str:
    """The source page: of each instruction whose text holds a key of `hot` as many samples, all waiting for memory."""
    out = io.StringIO()
    write = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow
    write(["Kernel Name", kernel])
    write(_COLUMNS)
    for line in sass.split("\n"):
        match = _INSTRUCTION.match(line)
        if match:
            samples = next((count for word, count in hot.items() if word in match[2]), 0)
            address = hex(base + int(match[1], 16))
            rest = [samples, samples, samples, 8, 256, "-", samples, 0, 0, samples, 0, 0]
            write([address, f"      {match[2]} ", *rest])
    return out.getvalue()


def raw_page(kernel: str, metrics: dict[str, tuple[str, str]]) -> str:
    """The raw page with `metrics`: units and values as text."""
    out = io.StringIO()
    write = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow
    write(["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Block Size", "Grid Size", "CC", *metrics])
    write(["", "", "", "", "", "", "", "", *(unit for unit, _ in metrics.values())])
    write(["0", "42", "python", "here", kernel, "(256, 1, 1)", "(64, 1, 1)", "9.0", *(v for _, v in metrics.values())])
    return "==PROF== a line that is no table\n" + out.getvalue()
