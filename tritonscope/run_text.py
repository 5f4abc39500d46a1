"""Results of runs as text: one in a few lines, several as a table and a plot."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tritonscope.model import RunResult
from tritonscope.printable import escape

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_result", "print_table"]

_BAR = 40


def print_result(result: RunResult, console: "Console") -> None:
    """Every line says one thing, the verdict first."""
    from rich.text import Text

    console.print(Text(escape(f"{result.kernel}  {_size(result)}".rstrip()), style="bold"), soft_wrap=True)
    for label, value in _lines(result):
        console.print(Text(f"  {label:10}", style="dim"), Text(escape(value)), sep="", soft_wrap=True)


def _lines(result: RunResult) -> list[tuple[str, str]]:
    lines = [("capture", result.capture)] if result.capture else []
    if result.config:
        lines.append(("config", ", ".join(f"{name}={value}" for name, value in result.config.items())))
    if result.fault:
        lines.append(("FAULT", result.fault))
    lines.append((_verdict(result), _reason(result)))
    lines += [("FAILED", f"{check.name}: {check.detail}") for check in result.checks if not check.passed]
    passed = [f"{check.name} ({check.cases})" for check in result.checks if check.passed]
    if passed:
        lines.append(("passed", ", ".join(passed)))
    lines += [("note", each) for each in result.notes]
    if result.ms:
        lines.append(("time", _time(result)))
        lines += [
            (name, f"{each['ms']:.4g} ms; the kernel is {each['ratio']:.3f} x as fast")
            for name, each in result.baselines.items()
        ]
    if result.occupancy:
        occupancy = result.occupancy
        blocks = "1 block" if occupancy["blocks"] == 1 else f"{occupancy['blocks']} blocks"
        lines.append(("occupancy", f"{blocks} on a multiprocessor, {occupancy['warps']} of {occupancy['of']} warps"))
    if after := result.clocks.get("after"):
        lines.append(
            (
                "clocks",
                f"{after['sm_mhz']:.0f} MHz, memory {after['memory_mhz']:.0f} MHz, {after['power_w']:.0f} W, "
                f"{after['temperature_c']:.0f} C",
            )
        )
    return lines


def _verdict(result: RunResult) -> str:
    return {True: "correct", False: "WRONG", None: "unchecked"}[result.correct]


def _reason(result: RunResult) -> str:
    if not result.checks:
        return "nothing was checked" if not result.fault else "it did not come to that"
    if result.checked_by is None:
        return "nothing says what is right: a spec's reference or --against CAPTURE would"
    error = result.error
    if error is None:
        return f"by {result.checked_by}"
    where = tuple(error["worst_index"])
    relative = "infinite" if error["relative"] is None else f"{error['relative']:.2e}"
    largest = "infinite" if error["max_abs"] is None else f"{error['max_abs']:.2e}"
    return f"by {result.checked_by}: {error['output']} has relative error {relative}, largest {largest} at {where}"


def _time(result: RunResult) -> str:
    assert result.ms is not None
    text = f"{result.ms['median']:.4g} ms ({result.ms['q1']:.4g} to {result.ms['q3']:.4g}, {result.ms['n']} launches)"
    for value, unit, share, most in (
        (result.tflops, "TFLOP/s", result.of_ceiling.get("tflops"), result.ceilings.get("tflops")),
        (result.gbps, "GB/s", result.of_ceiling.get("gbps"), result.ceilings.get("gbps")),
    ):
        if value is not None:
            text += f", {value:.4g} {unit}"
            if share is not None and most is not None:
                text += f" ({100 * share:.0f} % of the {most:.4g} measured here)"
    return text


def print_table(results: Sequence[RunResult], console: "Console") -> None:
    """One line a result; ratios in per cent of each baseline."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    names = list(dict.fromkeys(name for result in results for name in result.baselines))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("run")
    table.add_column("verdict")
    columns: dict[str, list[str | None]] = {
        "ms": [f"{result.ms['median']:.4g}" if result.ms else None for result in results],
        "TFLOP/s": [f"{result.tflops:.4g}" if result.tflops else None for result in results],
        "GB/s": [f"{result.gbps:.4g}" if result.gbps else None for result in results],
        **{f"% of {name}": [_per_cent(result, name) for result in results] for name in names},
    }
    shown = {heading: cells for heading, cells in columns.items() if any(cells)}
    for heading in shown:
        table.add_column(heading, justify="right")
    for index, (result, label) in enumerate(zip(results, _labels(results), strict=True)):
        verdict = "FAULT" if result.fault else _verdict(result)
        table.add_row(Text(escape(label)), verdict, *(cells[index] or "" for cells in shown.values()))
    console.print()
    console.print(table)
    _print_plot(results, names, console)


