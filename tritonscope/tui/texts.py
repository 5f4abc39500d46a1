"""The lines around the views: header, details bar. Rich text, no textual."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from tritonscope import recipe
from tritonscope.model import Capture
from tritonscope.occupancy import occupancy_of
from tritonscope.printable import escape
from tritonscope.store import results

if TYPE_CHECKING:
    from tritonscope.ir.diff import Stat
    from tritonscope.ir.summary import Summary

__all__ = ["details", "header", "last_run", "stat_words", "summary_words"]

_STATUS_STYLES = {"ok": "bold green", "failed": "bold red", "crashed": "bold red", "running": "bold yellow"}


def header(capture: Capture | None, variant: str = "", busy: str = "") -> Text:
    """Kernel, target, id, variant, state."""
    if capture is None:
        return Text("tritonscope", style="bold")
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(escape(capture.kernel), style="bold")
    text.append(f"  {escape(capture.target)}")
    text.append(f"  {escape(Path(capture.path).name.rpartition('-')[2])}", style="dim")
    if variant:
        text.append(f"  {escape(variant)}")
    text.append(f"  {capture.status}", style=_STATUS_STYLES.get(capture.status, "bold"))
    if made := recipe.words(capture.request):
        text.append(f"  {escape(made)}")
    if version := capture.versions.get("triton"):
        text.append(f"  Triton {escape(str(version))}", style="dim")
    if capture.seconds is not None:
        text.append(f"  {capture.seconds:.2f} s", style="dim")
    if busy:
        text.append(f"  {escape(busy)}", style="bold yellow")
    return text


def details(capture: Capture, run: Mapping[str, Any] | None) -> Text:
    """Registers, spills, shared memory, occupancy and what limits it, the last run."""
    text = Text(no_wrap=True, overflow="ellipsis")
    resources = capture.resources
    for name, label in (("registers", "registers"), ("spills", "spills"), ("shared", "shared"), ("stack", "stack")):
        value = resources.get(name)
        if isinstance(value, (int, float)):
            style = "bold red" if name == "spills" and value else "bold"
            text.append(f"{label} ", style="dim").append(f"{value:,}", style=style).append("  ")
    if run is not None:
        verdict = {True: "correct", False: "WRONG", None: "unchecked"}[run.get("correct")]
        text.append("run ", style="dim").append(verdict, style="bold red" if verdict == "WRONG" else "bold")
        if run.get("ms"):
            text.append(f" {run['ms']['median']:.4g} ms")
        if run.get("tflops"):
            text.append(f" {run['tflops']:.4g} TFLOP/s")
        for name, each in (run.get("baselines") or {}).items():
            text.append(f" {100 * each['ratio']:.0f} % of {escape(str(name))}")
            break
    if fits := occupancy_of(capture.target, resources):
        limits = ", ".join(fits.limited_by)
        text.append(f"  occupancy {fits.warps}/{fits.of} warps, by {limits}", style="dim")
    if not text.plain:
        text.append("no resources are known", style="dim")
    return text


def last_run(capture: Capture) -> dict[str, Any] | None:
    """The newest run."""
    runs = results.runs_of(capture)
    return runs[-1] if runs else None


def stat_words(stat: "Stat") -> str:
    """A diff in numbers."""
    names = ("changed", "layout", "added", "removed", "moved")
    parts = [f"{getattr(stat, name)} {name}" for name in names if getattr(stat, name)]
    if not parts:
        return f"nothing but names ({stat.renamed} lines)" if stat.renamed else "nothing"
    return ", ".join(parts) + (f"; {stat.renamed} only renamed" if stat.renamed else "")


def summary_words(summary: "Summary") -> str:
    """Operations gone and new, by kind."""
    parts = [f"-{count} {name}" for name, count in list(summary.gone.items())[:4]]
    parts += [f"+{count} {name}" for name, count in list(summary.new.items())[:4]]
    return "  ".join(parts)
