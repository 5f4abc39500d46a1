"""`tritonscope serve`: the full-screen interface in a browser, on this machine alone."""

import argparse
import shlex
import sys
from importlib import import_module

from tritonscope.cli import terminal
from tritonscope.errors import ExitCode, Missing

_EPILOG = """\
examples:
  tritonscope serve
  tritonscope serve --port 8100 matmul

It listens on 127.0.0.1 alone: whoever reaches it can compile and run kernels. From another machine,
`ssh -L 8000:127.0.0.1:8000 HOST` brings it there.

exit codes: 0 done; 2 wrong usage; 5 textual-serve is missing."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `tritonscope serve`."""
    parser.description = "Show the full-screen interface in a browser."
    parser.epilog = _EPILOG
    parser.add_argument("what", nargs="?", metavar="CAPTURE|KERNEL|FOLDER", help="what to open")
    parser.add_argument("--port", type=_port, default=8000, help="the port on 127.0.0.1 (default: 8000)")
    terminal.add_dumps_option(parser)


def run(args: argparse.Namespace) -> int:
    """Serve until it is interrupted."""
    try:
        server = import_module("textual_serve.server")
    except ImportError:
        raise Missing(
            "serving takes textual-serve; install it with 'pip install textual-serve', beside tritonscope"
        ) from None
    words = [sys.executable, "-m", "tritonscope", "open", *([args.what] if args.what else [])]
    words += ["-o", args.dumps] if args.dumps else []
    terminal.say(f"serving on http://127.0.0.1:{args.port}; Ctrl-C ends")
    server.Server(shlex.join(words), host="127.0.0.1", port=args.port, title="tritonscope").serve()
    return ExitCode.DONE


def _port(text: str) -> int:
    port = int(text)
    if not 0 < port < 65536:
        raise argparse.ArgumentTypeError("a port is a number from 1 to 65535")
    return port
