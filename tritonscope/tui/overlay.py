"""Screens over the screen: a text to read, or a list to choose from."""

from collections.abc import Sequence
from typing import ClassVar

from rich.console import RenderableType
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from tritonscope.tui.keys import keys_of

__all__ = ["Choice", "FoldKeys", "Reading"]


class Reading(ModalScreen[None]):
    """Something to read; Escape, q or Enter closes it."""

    DEFAULT_CSS = """
    Reading { align: center middle; }
    Reading > VerticalScroll {
        width: 90%; max-width: 110; height: auto; max-height: 90%; border: round $primary; padding: 0 1;
        background: $surface;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,question_mark", "dismiss", "close"),
        Binding("j,down", "scroll(1)", "down", show=False),
        Binding("k,up", "scroll(-1)", "up", show=False),
        Binding("g", "end(-1)", "top", show=False),
        Binding("G", "end(1)", "bottom", show=False),
    ]

    def __init__(self, title: str, content: RenderableType) -> None:
        super().__init__()
        self._title, self._content = title, content

    def compose(self) -> ComposeResult:
        """A frame with the text in it."""
        with VerticalScroll() as frame:
            yield Static(self._content, markup=False)
        frame.border_title = self._title
        frame.border_subtitle = "esc closes"

    def action_scroll(self, lines: int) -> None:
        """Scroll."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_end(self, direction: int) -> None:
        """To the top or the bottom."""
        frame = self.query_one(VerticalScroll)
        frame.scroll_home(animate=False) if direction < 0 else frame.scroll_end(animate=False)


class Choice(ModalScreen[str | None]):
    """A list that is filtered as one types, its option number `first` marked before; gives the id of what was chosen,
    None for nothing."""

    DEFAULT_CSS = """
    Choice { align: center top; }
    Choice > Vertical {
        width: 80%; max-width: 100; height: auto; max-height: 80%; margin-top: 2; border: round $primary;
        background: $surface;
    }
    Choice Input { border: none; height: 1; padding: 0 1; }
    Choice Input:focus { border: none; }
    Choice OptionList {
        border: none; height: auto; max-height: 20; background: $surface; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "none", "close"),
        Binding("down", "move(1)", "next", show=False, priority=True),
        Binding("up", "move(-1)", "previous", show=False, priority=True),
    ]

    def __init__(self, title: str, options: Sequence[tuple[str, str]], first: int = 0) -> None:
        super().__init__()
        self._title, self._options, self._first = title, list(options), first

    def compose(self) -> ComposeResult:
        """A line to type in, and the list."""
        with Vertical() as frame:
            yield Input(placeholder="type to filter, enter chooses, esc closes")
            yield OptionList()
        frame.border_title = self._title

    def on_mount(self) -> None:
        """Everything, at first."""
        self._fill("")
        if self._options:
            self.query_one(OptionList).highlighted = self._first

    def _fill(self, text: str) -> None:
        from rich.text import Text

        options = self.query_one(OptionList)
        options.clear_options()
        words = text.lower().split()
        found = [option for option in self._options if all(word in option[1].lower() for word in words)]
        # What begins with the text is likelier meant than what has it somewhere.
        found.sort(key=lambda option: not option[1].lower().startswith(text.lower()))
        options.add_options(Option(Text(label), id=id_) for id_, label in found)
        if options.option_count:
            options.highlighted = 0

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter."""
        self._fill(event.value)

    def on_input_submitted(self) -> None:
        """Enter takes what is marked."""
        options = self.query_one(OptionList)
        if options.highlighted is not None:
            self.dismiss(options.get_option_at_index(options.highlighted).id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click takes it, too."""
        self.dismiss(event.option.id)

    def action_move(self, rows: int) -> None:
        """The mark moves while the line keeps the focus."""
        options = self.query_one(OptionList)
        if options.option_count:
            options.highlighted = ((options.highlighted or 0) + rows) % options.option_count

    def action_none(self) -> None:
        """Nothing was chosen."""
        self.dismiss(None)


class FoldKeys(ModalScreen[str | None]):
    """The key after z: gives "toggle", "open", "close", "all" or "none", and None for any other."""

    DEFAULT_CSS = """
    FoldKeys { align: right bottom; background: $background 0%; }
    FoldKeys > Static { width: auto; height: auto; border: round $primary; background: $surface; padding: 0 1; }
    """
    # Before anything else sees the key: it may come with z in one piece.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a,z", "choose('toggle')", "close or open this region", priority=True),
        Binding("c", "choose('close')", "close it", priority=True),
        Binding("o", "choose('open')", "open it", priority=True),
        Binding("M", "choose('all')", "close all", priority=True),
        Binding("R", "choose('none')", "open all", priority=True),
    ]

    def compose(self) -> ComposeResult:
        """The keys and what they do."""
        from rich.text import Text

        text = Text()
        for keys, binding in keys_of(self):
            text.append(keys[:1], style="bold").append(f" {binding.description}\n")
        text.rstrip()
        frame = Static(text)
        frame.border_title = "fold"
        yield frame

    def on_key(self, event: events.Key) -> None:
        """Any other key changes nothing."""
        event.stop()
        event.prevent_default()
        self.dismiss(None)

    def action_choose(self, how: str) -> None:
        """One of them."""
        self.dismiss(how)
