"""`tritonscope show CAPTURE`: one capture summed up."""

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonscope import recipe
from tritonscope.calls import argument_text, recorded_argument
from tritonscope.cli import listing, terminal
from tritonscope.errors import ExitCode
from tritonscope.model import Capture, Failure, PassRecord, Tuning, to_json
from tritonscope.store import layout

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["add_arguments", "print_failure", "render", "run", "tuning_texts"]

_EPILOG = """examples:
  tritonscope show matmul
  tritonscope show dumps/matmul/sm_90-0123456789 --json

JSON: {capture, path, kernel, target, key, status, created, triton_version, seconds, command, request, versions,
components, metadata, resources: {registers, spills, shared, stack, ..}, stages: [{stage, seconds, lines, bytes, file}],
failure: null | {stage, pass, inner, step, message, file, line, column, source_line, diagnostics, reproducer}, notes,
verified, launches: [{grid, count, arguments: [{name, tensor: {dtype, shape, strides, aligned} | descriptor: {..,
block, layout} | items: [..] | value}]}], tuning: [{config, ms, best}]}, the last two of traced programs; files of
stages and the reproducer are relative to the capture."""

_SLOWEST = 5
_MOST_LAUNCHES = 5
_RESOURCES = ("registers", "spills", "shared", "stack")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = "Sum a capture up: stages, resources, the passes that mattered, and why it failed if it did."
    parser.epilog = _EPILOG
    terminal.add_capture_argument(parser)
    terminal.add_dumps_option(parser)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the summary."""
    capture = terminal.open_named(args)
    if args.json:
        data = to_json(capture)
        del data["passes"]
        terminal.print_json(listing.summary(capture) | data)
    else:
        render(capture, terminal.console())
    return ExitCode.DONE


def render(capture: Capture, console: "Console") -> None:
    """Print the summary of `capture` for people, at any width from 80 columns on."""
    _header(capture, console)
    if capture.passes:
        console.print()
        _passes(capture, console)
    if capture.stages:
        console.print()
        _stages(capture, console)
    _resources(capture, console)
    _traced(capture, console)
    if capture.failure:
        console.print()
        print_failure(capture, capture.failure, console)
    _notes(capture, console)
    _next(capture, console)


def _header(capture: Capture, console: "Console") -> None:
    from rich.text import Text

    line = Text(terminal.escape(capture.capture), style="bold")
    line.append("  ")
    line.append(capture.status, style=listing.STATUS_STYLES.get(capture.status, "bold"))
    if made := recipe.words(capture.request):
        line.append(terminal.escape(f"  {made}"))
    console.print(line)
    origin = capture.request.get("imported_from")
    facts = [
        f"triton {capture.versions['triton']}" if "triton" in capture.versions else "triton unknown" if origin else ""
    ]
    facts.append(f"{'imported ' if origin else ''}{listing.when(capture.created)} UTC")
    facts.append("" if capture.seconds is None else f"took {capture.seconds:.2f} s")
    console.print(Text(terminal.escape(", ".join(fact for fact in facts if fact)), style="dim"))
    if isinstance(origin, dict):
        text = f"from {origin.get('tool')}: {origin.get('path')}"
        console.print(Text(terminal.escape(text), style="dim"), soft_wrap=True)


def _stages(capture: Capture, console: "Console") -> None:
    table = _table(("stage", "left"), ("lines", "right"), ("bytes", "right"), ("seconds", "right"))
    for stage in capture.stages:
        lines = "binary" if stage.lines is None else f"{stage.lines:,}"
        seconds = "" if stage.seconds is None else f"{stage.seconds:.3f}"
        table.add_row(terminal.escape(stage.stage), lines, f"{stage.bytes:,}", seconds)
    console.print(table)


def _resources(capture: Capture, console: "Console") -> None:
    from rich.text import Text

    known = {name: value for name, value in capture.resources.items() if isinstance(value, (int, float))}
    main = {name: known[name] for name in _RESOURCES if name in known}
    rest = {name: value for name, value in known.items() if name not in main and value}
    if not main:
        return
    console.print()
    line = Text("   ").join(
        Text.assemble((f"{name} ", "dim"), (f"{value:,}", "bold red" if name == "spills" and value else "bold"))
        for name, value in main.items()
    )
    console.print(line)
    if rest:
        words = ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in rest.items())
        console.print(Text(terminal.escape(words), style="dim"))


def _traced(capture: Capture, console: "Console") -> None:
    """What a traced program did with the kernel: the calls that it made most, and what its autotuner found."""
    from rich.text import Text

    lines = []
    for launch in sorted(capture.launches, key=lambda each: each.count, reverse=True)[:_MOST_LAUNCHES]:
        times = f"{launch.count:,} time{'' if launch.count == 1 else 's'}"
        arguments = ", ".join(argument_text(recorded_argument(each)) for each in launch.arguments)
        grid = "x".join(map(str, launch.grid))
        lines.append(f"launched {times} on a grid of {grid}{': ' if arguments else ''}{arguments}")
    if len(capture.launches) > _MOST_LAUNCHES:
        lines.append(f"and in {len(capture.launches) - _MOST_LAUNCHES} other ways, which --json lists")
    lines += [f"autotuned, {text}" for text in tuning_texts(capture.tuning)]
    if lines:
        console.print()
    for line in lines:
        console.print(Text(terminal.escape(line)))


def tuning_texts(tunings: Sequence[Tuning]) -> list[str]:
    """Each configuration that an autotuner tried, and how it did; it may have tried one for many sizes."""
    tries: dict[str, list[Tuning]] = {}
    for tuned in tunings:
        config = ", ".join(f"{name}={value}" for name, value in tuned.config.items() if value is not None)
        tries.setdefault(config, []).append(tuned)
    return [f"{config}: {_how_it_did(each)}" for config, each in tries.items()]


def _how_it_did(tries: Sequence[Tuning]) -> str:
    times = sorted(tuned.ms for tuned in tries if tuned.ms is not None)
    best = sum(bool(tuned.best) for tuned in tries)
    if len(tries) == 1:
        return f"{times[0]:.4g} ms{', the best' if best else ''}" if times else "not timed"
    span = f"{times[0]:.4g} to {times[-1]:.4g} ms" if times else "not timed"
    return f"tried {len(tries)} times, {span}{f', the best {best} times' if best else ''}"


def _passes(capture: Capture, console: "Console") -> None:
    from rich.text import Text

    outer = [record for record in capture.passes if "." not in record.step]
    nested = len(capture.passes) - len(outer)
    inside = f", and {nested} inside them" if nested else ""
    changed = [record for record in outer if record.changed]
    console.print(Text(f"{len(outer)} passes and steps{inside}; {len(changed)} changed the IR:"))
    table = _table(("stage", "left"), ("step", "right"), ("pass", "left"), ("operations", "right"), ("ms", "right"))
    for record in changed:
        table.add_row(*_row(record))
    console.print(table)
    slowest = [record for record in _slowest(capture.passes) if not record.changed]
    if slowest:
        console.print()
        console.print(Text(f"among the {_SLOWEST} slowest, and changed nothing:"))
        table = _table(("stage", "left"), ("step", "right"), ("pass", "left"), ("operations", "right"), ("ms", "right"))
        for record in slowest:
            table.add_row(*_row(record))
        console.print(table)


def _row(record: PassRecord) -> tuple[str, ...]:
    counts = ""
    if record.ops_before is not None and record.ops_after is not None:
        same = record.ops_before == record.ops_after
        counts = f"{record.ops_after:,}" if same else f"{record.ops_before:,} -> {record.ops_after:,}"
    ms = "" if record.ms is None else f"{record.ms:.1f}"
    return terminal.escape(record.stage), record.step, terminal.escape(record.name), counts, ms


def _slowest(passes: tuple[PassRecord, ...]) -> list[PassRecord]:
    """The slowest steps of the pipeline; the time of nested ones is in their outer step's already."""
    timed = [record for record in passes if record.ms is not None and "." not in record.step]
    return sorted(timed, key=lambda record: record.ms or 0.0, reverse=True)[:_SLOWEST]


