"""MLIR's own timing report (MLIR_ENABLE_TIMING), as a pass manager prints it when it is done. Standard library only."""

import re
from dataclasses import dataclass

__all__ = ["Timing", "parse_timing", "without_timing"]

_REPORT = re.compile(
    r"^===-+===\n +\.\.\. Execution time report \.\.\. *\n===-+===\n"
    r"(?P<body>.*?^ +[\d.]+ \( *[\d.]+%\)[^\n]*  Total\n)\n?",
    re.MULTILINE | re.DOTALL,
)
# The last column is wall time; up to Triton 3.4 the user's stands before it.
_LINE = re.compile(
    r"^(?: +-?[\d.]+ \( *-?[\d.]+%\))? +-?(?P<seconds>[\d.]+) \( *-?[\d.]+%\)  (?P<indent> *)(?P<name>.+)$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Timing:
    """One line of a report: `name` as printed, `seconds` of wall time, `depth` 0 for the pass itself."""

    name: str
    seconds: float
    depth: int


def parse_timing(text: str) -> list[Timing]:
    """The lines of every report in `text`, in the order printed, without the rest and the total."""
    return [
        Timing(line["name"], float(line["seconds"]), len(line["indent"]) // 2)
        for report in _REPORT.finditer(text)
        for line in _LINE.finditer(report["body"])
        if line["name"] not in ("Rest", "Total")
    ]


def without_timing(text: str) -> str:
    """`text` without the reports in it."""
    return _REPORT.sub("", text)
