"""What screens ask of the application: the screens know this, and the application knows the screens."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from tritonscope.model import Capture
from tritonscope.tui.state import State

__all__ = ["Host"]


class Host(Protocol):
    """The part of the application that screens use."""

    remembered: State

    def captures(self) -> tuple[list[Capture], list[Exception]]:
        """The captures there are, and why others cannot be read."""
        ...

    def remember(self, capture: str, step: str, changed_only: bool) -> None:
        """Where the reader is."""
        ...

    def open_in_editor(self, path: Path | None) -> None:
        """A file in $EDITOR."""
        ...

    def copy(self, text: str, what: str) -> None:
        """To the clipboard, and where that may fail to a file; `what` is said to be copied."""
        ...

    def explain(self, *texts: str) -> None:
        """What each is: an operation, a pass, an instruction, a line of a text, a layout with its definition."""
        ...

    def compare_with(self, capture: Capture | None) -> None:
        """With another capture."""
        ...

    def compile_form(self, fields: Mapping[str, str]) -> None:
        """Ask what to compile."""
        ...

    def run_capture(self, capture: Capture | None) -> None:
        """On the GPU."""
        ...

    def ablate(self, capture: Capture | None) -> None:
        """Leave one pass out after the other."""
        ...

    def show_runs(self, capture: Capture | None) -> None:
        """What runs said."""
        ...

    def show_ast(self, capture: Capture | None) -> None:
        """The syntax tree."""
        ...

    def show_failure(self, capture: Capture) -> None:
        """What went wrong."""
        ...
