"""Reports that are read in a frame: runs, failures. Rich text, no textual."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from tritonscope.explain import Explanation
from tritonscope.model import Capture, Check, RunResult
from tritonscope.printable import escape
from tritonscope.run_text import print_result, print_table

__all__ = ["explanation_text", "failure_text", "results_text"]

_MOST_DIAGNOSTICS = 200
_MOST_RUNS = 100  # the newest
_DEFINITION = re.compile(r"\s*[#!][\w.$-]+ = ")


def results_text(results: Sequence[Mapping[str, Any]], width: int) -> Text:
    """Runs as `tritonscope run` prints them: the newest in words, all of them as a table and a plot."""
    console = Console(width=width, file=StringIO(), force_terminal=True, color_system="truecolor", markup=False)
    runs = [run for each in results[-_MOST_RUNS:] if (run := _result(each)) is not None]
    with console.capture() as captured:
        if runs:
            print_result(runs[-1], console)
        if len(runs) > 1:
            print_table(runs, console)
    return Text.from_ansi(captured.get())


def _result(value: Mapping[str, Any]) -> RunResult | None:
    """A run as it is kept, None where it is not one."""
    names = {each.name for each in fields(RunResult)}
    known = {name: each for name, each in value.items() if name in names}
    try:
        known["checks"] = tuple(Check(**check) for check in known.get("checks", ()))
        run = RunResult(**known)
        print_table([run, run], Console(file=StringIO()))  # its parts are what they should be
        print_result(run, Console(file=StringIO()))
    except (TypeError, ValueError, KeyError, IndexError, AttributeError):
        return None
    return run


def explanation_text(found: Sequence[tuple[str, Sequence[Explanation]]]) -> Text:
    """What each of some texts is, one paragraph for each kind of thing that has the name; definitions are shown too."""
    text = Text()
    for source, explanations in found:
        if _DEFINITION.match(source):
            text.append("\n\n" if text else "").append(escape(source.strip()), style="bold")
            text.append("" if explanations else "\nnothing is known of it")
        for each in explanations:
            text.append("\n\n" if text else "")
            text.append(escape(each.name), style="bold").append(f"  {each.kind}\n", style="dim")
            text.append(escape(each.text))
            if each.see_also:
                text.append(f"\nsee also {escape(', '.join(each.see_also))}", style="dim")
    return text


def failure_text(capture: Capture) -> Text:
    """The sentence, where it happened, the diagnostics, and how to run it again."""
    failure = capture.failure
    text = Text()
    if failure is None:
        return text
    text.append(escape(failure.message) + "\n\n", style="bold red")
    inside = f", inside it {failure.inner}" if failure.inner else ""
    step = f" (step {failure.step})" if failure.step else ""
    where = f"{failure.file}:{failure.line}" if failure.file and failure.line else failure.file
    for label, value in (("stage", failure.stage), ("pass", failure.pass_), ("line", where)):
        if value:
            more = inside + step if label == "pass" else ""
            text.append(f"{label:6}", style="dim").append(escape(f"{value}{more}") + "\n")
    if failure.source_line:
        text.append(f"\n    {escape(failure.source_line.expandtabs(4).rstrip())}\n")
        if failure.column is not None:
            text.append("    " + " " * failure.column + "^\n", style="bold red")
    if failure.reproducer:
        file = Path(capture.path) / failure.reproducer
        text.append("\nagain  ", style="dim").append(f"tritonscope replay {escape(str(file))}\n")
    if failure.diagnostics:
        text.append("\nwhat the compiler said\n", style="bold")
        lines = failure.diagnostics.splitlines()
        text.append(escape("\n".join(lines[:_MOST_DIAGNOSTICS])))
        if len(lines) > _MOST_DIAGNOSTICS:
            text.append(f"\n.. and {len(lines) - _MOST_DIAGNOSTICS} lines more, in capture.json", style="dim")
    return text
