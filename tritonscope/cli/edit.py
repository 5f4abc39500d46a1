"""`tritonscope edit`: another text in the place of one that the compiler made, and what became of the kernel."""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonscope import api, editing, interpreter, recipe
from tritonscope.cli import failure_text, terminal
from tritonscope.engine.client import Cancel
from tritonscope.errors import ExitCode, UsageError
from tritonscope.ir.locations import strip_debug
from tritonscope.model import Capture, to_json
from tritonscope.store import files, layout, reader

if TYPE_CHECKING:
    from tritonscope.ir.diff import Diff, Stat

__all__ = ["add_arguments", "run"]

_DESCRIPTION = """Change one text of a capture by hand and compile on from there, as the capture was compiled.

  edit CAPTURE STAGE              open the stage in $VISUAL or $EDITOR: source, ttir, ttgir, llir, ptx or amdgcn
  edit CAPTURE --pass P           the IR after a pass, from which the passes after it go on
  edit CAPTURE STAGE FILE         take the edited text from FILE, or from standard input where that is -

What comes of it is a capture of its own, which every command takes. The kernel's file is loaded again for it, which
runs the code in it: take care whose capture it is."""

_EPILOG = """examples:
  tritonscope edit matmul ttgir
  tritonscope edit matmul --pass tritongpu-coalesce
  tritonscope dump matmul ptx | sed 's/\\.rn\\././' | tritonscope edit matmul ptx -
  tritonscope edit matmul ttgir --run

MLIR is edited without its locations; they are put back on the lines that stay as they are. LLVM IR and PTX are opened
with their debug information, and compile without it, too. The number of warps and of arguments was settled when the
kernel was compiled, and an edit cannot change them. Passes before the edit run as ever, and what they leave is dropped
there. Of an edited capture, earlier edits stay, and those that come later in the pipeline are dropped.

--run checks the edited kernel and times it and the capture that was edited in turn, as `run CHILD --beside CAPTURE`.

JSON: {parent, capture, path, stage, step, pass, status, stat: {unchanged, renamed, layout, changed, added, removed,
moved} (of the text), resources: {name: [before, after]}, bytes: {stage: [before, after]} (of llir, ptx and amdgcn,
without debug information), failure: null | {stage, pass, inner, step, message, file, line, column (from 0),
source_line, ..}, text: where the edited text is}; of an unchanged text {parent, capture: null}.

exit codes: 0 compiled, or the text is unchanged; 2 wrong usage, or a file that cannot be read; 3 the text does not
parse, or the kernel did not compile; 4 the compiler crashed or timed out; 5 triton or room on the disk is missing."""

_EDITORS = ("VISUAL", "EDITOR")
_RESOURCES = ("registers", "spills", "shared", "stack")
_CODE = ("llir", "ptx", "amdgcn")
_MOST_LINES = 60  # of a diff that is printed as it is


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = _DESCRIPTION
    parser.epilog = _EPILOG
    parser.usage = "tritonscope edit CAPTURE STAGE|--pass P [FILE] [options]"
    parser.set_defaults(intermixed=True)  # FILE comes after --pass P
    terminal.add_capture_argument(parser)
    parser.add_argument("rest", nargs="*", metavar="STAGE FILE", help="the stage, unless --pass is given; the text")
    parser.add_argument("--pass", dest="step", metavar="P", help="a step, a name, or NAME#2 for its second run")
    parser.add_argument("--run", action="store_true", help="check it and time it beside the capture that was edited")
    terminal.add_timeout_option(parser, "the compilation")
    parser.add_argument("--python", metavar="PATH", help="the Python, or environment, whose triton compiles")
    terminal.add_dumps_option(parser, short=False)
    terminal.add_json_option(parser)


@dataclass(frozen=True)
class _Edited:
    """The text, and the file that holds it; in `scratch` where that is ours to remove."""

    text: str
    path: Path
    scratch: Path | None