def _per_cent(result: RunResult, baseline: str) -> str | None:
    found = result.baselines.get(baseline)
    return f"{100 * found['ratio']:.1f}" if found else None


def _labels(results: Sequence[RunResult]) -> list[str]:
    """What sets each apart: the kernel, of size and configuration what is not the same for all, or else when it ran."""
    kernels = {result.kernel for result in results}
    varying = [_varying([each.size for each in results]), _varying([each.config for each in results])]
    labels = []
    for result in results:
        parts = [result.kernel] if len(kernels) > 1 else []
        parts += [
            f"{name}={each[name]}"
            for each, names in zip((result.size, result.config), varying, strict=True)
            for name in names
            if name in each
        ]
        labels.append(" ".join(parts))
    if len(set(labels)) < len(labels):
        if len({result.capture for result in results}) > 1:
            return [f"{result.capture} {_size(result)}".rstrip() for result in results]
        times = [each.created[:16].replace("T", " ") for each in results]  # the same again, at another time
        labels = [f"{time}  {label}".rstrip() for time, label in zip(times, labels, strict=True)]
    return [label or result.kernel for label, result in zip(labels, results, strict=True)]


def _varying(all_of: Sequence[object]) -> list[str]:
    dicts = [each for each in all_of if isinstance(each, dict)]
    names = dict.fromkeys(name for each in dicts for name in each)
    return [name for name in names if len({str(each.get(name)) for each in dicts}) > 1]


def _print_plot(results: Sequence[RunResult], baselines: Sequence[str], console: "Console") -> None:
    """Bars of the rate (of the speed, without one), a mark where the first baseline is."""
    from rich.text import Text

    kind = next((each for each in ("tflops", "gbps") if any(getattr(result, each) for result in results)), None)
    rates = [_rate(result, kind) for result in results]
    marks = [_baseline_rate(result, rate, baselines) for result, rate in zip(results, rates, strict=True)]
    most = max((rate for rate in [*rates, *marks] if rate), default=0.0)
    if not most:
        return
    labels = _labels(results)
    width = max(map(len, labels))
    unit = {"tflops": "TFLOP/s", "gbps": "GB/s", None: "launches a ms"}[kind]
    for label, rate, mark in zip(labels, rates, marks, strict=True):
        bar = list(("█" * round(_BAR * (rate or 0) / most)).ljust(_BAR + 1))
        if mark:
            bar[min(round(_BAR * mark / most), _BAR)] = "|"
        text = f"{label:{width}}  {''.join(bar)} {'' if rate is None else f'{rate:.4g}'}"
        console.print(Text(escape(text)), soft_wrap=True)
    legend = f"; | is {baselines[0]}" if any(marks) else ""
    console.print(Text(f"{'':{width}}  {unit}{legend}", style="dim"))


def _rate(result: RunResult, kind: str | None) -> float | None:
    if result.ms is None:
        return None
    return getattr(result, kind) if kind else 1 / float(result.ms["median"])


def _baseline_rate(result: RunResult, rate: float | None, names: Sequence[str]) -> float | None:
    if rate is None or not names or names[0] not in result.baselines:
        return None
    return rate / float(result.baselines[names[0]]["ratio"])


def _size(result: RunResult) -> str:
    return " ".join(f"{name}={value}" for name, value in result.size.items())
