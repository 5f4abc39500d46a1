"""`tritonscope lines CAPTURE`: from any line to the Python that caused it, and back."""

import argparse
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from tritonscope.cli import terminal
from tritonscope.errors import ExitCode, UsageError
from tritonscope.hot_lines import HotLines
from tritonscope.ir.links import Chain, Position
from tritonscope.ir.summary import operation_of
from tritonscope.line_history import Entry, history
from tritonscope.line_links import Heat, Links, Listing, PythonLine
from tritonscope.store import profiles, reader

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["add_arguments", "lines_to_show", "run"]

_EPILOG = """examples:
  tritonscope lines matmul
  tritonscope lines matmul --python 128
  tritonscope lines matmul --python matmul_grouped.py:43
  tritonscope lines matmul --stage ptx --line 120
  tritonscope lines matmul --pass tritongpu-pipeline --line 88
  tritonscope lines matmul --stage ttir --line 33 --follow
  tritonscope lines matmul --stage sass | less

Alone: the Python source with the number of instructions that each line became, and the bytes that each thread loads
from global memory and stores there, every instruction counted once. What Triton's own library inlined counts for the
line that called it. Where the capture keeps a profile, its samples stand there too, and the bars are of those.
--python lists what each stage made of a line, in whichever call it is. --stage or --pass shows a text with what each
line came from; with --line all that is known of that line, and with --follow the stages and passes after which the
operations of its origin are others: forward to what became of it, and back to the pass that first made an instruction
such. Operations are of one origin where their line and column of Python and the calls that led there are the same, or,
where one text has no such line, the line of Python alone. A caller stands behind <. Line numbers are those of
`tritonscope dump`. SASS is joined to PTX by what the binary says; what is told by the order of instructions instead, or
by source lines alone, says so.

JSON: alone {capture, path, stages, files: [{file, lines: [{line, text, instructions: {stage: n}, loaded_bytes,
stored_bytes, samples}]}], nowhere: {stage: n}}; text is null where the capture does not have the file, samples
where it keeps no profile.
--stage, --pass: {capture, path, stage, step, pass, file, exact, lines: [{line, text, chains: [[{file, line, column}]],
ptx_line, inferred}]}; the first of a chain is where it was written, those after it the calls that led there; exact says
whether lines of SASS have a ptx_line, inferred that this one is by the order of instructions.
Of --line that line alone, with node: null | {type, text} of the syntax tree, sass_lines that the binary says came from
a line of PTX, and elsewhere: {stage: [line]}, joined by the line of Python. With --follow also history: [{stage, step,
name, lines: [line], at, text, by, new: {operation: n}, gone: {operation: n}}]; step is null for a stage that no pass
left, at is the line to look at, text what stands there, by "expression", "line", or "" where nothing is left; new and
gone are against the entry before, and empty where operands, types or layouts alone differ.
--python: {capture, path, file, line, text, stages: [{stage, lines: [{line, text, chains, ptx_line, inferred}]}]}."""

