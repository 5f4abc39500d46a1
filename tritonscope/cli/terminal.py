"""What the commands share of the terminal: the console, colour, escaping, diagnostics, JSON.

Standard output is data, standard error is diagnostics. Colour is for terminals alone, and not where NO_COLOR is set.
"""

import argparse
import io
import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonscope.model import Capture
from tritonscope.printable import escape
from tritonscope.store import layout

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "add_capture_argument",
    "add_dumps_option",
    "add_json_option",
    "add_timeout_option",
    "called",
    "console",
    "escape",
    "is_terminal",
    "load_console",
    "open_capture",
    "open_named",
    "print_diagnostics",
    "print_json",
    "print_json_line",
    "print_text",
    "say",
    "say_error",
    "tolerate_any_text",
    "wants_colour",
    "write_file",
]

_LINES_AT_A_TIME = 200
_UNBOUNDED = 100_000
_LONGEST_TIMEOUT = 1_000_000


def add_dumps_option(parser: argparse.ArgumentParser, short: bool = True) -> None:
    """Add --dumps, with its short form -o unless the command has another use for that."""
    names = ("-o", "--dumps") if short else ("--dumps",)
    parser.add_argument(
        *names, metavar="DIR", help="the folder that holds the captures (default: $TRITONSCOPE_DUMPS, else ./dumps)"
    )


def add_capture_argument(parser: argparse.ArgumentParser) -> None:
    """Add CAPTURE."""
    parser.add_argument(
        "capture",
        metavar="CAPTURE",
        help='a path, or any unambiguous start of "kernel/target-id"; a kernel alone means its newest',
    )


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print JSON, as described below")


def add_timeout_option(parser: argparse.ArgumentParser, what: str, default: float | None = None) -> None:
    """Add --timeout, which ends `what` after as many seconds."""
    after = "" if default is None else f" (default: {default:g})"
    parser.add_argument(
        "--timeout", type=_seconds, default=default, metavar="S", help=f"end {what} after S seconds{after}"
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= _LONGEST_TIMEOUT:  # which inf and nan are not
        raise argparse.ArgumentTypeError(
            f"{text!r} is no time; give seconds, more than 0 and at most {_LONGEST_TIMEOUT}"
        )
    return seconds


def open_named(args: argparse.Namespace) -> Capture:
    """The capture that `args.capture` means; as `open_capture`."""
    return open_capture(args.capture, args)


def open_capture(name: str, args: argparse.Namespace) -> Capture:
    """The capture that `name` means in `args.dumps`; where that took a choice, standard error says which.

    Where there is none, a file or folder of another tool is taken for one.
    """
    from tritonscope import bundled_kernels
    from tritonscope.errors import CaptureNotFound
    from tritonscope.store import reader

    try:
        resolution = reader.resolve(layout.dumps_folder(args.dumps), name, bundled_kernels.reference_dumps())
    except CaptureNotFound:
        from tritonscope import interpreter
        from tritonscope.foreign import direct, importing

        path = layout.expand(name)
        if not importing.is_foreign(path):
            raise
        return direct.open_foreign(path, interpreter.choose(None))
    if resolution.note:
        say(resolution.note)
    return resolution.capture


def called(capture: Capture) -> str:
    """What to call `capture` in a command that the user is to copy, quoted for a shell."""
    from tritonscope import bundled_kernels

    folder = Path(capture.path)
    travels = folder.parent.parent == bundled_kernels.reference_dumps()
    return shlex.quote(capture.capture) if travels else layout.called(folder)


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def wants_colour() -> bool:
    """Whether standard output may carry colour."""
    return is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def console() -> "Console":
    """The console on standard output: the terminal's width there, and in a pipe as wide as it takes, without colour."""
    from rich.console import Console

    class Honest(Console):
        """Leaves a pipe that its reader closed to `cli.main`; rich itself would exit with 1."""

        def on_broken_pipe(self) -> None:
            raise

    return Honest(
        width=None if is_terminal() else _UNBOUNDED,
        no_color=not wants_colour(),
        force_terminal=None if is_terminal() else False,
        markup=False,
        highlight=False,
        emoji=False,
    )


def load_console() -> None:
    """Import what printing summaries takes, so that it is there when the first is to be printed."""
    import rich.console
    import rich.table
    import rich.text  # noqa: F401


def say(message: str) -> None:
    """A diagnostic, one line on standard error."""
    try:
        print(f"tritonscope: {escape(message)}", file=sys.stderr)
    except OSError:  # a full disk, a closed pipe: there is nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def print_diagnostics(text: str) -> None:
    """What a compiler printed, on standard error as it came; on a terminal without control characters."""
    try:
        sys.stderr.write(escape(text) if sys.stderr.isatty() else text)
        if text and not text.endswith("\n"):
            sys.stderr.write("\n")
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def say_error(message: str) -> None:
    """An error, on standard error."""
    say(f"error: {message}")


def print_json(value: Any) -> None:
    """`value` as JSON, in UTF-8 whatever the locale; lone surrogates become \\u escapes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    json.dump(value, sys.stdout, ensure_ascii=False, indent=1, allow_nan=False)
    sys.stdout.write("\n")


def print_json_line(value: Any) -> None:
    """`value` as JSON on a line of its own, at once: for commands whose results come one by one."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    print(json.dumps(value, ensure_ascii=False, allow_nan=False), flush=True)


def print_text(text: str, kind: str) -> None:
    """IR of a kind of `ir.kinds.kind_of`: highlighted and escaped on a terminal, as it is in a pipe."""
    if not text.endswith("\n"):
        text += "\n"
    if not is_terminal():
        sys.stdout.write(text)
    elif not wants_colour():
        sys.stdout.write(escape(text))
    else:
        _highlight(escape(text), kind)


def write_file(path: Path, data: bytes, option: str = "-o") -> None:
    """Put `data` into `path`, whole or not at all; raises UsageError or Missing where that cannot be done.

    `option` is what names another place.
    """
    import tempfile

    from tritonscope.errors import Missing, UsageError
    from tritonscope.store import journal

    partial = None
    try:
        if path.exists() and not path.is_file():  # /dev/null, a FIFO: nothing to put in place
            path.write_bytes(data)
            return
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            partial = Path(file.name)
            file.write(data)
        partial.chmod(0o666 & ~_umask())
        partial.replace(path)
    except OSError as error:
        if partial:
            partial.unlink(missing_ok=True)
        if error.errno in journal.NO_ROOM:
            raise Missing(
                f"no room left on the disk of {path}; make room, or choose another place with {option}"
            ) from None
        raise UsageError(f"{path} cannot be written ({error.strerror}); choose another place with {option}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _highlight(text: str, kind: str) -> None:
    from pygments import highlight
    from pygments.formatters import Terminal256Formatter

    from tritonscope.ir.lexers import lexer_for

    lexer, formatter = lexer_for(kind), Terminal256Formatter(style="monokai")
    lines = text.splitlines(keepends=True)
    # In pieces, so that the first screen of a megabyte is there at once.
    for start in range(0, len(lines), _LINES_AT_A_TIME):
        sys.stdout.write(highlight("".join(lines[start : start + _LINES_AT_A_TIME]), lexer, formatter))


def tolerate_any_text() -> None:
    """Let what the locale cannot show appear on standard output as an escape instead of ending the command."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