def run(args: argparse.Namespace) -> int:
    """Edit, compile, and say what came of it; returns the exit code."""
    stage, file = _what(args)
    capture = terminal.open_named(args)
    place = editing.of_stage(capture, stage) if stage is not None else editing.after_pass(capture, args.step)
    edited = _taken(file, place) if file is not None else _by_editor(place)
    if not edited.text.strip():
        _remove(edited)
        raise UsageError(f"{edited.path} is empty, so nothing was compiled; give the whole edited text")
    if place.is_unchanged(edited.text):
        _remove(edited)
        terminal.say(f"{place.name} of {capture.capture} is unchanged; nothing was compiled")
        if args.json:
            terminal.print_json({"parent": capture.capture, "capture": None})
        return ExitCode.DONE
    try:
        child = _compiled(place, edited.text, args)
    except BaseException:
        _say_where(edited)
        raise
    code = _report(place, edited, child, args)
    if child.status == "ok":
        _remove(edited)
        return _run_beside(child, capture, args) if args.run else code
    _say_where(edited)
    return code


def _what(args: argparse.Namespace) -> tuple[str | None, str | None]:
    """The stage, and the file with the text, None where there is no such."""
    rest = list(args.rest)
    stage = rest.pop(0) if args.step is None and rest else None
    if stage is None and args.step is None:
        raise UsageError("say what to edit: a stage such as ttgir, or --pass with a pass")
    if len(rest) > 1:
        raise UsageError(f"{rest[1]} is one too many: give the capture, a stage or --pass, and a file")
    if args.json and args.run:
        raise UsageError("--run prints what `tritonscope run` does; with --json, run the edited capture by itself")
    return stage, rest[0] if rest else None


# -- the text


def _taken(file: str, place: editing.Place) -> _Edited:
    path = Path("/dev/stdin") if file == "-" else Path(file)
    text = files.read_loose(path).decode("utf-8", "replace")
    if path.is_file():
        return _Edited(text, path, None)
    return _written(text, place)  # a pipe is read once


def _written(text: str, place: editing.Place) -> _Edited:
    scratch = Path(tempfile.mkdtemp(prefix="tritonscope-edit-"))
    path = scratch / place.file_name
    path.write_text(text, encoding="utf-8")
    return _Edited(text, path, scratch)


def _by_editor(place: editing.Place) -> _Edited:
    """What the user makes of the text; raises UsageError, and keeps the text, where the editor fails."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()) and not any(map(os.environ.get, _EDITORS)):
        raise UsageError("an editor needs a terminal; set EDITOR, or give the edited text as a FILE, or - for a pipe")
    written = _written(place.shown(), place)
    editor = next(filter(None, map(os.environ.get, _EDITORS)), "vi")
    try:
        code = subprocess.run([*shlex.split(editor), str(written.path)], check=False).returncode
    except (OSError, ValueError) as error:
        _remove(written)
        raise UsageError(f"the editor {editor!r} cannot be started ({error}); set EDITOR to another one") from None
    edited = replace(written, text=files.read_loose(written.path).decode("utf-8", "replace"))
    if code:
        if place.is_unchanged(edited.text):
            _remove(edited)
        else:
            _say_where(edited)
        raise UsageError(f"the editor {editor!r} ended with code {code}, so nothing was compiled; try again")
    return edited


def _remove(edited: _Edited) -> None:
    if edited.scratch is not None:
        shutil.rmtree(edited.scratch, ignore_errors=True)


def _say_where(edited: _Edited) -> None:
    if edited.scratch is not None:
        terminal.say(f"the edited text is kept in {edited.path}; mend it, and give it as FILE")


# -- what comes of it


def _compiled(place: editing.Place, text: str, args: argparse.Namespace) -> Capture:
    request, texts = editing.request(place, text)
    return api.capture(
        request,
        layout.dumps_folder(args.dumps),
        python=interpreter.choose(args.python),
        command=["tritonscope", *sys.argv[1:]],
        timeout=args.timeout,
        cancel=Cancel(),
        texts=texts,
    )


def _report(place: editing.Place, edited: _Edited, child: Capture, args: argparse.Namespace) -> int:
    from tritonscope.ir.diff import diff

    old, new = (strip_debug(text, place.kind) for text in (place.text, edited.text))
    found = diff(old, new, place.kind)
    if args.json:
        terminal.print_json(_as_json(place, edited, child, found.stat))
    else:
        _print(place, child, found)
    if child.status == "ok":
        return ExitCode.DONE
    terminal.say_error(_refusal(child, edited) or failure_text.sentence(child))
    return ExitCode.NOT_COMPILED if child.status == "failed" else ExitCode.CHILD_DIED


def _refusal(child: Capture, edited: _Edited) -> str | None:
    """The sentence for a text that was not taken, with the place in the user's own file; None for other failures."""
    failure = child.failure
    if failure is None or failure.file != _last(child):
        return None
    column = "" if failure.column is None else f", column {failure.column + 1}"
    where = "" if failure.line is None else f", line {failure.line}{column}"
    return f"{edited.path}{where}: {failure.message.strip()}; mend it, and edit again"


