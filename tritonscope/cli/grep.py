"""`tritonscope grep PATTERN CAPTURE`: search every stage and pass."""

import argparse
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritonscope.cli import terminal
from tritonscope.errors import CaptureUnreadable, ExitCode, UsageError
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.locations import strip_debug
from tritonscope.model import Capture
from tritonscope.store import reader

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["add_arguments", "run"]

_EPILOG = """examples:
  tritonscope grep convert_layout matmul
  tritonscope grep -c 'tt\\.(load|store)' matmul --stage ttgir
  tritonscope grep -lF '#mma' matmul

PATTERN is a regular expression of Python's. The places are searched as they were made: the Python source, the IR
straight from it, the IR after each pass that changed it, and each stage where it ends; the AST only with --stage ast.
Standard error names the first where the pattern appears; in a pipe every line is PLACE:LINE:TEXT. Line numbers are
those of `tritonscope dump` with the same --locations. The exit code is 1 where nothing matched.

JSON: {pattern, first: null | place, matches: [{..place, line, text}]}, where -c has counts: [{..place, count}] and
-l places: [place] instead of matches; a place is {stage, step, pass, file}, step and pass null for a stage."""

_BEFORE_PASSES = ("python", "ast", "source")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = "Search the IR of every stage and after every pass, and name the first where PATTERN appears."
    parser.epilog = _EPILOG
    parser.add_argument("pattern", metavar="PATTERN", help="a regular expression")
    terminal.add_capture_argument(parser)
    parser.add_argument("--stage", metavar="STAGE", help="only this stage and its passes")
    parser.add_argument("-i", "--ignore-case", action="store_true", help="upper and lower case are the same")
    parser.add_argument("-F", "--fixed-strings", action="store_true", help="PATTERN is no regular expression")
    parser.add_argument("--locations", action="store_true", help="search source locations too")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("-c", "--count", action="store_true", help="only how many lines match in each place")
    only.add_argument("-l", "--places", action="store_true", help="only the places where something matches")
    terminal.add_dumps_option(parser)
    terminal.add_json_option(parser)


@dataclass(frozen=True)
class _Place:
    """A text that is searched: what a step left, or a stage."""

    stage: str
    file: str
    step: str | None = None
    pass_: str | None = None

    @property
    def name(self) -> str:
        return f"{self.step}-{self.pass_}" if self.step else self.stage

    def json(self) -> dict[str, Any]:
        return {"stage": self.stage, "step": self.step, "pass": self.pass_, "file": self.file}


_Found = tuple[_Place, list[tuple[int, str]]]


def run(args: argparse.Namespace) -> int:
    """Search, and print what was found."""
    pattern = _compile(args)
    capture = terminal.open_named(args)
    places = _places(capture)
    if args.stage:
        places = [place for place in places if place.stage == args.stage.lower()]
        if not places:
            reader.find_stage(capture, args.stage)  # which says so where there is no such stage
    else:
        places = [place for place in places if kind_of(place.file) != "json"]
    found = _search(capture, places, pattern, args.locations)
    if args.json:
        matches = list(found)
        terminal.print_json(_as_json(args, matches))
        return ExitCode.DONE if matches else ExitCode.DIFFERS
    return _print(found, pattern, args)


def _compile(args: argparse.Namespace) -> "re.Pattern[str]":
    text = re.escape(args.pattern) if args.fixed_strings else args.pattern
    try:
        return re.compile(text, re.IGNORECASE if args.ignore_case else 0)
    except re.error as error:
        raise UsageError(
            f"{args.pattern!r} is no regular expression ({error}); with -F it is searched for as it is"
        ) from None