def print_failure(capture: Capture, failure: Failure, console: "Console") -> None:
    """Print why `capture` failed, with the line that is at fault and a caret below the place."""
    from rich.text import Text

    console.print(Text(f"error: {terminal.escape(failure.message)}", style="bold red"))
    for label, value in (("stage", failure.stage), ("pass", _pass_of(failure)), ("line", _line_of(failure))):
        if value:
            console.print(Text(f"  {label:6}", style="dim"), Text(terminal.escape(value)), sep="", soft_wrap=True)
    if failure.source_line:
        source = terminal.escape(failure.source_line.expandtabs(4).rstrip())
        console.print(Text(f"    {source}"), soft_wrap=True)
        if failure.column is not None and 0 <= failure.column <= len(failure.source_line):
            # The caret goes below the character, where tabs before it were widened and controls written out.
            ahead = terminal.escape(failure.source_line[: failure.column].expandtabs(4))
            console.print(Text(f"    {' ' * len(ahead)}^", style="bold red"), soft_wrap=True)
    if failure.reproducer:
        file = Path(capture.path) / failure.reproducer
        console.print(
            Text("  again ", style="dim"), Text(_command("replay", shlex.quote(str(file)))), sep="", soft_wrap=True
        )


def _pass_of(failure: Failure) -> str:
    if not failure.pass_:
        return ""
    inside = f", inside it {failure.inner}" if failure.inner else ""
    return f"{failure.pass_}{inside}" + (f" (step {failure.step})" if failure.step else "")


