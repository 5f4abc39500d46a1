"""A profile as text: what limits the kernel, why its warps wait, and the lines where they do."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from tritonscope.hot_lines import Tally
from tritonscope.model import Profile
from tritonscope.printable import escape
from tritonscope.profile_summary import Summary, limit, stall_words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["HotLine", "print_hot", "print_marked", "print_summary", "short_place"]

_BAR = 10
_LEAST_STALL = 0.01  # of all samples
_NAMED_STALLS = 2
_HOT = 0.1
_LONGEST_TEXT = 120


class HotLine(NamedTuple):
    """A line of a text, what to call it, and what was seen of it: None for nothing."""

    place: str
    text: str
    tally: Tally | None


def print_summary(profile: Profile, summary: Summary, capture: str, console: "Console") -> None:
    """What ran where, how long, how near to which peak, and the reasons to stall."""
    from rich.text import Text

    size = ",".join(f"{name}={value}" for name, value in profile.size.items())
    console.print(Text(escape(f"{profile.kernel}  {size}".rstrip()), style="bold"), soft_wrap=True)
    tool = f"Nsight Compute {profile.tool}".rstrip()
    lines = [
        ("capture", capture),
        ("on", f"{profile.device or 'an unknown GPU'}, by {tool}, {profile.created}"),
        *_numbers(summary),
        *(("note", note) for note in profile.notes),
    ]
    for label, value in lines:
        console.print(Text(f"  {label:10}", style="dim"), Text(escape(value)), sep="", soft_wrap=True)
    if not summary.samples:
        return
    console.print(Text("  why warps do not go on, of their samples", style="dim"))
    for name, count in summary.stalls.items():
        if count >= _LEAST_STALL * summary.samples:
            words = stall_words(name)
            console.print(_share(count, summary.samples), Text(escape(f"{name:17}{words}").rstrip()), soft_wrap=True)


def print_hot(title: str, lines: Sequence[HotLine], total: int, console: "Console") -> None:
    """The lines given, each with its share of `total` samples and what its warps mostly wait for."""
    from rich.text import Text

    if not lines:
        return
    console.print(Text(escape(title), style="bold"))
    places = max(len(line.place) for line in lines)
    reasons = {line.place: _why(line.tally.stalls) if line.tally else "" for line in lines}
    width = max(map(len, reasons.values()))
    for place, text, tally in lines:
        row = Text.assemble(
            _share(tally.samples if tally else 0, total),
            (f"{reasons[place]:{width}}  ", "cyan"),
            (f"{escape(place):>{places}}  ", "dim"),
            escape(_shortened(" ".join(text.split()))),
        )
        console.print(row, no_wrap=True, overflow="ellipsis")


def print_marked(lines: Sequence[HotLine], total: int, console: "Console") -> None:
    """A whole text with the samples of each line in front of it, and how many lines have the same ones."""
    from rich.text import Text

    width = max((len(line.place) for line in lines), default=0)
    shares = any(line.tally and line.tally.shared > 1 for line in lines)
    if shares:
        console.print(Text("samples, and how many lines came from the same place and share them", style="dim"))
    for place, text, tally in lines:
        seen = tally if tally and tally.samples else None
        row = Text.assemble(
            _share(seen.samples, total) if seen else " " * (9 + _BAR + 2),
            f"{seen.shared if seen and seen.shared > 1 else '':>4}  " if shares else "",
            (f"{escape(place):>{width}}  ", "dim"),
            (escape(text.expandtabs(4)), "" if seen else "dim"),
        )
        console.print(row, no_wrap=True, overflow="ellipsis")


def _share(count: int, total: int) -> "Text":
    from rich.text import Text

    share = count / total if total else 0.0
    bar = "#" * max(round(min(share, 1.0) * _BAR), 1 if count else 0)
    return Text(f"{100 * share:5.1f} % {bar:{_BAR}}  ", style="bold red" if share >= _HOT else "yellow")


def _shortened(text: str) -> str:
    """Of a wgmma with its 128 registers the beginning."""
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]} .."


def _why(stalls: Mapping[str, int]) -> str:
    """The commonest reasons to stall."""
    ordered = sorted((-count, name) for name, count in stalls.items() if name != "selected")
    return escape(", ".join(name for _, name in ordered[:_NAMED_STALLS]))


def _numbers(summary: Summary) -> list[tuple[str, str]]:
    known = summary.numbers
    lines = []
    if "microseconds" in known:
        cycles = f", {known['cycles']:,.0f} cycles" if "cycles" in known else ""
        lines.append(("time", f"{known['microseconds']:,.2f} us{cycles}, the caches cold"))
    of_peak = _parts(known, "{:.0f} % of peak", {"compute": "compute_percent", "memory": "memory_percent"})
    within = _parts(
        known,
        "{:.0f} %",
        {"tensor cores": "tensor_percent", "DRAM": "dram_percent", "L2": "l2_percent", "L1": "l1_percent"},
    )
    if of_peak:
        lines.append(("busy", ", ".join(of_peak) + (f" ({', '.join(within)})" if within else "")))
    if verdict := limit(summary):
        lines.append(("so", verdict))
    if "occupancy_percent" in known:
        possible = known.get("possible_occupancy_percent")
        of = f", of {possible:.1f} % possible" if possible is not None else ""
        lines.append(("occupancy", f"{known['occupancy_percent']:.1f} % of the warps{of}"))
    launch = _parts(known, "{:,.0f}", {"blocks": "blocks", "threads": "threads", "registers": "registers"})
    if "waves" in known:
        launch.append(f"waves {known['waves']:.2f}")
    if launch:
        lines.append(("launch", ", ".join(launch)))
    if summary.samples:
        share = 100 * summary.not_issued / summary.samples
        lines.append(("samples", f"{summary.samples:,}; in {share:.0f} % of them nothing was issued"))
    else:
        lines.append(("samples", "none: Nsight Compute took no samples, so no line can be told to be hot"))
    return lines


def _parts(known: Mapping[str, float], form: str, names: Mapping[str, str]) -> list[str]:
    return [f"{words} {form.format(known[name])}" for words, name in names.items() if name in known]


def short_place(file: str, line: int) -> str:
    """`matmul.py:128`."""
    return f"{PurePath(file).name}:{line}"