def _places(capture: Capture) -> list[_Place]:
    """Every text of the capture, as they were made, each file once."""
    stages = {stage.stage: _Place(stage.stage, stage.file) for stage in capture.stages}
    records = sorted(capture.passes, key=lambda record: _by_end(record.step))
    steps = [_Place(r.stage, r.file, r.step, r.name) for r in records if r.file]
    last_of = {place.stage: index for index, place in enumerate(steps)}
    # What was there before the first pass: the kernel's text, and the IR straight from it.
    ordered = [place for place in stages.values() if place.stage in _BEFORE_PASSES]
    for index, place in enumerate(steps):
        ordered.append(place)
        if place.stage in stages and last_of[place.stage] == index:
            ordered.append(stages[place.stage])
    ordered += [place for place in stages.values() if place.stage not in (*_BEFORE_PASSES, *last_of)]
    once = {place.file: place for place in reversed(ordered)}
    return [place for place in ordered if once[place.file] is place and kind_of(place.file) != "binary"]


def _by_end(step: str) -> tuple[float, ...]:
    """Sorts steps by when they ended: a nested one before the step that ran it."""
    return (*map(int, step.split(".")), math.inf)


def _search(capture: Capture, places: list[_Place], pattern: "re.Pattern[str]", locations: bool) -> Iterator[_Found]:
    for place in places:
        try:
            text = reader.read_text(capture, place.file)
        except CaptureUnreadable as problem:
            terminal.say(f"left out: {place.name}: {problem}")
            continue
        if not locations:
            text = strip_debug(text, kind_of(place.file))
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if pattern.search(line)]
        if lines:
            yield place, lines


def _as_json(args: argparse.Namespace, found: list[_Found]) -> dict[str, Any]:
    head = {"pattern": args.pattern, "first": found[0][0].json() if found else None}
    if args.count:
        return head | {"counts": [place.json() | {"count": len(lines)} for place, lines in found]}
    if args.places:
        return head | {"places": [place.json() for place, _ in found]}
    return head | {
        "matches": [place.json() | {"line": number, "text": line} for place, lines in found for number, line in lines]
    }


def _print(found: Iterator[_Found], pattern: "re.Pattern[str]", args: argparse.Namespace) -> int:
    console = terminal.console() if terminal.is_terminal() else None
    code = ExitCode.DIFFERS
    for place, lines in found:
        if code is ExitCode.DIFFERS:
            terminal.say(_first(place))
            code = ExitCode.DONE
        if args.places:
            _line(place.name)
        elif args.count:
            _line(f"{place.name}:{len(lines)}")
        elif console:
            _print_place(place, lines, pattern, console)
        else:
            for number, line in lines:
                print(f"{place.name}:{number}:{line}")
    if code is ExitCode.DIFFERS:
        terminal.say(f"{args.pattern!r} appears in no stage and after no pass")
    return code


def _first(place: _Place) -> str:
    if place.step:
        return f"first appears after step {place.step}, {place.pass_} ({place.stage})"
    return f"first appears in the stage {place.stage}" + (", before any pass" if place.stage in _BEFORE_PASSES else "")


def _line(text: str) -> None:
    print(terminal.escape(text) if terminal.is_terminal() else text)


def _print_place(place: _Place, lines: list[tuple[int, str]], pattern: "re.Pattern[str]", console: "Console") -> None:
    from rich.text import Text

    title = f"{place.step} {place.pass_}  ({place.stage})" if place.step else place.stage
    console.print(Text(terminal.escape(title), style="bold"))
    width = len(str(lines[-1][0]))
    for number, line in lines:
        shown = Text(f"  {number:{width}}  ", style="dim")
        shown.append_text(_marked(line, pattern))
        console.print(shown, soft_wrap=True)


def _marked(line: str, pattern: "re.Pattern[str]") -> Any:
    from rich.text import Text

    marked = Text()
    copied = 0
    for match in pattern.finditer(line):
        marked.append(terminal.escape(line[copied : match.start()]), style="not dim")
        marked.append(terminal.escape(match[0]), style="not dim bold underline red")
        copied = match.end()
    marked.append(terminal.escape(line[copied:]), style="not dim")
    return marked
