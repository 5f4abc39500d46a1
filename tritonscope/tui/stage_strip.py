"""The stages in a line: AST > source > TTIR > ..., with line counts and times, the one that is shown marked."""

from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget

from tritonscope.model import Capture
from tritonscope.tui.places import stages_of

__all__ = ["StageStrip"]


class StageStrip(Widget):
    """One line. A click chooses a stage."""

    DEFAULT_CSS = "StageStrip { height: 1; width: 1fr; }"

    class Chosen(Message):
        """A stage was clicked."""

        def __init__(self, stage: str) -> None:
            self.stage = stage
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual calls it that
        super().__init__(id=id)
        self.capture: Capture | None = None
        self.shown = ""
        self._spans: list[tuple[int, int, str]] = []

    def show(self, capture: Capture, shown: str) -> None:
        """Show the stages of `capture`, `shown` marked."""
        if (capture, shown) != (self.capture, self.shown):
            self.capture, self.shown = capture, shown
            self.refresh()

    def render(self) -> Text:
        """As much as fits: names and numbers, then names and lines, then names."""
        for detail in (2, 1, 0):
            text = self._text(detail)
            if text.cell_len <= self.size.width or detail == 0:
                return text
        raise AssertionError

    def _text(self, detail: int) -> Text:
        text = Text(no_wrap=True, overflow="ellipsis")
        self._spans = []
        stages = stages_of(self.capture) if self.capture else []
        for number, stage in enumerate(stages, 1):
            if number > 1:
                text.append(" > ", style="dim")
            start = text.cell_len
            current = stage.stage == self.shown
            key = str(number) if number < 10 else ""
            text.append(f"{key}", style="dim")
            name, style = (f"[{stage.stage}]", "bold reverse") if current else (f" {stage.stage} ", "bold")
            text.append(name, style=style)
            if detail >= 1 and stage.lines is not None:
                text.append(f"{stage.lines:,}", style="dim")
            if detail >= 2 and stage.seconds:
                text.append(f" {stage.seconds * 1000:.0f}ms", style="dim")
            self._spans.append((start, text.cell_len, stage.stage))
        return text

    def on_click(self, event: events.Click) -> None:
        """Choose the stage under the pointer."""
        for start, end, stage in self._spans:
            if start <= event.x < end:
                self.post_message(self.Chosen(stage))
