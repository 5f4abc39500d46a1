"""`tritonscope stats A [B]`: what the hardware will do, from the binary alone."""

import argparse
import textwrap
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

from tritonscope import kernel_stats
from tritonscope.cli import terminal
from tritonscope.conditions import SYNTAX, Condition, holds, names_in, parse_condition
from tritonscope.errors import ExitCode
from tritonscope.ir.instruction_classes import CLASSES
from tritonscope.kernel_stats import CodeStats, KernelStats, LoopStats
from tritonscope.occupancy import Occupancy
from tritonscope.store import reader

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["add_arguments", "print_two", "run"]

_EPILOG = f"""examples:
  tritonscope stats matmul
  tritonscope stats matmul/sm_90-5f matmul/sm_90-2b
  tritonscope stats matmul --fail-if 'spills>0' --fail-if 'registers>200'
  tritonscope stats OLD NEW --fail-if 'registers_change>0 or occupancy_change<0'

Counts are of instructions in the text, not of how often they run; a loop's are those within it, inner loops
included. Widths are bytes for each thread. The occupancy is what registers, shared memory, threads and barriers allow
on one multiprocessor; an NVIDIA target's alone. Sentences at the end say what TTGIR tells of why a load or store is not
vectorised, a product not on the tensor cores, or a layout converted in a loop.

Conditions, for the last capture that is named:
{SYNTAX}
  NAME is registers, spills, shared, stack, local, tmem, threads, barriers, code_bytes, vgprs, agprs, sgprs,
  vgpr_spills, sgpr_spills;
  occupancy (percent), blocks, warps; instructions; a class of instructions:
{textwrap.fill(", ".join(CLASSES), 116, initial_indent="    ", subsequent_indent="    ")};
  a class with a width, as in global_load_4; an opcode, as in HGMMA; with _change at the end, by how much it is more
  than in the first. TEXT and REGEX are looked for in the SASS or AMDGCN.
The exit code is 1 where one holds.

JSON: of one capture {{capture, path, target, resources: {{registers, spills, ..}}, spill_unit,
occupancy: null | {{blocks, warps, of, limited_by, allows, next_registers, next_shared}}, reasons: [{{kind, ttgir_line,
python: null | {{file, line}}, text}}], code: {{sass|ptx|amdgcn: {{instructions, classes: {{class: n}},
widths: {{class: {{bytes: n}}}}, opcodes: {{class: {{opcode: n}}}}, loops: [{{label, first_line, last_line, depth,
waits, python: null | {{file, line}}, instructions, classes, widths, opcodes}}]}}}}, failed: [condition]}}.
allows says how many blocks each resource alone would let in, next_registers and next_shared the most of each for one
block more; a reason's kind is "narrow", "no_tensor_core", "older_tensor_core", "conversion" or "local_memory", which
has no ttgir_line; lines are those of `tritonscope dump`, and a loop's instructions those within it.
Of two: {{left, right, failed}}, left and right as above."""