def _as_json(place: editing.Place, edited: _Edited, child: Capture, stat: "Stat") -> dict[str, Any]:
    fields = to_json(child)
    kept = edited.path if edited.scratch is None or child.status != "ok" else Path(child.path, _last(child))
    return {
        "parent": place.capture.capture,
        **{name: fields[name] for name in ("capture", "path", "status", "failure")},
        "stage": place.stage,
        "step": place.step,
        "pass": place.pass_name,
        "stat": asdict(stat),
        "resources": {name: list(both) for name, both in _resources(place.capture, child).items()},
        "bytes": {name: list(both) for name, both in _sizes(place.capture, child).items()},
        "text": str(kept.absolute()),
    }


def _last(child: Capture) -> str:
    return str(child.request["edits"][-1]["file"])


def _print(place: editing.Place, child: Capture, found: "Diff") -> None:
    from rich.text import Text

    from tritonscope.cli import show
    from tritonscope.cli.diff_text import print_diff, stat_text

    console = terminal.console()
    if found.stat.lines <= _MOST_LINES:
        labels = (f"{place.capture.capture} {place.name}", "edited")
        print_diff(found, labels, console, context=1, side_by_side=False)
    else:
        console.print(Text(stat_text(found.stat)), soft_wrap=True)
    console.print()
    heading = Text(terminal.escape(child.capture), style="bold")
    console.print(heading.append(terminal.escape(f"  {child.status}  {recipe.words(child.request)}")), soft_wrap=True)
    if child.failure is not None:
        show.print_failure(child, child.failure, console)
        return
    for what, numbers in (("", _resources(place.capture, child)), (" bytes", _sizes(place.capture, child))):
        told = [f"{name}{what} {_change(*both)}" for name, both in numbers.items()]
        if told:
            console.print(Text(f"  {'   '.join(told)}"), soft_wrap=True)
    console.print(Text("next:", style="dim"))
    parent, name = terminal.called(place.capture), terminal.called(child)
    for command in (f"diff {parent} {name}", f"run {name} --beside {parent}"):
        console.print(Text(terminal.escape(f"  tritonscope {command}")), soft_wrap=True)


def _change(before: Any, after: Any) -> str:
    return f"{after}" if before == after else f"{before} -> {after}"


def _resources(parent: Capture, child: Capture) -> dict[str, tuple[Any, Any]]:
    both = {name: (parent.resources.get(name), child.resources.get(name)) for name in _RESOURCES}
    return {name: found for name, found in both.items() if found != (None, None)}


def _sizes(parent: Capture, child: Capture) -> dict[str, tuple[int, int]]:
    """The bytes of each text without its debug information, which an edited text may have lost."""
    found = {}
    for stage in _CODE:
        texts = [reader.stage_text(each, stage) for each in (parent, child) if _has(each, stage)]
        if len(texts) == 2:
            found[stage] = (len(strip_debug(texts[0], stage)), len(strip_debug(texts[1], stage)))
    return found


def _has(capture: Capture, stage: str) -> bool:
    return any(each.stage == stage for each in capture.stages)


def _run_beside(child: Capture, parent: Capture, args: argparse.Namespace) -> int:
    from tritonscope import cli

    python = [] if args.python is None else ["--python", args.python]
    return cli.main(["run", child.path, "--beside", parent.path, *python])