_MOST_LINES = 12
_BAR = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = (
        "From any line of any stage or pass to the Python that caused it, and from Python to all of them."
    )
    parser.epilog = _EPILOG
    terminal.add_capture_argument(parser)
    of = parser.add_mutually_exclusive_group()
    of.add_argument("--stage", metavar="STAGE", help="the lines of a stage: ttir, ttgir, llir, ptx, sass, amdgcn, ..")
    of.add_argument("--pass", dest="pass_", metavar="PASS", help="the lines after a pass: a step, a name, or NAME#K")
    of.add_argument("--python", metavar="[FILE:]L", help="what each stage made of a line of Python")
    parser.add_argument("--line", metavar="N", type=int, help="with --stage or --pass: that line alone")
    parser.add_argument("--follow", action="store_true", help="with --line: what each pass made of its operation")
    terminal.add_dumps_option(parser)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print what was asked for."""
    if args.line is not None and not (args.stage or args.pass_):
        raise UsageError("--line goes with --stage or --pass; a line of Python is asked for with --python FILE:L")
    if args.follow and args.line is None:
        raise UsageError("--follow goes with --line: it follows one line of a stage or pass")
    capture = terminal.open_named(args)
    links = Links(capture)
    head = {"capture": capture.capture, "path": capture.path}
    if args.python is not None:
        return _of_python(links, args, head)
    if args.stage or args.pass_:
        listing = links.after(reader.find_step(capture, args.pass_)) if args.pass_ else links.stage(args.stage)
        return _of_line(links, listing, args, head) if args.line is not None else _of_text(listing, args, head)
    heat = links.heat()
    samples = _samples(links)
    if args.json:
        terminal.print_json(head | _heat_json(heat, samples))
    elif not heat.stages:
        raise UsageError(f"{capture.capture} has no machine code whose lines could be counted; name a --stage")
    else:
        _print_heat(heat, links, samples, terminal.console())
    return ExitCode.DONE


#: Of lines of Python, what `profile` saw; empty without a profile.
_Samples = Mapping[tuple[str, int], int]


def _samples(links: Links) -> _Samples:
    try:
        profile = profiles.profile_of(links.capture)
        found = HotLines(profile, links).of_python() if profile else {}
    except UsageError as error:
        terminal.say(f"without the samples of its profile: {error}")
        return {}
    return {(place.file, place.line): tally.samples for place, tally in found.items()}


def _heat_json(heat: Heat, samples: _Samples) -> dict[str, Any]:
    return {
        "stages": list(heat.stages),
        "files": [
            {
                "file": file.file,
                "lines": [
                    {
                        "line": line.line,
                        "text": line.text,
                        "instructions": dict(line.instructions),
                        "loaded_bytes": line.loaded,
                        "stored_bytes": line.stored,
                        "samples": samples.get((file.file, line.line), 0) if samples else None,
                    }
                    for line in file.lines
                ],
            }
            for file in heat.files
        ],
        "nowhere": dict(heat.nowhere),
    }


def _print_heat(heat: Heat, links: Links, samples: _Samples, console: "Console") -> None:
    from rich.text import Text

    final = heat.stages[-1]
    counts = samples.values() or [line.instructions[final] for file in heat.files for line in file.lines]
    most = max(counts, default=0)
    header = Text(f"{'line':>6}  ", style="dim")
    for stage in heat.stages:
        header.append(f"{terminal.escape(stage):>7}")
    moves = any(line.loaded or line.stored for file in heat.files for line in file.lines)
    header.append(f"{'loaded':>8}{'stored':>8}" if moves else "")
    header.append(f"{'samples':>9}" if samples else "")
    for index, file in enumerate(heat.files):
        if index:
            console.print()
        console.print(Text(terminal.escape(file.file), style="bold"), soft_wrap=True)
        console.print(header)
        for number in lines_to_show(links, file.file, {line.line for line in file.lines}):
            line = next((found for found in file.lines if found.line == number), None)
            text = links.python_line(file.file, number)
            seen = samples.get((file.file, number), 0)
            amount = seen if samples else line.instructions[final] if line else 0
            row = _heat_line(number, line, heat.stages, moves)
            row.append(f"{seen or '':>9}" if samples else "", style="not dim")
            console.print(
                _with_text(row, amount / most if most else 0.0, text, line is None), no_wrap=True, overflow="ellipsis"
            )
    for stage in heat.stages:
        if heat.nowhere[stage]:
            said = f"{heat.nowhere[stage]:,} of {heat.total[stage]:,} instructions of {stage} came from no line"
            console.print(Text(terminal.escape(said), style="dim"))
    if not heat.files:
        console.print("no text names a line: compiled with TRITON_DISABLE_LINE_INFO=1, or what names them is damaged")


def lines_to_show(links: Links, file: str, counted: Collection[int]) -> list[int]:
    """The lines of a Python file to show where something is known of `counted`: whole functions, less what is empty.

    Without the text of any of them `counted` alone.
    """
    if all(links.python_line(file, number) is None for number in counted):
        return sorted(counted)
    spans = [range(first, last + 1) for first, last in links.spans(file)]
    shown = {number for span in spans if any(line in span for line in counted) for number in span}
    return [n for n in sorted(shown | set(counted)) if n in counted or (links.python_line(file, n) or "").strip()]


def _heat_line(number: int, line: PythonLine | None, stages: Sequence[str], moves: bool) -> "Text":
    from rich.text import Text

    shown = Text(f"{number:>6}  ", style="dim")
    for stage in stages:
        shown.append(f"{(line.instructions[stage] if line else 0) or '':>7}", style="not dim")
    if moves:
        loaded, stored = (line.loaded, line.stored) if line else (0, 0)
        shown.append(f"{loaded or '':>8}{stored or '':>8}", style="not dim")
    return shown


def _with_text(row: "Text", share: float, text: str | None, dim: bool) -> "Text":
    """The numbers of a line, its share of the most as a bar, and the line."""
    bar = "#" * max(round(share * _BAR), 1 if share else 0)
    row.append("  ").append(f"{bar:{_BAR}}  ", style="not dim bold red" if share > 0.5 else "not dim yellow")
    return row.append(terminal.escape((text or "").expandtabs(4)), style="dim" if dim else "not dim")


def _of_python(links: Links, args: argparse.Namespace, head: dict[str, Any]) -> int:
    name, _, number = args.python.rpartition(":")
    if not number.isdecimal():
        raise UsageError(f"{args.python!r} is no line of Python; write matmul.py:128, or 128 for the kernel's own file")
    file, line = links.find_file(name), int(number)
    text = links.python_line(file, line)
    found = [(links.stage(stage), links.stage(stage).map.lines_of(file, line)) for stage in links.stages]
    if args.json:
        stages = [
            {"stage": listing.stage, "lines": [_line_json(listing, n) for n in lines]} for listing, lines in found
        ]
        terminal.print_json(head | {"file": file, "line": line, "text": text, "stages": stages})
    else:
        _print_python(Position(file, line), text, found, terminal.console())
    return ExitCode.DONE if any(lines for _, lines in found) else ExitCode.DIFFERS


def _print_python(
    place: Position, text: str | None, found: list[tuple[Listing, tuple[int, ...]]], console: "Console"
) -> None:
    from rich.text import Text

    console.print(Text(terminal.escape(f"{place.file}:{place.line}"), style="bold"), soft_wrap=True)
    if text is not None:
        console.print(Text(f"  {terminal.escape(text.strip())}"))
    for listing, lines in found:
        what = "1 line" if len(lines) == 1 else f"{len(lines):,} lines"
        console.print(Text.assemble((terminal.escape(listing.stage), "bold"), f"  {what}"))
        for number in lines[:_MOST_LINES]:
            console.print(_numbered(number, listing.lines[number - 1]), no_wrap=True, overflow="ellipsis")
        if len(lines) > _MOST_LINES:
            console.print(Text(f"          .. {len(lines) - _MOST_LINES:,} more, which --json lists", style="dim"))
    if not any(lines for _, lines in found):
        terminal.say(f"nothing came from line {place.line}; `tritonscope lines CAPTURE` shows which lines became what")


def _of_text(listing: Listing, args: argparse.Namespace, head: dict[str, Any]) -> int:
    if args.json:
        lines = [_line_json(listing, number) for number in range(1, len(listing.lines) + 1)]
        terminal.print_json(head | _listing_json(listing) | {"lines": lines})
        return ExitCode.DONE
    if not any(listing.map.chains):
        terminal.say(f"the compiler printed {_name(listing)} without locations, so its lines lead nowhere")
    console = terminal.console()
    places = [_brief(listing.map.at(number)) for number in range(1, len(listing.lines) + 1)]
    width = min(max(map(len, places), default=0), 40)
    for number, (place, line) in enumerate(zip(places, listing.lines, strict=True), 1):
        console.print(_numbered(number, line, f"{place:{width}}  "), no_wrap=True, overflow="ellipsis")
    return ExitCode.DONE


def _of_line(links: Links, listing: Listing, args: argparse.Namespace, head: dict[str, Any]) -> int:
    number = args.line
    if not 0 < number <= len(listing.lines):
        raise UsageError(f"{_name(listing)} has {len(listing.lines):,} lines, and no line {number}")
    chains = listing.map.at(number)
    node = links.node(chains[0][0]) if chains else None
    elsewhere = {
        stage: links.stage(stage).map.lines_of(chains[0][0].file, chains[0][0].line)
        for stage in links.stages
        if chains and stage != (listing.stage if listing.step is None else None)
    }
    own = operation_of(listing.lines[number - 1], listing.kind)
    entries = list(history(links.capture, chains, own, links.text)) if args.follow and chains else []
    if args.json:
        line = _line_json(listing, number)
        line |= {
            "node": {"type": node[0], "text": node[1]} if node else None,
            "sass_lines": links.sass_of_ptx(number) if listing.stage == "ptx" else [],
            "elsewhere": {stage: list(lines) for stage, lines in elsewhere.items()},
        }
        followed = {"history": [_entry_json(entry) for entry in entries]} if args.follow else {}
        terminal.print_json(head | _listing_json(listing) | {"lines": [line]} | followed)
    elif args.follow:
        _print_history(listing, number, own, entries, terminal.console())
    else:
        _print_line(links, listing, number, terminal.console())
        _print_elsewhere(node, elsewhere, terminal.console())
    return ExitCode.DONE if chains else ExitCode.DIFFERS


def _print_line(links: Links, listing: Listing, number: int, console: "Console") -> None:
    from rich.text import Text

    console.print(Text(f"{terminal.escape(_name(listing))}, line {number}", style="bold"))
    console.print(Text(f"  {terminal.escape(listing.lines[number - 1].strip())}"), soft_wrap=True)
    if ptx_line := listing.ptx_line(number):
        how = "inferred from its order" if number in listing.inferred else "the binary says so"
        console.print(Text.assemble(("from PTX line ", "dim"), f"{ptx_line}", (f"  ({how})", "dim")))
        text = links.stage("ptx").lines[ptx_line - 1].strip()
        console.print(Text(f"  {terminal.escape(text)}"), soft_wrap=True)
    chains = listing.map.at(number)
    if not chains:
        console.print(Text("from no line of Python that the compiler names", style="dim"))
    for chain in chains:
        for index, frame in enumerate(chain):
            word = "from" if not index else "called at"
            console.print(Text.assemble((f"{word} ", "dim"), terminal.escape(_place(frame))), soft_wrap=True)
            if (text_of := links.python_line(frame.file, frame.line)) is not None:
                console.print(Text(f"  {terminal.escape(text_of.strip())}"), soft_wrap=True)
    if listing.stage == "ptx" and (of_sass := links.sass_of_ptx(number)):
        console.print(Text.assemble(("became SASS lines ", "dim"), _few(of_sass), ("  (the binary says so)", "dim")))
    if listing.kind == "sass" and chains and not listing.exact:
        console.print(Text("the binary names source lines alone, no PTX: columns are not known", style="dim"))


def _print_elsewhere(node: tuple[str, str] | None, elsewhere: dict[str, tuple[int, ...]], console: "Console") -> None:
    from rich.text import Text

    if node:
        console.print(Text.assemble(("syntax tree ", "dim"), f"{node[0]}  ", terminal.escape(node[1])), soft_wrap=True)
    if any(elsewhere.values()):
        console.print(Text("lines from the same line of Python:", style="dim"))
    for stage, lines in elsewhere.items():
        if lines:
            console.print(Text.assemble((f"  {terminal.escape(stage):10} ", "dim"), _few(lines)))


def _print_history(listing: Listing, number: int, own: str, entries: Sequence[Entry], console: "Console") -> None:
    from rich.text import Text

    console.print(Text(f"{terminal.escape(_name(listing))}, line {number}", style="bold"))
    console.print(Text(f"  {terminal.escape(listing.lines[number - 1].strip())}"), no_wrap=True, overflow="ellipsis")
    if not entries:
        console.print(Text("from no line of Python that the compiler names, so it cannot be followed", style="dim"))
    for entry in entries:
        console.print(Text(terminal.escape(entry.label(own)), style="bold"), no_wrap=True, overflow="ellipsis")
        if entry.at is not None:
            console.print(_numbered(entry.at, entry.text), no_wrap=True, overflow="ellipsis")


def _few(lines: Sequence[int]) -> str:
    return ", ".join(map(str, lines[:_MOST_LINES])) + (", .." if len(lines) > _MOST_LINES else "")


def _numbered(number: int, line: str, place: str = "") -> "Text":
    from rich.text import Text

    return Text.assemble(
        (f"{number:>7}  ", "dim"), (terminal.escape(place), "cyan"), terminal.escape(line.expandtabs(4))
    )


def _brief(chains: tuple[Chain, ...]) -> str:
    """Where a line came from in few words: files without their folders, the first chain."""
    if not chains:
        return ""
    words = " < ".join(f"{PurePath(frame.file).name}:{frame.line}" for frame in chains[0])
    return words + (f" and {len(chains) - 1} more" if len(chains) > 1 else "")


def _place(frame: Position) -> str:
    return f"{frame.file}:{frame.line}" + (f":{frame.column}" if frame.column else "")


def _name(listing: Listing) -> str:
    return listing.stage if listing.step is None else f"step {listing.step} ({listing.pass_})"


def _listing_json(listing: Listing) -> dict[str, Any]:
    return {
        "stage": listing.stage,
        "step": listing.step,
        "pass": listing.pass_,
        "file": listing.file,
        "exact": listing.exact,
    }


def _entry_json(entry: Entry) -> dict[str, Any]:
    return {
        "stage": entry.stage,
        "step": entry.step,
        "name": entry.name,
        "lines": list(entry.lines),
        "at": entry.at,
        "text": entry.text,
        "by": entry.by,
        "new": dict(entry.new),
        "gone": dict(entry.gone),
    }


def _line_json(listing: Listing, number: int) -> dict[str, Any]:
    return {
        "line": number,
        "text": listing.lines[number - 1],
        "chains": [
            [frame._asdict() | {"column": frame.column or None} for frame in chain] for chain in listing.map.at(number)
        ],
        "ptx_line": listing.ptx_line(number),
        "inferred": number in listing.inferred,
    }