_ALWAYS = ("registers", "spills", "shared")
_MOST_OPCODES = 2
_MOST_LOOPS = 12
_MOST_REASONS = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = (
        "Say what the hardware will do, from the binary alone: its instructions by class, its loops, and how many "
        "blocks fit on a multiprocessor; of two captures, side by side."
    )
    parser.epilog = _EPILOG
    terminal.add_capture_argument(parser)
    parser.add_argument("other", metavar="OTHER", nargs="?", help="a second capture, to compare with the first")
    parser.add_argument(
        "--fail-if",
        metavar="CONDITION",
        action="append",
        default=[],
        help="exit with 1 where it holds; may be given often",
    )
    terminal.add_dumps_option(parser)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the statistics, and check the conditions."""
    conditions = [(text, parse_condition(text)) for text in args.fail_if]
    names = [args.capture] if args.other is None else [args.capture, args.other]
    found = [kernel_stats.stats_of(terminal.open_capture(name, args)) for name in names]
    failed = [text for text, condition in conditions if _holds(condition, found)]
    if args.json:
        of_each = [kernel_stats.to_json(stats) for stats in found]
        value = of_each[0] if len(found) == 1 else {"left": of_each[0], "right": of_each[1]}
        terminal.print_json(value | {"failed": failed})
    elif len(found) == 1:
        _print_one(found[0], terminal.console())
    else:
        print_two(found[0], found[1], terminal.console())
    for text, condition in conditions:
        if text in failed:
            terminal.say(f"{found[-1].capture.capture} fails {text!r}{_because(condition, found)}")
    return ExitCode.DIFFERS if failed else ExitCode.DONE


def _holds(condition: Condition, found: list[KernelStats]) -> bool:
    final = found[-1].final
    text = reader.stage_text(found[-1].capture, final.stage) if final else None
    return holds(condition, lambda name: _value(name, found), text)


def _value(name: str, found: list[KernelStats]) -> float:
    return kernel_stats.value_of(name, found[-1], found[0] if len(found) > 1 else None)


def _because(condition: Condition, found: list[KernelStats]) -> str:
    values = [f"{name} is {_value(name, found):,g}" for name in names_in(condition)]
    return f": {', '.join(values)}" if values else ""


def _print_one(stats: KernelStats, console: "Console") -> None:
    from rich.text import Text

    console.print(Text(f"{terminal.escape(stats.capture.capture)}", style="bold"))
    if not stats.codes:
        console.print("there is no machine code in this capture; `tritonscope show` says how far it came")
        return
    console.print(_resources(stats))
    if stats.occupancy:
        for line in _occupancy(stats.occupancy, stats):
            console.print(line)
    console.print()
    _print_mix(stats, console)
    _print_loops(stats.codes[0], console)
    _print_reasons(stats, console)


def _resources(stats: KernelStats) -> Any:
    from rich.text import Text

    unit = stats.capture.resources.get("spill_unit") or ""
    if stats.resources.get("vgpr_spills") == stats.resources.get("stack") == 0:
        unit += ", scalar ones in lanes of vector registers, none in memory"
    shown = {
        name: value for name, value in stats.resources.items() if value or name in ("registers", "spills", "shared")
    }
    return Text("   ").join(
        Text.assemble(
            (f"{name.replace('_', ' ')} ", "dim"),
            (f"{value:,}", "bold red" if name == "spills" and value else "bold"),
            (f" {unit}" if name == "spills" and value else "", "dim"),
        )
        for name, value in shown.items()
    )


def _occupancy(occupancy: Occupancy, stats: KernelStats) -> list[str]:
    if not occupancy.blocks:
        return [f"occupancy: no block fits; {_and(occupancy.limited_by)} would have to be less"]
    blocks = "1 block" if occupancy.blocks == 1 else f"{occupancy.blocks} blocks"
    allows = ", ".join(f"{name} {count}" for name, count in occupancy.allows.items())
    lines = [
        f"occupancy: {blocks} on a multiprocessor, {occupancy.warps} of {occupancy.of} warps, "
        f"limited by {_and(occupancy.limited_by)} (blocks that each would allow: {allows})"
    ]
    needs = []
    for limit, most, now, unit in (
        ("registers", occupancy.next_registers, stats.resources.get("registers"), "registers a thread"),
        ("shared memory", occupancy.next_shared, stats.resources.get("shared"), "bytes of shared memory"),
    ):
        if limit in occupancy.limited_by and most is not None:
            needs.append(f"at most {most:,} {unit}, instead of {now:,}")
    reachable = set(occupancy.limited_by) <= {"registers", "shared memory"}
    if needs and reachable and len(needs) == len(occupancy.limited_by):
        lines.append(f"one block more would fit with {' and '.join(needs)}")
    return lines


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(names)


def _table(*columns: tuple[str, Literal["left", "right"]]) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name, justify in columns:
        table.add_column(name, justify=justify, no_wrap=justify == "right", overflow="fold")
    return table


def _print_mix(stats: KernelStats, console: "Console") -> None:
    final = stats.codes[0]
    counts: list[tuple[str, Literal["left", "right"]]] = [(code.stage, "right") for code in stats.codes]
    table = _table(("instructions", "left"), *counts, ("bytes a thread", "left"), ("the most frequent", "left"))
    for name, words in CLASSES.items():
        if any(name in code.mix.classes for code in stats.codes):
            numbers = [f"{code.mix.classes.get(name, 0):,}" for code in stats.codes]
            table.add_row(words, *numbers, _widths(final, name), _opcodes(final, name))
    table.add_row("all", *(f"{code.mix.total:,}" for code in stats.codes), "", "", style="bold")
    console.print(table)


def _widths(code: CodeStats, name: str) -> str:
    return ", ".join(f"{count} of {width}" for width, count in code.mix.widths.get(name, {}).items())


def _opcodes(code: CodeStats, name: str) -> str:
    opcodes = list(code.mix.opcodes.get(name, {}).items())
    shown = [f"{count} {terminal.escape(opcode)}" for opcode, count in opcodes[:_MOST_OPCODES]]
    return ", ".join([*shown, ".."] if len(opcodes) > _MOST_OPCODES else shown)


def _print_loops(code: CodeStats, console: "Console") -> None:
    from rich.text import Text

    loops = [loop for loop in code.loops if not loop.waits]
    waits = len(code.loops) - len(loops)
    if not code.loops:
        return
    console.print()
    lines = f"{code.stage} lines"
    table = _table(
        ("loop", "left"), ("python", "left"), (lines, "left"), ("instructions", "right"), ("of them", "left")
    )
    for loop in loops[:_MOST_LOOPS]:
        indent = "  " * (loop.depth - 1)
        label = terminal.escape(loop.label or "?")
        place = terminal.escape(f"{PurePath(loop.place.file).name}:{loop.place.line}") if loop.place else ""
        table.add_row(
            f"{indent}{label}", place, f"{loop.first_line}-{loop.last_line}", f"{loop.mix.total:,}", _of_loop(loop)
        )
    if loops:
        console.print(table)
    if len(loops) > _MOST_LOOPS:
        console.print(Text(f"and {len(loops) - _MOST_LOOPS} more, which --json lists", style="dim"))
    if waits:
        what = "1 loop does" if waits == 1 else f"{waits} loops do"
        console.print(Text(f"{what} nothing but wait", style="dim"))


def _print_reasons(stats: KernelStats, console: "Console") -> None:
    from rich.text import Text

    if stats.reasons:
        console.print()
    for reason in stats.reasons[:_MOST_REASONS]:
        where = (
            f"{PurePath(reason.place.file).name}:{reason.place.line}" if reason.place else f"TTGIR line {reason.line}"
        )
        console.print(Text.assemble((f"{terminal.escape(where)}: ", "bold"), terminal.escape(reason.text)))
    if len(stats.reasons) > _MOST_REASONS:
        console.print(Text(f"and {len(stats.reasons) - _MOST_REASONS} more, which --json lists", style="dim"))


def _of_loop(loop: LoopStats) -> str:
    return ", ".join(f"{count} {CLASSES[name]}" for name, count in loop.mix.classes.items())


def print_two(left: KernelStats, right: KernelStats, console: "Console") -> None:
    """Two kernels side by side, and by how much the second differs."""
    from rich.text import Text

    table = _table(("", "left"), ("left", "right"), ("right", "right"), ("change", "right"))
    console.print(Text.assemble(("left   ", "dim"), terminal.escape(left.capture.capture)))
    console.print(Text.assemble(("right  ", "dim"), terminal.escape(right.capture.capture)))
    console.print()
    for words, one, other in _compared(left, right):
        differs = one != other
        table.add_row(words, _number(one), _number(other), _change(one, other), style="bold" if differs else "dim")
    console.print(table)
    for side, stats in (("left", left), ("right", right)):
        if stats.occupancy and stats.occupancy.blocks:
            console.print(Text(f"{side}: occupancy limited by {_and(stats.occupancy.limited_by)}", style="dim"))


def _compared(left: KernelStats, right: KernelStats) -> list[tuple[str, float | None, float | None]]:
    rows: list[tuple[str, float | None, float | None]] = []
    for name in kernel_stats.RESOURCES:
        one, other = left.resources.get(name), right.resources.get(name)
        if name == "spills" and left.spill_unit != right.spill_unit:
            rows += [(f"spills, {left.spill_unit}", one, None), (f"spills, {right.spill_unit}", None, other)]
        elif one or other or name in _ALWAYS:
            rows.append((name.replace("_", " "), one, other))
    a, b = left.occupancy, right.occupancy
    rows.append(("blocks on a multiprocessor", a.blocks if a else None, b.blocks if b else None))
    rows.append(("warps on a multiprocessor", a.warps if a else None, b.warps if b else None))
    one_mix, other_mix = (stats.final.mix if stats.final else None for stats in (left, right))
    if one_mix is None or other_mix is None:
        return rows
    rows.append(("instructions", one_mix.total, other_mix.total))
    for name, words in CLASSES.items():
        if name not in one_mix.classes and name not in other_mix.classes:
            continue
        rows.append((f"  {words}", one_mix.classes.get(name, 0), other_mix.classes.get(name, 0)))
        one_widths, other_widths = one_mix.widths.get(name, {}), other_mix.widths.get(name, {})
        if one_widths != other_widths:
            for width in sorted({*one_widths, *other_widths}, reverse=True):
                rows.append((f"    of {width} bytes", one_widths.get(width, 0), other_widths.get(width, 0)))
    return rows


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,}"


def _change(one: float | None, other: float | None) -> str:
    if one is None or other is None:
        return "" if one == other else "?"
    return "=" if one == other else f"{other - one:+,}"