def _line_of(failure: Failure) -> str:
    return f"{failure.file}:{failure.line}" if failure.file and failure.line else failure.file or ""


def _notes(capture: Capture, console: "Console") -> None:
    from rich.text import Text

    lines = [terminal.escape(note) for note in capture.notes]
    if capture.verified is not None:
        differing = [stage for stage, same in capture.verified.items() if not same]
        said = f"{', '.join(differing)} differ from" if differing else "every stage equals"
        lines.append(terminal.escape(f"verified: {said} what an unpatched compile gives"))
    if lines:
        console.print()
    for line in lines:
        console.print(Text("note: ", style="dim"), Text(line), sep="")


def _next(capture: Capture, console: "Console") -> None:
    from rich.text import Text

    commands = []
    name = terminal.called(capture)
    failed = capture.failure.step if capture.failure else None
    if failed is not None:
        commands.append((_command("dump", name, "--pass", failed, "--before"), "what went in"))
    if capture.passes:
        commands.append((_command("passes", name, "--changed"), "nested ones, too"))
    texts = [stage.stage for stage in capture.stages if stage.lines is not None and stage.stage != "source"]
    if texts:
        wanted = "ttgir" if "ttgir" in texts else texts[-1]
        commands.append((_command("dump", name, shlex.quote(wanted)), "the IR"))
    if capture.passes:
        commands.append((_command("grep", "convert_layout", name), "first seen where"))
    log = Path(capture.path) / layout.LOG
    if capture.status in layout.ENDED_EARLY and log.is_file() and log.stat().st_size:
        commands.append((terminal.escape(f"cat {shlex.quote(str(log))}"), "what was printed"))
    if commands:
        console.print()
        console.print(Text("next:", style="dim"))
    for command, what in commands:
        console.print(Text(f"  {command}"), Text(f"  # {what}", style="dim"), sep="", soft_wrap=True)


def _command(*words: str) -> str:
    return terminal.escape(" ".join(("tritonscope", *words)))


def _table(*columns: tuple[str, Any]) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name, justify in columns:
        table.add_column(name, justify=justify, overflow="fold", no_wrap=name not in ("pass",))
    return table
