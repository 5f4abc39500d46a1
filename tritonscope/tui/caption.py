"""Lines around the views. Saying the same again costs nothing, and saying something else no layout."""

from collections.abc import Sequence

from rich.text import Text
from textual.widget import Widget

__all__ = ["Caption", "Hints"]


class Caption(Widget):
    """One line, unless a screen gives it more; what has no room is cut with an ellipsis."""

    DEFAULT_CSS = "Caption { height: 1; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual calls it that
        super().__init__(id=id)
        self._text = Text()

    def say(self, text: Text) -> None:
        """Show `text`."""
        if text != self._text:
            self._text = text
            self.refresh()

    def render(self) -> Text:
        """What was said last."""
        return self._text


class Hints(Caption):
    """What was said last, and after it keys with what they do, as many as fit."""

    DEFAULT_CSS = "Hints { color: $text-muted; }"

    def __init__(self, hints: Sequence[tuple[str, str]], *, id: str | None = None) -> None:  # noqa: A002 - the same
        super().__init__(id=id)
        self._hints = hints

    def render(self) -> Text:
        """The first keys are those that matter most."""
        text = Text(no_wrap=True, overflow="ellipsis").append_text(super().render())
        for key, what in self._hints:
            if text.cell_len + len(key) + len(what) + 3 <= self.size.width:
                text.append(key, style="bold").append(f" {what}  ", style="dim")
        return text
