"""`tritonscope export CAPTURE`: a capture handed on, as a file or folder of its own."""

import argparse
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

from tritonscope.cli import terminal
from tritonscope.errors import ExitCode, UsageError
from tritonscope.model import Capture

__all__ = ["add_arguments", "run"]

_DESCRIPTION = """Hand a capture on.

  export CAPTURE             one archive for a bug report: the capture's folder as .tar.gz, with a README
  export CAPTURE --html      one page for a browser, which needs no network: stages, passes, diffs, runs
  export CAPTURE --script    a Python script that compiles the kernel again, or runs and checks it, with no tritonscope
  export CAPTURE --override  a folder from which Triton takes one stage in place of its own: edit it, and run"""

_EPILOG = """examples:
  tritonscope export matmul
  tritonscope export matmul --html -o matmul.html
  tritonscope export matmul --script && python matmul_sm_90-*.py --run
  tritonscope export matmul --override --stage ptx
  tritonscope export matmul -o - | ssh HOST 'tar -xz -C dumps'

What you hand on holds the kernel's source, absolute paths of this machine, the command line, variables given with
--env, and the GPU's name where the kernel was run. Look through it before you publish it.

A program that is run with the variables which --override prints has Triton take the file in the folder for what it
compiled itself. It must make the very call that was captured, from the same source on the same lines. Triton's cache
does not know of an edit: the variables give it a cache of its own, so that the edited kernel stays out of yours.

JSON: {capture, form: "archive"|"html"|"script"|"override", path, bytes, files, environment}; files are those in a
folder, relative to it; environment is what Triton is to be run with, {} for other forms.

exit codes: 0 done; 2 wrong usage, or what would be written is there already; 5 no room on the disk."""

_SUFFIXES = {"archive": ".tar.gz", "html": ".html", "script": ".py", "override": ".override"}
_FORMS = {
    "archive": "the capture's folder, packed (the default)",
    "html": "a page",
    "script": "a script",
    "override": "a folder for TRITON_KERNEL_OVERRIDE",
}
_UNSAFE = re.compile(r"[^\w.+-]+")
_STAGE = "ttgir"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = _DESCRIPTION
    parser.epilog = _EPILOG
    terminal.add_capture_argument(parser)
    forms = parser.add_mutually_exclusive_group()
    for form, what in _FORMS.items():
        forms.add_argument(f"--{form}", dest="form", action="store_const", const=form, help=what)
    parser.set_defaults(form="archive")
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="where to (default: named like the capture, here); - is standard output"
    )
    parser.add_argument("--stage", metavar="S", help=f"with --override: the stage to replace (default: {_STAGE})")
    parser.add_argument("--force", action="store_true", help="overwrite what is there")
    terminal.add_dumps_option(parser, short=False)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Write what was asked for, and say where it is."""
    if args.stage is not None and args.form != "override":
        raise UsageError("--stage goes with --override: the other forms hold every stage")
    capture = terminal.open_named(args)
    if args.output == "-":
        return _to_stdout(capture, args)
    path = Path(args.output or f"./{_UNSAFE.sub('_', capture.capture)}{_SUFFIXES[args.form]}")
    if os.path.lexists(path) and not args.force:
        raise UsageError(f"{path} is there already; --force overwrites it, -o PATH writes elsewhere")
    if args.form == "override":
        written = _write_override(capture, path, args)
    else:
        data = _contents(capture, args.form)
        terminal.write_file(path, data)
        written = {"bytes": len(data), "files": [], "environment": {}}
    if args.json:
        terminal.print_json({"capture": capture.capture, "form": args.form, "path": str(path.absolute()), **written})
    else:
        print(path)
        _say_how(path, written)
    return ExitCode.DONE


def _to_stdout(capture: Capture, args: argparse.Namespace) -> int:
    if args.form == "override":
        raise UsageError("--override makes a folder, which does not go to standard output; name one with -o DIR")
    if args.json:
        raise UsageError("--json says where something was written; leave it out with -o -")
    if terminal.is_terminal():
        raise UsageError(f"the {args.form} is not for a terminal; write it to a file with -o FILE")
    sys.stdout.buffer.write(_contents(capture, args.form))
    return ExitCode.DONE


def _contents(capture: Capture, form: str) -> bytes:
    if form == "archive":
        from tritonscope.export.archive import archive

        return archive(capture)
    if form == "html":
        from tritonscope.export.page import page

        return page(capture).encode("utf-8", "replace")
    from tritonscope.export.script import script

    found = script(capture)
    terminal.say(f"the script holds {', '.join(found.files)}")
    for note in found.notes:
        terminal.say(f"note: {note}")
    return found.text.encode("utf-8", "replace")


def _write_override(capture: Capture, folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    from tritonscope.export.override import override

    found = override(capture, args.stage or _STAGE)
    file = folder / found.file
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made ({error.strerror}); choose another place with -o") from None
    for other in found.hidden_by:  # of an export before, which --force overwrites
        (folder / other).unlink(missing_ok=True)
    terminal.write_file(file, found.data)
    environment = {
        "TRITON_KERNEL_OVERRIDE": "1",
        "TRITON_OVERRIDE_DIR": str(folder.absolute()),
        "TRITON_CACHE_DIR": str(folder.absolute() / "cache"),
        "TRITON_ALWAYS_COMPILE": "1",
    }
    return {"bytes": len(found.data), "files": [found.file], "environment": environment}


def _say_how(path: Path, written: dict[str, Any]) -> None:
    if written["environment"]:
        variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in written["environment"].items())
        terminal.say(f"edit {path / written['files'][0]}, and run your program with")
        terminal.say(variables)
