"""Where copied text goes, beside the sequence (OSC 52) that asks a terminal to take it and is never answered: a file,
and tmux's own buffer. No textual here."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tritonscope.tui import state

__all__ = ["MOST", "keep", "takes_osc52", "through_tmux"]

#: Bytes that terminals take in one sequence: 100,000 in xterm, which base64 makes of this.
MOST = 74_000

_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "ghostty", "vscode", "WarpTerminal", "rio", "contour"})
_TERMS = ("xterm-kitty", "alacritty", "foot", "xterm-ghostty", "wezterm", "contour", "rio")
_SECONDS = 2.0


def takes_osc52(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the terminal is one that is known to put copied text on the clipboard."""
    return (
        environment.get("TERM_PROGRAM") in _PROGRAMS
        or environment.get("TERM", "").startswith(_TERMS)
        or "WT_SESSION" in environment
    ) and "TMUX" not in environment


def through_tmux(text: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Put `text` into tmux's buffer and, if its `set-clipboard` lets it, on the outer terminal's clipboard."""
    tmux = shutil.which("tmux") if environment.get("TMUX") else None
    if tmux is None:
        return False
    try:
        done = subprocess.run(
            [tmux, "load-buffer", "-w", "-"], input=text.encode(), capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def keep(text: str, environment: Mapping[str, str] = os.environ) -> Path | None:
    """Write `text` to a file beside the remembered state, over what was copied before; None where it cannot be."""
    path = state.folder(environment) / "copied.txt"
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
        return path
    return None
