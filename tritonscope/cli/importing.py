"""`tritonscope import PATH`: captures of what other tools left."""

import argparse

from tritonscope import interpreter
from tritonscope.cli import listing, terminal
from tritonscope.errors import ExitCode, UsageError
from tritonscope.model import Capture
from tritonscope.store import layout

__all__ = ["add_arguments", "run"]

_DESCRIPTION = """Make captures of what Triton and other tools left behind, to look at and to compare:

  - Triton's cache: one entry, or a whole ~/.triton/cache; PyTorch's in TORCHINDUCTOR_CACHE_DIR
  - a TRITON_DUMP_DIR folder, which TRITON_KERNEL_DUMP=1 fills
  - what MLIR_ENABLE_DUMP=1 or LLVM_IR_ENABLE_DUMP=1 prints, in a file, or "-" for standard input; of one kernel after
    the other, not of several that compiled side by side
  - traces of tritonparse, .ndjson or .ndjson.gz: the compilations in them, with counts of their launches; a folder
    of traces, with those in folders in it
  - archives that `tritonscope export` makes

What a path is is told by its contents. Importing the same again replaces the capture. `open`, `diff`, `show` and the
rest take such a path in a capture's place, too, where it holds a single compilation."""

_EPILOG = """examples:
  tritonscope import ~/.triton/cache
  tritonscope import trace.ndjson.gz -o dumps/from-the-cluster
  MLIR_ENABLE_DUMP=1 python my_program.py 2>&1 | tritonscope import -
  tritonscope diff ~/.triton/cache/<one> ~/.triton/cache/<another> --stage ttgir

What the files do not tell (times, the whole cache key, passes of a cache entry) is unknown and said to be. Files are
parsed, never run; links in folders are not followed.

JSON: one object a line: {capture, path, kernel, target, key, status, created, triton_version, stages: [name, ..],
passes: how many, imported_from: {tool, path}, notes}; key is "" and triton_version null where they are not known;
imported_from is null for a capture of our own from an archive.
What cannot be read is named on standard error.

exit codes: 0 done; 2 nothing could be imported; 5 no room on the disk."""

_MOST_NAMED = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = _DESCRIPTION
    parser.epilog = _EPILOG
    parser.add_argument("path", metavar="PATH", help='a folder, a file, or "-" for standard input')
    parser.add_argument("--kernel", metavar="NAME", help="only kernels whose name contains NAME")
    parser.add_argument("--no-sass", action="store_true", help="leave machine code alone, which takes a moment each")
    parser.add_argument("--python", metavar="PATH", help="the Python whose Triton disassembles")
    terminal.add_dumps_option(parser)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Import, and print each capture as it is made."""
    from tritonscope.foreign import importing

    dumps = layout.dumps_folder(args.dumps)
    python = None if args.no_sass else interpreter.choose(args.python)
    made: set[str] = set()
    others: list[str] = []

    def wanted(kernel: str) -> bool:
        if args.kernel and args.kernel not in kernel:
            others.append(kernel)
            return False
        return True

    for each in importing.captures_of(args.path, dumps, python=python, wanted=wanted):
        if isinstance(each, UsageError):
            terminal.say(f"skipped: {each}")
        else:
            made.add(each.path)
            _print(each, args)
    if made:
        terminal.say(f"{len(made)} capture{'' if len(made) == 1 else 's'} in {dumps}")
        return ExitCode.DONE
    if others:
        names = ", ".join(list(dict.fromkeys(others))[:_MOST_NAMED])
        terminal.say_error(f"none of the {len(others)} kernels has {args.kernel!r} in its name; there are {names}")
    return ExitCode.USAGE


def _print(capture: Capture, args: argparse.Namespace) -> None:
    stages = [stage.stage for stage in capture.stages]
    if args.json:
        told = {
            "stages": stages,
            "passes": len(capture.passes),
            "imported_from": capture.request.get("imported_from"),
            "notes": list(capture.notes),
        }
        terminal.print_json_line(listing.summary(capture) | told)
        return
    passes = f"  {len(capture.passes)} passes" if capture.passes else ""
    print(terminal.escape(f"{capture.capture}  {capture.status}  {' '.join(stages)}{passes}"), flush=True)
