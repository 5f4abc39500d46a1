"""`tritonscope serve`: the full-screen interface in a browser, on this machine alone."""

import argparse
import shlex
import sys
from importlib import import_module

from tritonscope.cli import terminal
from tritonscope.errors import ExitCode, Missing

__all__ = ["add_arguments", "run"]

_EPILOG = """examples:
  tritonscope serve
  tritonscope serve --port 8100 matmul

It listens on 127.0.0.1 alone, and lets no page in but its own: whoever reaches it can compile and run kernels. From
another machine, `ssh -L 8000:127.0.0.1:8000 HOST` brings it to http://localhost:8000 there; it loads nothing from
anywhere else, so a machine without a network will do. Each window of a browser is an interface of its own.

exit codes: 0 done, by Ctrl-C; 2 wrong usage, or the port is in use; 5 textual-serve is missing."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = "Show the full-screen interface in a browser."
    parser.epilog = _EPILOG
    parser.add_argument("what", nargs="?", metavar="CAPTURE|KERNEL|FOLDER", help="what to open")
    parser.add_argument("--port", type=_port, default=8000, help="the port on 127.0.0.1 (default: 8000)")
    terminal.add_dumps_option(parser)


def run(args: argparse.Namespace) -> int:
    """Serve until it is interrupted."""
    try:
        loopback = import_module("tritonscope.cli.loopback")
    except ImportError:
        raise Missing(
            "serving takes textual-serve; install it with 'pip install textual-serve', beside tritonscope"
        ) from None
    words = [sys.executable, "-m", "tritonscope", "open", *(["-o", args.dumps] if args.dumps else [])]
    words += ["--", args.what] if args.what else []
    terminal.say(f"serving on http://127.0.0.1:{args.port}; Ctrl-C ends")
    loopback.LoopbackServer(shlex.join(words), args.port).serve()
    return ExitCode.DONE


def _port(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 0 < int(text[:6]) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; give a number from 1 to 65535")
    return int(text)
