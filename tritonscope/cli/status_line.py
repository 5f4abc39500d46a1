"""One line on standard error that says what goes on, where that is a terminal."""

import sys

from tritonscope.cli import terminal

__all__ = ["StatusLine"]


class StatusLine:
    """Shown while something takes its time, and gone when results come."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted and sys.stderr.isatty()

    def show(self, text: str) -> None:
        """Say what goes on."""
        if self._wanted:
            print(f"\r\x1b[K{terminal.escape(text)[:100]}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away."""
        if self._wanted:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
