"""`tritonscope open`: the full-screen interface."""

import argparse
import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tritonscope import bundled_kernels, interpreter
from tritonscope.cli import terminal
from tritonscope.errors import CaptureNotFound, ExitCode, UsageError
from tritonscope.model import Capture
from tritonscope.store import layout, reader

if TYPE_CHECKING:
    from tritonscope.tui.app import ScopeApp

#: Passes are compared in a thread, and a key that wants Python's lock waits for it about so long, several times.
_SWITCH_SECONDS = 0.0005

_EPILOG = """\
examples:
  tritonscope open
  tritonscope open matmul
  tritonscope open dumps/attention/sm_100-6570980
  tritonscope open ~/.triton/cache

Without a name it opens the capture that was open last, else the newest; where there are no captures, those that travel
with tritonscope. ? in it lists the keys."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `tritonscope open`."""
    parser.description = "Browse captures, full screen: every stage and every pass."
    parser.epilog = _EPILOG
    parser.add_argument("what", nargs="?", metavar="CAPTURE|KERNEL|FOLDER", help="what to open")
    terminal.add_dumps_option(parser)


def run(args: argparse.Namespace) -> int:
    """Open it; returns when it is closed."""
    dumps, capture = _wanted(args)
    if not _on_a_terminal() and "TEXTUAL_DRIVER" not in os.environ:  # which draws elsewhere: `serve` sets it
        raise UsageError(
            "the full-screen interface needs a terminal, its standard error included; "
            "`tritonscope show` and `passes` do without"
        )
    app = application(dumps, capture)
    app.run()
    return app.return_code or ExitCode.DONE


def application(dumps: Path, capture: Capture | None) -> "ScopeApp":
    """The full-screen interface, not yet running. Garbage is collected again from its first frame on."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.disable()  # all that starting makes is kept: looking through it again and again takes a tenth of the time
    from tritonscope.tui.app import ScopeApp

    return ScopeApp(dumps, capture)


def _on_a_terminal() -> bool:
    """Whether all three streams are one: keys are read from the first, and the last is what is drawn on."""
    return all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def _wanted(args: argparse.Namespace) -> tuple[Path, Capture | None]:
    dumps = layout.dumps_folder(args.dumps)
    if args.what is None:
        return dumps, _last(dumps)
    path = layout.expand(args.what)
    if path.exists() and not layout.is_capture(path):
        from tritonscope.foreign import direct, importing

        if importing.is_foreign(path):
            folder = direct.dumps_of(path, interpreter.choose(None))
            return folder, _last(folder)
        if path.is_dir():
            return path.absolute(), _last(path.absolute())
    try:
        resolution = reader.resolve(dumps, args.what, bundled_kernels.reference_dumps())
    except CaptureNotFound:
        bundled_kernels.find(args.what)
        return dumps, None
    return dumps, resolution.capture


def _last(dumps: Path) -> Capture | None:
    """The one that was open last, else the newest."""
    from tritonscope.tui import state

    captures, _ = reader.list_captures(dumps)
    if not captures and (reference := bundled_kernels.reference_dumps()):
        captures, _ = reader.list_captures(reference)
    remembered = state.load().capture
    known = {capture.path: capture for capture in captures}
    newest = max(captures, key=lambda capture: capture.created, default=None)
    return known.get(remembered, newest)
