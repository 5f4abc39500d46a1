"""`tritonscope explain`: what the names in a dump mean."""

import argparse
from typing import TYPE_CHECKING, Any

from tritonscope import explain as explanations
from tritonscope.cli import terminal
from tritonscope.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["add_arguments", "run"]

_DESCRIPTION = """What a name in a dump means, what to look for there, and why it matters for speed.

NAME is a pass, a step, a stage, an operation, a layout, an attribute, or an instruction of PTX, SASS or AMD assembly,
with its modifiers if you like; a whole line of a dump, quoted, is explained by its first operation. Without NAME, list
what is explained; names that share a text are listed by the first of them."""

_EPILOG = """examples:
  tritonscope explain tritongpu-coalesce
  tritonscope explain ttg.convert_layout '#ttg.blocked' tt.divisibility
  tritonscope explain HGMMA.64x256x16.F32 ld.global.v4.b32 v_mfma_f32_32x32x8_f16
  tritonscope explain '#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1]}>'
  tritonscope explain

JSON: an array of {asked, name, kind, text, see_also}, kind being stage, step, pass, operation, layout, attribute, ptx,
sass or amdgcn; without NAME of {names, kind, text, see_also}.

exit codes: 0 done; 2 a name that is not explained."""

_WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = _DESCRIPTION
    parser.epilog = _EPILOG
    parser.add_argument("names", metavar="NAME", nargs="*", help="what to explain: a name, or a line of a dump")
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print what the names mean; raises UsageError for one that is not explained."""
    if not args.names:
        return _list(args.json)
    found = [(asked, each) for asked in args.names for each in _look_up(asked)]
    if args.json:
        terminal.print_json([{"asked": terminal.escape(asked), **_as_json(each)} for asked, each in found])
        return ExitCode.DONE
    console = terminal.console()
    for number, explanation in enumerate(dict.fromkeys(each for _, each in found)):
        if number:
            console.print()
        _print(explanation, console)
    return ExitCode.DONE


def _look_up(asked: str) -> list[explanations.Explanation]:
    found = explanations.explain_all(asked)
    if found:
        return found
    shown = asked if len(asked) <= _WIDTH else asked[:_WIDTH] + "..."
    near = explanations.close_matches(asked)
    hint = f"did you mean {' or '.join(near)}?" if near else "`tritonscope explain` lists what is explained"
    raise UsageError(f"{shown!r} is not explained; {hint}")


def _as_json(explanation: explanations.Explanation) -> dict[str, Any]:
    return {
        "name": explanation.name,
        "kind": explanation.kind,
        "text": explanation.text,
        "see_also": list(explanation.see_also),
    }


def _print(explanation: explanations.Explanation, console: "Console") -> None:
    from rich.text import Text

    console.print(Text(explanation.name, style="bold"), Text(explanation.kind, style="dim"), sep="  ")
    _wrapped(explanation.text, "  ", console)
    if explanation.see_also:
        _wrapped("see also: " + ", ".join(explanation.see_also), "  ", console, style="dim")


def _wrapped(text: str, indent: str, console: "Console", style: str = "") -> None:
    import textwrap

    from rich.text import Text

    width = max(20, min(console.width, _WIDTH) - 1)
    lines = textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    for line in lines:
        console.print(Text(line, style=style), soft_wrap=True)


def _list(as_json: bool) -> int:
    entries = explanations.entries()
    if as_json:
        terminal.print_json(
            [
                {"names": list(each.names), "kind": each.kind, "text": each.text, "see_also": list(each.see_also)}
                for each in entries
            ]
        )
        return ExitCode.DONE
    from rich.text import Text

    console = terminal.console()
    for kind in explanations.KINDS:
        names = sorted({each.names[0] for each in entries if each.kind == kind}, key=str.lower)
        console.print(Text(kind, style="bold"))
        _wrapped("  ".join(names), "  ", console)
    return ExitCode.DONE
