"""The line at the bottom where a search, a command or a filter is typed."""

from textual import events
from textual.message import Message
from textual.widgets import Input

__all__ = ["Prompt"]


class Prompt(Input):
    """Shown while something is asked; Escape takes it away and changes nothing."""

    DEFAULT_CSS = """
    Prompt { display: none; height: 1; border: none; padding: 0 1; dock: bottom; }
    Prompt.asking { display: block; }
    Prompt:focus { border: none; }
    """

    class Answered(Message):
        """Enter: `purpose` is what was asked for."""

        def __init__(self, purpose: str, text: str) -> None:
            self.purpose, self.text = purpose, text
            super().__init__()

    class Typed(Message):
        """The text as it is typed."""

        def __init__(self, purpose: str, text: str) -> None:
            self.purpose, self.text = purpose, text
            super().__init__()

    class Dismissed(Message):
        """Escape."""

        def __init__(self, purpose: str) -> None:
            self.purpose = purpose
            super().__init__()

    def __init__(self) -> None:
        super().__init__(id="prompt")
        self.purpose = ""
        self._history: dict[str, list[str]] = {}
        self._back = 0

    def ask(self, purpose: str, placeholder: str, value: str = "") -> None:
        """Ask for a line of text."""
        self.purpose, self.placeholder, self.value = purpose, placeholder, value
        self._back = 0
        self.add_class("asking")
        self.screen.set_focus(self)  # at once: what is typed next is for this line

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Hand the answer on."""
        event.stop()
        self.remove_class("asking")
        if event.value:
            self._history.setdefault(self.purpose, []).append(event.value)
        self.post_message(self.Answered(self.purpose, event.value))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Hand the text on as it is typed."""
        event.stop()
        if self.has_class("asking"):
            self.post_message(self.Typed(self.purpose, event.value))

    def on_key(self, event: events.Key) -> None:
        """Escape, and the lines typed before."""
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.remove_class("asking")
            self.post_message(self.Dismissed(self.purpose))
        elif event.key in ("up", "down"):
            lines = self._history.get(self.purpose, [])
            self._back = min(max(self._back + (1 if event.key == "up" else -1), 0), len(lines))
            self.value = lines[-self._back] if self._back else ""
            self.cursor_position = len(self.value)
